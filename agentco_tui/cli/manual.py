"""The pages of the manual that `agentco-tui help TOPIC` shows."""

from __future__ import annotations

import pydoc
import sys
from pathlib import Path
from typing import Final

import agentco_tui

TOPICS: Final = (
    "approving",
    "screens",
    "settings",
    "scripts",
    "shifts",
    "notifications",
    "history",
    "record-and-replay",
    "terminals",
)
"""The topics, in the order in which the README lists them; each is the name of a page in `docs`."""


def page(topic: str) -> str:
    """The Markdown text of a topic's page.

    An installed package has the pages in its folder `manual`, a checkout has them in `docs`.
    """
    package = Path(agentco_tui.__file__).parent
    installed = package / "manual" / f"{topic}.md"
    checkout = package.parent / "docs" / f"{topic}.md"
    path = installed if installed.exists() else checkout
    return path.read_text(encoding="utf-8")


def show(topic: str, command_help: str = "") -> None:
    """Print the help of the command with this name, if there is one, and the topic's page.

    In a terminal they are shown in the user's pager.
    """
    text = f"{command_help}\n{page(topic)}" if command_help else page(topic)
    if sys.stdin.isatty() and sys.stdout.isatty():
        pydoc.pager(text)
    else:
        print(text, end="")
