"""`agentco-tui completion SHELL`, and the answers to the shell when the user presses TAB.

The user waits for the answer, so little is imported here and no request is sent to the platform:
the names of companies and agents come from the history, an SQLite file of what was observed of each
platform (a service with companies of AI agents). A profile is the user's name for a platform with
its settings. The package argcomplete does the rest.
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

from agentco_tui.cli.arguments import build_parser
from agentco_tui.cli.grammar import COMMANDS, PROG
from agentco_tui.cli.manual import TOPICS
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder

if TYPE_CHECKING:
    from agentco_tui.config import Arguments


def run(arguments: Arguments, _env: Mapping[str, str]) -> int:
    """Print the script that the user's shell has to read."""
    print(shellcode([PROG], shell=arguments["shell"]))
    return 0


def complete_line() -> None:
    """Print the possible completions of the shell's current line, and end the program."""
    autocomplete(
        build_parser(),
        always_complete_options=False,
        validator=_begins_with,
        default_completer=_ArgumentCompleter(),
    )


def _begins_with(completion: str, typed: str) -> bool:
    return completion.casefold().startswith(typed.casefold())


class _ArgumentCompleter(BaseCompleter):
    """Lists the known values of a flag or of a positional argument; argcomplete calls it."""

    def __call__(
        self, *, prefix: str, action: Action, parsed_args: Namespace, **_: object
    ) -> Iterable[str]:
        kind = action.dest
        if kind == "id":
            # `get agent ID`: the word before says which kind of id it is.
            kind = getattr(parsed_args, "what", "")
        if kind in ("company", "agent"):
            return _names_in_history(kind, getattr(parsed_args, "profile", None))
        if kind in ("profile", "theme"):
            from agentco_tui.config import resolve, validators  # noqa: PLC0415 (slow)

            # The config file, read without any profile of it being needed.
            file = resolve.Resolver(vars(parsed_args), os.environ, with_profile=False).file
            if kind == "profile":
                return file.profiles
            return (*validators.THEMES, *file.themes)
        if kind == "platform":
            from agentco_tui.demo.recordings import recorded_platforms  # noqa: PLC0415 (rarely)

            return recorded_platforms()
        if action.metavar in ("FILE", "PATH"):
            return FilesCompleter()(prefix)
        if action.metavar == "TOPIC":
            return (*COMMANDS, *TOPICS)
        return ()


def _names_in_history(kind: str, profile: str | None) -> Mapping[str, str]:
    """The ids of the companies or agents in the history, by name; empty if it can't be read.

    Without a profile, in the argument or the environment, they are those of all platforms.
    """
    parameters = (kind, profile or os.environ.get("AGENTCO_PROFILE"))
    path = (state_folder() / HISTORY_FILE).as_uri()
    # In the history, a subject is a company or an agent, and its key is its id; a viewer is a
    # profile with which the platform was observed.
    query = """SELECT name, key FROM subject WHERE kind = ?1 AND name > '' AND (?2 IS NULL
        OR platform IN (SELECT platform FROM viewer WHERE profile = ?2))"""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path}?mode=ro", uri=True)) as file:
        rows = file.execute(query, parameters)
        return {name: key for name, key in rows if f"{name}{key}".isprintable()}
    return {}
