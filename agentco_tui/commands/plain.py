"""`agentco-tui --plain`: a prompt instead of the dashboard, for screen readers and logs.

It lists the needs (what needs the user, such as a task to approve) in numbered lines, and shows,
approves and traces a task by its number; a trace is the steps in which an AI agent worked on it.

A `Workspace` is what is known in memory of the platform, the service that is watched; its
`ranked_needs` has the worst first. `Services` is what writes need, such as the journal.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.services import Services
from agentco_tui.api.errors import ApiError
from agentco_tui.attention.need_words import sentence_of
from agentco_tui.commands.command_context import command_context
from agentco_tui.commands.command_output import Exit, print_lines
from agentco_tui.commands.get import field_lines
from agentco_tui.commands.writing import open_for_writing, run_write
from agentco_tui.config import Arguments, Settings
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Record, Task
from agentco_tui.system.garbage import collect_as_usual
from agentco_tui.workspace.workspace import Workspace

PROMPT = "number, a N approve, t N trace, r refresh, q quit> "
SENT_AT_ONCE = "your yes is sent at once and can't be taken back"
RESULT_TIMEOUT = 60.0
"""Seconds to wait for the result of an approval."""


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Prompt until `q` or the end of the input; returns 0.

    Output is only printed in reply to a typed line, so that it does not interrupt a screen reader.
    """
    with command_context(arguments, env) as settings, suppress(EOFError):
        asyncio.run(_prompt_until_quit(settings))
    return Exit.OK


async def _prompt_until_quit(settings: Settings) -> None:
    # The handler of asyncio would only act after the line has been typed.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    collect_as_usual()
    async with open_for_writing(settings) as (workspace, services):
        typed = "r"
        while typed != "q":
            verb, _, number = typed.rpartition(" ")
            record = _record_at(workspace, number)
            if typed == "r":
                await _print_needs(workspace)
            elif verb == "" and record is not None:
                print_lines(*field_lines(record, workspace.names))
            elif verb == "a" and isinstance(record, Task):
                await _approve(record, workspace, services)
            elif verb == "t" and isinstance(record, Task):
                await _print_trace(record, workspace, services)
            else:
                print_lines(f"unknown command or number: “{typed}”")
            typed = _line(PROMPT)


def _record_at(workspace: Workspace, number: str) -> Record | None:
    """The record behind a number of the printed list; None if there is no such number."""
    needs = workspace.ranked_needs
    if not number.isdecimal() or not 1 <= int(number) <= len(needs):
        return None
    return needs[int(number) - 1].record


async def _print_needs(workspace: Workspace) -> None:
    """Read every feed, and print what needs the user."""
    await workspace.first_answers()  # reads each feed (a list that can be polled) once
    await workspace.refresh_needs()
    needs = workspace.ranked_needs
    waiting = workspace.needs.queue.count
    now = workspace.clock.now()
    for number, need in enumerate(needs, 1):
        words = sentence_of(need, workspace.names, workspace.outlook, now)
        print_lines(f"{number}. {need.level.name.lower()}: {words}")
    freshness_by_feed = workspace.store.freshness
    offered = [freshness for freshness in freshness_by_feed.values() if freshness.is_offered]
    failures = {str(freshness.failure) for freshness in offered if freshness.failure}
    pending = freshness_by_feed[FeedName.PENDING]
    tasks = f"{waiting} tasks wait" if pending.is_offered else f"tasks: {pending.failure}"
    print_lines(*sorted(failures), f"{len(needs)} need you, {tasks}")


async def _approve(task: Task, workspace: Workspace, services: Services) -> None:
    """Print the whole task, and approve it if the user types "yes".

    There is no undo window as on the dashboard: the user could not type `u` while the screen reader
    reads, and a whole word is not typed by mistake. The prompt says that it is sent at once.
    """
    print_lines(*field_lines(task, workspace.names))
    _discard_typed_ahead()
    if _line(f'{SENT_AT_ONCE}; approve "{task.keyed_title}"? type yes: ') == "yes":
        # Notes it in the journal, sends it once, and reads from the platform what became of it.
        outcome = await run_write(Approval(services, task), RESULT_TIMEOUT)
        print_lines(outcome_sentence(outcome))


async def _print_trace(task: Task, workspace: Workspace, services: Services) -> None:
    """Read and print the steps of a task, each after an empty line."""
    try:
        trace = await services.client.task_trace(task.id)
    except ApiError as error:
        print_lines(str(error))
        return
    for step in trace.steps:
        print_lines("", *field_lines(step, workspace.names))


def _discard_typed_ahead() -> None:
    """Discard what was typed or pasted before the question was printed.

    Input from a file or a pipe is not discarded.
    """
    if sys.stdin.isatty():
        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _line(prompt: str) -> str:
    """Read a line and return it in lower case; blocks the event loop. Raises EOFError."""
    return input(prompt).strip().casefold()
