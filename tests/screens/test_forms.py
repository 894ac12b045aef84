"""Forms: what is typed is checked, asked about, sent once, and kept if it is refused or lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from tests.platform import EmbeddedPlatform
from tests.screens.harness import WIDE, Stage, Staging, text_of

HOOLI = {"name": "Hooli", "template": "consulting", "mission": "Make the world a better place."}


def form_of(s: Stage) -> Any:
    return s.app.screen


async def fill(s: Stage, **fields: str) -> None:
    for field, text in fields.items():
        entry = form_of(s).inputs[field]
        entry.focus()
        await s.settle()
        await s.press(*["end"], *["backspace"] * len(entry.value))
        await s.type(text)


async def submit(s: Stage) -> Any:
    """Enter on the last field, which opens the question; returns the form."""
    form = form_of(s)
    list(form.inputs.values())[-1].focus()
    await s.settle()
    await s.press("enter")
    await s.wait_until(lambda: s.app.screen is not form, "the question")
    return form


async def send(s: Stage) -> None:
    """The same, and yes to the question."""
    before = len(s.writes)
    await submit(s)
    assert len(s.writes) == before, "nothing is sent before the question"
    await s.yes()


async def ended(s: Stage) -> None:
    await s.wait_until(lambda: s.app.screen is s.main, "the list")


def companies(s: Stage) -> int:
    return sum(c.name == HOOLI["name"] for c in s.platform.world.state.companies.values())


async def test_a_new_task(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press(*"/e", "enter", "j", "n")
        await s.sees("demo", "Create a task", "company", "agent", "title", "priority")
        await s.sees("seen here: urgent, high, medium, low")
        assert form_of(s).values["priority"] == "", "none is guessed"
        await fill(s, company_id="glo")
        await s.sees("globex")
        await s.press("right", "enter")
        await fill(s, agent_id="a")
        agent_field = form_of(s).inputs["agent_id"]
        # private: an Input has no public way to read its suggestion.
        assert not agent_field._suggestion, "Ada is of another company"
        await fill(s, agent_id="lin")
        # private: as above.
        await s.wait_until(lambda: agent_field._suggestion == "linus", "one of this company")
        await fill(s, agent_id="linus", title="Water the plants")
        await s.press("enter", "enter")
        await s.sees("choose a priority")
        await fill(s, priority="high")
        await send(s)
        await ended(s)
        (sent,) = s.writes
        world = s.platform.world.state
        company = next(c for c in world.companies.values() if c.name == "Globex")
        agent = next(a for a in world.agents.values() if a.name == "Linus")
        assert (sent.method, sent.path, sent.status) == ("POST", "/api/tasks", 201)
        assert json.loads(sent.body) == {
            "company_id": company.id,
            "title": "Water the plants",
            "agent_id": agent.id,
            "priority": "high",
        }
        new = next(task for task in world.tasks.values() if task.title == "Water the plants")
        assert s.cursor == new.id
        assert s.view.filter_text == "e", "which the new task passes"
        await s.sees("Water the plants", "/e")


async def test_what_was_just_created_is_on_the_screen(on: Staging) -> None:
    """Also where the filter hides it, and where it doesn't wait for a person."""
    async with on(place="tasks") as s:
        world, fields = s.platform.world, {"company_id": "Acme Robotics", "agent_id": "Ada"}
        create = world.create_task
        await s.press(*"/refund", "enter", "n")
        await fill(s, **fields, title="Water the plants", priority="low")
        await send(s)
        await ended(s)
        await s.sees("Water the plants")
        assert s.view.subject().title == "Water the plants"
        assert s.view.filter_text == ""
        world.create_task = lambda *named: world.approve(create(*named).id)  # type: ignore[method-assign]
        await s.press("n")
        await fill(s, **fields, title="Feed the fish", priority="low")
        await send(s)
        await ended(s)
        await s.sees("Feed the fish", "▌all")
        assert s.view.subject().title == "Feed the fish"
        acme = next(c for c in world.state.companies.values() if c.name.startswith("Acme"))
        s.main.set_scope(acme.id)
        await s.press("n")
        await fill(s, company_id="Globex", agent_id="Linus", title="Count", priority="low")
        await s.press("enter")
        await s.sees("only agents of Acme Robotics are known", "0 shows all")


async def test_no_field_is_demanded_that_the_interface_does_not_demand(on: Staging) -> None:
    async with on(place="companies") as s:
        await s.press("n")
        await fill(s, name="Hooli")
        await submit(s)
        await s.sees("Hooli", "–")
        await s.yes()
        await ended(s)
        await s.press("c")
        await fill(s, name="Hooli Two", mission="")
        await send(s)
        await ended(s)
        await s.sees("Hooli Two")
        assert [seen.body for seen in s.writes] == [b'{"name":"Hooli"}', b'{"name":"Hooli Two"}']


@pytest.mark.parametrize(
    ("place", "key", "fields", "words"),
    [
        (
            "tasks",
            "n",
            {"company_id": "nowhere", "agent_id": "", "priority": "high"},
            ("no company here has this name or id", "choose an agent", "say what is to"),
        ),
        (
            "tasks",
            "n",
            {"company_id": "Globex", "agent_id": "Ada", "title": "Water", "priority": "high"},
            ("no agent of this company",),
        ),
        ("agents", "l", {"monthly_limit": "1,000"}, ("without commas", "SET LIMIT")),
    ],
)
async def test_fields_are_checked_before_anything_is_sent(
    on: Staging, place: Place, key: str, fields: dict[str, str], words: tuple[str, ...]
) -> None:
    async with on(place=place) as s:
        await s.press(key)
        await fill(s, **fields)
        await s.press("enter")
        await s.sees(*words)
        name, typed = next(iter(fields.items()))
        assert form_of(s).values[name] == typed
        await s.press("escape")
        await ended(s)
        assert not s.writes


async def test_a_form_for_the_company_in_scope(on: Staging, platform: EmbeddedPlatform) -> None:
    company = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
    async with on(place="tasks", company=company.id) as s:
        await s.press("n")
        await s.sees("Create a task", "Globex")
        assert form_of(s).values["company_id"] == "Globex"


async def test_a_company_is_asked_about_first_refused_at_its_field_and_cloned(
    on: Staging,
) -> None:
    async with on(place="companies") as s:
        await s.press("n")
        await fill(s, **HOOLI)
        form = await submit(s)
        await s.sees("Hooli", "consulting", "better place", "create it")
        await s.armed()
        await s.press("enter", "enter", "n")
        await s.wait_until(lambda: s.app.screen is form, "the form")
        assert form.values == HOOLI
        assert not s.writes
        await send(s)
        await ended(s)
        await s.sees("Hooli")
        (sent,) = s.writes
        assert sent.path == "/api/companies"
        assert json.loads(sent.body) == HOOLI
        await s.press("n")
        await fill(s, **{**HOOLI, "name": "Globex"})
        form = form_of(s)
        await send(s)
        await s.wait_until(lambda: s.app.screen is form and s.shows("already taken"), "the refusal")
        assert "already taken" in text_of(form.notes["name"])
        assert form.values["mission"] == HOOLI["mission"]
        await fill(s, name="Globex Two")
        assert "already taken" not in text_of(form.notes["name"])
        await send(s)
        await ended(s)
        await s.sees("Globex Two")
        assert [seen.status for seen in s.writes] == [201, 422, 201]
        source = s.platform.world.company(str(s.cursor))
        await s.press("c")
        await s.sees("CLONE", source.name)
        await fill(s, name="Acme Two", mission="The same again.")
        await send(s)
        await ended(s)
        await s.sees("Acme Two")
        sent = s.writes[-1]
        assert sent.path == f"/api/companies/{source.id}/clone"
        assert json.loads(sent.body) == {"name": "Acme Two", "mission": "The same again."}


async def test_a_limit_with_old_new_and_difference_and_where_there_was_none(
    on: Staging,
) -> None:
    async with on(place="agents", size=WIDE) as s:
        await s.wait_until(lambda: "✖  Ada" in s.text, "the worst first")
        await s.press("g", "l")
        await s.sees("SET LIMIT", "Ada")
        await fill(s, monthly_limit="20.50")
        await submit(s)
        await s.sees("below what is spent already")
        await s.armed()
        await s.press("escape")
        await fill(s, monthly_limit="250")
        await s.sees("until now $100.00")
        await submit(s)
        await s.sees("old limit", "$100.00", "new limit", "$250.00", "+$150.00", "$118.80")
        await s.yes()
        await ended(s)
        await s.sees("250")
        agent = next(a for a in s.platform.world.state.agents.values() if a.name == "Ada")
        (sent,) = s.writes
        assert (sent.method, sent.path) == ("POST", f"/api/budget/agents/{agent.id}")
        assert json.loads(sent.body) == {"monthly_limit": 250}
        await s.poll(FeedName.AGENT_BUDGETS)
        await s.press(*"/jonas", "enter", "l")
        await s.sees("SET LIMIT", "Jonas")
        await fill(s, monthly_limit="250")
        await s.sees("until now no limit")
        await submit(s)
        await s.sees("old limit", "no limit", "$250.00")
        assert not s.shows("not known")


async def test_a_limit_goes_out_as_it_was_asked_and_ten_times_the_old_one_is_asked_twice(
    on: Staging,
) -> None:
    async with on(place="agents", size=WIDE) as s:
        await s.wait_until(lambda: "✖  Ada" in s.text, "the worst first")
        await s.press("g", "l")
        await fill(s, monthly_limit="150.999")
        form = await submit(s)
        await s.sees("new limit", "$100.00", "$150.999", "+$50.999")
        await s.armed()
        await s.press("n")
        await s.wait_until(lambda: s.app.screen is form, "the form")
        await fill(s, monthly_limit="1000")
        form = await submit(s)
        first = s.app.screen
        await s.yes()
        await s.wait_until(lambda: s.app.screen not in (first, form), "the second question")
        await s.sees("SET LIMIT", "$1,000.00 is 10 times the old limit, $100.00")
        assert not s.writes, "one yes is not enough"
        await s.armed()
        await s.press("n")
        await s.wait_until(lambda: s.app.screen is form, "the form")
        await fill(s, monthly_limit="999.9999")
        await send(s)
        await ended(s)
        (sent,) = s.writes
        assert sent.body == b'{"monthly_limit":999.9999}', "asked once, as it is less"
        await s.press("l")
        await fill(s, monthly_limit="0")
        await submit(s)
        await s.sees("old limit", "some platforms take 0 for no limit")
        await s.armed()
        await s.press("n", "escape")
        await s.press("l")
        await fill(s, monthly_limit="10000")
        await submit(s)
        await s.yes()
        await s.sees("is 10 times the old limit")
        await s.yes()
        await s.wait_until(lambda: len(s.writes) == 2, "what was asked twice")
        assert s.writes[-1].body == b'{"monthly_limit":10000}'


async def test_a_limit_that_is_known_only_once_the_form_is_open(on: Staging) -> None:
    """What the question shows is what the write goes by: no change to what was never shown."""
    async with on(place="tasks", size=WIDE, faults=["agent_budgets:status=503"], wait=False) as s:
        await s.wait_until(lambda: s.cursor is not None, "the tasks")
        await s.press("3")
        await s.sees("Ada")
        agents = s.platform.world.state.agents.values()
        assert s.view.go_to(next(agent.id for agent in agents if agent.name == "Ada"))
        await s.press("l")
        await fill(s, monthly_limit="250")
        await s.sees("until now –")
        s.platform.faults.clear()
        await s.poll(FeedName.AGENT_BUDGETS)
        await submit(s)
        await s.sees("old limit", "$100.00", "$250.00", "+$150.00")
        await s.yes()
        await ended(s)
        (sent,) = s.writes
        assert json.loads(sent.body) == {"monthly_limit": 250}


# ---- answers that are lost


async def test_a_lost_create_is_looked_for_while_the_form_keeps_its_text(on: Staging) -> None:
    async with on(place="companies", running=True) as s:
        await s.press("n")
        await fill(s, **HOOLI)
        form = form_of(s)
        s.platform.faults.add("create_company:drop_after")
        s.platform.faults.add("companies:status=503,after=1")
        await send(s)
        await s.sees("the answer was lost: it is looked for by reading", "esc: cancel")
        assert form.values == HOOLI
        await s.press("enter", "enter", "enter")
        assert s.app.screen is form, "it can't be sent again meanwhile"
        s.platform.faults.clear()
        await ended(s)
        await s.sees(HOOLI["name"])
        assert len(s.writes) == companies(s) == 1


async def test_a_lost_create_that_did_not_happen_is_told_and_the_form_stays(on: Staging) -> None:
    async with on(place="companies", running=True) as s:
        await s.press("n")
        await fill(s, **HOOLI)
        form = form_of(s)
        s.platform.faults.add("create_company:drop_before,times=1")
        await send(s)
        await s.sees("Create a company", HOOLI["name"], "not done: the answer was lost")
        assert s.app.screen is form
        assert (len(s.writes), companies(s)) == (1, 0)
        await send(s)
        await ended(s)
        assert companies(s) == 1


async def test_left_while_unknown_the_same_is_not_sent_before_it_is_settled(on: Staging) -> None:
    async with on(place="companies", running=True) as s:
        s.platform.faults.add("create_company:drop_after,times=1")
        await s.press("n")
        await fill(s, **HOOLI)
        s.platform.faults.add("companies:status=503,after=1")
        await send(s)
        await s.sees("the answer was lost")
        await s.press("escape")
        await ended(s)
        await s.press("n")
        await fill(s, **HOOLI)
        await send(s)
        await s.sees("nothing was sent, because it could not be read first", "esc: cancel")
        s.platform.faults.clear()
        await s.press("escape")
        await ended(s)
        await s.sees(HOOLI["name"])
        assert len(s.writes) == companies(s) == 1
