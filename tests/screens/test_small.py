"""A phone, a small terminal, and what comes over the lists: questions, notices, what is pasted."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.geometry import Region

# private: Textual exports the class nowhere else.
from textual.widgets._toast import Toast

from agentco_tui.model import Task
from agentco_tui.screens.dialogs.form_dialog import Form
from agentco_tui.widgets.tones import Tone
from tests.screens.harness import NARROW, PLACES, Stage, Staging

PHONE, LEAST = (45, 20), (40, 12)


@pytest.mark.parametrize("size", [PHONE, LEAST])
async def test_a_phone_has_one_list_with_a_line_for_each(
    on: Staging, size: tuple[int, int]
) -> None:
    async with on(size=size) as s:
        await s.poll()
        for at, place in enumerate(PLACES, start=1):
            await s.go(place)
            # All but header, tabs, title and keys, and the Overview's preview of two lines.
            assert s.view.table.size.height >= size[1] - (6 if at == 1 else 4)
            assert not any(panel in s.text for panel in ("SPEND", "LATEST", "ALERTS"))
            head, tabs, _, *rows = s.lines
            assert " demo " in head
            assert "live" in head
            assert f"▌{at} {place.title()}" in tabs
            assert all(f"{number} " in tabs for number in range(1, 7))
            assert "q quit" in rows[-1]
            assert max(map(len, s.lines)) <= size[0]
            words = [row for row in s.view.table.model.shown if row]
            assert len(words) >= sum(bool(row.strip(" █▂▌")) for row in rows[1:-1]) > 0


async def test_the_preview_is_wrapped_anew_for_another_size(on: Staging) -> None:
    async with on(size=PHONE) as s:
        await s.poll()
        view: Any = s.view
        key = next(n.key for n in s.workspace.needs.shown if isinstance(n.record, Task))
        view.table.move_cursor_to(key)
        about = " ".join(view.need().record.description.split())
        assert about not in s.text
        await s.resize(120, 40)
        assert about in s.text


async def test_what_lies_below_is_counted_anew_for_another_size(on: Staging) -> None:
    async with on(size=(80, 16), place="tasks") as s:
        await s.press("a")
        await s.sees("more below")
        await s.resize(80, 60)
        await s.sees_no("more below")
        await s.resize(80, 16)
        await s.sees("more below")


async def test_a_phone_shows_the_alerts_in_place_of_the_budgets(on: Staging) -> None:
    async with on(size=PHONE, place="budget") as s:
        await s.poll()
        assert "ALERTS" not in s.text
        await s.press("tab")
        await s.sees("ALERTS 9", "Ada has spent")
        assert s.app.focused is s.view.alerts  # type: ignore[attr-defined]
        await s.press("tab")
        await s.sees("BUDGET OF")
        await s.sees_no("ALERTS")


@pytest.mark.parametrize("size", [PHONE, LEAST, (60, 16)])
async def test_a_small_question_tells_enough_to_decide(on: Staging, size: tuple[int, int]) -> None:
    async with on(size=size, place="tasks") as s:
        await s.press("a")
        await s.armed()
        task = next(iter(s.platform.world.state.pending.values()))
        for row in s.rows:
            if row == s.cursor:
                task = s.platform.world.task(row)
        company = task.agent.company.name
        for words in ("demo", "APPROVE", task.title[:30], company, task.agent.name, task.id):
            assert words in s.text
        assert "cost" in s.text
        assert " y  approve" in s.text
        assert "more below" in s.text
        await s.press(*["down"] * 40)
        await s.sees_no("more below")
        await s.yes()
        await s.wait_until(lambda: s.outcome_of(task.id), "the outcome")


async def test_spend_keeps_names_and_figures_at_60_columns(on: Staging) -> None:
    async with on(size=(60, 16)) as s:
        await s.poll()
        for name in ("Acme Robotics", "Initech Content", "Globex"):
            company = next(c for c in s.platform.world.state.companies.values() if c.name == name)
            line = next(
                line for line in s.lines if name in line and "%" in line and "approve" not in line
            )
            budget = s.workspace.store.company_budgets.get(company.id)
            assert budget is not None
            assert budget.share is not None
            assert f"{budget.share * 100:.0f} %" in line
            assert budget.limit is not None
            assert f"${budget.limit.amount:,.2f}" in line


async def test_help_and_leaving_work_in_a_trace(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("t")
        await s.sees("TRACE")
        await s.press("question_mark")
        await s.sees("Keys on")
        await s.press("escape")
        await s.sees("TRACE")
        await s.press("q")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        assert s.app.is_running


async def paste(s: Stage, text: str) -> None:
    assert s.app.focused is not None
    s.app.post_message(events.Paste(text))
    await s.settle()


async def test_of_several_pasted_lines_none_is_lost(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("slash")
        await paste(s, "refund\n  214\r\n\ncustomers\n")
        assert s.main.prompt.input.value == "refund 214 customers"
        await s.wait_until(lambda: len(s.rows) == 1, "the one")
        await s.press("escape", "n")
        await s.wait_until(lambda: isinstance(s.app.screen, Form), "the form")
        await paste(s, "One line\nand another")
        assert "One line and another" in [f.value for f in s.app.screen.inputs.values()]  # type: ignore[attr-defined]
        # In place of what is selected.
        await s.press("home", "shift+end")
        await paste(s, "a\nb")
        assert "a b" in [f.value for f in s.app.screen.inputs.values()]  # type: ignore[attr-defined]


async def test_a_question_stands_in_the_place_of_its_form(on: Staging) -> None:
    async with on(place="agents") as s:
        await s.press("g", "l")
        await s.sees("monthly limit")
        field = s.app.focused
        await s.type("250")
        await s.press("enter")
        await s.sees(" y  set it")
        assert "monthly limit" not in s.text
        assert s.text.count("╭") == 1
        await s.press("n")
        await s.sees("monthly limit", "250")
        assert s.app.focused is field
        await s.type("0")
        await s.sees("2500")
        assert not s.writes


def toasts(s: Stage) -> list[Region]:
    """Where notices are seen."""
    placed = (toast for toast in s.app.screen.query(Toast) if toast.region)
    return [s.app.screen.find_widget(toast).visible_region for toast in placed]


def stands_clear(s: Stage) -> bool:
    """Whether the notice is there, whole, and not on the line under the cursor."""
    table = s.view.table
    row = table.region.y + 1 + table.viewport.cursor_index - table.viewport.top
    return sum(region.height for region in toasts(s)) >= 2 and not any(
        region.y <= row < region.bottom for region in toasts(s)
    )


@pytest.mark.parametrize("size", [NARROW, PHONE, LEAST, (60, 16)])
async def test_no_notice_lies_on_the_line_under_the_cursor(
    on: Staging, size: tuple[int, int]
) -> None:
    async with on(place="tasks", size=size) as s:
        words = "this is a notice of some length, as they come when something was refused, so"
        s.app.notify(words, markup=False, timeout=600)
        for key in ("g", "G", "g"):
            for pressed in (key, *("j" if key == "g" else "k") * (size[1] - 5)):
                await s.press(pressed)
                await s.wait_until(lambda: stands_clear(s), "the notice beside the cursor")


async def test_no_notice_lies_on_a_question(on: Staging) -> None:
    async with on(place="tasks", size=(120, 60)) as s:
        s.app.notify("said before", markup=False, timeout=600)
        await s.sees("said before")
        await s.press("a")
        await s.sees("APPROVE")
        s.app.notify("said meanwhile", markup=False, timeout=600)
        s.app.notify("and after that", markup=False, timeout=600)
        await s.wait_until(lambda: len(s.app.screen.close_callbacks) > 1, "both wait")  # type: ignore[attr-defined]
        assert not toasts(s)
        assert "meanwhile" not in s.text
        await s.press("n")
        await s.sees("said before", "said meanwhile", "and after that")
        assert s.text.index("said meanwhile") < s.text.index("and after that")


async def test_every_question_names_production_and_dims_the_rest(on: Staging) -> None:
    async with on(place="tasks", size=(100, 30), profile="production") as s:

        def ground() -> tuple[Any, Any]:
            style = next(iter(s.strips[2])).style
            assert style is not None
            return style.color, style.bgcolor

        before = ground()

        async def asks(*words: str) -> None:
            await s.sees(*words)
            badge = next(c for c in s.app.screen.title_line.cells if "production" in c.text)  # type: ignore[attr-defined]
            assert badge.filled is not None
            assert s.app.screen.title_line.filled is badge.filled  # type: ignore[attr-defined]
            keys = s.app.screen.keys_line.cells  # type: ignore[attr-defined]
            assert (keys[0].text, keys[0].tone) == (" y ", Tone.BADGE)
            assert ground() != before
            await s.press("escape")

        await s.press("a")
        await asks(" y  approve", "id ", "cost ")
        await s.press("space", "space", "a")
        await asks(" y  approve all 2")
        await s.go("agents")
        before = ground()
        await s.press("g", "l", *"250", "enter")
        await asks(" y  set it")
