"""What belongs together is one need, and the order is that of what follows."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentco_tui.attention.need_words import NeedWords, words_of
from agentco_tui.attention.needs import Need, NeedKind, RankReason
from agentco_tui.attention.needs_model import MOST_SHOWN, NeedsModel
from agentco_tui.attention.snooze import Snooze, Snoozes
from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import ForecastService, SubjectForecast
from agentco_tui.history.spending_alarms import Burn, Runaway
from agentco_tui.live.activity_window import GAP_PREFIX
from agentco_tui.live.feeds import Clock
from agentco_tui.live.insight import Level
from agentco_tui.live.log_findings import LogFindings, Repeated, read_log
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Agent,
    AgentState,
    Alert,
    Budget,
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
from agentco_tui.model.period import HOUR
from agentco_tui.system.background import at_once
from agentco_tui.text import SafeText, mark_safe

NOW = 1_790_000_000.0
MINUTE, DAY = 60.0, 86_400.0
LIMITS = AlertLimits()
ACME, GLOBEX = Ref("acme", mark_safe("Acme")), Ref("globex", mark_safe("Globex"))


class Known(ForecastService):
    """An outlook that has just this to say."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store or Store(), None, Clock(machine=lambda: NOW))
        self.gone: dict[str, float] = {}
        self.burning: dict[str, Burn] = {}
        self.away: dict[str, Runaway] = {}
        self.usual: dict[str, float] = {}

    def of(self, budget: Budget) -> SubjectForecast:
        ahead, burn = None, self.burning.get(budget.id)
        if (at := self.gone.get(budget.id)) is not None:
            gone, ends = (at - DAY, at, at + DAY), NOW + 9 * DAY
            ahead = Forecast(rate=1, low=9, middle=10, high=11, ends=ends, gone=gone)
        return SubjectForecast(computed_at=NOW, forecast=ahead, burn=burn)

    def of_agent(self, agent: str | None) -> SubjectForecast:
        away, usual = self.away.get(agent or ""), self.usual.get(agent or "")
        return SubjectForecast(computed_at=NOW, runaway=away, usual_run=usual)


BURN = Burn(factor=20, rate=12.4, gone_in=5.2 * HOUR, critical=True)
AWAY = Runaway(what="cost", now=90.0, most=10.0, mean=1.0, since=(NOW - HOUR, NOW))


def agent(id: str, state: AgentState = AgentState.ACTIVE, company: Ref = ACME) -> Agent:
    return Agent(id=id, name=mark_safe(id.title()), state=state, company=company)


def task(id: str, minutes: float, of: str = "ada", priority: str = "low", **more: Any) -> Task:
    created = Moment(NOW - minutes * MINUTE)
    title = more.pop("title", mark_safe(f"Do {id}"))
    more.setdefault("state", TaskState.PENDING)
    who = Ref(of, mark_safe(of.title()))
    return Task(
        id=id, title=title, created=created, agent=who, priority=mark_safe(priority), **more
    )


def budget(id: str, share: str, scope: BudgetScope = BudgetScope.AGENT, **more: Any) -> Budget:
    spent, limit = Decimal(share) * 100, Decimal(100)
    sums = {"spent": Money(spent, mark_safe("USD")), "limit": Money(limit, mark_safe("USD"))}
    return Budget(id=id, scope=scope, share=Decimal(share), **{**sums, **more})


def alert(id: str, of: Ref, severity: Severity = Severity.WARNING, ago: float = HOUR) -> Alert:
    about: dict[str, Any] = {"company" if of in (ACME, GLOBEX) else "agent": of}
    return Alert(id=id, text=mark_safe(f"{id}!"), severity=severity, at=Moment(NOW - ago), **about)


def entry(id: str, ago: float, verb: str = "note", **more: Any) -> Activity:
    return Activity(id=id, at=Moment(NOW - ago), verb=mark_safe(verb), **more)


LOGIN = "Login to Quickship failed"


def failure(number: int, ago: float, of: str = "omar", words: str = LOGIN) -> Activity:
    who, text = Ref(of, mark_safe(of.title())), mark_safe(f"{words} after {number} tries")
    told: dict[str, Any] = {"text": text, "agent": who, "severity": Severity.CRITICAL}
    return entry(f"f{of}{number}", ago, "tool.failed", **told)


def found(
    tasks: tuple[Task, ...] = (),
    budgets: tuple[Budget, ...] = (),
    alerts: tuple[Alert, ...] = (),
    agents: tuple[Agent, ...] = (),
    outlook: Known | None = None,
    log: LogFindings | None = None,
) -> list[Need]:
    outlook = outlook or Known()
    store = outlook.store
    store.pending.replace(Listing(records=tasks))
    store.alerts.replace(Listing(records=alerts))
    store.agents.replace(Listing(records=agents))
    for scope, of_scope in store.budgets.items():
        of_scope.replace(Listing(records=tuple(b for b in budgets if b.scope is scope)))
    outlook.log = log or LogFindings()
    return model_of(outlook).ranked(100)


def model_of(outlook: ForecastService, snoozed: Mapping[str, Snooze] | None = None) -> NeedsModel:
    """The needs of an outlook's store, at once."""
    snoozes = Snoozes(None, "")
    for key, snooze in (snoozed or {}).items():
        snoozes.set([key], snooze)
    model = NeedsModel(outlook, snoozes, lambda: None)
    at_once(model.refresh_steps())
    return model


def told(need: Need, outlook: Known | None = None, store: Store | None = None) -> NeedWords:
    return words_of(need, Names(store or Store()), outlook or Known(), NOW)


def test_an_alert_its_budget_and_its_stopped_agent_are_one_and_their_tasks_stay_decidable() -> None:
    one, *rest = found(
        tasks=(task("t1", 90), task("t2", 70), task("t3", 1)),
        budgets=(budget("ada", "1.19"),),
        alerts=(alert("al_1", Ref("ada"), Severity.CRITICAL), alert("al_2", Ref("ada"))),
        agents=(agent("ada", AgentState.PAUSED),),
    )
    assert (one.key, one.level, one.kind) == ("agent:ada", Level.CRITICAL, NeedKind.BUDGET)
    assert {each.id for each in one.related} == {"ada", "al_1", "al_2"}
    words = told(one)
    assert (words.why, words.what) == ("stopped", "Ada")
    assert words.figure == "119 % of $100.00"
    assert words.consequence == "3 tasks stay blocked"
    assert [need.key for need in rest] == ["task:t1", "task:t2"]
    assert told(rest[0]).consequence == "longest of Ada's 3"
    store = Store()
    store.agents.records["ada"] = agent("ada", AgentState.PAUSED)
    assert told(rest[1], store=store).consequence == "Ada is paused"


def test_a_task_in_a_company_that_does_not_work_says_so() -> None:
    [need] = found(tasks=(task("t1", 90),), agents=(agent("ada"),))
    store = Store()
    store.agents.records["ada"] = agent("ada")
    for status, words in (
        ("paused", "Acme is paused"),
        ("not active", "Acme is not active"),
        ("active", ""),
        ("trial", ""),
    ):
        name, sent = mark_safe("Acme"), mark_safe(status)
        store.companies.records["acme"] = Company(id="acme", name=name, status=sent)
        assert told(need, store=store).consequence == words


def test_what_is_known_of_a_need_stays_one_need_while_it_changes() -> None:
    """The key is whom it is about, whatever shows it: an alert, then its budget, then its agent."""
    of = Ref("ada")
    shown_by: list[dict[str, Any]] = [
        {"alerts": (alert("al", of),)},
        {"alerts": (alert("al", of),), "budgets": (budget("ada", "0.9"),)},
        {"budgets": (budget("ada", "1.1"),), "agents": (agent("ada", AgentState.STOPPED),)},
        {"agents": (agent("ada", AgentState.ERROR),), "budgets": (budget("ada", "0.9"),)},
    ]
    for world in shown_by:
        (need,) = found(**world)
        assert need.key == "agent:ada"
    kinds = [found(**world)[0].kind for world in shown_by]
    assert kinds == [NeedKind.ALERT, NeedKind.BUDGET, NeedKind.BUDGET, NeedKind.AGENT]


def test_a_company_that_is_spent_stops_what_waits_in_it() -> None:
    spent = budget("acme", "1.02", BudgetScope.COMPANY, name=mark_safe("Acme"))
    for company in (ACME, None):
        tasks = tuple(replace(task(f"t{n}", 1), company=company) for n in range(2))
        need = found(tasks=tasks, budgets=(spent,), agents=(agent("ada"),))[0]
        words = told(need)
        assert words.consequence == "2 tasks stay blocked", "by what they say, else by their agent"


def test_money_that_will_be_gone_is_a_need_with_its_date_whatever_its_share() -> None:
    outlook = Known()
    outlook.gone = {"kofi": NOW + 2 * DAY, "acme": NOW + 3 * DAY, "late": NOW + 30 * DAY}
    outlook.burning = {"bo": BURN}
    budgets = (
        budget("kofi", "0.6"), budget("late", "0.6"), budget("bo", "0.3"), budget("idle", "0.6"),
        budget("acme", "0.5", BudgetScope.COMPANY, name=mark_safe("Acme")),
    )  # fmt: skip
    critical, company, later = found(tasks=(task("t1", 1, "bo"),), budgets=budgets, outlook=outlook)
    assert (critical.key, critical.level) == ("agent:bo", Level.CRITICAL)
    assert told(critical, outlook).why == "runs out"
    assert told(critical, outlook).consequence == "gone in ~5 h at ~$12.40/h, blocks 1 task"
    assert (company.key, company.level) == ("company:acme", Level.WARNING)
    assert (later.key, told(later, outlook).why) == ("agent:kofi", "runs out")
    assert told(later, outlook).consequence.startswith("gone ~")


def test_an_agent_that_runs_away_is_told_with_its_money() -> None:
    outlook = Known()
    outlook.away = {"kofi": AWAY}
    agents = (agent("kofi"), agent("ada"))
    (need,) = found(agents=agents, outlook=outlook)
    words = told(need, outlook)
    assert (need.kind, need.rank_reason) == (NeedKind.AGENT, RankReason.RUNAWAY)
    assert (words.why, words.figure, words.since) == ("runaway", "9× its most cost", NOW - HOUR)
    (need,) = found(agents=agents, budgets=(budget("kofi", "0.85"),), outlook=outlook)
    assert (need.kind, told(need, outlook).why) == (NeedKind.BUDGET, "runaway")


def test_the_same_failure_over_and_over_is_one_with_count_and_span() -> None:
    entries = [failure(n, n * 10 * MINUTE) for n in range(5)]
    apart = ("Lookup for parts found nothing", "Tool broke", "Login refused: no such account")
    others = [failure(n, n * 10 * MINUTE, "lena", words) for n, words in enumerate(apart)]
    seldom = [failure(n, n * 50 * MINUTE, "bo") for n in range(4)]
    log = at_once(read_log([*entries, *others, *seldom]))
    (need,) = found(log=log)
    words = told(need)
    assert need.record == entries[0], "the newest stands for all"
    assert (words.figure, words.consequence) == ("×5 in 40 m", "again every ~10 m")
    assert words.agent == "Omar"
    later = at_once(read_log([replace(entries[0], id="f9", at=Moment(NOW)), *entries]))
    assert found(log=later)[0].key == need.key, "the same as long as it goes on"
    over = [replace(each, at=Moment(NOW - HOUR - n)) for n, each in enumerate(entries, 1)]
    assert not found(log=at_once(read_log(over))), "for an hour it has not failed"


def runs(count: int, took: float, start: float) -> list[Activity]:
    """Tasks that took so long from the yes to the end, newest first."""
    ended = [entry(f"e{n}", start + n, "task.completed", task=Ref(f"d{n}")) for n in range(count)]
    begun = [
        entry(f"b{n}", start + n + took, "task.approved", task=Ref(f"d{n}")) for n in range(count)
    ]
    return [*ended, *begun]


def approved(id: str, ago: float, of: str = "kofi") -> Activity:
    who = Ref(of, mark_safe(of.title()))
    return entry(f"a{id}", ago, "task.approved", task=Ref(id, mark_safe(f"Do {id}")), agent=who)


def test_what_was_said_yes_to_and_stands_still_for_longer_than_usual_is_told() -> None:
    past = runs(6, 900.0, 4 * HOUR)
    log = at_once(read_log([approved("new", 25 * MINUTE), approved("old", 40 * MINUTE), *past]))
    assert log.usual_run == 900.0
    assert [need.key for need in found(log=log)] == ["stuck:kofi"]
    outlook = Known()
    outlook.usual = {"kofi": 900.0}
    (need,) = found(log=log, agents=(agent("kofi"),), outlook=outlook)
    assert (need.kind, need.record.id, need.key) == (NeedKind.STUCK, "old", "stuck:kofi")
    outlook.store.agents.replace(Listing(records=(agent("kofi"),)))
    assert told(need, outlook, outlook.store).consequence == "stays undone, usually done in 15 m"
    outlook.usual = {"kofi": 3 * HOUR}
    assert not found(log=log, outlook=outlook), "this agent's take longer"
    outlook.usual = {"kofi": 60.0}
    moved = entry("m", MINUTE, "step.tool", task=Ref("old"))
    gap = entry(f"{GAP_PREFIX}x", 30 * MINUTE, id_derived=True)
    for newest in (moved, gap):  # behind a gap, what moved it on may be missing
        log = at_once(read_log([newest, approved("old", 40 * MINUTE), *past]))
        assert not found(log=log, outlook=outlook)
    silent = at_once(read_log([approved("old", 400 * MINUTE)]))
    assert not found(log=silent, outlook=outlook), "a log that tells of no end"


def test_where_nothing_is_usual_an_idle_agent_is_waited_for_less_long() -> None:
    log = at_once(read_log([approved("t", 90 * MINUTE), *runs(2, 60.0, 4 * HOUR)]))
    assert not found(log=log, agents=(agent("kofi"),))
    assert found(log=log, agents=(agent("kofi", AgentState.IDLE),))
    (need,) = found(log=log, agents=(agent("kofi", AgentState.PAUSED),))
    assert (need.key, need.count) == ("agent:kofi", 1), "with its agent, which is stopped"
    assert told(need).consequence == "1 task stays blocked"


def test_tasks_as_they_were_listed_count_before_the_log() -> None:
    log = at_once(read_log([approved("t", 500 * MINUTE), *runs(2, 60.0, 4 * HOUR)]))
    outlook = Known()
    assert [need.kind for need in found(log=log, outlook=outlook)] == [NeedKind.STUCK]
    for state in (TaskState.DONE, TaskState.PENDING):  # it is over, or asks again
        outlook.store.tasks.replace(Listing(records=(task("t", 500, state=state),)))
        assert not found(log=log, outlook=outlook)


def crowded() -> dict[str, Any]:
    outlook = Known()
    outlook.gone, outlook.away = {"kofi": NOW + 3 * HOUR}, {"maya": AWAY}
    log = LogFindings(
        repeated=[Repeated("omar:x", failure(1, 60.0), tuple(NOW - n * 300 for n in range(1, 9)))],
        at_work={"s": (NOW - 5 * HOUR, task("s", 400, "lena", state=TaskState.APPROVED))},
    )
    return {
        "tasks": (
            *(task(f"ada{n}", 20) for n in range(4)),
            task("nora1", 16, "nora"),
            task("late", 59, "sofia"),
            task("later", 45, "sofia"),
            task("high", 30, "sofia", "high"),
            task("urgent", 5, "sofia", "urgent"),
            task("refund", 190, "linus"),
        ),
        "budgets": (
            budget("nora", "1.3"), budget("ada", "1.01"), budget("kofi", "0.6"),
            budget("diego", "0.99"), budget("globex", "0.9", BudgetScope.COMPANY),
        ),
        "alerts": (alert("al", GLOBEX, Severity.CRITICAL), alert("al2", Ref("bo"))),
        "agents": (
            agent("ada", AgentState.PAUSED), agent("nora", AgentState.PAUSED), agent("kofi"),
            agent("maya"), agent("bo", AgentState.ERROR), agent("sofia"), agent("linus"),
        ),
        "outlook": outlook,
        "log": log,
    }  # fmt: skip


ORDER = [
    "agent:ada", "agent:nora", "company:globex", "task:refund",
    "task:urgent", "task:high", "agent:kofi", "agent:maya", "stuck:lena", "failures:omar:x",
    "agent:diego", "agent:bo", "task:late", "task:later",
    "task:ada0", "task:ada1", "task:ada2", "task:ada3", "task:nora1",
]  # fmt: skip


def test_the_order_is_that_of_what_follows_and_each_says_why() -> None:
    shown = found(**crowded())
    assert [need.key for need in shown] == ORDER
    words = [told(need, crowded()["outlook"]) for need in shown]
    assert all(each.reason for each in words)
    subjects = [each for each, need in zip(words, shown, strict=True) if need.kind != NeedKind.TASK]
    assert all(each.consequence for each in subjects), "only of a task nothing need follow"
    assert words[0].consequence == "4 tasks stay blocked"
    assert words[4].reason == "priority (urgent) and wait (5 m)"
    assert [need.level for need in shown[:5]] == [*[Level.CRITICAL] * 4, Level.WARNING]


@given(st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None)
def test_no_record_is_in_two_needs_and_no_order_of_answers_changes_theirs(random: Random) -> None:
    world = crowded()
    for name in ("tasks", "budgets", "alerts", "agents"):
        world[name] = tuple(random.sample(world[name], len(world[name])))
    shown = found(**world)
    assert [need.key for need in shown] == ORDER
    parts = [(type(each), each.id) for need in shown for each in (need.record, *need.related)]
    assert len(parts) == len(set(parts))


def test_costs_and_trust_of_tasks_alike_are_told_together() -> None:
    cost = Money(Decimal("1.50"), SafeText("USD"))
    alike = tuple(task(f"t{n}", 20, title=mark_safe("Publish"), cost=cost) for n in range(3))
    first = found(tasks=alike)[0]
    words = told(replace(first, alike=alike))
    assert (words.what, words.figure) == ("Publish ×3", "$4.50")
    assert words.consequence == "3 tasks wait"
    expires = replace(alike[0], expires=Moment(NOW + 40 * MINUTE))
    assert told(replace(first, record=expires)).consequence == "expires in 40 m, longest of Ada's 3"


def test_snoozed_tasks_take_no_place_of_one_that_needs_somebody_now() -> None:
    outlook = Known()
    early = tuple(task(f"early{number}", 300 - number, priority="urgent") for number in range(8))
    late = task("late", 200, priority="urgent")
    outlook.store.pending.replace(Listing(records=(*early, late)))
    snoozes = {f"task:{each.id}": Snooze(Level.CRITICAL, NOW + HOUR) for each in early}
    model = model_of(outlook, snoozes)
    needs = model.ranked(3)
    assert [need.record.id for need in needs if need.snooze is None] == ["late"]
    assert len([need for need in needs if need.snooze is not None]) == len(early)
    assert model.queue.count == len(early) + 1


def test_what_ranks_first_is_shown_behind_however_many_others() -> None:
    """A task that is critical, and one with an open decision, among thousands that are late."""
    outlook = Known()
    late = tuple(task(f"late{number}", 20 + number % 30) for number in range(3_000))
    worst = task("worst", 300, priority="urgent")
    decided = task("decided", 16)
    outlook.store.pending.replace(Listing(records=(*late, decided, worst)))
    spent = budget("globex", "1.1", BudgetScope.COMPANY)
    outlook.store.company_budgets.replace(Listing(records=(spent,)))
    model = NeedsModel(outlook, Snoozes(None, ""), lambda: None, lambda: [decided])
    at_once(model.refresh_steps())
    keys = [need.key for need in model.shown]
    assert keys[:3] == ["task:decided", "company:globex", "task:worst"]
    assert model.listed == MOST_SHOWN + 1
    assert model.levels[Level.WARNING] == len(late) + 1, "each counts once"
