"""Questions to the user at the terminal, one line each."""

from __future__ import annotations

import sys
from collections.abc import Callable

from agentco_tui.cli.arguments import UsageError


def at_terminal() -> bool:
    """Whether standard input and output are a terminal, so that the user can be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(question: str, read: Callable[[str], str] = input) -> str:
    """The user's answer, without surrounding blanks.

    Raises UsageError without a terminal, EOFError at the end of the input.
    """
    if not at_terminal():
        raise UsageError(f"no terminal to ask at, and no flag or variable says: {question}")
    return read(f"{question} ").strip()


def user_agrees(question: str) -> bool:
    """Whether the user answers yes; any other answer, or no terminal, is a no."""
    return at_terminal() and ask(f"{question} (y/n)").lower() in ("y", "yes")
