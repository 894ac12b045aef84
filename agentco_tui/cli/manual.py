"""Shows the pages of the manual, Markdown files with the names in `TOPICS`.

`agentco-tui help TOPIC` calls `show`; a topic may have the same name as a command.
"""

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
"""The names of the pages in `docs`, in the order of the README."""


def page(topic: str) -> str:
    """The text of a topic's page, in Markdown.

    An installed package has the pages in its folder `manual`, a source checkout in `docs`.
    """
    package = Path(agentco_tui.__file__).parent
    installed = package / "manual" / f"{topic}.md"
    checkout = package.parent / "docs" / f"{topic}.md"
    path = installed if installed.exists() else checkout
    return path.read_text(encoding="utf-8")


def show(topic: str, command_help: str = "") -> None:
    """Print the topic's page, after `command_help` if a command has the same name.

    In a terminal they are shown in the user's pager.
    """
    text = f"{command_help}\n{page(topic)}" if command_help else page(topic)
    if sys.stdin.isatty() and sys.stdout.isatty():
        pydoc.pager(text)
    else:
        print(text, end="")
