"""`agentco-tui --plain`: what needs a person as numbered lines, and prompts, for screen readers."""

from __future__ import annotations

import asyncio
import signal
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.services import Services
from agentco_tui.api.errors import ApiError
from agentco_tui.commands.command_output import Exit, say
from agentco_tui.commands.get import lines_of
from agentco_tui.commands.running import running
from agentco_tui.commands.writing import opened, settled
from agentco_tui.config import Given, Settings
from agentco_tui.live.need_words import sentence_of
from agentco_tui.model import Record, Task
from agentco_tui.workspace.workspace import Workspace

PROMPT = "number, a N approve, t N trace, r refresh, q quit> "
SENT_AT_ONCE = "a yes is sent at once and can't be taken back"
WAIT = 60.0  # seconds in which a read is to tell what became of a yes


def run(given: Given, env: Mapping[str, str]) -> int:
    """Until `q` or the end of the input; lines are only added, and none comes unasked."""
    with running(given, env) as settings, suppress(EOFError):
        asyncio.run(_ask(settings))
    return Exit.OK


async def _ask(settings: Settings) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # asyncio would wait for the line
    async with opened(settings) as (workspace, services):
        typed = "r"
        while typed != "q":
            verb, _, number = typed.rpartition(" ")
            record = _record_at(workspace, number)
            if typed == "r":
                await _print_needs(workspace)
            elif verb == "" and record is not None:
                say(*lines_of(record, workspace.names))
            elif verb in ("a", "t") and isinstance(record, Task):
                await (_approve if verb == "a" else _trace)(record, workspace, services)
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
    failures = {str(each.failure) for each in workspace.store.freshness.values() if each.failure}
    say(*sorted(failures), f"{len(needs)} need a person, {waiting} tasks wait")


async def _approve(task: Task, workspace: Workspace, services: Services) -> None:
    """Show all of it, and send it by the dashboard's flow after a typed yes.

    Nothing holds it back as in the dashboard, where `u` takes a yes back: nobody could type that
    while lines are being read out, and a word in full is no slip of a finger. The prompt says so.
    """
    say(*lines_of(task, workspace.names))
    _forget_typed_ahead()
    if _line(f'{SENT_AT_ONCE}; approve "{task.title}"? type yes: ') == "yes":
        outcome = await settled(Approval(services, task), WAIT)
        say(outcome_sentence(outcome))


async def _trace(task: Task, workspace: Workspace, services: Services) -> None:
    try:
        steps: Sequence[Record] = (await services.client.task_trace(task.id)).steps
        say(*(line for step in steps for line in ("", *lines_of(step, workspace.names))))
    except ApiError as error:
        say(str(error))


def _forget_typed_ahead() -> None:
    """Forget the lines that were typed or pasted before now: they answer no question that is still
    to be read. What comes from a file or a pipe stays.
    """
    if sys.stdin.isatty():
        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _line(prompt: str) -> str:
    """What is typed; nothing else goes on meanwhile. Raises EOFError."""
    return input(prompt).strip().casefold()
