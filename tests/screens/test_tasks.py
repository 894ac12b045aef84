from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import cast

import pytest
from msgspec.structs import replace

from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Listing, Moment, Money, Trace, TraceStep
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen, step_items
from agentco_tui.screens.tasks_view import TasksView
from agentco_tui.text import mark_safe, signs
from agentco_tui.widgets.text_pane import break_into_lines
from tests.screens.harness import NARROW, NOW, WIDE, Stage, Staging, text_of


async def test_the_longest_wait_first(on: Staging) -> None:
    async with on(place="tasks") as s:
        created = [s.platform.world.task(row).created for row in s.rows]
        assert created == sorted(created)
        assert {t.id for t in s.platform.world.tasks(status="pending")} == set(s.rows)


async def test_two_keys_show_any_status_and_its_tab_has_its_count_where_that_is_known(
    on: Staging,
) -> None:
    async with on(place="tasks", size=WIDE) as s:
        view, tasks = cast(TasksView, s.view), s.platform.world.state.tasks.values()
        counts = Counter(task.status for task in tasks)
        assert "TASKS ▌pending 40  all –" in s.lines[2], "nothing is known of the others"
        await s.press("v")
        await s.wait_until(lambda: "–" not in s.lines[2], "all counts")
        assert f" a all {len(tasks)} " in s.lines[2]
        assert {word: f"{number}" for word, number in counts.items()} == {
            word: count for word, count in view.tabs.counts().items() if word != "all"
        }
        letters = view.tabs.status_by_key(view.tabs.counts())
        assert sorted(letters.values()) == sorted([*counts, "all"])
        for letter, word in letters.items():
            if word != "pending":
                await s.press(letter)
                await s.sees(f"▌{word} {counts[word] or len(tasks)} ")
                assert {s.view.subject(row).status for row in s.rows} <= {word} | (
                    {*counts} if word == "all" else set()
                )
                assert f"{letter} {word}" not in s.lines[2]
                await s.press("v")
                await s.sees(f"▌{letter} {word}")
        await s.press("escape", "a")  # the key after `v` is gone, and `a` means what it always does
        await s.sees("no longer waits")


async def test_the_same_key_goes_on_a_letter_of_no_tab_does_nothing_and_a_click_shows_a_tab(
    on: Staging,
) -> None:
    async with on(place="tasks") as s:
        await s.poll(FeedName.PENDING)
        await s.press("v", "v")
        await s.wait_until(lambda: cast(TasksView, s.view).tabs.shown != "pending", "the next")
        await s.press("z", "v", "t", "y")
        assert not s.shows("TRACE")
        await s.wait_until(lambda: "–" not in s.lines[2], "all counts")
        await s.pilot.click(offset=(s.lines[2].index("pend"), 2))
        await s.sees("TASKS ▌pending 40")
        await s.press("slash", *"grace", "enter")
        await s.sees(f"▌pending {len(s.rows)} of 40")


async def test_detail_raw_fields_and_trace_where_there_is_room(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        row = s.cursor
        assert row is not None
        await s.sees(row, "Description", "PRIORITY")
        await s.press("x")
        await s.wait_until(lambda: '"title_from": "title"' in text_of(s.view.detail), "all fields")
        assert '"estimated_cost": 0.34' in text_of(s.view.detail), "those not understood as well"
        assert "\\n" not in text_of(s.view.detail)
        await s.press("x")
        await s.wait_until(lambda: "title_from" not in text_of(s.view.detail), "the detail again")
        await s.press("j")
        await s.wait_until(lambda: s.shows(str(s.cursor)), "the next one's detail")
        assert s.cursor != row
        await s.press("t")
        await s.sees("TRACE", "Refund 214 customers", "tool_call", "payments.refund")
        (request,) = s.platform.requests.matching("trace")
        assert request.path == f"/api/tasks/{s.cursor}/trace"
        await s.press("x")
        await s.sees("hidden characters shown")
        assert '"cause"' not in text_of(s.view.detail)
        await s.press("x")
        await s.sees_no("hidden characters shown")
        await s.press("q")
        await s.sees("TASKS")


async def test_the_detail_is_on_enter_where_there_is_not(on: Staging) -> None:
    async with on(place="tasks", size=NARROW) as s:
        row = str(s.cursor)
        assert row not in s.text
        await s.press("enter")
        await s.sees(row, "Description", "esc back")
        assert "Refund 214" not in s.text, "the list gives way"
        await s.press("a")
        await s.sees("APPROVE")
        await s.press("escape")
        await s.sees(row)
        await s.press("escape")
        await s.sees("Refund 214 customers", "WAITS")
        assert s.cursor == row


COLUMNS: dict[tuple[Place, int], str] = {
    ("overview", 80): "WHY SINCE WHAT IF IGNORED FIGURE",
    ("overview", 120): "WHY SINCE WHAT IF IGNORED FIGURE AGENT COMPANY",
    ("overview", 200): "WHY SINCE WHAT IF IGNORED FIGURE AGENT COMPANY ABOUT",
    ("companies", 80): "COMPANY STATUS AGENTS WAITING SPENT USED",
    ("companies", 120): "COMPANY AGENTS WAITING SPENT USED",
    ("agents", 80): "AGENT COMPANY STATUS TRUST USED LEFT",
    ("agents", 100): "AGENT ROLE COMPANY STATUS TRUST USED LEFT DONE",
    ("agents", 120): "AGENT COMPANY STATUS USED LEFT",
    ("tasks", 80): "WAITS PRIORITY TASK AGENT COMPANY",
    ("tasks", 100): "WAITS PRIORITY TASK AGENT COMPANY TRUST",
    ("tasks", 120): "WAITS PRIORITY TASK AGENT COMPANY",
    ("budget", 80): "BUDGET OF USED SPENT LIMIT LEFT",
    ("budget", 100): "BUDGET OF USED SPENT LIMIT LEFT",
    ("activity", 80): "TIME UTC WHO WHAT HAPPENED COMPANY",
    ("activity", 100): "TIME UTC WHO WHAT HAPPENED COMPANY",
}
"""The columns of a screen by the terminal's width, in the order of their importance elsewhere."""


def titles(s: Stage) -> str:
    """The titles of the columns that show, without the sign of the order."""
    area = s.view.table.region
    words = s.lines[area.y][area.x : area.right].split()
    return " ".join(word for cell in words if (word := cell.strip(f"{signs.up}{signs.down}")))


@pytest.mark.parametrize(("place", "width"), COLUMNS)
async def test_columns_by_width(on: Staging, place: Place, width: int) -> None:
    async with on(place=place, size=(width, 30)) as s:
        await s.poll()
        assert titles(s) == COLUMNS[place, width]


def step(name: str, tokens: int | None = 12, status: str = "completed", ago: int = 60) -> TraceStep:
    return TraceStep(
        id=name,
        kind=mark_safe("tool_call"),
        name=mark_safe(name),
        duration=1.5,
        tokens=tokens,
        cost=Money(amount=Decimal("0.25"), currency=mark_safe("USD")),
        status=mark_safe(status),
        at=Moment(at=NOW - ago),
    )


@pytest.mark.parametrize("width", [60, 80, 100, 120])
async def test_steps_in_columns(on: Staging, width: int) -> None:
    async with on(place="tasks", size=(width, 24)) as s:
        names = ("orders.search", "payments.refund_many_at_once", "mail", "x" * 90)
        steps = tuple(step(name, 10**at) for at, name in enumerate(names))
        trace = Trace(steps=steps)
        lines = [
            "".join(cell.text for cell in line)
            for line in break_into_lines(step_items(trace, s.view.cell_context, width=width), width)
        ]
        assert len(lines) == len(steps)
        assert all(len(line) == width and line.endswith("  1 m") for line in lines)
        for name, line in zip(names[:3], lines, strict=False):
            assert name in line
        assert "…" in lines[3]
        ends = {line.index("tokens") for line in lines if "tokens" in line}
        assert len(ends) == (0 if width == 60 else 1)
        for line, at in zip(lines, range(4), strict=True):
            assert width == 60 or f" {10**at:,} tokens" in line


async def test_what_no_step_has_takes_no_column(on: Staging) -> None:
    async with on(place="tasks") as s:
        trace = Trace(steps=(TraceStep(id="s", kind=mark_safe("output"), at=Moment(at=NOW)),))
        (line,) = break_into_lines(step_items(trace, s.view.cell_context, width=40), 40)
        assert "".join(cell.text for cell in line).split() == ["1", "output", "0", "s"]


async def test_another_width_lays_them_out_anew(on: Staging) -> None:
    async with on(place="tasks", size=(100, 24)) as s:
        await s.press("j", "t")
        await s.sees("tokens", "completed")
        assert isinstance(s.app.screen, TraceScreen)
        await s.resize(60, 24)
        await s.sees_no("completed")
        await s.sees("tokens", "payments.refund")
        assert "payments.r…" not in s.text
        await s.resize(100, 24)
        await s.sees("completed")


async def test_the_detail_shows_the_record_and_follows_its_changes(on: Staging) -> None:
    async with on(place="agents", size=(120, 40)) as s:
        await s.press("j", "j", "j")
        agent = s.platform.world.agent(str(s.cursor))
        await s.wait_until(lambda: agent.id in text_of(s.view.detail), "its detail")
        with s.platform.world.locked() as state:
            agent.model = "quite-another-model"
            state.changed(agent)
        await s.poll(FeedName.AGENTS)
        await s.sees("quite-another-model")
        assert s.cursor == agent.id


@pytest.mark.parametrize(
    ("place", "title", "brought"),
    [("overview", "Rotate the sta", "Ada is paused"), ("tasks", "Refund 214 customers", " 38")],
)
async def test_what_another_feed_brings_later_is_shown(
    on: Staging, place: Place, title: str, brought: str
) -> None:
    """Trust and state come with the agents; the tasks themselves do not change by it."""
    async with on(faults=["agents:status=503"], place=place, size=(160, 40), wait=False) as s:
        await s.sees(title)
        assert brought not in s.line_with(title)
        s.platform.faults.clear()
        await s.poll(FeedName.AGENTS)
        await s.wait_until(lambda: brought in s.line_with(title), "what is known of the agent")


@pytest.mark.parametrize(("size", "instead"), [((60, 16), "COMPANY"), (NARROW, "TRUST")])
async def test_a_column_in_which_nothing_is_known_gives_way(
    on: Staging, size: tuple[int, int], instead: str
) -> None:
    async with on(place="tasks", size=size) as s:
        await s.poll()
        await s.sees("PRIORITY")
        await s.sees_no(instead)
        tasks = [replace(task, priority=None) for task in s.workspace.store.pending]
        s.workspace.store.take(FeedName.PENDING, Listing(records=tuple(tasks)))
        await s.at_rest()
        await s.sees("PRIORITY")  # nothing jumps because cells have changed
        await s.press("S")
        await s.sees(instead)
        await s.sees_no("PRIORITY")
        await s.press("s")
        await s.sees("PRIORITY")  # what it is sorted by stands there
        await s.sees_no(instead)
