"""`agentco-tui completion SHELL`, and what TAB can bring where it is read.

Whoever presses TAB waits, so little is imported here, and the platform is never asked.
"""

from __future__ import annotations

import os
import sqlite3
from argparse import Action, Namespace
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from argcomplete import autocomplete
from argcomplete.completers import BaseCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

from agentco_tui.cli.arguments import command_line
from agentco_tui.cli.grammar import COMMANDS, PROG
from agentco_tui.cli.manual import TOPICS
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder

if TYPE_CHECKING:
    from agentco_tui.config import Given


def run(given: Given, _env: Mapping[str, str]) -> int:
    """Print what the shell is to read."""
    print(shellcode([PROG], shell=given["shell"]))
    return 0


def answer() -> None:
    """Tell the shell what its line can become, and end the program."""
    autocomplete(
        command_line(),
        always_complete_options=False,
        validator=lambda found, typed: found.casefold().startswith(typed.casefold()),
        default_completer=_Values(),
    )


class _Values(BaseCompleter):
    """What a flag or a word of a command can be, as far as that is known."""

    def __call__(
        self, *, prefix: str, action: Action, parsed_args: Namespace, **_: object
    ) -> Iterable[str]:
        kind = getattr(parsed_args, "what", "") if action.dest == "id" else action.dest
        if kind in ("company", "agent"):
            return _seen(kind, getattr(parsed_args, "profile", None))
        if kind in ("profile", "theme"):
            from agentco_tui.config import resolve, validators  # noqa: PLC0415 (slow)

            file = resolve.Resolver(vars(parsed_args), os.environ, with_profile=False).file
            return file.profiles if kind == "profile" else (*validators.THEMES, *file.themes)
        if action.metavar in ("FILE", "PATH"):
            return FilesCompleter()(prefix)
        return (*COMMANDS, *TOPICS) if action.metavar == "TOPIC" else ()


def _seen(kind: str, profile: str | None) -> Mapping[str, str]:
    """Names, and the ids behind them, that the history has of a profile, else of all."""
    about = kind, profile or os.environ.get("AGENTCO_PROFILE")
    path = (state_folder() / HISTORY_FILE).as_uri()
    known = """SELECT name, key FROM subject WHERE kind = ?1 AND name > '' AND (?2 IS NULL
        OR platform IN (SELECT platform FROM viewer WHERE profile = ?2))"""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path}?mode=ro", uri=True)) as file:
        rows = file.execute(known, about)
        return {name: key for name, key in rows if f"{name}{key}".isprintable()}
    return {}
