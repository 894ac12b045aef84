"""The terminal: whether it can show the dashboard, and how it is restored afterwards."""
