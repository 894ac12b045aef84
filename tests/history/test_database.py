"""The memory: what is kept of what was observed, by several writers, and through damage."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agentco_tui.history import database as history_file
from agentco_tui.history.database import HistoryDatabase
from agentco_tui.history.history import History
from agentco_tui.history.observations import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    HistoryError,
    Observed,
    QueueSample,
    QueueSeen,
    TaskLife,
)
from agentco_tui.history.reader import Reader
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope, Severity, TaskState
from agentco_tui.text import safe

ORIGIN = "https://platform.example"
NOON = 1_700_049_600.0  # a whole hour
COMPANIES, AGENTS = FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS


def opened(folder: Path, profile: str = "prod", origin: str = ORIGIN) -> HistoryDatabase:
    return HistoryDatabase(folder / "history.sqlite3", profile, origin, str)


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
    """The file is whole, and no sample stands in it twice."""
    with closing(sqlite3.connect(folder / "history.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute("SELECT * FROM sample ORDER BY series, at").fetchall()
    twice = [row for row, after in pairwise(rows) if _alike(row, after)]
    assert twice == []


def _alike(row: tuple[object, ...], after: tuple[object, ...]) -> bool:
    return row[0] == after[0] and row[2:] == after[2:]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = opened(tmp_path)
    title = safe("Refund " + "x" * 500)
    task = TaskLife(id="t1", title=title, agent="ag_1", first_seen=NOON, state=TaskState.PENDING)
    alert = AlertLife(
        id="al_1",
        scope=BudgetScope.AGENT,
        subject="ag_1",
        severity=Severity.CRITICAL,
        first_seen=NOON,
    )
    count = Counted(NOON + 5, "ag_1", None, "tool used", Severity.INFO, 3)
    agent = AgentSample(NOON, safe("active"), Decimal("71.5"), 12)
    observed = Observed(
        samples=[
            (FeedName.BUDGET, "", "EUR?", spent(NOON, 3, None)),
            (FeedName.PENDING, "", "", QueueSample(NOON, 4, NOON - 60)),
            (FeedName.AGENTS, "ag_1", "", agent),
        ],
        seen=[(feed, "", (NOON, NOON + 9)) for feed in FeedName],
        names=[("agent", "ag_1", safe("Ada"), "cmp_1")],
        counts=[count],
        lives=[task],
        alerts=[alert],
    )
    file.write([observed])

    def look(reader: Reader) -> None:
        assert reader.first_seen() == NOON
        whole = reader.budget(BudgetScope.ALL, "", NOON + 1)
        assert whole.samples == (spent(NOON, 3, None),), "what held then is told"
        assert whole.seen == ((NOON + 1, NOON + 9),)
        assert reader.queue(None, 0).samples == (QueueSample(NOON, 4, NOON - 60),)
        assert reader.queue("cmp_1", 0).samples == ()
        [told] = reader.lives(NOON, agent="ag_1")
        assert told.title.startswith("Refund xxx")
        assert len(told.title) == history_file.TITLE
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
    file.write([of_company(spent(NOON, 1), spent(NOON + 5, 1), spent(NOON + 9, 2))])
    file.write([of_company(spent(NOON + 20, 2))])
    assert file.read(budget) == [spent(NOON, 1), spent(NOON + 9, 2)]


def test_only_sums_of_the_unit_of_now_are_told(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([of_company(spent(NOON, 500), unit="USD?"), of_company(spent(NOON + 9, 5))])
    assert file.read(budget) == [spent(NOON + 9, 5)]
    file.write([of_company(spent(NOON + 20, None, None), unit="")])
    assert file.read(budget) == [spent(NOON + 9, 5), spent(NOON + 20, None, None)]


def test_spans_that_meet_are_one_and_a_gap_is_between_two(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    spans = [(0.0, 10.0), (500.0, 520.0), (10.0, 25.0), (400.0, 450.0), (430.0, 510.0)]
    for file, span in zip([one, other] * 3, spans, strict=False):
        file.write([Observed(seen=[(COMPANIES, "", span), (AGENTS, "cmp_1", span)])])

    def seen(scope: BudgetScope, subject: str) -> object:
        return one.read(lambda reader: reader.budget(scope, subject, 0)).seen

    assert seen(BudgetScope.COMPANY, "cmp_1") == ((0, 25), (400, 520))
    assert seen(BudgetScope.AGENT, "ag_1") == (), "whose it is, is not known"
    one.write([Observed(names=[("agent", "ag_1", None, "cmp_1")])])
    assert seen(BudgetScope.AGENT, "ag_1") == ((0, 25), (400, 520))


POLLS = st.lists(st.tuples(st.booleans(), st.integers(1, 40), st.integers(-1, 2)), max_size=30)


@given(polls=POLLS, batch=st.integers(1, 5))
@settings(max_examples=60)
def test_of_two_writers_each_change_stays_once(
    tmp_path_factory: pytest.TempPathFactory, polls: list[tuple[bool, int, int]], batch: int
) -> None:
    """Both look at the same budget, one that is spent and one that goes up and down, at times of
    their own, and write whenever they come to it.
    """
    folder = tmp_path_factory.mktemp("history")
    files = opened(folder), opened(folder)
    waiting: tuple[list[Observed], list[Observed]] = ([], [])
    at = grown = figure = 0
    seen, first = list[tuple[int, int]](), dict[int, int]()
    for place, (which, pause, step) in enumerate(polls):
        at, figure, grown = at + pause, figure + step, grown + max(0, step)
        seen.append((at, figure))
        first.setdefault(grown, at)
        up_and_down = of_company(spent(at, figure), feed=AGENTS)
        waiting[which].append(of_company(spent(at, grown)))
        waiting[which].append(structs.replace(up_and_down, seen=[]))
        if place % batch == 0:
            files[which].write(waiting[which])
            waiting[which].clear()
    for file, rest in zip(files, waiting, strict=True):
        file.write(rest)
    assert files[0].read(budget) == [spent(then, what) for what, then in first.items()]
    wild = files[1].read(lambda reader: reader.budget(BudgetScope.AGENT, "cmp_1", 0)).samples
    assert all(one.at < after.at and one.spent != after.spent for one, after in pairwise(wild))
    assert {(int(each.at), int(each.spent or 0)) for each in wild} <= {*seen}
    for file in files:
        file.close()
    checked(folder)


def test_the_life_of_a_task_is_put_together(tmp_path: Path) -> None:
    file = opened(tmp_path)
    title = safe("Refund 214 customers")
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
        title=safe(""),
        first_seen=NOON + 20,
        decided=NOON + 20,
        decided_by=safe("Wanda"),
        state=TaskState.APPROVED,
    )
    late = TaskLife(id="t1", title=title, first_seen=NOON + 10, state=TaskState.PENDING)
    ended = TaskLife(
        id="t1", title=title, first_seen=NOON + 90, state=TaskState.DONE, cost=Decimal("4.5")
    )
    for life in (seen, told, late, ended, ended):
        file.write([Observed(lives=[life])])
    [life] = file.read(lambda reader: reader.lives(NOON + 90))
    assert (life.title, life.first_seen, life.waiting_since) == (title, NOON, NOON - 60)
    assert (life.decided, life.decided_by, life.ended) == (NOON + 20, "Wanda", NOON + 90)
    assert (life.state, life.estimate, life.cost) == (TaskState.DONE, Decimal(5), Decimal("4.5"))


async def test_what_cannot_be_stored_takes_nothing_else_with_it(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite3", "prod", ORIGIN)
    bad = Observed(names=[("agent", "ag_\ud800", None, None)])
    history.hand(lambda: [bad, of_company(spent(NOON, 1))])
    history.close(60)
    assert opened(tmp_path).read(budget) == [spent(NOON, 1)]


def test_figures_of_any_size_are_kept_exactly(tmp_path: Path) -> None:
    file = opened(tmp_path)
    huge = Decimal("1." + "23456789" * 7)
    money = BudgetSample(NOON, huge, Decimal("1E+60"))
    agent = AgentSample(NOON, None, Decimal("-1E-60"), 10**30)
    file.write([Observed(samples=[(COMPANIES, "cmp_1", "USD", money)])])
    file.write([Observed(samples=[(FeedName.AGENTS, "a\0b", "", agent)])])
    assert file.read(budget) == [money]
    with closing(sqlite3.connect(tmp_path / "history.sqlite3")) as connection:
        query = "SELECT a, b, c FROM sample JOIN series ON id = series WHERE subject = ?"
        assert connection.execute(query, ("a\0b",)).fetchall() == [(None, "-1E-60", None)]


def test_counts_of_a_minute_are_never_added_up(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    for file, number in ((one, 3), (other, 2), (one, 3), (other, 5)):
        count = Counted(NOON, None, "cmp_1", "tool used", Severity.INFO, number)
        file.write([Observed(counts=[count])])
    other.write([Observed(counts=[structs.replace(count, at=NOON + 120, count=1)])])
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
        Observed(alerts=[alert], standing=(NOON, frozenset("a"))),
        Observed(standing=(NOON + 9, frozenset())),
        Observed(standing=(NOON + 20, frozenset())),
        Observed(alerts=[alert], standing=(NOON + 30, frozenset("a"))),
    ):
        file.write([observed])
        gone += [each.gone for each in file.read(lambda reader: reader.alerts(0))]
    assert gone == [None, NOON + 9, NOON + 9, None]


def test_an_older_file_is_brought_forward_and_a_newer_one_left_alone(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([of_company(spent(NOON, 1))])
    file.close()
    newer = (*history_file.MIGRATIONS, "ALTER TABLE platform ADD COLUMN note TEXT; SELECT 1")
    with patch.object(history_file, "MIGRATIONS", newer):
        file = opened(tmp_path)
        file.write([of_company(spent(NOON + 5, 2))])
        assert file.read(budget) == [spent(NOON, 1), spent(NOON + 5, 2)]
        file.close()
    before = (tmp_path / "history.sqlite3").read_bytes()
    file = opened(tmp_path)
    with pytest.raises(HistoryError, match="newer agentco-tui"):
        file.write([of_company(spent(NOON + 9, 3))])
    assert (tmp_path / "history.sqlite3").read_bytes() == before


@pytest.mark.parametrize("how", ["no database", "its middle", "no tables"])
def test_a_damaged_file_is_set_aside_and_told_once(tmp_path: Path, how: str) -> None:
    path = tmp_path / "history.sqlite3"
    file = opened(tmp_path)
    file.write([of_company(*(spent(NOON + at, at) for at in range(5_000)))])
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
            history.hand(partial(list, [of_company(spent(at, int(at)))]))
            with suppress(HistoryError):
                await history.ask(budget)
        history.close(60)
        await asyncio.sleep(0)
        return said

    asyncio.run(told())
    [aside] = (each for each in tmp_path.iterdir() if each.name.count("damaged-") == 1)
    assert aside.stat().st_size > 32_768
    opened(tmp_path).write([of_company(spent(NOON + 10_000, 7))])
    assert spent(NOON + 10_000, 7) in opened(tmp_path).read(budget)
    checked(tmp_path)


def test_a_file_that_was_taken_away_is_begun_anew(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([of_company(spent(NOON, 1))])
    for each in tmp_path.iterdir():
        each.unlink()
    file.write([of_company(spent(NOON + 5, 1))])
    assert opened(tmp_path).read(budget) == [spent(NOON + 5, 1)]


async def test_what_cannot_be_written_is_told_once_and_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.write_text("a file is in the way")
    with patch("agentco_tui.history.history.WRITE_EVERY", 0.0):
        history, said = History(folder / "history.sqlite3", "prod", ORIGIN), list[str]()
    heard = asyncio.Event()

    def hears(words: str) -> None:
        said.append(words)
        heard.set()

    history.on_trouble = hears
    with patch("agentco_tui.history.history.WRITE_EVERY", 0.0):
        history.hand(lambda: [of_company(spent(NOON, 1))])
        await heard.wait()
        history.hand(lambda: [of_company(spent(NOON + 5, 2))])
        with pytest.raises(HistoryError):
            await history.ask(budget)
        folder.unlink()
        history.hand(lambda: [of_company(spent(NOON + 9, 3))])
        found = list[BudgetSample]()
        while len(found) < 3:
            await asyncio.sleep(0.001)
            found = await history.ask(budget)
    assert [each.at for each in found] == [NOON, NOON + 5, NOON + 9]
    assert len(said) == 1
    assert "nothing can be remembered" in said[0]
    history.close()
    with pytest.raises(HistoryError, match="closed"):
        await history.ask(budget)


def test_on_a_full_disk_the_file_stays_whole(tmp_path: Path) -> None:
    script = f"""
import resource, signal
from pathlib import Path
from typing import Any
from tests.history.test_database import *
file = opened(Path({str(tmp_path)!r}))
file.write([of_company(spent(NOON, 1))])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, -1))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    file.write([of_company(*(spent(NOON + at, at) for at in range(1, 50_000)))])
except HistoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
file.write([of_company(spent(NOON + 9, 2))])
"""
    run = [sys.executable, "-c", script]
    root = Path(__file__).parents[2]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, check=False)
    assert "the dashboard goes on" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path).read(budget) == [spent(NOON, 1), spent(NOON + 9, 2)]
    checked(tmp_path)


KILLER = """
import os, random, signal, sys, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from agentco_tui.live.feeds import FeedName
from agentco_tui.history.observations import BudgetSample, Observed
from agentco_tui.history import database as history_file

history_file.PATIENCE = 60.0  # they write without a pause

def write(say):
    file = history_file.HistoryDatabase(Path(sys.argv[1]) / "history.sqlite3", "prod", "o", str)
    while True:
        samples = []
        for _ in range(50):  # what both see is the time, in steps that both see alike
            at = time.monotonic()
            figure = Decimal(int(at * 1e4))
            samples.append((FeedName.BUDGET, "", "", BudgetSample(at, figure, None)))
        os.write(say, b".")
        file.write([Observed(samples=samples, seen=[(FeedName.BUDGET, "", (at - 1, at))])])

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


def test_killed_in_the_middle_of_writing_fifty_times(tmp_path: Path) -> None:
    """Two write what both see; one of them is killed, and begins anew."""
    run = [sys.executable, "-c", KILLER, str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    checked(tmp_path)
    with closing(sqlite3.connect(tmp_path / "history.sqlite3")) as connection:
        twice = connection.execute("SELECT a FROM sample GROUP BY a HAVING count(*) > 1").fetchall()
        (samples,) = connection.execute("SELECT count(*) FROM sample").fetchone()
    assert twice == []
    assert samples > 50


def thinned(file: HistoryDatabase, most_bytes: int = 200_000_000) -> None:
    for _ in file.thin(most_bytes):
        pass


def test_what_grows_old_is_thinned(tmp_path: Path) -> None:
    file, end = opened(tmp_path), NOON + 400 * history_file.DAY
    days = {0.5: 30, 10: 30, 100: 600, 390: 600}  # days ago, and seconds between two samples
    samples = [
        spent(end - days_ago * history_file.DAY + at, int(days_ago * 1e6 + at), None)
        for days_ago, step in sorted(days.items(), reverse=True)
        for at in range(0, 6 * 3_600, step)
    ]
    counts = [
        Counted(end - days_ago * history_file.DAY + at, "ag_1", None, "tool used", Severity.INFO, 2)
        for days_ago in days
        for at in range(0, 6 * 3_600, 60)
    ]
    life = TaskLife(
        id="t1", title=safe("old"), first_seen=end - 390 * history_file.DAY, state=TaskState.DONE
    )
    seen = Observed(seen=[(COMPANIES, "", (end - 1, end))], counts=counts, lives=[life])
    file.write([of_company(*samples), seen])
    thinned(file)
    ages = [(end - each.at) / history_file.DAY for each in file.read(budget)]
    kept = {days_ago: sum(days_ago - 0.25 < age <= days_ago for age in ages) for days_ago in days}
    assert kept == {0.5: 720, 10: 36, 100: 6, 390: 1}, "of what is too old the last still holds"
    counted, _ = file.read(lambda reader: reader.activity(0))
    ages = [(end - each.at) / history_file.DAY for each in counted]
    kept = {days_ago: sum(days_ago - 0.25 < age <= days_ago for age in ages) for days_ago in days}
    assert kept == {0.5: 360, 10: 360, 100: 6, 390: 0}
    assert sum(count.count for count in counted) == 3 * 360 * 2
    assert file.read(lambda reader: reader.lives(0)) == []
    thinned(file)
    assert file.read(lambda reader: reader.activity(0))[0] == counted


def test_a_file_that_is_too_large_shrinks(tmp_path: Path) -> None:
    file, path = opened(tmp_path), tmp_path / "history.sqlite3"
    many = [
        (AGENTS, f"ag_{agent}", "USD", spent(NOON + at * 60, at * agent))
        for agent in range(1, 31)
        for at in range(600)
    ]
    file.write([Observed(samples=[*many], seen=[(AGENTS, "", (NOON, NOON + 36_000))])])
    thinned(file)
    before = path.stat().st_size
    thinned(file, 200_000)
    assert path.stat().st_size <= 200_000 < before
    left = file.read(lambda reader: reader.budget(BudgetScope.AGENT, "ag_7", 0)).samples
    assert left[-1] == spent(NOON + 599 * 60, 599 * 7)
    thinned(file, 10_000)
    assert path.stat().st_size < 150_000
    checked(tmp_path)


def test_all_profiles_of_a_platform_share_what_was_seen(tmp_path: Path) -> None:
    opened(tmp_path, "prod", "https://platform.example").write([of_company(spent(NOON, 3))])
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
    script = f"{history_file.MIGRATIONS[0]}; PRAGMA user_version = 1;"
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


def test_a_command_reads_a_file_of_an_earlier_version(tmp_path: Path) -> None:
    as_written_by_profiles(tmp_path)
    with history_file.reading(tmp_path / "history.sqlite3") as connection:
        platforms = connection.execute("SELECT count(*) FROM platform").fetchall()
        viewers = connection.execute("SELECT platform, profile FROM viewer").fetchall()
    assert platforms == [(2,)]
    assert viewers == [(1, "night"), (1, "prod"), (3, "prod")]


def queue(at: float, *ids: str, after: float | None = None, scope: str = "") -> Observed:
    """The whole queue, as one poll shows it."""
    known = QueueSeen(at, at if after is None else after, scope, frozenset(ids))
    return Observed(queue=known, seen=[(FeedName.PENDING, scope, (known.after, at))])


def waiting_life(task: str, at: float = NOON, **told: Any) -> Observed:
    about = {"title": safe(f"task {task}"), "company": "c1", "state": TaskState.PENDING, **told}
    return Observed(lives=[TaskLife(id=task, first_seen=at, waits=True, **about)])


def lives(reader: Reader) -> dict[str, TaskLife]:
    return {life.id: life for life in reader.lives(0)}


def test_a_task_that_left_the_queue_is_remembered_with_the_time(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([waiting_life("t1"), waiting_life("t2"), queue(NOON, "t1", "t2")])
    file.write([queue(NOON + 5, "t2", after=NOON)])
    known = file.read(lives)
    assert (known["t1"].departed, known["t1"].departed_after) == (NOON + 5, NOON)
    assert known["t1"].waits is False
    assert known["t2"].departed is None

    def unknown(reader: Reader) -> list[str]:
        return reader.departed_by_unknown(NOON, None)

    assert file.read(unknown) == ["t1"]
    bob = TaskLife(
        id="t1",
        title=safe("task t1"),
        first_seen=NOON + 40,
        state=TaskState.APPROVED,
        decided_by=safe("Bob"),
    )
    file.write([Observed(lives=[bob], looked_up=["t1"])])
    known = file.read(lives)
    assert (known["t1"].decided, known["t1"].decided_by) == (NOON + 5, "Bob")
    assert file.read(unknown) == []


def test_what_left_while_nobody_looked_is_found_at_the_next_start(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([waiting_life("t1"), queue(NOON, "t1")])
    file.close()
    again = opened(tmp_path)
    again.write([queue(NOON + 3_600)])
    life = again.read(lives)["t1"]
    assert (life.departed, life.departed_after) == (NOON + 3_600, NOON)


def test_a_task_that_waits_again_has_not_left(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([waiting_life("t1"), queue(NOON, "t1"), queue(NOON + 5, after=NOON)])
    file.write([Observed(looked_up=["t1"])])
    file.write([waiting_life("t1", NOON + 10), queue(NOON + 10, "t1", after=NOON + 5)])
    life = file.read(lives)["t1"]
    assert (life.departed, life.waits) == (None, True)
    file.write([queue(NOON + 15, after=NOON + 10)])
    assert file.read(lives)["t1"].departed == NOON + 15
    assert file.read(lambda reader: reader.departed_by_unknown(NOON, None)) == ["t1"]


def test_another_scope_says_nothing_of_who_left(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.write([waiting_life("t1"), waiting_life("t2", company="c2"), queue(NOON, "t1", "t2")])
    file.write([queue(NOON + 5, scope="c1")])
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
        text=safe("Ada has spent 102 %"),
        is_dated=False,
    )
    file.write([Observed(alerts=[alert], standing=(NOON, frozenset(["al1"])))])
    file.write([Observed(standing=(NOON + 60, frozenset()))])
    [found] = file.read(lambda reader: reader.alerts(0))
    assert found == structs.replace(alert, gone=NOON + 60)


def test_a_decision_by_a_clock_that_is_behind_counts(tmp_path: Path) -> None:
    """The task was seen to wait at a time that the platform's clock reached a second later."""
    file = opened(tmp_path)
    file.write([waiting_life("t1", NOON + 0.6), queue(NOON + 0.6, "t1")])
    rejected = TaskLife(
        id="t1",
        title=safe("task t1"),
        first_seen=NOON,
        decided=NOON,
        decided_by=safe("Bob"),
        state=TaskState.REJECTED,
    )
    file.write([Observed(lives=[rejected]), queue(NOON + 5, after=NOON + 0.6)])
    life = file.read(lives)["t1"]
    assert (life.state, life.departed) == (TaskState.REJECTED, NOON + 5)
