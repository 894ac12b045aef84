"""`agentco-tui --plain`: needs in numbered lines, and a prompt, for screen readers."""

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
from agentco_tui.commands.command_output import Exit, say
from agentco_tui.commands.get import lines_of
from agentco_tui.commands.running import running
from agentco_tui.commands.writing import opened, settled
from agentco_tui.config import Given, Settings
from agentco_tui.model import Record, Task
from agentco_tui.workspace.workspace import Workspace

PROMPT = "number, a N approve, t N trace, r refresh, q quit> "
SENT_AT_ONCE = "a yes is sent at once and can't be taken back"
RESULT_TIMEOUT = 60.0
"""Seconds to wait for the result of an approval."""


def run(given: Given, env: Mapping[str, str]) -> int:
    """Prompt until `q` or the end of the input; 0.

    Lines are only printed in reply to one that was typed, so that nothing interrupts a screen
    reader.
    """
    with running(given, env) as settings, suppress(EOFError):
        asyncio.run(_prompt_until_quit(settings))
    return Exit.OK


async def _prompt_until_quit(settings: Settings) -> None:
    # The handler of asyncio would only act after the line is typed.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    async with opened(settings) as (workspace, services):
        typed = "r"
        while typed != "q":
            verb, _, number = typed.rpartition(" ")
            record = _record_at(workspace, number)
            if typed == "r":
                await _print_needs(workspace)
            elif verb == "" and record is not None:
                say(*lines_of(record, workspace.names))
            elif verb == "a" and isinstance(record, Task):
                await _approve(record, workspace, services)
            elif verb == "t" and isinstance(record, Task):
                await _print_trace(record, workspace, services)
            else:
                say(f"nothing can be done with “{typed}”")
            typed = _line(PROMPT)


def _record_at(workspace: Workspace, number: str) -> Record | None:
    """The record of the need with that number; None if there is none."""
    needs = workspace.ranked_needs
    if not number.isdecimal() or not 1 <= int(number) <= len(needs):
        return None
    return needs[int(number) - 1].record


async def _print_needs(workspace: Workspace) -> None:
    """Read every feed, and print what needs the user."""
    await workspace.first_answers()
    await workspace.refresh_needs()
    needs = workspace.ranked_needs
    waiting = workspace.needs.queue.count
    now = workspace.clock.now()
    for number, need in enumerate(needs, 1):
        words = sentence_of(need, workspace.names, workspace.outlook, now)
        say(f"{number}. {need.level.name.lower()}: {words}")
    freshness_by_feed = workspace.store.freshness
    failures = {str(each.failure) for each in freshness_by_feed.values() if each.failure}
    say(*sorted(failures), f"{len(needs)} need you, {waiting} tasks wait")


async def _approve(task: Task, workspace: Workspace, services: Services) -> None:
    """Print the whole task, and approve it after a typed yes.

    There is no undo window as in the dashboard: the user could not type `u` while a screen reader
    reads, and no one types a whole word by mistake. The prompt says that it is sent at once.
    """
    say(*lines_of(task, workspace.names))
    _discard_typed_ahead()
    if _line(f'{SENT_AT_ONCE}; approve "{task.title}"? type yes: ') == "yes":
        outcome = await settled(Approval(services, task), RESULT_TIMEOUT)
        say(outcome_sentence(outcome))


async def _print_trace(task: Task, workspace: Workspace, services: Services) -> None:
    """Read and print the steps of a task, each after an empty line."""
    try:
        trace = await services.client.task_trace(task.id)
    except ApiError as error:
        say(str(error))
        return
    for step in trace.steps:
        say("", *lines_of(step, workspace.names))


def _discard_typed_ahead() -> None:
    """Discard the lines that were typed or pasted before the question could be read.

    Input from a file or a pipe is kept.
    """
    if sys.stdin.isatty():
        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _line(prompt: str) -> str:
    """The line that is typed, in lower case; blocks the event loop. Raises EOFError."""
    return input(prompt).strip().casefold()
