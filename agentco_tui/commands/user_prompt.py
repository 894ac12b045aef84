"""Asks the user questions at the terminal, one line each.

For commands such as `login`. Without a terminal there is no one to answer: then `user_agrees`
returns False, and `ask` raises UsageError, a mistake in the use of the command.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from agentco_tui.cli.arguments import UsageError


def is_at_terminal() -> bool:
    """Whether standard input and output are a terminal, so that the user can be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(question: str, read: Callable[[str], str] = input) -> str:
    """Return the user's answer, without surrounding blanks; `read` reads a line after a prompt.

    Raises UsageError without a terminal, and EOFError at the end of the input.
    """
    if not is_at_terminal():
        raise UsageError(f"there is no terminal, and no flag or variable answers: {question}")
    return read(f"{question} ").strip()


def user_agrees(question: str) -> bool:
    """Ask a question and return whether the answer is yes; without a terminal it is no."""
    return is_at_terminal() and ask(f"{question} (y/n)").lower() in ("y", "yes")
