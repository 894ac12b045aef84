"""Keys as the contract has them, rebound ones, and all others: nothing falls, nothing is sent."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from textual.events import AppBlur

from agentco_tui.actions.outcome import Verb
from agentco_tui.config import ViewSettings
from agentco_tui.keys.commands import COMMANDS, RESERVED_KEYS, UNBOUND
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.dialogs.base import Question
from agentco_tui.screens.dialogs.form_definitions import FORMS
from tests.screens.harness import PLACES, WIDE, Stage, Staging, key_event, text_of

PRINTABLE = [c for c in string.printable if c.isprintable() and c not in "qy"]
OTHERS = [
    *("enter", "escape", "tab", "shift+tab", "backspace", "delete", "insert", "home", "end"),
    *("pageup", "pagedown", "up", "down", "left", "right"),
    *(f"f{n}" for n in range(1, 13)),
    *(f"ctrl+{c}" for c in string.ascii_lowercase if c not in "cpqz"),
    *(f"shift+{c}" for c in ("up", "down", "left", "right")),
    *("ctrl+up", "ctrl+down", "ctrl+home", "ctrl+end", "ctrl+at", "ctrl+underscore"),
]
DIALOGS: dict[str, tuple[Place, str]] = {
    "approve": ("tasks", "a"),
    "trace": ("tasks", "t"),
    "new task": ("tasks", "n"),
    "new company": ("companies", "n"),
    "clone": ("companies", "c"),
    "limit": ("agents", "l"),
    "filters": ("activity", "f"),
    "export": ("activity", "e"),
    "help": ("overview", "?"),
    "filter": ("tasks", "/"),
    "go to": ("tasks", ":"),
}


async def back(s: Stage, place: Place) -> None:
    """Leave whatever a key has opened, and the filter and the marks it has made."""
    for _ in range(8):
        if s.app.screen is s.main and not s.main.prompt.display:
            break
        await s.tap("escape")
        await s.pilot.pause(0)
    assert s.app.screen is s.main
    assert not s.main.prompt.display
    if s.main.place != place:
        await s.tap(str(PLACES.index(place) + 1))
        await s.pilot.pause(0)


@pytest.mark.paints
@pytest.mark.parametrize("name", DIALOGS)
async def test_every_key_in_every_dialog(
    on: Staging, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place, opens = DIALOGS[name]
    async with on(place=place) as s:
        await s.poll()
        await s.press(opens)

        def is_open() -> bool:
            return s.app.screen is not s.main or s.main.prompt.display

        await s.wait_until(is_open, name)
        for key in (*PRINTABLE, *OTHERS):
            await s.tap(key)
            # private: Textual has no public way to read the error that ended an app.
            assert s.app._exception is None, key
            if not is_open():
                await back(s, place)
                await s.press(opens)
        await back(s, place)
        await s.sees("q quit")
        assert s.app.return_code is None
        assert not s.writes


@pytest.mark.parametrize("place", PLACES)
async def test_help_lists_every_key_of_the_screen_and_each_is_bound(
    on: Staging, place: Place
) -> None:
    async with on(place=place, size=(120, 60)) as s:
        await s.press("?")
        await s.sees("Keys on", "This screen")
        shown = text_of(s.app.screen.pane)  # type: ignore[attr-defined]
        flat = " ".join(shown.split())
        for key in COMMANDS:
            if place in key.places and key.where != "dialog":
                assert " ".join(key.tooltip.split()) in flat, key.id
        for closing in ("escape", "?", "q"):
            if s.app.screen is s.main:
                await s.press("?")
            await s.press(closing)
            await s.wait_until(lambda: s.app.screen is s.main, "the screen")
        bound = {binding.id for _, binding, *_ in s.main.active_bindings.values()}
        with_key = [key for key in COMMANDS if key.keys != UNBOUND and key.where != "dialog"]
        promised = {key.id for key in with_key if place in key.places}
        # On Companies scope has the same key as open, on purpose.
        assert promised - {"companies.scope"} <= bound
        assert not set(s.main.active_bindings) & set(RESERVED_KEYS) - {"ctrl+z"}


async def test_the_first_key_after_a_blur_does_what_it_is_bound_to(on: Staging) -> None:
    async with on(place="tasks", size=(120, 40)) as s:
        for _ in range(3):
            s.app.post_message(AppBlur())
            await s.wait_until(lambda: s.app.screen.focused is None, "nothing has the keys")
            await s.press("?")
            await s.sees("Keys on Tasks")
            await s.press("escape")
            await s.wait_until(lambda: s.app.screen is s.main, "the screen")


async def test_help_can_be_searched(on: Staging) -> None:
    async with on(place="tasks", size=(120, 90)) as s:
        await s.press("?")
        await s.sees("Keys on Tasks", "(tasks.approve)", "agent:ada|linus")
        await s.press("/", *"TRACE")
        await s.sees("(tasks.trace)")
        await s.wait_until(lambda: "(tasks.approve)" not in s.text, "nothing else")
        assert "Filters" not in s.text
        await s.press(*" nowhere")
        await s.sees("no line has these words")
        await s.press("escape")
        await s.sees("(tasks.approve)")
        await s.press("/", *"quit", "enter", "q")
        await s.wait_until(lambda: s.app.screen is s.main, "the screen")


async def test_no_key_that_acts_before_all_others_can_be_a_letter(on: Staging) -> None:
    """It would act while a letter is typed into a field; `[keys]` can't change what has no id."""
    async with on() as s:
        for opens in ("", "a", "t", "n", "?", "ctrl+p", "/"):
            if opens:
                await s.go("tasks")
                await s.press(opens)
            # private: `active_bindings` leaves out bindings that are hidden by others.
            for _, bindings in s.app.screen._binding_chain:
                for key, binding in bindings:
                    assert not binding.priority or (binding.id is None and "+" in key), key
            await back(s, "tasks")


async def test_a_tab_shows_the_key_that_opens_it(on: Staging) -> None:
    views = (ViewSettings(name="ada", screen="tasks", filter="agent:ada"),)
    rebound = {"screen.tasks": "T", "screen.agents": "4", "screen.budget": UNBOUND, "view.1": "3"}
    async with on(size=WIDE, keys=rebound, views=views) as s:
        await s.sees("1 Overview", "2 Companies", "4 Agents", "T Tasks", "6 Activity", "3 ada")
        assert not re.search(r"\d Budget", s.lines[1])
        await s.press("4")
        await s.sees("▌4 Agents", "AGENTS all companies")
        await s.press("T")
        await s.sees("▌T Tasks", "TASKS ▌pending")


async def test_rebound_keys(on: Staging) -> None:
    rebound = {"screen.tasks": "T", "tasks.approve": "f5", "list.down": "e", "app.quit": "unbound"}
    async with on(keys=rebound) as s:
        await s.press("4")
        assert s.main.place == "overview"
        await s.press("T")
        await s.sees("TASKS", "f5 approve")
        first = s.cursor
        await s.press("e")
        assert s.cursor != first
        await s.press("j")
        assert s.cursor == s.rows[1]
        await s.press("a")
        assert s.app.screen is s.main
        await s.press("f5")
        await s.sees("APPROVE")
        await s.press("escape")
        await s.press("q")
        await s.settle()
        assert s.app.return_code is None
        assert "q quit" not in s.text
        await s.press("?")
        await s.sees("Keys on Tasks")
        shown = text_of(s.app.screen.pane)  # type: ignore[attr-defined]
        assert next(line for line in shown.splitlines() if "The tasks," in line).startswith("T ")
        assert next(line for line in shown.splitlines() if "else the program" in line).startswith(
            "none"
        )


async def test_the_palette_finds_and_runs(on: Staging) -> None:
    async with on() as s:
        await s.press("ctrl+p")
        await s.sees("any command, or a name", "Approve the task", "command  Filter")
        for textuals_own in ("Palette", "Screenshot", "Maximize", "Theme"):
            assert textuals_own not in s.text
        for one in COMMANDS:
            if one.id == "tasks.trace":
                assert s.line_with(one.tooltip).rstrip().endswith(" t"), "its key"
        await s.press("enter")
        await s.sees("q quit")
        assert s.main.place == "overview", "nothing was chosen"
        await s.press("ctrl+p")
        await s.type("compan")
        await s.sees("screen   Companies")
        await s.press("enter")
        await s.wait_until(lambda: s.main.place == "companies", "the companies")
        await s.press("ctrl+p")
        await s.sees("screen   Companies")
        first = next(line for line in s.lines if "command  " in line or "screen   " in line)
        assert "Companies" in first, "what was run last stands first"
        await s.type("clone")
        await s.sees("command  Clone")
        await s.press("enter")
        await s.sees("CLONE", "Acme Robotics")
        assert not s.writes


async def test_clicks_on_tabs_and_footer(on: Staging) -> None:
    async with on() as s:
        await s.pilot.click(offset=(s.lines[1].index("4 Tasks") + 1, 1))
        await s.wait_until(lambda: s.main.place == "tasks", "the tasks")
        await s.settle()
        await s.pilot.click(offset=(s.lines[-1].index("t trace") + 1, s.app.size.height - 1))
        await s.sees("TRACE")
        await s.press("escape")
        await s.settle()
        await s.pilot.click(offset=(s.lines[-1].index("? help") + 1, s.app.size.height - 1))
        await s.sees("Keys on Tasks")


async def test_the_footer_says_what_can_be_done_here_and_to_how_many(on: Staging) -> None:
    async with on(place="tasks", size=WIDE, hold=60.0) as s:
        await s.sees("a approve  t trace  enter open  space mark")
        assert "unmark" not in s.lines[-1]
        await s.press("space", "space", "space")
        costs = [s.view.subject(row).cost.amount for row in s.view.table.marked]
        await s.sees(f"a approve 3 (cost {sum(costs):.2f})  esc unmark  * all shown  m to here")
        assert "space" not in s.lines[-1]
        await s.press("escape")
        await s.sees("a approve  t trace  enter open  space mark")
        await s.press("a")
        await s.yes()
        await s.wait_until(lambda: "1 held  u take back  a approve" in s.lines[-1], "the hold")
        await s.press("k")
        await s.wait_until(lambda: "approve" not in s.lines[-1], "a line that is decided")
        await s.press("u")
        await s.wait_until(lambda: "held" not in s.lines[-1], "taken back")
        await s.go("overview")
        await s.poll()
        first = next(at for at, row in enumerate(s.rows) if row.startswith("task:"))
        await s.press("g", *["j"] * first)
        await s.wait_until(lambda: "a approve" in s.lines[-1], "a task")
        whole = next(at for at, row in enumerate(s.rows) if row.startswith("company:"))
        await s.press("g", *["j"] * whole)
        await s.wait_until(lambda: "l limit" not in s.lines[-1], "nothing to approve or to limit")
        assert not {"a approve", "t trace"} & {s.lines[-1][at : at + 9] for at in range(80)}


def test_every_form_and_every_write_has_its_command() -> None:
    forms = {one.id: re.fullmatch(r"(?:screen\.)?form\('(.+)'\)", one.run) for one in COMMANDS}
    opened = {form[1]: command_id for command_id, form in forms.items() if form}
    opened["overview.snooze"] = "overview.snooze"  # the Overview opens it, for the need it is on
    assert opened == {name: name for name in FORMS}
    assert {one.verb for one in COMMANDS if one.verb} == set(Verb)


async def test_an_equal_notice_is_not_added_while_it_shows(on: Staging) -> None:
    async with on(place="tasks", read_only=True) as s:
        for _ in range(6):
            await s.press("a")
        assert "writing is off (--read-only)" in s.lines[-1], "the footer has the reason"
        await s.wait_until(lambda: s.text.count("writing is off") == 2, "the notice")
        await s.press("j", "y")
        await s.sees("sent to the terminal")
        assert s.text.count("writing is off") == 2
        s.app.clear_notifications()
        await s.wait_until(lambda: s.text.count("writing is off") == 1, "no notice")
        await s.press("a")
        await s.wait_until(lambda: s.text.count("writing is off") == 2, "the notice")


# ---- in one packet: each key finds what the last one left


def packet(s: Stage, *keys: str) -> None:
    for key in keys:
        s.app.post_message(key_event(key))


def on_second(s: Stage) -> bool:
    """Whether the cursor stands on the second line of a list that is there."""
    return len(s.rows) > 1 and s.cursor == s.rows[1]


async def test_what_is_typed_after_enter_goes_where_it_leads(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        packet(s, *":agents", "enter", *"jj", *"/acme", "enter", "G", *":budget", "enter", "j")
        await s.wait_until(lambda: s.main.place == "budget" and on_second(s), "the second")
        agents = s.main.views["agents"]
        assert agents.filter_text == "acme"
        assert agents.table.viewport.cursor == agents.table.model.shown[-1]
        assert not s.main.prompt.display
        assert not s.writes


async def test_escape_in_the_packet_leaves_the_prompt(on: Staging) -> None:
    async with on(place="tasks") as s:
        whole = s.rows
        packet(s, "slash", "escape", "j", *":ag", "escape", "j")
        await s.wait_until(lambda: s.cursor == whole[2], "the third")
        packet(s, *"/zzz", "escape", "g")
        await s.wait_until(lambda: s.cursor == whole[0], "the first")
        assert s.rows == whole
        assert s.main.place == "tasks"
        assert not s.main.prompt.display


async def test_words_that_cannot_be_used_stay_to_be_mended(on: Staging) -> None:
    async with on(place="tasks") as s:
        packet(s, *"/trust<abc", "enter")
        await s.wait_until(lambda: s.main.prompt.input.value == "trust<abc", "the words")
        await s.sees("needs a number")
        packet(s, *["backspace"] * 3, *"50", "enter")
        await s.sees("/trust<50", "q quit")
        packet(s, *":bugdet", "enter")
        await s.sees("did you mean Budget")
        assert s.main.prompt.display
        assert s.main.prompt.input.value == "bugdet"
        packet(s, "escape", "escape")
        await s.sees_no("/trust<50", "did you mean")


async def test_a_form_filled_in_in_one_packet(on: Staging) -> None:
    """As far as the question, which takes no answer that was typed before it could be read."""
    async with on(place="tasks") as s:
        packet(s, "n", *"Water the plants", "enter", *"low", "enter", *"yyy")
        await s.wait_until(lambda: isinstance(s.app.screen, Question), "the question")
        await s.sees("Water the plants", "low", "too soon")
        assert not s.writes
        await s.press("escape", "escape")
        await s.poll(FeedName.AGENT_BUDGETS)
        packet(s, *"3", "l", *"250", "enter")
        await s.sees("SET LIMIT", "$250.00")
        assert isinstance(s.app.screen, Question)
        await s.press("escape", "escape")
        await s.poll(FeedName.AGENT_BUDGETS)
        assert not s.writes


async def test_keys_go_on_when_the_widget_with_the_keys_goes(on: Staging) -> None:
    async with on(place="tasks") as s:
        packet(s, "?", "escape", "t", "escape", "v", "v", *"4321", *":tasks", "enter")
        await s.wait_until(
            lambda: s.main.place == "tasks" and s.main.prompt.display is False, "end"
        )
        packet(s, "j")
        await s.wait_until(lambda: on_second(s), "the second")
