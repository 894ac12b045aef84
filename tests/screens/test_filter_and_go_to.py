from __future__ import annotations

from functools import partial

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from tests.screens.harness import PLACES, Stage, Staging, text_of


async def test_a_filter_works_while_it_is_typed_or_says_why_not(on: Staging) -> None:
    async with on(place="tasks") as s:
        counts = []
        await s.press("slash")
        for letter in "linus":
            await s.type(letter)
            counts.append(len(s.rows))
        assert counts == sorted(counts, reverse=True)
        assert 0 < counts[-1] < 40
        await s.sees("/linus", "enter keeps it", f"{counts[-1]} of 40")
        await s.press("enter")
        await s.sees("/linus", "q quit")
        agents = {s.platform.world.task(row).agent.name for row in s.rows}
        assert agents == {"Linus"}
        await s.press("escape")
        await s.sees_no("/linus")
        assert len(s.rows) == 40
        for typed, words in (
            ("agnt:linus", "agent"),
            ("waiting>soon", "needs a time"),
            ("trust<abc", "needs a number"),
        ):
            await s.press("slash")
            await s.type(typed)
            told = partial(lambda words: words in text_of(s.main.prompt._hint), words)
            await s.wait_until(told, f"what is wrong with {typed}")
            assert "enter keeps it" not in s.text
            await s.press("escape")
            assert len(s.rows) == 40


async def test_a_filter_outlives_refreshes_and_other_screens(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("slash")
        await s.type("agent:ada")
        await s.press("enter")
        before = len(s.rows)
        ada = next(a for a in s.platform.world.state.agents.values() if a.name == "Ada")
        s.platform.world.create_task(ada.company.id, "Water the plants", ada.id, "low")
        other = next(a for a in s.platform.world.state.agents.values() if a.name == "Linus")
        s.platform.world.create_task(other.company.id, "Feed the cat", other.id, "low")
        await s.press("r")
        await s.wait_until(lambda: len(s.rows) == before + 1, "Ada's new task, and no other")
        await s.go("agents")
        assert "/agent:ada" not in s.text
        await s.go("tasks")
        await s.sees("/agent:ada", "of 42")
        await s.press("slash")
        assert s.main.prompt.input.value == "agent:ada", "to go on with"
        await s.press("escape")


@pytest.mark.parametrize("place", PLACES)
async def test_every_list_has_filter_and_sort(on: Staging, place: Place) -> None:
    async with on(place=place) as s:
        await s.poll()
        whole = s.rows
        order = s.view.table.sort
        await s.press("s")
        assert s.view.table.sort != order
        await s.press("S")
        await s.press("slash")
        await s.type("acme")
        await s.press("enter")
        await s.sees("/acme")
        assert 0 < len(s.rows) <= len(whole)
        await s.press("escape")
        assert set(s.rows) == set(whole)


# ---- going to


async def go(s: Stage, words: str) -> None:
    await s.press("colon")
    await s.type(words)
    await s.press("enter")


async def test_going_to_records(on: Staging, platform: EmbeddedPlatform) -> None:
    state = platform.world.state
    async with on() as s:
        await s.poll()
        linus = next(a for a in state.agents.values() if a.name == "Linus")
        await go(s, "agent linus")
        await s.wait_until(lambda: s.cursor == linus.id, "Linus")
        ada = next(a for a in state.agents.values() if a.name == "Ada")
        await go(s, f"agent {ada.id}")
        await s.wait_until(lambda: s.cursor == ada.id, "Ada")
        task = list(state.pending)[20]
        await go(s, f"task {task}")
        await s.wait_until(lambda: (s.main.place, s.cursor) == ("tasks", task), "the task")
        globex = next(c for c in state.companies.values() if c.name == "Globex")
        await go(s, f"company {globex.id}")
        await s.wait_until(lambda: s.session.poller.query.company == globex.id, "the scope")
        await go(s, "all")
        await s.wait_until(lambda: s.session.poller.query.company is None, "all companies")


async def test_going_to_tasks_of_a_status(on: Staging) -> None:
    async with on() as s:
        for status in ("all", "completed", "running", "pending"):
            await go(s, f"tasks {status}")
            await s.wait_until(lambda: s.main.place == "tasks", "the tasks")
            tasks = s.platform.world.state.tasks.values()
            wanted = {task.id for task in tasks if status in ("all", task.status)}
            await s.wait_until(partial(lambda ids: set(s.rows) == ids, wanted), status)
            await s.sees("all statuses" if status == "all" else f"TASKS {status}")


NOWHERE = {
    "taks": "did you mean tasks",
    "agent nobody": "no agent here has the name or id nobody",
    "agent": "which agent",
    "company umbrella": "no company here",
    "task tsk_00000000": "no task here",
    "xyzzy": "no such place as xyzzy",
}


async def test_going_nowhere_says_why_and_keeps_the_words(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        for typed, words in NOWHERE.items():
            await go(s, typed)
            await s.sees(words)
            assert s.main.prompt.input.value == typed
            assert s.main.place == "overview"
            await s.press("escape")
            await s.sees("q quit")


async def test_suggestions_are_taken_with_the_arrow(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        await s.press("colon")
        await s.type("act")
        await s.sees("activity")
        await s.press("right")
        assert s.main.prompt.input.value == "activity"
        await s.press(*["backspace"] * 8)
        await s.type("company glo")
        await s.sees("company globex")
        await s.press("right", "enter")
        await s.wait_until(lambda: s.session.poller.query.company is not None, "the scope")
        await s.sees("Globex")
