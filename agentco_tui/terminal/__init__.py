"""The terminal itself: whether it can show the dashboard, and that it is well when we leave."""
