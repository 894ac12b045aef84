from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.feeds import FeedName
from tests.screens.harness import WIDE, Stage, settings_for, stage


async def fill(s: Stage, field: str, text: str) -> None:
    """Replace what stands in a field."""
    form = s.app.screen
    entry = form.inputs[field]  # type: ignore[attr-defined]
    entry.focus()
    await s.settle()
    await s.press(*["end"], *["backspace"] * len(entry.value))
    await s.type(text)


async def send(s: Stage) -> None:
    """Enter on the last field, and yes to the question."""
    form = s.app.screen
    last = list(form.inputs.values())[-1]  # type: ignore[attr-defined]
    last.focus()
    await s.settle()
    await s.press("enter")
    await s.wait_until(lambda: s.app.screen is not form, "the question")
    assert not s.writes, "nothing is sent before the question"
    await s.yes()


async def test_a_new_task(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press("n")
        await s.sees("demo", "CREATE", "company", "agent", "title", "priority")
        await fill(s, "company_id", "glo")
        await s.sees("globex")
        await s.press("right", "enter")
        await fill(s, "agent_id", "linus")
        await s.press("enter")
        await fill(s, "title", "Water the plants")
        await s.press("enter")
        await fill(s, "priority", "high")
        await send(s)
        await s.sees("Water the plants")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        (sent,) = s.writes
        world = platform.world.state
        company = next(c for c in world.companies.values() if c.name == "Globex")
        agent = next(a for a in world.agents.values() if a.name == "Linus")
        assert (sent.method, sent.path) == ("POST", "/api/tasks")
        assert json.loads(sent.body) == {
            "company_id": company.id,
            "title": "Water the plants",
            "agent_id": agent.id,
            "priority": "high",
        }
        assert sent.status == 201


async def test_fields_are_checked_before_anything_is_sent(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press("n")
        await fill(s, "company_id", "nowhere")
        await fill(s, "agent_id", "")
        await fill(s, "priority", "high")
        await s.press("enter")
        await s.sees("no company here has this name or id", "choose an agent", "say what is to")
        form = s.app.screen
        assert form.focused is form.inputs["company_id"] or s.shows("✖")  # type: ignore[attr-defined]
        assert form.values["company_id"] == "nowhere"  # type: ignore[attr-defined]
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        assert not s.writes


async def test_no_to_the_question_keeps_the_form(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="companies") as s:
        await s.press("n")
        await fill(s, "name", "Hooli")
        await fill(s, "template", "consulting")
        await fill(s, "mission", "Make the world a better place.")
        form = s.app.screen
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is not form, "the question")
        await s.sees("Hooli", "consulting", "better place", "create it")
        await s.armed()
        await s.press("enter", "enter", "n")
        await s.wait_until(lambda: s.app.screen is form, "the form")
        assert form.values["name"] == "Hooli"  # type: ignore[attr-defined]
        assert not s.writes


async def test_a_new_company(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="companies") as s:
        await s.press("n")
        await fill(s, "name", "Hooli")
        await fill(s, "template", "consulting")
        await fill(s, "mission", "Make the world a better place.")
        await send(s)
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees("Hooli")
        (sent,) = s.writes
        assert sent.path == "/api/companies"
        assert json.loads(sent.body) == {
            "name": "Hooli",
            "template": "consulting",
            "mission": "Make the world a better place.",
        }


async def test_a_refusal_is_shown_beside_its_field_with_the_text_kept(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="companies") as s:
        await s.press("n")
        await fill(s, "name", "Globex")
        await fill(s, "template", "consulting")
        await fill(s, "mission", "The same name as another.")
        form = s.app.screen
        await send(s)
        await s.wait_until(lambda: s.app.screen is form and s.shows("already taken"), "the refusal")
        note = form.notes["name"].shown  # type: ignore[attr-defined]
        assert "already taken" in note
        assert form.values["mission"] == "The same name as another."  # type: ignore[attr-defined]
        await fill(s, "name", "Globex Two")
        assert "already taken" not in form.notes["name"].shown  # type: ignore[attr-defined]
        form.inputs["mission"].focus()  # type: ignore[attr-defined]
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is not form, "the question")
        await s.yes()
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees("Globex Two")
        assert [seen.status for seen in s.writes] == [422, 201]


async def test_a_clone(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="companies") as s:
        source = platform.world.company(str(s.cursor))
        await s.press("c")
        await s.sees("CLONE", source.name)
        await fill(s, "name", "Acme Two")
        await fill(s, "mission", "The same again.")
        await send(s)
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees("Acme Two")
        (sent,) = s.writes
        assert sent.path == f"/api/companies/{source.id}/clone"
        assert json.loads(sent.body) == {"name": "Acme Two", "mission": "The same again."}


async def test_a_limit_with_old_new_and_difference(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="agents", size=WIDE) as s:
        await s.press("l")
        await s.sees("SET LIMIT", "Ada")
        await fill(s, "monthly_limit", "250")
        await s.sees("$100.00", "$250.00", "+$150.00")
        form = s.app.screen
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is not form, "the question")
        await s.sees("old limit", "new limit", "$250.00", "+$150.00", "$118.80")
        await s.yes()
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees("250")
        agent = next(a for a in platform.world.state.agents.values() if a.name == "Ada")
        (sent,) = s.writes
        assert (sent.method, sent.path) == ("POST", f"/api/budget/agents/{agent.id}")
        assert json.loads(sent.body) == {"monthly_limit": 250}


async def test_a_limit_where_there_was_none(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="agents", size=WIDE) as s:
        await s.poll(FeedName.AGENT_BUDGETS)
        await s.press(*"/jonas", "enter", "l")
        await s.sees("SET LIMIT", "Jonas")
        await fill(s, "monthly_limit", "250")
        await s.sees("no limit", "$250.00")
        await s.press("enter")
        await s.sees("old limit", "no limit", "$250.00")
        assert not s.shows("not known")


async def test_a_limit_that_is_known_only_once_the_form_is_open(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """What the question shows is what the write goes by: no change to what was never shown."""
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        platform.faults.add("agent_budgets:status=503")
        await s.press("3")
        await s.sees("Ada")
        await s.press("l")
        await fill(s, "monthly_limit", "250")
        await s.sees("the limit until now is not known")
        platform.faults.clear()
        await s.poll(FeedName.AGENT_BUDGETS)
        await s.press("enter")
        await s.sees("old limit", "$100.00", "$250.00", "+$150.00")
        await s.yes()
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        (sent,) = s.writes
        assert json.loads(sent.body) == {"monthly_limit": 250}


async def test_a_limit_below_what_is_spent_is_warned_of(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="agents") as s:
        await s.press("l")
        await fill(s, "monthly_limit", "20.50")
        await s.press("enter")
        await s.sees("below what is spent already")
        await s.armed()
        await s.press("escape")
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        assert not s.writes


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "type an amount"),
        ("-5", "can't be negative"),
        ("1,000", "without commas"),
        ("lots", "digits and a point only"),
        ("1e9", "digits and a point only"),
    ],
)
async def test_what_is_no_limit_is_told(
    platform: EmbeddedPlatform, tmp_path: Path, typed: str, words: str
) -> None:
    async with stage(platform, tmp_path, place="agents") as s:
        await s.press("l")
        await fill(s, "monthly_limit", typed)
        await s.press("enter")
        await s.sees(words, "SET LIMIT")
        assert not s.writes


async def test_an_outcome_that_is_unknown_is_read(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """The answer is lost after the company was made: the form ends well, and sends once."""
    platform.faults.add("create_company:drop_after")
    async with stage(platform, tmp_path, place="companies") as s:
        await s.press("n")
        await fill(s, "name", "Hooli")
        await fill(s, "template", "consulting")
        await fill(s, "mission", "Make the world a better place.")
        await send(s)
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees("Hooli")
        assert len(s.writes) == 1


async def test_a_form_for_the_company_in_scope(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    company = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
    settings = settings_for(platform, company=company.id)
    async with stage(platform, tmp_path, place="tasks", settings=settings) as s:
        await s.press("n")
        await s.sees("CREATE", "Globex")
        await fill(s, "agent_id", "Ada")
        await fill(s, "title", "Water the plants")
        await fill(s, "priority", "high")
        await s.press("enter")
        await s.sees("no agent of this company")
        assert not s.writes
