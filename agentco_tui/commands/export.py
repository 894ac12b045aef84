"""`agentco-tui export activity`: streams the platform's export to a file or to stdout."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, OutputError, complain, write
from agentco_tui.commands.running import connected, running
from agentco_tui.config import Given, Settings
from agentco_tui.live.feeds import Query
from agentco_tui.live.log_file import LONGEST_LINE, Written, lines_of, with_names
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.system.atomic_write import AtomicWriteError, FileInTheWayError, atomic_write
from agentco_tui.text import safe
from agentco_tui.workspace.named_records import read_names


def run(given: Given, env: Mapping[str, str]) -> int:
    """Export; 0, 1 if writing failed, 2 for an unusable file name, 3 if the export is incomplete.

    A file appears under its name only when it is complete. Lines to a terminal are cleaned; to a
    file or a pipe the bytes are written unchanged.
    """
    if given.get("company") is not None:
        raise UsageError(
            "the platform's export holds all companies: it cannot be asked for one."
            " Leave out --company, or use: agentco-tui tail --json --company ID"
        )
    with running(given, env) as settings:
        if given["out"] in (None, "-"):
            return asyncio.run(_to_stdout(settings, given))
        return asyncio.run(_to_file(settings, given, Path(given["out"])))


@asynccontextmanager
async def _exported(client: Client, given: Given) -> AsyncIterator[AsyncIterator[bytes]]:
    """The chunks of the platform's export, with names next to ids if the user wants them."""
    store = Store()
    if given["names"]:
        complain(*await read_names(client, store, Query()))
    async with client.export_activity(given["format"]) as chunks:
        yield with_names(chunks, Names(store)) if given["names"] else chunks


async def _to_file(settings: Settings, given: Given, path: Path) -> int:
    """Write the export to a file, and say on stderr what it holds; the exit code."""
    force = given["force"]
    written: Written | None = None  # until the file can be written
    async with connected(settings) as client:
        try:
            with atomic_write(path, replace=force) as file:
                written = Written()
                async with _exported(client, given) as chunks:
                    async for chunk in chunks:
                        file.write(written.take(chunk))
        except ApiError as error:
            complain(f"{error}; {path} was not written")
            return Exit.NO_ANSWER
        except FileInTheWayError as error:
            complain(str(error) if force else f"{error} (--force replaces a file)")
            return Exit.USAGE
        except AtomicWriteError as error:
            complain(str(error))
            return Exit.USAGE if written is None else Exit.FAILED
    complain(f"{written.sentence}, written to {safe(str(path), 200)}")
    return Exit.OK


async def _to_stdout(settings: Settings, given: Given) -> int:
    """Write the export to standard output; the exit code. Raises OutputError."""
    if sys.stdout is None:
        raise OutputError("there is no standard output: name a file with --out")
    async with connected(settings) as client:
        try:
            async with _exported(client, given) as chunks:
                if sys.stdout.isatty():
                    async for line in lines_of(chunks):
                        write(f"{safe(line, LONGEST_LINE)}\n")
                else:
                    async for chunk in chunks:
                        write(chunk)
        except ApiError as error:
            complain(f"{error}; the output is incomplete")
            return Exit.NO_ANSWER
    return Exit.OK
