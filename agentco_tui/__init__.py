"""agentco-tui: a terminal dashboard for the Agent Company Platform."""

__version__ = "0.1.0"
