"""Money and precedent in the question: read beside it, in lines that were kept free for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import pytest

from agentco_tui.commands.demo_past import past_observations
from agentco_tui.history.history import History
from agentco_tui.history.observations import HistoryError, Observed, TaskLife
from agentco_tui.history.reader import Reader
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import TaskState
from agentco_tui.screens.decision_facts import without_precedent
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
from agentco_tui.screens.dialogs.batch_question import BatchQuestion
from agentco_tui.text import clean_line, mark_safe
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, WIDE, Stage, Staging

T = TypeVar("T")
DAY = 86_400.0


class Held(History):
    """Answers when a test lets it, or fails."""

    def __init__(self, path: Path, error: str = "") -> None:
        super().__init__(path, "demo", "http://127.0.0.1")
        self.free, self.error = asyncio.Event(), error

    async def ask(self, read: Callable[[Reader], T], *, up_to_now: bool = False) -> T:
        await self.free.wait()
        if self.error:
            raise HistoryError(self.error)
        return await super().ask(read, up_to_now=up_to_now)


@pytest.fixture
def history(tmp_path: Path) -> Held:
    return Held(tmp_path / "history.sqlite3")


def alike(s: Stage, count: int, title: str = "Refund {} customers") -> list[str]:
    """Make the first tasks of the list alike, of one agent: Linus, near his limit."""
    with s.platform.world.locked() as state:
        linus = next(agent for agent in state.agents.values() if agent.name == "Linus")
        rows = s.rows[:count]
        for number, row in enumerate(rows):
            task = state.tasks[row]
            task.title, task.agent = title.format(number + 3), linus
            state.changed_task(task, s.platform.world.now)
    return rows


def lives(agent: str) -> list[TaskLife]:
    """Four like them, asked about two days ago: two went well, one failed, one was rejected."""
    states = TaskState.DONE, TaskState.DONE, TaskState.FAILED, TaskState.REJECTED
    return [
        TaskLife(
            id=f"old-{number}",
            title=clean_line(f"Refund {number} customers"),
            agent=agent,
            first_seen=NOW - 3 * DAY,
            waiting_since=NOW - 3 * DAY,
            decided=NOW - 2 * DAY,
            state=state,
            estimate=Decimal(2),
            cost=None if state is TaskState.REJECTED else Decimal(2 + number),
        )
        for number, state in enumerate(states)
    ]


async def test_a_question_stands_and_is_answered_while_both_are_still_read(
    on: Staging, history: Held, platform: EmbeddedPlatform
) -> None:
    async with on(place="tasks", running=True, size=WIDE) as s:
        s.workspace.history = history
        platform.faults.add("agent_budgets:hang")
        await s.press("j", "a")
        await s.sees("APPROVE", "reading the history of similar tasks", "5 steps")
        task = s.cursor
        await s.yes()
        await s.wait_until(lambda: len(s.writes) == 1, "the approval")
        assert task is not None
        assert task in s.writes[0].path


async def test_what_is_read_later_moves_no_line(
    on: Staging, history: Held, platform: EmbeddedPlatform
) -> None:
    async with on(place="tasks") as s:
        s.workspace.history = history
        alike(s, 2)
        await s.poll()
        agent = s.view.subject().agent.id
        history.write(
            [Observed(lives=lives(agent), seen=[(FeedName.PENDING, "", (NOW - DAY, NOW))])]
        )
        await s.press("a")
        await s.sees("reading the history of similar tasks", "$412.00 of $500.00", "created")
        await s.sees("steps, the last", "more below")
        before = s.lines
        history.free.set()
        await s.sees("3 approved, 1 rejected, 1 failed afterwards")
        await s.sees("cost ~1.5 of the estimate, last 2 d ago")
        changed = [
            at for at, (one, two) in enumerate(zip(before, s.lines, strict=True)) if one != two
        ]
        like = s.lines.index(s.line_with("like this"))
        assert changed == [like, like + 1], "and nothing else"
        assert s.line_with("▲ 3 approved"), "half of it came to nothing"


async def test_without_a_history_or_with_one_that_fails_it_says_so(
    on: Staging, history: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(place="tasks", running=True, size=WIDE) as s:
        await s.press("a")
        await s.sees("no earlier task like it")
        await s.press("n")
        s.workspace.history, history.error = history, "the history can't be read: disk I/O error"
        history.free.set()
        await s.press("a")
        await s.sees("◌ the history can't be read: disk I/O error")
        await s.press("n")
        history.error = ""
        seen = [(FeedName.PENDING, "", (NOW - 3 * 3_600, NOW))]
        history.write([Observed(seen=seen)])
        await s.press("a")
        await s.sees("no earlier task like it in 3 h of history")
        await s.press("n")
        history.write([Observed(seen=[(FeedName.PENDING, "", (NOW - 12 * DAY, NOW))])])
        await s.press("a")
        await s.sees("first of its kind")
        await s.press("n")
        monkeypatch.setattr(Reader, "lives", lambda *_, **__: 1 / 0)
        await s.press("a")
        await s.sees("◌ similar tasks could not be looked up")
        await s.yes()
        await s.wait_until(lambda: len(s.writes) == 1, "the approval")


async def test_what_was_approved_from_here_is_precedent(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        rows = alike(s, 3)
        await s.poll()
        await s.press("a")
        await s.yes()
        await s.wait_until(lambda: s.outcome_of(rows[0]), "the outcome")
        s.view.table.move_cursor_to(rows[1])
        await s.press("a")
        await s.sees("1 approved (1 from here)")
        assert isinstance(s.app.screen, ApproveQuestion)


async def test_budgets_that_a_yes_passes_and_agents_that_stand_still(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        rows = alike(s, 3)
        with s.platform.world.locked() as state:
            for row in rows:
                state.tasks[row].estimate, state.tasks[row].cost = 100_000_000, 10_000_000
                state.changed_task(state.tasks[row], s.platform.world.now)
        await s.poll()
        await s.press("a")
        await s.sees("Linus        $412.00 of $500.00 → ~$502.00 ✖ passes its limit, may stop it")
        await s.sees("adds         ~90.00, the rest of the estimate (units assumed)")
        await s.press("n")
        ada = next(row for row in s.rows if s.view.table.model.records[row].agent.name == "Ada")
        s.view.table.move_cursor_to(ada)
        await s.press("a")
        await s.sees("✖ used up")
        await s.press("n", "space", "g", "space", "space", "space", "a")
        await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
        await s.sees("Linus        $412.00 of $500.00 → ~$682.00 ✖ passes its limit")


async def test_a_budget_that_can_not_be_read_is_told(on: Staging) -> None:
    async with on(place="tasks", faults=["agent_budgets:status=503"], wait=False) as s:
        await s.wait_until(lambda: s.cursor is not None, "the tasks")
        await s.press("a")
        await s.sees("◌ not read: ", "503")


async def test_tasks_like_the_one_under_the_cursor_are_marked_with_one_key(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        rows = alike(s, 4)
        await s.poll()
        s.view.table.move_cursor_to(rows[1])
        await s.press("M")
        await s.sees("4 tasks of Linus like “Refund customers” marked", "4 marked")
        assert set(s.view.table.marked) == set(rows)
        await s.press("escape", *"/Refund 4", "enter", "M")
        await s.sees("1 task of Linus like “Refund customers” marked", "1 marked")


async def test_the_past_of_the_embedded_platform_is_precedent(on: Staging, history: Held) -> None:
    async with on(place="tasks", size=WIDE) as s:
        s.workspace.history = history
        history.free.set()
        for observed in past_observations(s.platform.world):
            history.write([observed])
        tasks = s.view.table.model.records
        patch = next(row for row in s.rows if tasks[row].title.startswith("Patch 3 servers"))
        s.view.table.move_cursor_to(patch)
        await s.press("a")
        await s.wait_until(lambda: re.search(r"like this    [1-9] approved", s.text), "precedent")
        await s.sees("cost ~1 of the estimate, last ")


async def test_budgets_that_are_old_and_can_not_be_read_again_are_shown_with_their_age(
    on: Staging,
) -> None:
    async with on(place="budget") as s:
        await s.go("tasks")
        s.platform.world.advance(300)
        s.platform.faults.add("agent_budgets:status=503")
        await s.poll(FeedName.PENDING)
        await s.press("a")
        await s.sees("◌ of 5 m ago", "APPROVE")


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        (["Publish pricing page"], 'no earlier task like "Publish pricing page"'),
        (["Publish", "Pay"], 'no earlier task like "Publish" or 1 other kind'),
        (["Publish", "Pay", "Hire"], 'no earlier task like "Publish" or 2 other kinds'),
    ],
)
def test_kinds_without_precedent_are_told_in_english(titles: list[str], words: str) -> None:
    assert without_precedent([mark_safe(title) for title in titles]) == words
