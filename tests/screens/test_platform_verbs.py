"""What only some platforms offer, on the recorded Paperclip: footer, keys, forms and tombstones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.keys.places import Place
from agentco_tui.screens.dialogs.base import Question
from agentco_tui.screens.dialogs.form_dialog import Form
from agentco_tui.screens.tasks_view import TasksView
from agentco_tui.widgets.tones import Tone
from tests.actions.user import journal_entries
from tests.platforms.recorded_answers import ACME
from tests.platforms.verb_truth import ROW
from tests.screens.harness import NARROW, WIDE, Stage, says, text_of, tone_of
from tests.screens.recorded_stage import StagedPaperclip, stage_paperclip

WAITING = ROW["waiting"]
BLOCKED = f"blocker_attention:blocker:{ROW['blocked']}"
STRANDED = f"recovery_action:recovery:missing_disposition:{ROW['stranded']}"
FAILED = f"agent_error_alert:agent_error:{ROW['bea']}"
FOOTERS: tuple[tuple[Place, str, str], ...] = (
    ("tasks", WAITING, "a approve  R reject  V revise  c comment  t trace"),
    ("tasks", ROW["override"], "c comment  b raise limit  t trace"),
    ("tasks", ROW["review"], "a approve  R send back  c comment  t trace"),
    ("tasks", ROW["question"], "a approve  R decline  c comment  t trace"),
    ("tasks", ROW["thread"], "R skip  c comment  t trace"),
    ("tasks", BLOCKED, "U unblock  c comment  t trace"),
    ("tasks", FAILED, "e clear error  t trace"),
    ("agents", ROW["maya"], "p pause  i run now  enter open"),
    ("agents", ROW["pat"], "p resume  enter open"),
    ("agents", ROW["bea"], "p pause  e clear error  enter open"),
    ("companies", ACME, "p pause  b budget  enter scope"),
)
"""Screens, rows, and how the footer begins there."""

Opening = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def server() -> Iterator[StagedPaperclip]:
    with StagedPaperclip() as running:
        yield running


@pytest.fixture
def on(server: StagedPaperclip, tmp_path: Path) -> Opening:
    return partial(stage_paperclip, server, tmp_path)


async def go_to(s: Stage, row_id: str, footer: str = "") -> None:
    """Put the cursor on a row, and wait until the footer is about it."""
    (found,) = (each for each in s.view.table.model.records if each.startswith(row_id))
    s.view.go_to(found)
    await s.wait_until(lambda: s.cursor == found and not s.view.has_other_offers, "the row")
    await s.sees(footer)


async def key_on(s: Stage, row_id: str, key: str) -> None:
    await go_to(s, row_id)
    await s.by_hand(key)


async def answered(s: Stage) -> None:
    """Wait until the form has been sent and is closed."""
    await s.wait_until(lambda: s.app.screen is s.main, "the list")


def bodies(server: StagedPaperclip) -> list[Any]:
    """What was written."""
    return [seen.body for seen in server.requests if seen.method != "GET"]


async def show_all(s: Stage) -> None:
    """Show the tasks of every status."""
    view = s.view
    assert isinstance(view, TasksView)
    view.show_status("all")
    await s.wait_until(lambda: ROW["run"] in view.table.model.records, "the list of all tasks")


# ---- what is offered


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_footer_has_what_the_row_has(size: tuple[int, int], on: Opening) -> None:
    async with on(size=size) as s:
        for place, row_id, footer in FOOTERS:
            if s.main.place != place:
                await s.go(place)
            await go_to(s, row_id)
            shown = text_of(s.main.lines.footer).strip()
            assert shown.startswith(footer), row_id
            assert "q quit" in shown
        await s.go("tasks")
        await show_all(s)
        await go_to(s, ROW["run"], "X cancel  t trace")
        await go_to(s, ROW["backlog"], "c comment  t trace")


async def test_the_needs_and_the_alerts_have_them_too(on: Opening) -> None:
    async with on(place="overview", size=WIDE) as s:
        s.view.go_to(f"task:{ROW['review']}")
        await s.sees("R send back")
        await s.go("budget")
        await s.press("tab")
        await s.sees("ALERTS", "b raise", "K keep paused")
        await s.by_hand("K")
        await s.sees("KEEP PAUSED")
        await s.press("enter")
        await s.sees("Keep Ada Acme stopped until its budget begins again?")


async def test_help_and_palette_list_them(on: Opening) -> None:
    async with on(size=(100, 60)) as s:
        await s.press("question_mark")
        await s.sees("Keys on Tasks", "Offered by Paperclip")
        await s.sees("R            Reject, if Paperclip offers it for the task.")
        await s.sees("Cancel the run, if", "Raise its limit, if")
        assert not s.shows("Pause, if"), "that is for agents"
        await s.press("escape", ":")
        await s.type("unblo")
        await s.sees("unblock", "Unblock, if Paperclip offers it for the task.", " U")
        await s.press("escape")
        await go_to(s, FAILED)
        await s.press(":")
        await s.type("clear")
        await s.sees("Clear the agent's error, if")
        await s.press("down", "enter")
        await s.sees("Let Broken Bea work again after its error?")
        await s.press("escape")
        await answered(s)
        assert s.writes == []


async def test_a_click_on_the_footer_opens_the_form(on: Opening) -> None:
    """Also of a verb whose name has a quote in it."""
    async with on(size=WIDE) as s:
        for row_id, words in ((WAITING, "R reject"), (FAILED, "e clear error")):
            await go_to(s, row_id, words)
            line = s.app.size.height - 1
            await s.pilot.click(offset=(s.lines[-1].index(words) + 1, line))
            await s.wait_until(lambda: s.app.screen is not s.main, "the form")
            await s.press("escape", "escape")
            await answered(s)


async def test_what_a_row_does_not_have_is_said(on: Opening) -> None:
    async with on(size=WIDE) as s:
        await key_on(s, BLOCKED, "R")
        await says(s, "Paperclip does not offer this for this line")
        await s.by_hand("a")
        assert s.app.screen is s.main, "and there is nothing to approve"
        await key_on(s, ROW["override"], "a")
        assert s.app.screen is s.main
        assert not s.shows("a approve")
        await s.go("agents")
        await key_on(s, ROW["maya"], "R")
        assert s.app.screen is s.main, "a key of another screen"
        assert s.writes == []


async def test_a_key_that_is_held_down_does_nothing(on: Opening) -> None:
    async with on(place="agents") as s:
        await go_to(s, ROW["maya"])
        s.alone()
        s.app.presses.take("p", time.monotonic())  # which another screen got
        await s.press("p")
        assert s.app.presses.held_down
        assert s.app.screen is s.main
        await s.by_hand("p")
        await s.sees("Pause Maya Globex?")


async def test_writing_off_dims_them_and_says_why(on: Opening) -> None:
    async with on(size=(150, 40), read_only=True) as s:
        await go_to(s, WAITING, "R reject")
        footer = s.main.lines.footer
        assert tone_of(footer, " reject") is Tone.DIM
        assert tone_of(footer, " trace") is Tone.PLAIN
        await s.by_hand("R")
        await says(s, "read-only")
        assert s.app.screen is s.main
        await s.press("question_mark")
        await s.sees("Reject, if Paperclip offers it for the task. Not now:")


async def test_a_refused_permission_dims_one_of_them(on: Opening, server: StagedPaperclip) -> None:
    async with on(size=(150, 40)) as s:
        server.fault = lambda method, path: 403 if method != "GET" else None
        await key_on(s, WAITING, "R")
        await s.press("enter")
        await s.yes()
        await s.sees("this key may not reject")
        await s.press("escape")
        await answered(s)
        assert tone_of(s.main.lines.footer, " reject") is Tone.DIM
        assert tone_of(s.main.lines.footer, " revise") is Tone.PLAIN


# ---- what is done


async def test_rejecting_with_a_note(on: Opening, server: StagedPaperclip, tmp_path: Path) -> None:
    async with on() as s:
        await key_on(s, WAITING, "R")
        await s.sees("REJECT Spend $40 on ads for Ada", "a sentence; may stay empty")
        await s.type("too dear")
        await s.press("enter")
        await s.sees("Reject it? The note is kept with the request.", "too dear", "Ada Globex")
        assert s.writes == [], "nothing is sent before the question"
        await s.yes()
        await answered(s)
        assert bodies(server) == [{"decisionNote": "too dear"}]
        assert server.decided == {WAITING: "rejected"}
        await says(s, "reject: done", "“rejected”")
        await s.sees("rejected here · Spend $40 on ads for Ada")
        assert s.cursor != WAITING, "the cursor goes on"
        attempt = journal_entries(tmp_path / "journal.jsonl")[0]
        assert isinstance(attempt, Attempt)
        assert (attempt.verb, attempt.details["note"]) == ("reject", "too dear")


@pytest.mark.parametrize(
    ("row_id", "key", "words"),
    [
        (WAITING, "V", "revision_requested here"),
        (ROW["question"], "R", "decline: done here"),
        (BLOCKED, "U", "unblock: done here"),
    ],
)
async def test_the_row_says_how_it_was_decided(
    row_id: str, key: str, words: str, on: Opening
) -> None:
    async with on(size=WIDE) as s:
        await key_on(s, row_id, key)
        await s.type("a word")
        await s.press("enter")
        await s.yes()
        await answered(s)
        await s.sees(words)


async def test_what_somebody_else_has_done_is_not_called_ours(
    on: Opening, server: StagedPaperclip
) -> None:
    async with on(size=WIDE) as s:
        await key_on(s, WAITING, "R")
        server.decided[WAITING] = "rejected"
        await s.press("enter")
        await s.yes()
        await answered(s)
        await says(s, "nothing was sent", "“rejected”", "already")
        await s.sees("left the list · Spend $40 on ads for Ada")
        assert s.writes == []


async def test_a_note_that_is_required(on: Opening, server: StagedPaperclip) -> None:
    async with on() as s:
        await key_on(s, WAITING, "V")
        await s.sees("REVISE", "a sentence")
        assert not s.shows("may stay empty")
        await s.type("  ")
        await s.press("enter")
        await s.sees("✖ write a few words: it is not sent without a note")
        assert isinstance(s.app.screen, Form)
        await s.type("cheaper")
        await s.press("enter")
        await s.yes()
        await answered(s)
        assert bodies(server) == [{"decisionNote": "cheaper"}]


async def test_a_comment_changes_no_row(on: Opening, server: StagedPaperclip) -> None:
    async with on(size=WIDE) as s:
        await show_all(s)
        for row_id in (WAITING, ROW["backlog"]):
            await key_on(s, row_id, "c")
            await s.type("why?")
            await s.press("enter")
            await s.yes()
            await answered(s)
            assert s.cursor == row_id, "the cursor stays"
        assert set(server.comments) == {WAITING, ROW["backlog"]}
        assert not s.shows(" here · ")
        assert s.dashboard.decisions.decided_here == {}


async def test_a_question_without_a_form(on: Opening, server: StagedPaperclip) -> None:
    async with on(place="agents") as s:
        await key_on(s, ROW["maya"], "p")
        await s.sees("Pause Maya Globex? What it runs is stopped.", "designer", "idle", "$383.01")
        assert isinstance(s.app.screen, Question)
        await s.press("n")
        await answered(s)
        assert s.writes == []
        await s.by_hand("p")
        await s.yes()
        await answered(s)
        assert server.decided == {ROW["maya"]: "paused"}
        await s.sees("p resume")
        assert "paused" in s.line_with("Maya Globex ")


async def test_a_refusal_is_shown_without_a_form(on: Opening, server: StagedPaperclip) -> None:
    async with on(place="agents") as s:
        await key_on(s, ROW["maya"], "p")
        server.decided[ROW["maya"]] = "running"
        await s.yes()
        await s.sees("✖ nothing was sent, because it changed since you saw it", "esc: back")
        await s.press("escape")
        await answered(s)
        assert s.writes == []
        assert "running" in s.line_with("Maya Globex "), "the list shows what was read"


async def test_an_amount(on: Opening, server: StagedPaperclip) -> None:
    async with on(place="companies") as s:
        await key_on(s, ACME, "b")
        await s.sees("BUDGET Acme Robotics", "a month; in whole units")
        await s.type("6,000")
        await s.press("enter")
        await s.sees("✖ digits and a point only")
        await s.press(*["backspace"] * 5)
        await s.type("6000.5")
        await s.press("enter")
        await s.sees("Set the monthly budget of Acme Robotics?", "6000.5", "$5,000.00")
        await s.yes()
        await answered(s)
        assert server.amounts == {ACME: 600050}
