"""`agentco-tui export activity`: streams the platform's CSV export to a file or to stdout.

The platform is the service whose companies of AI agents are watched; its export is the whole
activity log. It is passed on as it arrives, so its size does not matter. With `--names` the names
of companies and agents are added next to their ids. `Written` counts rows and bytes for the
message at the end; its `take` returns the chunk unchanged.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentco_tui.api.errors import ApiError, NotOffered
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_context import command_context, connected_client
from agentco_tui.commands.command_output import Exit, OutputError, print_to_stderr, write_stdout
from agentco_tui.config import Arguments, Settings
from agentco_tui.live.feeds import Query
from agentco_tui.live.log_file import LONGEST_LINE, Written, lines_of, with_names
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.system.atomic_write import AtomicWriteError, FileInTheWayError, atomic_write
from agentco_tui.text import clean_line
from agentco_tui.workspace.named_records import read_names

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Write the export; returns the exit code.

    0; 1 if writing failed; 2 if the file can't be created; 3 if the export is incomplete. The file
    appears under its name only when it is complete. Lines are cleaned for a terminal; a file or a
    pipe gets the bytes unchanged. Raises UsageError for `--company`.
    """
    if arguments.get("company") is not None:
        raise UsageError(
            "the platform's export covers all companies and cannot be limited to one."
            " Leave out --company, or use: agentco-tui tail --json --company ID"
        )
    with command_context(arguments, env) as settings:
        if arguments["out"] in (None, "-"):
            return asyncio.run(_to_stdout(settings, arguments))
        return asyncio.run(_to_file(settings, arguments, Path(arguments["out"])))


@asynccontextmanager
async def _exported(client: Platform, arguments: Arguments) -> AsyncIterator[AsyncIterator[bytes]]:
    """Open the platform's export, and yield its chunks, with names if `--names` was given.

    `format` is that of the platform's export; there is only csv.
    """
    store = Store()
    if arguments["names"]:
        # Reads all companies and agents (`Query()`: no scope) into the store; returns why that
        # failed, if it did.
        print_to_stderr(*await read_names(client, store, Query()))
    async with client.export_activity(arguments["format"]) as chunks:
        if arguments["names"]:
            yield with_names(chunks, Names(store))
        else:
            yield chunks


async def _to_file(settings: Settings, arguments: Arguments, path: Path) -> int:
    """Write the export to a file, and a summary to stderr; returns the exit code."""
    force = arguments["force"]
    written: Written | None = None  # None until the file has been opened
    async with connected_client(settings) as client:
        try:
            with atomic_write(path, replace=force) as file:
                written = Written()
                async with _exported(client, arguments) as chunks:
                    async for chunk in chunks:
                        file.write(written.take(chunk))
        except ApiError as error:
            print_to_stderr(f"{error}; {path} was not written")
            return Exit.NO_ANSWER
        except FileInTheWayError as error:
            print_to_stderr(str(error) if force else f"{error} (--force replaces a file)")
            return Exit.USAGE
        except AtomicWriteError as error:
            print_to_stderr(str(error))
            return Exit.USAGE if written is None else Exit.FAILED
    print_to_stderr(f"{written.sentence}, written to {clean_line(str(path), 200)}")
    return Exit.OK


async def _to_stdout(settings: Settings, arguments: Arguments) -> int:
    """Write the export to standard output; returns the exit code. Raises OutputError."""
    if sys.stdout is None:
        raise OutputError("there is no standard output: name a file with --out")
    async with connected_client(settings) as client:
        try:
            async with _exported(client, arguments) as chunks:
                if sys.stdout.isatty():
                    async for line in lines_of(chunks):
                        write_stdout(f"{clean_line(line, LONGEST_LINE)}\n")
                else:
                    async for chunk in chunks:
                        write_stdout(chunk)
        except ApiError as error:
            is_begun = not isinstance(error, NotOffered)
            print_to_stderr(f"{error}; the output is incomplete" if is_begun else str(error))
            return Exit.NO_ANSWER
    return Exit.OK
