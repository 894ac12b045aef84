"""The database of the history: what is kept, in which buckets, by which process, and damage."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agentco_tui.history import database, migrations
from agentco_tui.history.history import History
from agentco_tui.history.observations import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    Departure,
    HistoryError,
    Observed,
    QueueSample,
    QueueSeen,
    TaskLife,
    Track,
)
from agentco_tui.history.reader import Reader
from agentco_tui.history.rows import LONGEST_TITLE
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope, Severity, TaskState
from agentco_tui.text import clean_line
from tests.history.observed_file import ObservedDatabase

ORIGIN = "https://platform.example"
NOON = 1_700_049_600.0  # a whole hour
COMPANIES, AGENTS = FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS


def opened(folder: Path, profile: str = "prod", origin: str = ORIGIN) -> ObservedDatabase:
    return ObservedDatabase(folder / "history.sqlite3", profile, origin)


def spent(at: float, amount: int | None, limit: int | None = 100) -> BudgetSample:
    sums = (None if each is None else Decimal(each) for each in (amount, limit))
    return BudgetSample(at, *sums)


def of_company(*samples: BudgetSample, unit: str = "USD", feed: FeedName = COMPANIES) -> Observed:
    return Observed(
        samples=[(feed, "cmp_1", unit, sample) for sample in samples],
        seen=[(feed, "", (samples[0].at, samples[-1].at))],
    )


def budget(reader: Reader) -> list[BudgetSample]:
    return [*reader.budget(BudgetScope.COMPANY, "cmp_1", 0).samples]


def checked(folder: Path) -> None:
    """The file is whole, and each bucket holds a time that lies in it."""
    with closing(sqlite3.connect(folder / "history.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute("SELECT resolution, bucket, at FROM sample").fetchall()
    assert [row for row in rows if not row[1] <= row[2] < row[1] + row[0]] == []


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = opened(tmp_path)
    title = clean_line("Refund " + "x" * 500)
    task = TaskLife(id="t1", title=title, agent="ag_1", first_seen=NOON, state=TaskState.PENDING)
    alert = AlertLife(
        id="al_1",
        scope=BudgetScope.AGENT,
        subject="ag_1",
        severity=Severity.CRITICAL,
        first_seen=NOON,
    )
    count = Counted(NOON + 5, "ag_1", None, "tool used", Severity.INFO, 3)
    agent = AgentSample(NOON, clean_line("active"), Decimal("71.5"), 12)
    observed = Observed(
        samples=[
            (FeedName.BUDGET, "", "EUR?", spent(NOON, 3, None)),
            (FeedName.PENDING, "", "", QueueSample(NOON, 4, NOON - 60)),
            (FeedName.AGENTS, "ag_1", "", agent),
        ],
        seen=[(feed, "", (NOON, NOON + 9)) for feed in FeedName],
        names=[("agent", "ag_1", clean_line("Ada"), "cmp_1")],
        counts=[count],
        lives=[task],
        alerts=[alert],
    )
    file.store([observed])

    def look(reader: Reader) -> None:
        assert reader.first_seen() == NOON
        whole = reader.budget(BudgetScope.ALL, "", NOON + 1)
        assert whole.samples == (spent(NOON, 3, None),), "what held then is told"
        assert whole.seen == ((NOON + 1, NOON + 9),)
        assert reader.queue(None, 0).samples == (QueueSample(NOON, 4, NOON - 60),)
        assert reader.queue("cmp_1", 0).samples == ()
        [told] = reader.lives(NOON, agent="ag_1")
        assert told.title.startswith("Refund xxx")
        assert len(told.title) == LONGEST_TITLE
        assert reader.lives(NOON + 1) == []
        assert reader.alerts(0) == [alert]
        [counted] = reader.activity(NOON)[0]
        assert (counted.at, counted.company, counted.count) == (NOON, "cmp_1", 3)

    file.read(look)
    assert stat.S_IMODE((tmp_path / "history.sqlite3").stat().st_mode) == 0o600
    other = opened(tmp_path, "other")
    assert other.read(lambda reader: reader.first_seen()) == NOON, "it belongs to the platform"
    assert opened(tmp_path, origin="https://b.example").read(budget) == []


def test_a_figure_that_stays_is_kept_once(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([of_company(spent(NOON, 1), spent(NOON + 65, 1), spent(NOON + 130, 2))])
    file.store([of_company(spent(NOON + 200, 2))])
    assert file.read(budget) == [spent(NOON, 1), spent(NOON + 130, 2)]


def test_a_bucket_holds_the_last_figure_in_it(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([of_company(*(spent(NOON + 10 * at, at) for at in range(13)))])
    assert file.read(budget) == [
        spent(NOON + 50, 5),
        spent(NOON + 110, 11),
        spent(NOON + 120, 12),
    ]

    def in_hours(reader: Reader) -> Track[BudgetSample]:
        return reader.budget(BudgetScope.COMPANY, "cmp_1", NOON - 60, shortest=3_600)

    track = file.read(in_hours)
    assert track.samples == (spent(NOON + 120, 12),)
    assert track.bucket_seconds(NOON) == 3_600


def test_only_sums_of_the_unit_of_now_are_told(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([of_company(spent(NOON, 500), unit="USD?"), of_company(spent(NOON + 65, 5))])
    assert file.read(budget) == [spent(NOON + 65, 5)]
    file.store([of_company(spent(NOON + 130, None, None), unit="")])
    assert file.read(budget) == [spent(NOON + 65, 5), spent(NOON + 130, None, None)]


def test_spans_that_meet_are_one_and_a_gap_is_between_two(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    spans = [(0.0, 10.0), (500.0, 520.0), (10.0, 25.0), (400.0, 450.0), (430.0, 510.0)]
    for file, span in zip([one, other] * 3, spans, strict=False):
        file.store([Observed(seen=[(COMPANIES, "", span), (AGENTS, "cmp_1", span)])])
    one.store([])

    def seen(scope: BudgetScope, subject: str) -> object:
        return one.read(lambda reader: reader.budget(scope, subject, 0)).seen

    assert seen(BudgetScope.COMPANY, "cmp_1") == ((0, 25), (400, 520))
    assert seen(BudgetScope.AGENT, "ag_1") == (), "whose it is, is not known"
    one.store([Observed(names=[("agent", "ag_1", None, "cmp_1")])])
    assert seen(BudgetScope.AGENT, "ag_1") == ((0, 25), (400, 520))


def test_one_process_writes_and_the_others_hand_over(tmp_path: Path) -> None:
    writer, other = opened(tmp_path), opened(tmp_path)
    assert writer.store([of_company(spent(NOON, 1))])
    assert not other.store([of_company(spent(NOON + 65, 2))])
    assert other.read(budget) == [spent(NOON, 1)], "it reads what is written"
    writer.store([of_company(spent(NOON + 130, 3))])
    assert other.read(budget) == [spent(NOON, 1), spent(NOON + 65, 2), spent(NOON + 130, 3)]


def test_another_process_takes_over_when_the_writer_ends(tmp_path: Path) -> None:
    writer, other = opened(tmp_path), opened(tmp_path)
    writer.store([of_company(spent(NOON, 1))])
    other.store([of_company(spent(NOON + 65, 2))])
    writer.close()
    assert other.store([of_company(spent(NOON + 130, 3))])
    assert other.read(budget) == [spent(NOON, 1), spent(NOON + 65, 2), spent(NOON + 130, 3)]


def test_each_platform_has_a_writer_of_its_own(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path, origin="https://b.example")
    assert one.store([of_company(spent(NOON, 1))])
    assert other.store([of_company(spent(NOON, 2))])
    assert [file.read(budget) for file in (one, other)] == [[spent(NOON, 1)], [spent(NOON, 2)]]


def test_what_is_handed_over_is_bounded(tmp_path: Path) -> None:
    writer, other = opened(tmp_path), opened(tmp_path)
    writer.store([of_company(spent(NOON, 0))])
    with patch.object(database, "MOST_IN_INBOX", 2):
        for minute in range(1, 5):
            other.store([of_company(spent(NOON + 60 * minute, minute))])
    writer.store([])
    assert [int(each.spent or 0) for each in writer.read(budget)] == [0, 3, 4]


def test_what_another_version_hands_over_stops_nothing(tmp_path: Path) -> None:
    writer = opened(tmp_path)
    writer.store([of_company(spent(NOON, 1))])
    with closing(sqlite3.connect(tmp_path / "history.sqlite3")) as connection:
        connection.execute("INSERT INTO inbox (platform, rows) VALUES (1, x'c1')")
        connection.commit()
    writer.store([of_company(spent(NOON + 65, 2))])
    assert writer.read(budget) == [spent(NOON, 1), spent(NOON + 65, 2)]


POLLS = st.lists(st.tuples(st.booleans(), st.integers(1, 40), st.integers(0, 2)), max_size=30)


@pytest.mark.slow
@given(polls=POLLS, batch=st.integers(1, 5))
@settings(max_examples=60)
def test_figures_of_two_processes_become_one_track(
    tmp_path_factory: pytest.TempPathFactory, polls: list[tuple[bool, int, int]], batch: int
) -> None:
    """Both see the same budget at times of their own; what one hands over comes late."""
    folder = tmp_path_factory.mktemp("history")
    files = opened(folder), opened(folder)
    waiting: tuple[list[Observed], list[Observed]] = ([], [])
    at = figure = 0
    figure_of_minute = dict[int, int]()
    for place, (which, pause, step) in enumerate(polls):
        at += pause
        figure += step
        figure_of_minute[at // 60] = figure
        waiting[which].append(of_company(spent(at, figure)))
        if place % batch == 0:
            files[which].store(waiting[which])
            waiting[which].clear()
    for file, rest in zip(files, waiting, strict=True):
        file.store(rest)
    files[0].store([])
    held = {int(each.at) // 60: int(each.spent or 0) for each in files[1].read(budget)}
    for file in files:
        file.close()
    checked(folder)
    expected = None
    for minute, last in figure_of_minute.items():
        expected = held.get(minute, expected)
        assert expected == last, "what held at the end of each minute"


def test_the_life_of_a_task_is_put_together(tmp_path: Path) -> None:
    file = opened(tmp_path)
    title = clean_line("Refund 214 customers")
    seen = TaskLife(
        id="t1",
        title=title,
        first_seen=NOON,
        waiting_since=NOON - 60,
        state=TaskState.PENDING,
        estimate=Decimal(5),
    )
    told = TaskLife(
        id="t1",
        title=clean_line(""),
        first_seen=NOON + 20,
        decided=NOON + 20,
        decided_by=clean_line("Wanda"),
        state=TaskState.APPROVED,
    )
    late = TaskLife(id="t1", title=title, first_seen=NOON + 10, state=TaskState.PENDING)
    ended = TaskLife(
        id="t1", title=title, first_seen=NOON + 90, state=TaskState.DONE, cost=Decimal("4.5")
    )
    for life in (seen, told, late, ended, ended):
        file.store([Observed(lives=[life])])
    [life] = file.read(lambda reader: reader.lives(NOON + 90))
    assert (life.title, life.first_seen, life.waiting_since) == (title, NOON, NOON - 60)
    assert (life.decided, life.decided_by, life.ended) == (NOON + 20, "Wanda", NOON + 90)
    assert (life.state, life.estimate, life.cost) == (TaskState.DONE, Decimal(5), Decimal("4.5"))


async def test_what_cannot_be_stored_takes_nothing_else_with_it(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite3", "prod", ORIGIN)
    bad = Observed(names=[("agent", "ag_\ud800", None, None)])
    history.hand(bad)
    history.hand(of_company(spent(NOON, 1)))
    history.close(60)
    assert opened(tmp_path).read(budget) == [spent(NOON, 1)]


def test_figures_of_any_size_are_kept_exactly(tmp_path: Path) -> None:
    file = opened(tmp_path)
    huge = Decimal("1." + "23456789" * 7)
    money = BudgetSample(NOON, huge, Decimal("1E+60"))
    agent = AgentSample(NOON, None, Decimal("-1E-60"), 10**30)
    file.store([Observed(samples=[(COMPANIES, "cmp_1", "USD", money)])])
    file.store([Observed(samples=[(FeedName.AGENTS, "a\0b", "", agent)])])
    assert file.read(budget) == [money]
    with closing(sqlite3.connect(tmp_path / "history.sqlite3")) as connection:
        query = "SELECT a, b, c FROM sample JOIN series ON id = series WHERE subject = ?"
        query += " AND resolution = 60"
        assert connection.execute(query, ("a\0b",)).fetchall() == [(None, "-1E-60", None)]


def test_counts_of_a_minute_are_never_added_up(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    for file, number in ((one, 3), (other, 2), (one, 3), (other, 5)):
        count = Counted(NOON, None, "cmp_1", "tool used", Severity.INFO, number)
        file.store([Observed(counts=[count])])
    other.store([Observed(counts=[structs.replace(count, at=NOON + 120, count=1)])])
    one.store([])
    counts, _ = one.read(lambda reader: reader.activity(0))
    assert [each.count for each in counts] == [5, 1]
    assert one.read(lambda reader: reader.entries(0, 3_600))[0] == [(NOON, 6, 0)]


def test_alerts_come_and_go_and_come_back(tmp_path: Path) -> None:
    file = opened(tmp_path)
    alert = AlertLife(
        id="a", scope=BudgetScope.ALL, subject=None, severity=Severity.WARNING, first_seen=NOON
    )
    gone = list[float | None]()
    for observed in (
        Observed(alerts=[alert], open_alerts=(NOON, frozenset("a"))),
        Observed(open_alerts=(NOON + 9, frozenset())),
        Observed(open_alerts=(NOON + 20, frozenset())),
        Observed(alerts=[alert], open_alerts=(NOON + 30, frozenset("a"))),
    ):
        file.store([observed])
        gone += [each.gone for each in file.read(lambda reader: reader.alerts(0))]
    assert gone == [None, NOON + 9, NOON + 9, None]


def test_an_older_file_is_brought_forward_and_a_newer_one_left_alone(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([of_company(spent(NOON, 1))])
    file.close()
    newer = (*migrations.MIGRATIONS, "ALTER TABLE platform ADD COLUMN note TEXT; SELECT 1")
    with patch.object(database, "MIGRATIONS", newer):
        file = opened(tmp_path)
        file.store([of_company(spent(NOON + 65, 2))])
        assert file.read(budget) == [spent(NOON, 1), spent(NOON + 65, 2)]
        file.close()
    before = (tmp_path / "history.sqlite3").read_bytes()
    file = opened(tmp_path)
    with pytest.raises(HistoryError, match="newer agentco-tui"):
        file.store([of_company(spent(NOON + 9, 3))])
    assert (tmp_path / "history.sqlite3").read_bytes() == before


@pytest.mark.parametrize("how", ["no database", "its middle", "no tables"])
def test_a_damaged_file_is_set_aside_and_told_once(tmp_path: Path, how: str) -> None:
    path = tmp_path / "history.sqlite3"
    file = opened(tmp_path)
    file.store([of_company(*(spent(NOON + at, at) for at in range(5_000)))])
    file.close()
    if how == "no tables":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE sample")
    else:
        held = path.read_bytes()
        begin = 0 if how == "no database" else 8_192
        path.write_bytes(held[:begin] + b"rubbish!" * 4_096 + held[begin + 32_768 :])

    async def told() -> list[str]:
        history, said = History(path, "prod", ORIGIN), list[str]()
        history.on_trouble = said.append
        for at in (NOON + 9_000, NOON + 9_001):
            history.hand(of_company(spent(at, int(at))))
            history.flush()
            with suppress(HistoryError):
                await history.ask(budget)
        history.close(60)
        await asyncio.sleep(0)
        return said

    asyncio.run(told())
    [aside] = (each for each in tmp_path.iterdir() if each.name.count("damaged-") == 1)
    assert aside.stat().st_size > 32_768
    opened(tmp_path).store([of_company(spent(NOON + 10_000, 7))])
    assert spent(NOON + 10_000, 7) in opened(tmp_path).read(budget)
    checked(tmp_path)


def test_a_file_that_was_taken_away_is_begun_anew(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([of_company(spent(NOON, 1))])
    for each in tmp_path.iterdir():
        each.unlink()
    file.store([of_company(spent(NOON + 5, 1))])
    assert opened(tmp_path).read(budget) == [spent(NOON + 5, 1)]


async def test_what_cannot_be_written_is_told_once_and_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.write_text("a file is in the way")
    history, said = History(folder / "history.sqlite3", "prod", ORIGIN), list[str]()
    heard = asyncio.Event()

    def hears(words: str) -> None:
        said.append(words)
        heard.set()

    history.on_trouble = hears
    history.hand(of_company(spent(NOON, 1)))
    history.flush()
    await heard.wait()
    history.hand(of_company(spent(NOON + 65, 2)))
    with pytest.raises(HistoryError):
        await history.ask(budget, up_to_now=True)
    folder.unlink()
    history.hand(of_company(spent(NOON + 130, 3)))
    found = await history.ask(budget, up_to_now=True)
    assert [each.at for each in found] == [NOON, NOON + 65, NOON + 130]
    assert len(said) == 1
    assert "nothing can be remembered" in said[0]
    history.close()
    with pytest.raises(HistoryError, match="closed"):
        await history.ask(budget)


@pytest.mark.slow
def test_on_a_full_disk_the_file_stays_whole(tmp_path: Path) -> None:
    script = f"""
import resource, signal
from pathlib import Path
from typing import Any
from tests.history.observed_file import ObservedDatabase
from tests.history.test_database import *
file = opened(Path({str(tmp_path)!r}))
file.store([of_company(spent(NOON, 1))])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, -1))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    file.store([of_company(*(spent(NOON + at, at) for at in range(1, 50_000)))])
except HistoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
file.store([of_company(spent(NOON + 65, 2))])
"""
    run = [sys.executable, "-c", script]
    root = Path(__file__).parents[2]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, check=False)
    assert "the dashboard goes on" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path).read(budget) == [spent(NOON, 1), spent(NOON + 65, 2)]
    checked(tmp_path)


KILLER = """
import os, random, signal, sys, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from agentco_tui.live.feeds import FeedName
from agentco_tui.history.observations import BudgetSample, Observed
from agentco_tui.history import database, migrations
from tests.history.observed_file import ObservedDatabase

database.LOCK_TIMEOUT = 60.0  # they write without a pause

def write(say):
    file = ObservedDatabase(Path(sys.argv[1]) / "history.sqlite3", "prod", "o")
    while True:
        samples = []
        for _ in range(50):  # what both see is the time, in steps that both see alike
            at = time.monotonic() * 6e4  # a minute in each millisecond
            figure = Decimal(int(at))
            samples.append((FeedName.BUDGET, "", "", BudgetSample(at, figure, None)))
        os.write(say, b".")
        file.store([Observed(samples=samples, seen=[(FeedName.BUDGET, "", (at - 1, at))])])

def started():
    hear, say = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            write(say)
        except BaseException as error:
            print(repr(error), flush=True)
        os._exit(1)
    os.close(say)
    return pid, hear

random.seed(7)
writers = [started(), started()]
for kill in range(50):
    pid, hear = writers[kill % 2]
    for _ in range(random.randint(1, 4)):
        if not os.read(hear, 1):
            print("a writer has ended by itself")
            break
    for _ in range(random.randint(0, 200_000)):
        pass
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    writers[kill % 2] = started()
for pid, _ in writers:
    os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.slow
def test_killed_in_the_middle_of_writing_fifty_times(tmp_path: Path) -> None:
    """Two write what both see; one of them is killed, and begins anew."""
    run = [sys.executable, "-c", KILLER, str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    checked(tmp_path)
    with closing(sqlite3.connect(tmp_path / "history.sqlite3")) as connection:
        minutes = "SELECT count(*) FROM sample WHERE resolution = 60"
        (samples,) = connection.execute(minutes).fetchone()
    assert samples > 50


def expire(file: ObservedDatabase, most_bytes: int = 200_000_000) -> None:
    for _ in file.expire(most_bytes):
        pass


def test_what_grows_old_is_kept_in_longer_buckets(tmp_path: Path) -> None:
    file, end = opened(tmp_path), NOON + 400 * database.DAY
    days = {0.5: 30, 10: 30, 100: 600, 390: 600}  # days ago, and seconds between two samples
    samples = [
        spent(end - days_ago * database.DAY + at, int(days_ago * 1e6 + at), None)
        for days_ago, step in sorted(days.items(), reverse=True)
        for at in range(0, 6 * 3_600, step)
    ]
    counts = [
        Counted(end - days_ago * database.DAY + at, "ag_1", None, "tool used", Severity.INFO, 2)
        for days_ago in days
        for at in range(0, 6 * 3_600, 60)
    ]
    life = TaskLife(
        id="t1", title=clean_line("old"), first_seen=end - 390 * database.DAY, state=TaskState.DONE
    )
    seen = Observed(seen=[(COMPANIES, "", (end - 1, end))], counts=counts, lives=[life])
    file.store([of_company(*samples), seen])
    expire(file)
    ages = [(end - each.at) / database.DAY for each in file.read(budget)]
    kept = {days_ago: sum(days_ago - 0.25 < age <= days_ago for age in ages) for days_ago in days}
    assert kept == {0.5: 360, 10: 36, 100: 6, 390: 1}, "of what is too old the last still holds"
    counted, _ = file.read(lambda reader: reader.activity(0))
    ages = [(end - each.at) / database.DAY for each in counted]
    kept = {days_ago: sum(days_ago - 0.25 < age <= days_ago for age in ages) for days_ago in days}
    assert kept == {0.5: 360, 10: 36, 100: 6, 390: 0}
    assert sum(count.count for count in counted) == 3 * 360 * 2
    assert file.read(lambda reader: reader.lives(0)) == []
    expire(file)
    assert file.read(lambda reader: reader.activity(0))[0] == counted
    file.store([Observed(counts=counts)])
    again = file.read(lambda reader: reader.activity(end - 300 * database.DAY))[0]
    assert again == counted, "what is read again is not counted again"


@pytest.mark.slow
def test_a_file_that_is_too_large_shrinks(tmp_path: Path) -> None:
    file, path = opened(tmp_path), tmp_path / "history.sqlite3"
    many = [
        (AGENTS, f"ag_{agent}", "USD", spent(NOON + at * 60, at * agent))
        for agent in range(1, 31)
        for at in range(600)
    ]
    file.store([Observed(samples=[*many], seen=[(AGENTS, "", (NOON, NOON + 36_000))])])
    expire(file)
    before = path.stat().st_size
    expire(file, 400_000)
    assert path.stat().st_size <= 400_000 < before
    left = file.read(lambda reader: reader.budget(BudgetScope.AGENT, "ag_7", 0)).samples
    assert left[-1] == spent(NOON + 599 * 60, 599 * 7)
    expire(file, 10_000)
    assert path.stat().st_size < 250_000
    checked(tmp_path)


def test_all_profiles_of_a_platform_share_what_was_seen(tmp_path: Path) -> None:
    opened(tmp_path, "prod", "https://platform.example").store([of_company(spent(NOON, 3))])
    for profile, origin in (
        ("night shift", "https://platform.example"),
        ("prod", "https://Platform.example:443/"),
    ):
        file = opened(tmp_path, profile, origin)
        assert file.read(budget) == [spent(NOON, 3)], (profile, origin)
    moved = opened(tmp_path, "prod", "https://other.example")
    assert moved.read(budget) == [], "a profile that leads elsewhere brings nothing along"


def as_written_by_profiles(folder: Path) -> None:
    """A file of the first version, in which two profiles saw one platform, and one another."""
    script = f"{migrations.MIGRATIONS[0]}; PRAGMA user_version = 1;"
    script += """
        INSERT INTO platform VALUES (1, 'prod', 'https://platform.example'),
            (2, 'night', 'https://platform.example:443/'), (3, 'prod', 'https://other.example');
        INSERT INTO series VALUES (1, 1, 'company budgets', 'cmp_1'),
            (2, 2, 'company budgets', 'cmp_1'), (3, 3, 'company budgets', 'cmp_1');
        INSERT INTO sample VALUES (1, 1000, '3', '100', 'USD'), (2, 2000, '5', '100', 'USD'),
            (2, 1000, '3', '100', 'USD'), (3, 1000, '77', '100', 'USD');
        INSERT INTO seen VALUES (1, 'company budgets', '', 1000, 1500),
            (2, 'company budgets', '', 1000, 2000), (3, 'company budgets', '', 1000, 2000);
        INSERT INTO life VALUES (1, 't1', 'Refund', 'a1', 'cmp_1', 900, 900, NULL, NULL, NULL,
            'pending', NULL, NULL, NULL, 900, 900);
        INSERT INTO life VALUES (2, 't1', 'Refund', 'a1', 'cmp_1', 950, 900, 1800, 'Bob', NULL,
            'approved', NULL, NULL, NULL, 1800, 1800);
        INSERT INTO alert VALUES (1, 'al1', 'agent', 'a1', 'critical', 900, NULL);
        INSERT INTO alert VALUES (2, 'al1', 'agent', 'a1', 'critical', 950, 1900);
        INSERT INTO tally VALUES (1, 1, 'a1', '', 'failed', 'critical'),
            (2, 2, 'a1', '', 'failed', 'critical');
        INSERT INTO counted VALUES (1, 960, 0, 4), (2, 960, 0, 5), (2, 1020, 0, 1);
    """
    with closing(sqlite3.connect(folder / "history.sqlite3")) as connection:
        connection.executescript(script)


def test_what_earlier_versions_kept_by_profile_becomes_one(tmp_path: Path) -> None:
    as_written_by_profiles(tmp_path)
    file = opened(tmp_path)

    def look(reader: Reader) -> None:
        track = reader.budget(BudgetScope.COMPANY, "cmp_1", 0)
        assert track.samples == (spent(1000, 3), spent(2000, 5))
        assert [*track.seen] == [(1000, 2000)]
        [life] = reader.lives(0)
        assert (life.first_seen, life.decided) == (900, 1800)
        assert (life.decided_by, life.state) == ("Bob", TaskState.APPROVED)
        [alert] = reader.alerts(0)
        assert (alert.first_seen, alert.gone) == (900, 1900)
        counts, _ = reader.activity(0)
        assert [(each.at, each.count) for each in counts] == [(960, 5), (1020, 1)]

    file.read(look)
    other = opened(tmp_path, origin="https://other.example")
    assert other.read(budget) == [spent(1000, 77)]
    checked(tmp_path)


def test_what_earlier_versions_had_thinned_is_read_in_longer_buckets(tmp_path: Path) -> None:
    """Version 2 kept every change for two days, then one sample in ten minutes, then in an hour."""
    now = NOON + 40 * database.DAY
    hours_until, ten_minutes_until = NOON + 10 * database.DAY, now - 2 * database.DAY
    times = [
        *(NOON + 3_600 * hour + 60 for hour in range(3)),
        *(hours_until + 600 * step + 30 for step in range(3)),
        *(now - 60 + 5 * step for step in range(12)),
    ]
    script = f"{migrations.MIGRATIONS[0]}; {migrations.MIGRATIONS[1]}; PRAGMA user_version = 2;"
    with closing(sqlite3.connect(tmp_path / "history.sqlite3")) as connection:
        connection.create_function("platform_of", 1, str)
        connection.executescript(script)
        connection.executescript(
            f"""INSERT INTO platform VALUES (1, '{ORIGIN}:443', '{ORIGIN}');
            INSERT INTO series VALUES (1, 1, 'company budgets', 'cmp_1');
            INSERT INTO seen VALUES (1, 'company budgets', '', {NOON}, {now});
            INSERT INTO thinned VALUES (1, 600, {ten_minutes_until}), (1, 3600, {hours_until});
            INSERT INTO tally VALUES (1, 1, 'a1', '', 'failed', 'critical');
            INSERT INTO counted VALUES (1, {int(NOON)}, 1, 7), (1, {int(now) - 60}, 0, 2);"""
        )
        connection.executemany(
            "INSERT INTO sample VALUES (1, ?, ?, '100', 'USD')",
            [(at, str(place)) for place, at in enumerate(times)],
        )
        connection.commit()
    file = opened(tmp_path)
    assert file.read(budget) == [
        *(spent(at, place) for place, at in enumerate(times[:6])),
        spent(times[-1], len(times) - 1),
    ]

    def lengths(reader: Reader) -> list[int]:
        track = reader.budget(BudgetScope.COMPANY, "cmp_1", 0)
        return [track.bucket_seconds(at) for at in (NOON, hours_until, now)]

    assert file.read(lengths) == [3_600, 600, 60]
    counts, _ = file.read(lambda reader: reader.activity(0))
    assert [(each.at, each.count) for each in counts] == [(NOON, 7), (now - 60, 2)]
    checked(tmp_path)


def test_a_command_reads_a_file_of_an_earlier_version(tmp_path: Path) -> None:
    as_written_by_profiles(tmp_path)
    with database.reading(tmp_path / "history.sqlite3") as connection:
        platforms = connection.execute("SELECT count(*) FROM platform").fetchall()
        viewers = connection.execute("SELECT platform, profile FROM viewer").fetchall()
    assert platforms == [(2,)]
    assert viewers == [(1, "night"), (1, "prod"), (3, "prod")]


def queue(at: float, *ids: str, scope: str = "") -> Observed:
    """The whole queue, as the first poll shows it."""
    whole = QueueSeen(at, scope, frozenset(ids))
    return Observed(queue=whole, seen=[(FeedName.PENDING, scope, (at, at))])


def departure(task: str, at: float, after: float) -> Observed:
    """A later poll that misses a task."""
    seen = [(FeedName.PENDING, "", (after, at))]
    return Observed(departures=[Departure(task, at, after)], seen=seen)


def waiting_life(task: str, at: float = NOON, **told: Any) -> Observed:
    about = {
        "title": clean_line(f"task {task}"),
        "company": "c1",
        "state": TaskState.PENDING,
        **told,
    }
    return Observed(lives=[TaskLife(id=task, first_seen=at, waits=True, **about)])


def lives(reader: Reader) -> dict[str, TaskLife]:
    return {life.id: life for life in reader.lives(0)}


def test_a_task_that_left_the_queue_is_remembered_with_the_time(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([waiting_life("t1"), waiting_life("t2"), queue(NOON, "t1", "t2")])
    file.store([departure("t1", NOON + 5, NOON)])
    known = file.read(lives)
    assert (known["t1"].departed, known["t1"].departed_after) == (NOON + 5, NOON)
    assert known["t1"].waits is False
    assert known["t2"].departed is None

    def unknown(reader: Reader) -> list[str]:
        return reader.departed_by_unknown(NOON, None)

    assert file.read(unknown) == ["t1"]
    bob = TaskLife(
        id="t1",
        title=clean_line("task t1"),
        first_seen=NOON + 40,
        state=TaskState.APPROVED,
        decided_by=clean_line("Bob"),
    )
    file.store([Observed(lives=[bob], looked_up=["t1"])])
    known = file.read(lives)
    assert (known["t1"].decided, known["t1"].decided_by) == (NOON + 5, "Bob")
    assert file.read(unknown) == []


def test_what_left_while_nobody_looked_is_found_at_the_next_start(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([waiting_life("t1"), queue(NOON, "t1")])
    file.close()
    again = opened(tmp_path)
    again.store([queue(NOON + 3_600)])
    life = again.read(lives)["t1"]
    assert (life.departed, life.departed_after) == (NOON + 3_600, NOON)


def test_a_task_that_waits_again_has_not_left(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([waiting_life("t1"), queue(NOON, "t1"), departure("t1", NOON + 5, NOON)])
    file.store([Observed(looked_up=["t1"])])
    file.store([waiting_life("t1", NOON + 10)])
    life = file.read(lives)["t1"]
    assert (life.departed, life.waits) == (None, True)
    file.store([departure("t1", NOON + 15, NOON + 10)])
    assert file.read(lives)["t1"].departed == NOON + 15
    assert file.read(lambda reader: reader.departed_by_unknown(NOON, None)) == ["t1"]


def test_another_scope_says_nothing_of_who_left(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.store([waiting_life("t1"), waiting_life("t2", company="c2"), queue(NOON, "t1", "t2")])
    file.store([queue(NOON + 5, scope="c1")])
    known = file.read(lives)
    assert known["t1"].departed == NOON + 5
    assert known["t2"].departed is None


def test_an_alert_that_ended_keeps_its_text_and_severity(tmp_path: Path) -> None:
    file = opened(tmp_path)
    alert = AlertLife(
        id="al1",
        scope=BudgetScope.AGENT,
        subject="a1",
        severity=Severity.CRITICAL,
        first_seen=NOON,
        text=clean_line("Ada has spent 102 %"),
        is_dated=False,
    )
    file.store([Observed(alerts=[alert], open_alerts=(NOON, frozenset(["al1"])))])
    file.store([Observed(open_alerts=(NOON + 60, frozenset()))])
    [found] = file.read(lambda reader: reader.alerts(0))
    assert found == structs.replace(alert, gone=NOON + 60)


def test_a_decision_by_a_clock_that_is_behind_counts(tmp_path: Path) -> None:
    """The task was seen to wait at a time that the platform's clock reached a second later."""
    file = opened(tmp_path)
    file.store([waiting_life("t1", NOON + 0.6), queue(NOON + 0.6, "t1")])
    rejected = TaskLife(
        id="t1",
        title=clean_line("task t1"),
        first_seen=NOON,
        decided=NOON,
        decided_by=clean_line("Bob"),
        state=TaskState.REJECTED,
    )
    file.store([Observed(lives=[rejected]), departure("t1", NOON + 5, NOON + 0.6)])
    life = file.read(lives)["t1"]
    assert (life.state, life.departed) == (TaskState.REJECTED, NOON + 5)
