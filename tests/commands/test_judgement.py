"""How bad it is, and why."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.api.errors import ApiError, KeyRejected, NotAllowed
from agentco_tui.commands.status import PARTS, Judgement, State, headline, judge, performance
from agentco_tui.config import AlertLimits
from agentco_tui.live.feeds import FeedName
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
from agentco_tui.text import plain

NOW = 1_000_000.0
LIMITS = AlertLimits()
USD = plain("USD")
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
    return Task(id=id, title=plain(f"Do {id}"), created=created, **more)


QUIET: dict[str, Any] = {
    "companies": _list(
        Company(id="cmp_a", name=plain("Acme")), Company(id="cmp_g", name=plain("Globex"))
    ),
    "agents": _list(
        Agent(id="ag_1", name=plain("Ada"), company=ACME),
        Agent(id="ag_2", name=plain("Bo"), company=GLOBEX),
    ),
    "pending": _list(_task("t1", 60.0, company=ACME, agent=Ref(id="ag_1"))),
    "budget": BudgetOverview(whole=_budget(BudgetScope.ALL, "all", "20")),
    "company_budgets": _list(
        _budget(BudgetScope.COMPANY, "cmp_a", "20"), _budget(BudgetScope.COMPANY, "cmp_g", "10")
    ),
    "agent_budgets": _list(_budget(BudgetScope.AGENT, "ag_1", "20", company=ACME)),
    "alerts": _list(),
}
SPENT = BudgetOverview(whole=_budget(BudgetScope.ALL, "all", "140"))
DENIED = NotAllowed(plain("not allowed"), status=403)


def _judge(company: str | None = None, limits: AlertLimits = LIMITS, **changed: Any) -> Judgement:
    """What is made of these answers; an ApiError stands for none."""
    store, failed = Store(), {}
    for name, answer in {**QUIET, **changed}.items():
        if isinstance(answer, ApiError):
            failed[FeedName[name.upper()]] = answer
        elif isinstance(answer, BudgetOverview):
            store.take_overview(answer)
        else:
            getattr(store, name).replace(answer)
    return judge(store, failed, company, NOW, limits)


def _alert(severity: Severity, **more: Any) -> Alert:
    return Alert(id="al_1", severity=severity, text=plain("Money is going"), **more)


def test_all_is_well() -> None:
    judged = _judge()
    assert (judged.state, judged.findings) == (State.OK, ())
    assert (judged.companies, judged.agents, judged.pending) == (2, 2, 1)
    assert judged.oldest_wait == 60.0
    assert headline(judged) == "1 pending, oldest 1 m; no alerts; spent $20.00 of $100.00"
    limits = AlertLimits(waiting_warning=30.0)
    assert _judge(limits=limits, pending=_list(_task("t", 60.0))).state is State.WARNING


def test_what_is_not_known_is_not_told() -> None:
    judged = _judge(
        pending=_list(_task("t", 1), capped=True),
        budget=BudgetOverview(whole=Budget(id="all", scope=BudgetScope.ALL)),
    )
    assert headline(judged) == "at least 1 pending, oldest 1 s; no alerts"
    assert "limit=" not in performance(judged, LIMITS)


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({"pending": _list(_task("t", 15 * 60))}, State.WARNING),
        ({"pending": _list(_task("t", 15 * 60 - 1))}, State.OK),
        ({"pending": _list(_task("t", 3600))}, State.CRITICAL),
        ({"pending": _list(_task("t", 9999, state=TaskState.DONE))}, State.OK),
        ({"pending": _list(_task("t", None))}, State.OK),
        ({"agent_budgets": _list(_budget(BudgetScope.AGENT, "ag_1", "80"))}, State.WARNING),
        ({"agent_budgets": _list(_budget(BudgetScope.AGENT, "ag_1", "100"))}, State.CRITICAL),
        ({"company_budgets": _list(_budget(BudgetScope.COMPANY, "x", "99"))}, State.WARNING),
        ({"budget": SPENT}, State.CRITICAL),
        ({"alerts": _list(_alert(Severity.CRITICAL))}, State.CRITICAL),
        ({"alerts": _list(_alert(Severity.WARNING))}, State.WARNING),
        ({"alerts": _list(_alert(Severity.INFO))}, State.OK),
        ({"alerts": _list(_alert(Severity.CRITICAL, open=False))}, State.OK),
        ({"companies": DENIED}, State.UNKNOWN),
        ({"alerts": DENIED}, State.UNKNOWN),
        ({"pending": _list(unread=1)}, State.UNKNOWN),
    ],
)
def test_one_thing_that_is_not_well(changed: dict[str, Any], state: State) -> None:
    assert _judge(**changed).state is state


def test_critical_beats_unknown_beats_warning() -> None:
    warning: dict[str, Any] = {"alerts": _list(_alert(Severity.WARNING))}
    critical: dict[str, Any] = {"pending": _list(_task("t", 9999))}
    assert _judge(**warning, companies=DENIED).state is State.UNKNOWN
    assert _judge(**critical, companies=DENIED).state is State.CRITICAL
    assert _judge(**critical, **warning).state is State.CRITICAL


def test_the_worst_is_told_first_with_names() -> None:
    judged = _judge(
        pending=_list(
            _task("t1", 3700.0, company=ACME, agent=Ref(id="ag_1"), priority=plain("high"))
        ),
        alerts=_list(_alert(Severity.WARNING, company=GLOBEX)),
        budget=DENIED,
    )
    assert [finding.text for finding in judged.findings] == [
        "task waits 1 h: Do t1 (high, Acme, Ada)",
        "budget: not allowed",
        "alert: Money is going (Globex)",
    ]
    assert "1 of 7 questions without an answer" in headline(judged)
    assert judged.failed == {FeedName.BUDGET: DENIED}


def test_nothing_answered() -> None:
    rejected: ApiError = KeyRejected(plain("no"), status=401)
    judged = _judge(None, LIMITS, **dict.fromkeys(QUIET, rejected))
    assert len(judged.failed) == len(PARTS)
    assert judged.state is State.UNKNOWN
    assert (judged.pending, judged.alerts, judged.budget, judged.companies) == (None,) * 4
    assert headline(judged) == "7 of 7 questions without an answer"
    assert performance(judged, LIMITS) == ""


def test_only_one_company_counts() -> None:
    critical = _task("t2", 9999, company=GLOBEX)
    answers: dict[str, Any] = {
        "pending": _list(*QUIET["pending"].records, critical),
        "budget": SPENT,
        "alerts": _list(
            _alert(Severity.CRITICAL, company=GLOBEX), _alert(Severity.CRITICAL, agent=Ref("ag_2"))
        ),
        "agents": _list(Agent(id="ag_1", name=plain("Ada"), company=ACME)),
    }
    judged = _judge("cmp_a", **answers)
    assert (judged.state, judged.pending, judged.companies) == (State.OK, 1, 1)
    assert judged.budget is not None
    assert judged.budget.id == "cmp_a"
    assert _judge("cmp_g", **answers).state is State.CRITICAL


def test_figures_for_monitoring() -> None:
    judged = _judge(alerts=_list(_alert(Severity.CRITICAL)))
    assert performance(judged, LIMITS) == (
        "pending=1;;;0 oldest_wait=60s;900;3600;0 alerts_critical=1;;;0 alerts_warning=0;;;0"
        " alerts_info=0;;;0 companies=2;;;0 agents=2;;;0 spent=20;;;0 limit=100;;;0"
    )


@pytest.mark.parametrize(("percent", "state"), [(100, State.CRITICAL), (150, State.WARNING)])
def test_from_where_on_an_alert_is_critical_stands_in_the_settings(
    percent: int, state: State
) -> None:
    alert = _alert(Severity.UNKNOWN, share=Decimal("1.2"))
    limits = AlertLimits(critical_percent=Decimal(percent))
    assert _judge(limits=limits, alerts=_list(alert)).state is state
