from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from agentco_tui.keys.places import Place
from agentco_tui.model import Task
from agentco_tui.screens.run_memory import recall_list
from agentco_tui.screens.targets import MOST, SearchResult, Target, search
from agentco_tui.system.background import at_once
from agentco_tui.system.state_folder import ListMemory, Remembered
from agentco_tui.text import mark_safe
from agentco_tui.widgets.text_pane import TextPane
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, PLACES, Stage, Staging, text_of


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
        await s.resize(60, 16)
        for typed, words in (
            (
                "linus agnt:",
                "no column agnt: did you mean agent:? To look for the text itself, put ",
            ),
            (
                "linus waiting>soon",
                "waiting needs a time with its unit, like waiting>2h (s, m, h, ",
            ),
            ("linus trust<abc", "trust needs a number, like trust>50"),
            ("x:y", "agent, company, trust, cost, id, description, role. To look for the text"),
        ):
            await s.press("slash")
            await s.type(typed)
            # Told whole, over as many lines as it takes; and nothing is hidden by half a filter.
            told = partial(lambda words: words in whole(s.main.prompt.error_notice), words)
            await s.wait_until(told, f"what is wrong with {typed}")
            assert "…" not in text_of(s.main.prompt.error_notice)
            assert "enter keeps it" not in s.text
            assert len(s.rows) == 40
            await s.press("enter")
            assert s.main.prompt.display
            await s.press("escape")
            assert len(s.rows) == 40


def whole(shown: TextPane) -> str:
    return " ".join(text_of(shown).split()) + " "


async def test_filters_know_ranks_figures_and_what_no_column_shows(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.poll()
        pending = s.platform.world.state.pending
        first = next(iter(pending.values()))
        known = s.workspace.store.pending
        cases: dict[str, set[str]] = {
            "priority>=high": {i for i, t in pending.items() if t.priority in ("urgent", "high")},
            "cost>0.5": {t.id for t in known if t.cost and t.cost.amount > Decimal("0.5")},
            f"id:{first.id}": {first.id},
            "agent:linus|ada": {i for i, t in pending.items() if t.agent.name in ("Linus", "Ada")},
            "role:engineer": {i for i, t in pending.items() if t.agent.role == "engineer"},
            "status:pending": set(pending),
        }
        for typed, wanted in cases.items():
            await s.press("slash", *typed, "enter")
            assert set(s.rows) == wanted, typed
            assert 0 < len(wanted) <= 40
            await s.press("escape")
        await s.go("companies")
        for typed in ("waiting>=1", "spent>100", "agents>0", "used<200%", "level<=critical"):
            await s.press("slash", *typed, "enter")
            assert len(s.rows) == 3, typed
            await s.press("escape")


async def test_filters_come_back_with_up_and_names_are_completed(on: Staging) -> None:
    async with on(place="tasks") as s:
        for typed in ("linus", "agent:ada"):
            await s.press("slash", *typed, "enter", "escape")
        await s.press("slash", *"gra", "up")
        assert s.main.prompt.input.value == "agent:ada"
        await s.press("up", "up")
        assert s.main.prompt.input.value == "linus"
        await s.wait_until(lambda: 0 < len(s.rows) < 40, "what linus has")
        await s.press("down", "down")
        assert s.main.prompt.input.value == "gra"
        await s.press("escape", "slash", *"desc")
        await s.sees("description:")
        await s.press("right")
        assert s.main.prompt.input.value == "description:"


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


def recalled(filter_text: str, at: float | None = None) -> Remembered:
    """How an earlier run was left: every list with this filter."""
    return Remembered(None, dict.fromkeys(PLACES, ListMemory(None, False, filter_text, at)))


async def test_a_filter_of_an_earlier_run_is_told_loudly(on: Staging) -> None:
    async with on(size=(80, 24)) as s:
        s.main.memory.last_run = recalled("agent:ada", NOW - 86_400)
        await s.go("tasks")
        ada = [i for i, t in s.platform.world.state.pending.items() if t.agent.name == "Ada"]
        await s.sees(f"▲ filter of Sun 14:13: {len(ada)} of 40 · esc", "/agent:ada")
        assert set(s.rows) == set(ada)
        assert s.main.remembered().lists["tasks"].filtered_at == NOW - 86_400
        await s.press("escape")
        await s.sees_no("▲ filter")
        assert len(s.rows) == 40
        assert s.main.remembered().lists["tasks"].filter == ""
        # One of now is told in the title, and loudly once it is old.
        await s.press("slash", *"linus", "enter")
        await s.sees("/linus", "of 40")
        assert "▲ filter" not in s.text
        s.platform.world.advance(3_600)
        s.main.ticker.tick()
        await s.sees("▲ filter of 14:13:20: ")
        # One whose time was not kept.
        s.main.memory.last_run = recalled("grace")
        await s.go("agents")
        await s.sees("▲ filter of an earlier run: 1 of 24 · esc")


async def test_the_overview_remembers_no_filter_and_counts_what_it_hides(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        there = len(s.rows)
        recall_list(s.view, recalled("rotate").lists["overview"])
        assert len(s.rows) == there
        await s.press("slash", *"rotate", "enter")
        await s.sees(f"NEEDS YOU ✖ 12 ▲ 19 1 of {there} shown", "/rotate")
        assert s.main.remembered().lists["overview"].filter == ""
        await s.press("escape")
        await s.sees_no("shown")


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
        await s.wait_until(lambda: s.workspace.poller.query.company == globex.id, "the scope")
        await go(s, "all")
        await s.wait_until(lambda: s.workspace.poller.query.company is None, "all companies")


async def test_going_to_tasks_of_a_status(on: Staging) -> None:
    async with on() as s:
        for status in ("all", "completed", "running", "pending"):
            await go(s, f"tasks {status}")
            await s.wait_until(lambda: s.main.place == "tasks", "the tasks")
            tasks = s.platform.world.state.tasks.values()
            wanted = {task.id for task in tasks if status in ("all", task.status)}
            await s.wait_until(partial(lambda ids: set(s.rows) == ids, wanted), status)
            await s.sees(f"▌{status} {len(wanted)}")


NOWHERE = {
    "bugdet": "nothing here is called bugdet: did you mean Budget?",
    "lisnu": "did you mean Linus?",
    "agent nobody": "nothing here is called agent nobody",
    "agent grase": "did you mean Grace?",
    "company umbrella": "nothing here is called company umbrella",
    "xyzzy": "nothing here is called xyzzy",
    "publish pricing": " may be meant: ↓ chooses",
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
        await s.type("lin")
        await s.sees("linus")
        await s.press("tab")
        assert s.main.prompt.input.value == "linus"
        await s.press(*["backspace"] * 5)
        await s.type("company glo")
        await s.sees("company globex")
        await s.press("right", "enter")
        await s.wait_until(lambda: s.workspace.poller.query.company is not None, "the scope")
        await s.sees("Globex")


async def test_bare_names_ids_and_titles_lead_there(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    state = platform.world.state
    refund = next(t.id for t in state.pending.values() if t.title.startswith("Refund 214"))
    linus = next(a.id for a in state.agents.values() if a.name == "Linus")
    globex = next(c.id for c in state.companies.values() if c.name == "Globex")
    alert = next(a for a in state.alerts.values() if a.agent and a.agent.name == "Ada")
    async with on() as s:
        await s.poll()
        for words, place, row in (
            ("refund 214", "tasks", refund),
            ("linus", "agents", linus),
            (refund, "tasks", refund),
            ("budget", "budget", None),
        ):
            await go(s, words)
            there = partial(
                lambda place, row: s.main.place == place and s.cursor == row, place, row
            )
            await s.wait_until(there if row else lambda: s.main.place == "budget", words)
        await go(s, f"alert {alert.id}")
        alerts: Any = s.view
        await s.wait_until(lambda: alerts.alerts.viewport.cursor == alert.id, "the alert")
        assert alerts.subject().id == alert.id
        await go(s, "globex")
        await s.wait_until(lambda: s.workspace.poller.query.company == globex, "the scope")
        assert (s.main.place, s.cursor) == ("companies", globex)


async def test_what_is_found_is_offered_and_an_ambiguous_name_asks(on: Staging) -> None:
    async with on(place="agents") as s:
        await s.poll()
        same = [
            t.id for t in s.platform.world.state.pending.values() if t.title.startswith("Reroute")
        ]
        assert len(same) > 1
        await go(s, "publish pricing")
        await s.sees(f"{len(same)} may be meant")
        assert s.main.prompt.input.value == "publish pricing"
        offered = [line for line in s.lines if line.lstrip("▌ ").startswith("task ")]
        assert len(offered) >= min(len(same), 3)
        # What tells them apart: whose it is, and its id.
        assert len({line.split()[-1] for line in offered}) == len(offered)
        await s.press("down")
        await s.sees("▌task ")
        await s.press("down", "up", "down")
        chosen = next(line for line in s.lines if line.startswith("▌task ")).split()[-1]
        await s.press("enter")
        await s.wait_until(lambda: (s.main.place, s.cursor) == ("tasks", chosen), "the second")
        await s.sees("q quit")


async def test_up_brings_back_what_was_entered(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        for words in ("linus", "budget", "tasks pending"):
            await go(s, words)
            await s.sees("q quit")

        def value() -> str:
            return s.main.prompt.input.value

        await s.press("colon", "up")
        assert value() == "tasks pending"
        await s.press("up", "up", "up")
        assert value() == "linus"
        await s.press("down", "down", "down")
        assert value() == ""
        await s.press("up", "up", "enter")
        await s.wait_until(lambda: s.main.place == "budget", "the budget")
        # What was gone to stands in front, by its name.
        await s.press("ctrl+p")
        await s.sees("agent    Linus")
        at = next(at for at, line in enumerate(s.lines) if line.startswith(" screen   Budget"))
        assert s.lines[at + 1].startswith(" status   tasks pending")
        assert s.lines[at + 2].startswith(" agent    Linus")
        await s.press("down", "down", "down", "enter")
        await s.wait_until(lambda: s.main.place == "agents", "the agents")


def test_a_hundred_thousand_are_searched_in_short_steps_and_few_are_kept() -> None:
    many = (Target("task", mark_safe(f"Refund {at}"), f"tsk_{at}") for at in range(100_000))
    steps = search("refund 214", many)
    found: SearchResult | None = None

    def end() -> Iterator[None]:
        nonlocal found
        found = yield from steps

    assert sum(1 for _ in end()) >= 100_000 / 500
    assert found is not None
    assert [target.id for target in found.targets[:2]] == ["tsk_214", "tsk_2140"]
    assert found.equally_good == 1, "the whole name"
    assert len(found.targets) <= 5 * MOST


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("acme", ["c1"]),
        ("ROBOTICS", ["c1"]),
        ("agent ada", ["a1"]),
        ("ada", ["a1", "t1"]),
        ("tsk_9", ["t2"]),
        ("invoice march", ["t2"]),
        ("invce", ["t2"]),
        ("ecivni", []),
        ("act", ["screen.activity", "t3"]),
        ("c1", ["c1"]),
        ("task a1", []),
    ],
)
def test_what_words_may_mean(words: str, ids: list[str]) -> None:
    known = {
        "screen.activity": ("screen", "Activity"),
        "c1": ("company", "Acme Robotics"),
        "a1": ("agent", "Ada"),
        "t1": ("task", "Adapt the plan"),
        "t2": ("task", "Send the March invoice, tsk_9"),
        "t3": ("task", "Act on the report"),
    }
    among = [Target(kind, mark_safe(name), id_) for id_, (kind, name) in known.items()]
    found = at_once(search(words, among))
    assert [target.id for target in found.targets] == ids
    assert (found.unambiguous is not None) is bool(ids)


def test_a_key_is_the_name_of_its_task_alone() -> None:
    tasks = [
        Task(id=str(number), title=mark_safe("Ship it"), key=mark_safe(f"GLO-{number}"))
        for number in range(20)
    ]
    among = [Target("task", task.keyed_title, task.id, task) for task in tasks]
    found = at_once(search("glo-1", among))
    assert found.unambiguous == among[1]
    assert [target.id for target in found.targets] == ["1", *map(str, range(10, 20))]


def test_what_was_chosen_lately_comes_first_of_what_fits_as_well() -> None:
    among = [Target("agent", mark_safe(name), name) for name in ("Ada", "Adele", "Amadou", "Nora")]
    found = at_once(search("a", among, [among[2], among[3]]))
    assert [target.id for target in found.targets] == ["Amadou", "Ada", "Adele", "Nora"]
    assert (found.unambiguous, found.equally_good, found.total) == (None, 3, 4)
