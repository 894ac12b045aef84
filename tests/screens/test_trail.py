"""Going in and coming back: `enter`, `esc`, `-`, and the way that the title shows."""

from __future__ import annotations

import re
from functools import partial

import pytest

from agentco_tui.attention.needs import Need, NeedKind
from agentco_tui.keys.places import Place
from agentco_tui.model.format import age
from agentco_tui.screens.navigation import Destination
from agentco_tui.widgets.link_pane import LinkPane
from tests.screens.harness import NARROW, NOW, WIDE, Stage, Staging, text_of


async def arrives(s: Stage, place: Place, row: str | None, *, reading: bool) -> None:
    here = partial(lambda: (s.main.place, s.cursor, s.view.reading) == (place, row, reading))
    await s.wait_until(here, f"{row} on {place}")


def task_need(s: Stage) -> Need:
    """A need that is a task, and not on the first line."""
    rows = s.view.table.model
    needs: list[Need] = [need for row in s.rows if (need := rows.record(row))]
    return [need for need in needs[1:] if need.kind is NeedKind.TASK][-1]


async def test_esc_comes_back_to_the_line_the_screen_and_its_filter(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        need = task_need(s)
        assert s.view.go_to(need.key)
        await s.press("enter")
        await arrives(s, "tasks", need.record.id, reading=True)
        await s.sees("Overview ›", "Description", "esc back")
        await s.press("escape")
        await arrives(s, "overview", need.key, reading=False)
        assert "›" not in s.lines[2]
        # A list whose filter would hide what is opened from elsewhere has it again.
        await s.go("tasks")
        await s.press("slash", *"zzz", "enter")
        await s.go("overview")
        await s.press("enter")
        await s.wait_until(lambda: s.main.place != "overview", "what the need is about")
        await s.press("escape")
        await arrives(s, "overview", need.key, reading=False)
        await s.press("escape")
        await arrives(s, "overview", need.key, reading=False)


async def test_a_page_opens_on_its_first_line_whatever_comes_while_it_opens(on: Staging) -> None:
    """Entering a company is a load: its tasks come after its money."""
    async with on(place="companies") as s:
        await s.poll()
        for _ in range(2):
            await s.press("enter")
            await s.sees("Waiting 17", "Rotate the staging")
            await s.wait_until(lambda: "▌" in s.line_with("Rotate the staging"), "the cursor there")
            await s.press("j", "k", "j")
            s.main.ticker.tick()
            await s.settle()
            assert "▌" in s.lines[s.lines.index(s.line_with("Rotate the staging")) + 1]
            await s.press("escape")
            await s.wait_until(lambda: s.workspace.poller.query.company is None, "all companies")


@pytest.mark.parametrize(("width", "beside"), [(120, False), (200, True)])
async def test_a_page_stands_beside_its_list_where_there_is_room(
    on: Staging, width: int, beside: bool
) -> None:
    async with on(place="companies", size=(width, 50)) as s:
        await s.poll()
        await s.press("enter")
        await s.sees("Companies ›", "Waiting 17", "Failures")
        await s.wait_until(lambda: s.shows("COMPANY ", "Globex") is beside, "the list")


async def test_esc_leaves_a_filter_and_marks_before_it_goes_back(on: Staging) -> None:
    async with on(place="companies") as s:
        await s.poll()
        company = s.cursor
        await s.press("enter")
        await s.wait_until(lambda: s.workspace.poller.query.company == company, "the scope")
        await s.go("tasks")
        await s.wait_until(lambda: 0 < len(s.rows) < 40, "its tasks")
        await s.press("space", "slash", *"e", "enter")
        await s.sees("1 marked", "/e")
        await s.press("escape")
        await s.sees_no("/e")
        await s.press("escape")
        await s.sees_no("1 marked")
        assert s.workspace.poller.query.company == company
        await s.press("escape")
        await arrives(s, "companies", company, reading=False)
        assert s.workspace.poller.query.company is None, "what entering it had set"


async def test_the_last_place_and_the_one_before_it_in_turn(on: Staging) -> None:
    async with on(keys={"app.last": "f7"}) as s:
        await s.poll()
        need = task_need(s)
        assert s.view.go_to(need.key)
        await s.press("f7", "enter")
        await arrives(s, "tasks", need.record.id, reading=True)
        await s.press("f7")
        await arrives(s, "overview", need.key, reading=False)
        await s.press("f7")
        await arrives(s, "tasks", need.record.id, reading=True)
        await s.sees("Overview ›")
        await s.press("5")
        await s.press("f7", "escape")
        await arrives(s, "overview", need.key, reading=False)


async def test_what_is_gone_to_with_a_company_is_awaited_where_it_has_yet_to_come(
    on: Staging,
) -> None:
    async with on(place="companies") as s:
        await s.poll()
        await s.press("enter")
        await s.wait_until(lambda: s.workspace.poller.query.company, "the scope")
        scope = s.workspace.poller.query.company
        other = next(
            task
            for task in s.platform.world.tasks(status="pending")
            if task.agent.company.id != scope
        )
        s.main.go(Destination("tasks", other.id, scope=None, is_open=True))
        assert s.workspace.poller.query.company is None
        await arrives(s, "tasks", other.id, reading=True)
        await s.press("escape")
        await arrives(s, "companies", scope, reading=True)
        assert s.workspace.poller.query.company == scope


# ---- what is named has a page


async def test_from_a_need_to_its_task_agent_company_and_its_tasks_and_back(on: Staging) -> None:
    async with on(size=NARROW) as s:
        await s.poll()
        need = task_need(s)
        task = s.workspace.store.pending.get(need.record.id)
        assert task is not None
        agent = s.workspace.names.agent_of(task.agent)
        assert agent is not None
        assert agent.company is not None
        assert s.view.go_to(need.key)
        way: list[tuple[Place, str | None]] = [
            ("tasks", task.id),
            ("agents", agent.id),
            ("companies", agent.company.id),
        ]
        for place, row in way:
            await s.press("enter")
            await arrives(s, place, row, reading=True)
        await s.sees("… › ", f"› {agent.name} ›", "Waiting")
        assert s.workspace.poller.query.company == agent.company.id
        await s.press("enter")
        await s.wait_until(lambda: s.main.place == "tasks" and s.view.reading, "its worst task")
        assert "Overview" not in s.lines[2], "cut from the left"
        await s.press("escape")
        for place, row in reversed(way):
            await arrives(s, place, row, reading=True)
            await s.press("escape")
        await arrives(s, "overview", need.key, reading=False)
        assert s.workspace.poller.query.company is None


async def test_the_cursor_of_a_page_goes_from_link_to_link_and_scrolls_between(
    on: Staging,
) -> None:
    async with on(place="companies", size=NARROW) as s:
        await s.poll()
        company = s.cursor
        await s.press("enter")
        await s.sees("Waiting", "more")
        pane = s.view.detail
        assert isinstance(pane, LinkPane)
        places = set[str]()
        for _ in range(60):
            key = pane.current_link
            places.add(key.partition(":")[0])
            if key.startswith("agents:"):
                break
            before = pane.cursor_line + pane.scroll_offset.y, pane.scroll_offset.y
            await s.press("j")
            after = pane.cursor_line + pane.scroll_offset.y, pane.scroll_offset.y
            assert after > before, "each press goes on"
        assert places == {"tasks", "budget", "agents"}
        assert 0 <= pane.cursor_line < pane.size.height, "in sight"
        assert "▌" in s.lines[3 + pane.cursor_line]
        agent = pane.current_link.partition(":")[2]
        await s.press("enter")
        await arrives(s, "agents", agent, reading=True)
        await s.press("escape", "escape")
        await arrives(s, "companies", company, reading=False)
        await s.press("enter", "G")
        await s.press("g")
        # private: which line holds the first link is shown nowhere else.
        assert pane.cursor_line + pane.scroll_offset.y == min(pane._links)


async def test_alerts_budgets_and_entries_lead_to_whom_they_are_about(on: Staging) -> None:
    async with on(place="budget") as s:
        await s.poll()
        await s.press("j", "j", "enter")
        await s.sees("agent  ", "company  ")
        agent = str(s.cursor).partition(":")[2]
        await s.press("enter")
        await arrives(s, "agents", agent, reading=True)
        await s.press("escape", "escape", "tab", "enter")
        await s.sees("DETAIL of the alert")
        await s.press("enter")
        await s.wait_until(lambda: s.main.place in ("agents", "companies"), "whom it is about")
        await s.press("escape")
        await s.sees("DETAIL of the alert")
        await s.press("escape")
        await s.go("activity")
        await s.poll()
        entry = next(
            e
            for e in reversed(s.workspace.store.activity)
            if e.agent and e.task and e.task.id in s.workspace.store.pending.records
        )
        await s.press("p")
        # private: no public way shows which entries a line stands for.
        fold = next(i for i, f in s.view._folds.items() if entry in f.entries)  # type: ignore[attr-defined]
        assert s.view.go_to(fold)
        await s.press("enter")
        await s.sees("Overview" if s.main.navigation.behind else "ACTIVITY", "severity")
        # private: no public way lists the links that are scrolled out of view.
        keys = list(s.view.detail._links.values())
        assert entry.agent
        assert entry.task
        assert f"agents:{entry.agent.id}" in keys
        assert f"tasks:{entry.task.id}" in keys


# ---- pages


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_page_of_a_company_tells_what_waits_its_money_people_and_failures(
    on: Staging, size: tuple[int, int]
) -> None:
    async with on(place="companies", size=size) as s:
        await s.poll()
        await s.press("enter")
        company = s.workspace.poller.query.company
        assert company
        await s.poll()
        world = s.platform.world
        waiting = world.tasks(company, "pending")
        oldest = min(task.created for task in waiting)
        told = partial(text_of, s.view.detail)
        head = f"Waiting {len(waiting)}, the oldest {age(NOW - oldest, fine=True)}"
        await s.wait_until(lambda: head in told() and "119 %" in told(), "all of it")
        lines = told().split("\n")
        parts = ["Waiting", "Money", "Agents 8, worst first", "Failures"]
        at = [next(i for i, line in enumerate(lines) if line.startswith(part)) for part in parts]
        assert at == sorted(at)
        assert re.search(r"█+│█*.* 83 % ▲", lines[at[1] + 1]), "with the mark of today"
        assert "Ada" in lines[at[2] + 1], "who has spent 119 %"
        failed = [line for line in lines[at[3] + 1 :] if re.match(r" +\d\d:", line)]
        assert failed
        assert all("✖" in line or "▲" in line for line in failed)
        theirs = {a.name for a in world.agents() if a.company.id != company}
        assert not any(name in line for name in theirs for line in lines)
        body = s.lines[3:-1]
        assert sum(not line.strip(" │▇█▁▂▃▄▅▆") for line in body) <= len(body) // 4


async def test_the_page_of_an_agent_tells_what_waits_and_what_it_did(on: Staging) -> None:
    async with on(place="agents", size=WIDE) as s:
        await s.poll()
        ada = next(a for a in s.platform.world.agents() if a.name == "Ada")
        assert s.view.go_to(ada.id)
        await s.press("enter")
        await s.poll()
        waiting = [t for t in s.platform.world.tasks(status="pending") if t.agent.id == ada.id]
        text = text_of(s.view.detail)
        assert f"Waiting {len(waiting)}," in text
        assert all(task.title in text for task in waiting)
        assert "119 % ✖" in text
        log = text.partition("\nLatest")[2]
        assert "Ada has spent 118.80 of 100.00 and was stopped" in log
