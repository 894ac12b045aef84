"""Keys that come in one packet, as a slow line delivers them: each finds what the last one left.

The events are all there before the first of them is dealt with, so nothing here depends on how fast
anything is.
"""

from __future__ import annotations

from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.dialogs.base import Question
from tests.screens.harness import Stage, Staging, key_event


def packet(s: Stage, *keys: str) -> None:
    """All these keys at once."""
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
        assert agents.table.view.cursor == agents.table.rows.shown[-1]
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
        await s.sees("did you mean budget")
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
