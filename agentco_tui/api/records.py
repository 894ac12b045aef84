"""The records, under the name that scripts import them by; they live in `agentco_tui.model`."""

from agentco_tui.model import *  # noqa: F403
