"""Polls the platform's lists, and keeps their records: when each is due, and how fresh it is."""
