"""What a poll that brings one task costs the screens does not follow how many tasks there are.

Calls of our functions are counted, not seconds, so that no result depends on the machine.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import agentco_tui
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Listing, Moment, Ref, Task, TaskState
from agentco_tui.screens.frame_ticker import FrameTicker
from agentco_tui.text import mark_safe
from tests.screens.harness import NOW, Stage, Staging

pytestmark = pytest.mark.paints

FEW = 200
MANY = 20_000
MOST_SHOWN = 1_000
"""More tasks than Overview lists: it shows 500 needs at most."""
TASKS_PER_AGENT = 5
POLLS = 4
"""How many polls are counted: a timer may fire during any of them, so the least counts."""
PACKAGE = str(Path(agentco_tui.__file__).parent)
PLATFORM = str(Path(agentco_tui.__file__).parent / "demo")


def a_task(number: int) -> Task:
    return Task(
        id=f"t{number}",
        title=mark_safe(f"Task {number}"),
        state=TaskState.PENDING,
        agent=Ref(f"a{number // TASKS_PER_AGENT}"),
        created=Moment(NOW - number % 180 * 60.0),
    )


async def take(s: Stage, tasks: tuple[Task, ...]) -> None:
    """Take an answer to a poll of the tasks that wait."""
    s.workspace.store.take(FeedName.PENDING, Listing(records=tasks))
    queue = s.workspace.needs.queue
    await s.wait_until(lambda: queue.count == len(tasks), "the needs")


def is_of_interest(frame: FrameType) -> bool:
    """Whether a call is one of ours, and neither the platform's nor in a loop over cells."""
    code = frame.f_code
    if not code.co_filename.startswith(PACKAGE) or code.co_filename.startswith(PLATFORM):
        return False
    # The store compares in slices: going on with the next one is no call.
    return not code.co_name.startswith("<") and code.co_name != "_compare"


async def calls_for_one_new_task(s: Stage, task_count: int) -> int:
    """How many calls it takes to show one task more among so many."""
    tasks = tuple(map(a_task, range(task_count)))
    await take(s, tasks[:-POLLS])
    await s.at_rest()
    counts: list[int] = []
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and is_of_interest(frame)

    for left_out in reversed(range(POLLS)):
        calls = 0
        sys.setprofile(count)
        try:
            await take(s, tasks[: task_count - left_out])
            await s.settle()
        finally:
            sys.setprofile(None)
        counts.append(calls)
        await s.at_rest()
    return min(counts)


@pytest.mark.parametrize(("place", "few"), [("tasks", FEW), ("overview", MOST_SHOWN)])
async def test_one_new_task_costs_as_many_calls_among_many_as_among_few(
    on: Staging, place: Place, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FrameTicker, "tick", lambda _: None)  # on a slow machine in every poll
    async with on(place=place) as s:
        calls = {
            task_count: await calls_for_one_new_task(s, task_count) for task_count in (few, MANY)
        }
        assert calls[MANY] <= 1.1 * calls[few], calls
