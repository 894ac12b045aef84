"""Other writes whose answer is lost: looked for by reading, told, and not sent again by a form."""

from __future__ import annotations

from pathlib import Path

from agentco_tui.demo.server import EmbeddedPlatform
from tests.actions.office import QUICK
from tests.screens.harness import RunningClock, Stage, stage
from tests.screens.test_forms import fill, send

NAME, TEMPLATE, MISSION = "Hooli", "consulting", "Make the world a better place."


async def filled(s: Stage) -> None:
    """The form for a new company, filled in."""
    await s.press("n")
    for field, text in (("name", NAME), ("template", TEMPLATE), ("mission", MISSION)):
        await fill(s, field, text)


def companies(platform: EmbeddedPlatform) -> int:
    """How many there are of that name."""
    return sum(c.name == NAME for c in platform.world.state.companies.values())


async def test_a_lost_create_is_looked_for_while_the_form_keeps_its_text(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    clock = RunningClock(platform)
    async with stage(platform, tmp_path, place="companies", clock=clock, timing=QUICK) as s:
        await filled(s)
        form = s.app.screen
        platform.faults.add("create_company:drop_after")
        platform.faults.add("companies:status=503,after=1")
        await send(s)
        await s.sees("the answer was lost: it is looked for by reading", "esc leave")
        assert s.app.screen is form
        assert form.values == {  # type: ignore[attr-defined]
            "name": NAME,
            "template": TEMPLATE,
            "mission": MISSION,
        }
        await s.press("enter", "enter", "enter")
        assert s.app.screen is form, "it can't be sent again meanwhile"
        platform.faults.clear()
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees(NAME)
        assert len(s.writes) == 1
        assert companies(platform) == 1


async def test_a_lost_create_that_did_not_happen_is_told_and_the_form_stays(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    clock = RunningClock(platform)
    async with stage(platform, tmp_path, place="companies", clock=clock, timing=QUICK) as s:
        await filled(s)
        form = s.app.screen
        platform.faults.add("create_company:drop_before,times=1")
        await send(s)
        await s.sees("CREATE", NAME, "the answer was lost", "enter next")
        assert s.app.screen is form
        assert len(s.writes) == 1
        assert companies(platform) == 0
        form.inputs["mission"].focus()  # type: ignore[attr-defined]
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is not form, "the question")
        await s.yes()
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        assert companies(platform) == 1


async def test_left_while_unknown_the_same_is_not_sent_before_it_is_settled(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    clock = RunningClock(platform)
    async with stage(platform, tmp_path, place="companies", clock=clock, timing=QUICK) as s:
        await filled(s)
        platform.faults.add("create_company:drop_after,times=1")
        platform.faults.add("companies:status=503,after=1")
        await send(s)
        await s.sees("the answer was lost")
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await filled(s)
        form = s.app.screen
        form.inputs["mission"].focus()  # type: ignore[attr-defined]
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is not form, "the question")
        await s.yes()
        await s.sees("nothing was sent, because it could not be read first", "esc leave")
        platform.faults.clear()
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees(NAME)
        assert len(s.writes) == 1
        assert companies(platform) == 1
