"""What happened between two moments: from the history, and from what is held of the log."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history.changes_since import (
    LEAST_GAP,
    ChangeEvent,
    HistorySlice,
    Section,
    changes_since,
    gaps_of,
    read_slice,
    slice_of_log,
    to_minute,
)
from agentco_tui.history.observations import (
    AlertLife,
    BudgetSample,
    Counted,
    Observed,
    TaskLife,
    Track,
)
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Agent,
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
from agentco_tui.text import clean_line
from tests.history.observed_file import ObservedDatabase

NOW = 1_790_000_000.0
HOUR = 3_600.0
SINCE = NOW - 8 * HOUR
NOTHING = HistorySlice([(SINCE, NOW)], [], [])
NIGHT = [
    f"from {to_minute(SINCE + hours * HOUR, NOW)} to {to_minute(SINCE + (hours + 1) * HOUR, NOW)}"
    for hours in (2, 1)
]


def sample(at: float, spent: int | None) -> BudgetSample:
    return BudgetSample(at, None if spent is None else Decimal(spent), Decimal(1_000))


def a_store() -> Store:
    store = Store()
    store.take(FeedName.COMPANIES, Listing(records=(Company(id="c1", name=clean_line("Acme")),)))
    store.take(FeedName.AGENTS, Listing(records=(Agent(id="a1", name=clean_line("Ada")),)))
    budget = Budget(
        id="c1",
        scope=BudgetScope.COMPANY,
        spent=Money(Decimal(150), clean_line("USD")),
        limit=Money(Decimal(1_000), clean_line("USD")),
    )
    store.take(FeedName.COMPANY_BUDGETS, Listing(records=(budget,)))
    return store


def entry(number: int, at: float, verb: str, **more: object) -> Activity:
    return Activity(id=f"e{number}", at=Moment(at), verb=clean_line(verb), agent=Ref("a1"), **more)  # type: ignore[arg-type]


def told(chapters: list[Section], name: str) -> list[str]:
    for chapter in chapters:
        if chapter.name == name:
            return [f"{each.who}: {each.text} ×{each.times} {each.key}" for each in chapter.events]
    return []


def notes_on_sums(chapters: list[Section]) -> list[str]:
    [spent] = [each for each in chapters if each.name == "Spent"]
    return [*spent.notes]


def test_the_history_tells_of_the_night(tmp_path: Path) -> None:
    file = ObservedDatabase(tmp_path / "history.sqlite3", "prod", "https://p.example")
    life = TaskLife(
        id="t1",
        title=clean_line("Refund 214"),
        agent="a1",
        first_seen=SINCE - 5,
        decided=SINCE + 60,
        decided_by=clean_line("Wanda"),
        state=TaskState.FAILED,
    )
    before = TaskLife(id="t0", title=clean_line("Old"), first_seen=1.0, decided=SINCE - 60)
    wrong = Counted(SINCE + 120, "a1", "c1", "tool failed", Severity.CRITICAL, 3)
    observed = Observed(
        samples=[
            (FeedName.COMPANY_BUDGETS, "c1", "USD", sample(SINCE - 60, 100)),
            (FeedName.COMPANY_BUDGETS, "c1", "USD", sample(SINCE + HOUR, 120)),
            (FeedName.COMPANY_BUDGETS, "c1", "USD", sample(NOW - HOUR, 150)),
        ],
        seen=[
            (FeedName.ACTIVITY, "", (SINCE - 60, SINCE + 2 * HOUR)),
            (FeedName.ACTIVITY, "", (SINCE + 3 * HOUR, NOW)),
            (FeedName.COMPANY_BUDGETS, "", (SINCE - 60, NOW)),
            (FeedName.PENDING, "", (SINCE - 60, NOW)),
            (FeedName.ALERTS, "", (SINCE - 60, NOW)),
        ],
        lives=[life, before],
        counts=[wrong],
        alerts=[
            AlertLife(
                id="al1",
                scope=BudgetScope.AGENT,
                subject="a1",
                severity=Severity.CRITICAL,
                first_seen=SINCE + 5,
                gone=NOW - 5,
                text=clean_line("Ada has spent 102 %"),
            )
        ],
    )
    file.store([observed])
    past = file.read(partial(read_slice, SINCE, ["c1"]))
    file.close()
    found = changes_since(past, a_store(), AlertLimits(), (SINCE, NOW))
    assert told(found, "Decided") == ["Wanda: approved Refund 214, failed since ×1 agents:a1"]
    assert told(found, "Went wrong") == ["Ada: tool failed ×3 agents:a1"]
    assert told(found, "Spent") == ["Acme: ~$50.00, now $150.00 of $1,000.00 ×1 budget:company:c1"]
    assert told(found, "Alerts") == [
        "came and went: Ada has spent 102 % (was critical) ×1 budget:agent:a1"
    ]
    assert told(found, "Not known") == [f": the log was not read {NIGHT[0]} ×1 "]


def test_without_a_history_the_log_that_is_held_tells() -> None:
    store = a_store()
    task = Ref("t1", clean_line("Refund 214"))
    entries = (
        entry(
            0, SINCE - HOUR, "task.approved", task=Ref("t0"), actor=Ref("u1", clean_line("Theo"))
        ),
        entry(1, SINCE + HOUR, "task.approved", task=task, actor=Ref("u2", clean_line("Wanda"))),
        Activity(id="gap:e2", id_derived=True),
        entry(
            2,
            SINCE + 2 * HOUR,
            "tool.failed",
            severity=Severity.WARNING,
            text=clean_line("Too slow: 3 s"),
        ),
        entry(
            3, NOW - 30, "tool.failed", severity=Severity.WARNING, text=clean_line("Too slow: 4 s")
        ),
        entry(4, NOW - 10, "tool.called", severity=Severity.INFO),
    )
    store.activity.merge(Listing(records=(*entries[:2], *entries[3:])))
    past = slice_of_log(entries, SINCE, NOW, clean_line("only the log"))
    found = changes_since(past, store, AlertLimits(), (SINCE, NOW))
    assert told(found, "Decided") == ["Wanda: approved Refund 214 ×1 activity:e1"]
    assert told(found, "Went wrong") == ["Ada: Too slow: 4 s ×2 activity:e3"]
    assert told(found, "Spent") == ["Acme: now $150.00 of $1,000.00 ×1 budget:company:c1"]
    assert notes_on_sums(found) == [
        f"nothing is known of what was spent since {to_minute(SINCE, NOW)}"
    ]
    unknown = [f": the log was not read {NIGHT[1]} ×1 ", ": only the log ×1 "]
    assert told(found, "Not known") == unknown


def test_what_was_sent_from_here_is_told_once() -> None:
    lives = [
        TaskLife(id="t1", title=clean_line("Refund"), first_seen=1.0, decided=NOW - 60),
        TaskLife(id="t2", title=clean_line("Before"), first_seen=1.0, decided=SINCE - 60),
    ]
    mine = ChangeEvent(NOW - 61, clean_line("approved Refund"), clean_line("from here"))
    limit = ChangeEvent(
        NOW - 30, clean_line("set limit Ada"), clean_line("from here"), key="agents:a1"
    )
    sent = {"t1": mine, "t2": mine, "attempt-3": limit}
    past = HistorySlice([(SINCE, NOW)], lives, [])
    found = changes_since(past, a_store(), AlertLimits(), (SINCE, NOW), sent)
    assert told(found, "Decided") == [
        "from here: set limit Ada ×1 agents:a1",
        "from here: approved Refund ×1 ",
    ]


def test_what_waits_newly_is_told_the_worst_first() -> None:
    store = a_store()
    tasks = [
        Task(id="old", title=clean_line("Old"), created=Moment(SINCE - 1)),
        *(
            Task(id=f"n{n}", title=clean_line("New"), created=Moment(NOW - 60 + n))
            for n in range(3)
        ),
        Task(id="late", title=clean_line("Late"), created=Moment(SINCE + 1)),
        Task(id="when", title=clean_line("When?")),
    ]
    store.take(FeedName.PENDING, Listing(records=tuple(tasks)))
    found = changes_since(NOTHING, store, AlertLimits(), (SINCE, NOW))
    assert told(found, "Newly waiting") == [": Late ×1 tasks:late", ": New ×3 tasks:n0"]


def test_tasks_are_called_by_their_keys_unless_a_line_is_of_several() -> None:
    store = a_store()
    new = {"title": clean_line("New"), "created": Moment(NOW - 60)}
    tasks = [Task(id=f"n{n}", key=clean_line(f"GLO-{n}"), **new) for n in range(3)]  # type: ignore[arg-type]
    other = Task(id="o", title=clean_line("Other"), key=clean_line("GLO-9"), created=Moment(NOW))
    store.take(FeedName.PENDING, Listing(records=(*tasks, other)))
    past = replace(NOTHING, lives=[departed("o", state=TaskState.CANCELLED), departed("n1")])
    found = changes_since(past, store, AlertLimits(), (SINCE, NOW))
    assert told(found, "Newly waiting") == [": New ×3 tasks:n0", ": GLO-9 Other ×1 tasks:o"]
    assert told(found, "Decided") == [
        ": 1 task left the queue, outcome unknown: GLO-1 Refund n1 ×1 ",
        ": cancelled GLO-9 Refund o ×1 ",
    ]


spans = st.lists(st.tuples(st.floats(-1e4, 1e5), st.floats(0, 1e4)), max_size=8)


@given(spans)
def test_gaps_lie_where_nothing_was_seen(begins: list[tuple[float, float]]) -> None:
    seen = [(begin, begin + length) for begin, length in begins]
    until = 8 * HOUR
    gaps = gaps_of(seen, 0.0, until)
    for first, last in gaps:
        assert 0 <= first < last <= until
        assert last - first >= LEAST_GAP
        assert not any(begin < last and end > first for begin, end in seen if end > begin)
    edges = sorted({0.0, until, *(edge for span in seen for edge in span if 0 < edge < until)})
    for first, last in pairwise(edges):
        middle = (first + last) / 2
        is_seen = any(begin <= middle <= end for begin, end in seen)
        if not is_seen and last - first >= LEAST_GAP:
            assert any(begin <= middle <= end for begin, end in gaps)


def departed(task: str, **told: Any) -> TaskLife:
    life = TaskLife(
        id=task,
        title=clean_line(f"Refund {task}"),
        first_seen=SINCE - 60,
        departed=NOW - 60,
        departed_after=NOW - 65,
        state=TaskState.PENDING,
    )
    return replace(life, **told)


def decided(*lives: TaskLife, **sent: ChangeEvent) -> list[str]:
    past = HistorySlice(
        [(SINCE, NOW)], lives, [], queue_seen=[(SINCE, NOW)], alerts_seen=[(SINCE, NOW)]
    )
    return told(changes_since(past, a_store(), AlertLimits(), (SINCE, NOW), sent), "Decided")


def test_what_left_the_queue_is_told_with_what_became_of_it() -> None:
    by_bob = {"decided_by": clean_line("Bob"), "decided": NOW - 60}
    assert decided(departed("t1", state=TaskState.APPROVED, **by_bob)) == [
        "Bob: approved Refund t1 ×1 "
    ]
    assert decided(departed("t1", state=TaskState.CANCELLED)) == [": cancelled Refund t1 ×1 "]
    ended = departed("t1", state=TaskState.CANCELLED, departed=None, ended=NOW - 60)
    assert decided(ended) == [": cancelled Refund t1 ×1 "]
    assert decided(departed("t1", state=TaskState.DONE)) == [
        ": left the queue, done: Refund t1 ×1 "
    ]
    assert decided(departed("t1", state=TaskState.DONE, decided=SINCE - 60)) == []


def test_what_left_the_queue_with_an_unknown_outcome_is_counted() -> None:
    assert decided(*(departed(f"t{number}") for number in range(3))) == [
        ": 3 tasks left the queue, outcome unknown: Refund t0, Refund t1, Refund t2 ×1 "
    ]
    [line] = decided(*(departed(f"t{number}") for number in range(5)))
    assert "5 tasks left the queue, outcome unknown" in line
    assert "and 2 more" in line
    mine = ChangeEvent(NOW - 61, clean_line("approve Refund t1: done"), clean_line("from here"))
    assert decided(departed("t1"), t1=mine) == ["from here: approve Refund t1: done ×1 "]


def test_a_decision_between_two_looks_has_no_exact_time() -> None:
    late = departed("t1", decided=NOW - 60, departed_after=NOW - 2 * HOUR, state=TaskState.REJECTED)
    [line] = decided(late)
    assert f"rejected Refund t1, at some time since {to_minute(NOW - 2 * HOUR, NOW)}" in line


def test_nothing_is_said_not_to_have_happened_where_nobody_looked() -> None:
    past = HistorySlice([(NOW - 60, NOW)], [], [], queue_seen=[(NOW - 60, NOW)])
    found = changes_since(past, a_store(), AlertLimits(), (SINCE, NOW))
    first = to_minute(SINCE, NOW)
    assert told(found, "Not known") == [
        f": the log and the queue were not read from {first} to {to_minute(NOW - 60, NOW)} ×1 ",
        f": alerts were not read from {first} to {to_minute(NOW, NOW)} ×1 ",
    ]
    [chapter] = [each for each in found if each.name == "Decided"]
    assert chapter.none == "nothing was decided in the time that was seen"


def test_sums_say_which_time_they_are_of() -> None:
    samples = (sample(NOW - 60, 142), sample(NOW - 20, 150))
    spent = {"c1": Track(samples, ((NOW - 60, NOW),)), "": Track[BudgetSample]()}
    past = HistorySlice([(SINCE, NOW)], [], [], spent=spent)
    found = changes_since(past, a_store(), AlertLimits(), (NOW - HOUR, NOW))
    first, last = to_minute(NOW - 60, NOW), to_minute(NOW, NOW)
    assert told(found, "Spent") == ["Acme: ~$8.00, now $150.00 of $1,000.00 ×1 budget:company:c1"]
    assert notes_on_sums(found) == [
        f"in the 1 m 00 s that was seen (from {first} to {last}); nothing is known of 59 m 00 s"
    ]


def test_sums_that_differ_from_the_sum_of_all_are_pointed_out() -> None:
    store = a_store()
    whole = Budget(
        id="all", scope=BudgetScope.ALL, spent=Money(Decimal(500), clean_line("USD")), limit=None
    )
    store.take(FeedName.BUDGET, Listing(records=(whole,)))
    seen = ((SINCE, NOW),)
    spent = {
        "c1": Track((sample(SINCE, 100), sample(NOW - 20, 150)), seen),
        "": Track((sample(SINCE, 400), sample(NOW - 20, 500)), seen),
    }
    past = HistorySlice([(SINCE, NOW)], [], [], spent=spent)
    [note] = notes_on_sums(changes_since(past, store, AlertLimits(), (SINCE, NOW)))
    assert note.startswith("the companies together ~$50.00")


def test_alerts_without_a_time_and_those_that_ended_are_told() -> None:
    store = a_store()
    undated = Alert(id="al2", severity=Severity.WARNING, text=clean_line("Ada is at 80 %"))
    brief = Alert(
        id="al3",
        severity=Severity.CRITICAL,
        text=clean_line("Ada was at 100 %"),
        open=False,
        at=Moment(NOW - HOUR),
    )
    store.take(FeedName.ALERTS, Listing(records=(undated, brief)))
    life = AlertLife(
        id="al2",
        scope=BudgetScope.AGENT,
        subject="a1",
        severity=Severity.WARNING,
        first_seen=NOW - 30,
        text=clean_line("Ada is at 80 %"),
        is_dated=False,
    )
    past = HistorySlice([(SINCE, NOW)], [], [], alerts=[life])
    found = changes_since(past, store, AlertLimits(), (SINCE, NOW))
    assert told(found, "Alerts") == [
        "first seen: Ada is at 80 % ×1 budget:al2",
        "came and went: Ada was at 100 % (was critical) ×1 budget:al3",
    ]


def test_a_task_without_a_time_is_new_where_the_queue_was_seen_before() -> None:
    store = a_store()
    store.take(FeedName.PENDING, Listing(records=(Task(id="t1", title=clean_line("When?")),)))
    life = TaskLife(id="t1", title=clean_line("When?"), first_seen=NOW - 30, waits=True)
    for since_when, expected in ((NOW - 60, [": When? ×1 tasks:t1"]), (NOW - 30, [])):
        past = HistorySlice([(SINCE, NOW)], [life], [], queue_seen=[(since_when, NOW)])
        found = changes_since(past, store, AlertLimits(), (SINCE, NOW))
        assert told(found, "Newly waiting") == expected
