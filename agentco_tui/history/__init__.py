"""What was seen of a platform, the forecasts made from it, and what happened since a moment.

A platform is a remote service that runs companies of AI agents.
"""
