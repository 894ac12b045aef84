"""What a profile tells of its platform: through the config file, the client and a real answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.config.file import ConfigFile
from agentco_tui.model import Agent, Budget, BudgetOverview, Listing, Task, TaskState
from agentco_tui.reading.decode import Unshaped
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.mapping import Mapped, ProfileMapping, report_fields
from tests.api.canary import client_of
from tests.api.wire_server import answering, http


def mapping_of(tmp_path: Path, text: str) -> ProfileMapping:
    """The mapping in a config file whose profile `p` says `text`."""
    path = tmp_path / "config.toml"
    path.write_text(f'[profiles.p]\nbase_url = "https://x.example"\n{text}')
    file = ConfigFile(path)
    assert file.problems == []
    found: ProfileMapping = file.profiles["p"]["mapping"]
    return found


async def asked(mapping: ProfileMapping, method: str, body: object) -> Any:
    """What the client's method makes of an answer."""

    answer = http(json.dumps(body).encode())
    async with answering(answer) as server, client_of(server, mapping=mapping) as client:
        return await getattr(client, method)()


NAMES = """
[profiles.p.fields.agent_budget]
agent_id = "holder_ref"
limit = "cap.ceiling"
spent = "burnt.this_cycle_cents"
[profiles.p.money]
unit = "cents"
currency = "eur"
"""
ROW = {
    "holder_ref": "ag_1", "cap": {"ceiling": 10000}, "burnt": {"this_cycle_cents": 2500},
    "monthly_spend": 9, "limit": 3,
}  # fmt: skip


async def test_a_platforms_own_names_and_unit(tmp_path: Path) -> None:
    mapping = mapping_of(tmp_path, NAMES)
    listing: Listing[Budget] = await asked(mapping, "agent_budgets", {"wallets": [ROW]})
    (found,) = listing.records
    assert found.id == "ag_1"
    for money, amount in ((found.limit, "100.00"), (found.spent, "25.00")):
        assert money is not None
        assert f"{money.amount:f} {money.currency} {money.unit_assumed}" == f"{amount} EUR False"
    overview: BudgetOverview = await asked(mapping, "budget", {"limit": 500, "budgets": [ROW]})
    assert overview.whole.limit is not None
    assert f"{overview.whole.limit.amount} {overview.whole.limit.unit_assumed}" == "5.00 False"


async def test_what_a_name_or_an_answer_tells_goes_before_the_profiles_unit(tmp_path: Path) -> None:
    mapping = mapping_of(tmp_path, '[profiles.p.money]\nunit = "cents"\ncurrency = "EUR"\n')
    rows = [{"agent_id": "a", "limit_usd": 5}, {"agent_id": "b", "limit": 5, "unit": "USD"},
            {"agent_id": "c", "limit": "$5"}]  # fmt: skip
    listing: Listing[Budget] = await asked(mapping, "agent_budgets", rows)
    told = [f"{b.limit.amount} {b.limit.currency}" for b in listing.records if b.limit]
    assert told == ["5 USD"] * 3


@pytest.mark.parametrize(
    ("text", "setting", "line", "words"),
    [
        ("[profiles.p.fields.agent_budgets]", "profiles.p.fields.agent_budgets", 2, "agent_budget"),
        ("[profiles.p.fields.agent_budget]\nspend = 'x'", "profiles.p.fields.agent_budget.spend",
         3, "nearest valid name: spent"),
        ("[profiles.p.fields.agent_budget]\nspent = 'a..b'",
         "profiles.p.fields.agent_budget.spent", 3, "one dot"),
        ("[profiles.p.fields.agent_budget]\nspent = 5", "profiles.p.fields.agent_budget.spent", 3,
         "must be a text"),
        ("[profiles.p.money]\nunit = 'cent'", "profiles.p.money.unit", 3, "cents"),
        ("[profiles.p.money]\ncurency = 'EUR'", "profiles.p.money.curency", 3, "currency"),
        ("[profiles.p.money]\ncurrency = 'euros'", "profiles.p.money.currency", 3, "three letters"),
        ("[profiles.p.status]\npenidng = ['x']", "profiles.p.status.penidng", 3, "pending"),
        ("[profiles.p.status]\npending = 'x'", "profiles.p.status.pending", 3, "list of words"),
        ("[profiles.p]\nmony = 1", "profiles.p.mony", 3, "nearest valid name: money"),
        ("[profiles.p]\nfields = 1", "profiles.p.fields", 3, "must be a table"),
    ],
)  # fmt: skip
def test_mistakes_have_a_line_and_the_nearest_name(
    tmp_path: Path, text: str, setting: str, line: int, words: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"# a comment\n{text}\n")
    (problem,) = ConfigFile(path).problems
    assert (problem.setting, problem.line) == (setting, line)
    assert words in problem.text


async def test_a_platforms_own_word_for_waiting(tmp_path: Path) -> None:
    mapping = mapping_of(
        tmp_path,
        '[profiles.p.status]\npending = ["needs_ok"]\n'
        '[profiles.p.fields.task]\ntitle = "what.headline"\n'
        '[profiles.p.fields.agent]\nrole = "does"\n[profiles.p.fields.activity]\nverb = "deed"\n',
    )
    agents: Listing[Agent] = await asked(mapping, "agents", [{"id": "a", "does": "QA", "role": ""}])
    assert agents.records[0].role == "QA"
    rows = [{"id": "t1", "what": {"headline": "Pay"}, "status": "Needs-OK", "title": "x"}]
    listing: Listing[Task] = await asked(mapping, "tasks", rows)
    (found,) = listing.records
    assert (found.title, found.status, found.state) == ("Pay", "Needs-OK", TaskState.PENDING)
    as_sent: Listing[Task] = await asked(ProfileMapping(Mapped()), "tasks", rows)
    assert as_sent.records[0].state is TaskState.OTHER


def test_a_report_of_one_record_that_stands_alone() -> None:
    report = report_fields(TASKS, {"id": "t1", "title": "Plan", "colour": "red"})
    assert [(read.field, read.name, read.records) for read in report.read][:2] == [
        ("id", "id", 1),
        ("title", "title", 1),
    ]
    assert report.records == 1
    assert report.left_over == ("colour",)
    with pytest.raises(Unshaped, match="holds no tasks"):
        report_fields(TASKS, "nothing")
