"""`agentco-tui status`: exit codes, lines and JSON on a real server, and the judgement."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.api.errors import ApiError, NotAllowed, NotFound
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snooze, Snoozes
from agentco_tui.commands.status import Judgement, headline, judge
from agentco_tui.config import AlertLimits, SettingsError
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.observations import BudgetSample, Observed
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.insight import Level
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    BudgetScope,
    Company,
    Listing,
    Moment,
    Money,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.system.background import at_once
from agentco_tui.system.state_folder import HISTORY_FILE
from agentco_tui.text import mark_safe
from agentco_tui.workspace.named_records import id_of
from tests.commands.conftest import Command
from tests.history.observed_file import ObservedDatabase
from tests.live.poller_harness import ChoosyPlatform
from tests.platform import EmbeddedPlatform

READS = 7


@pytest.fixture
def quiet() -> EmbeddedPlatform:
    """A platform in which there is nothing that could be wrong."""
    return EmbeddedPlatform(speed=0, companies=0, agents=0, tasks=0)


RULES = [
    {"token": "bdgt_alert_1", "budget_tokens": ["b1"], "threshold": 80,
     "created_at": "2026-11-01T10:00:00Z"},
    {"id": "alert_1", "threshold_amount": 150000, "currency": "USD", "interval": "month"},
]  # fmt: skip


@pytest.mark.parametrize(("state", "code"), [(None, 0), ("OK", 0), ("ALARM", 1)])
def test_a_rule_is_an_alert_only_in_the_state_of_alarm(
    command: Command, state: str | None, code: int
) -> None:
    first, second = RULES
    body = json.dumps([{**first, "notification_state": state}, second]).encode()
    is_quiet = {"companies": 0, "agents": 0, "tasks": 0}
    with ChoosyPlatform({"/api/budget/alerts": body}.get, **is_quiet) as platform:
        ran = command.on(platform)("status")
    assert ran.code == code, ran.out


def test_a_busy_world_is_critical(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("status")
    assert ran.code == 2
    first = ran.lines[0]
    assert first.startswith("CRITICAL - ")
    pending = len(still.world.tasks(status="pending"))
    assert f"; {pending} pending, oldest " in first
    assert any(line.startswith("✖ ") for line in ran.lines[1:])
    assert ran.err == ""
    asked = {(request.method, request.path, request.query) for request in still.requests}
    assert len(asked) == len(still.requests) == READS
    assert {method for method, _, _ in asked} == {"GET"}
    assert ("GET", "/api/tasks", "status=pending") in asked


def test_an_empty_world_is_well(command: Command, quiet: EmbeddedPlatform) -> None:
    with quiet:
        ran = command.on(quiet)("status")
    assert ran.code == 0, ran.out
    assert ran.lines[0].startswith("OK - 0 pending; no alerts")
    assert len(ran.lines) == 1


def test_a_warning_is_1(command: Command, quiet: EmbeddedPlatform) -> None:
    config = command.home / "c.toml"
    config.write_text('[alerts]\nwaiting_warning = "1m"\nwaiting_critical = "300d"\n')
    with quiet:
        company = quiet.world.create_company("Acme", "support", "Help")
        agent = quiet.world.agents(company.id)[0]
        quiet.world.create_task(company.id, "Look at | this", agent.id, "medium")
        quiet.world.advance(120)
        ran = command.on(quiet)("status", "--config", str(config))
    assert ran.code == 1, ran.out
    assert ran.lines[0].startswith("WARNING - ")
    assert any("Look at / this" in line for line in ran.lines)


def test_what_a_dashboard_remembered_says_what_lies_ahead(
    command: Command, still: EmbeddedPlatform
) -> None:
    """Of half of the limit, all was spent in the last two hours: it is gone tonight."""
    folder = command.home / "state"
    now = still.world.now
    company = next(c.id for c in still.world.state.companies.values() if c.name == "Globex")
    spent = [(now - 3 * 86_400, 0), (now - 7_200, 0)]
    spent += [(now - 7_200 + 300 * n, 100 * n) for n in range(1, 25)]
    feed = FeedName.COMPANY_BUDGETS
    history = ObservedDatabase(
        folder / "agentco-tui" / HISTORY_FILE, "default", str(BaseUrl.parse(still.base_url))
    )
    samples = [
        (feed, company, "USD", BudgetSample(at, Decimal(sum_), Decimal(4330))) for at, sum_ in spent
    ]
    history.store([Observed(samples=[*samples], seen=[(feed, "", (spent[0][0], now))])])
    history.close()
    env = {"XDG_STATE_HOME": str(folder)}
    before, after = command.on(still)("status"), command.on(still)("status", env=env)
    assert not any("Globex" in line and "gone in ~" in line for line in before.lines)
    assert any("Globex" in line and "gone in ~" in line for line in after.lines), after.out


def test_an_agent_that_burns_is_named_by_what_was_remembered_of_the_last_minutes(
    command: Command, still: EmbeddedPlatform
) -> None:
    """A dashboard or `watch` has run for ten minutes; two days of history are not needed."""
    folder = command.home / "state"
    now = still.world.now
    priya = next(agent for agent in still.world.agents() if agent.name == "Priya")
    feed = FeedName.AGENT_BUDGETS
    place = folder / "agentco-tui" / HISTORY_FILE
    history = ObservedDatabase(place, "default", str(BaseUrl.parse(still.base_url)))
    samples = [
        (
            feed,
            priya.id,
            "USD",
            BudgetSample(now - 600 + 15 * n, 129 + Decimal("4.5") * n, Decimal(600)),
        )
        for n in range(41)
    ]
    history.store([Observed(samples=[*samples], seen=[(feed, "", (now - 600, now))])])
    history.close()
    ran = command.on(still)("status", env={"XDG_STATE_HOME": str(folder)})
    assert ran.code == 2
    [line] = [line for line in ran.lines if "Priya spends" in line]
    words = re.fullmatch(
        r"✖ Priya spends ~\$(\d+)/min, limit reached in ~1\d min \(22 % of \$600.00, Globex\)", line
    )
    assert words is not None, line
    # $18 in the moment of the last sample; how long the command took to start moves it a little.
    assert 17 <= int(words[1]) <= 19, line
    assert ran.lines[1] == line, "it is the worst of all"


def test_unreachable_is_unknown(command: Command, still: EmbeddedPlatform) -> None:
    command.on(still)
    still.stop()
    ran = command("status")
    still.start()
    assert ran.code == 3
    why = "nothing answers at 127.0.0.1"
    assert ran.lines[0].startswith(
        f"UNKNOWN - {READS} of {READS} requests without an answer: {why}"
    )
    assert len(ran.lines) == 2, "what is the same is told once"
    assert ran.lines[1].startswith("◌ companies, agents, pending tasks, ")
    ran = command.on(still, key="ag_wrong-key-0123456789")("status")
    assert (ran.code, "AGENTCO_API_KEY" in ran.lines[0]) == (3, True)
    assert "ag_wrong" not in ran.out + ran.err


def test_a_part_that_cannot_be_read_is_unknown_unless_something_is_critical(
    command: Command, quiet: EmbeddedPlatform, still: EmbeddedPlatform
) -> None:
    with quiet:
        quiet.faults.add("alerts:status=403")
        ran = command.on(quiet)("status")
    assert ran.code == 3
    assert ran.lines[0].startswith("UNKNOWN - ")
    assert any(line.startswith("◌ alerts: ") for line in ran.lines)
    still.faults.add("companies:bad_json")
    still.faults.add("GET /api/budget/**:status=404")
    ran = command.on(still)("status")
    assert ran.code == 2
    assert "4 of 7 requests without an answer, 2 of them: " in ran.lines[0]
    told = [line for line in ran.lines if "/api/budget/alerts (404)" in line]
    assert told
    assert "it answers at other paths" in told[0]
    assert "base_url" not in told[0]


def test_every_sum_of_the_first_line_has_its_owner(
    command: Command, still: EmbeddedPlatform
) -> None:
    whole = command.on(still)("status").lines[0]
    assert "; all companies spent $" in whole
    one = command("status", "--company", "globex").lines[0]
    assert "; Globex spent $" in one
    assert "all companies" not in one


@pytest.mark.parametrize("names_itself", [True, False])
def test_the_budget_of_one_company_is_never_told_as_the_total(
    command: Command, names_itself: bool
) -> None:
    """The platform answers /api/budget with that of Globex, with its id or just its figures."""
    sent: dict[str, Any] = {}

    def choose(path: str, query: dict[str, str]) -> bytes | dict[str, str]:
        return json.dumps(sent).encode() if path == "/api/budget" else query

    with ChoosyPlatform(choose) as platform:
        globex = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
        sent |= {"monthly_limit": (globex.limit or 0) / 1e6, "spent": globex.spent / 1e6}
        sent |= {"currency": "USD"} | ({"id": globex.id} if names_itself else {})
        ran = command.on(platform)("status")
        told = json.loads(command("status", "--json").out)
        shown = command("get", "budget", "--table").lines
    first = ran.lines[0]
    assert "all companies" not in first
    assert "Acme Robotics spent $" in first
    assert first.count("Globex spent $1,255.60 of $4,330.00") == 1
    assert told["budget"] is None
    assert [each["of"] for each in told["sums"]] == ["Acme Robotics", "Globex", "Initech Content"]
    if names_itself:
        assert sum("4,330" in line or "4330" in line for line in shown) == 1


@pytest.mark.parametrize("inside", ["budget", "summary", "data"])
def test_a_company_is_named_by_the_answer_where_no_list_of_companies_says_more(
    command: Command, inside: str
) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        globex = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
    figures = {"companyId": globex.id, "monthlyLimit": 4330, "spent": 1255.6}

    def only_of_globex(kind: str, record: Any) -> Any:
        return {inside: figures} if kind == "overview" else record

    with EmbeddedPlatform(speed=0, edit=only_of_globex) as platform:
        platform.faults.add("company_budgets:status=404")
        first = command.on(platform)("status").lines[0]
        told = json.loads(command("status", "--json").out)
    assert "Globex spent 1,255.60" in first
    assert "all companies" not in first
    assert told["budget"] is None


def test_an_answer_with_budgets_of_parts_alone_hides_no_company(command: Command) -> None:
    """As a platform does that sends policies, and nothing for the whole."""
    policy = {"scopeType": "agent", "scopeId": "ag_1", "amount": 500, "observedAmount": 20}

    def only_policies(kind: str, record: Any) -> Any:
        return {"policies": [policy]} if kind == "overview" else record

    with EmbeddedPlatform(speed=0, edit=only_policies) as platform:
        first = command.on(platform)("status").lines[0]
    for name in ("Acme Robotics", "Globex", "Initech Content"):
        assert f"{name} spent $" in first


def test_json_for_scripts(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("status", "--json")
    told = json.loads(ran.out)
    assert ran.code == told["exit_code"] == 2
    assert told["status"] == "critical"
    assert told["companies"] == 3
    assert told["pending"]["count"] == len(still.world.tasks(status="pending"))
    assert told["pending"]["oldest_seconds"] > 0
    assert set(told["alerts"]) == {"critical", "warning", "info"}
    assert told["sums"][0]["of"] == "all companies"
    assert told["budget"]["spent"] > 0
    assert told["budget"]["currency"] == "USD"
    assert (told["failed"], told["company"]) == ([], None)
    assert told["findings"][0]["status"] == "critical"
    assert still.full_key not in ran.out
    company = still.world.tasks(status="pending")[0].agent.company.id
    told = json.loads(command("status", "--json", "--company", company).out)
    assert (told["company"], told["companies"]) == (company, 1)
    assert told["pending"]["count"] == len(still.world.tasks(company, "pending"))


def test_a_company_by_name_and_none_of_that_name(command: Command, still: EmbeddedPlatform) -> None:
    globex = next(each for each in still.world.state.companies.values() if each.name == "Globex")
    ran = command.on(still)("status", "--company", "globex")
    assert " - only Globex; " in ran.lines[0]
    told = json.loads(command("status", "--company", "globex", "--json").out)
    assert (told["company"], told["pending"]["count"]) == (globex.id, globex.pending)
    config = command.home / "c.toml"
    config.write_text('[profiles.prod]\ncompany = "umbrella"\n')
    for words, where in (
        (("--company", "umbrella"), "--company: "),
        (("--config", str(config)), f"profile prod, {config}:2: "),
    ):
        ran = command("status", *words)
        assert (ran.code, len(ran.lines)) == (3, 1)
        assert ran.lines[0].startswith("UNKNOWN - ")
        assert f"{where}no company has the name or id umbrella; the nearest is" in ran.lines[0]
        told = json.loads(command("status", *words, "--json").out)
        assert (told["status"], told["exit_code"]) == ("unknown", 3)
    # Deleted since the settings named it.
    still.world.state.changed(still.world.state.companies.pop(globex.id))
    ran = command("status", "--company", globex.id)
    assert (ran.code, f"no company has the name or id {globex.id}" in ran.out) == (3, True)
    # Two of one name: which one is meant can't be told.
    twins = [still.world.create_company(name, "support", "") for name in ("Hooli", "Hooli 2")]
    twins[1].name = "Hooli"
    still.world.state.changed(twins[1])
    ran = command("status", "--company", "hooli")
    assert ran.code == 3
    ids = ", ".join(twin.id for twin in twins)
    assert f"2 have the name hooli: say which by its id ({ids})" in ran.out


async def test_what_a_list_that_is_not_whole_lacks_is_asked_for_by_itself() -> None:
    async def ask(record_id: str) -> Company:
        if record_id != "cmp_far":
            raise NotFound(mark_safe("404"), status=404)
        return Company(id=record_id)

    part: Listing[Company] = _list(more=True)
    assert await id_of("company", "cmp_far", "--company", part, ask) == "cmp_far"
    for words, listing in (("cmp_farther", part), ("cmp_far", _list())):
        with pytest.raises(SettingsError):
            await id_of("company", words, "--company", listing, ask)


def test_settings_that_cannot_be_used_are_unknown_not_critical(command: Command) -> None:
    ran = command("status")
    assert ran.code == 3
    assert ran.lines[0].startswith("UNKNOWN - the settings cannot be used: ")
    assert "AGENTCO_BASE_URL" in ran.out
    told = json.loads(command("status", "--json").out)
    assert (told["status"], told["exit_code"], len(told["settings"])) == ("unknown", 3, 2)


# ---- how bad it is, and why


NOW = 1_000_000.0
LIMITS = AlertLimits()
USD = mark_safe("USD")
ACME, GLOBEX = Ref(id="cmp_a"), Ref(id="cmp_g")


def _list(*records: Any, **more: Any) -> Listing[Any]:
    return Listing(records=records, **more)


def _budget(scope: BudgetScope, id: str, spent: str, **more: Any) -> Budget:
    sums = Money(Decimal(spent), USD), Money(Decimal(100), USD)
    share = Decimal(spent) / 100
    return Budget(id=id, scope=scope, spent=sums[0], limit=sums[1], share=share, **more)


def _task(id: str, waits: float | None, **more: Any) -> Task:
    more.setdefault("state", TaskState.PENDING)
    created = None if waits is None else Moment(NOW - waits)
    return Task(id=id, title=mark_safe(f"Do {id}"), created=created, **more)


QUIET: dict[str, Any] = {
    "companies": _list(
        Company(id="cmp_a", name=mark_safe("Acme")), Company(id="cmp_g", name=mark_safe("Globex"))
    ),
    "agents": _list(
        Agent(id="ag_1", name=mark_safe("Ada"), company=ACME),
        Agent(id="ag_2", name=mark_safe("Bo"), company=GLOBEX),
    ),
    "pending": _list(_task("t1", 60.0, company=ACME, agent=Ref(id="ag_1"))),
    "budget": BudgetOverview(whole=_budget(BudgetScope.ALL, "all", "30")),
    "company_budgets": _list(
        _budget(BudgetScope.COMPANY, "cmp_a", "20"), _budget(BudgetScope.COMPANY, "cmp_g", "10")
    ),
    "agent_budgets": _list(_budget(BudgetScope.AGENT, "ag_1", "20", company=ACME)),
    "alerts": _list(),
}
SPENT = BudgetOverview(whole=_budget(BudgetScope.ALL, "all", "140"))
DENIED = NotAllowed(mark_safe("not allowed"), status=403)


def _judge(
    company: str | None = None,
    limits: AlertLimits = LIMITS,
    snoozed: dict[str, Snooze] | None = None,
    **changed: Any,
) -> Judgement:
    """What is made of these answers; an ApiError stands for none."""
    store, failed = Store(), {}
    for name, answer in {**QUIET, **changed}.items():
        if isinstance(answer, ApiError):
            failed[FeedName[name.upper()]] = answer
        elif isinstance(answer, BudgetOverview):
            store.take_overview(answer)
        else:
            store.take(FeedName[name.upper()], answer)
    outlook = ForecastService(store, clock=Clock(machine=lambda: NOW), limits=limits)
    snoozes = Snoozes(None, "")
    for key, snooze in (snoozed or {}).items():
        snoozes.set([key], snooze)
    model = NeedsModel(outlook, snoozes, lambda: company)
    at_once(model.refresh_steps())
    return judge(outlook, model, failed, company, NOW)


def _alert(severity: Severity, **more: Any) -> Alert:
    return Alert(id="al_1", severity=severity, text=mark_safe("Money is going"), **more)


def test_all_is_well() -> None:
    judged = _judge()
    assert (judged.level, judged.findings) == (Level.OK, ())
    assert (judged.companies, judged.agents, judged.pending) == (2, 2, 1)
    assert judged.oldest_wait == 60.0
    assert (
        headline(judged)
        == "1 pending, oldest 1 m; no alerts; all companies spent $30.00 of $100.00"
    )
    limits = AlertLimits(waiting_warning=30.0)
    assert _judge(limits=limits, pending=_list(_task("t", 60.0))).level is Level.WARNING


def test_what_is_not_known_is_not_told() -> None:
    judged = _judge(
        pending=_list(_task("t", 1), capped=True),
        budget=BudgetOverview(whole=Budget(id="all", scope=BudgetScope.ALL)),
    )
    known = "Acme spent $20.00 of $100.00; Globex spent $10.00 of $100.00"
    assert headline(judged) == f"at least 1 pending, oldest 1 s; no alerts; {known}"
    assert judged.budget is None


@pytest.mark.parametrize(
    ("changed", "level"),
    [
        ({"pending": _list(_task("t", 15 * 60))}, Level.WARNING),
        ({"pending": _list(_task("t", 15 * 60 - 1))}, Level.OK),
        ({"pending": _list(_task("t", 3600))}, Level.CRITICAL),
        ({"pending": _list(_task("t", 9999, state=TaskState.DONE))}, Level.OK),
        ({"pending": _list(_task("t", None))}, Level.OK),
        ({"agent_budgets": _list(_budget(BudgetScope.AGENT, "ag_1", "80"))}, Level.WARNING),
        ({"agent_budgets": _list(_budget(BudgetScope.AGENT, "ag_1", "100"))}, Level.CRITICAL),
        ({"company_budgets": _list(_budget(BudgetScope.COMPANY, "x", "99"))}, Level.WARNING),
        ({"budget": SPENT}, Level.CRITICAL),
        ({"alerts": _list(_alert(Severity.CRITICAL))}, Level.CRITICAL),
        ({"alerts": _list(_alert(Severity.WARNING))}, Level.WARNING),
        ({"alerts": _list(_alert(Severity.INFO))}, Level.OK),
        ({"alerts": _list(_alert(Severity.CRITICAL, open=False))}, Level.OK),
        ({"companies": DENIED}, Level.UNKNOWN),
        ({"alerts": DENIED}, Level.UNKNOWN),
        ({"pending": _list(unread=1)}, Level.UNKNOWN),
    ],
)
def test_one_thing_that_is_not_well(changed: dict[str, Any], level: Level) -> None:
    assert _judge(**changed).level is level


def test_critical_beats_unknown_beats_warning() -> None:
    warning: dict[str, Any] = {"alerts": _list(_alert(Severity.WARNING))}
    critical: dict[str, Any] = {"pending": _list(_task("t", 9999))}
    assert _judge(**warning, companies=DENIED).level is Level.UNKNOWN
    assert _judge(**critical, companies=DENIED).level is Level.CRITICAL
    assert _judge(**critical, **warning).level is Level.CRITICAL


def test_the_worst_is_told_first_with_names() -> None:
    judged = _judge(
        pending=_list(
            _task("t1", 3700.0, company=ACME, agent=Ref(id="ag_1"), priority=mark_safe("high"))
        ),
        alerts=_list(_alert(Severity.WARNING, company=GLOBEX)),
        budget=DENIED,
    )
    assert [finding.text for finding in judged.findings] == [
        "task waits 1 h: Do t1 (high, Acme, Ada)",
        "budget: not allowed",
        "alert: Money is going (Globex); no agent is blocked",
    ]
    assert "1 of 7 requests without an answer" in headline(judged)
    assert judged.failed == {FeedName.BUDGET: DENIED}


def test_what_is_snoozed_is_said_to_be_and_counts_all_the_same() -> None:
    snoozed = {"task:t": Snooze(Level.CRITICAL, None, "ask Bob")}
    judged = _judge(snoozed=snoozed, pending=_list(_task("t", 3600)))
    assert judged.level is Level.CRITICAL
    assert judged.findings[0].text == "task waits 1 h: Do t; snoozed, until worse: ask Bob"


def test_what_has_one_cause_is_one_finding() -> None:
    recovery = _task("t2", 3500.0, company=ACME, cause="GLO-7")
    pending = _list(
        _task("t1", 3600.0, company=ACME, cause="GLO-7"),
        recovery,
        _task("t3", 3400.0, company=ACME),
    )
    judged = _judge(pending=pending)
    assert [(finding.id, finding.also) for finding in judged.findings] == [
        ("t1", (("task", "t2"),)),
        ("t3", ()),
    ]
    assert judged.findings[0].text == "task waits 1 h: Do t1 (Acme); also: Do t2"
    assert judged.pending == 2
    assert sum(judged.needs.values()) == 2


def test_only_one_company_counts() -> None:
    critical = _task("t2", 9999, company=GLOBEX)
    answers: dict[str, Any] = {
        "pending": _list(*QUIET["pending"].records, critical),
        "budget": SPENT,
        "alerts": _list(
            _alert(Severity.CRITICAL, company=GLOBEX), _alert(Severity.CRITICAL, agent=Ref("ag_2"))
        ),
        "agents": _list(Agent(id="ag_1", name=mark_safe("Ada"), company=ACME)),
    }
    judged = _judge("cmp_a", **answers)
    assert (judged.level, judged.pending, judged.companies) == (Level.OK, 1, 1)
    assert judged.budget is not None
    assert judged.budget.id == "cmp_a"
    assert _judge("cmp_g", **answers).level is Level.CRITICAL


@pytest.mark.parametrize(("percent", "level"), [(100, Level.CRITICAL), (150, Level.WARNING)])
def test_from_where_on_an_alert_is_critical_stands_in_the_settings(
    percent: int, level: Level
) -> None:
    alert = _alert(Severity.UNKNOWN, share=Decimal("1.2"))
    limits = AlertLimits(critical_percent=Decimal(percent))
    assert _judge(limits=limits, alerts=_list(alert)).level is level
