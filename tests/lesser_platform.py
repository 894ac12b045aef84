"""A platform with the generic interface that says that it does not offer some operations."""

from __future__ import annotations

import pytest

from agentco_tui.api.capabilities import Capabilities, Operation
from agentco_tui.api.client import Client
from agentco_tui.api.generic import REQUESTS
from agentco_tui.text import mark_safe

NAME = "Lesser"


def take_away(patch: pytest.MonkeyPatch, *operations: Operation, because: str = "") -> None:
    """Let every client that is opened from now on say that these are not offered."""
    requests = {name: words for name, words in REQUESTS.items() if name not in operations}
    reasons = dict.fromkeys(operations, mark_safe(because)) if because else {}
    patch.setattr(Client, "capabilities", Capabilities(mark_safe(NAME), requests, reasons))
