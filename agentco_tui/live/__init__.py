"""Polls the platform's lists, and keeps their records: when each is due, and how fresh it is.

The platform is the remote service that runs companies of AI agents.
"""
