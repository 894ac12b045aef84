"""Programs that the dashboard is compared with, each the simplest that does the work."""
