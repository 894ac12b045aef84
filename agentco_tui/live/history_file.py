"""The file of the history: its schema, what is written into it, how it is thinned, and damage.

Every method but `close` may raise HistoryError, with a sentence for a person. A sample is stored
where its figure differs from that before it, compared inside the transaction that writes it; so
several programs that see the same store it once.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import asdict

from agentco_tui.live.history_reader import MENDED, MINUTE, Reader
from agentco_tui.live.history_records import (
    AgentSample,
    BudgetSample,
    Counted,
    HistoryError,
    Observed,
    QueueSample,
    Span,
    TaskLife,
)
from agentco_tui.state_folder import FILE_MODE, FOLDER_MODE
from agentco_tui.text import safe

T = TypeVar("T")

PATIENCE: Final = 2.0  # seconds to wait for another program that writes
TITLE: Final = 200  # cells
_LARGEST: Final = 2**63 - 1  # that SQLite takes as a number
_GONE: Final = (None, None, None)

MIGRATIONS: Final = (
    """
    CREATE TABLE platform (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, origin TEXT NOT NULL,
        first REAL, UNIQUE (profile, origin));
    CREATE TABLE subject (platform INTEGER, kind TEXT, key TEXT, name TEXT, company TEXT,
        PRIMARY KEY (platform, kind, key)) WITHOUT ROWID;
    CREATE TABLE series (id INTEGER PRIMARY KEY, platform INTEGER, feed TEXT, subject TEXT,
        unit TEXT, UNIQUE (platform, feed, subject, unit));
    CREATE TABLE sample (series INTEGER, at REAL, a, b, c, PRIMARY KEY (series, at)) WITHOUT ROWID;
    CREATE TABLE seen (platform INTEGER, feed TEXT, scope TEXT, since REAL, until REAL,
        PRIMARY KEY (platform, feed, scope, since)) WITHOUT ROWID;
    CREATE TABLE tally (id INTEGER PRIMARY KEY, platform INTEGER, agent TEXT, company TEXT,
        kind TEXT, severity TEXT, UNIQUE (platform, agent, kind, severity, company));
    CREATE TABLE counted (tally INTEGER, at INTEGER, is_hour INTEGER, n INTEGER,
        PRIMARY KEY (tally, at, is_hour)) WITHOUT ROWID;
    CREATE TABLE life (platform INTEGER, id TEXT, title TEXT NOT NULL, agent TEXT, company TEXT,
        first_seen REAL, waiting_since REAL, decided REAL, decided_by TEXT, ended REAL, state TEXT,
        estimate TEXT, cost TEXT, currency TEXT, state_at REAL, changed REAL,
        PRIMARY KEY (platform, id)) WITHOUT ROWID;
    CREATE INDEX lives ON life (platform, changed);
    CREATE INDEX lives_of ON life (platform, agent, changed);
    CREATE TABLE alert (platform INTEGER, id TEXT, scope TEXT, subject TEXT, severity TEXT,
        first_seen REAL, gone REAL, PRIMARY KEY (platform, id)) WITHOUT ROWID;
    CREATE TABLE thinned (platform INTEGER, step INTEGER, until REAL,
        PRIMARY KEY (platform, step)) WITHOUT ROWID;
    """,
)
"""Each takes the file from the version that is its place to the next."""

_LATE: Final = """INSERT OR IGNORE INTO sample SELECT ?1, ?2, ?3, ?4, ?5 WHERE COALESCE(
    (SELECT (a, b, c) IS NOT (?3, ?4, ?5) FROM sample WHERE series = ?1 AND at < ?2
    ORDER BY at DESC LIMIT 1), (?3, ?4, ?5) IS NOT (NULL, NULL, NULL))"""
"""A sample among others: only if it differs from that before it."""
_SAME: Final = """DELETE FROM sample WHERE series = ?1 AND (a, b, c) IS (?3, ?4, ?5) AND
    at = (SELECT at FROM sample WHERE series = ?1 AND at > ?2 ORDER BY at LIMIT 1) AND
    EXISTS (SELECT 1 FROM sample WHERE series = ?1 AND at = ?2 AND (a, b, c) IS (?3, ?4, ?5))"""
"""That behind it, if it is the same."""
_LIFE: Final = """INSERT INTO life VALUES (:platform, :id, :title, :agent, :company, :first_seen,
    :waiting_since, :decided, :decided_by, :ended, :state, :estimate, :cost, :currency, :first_seen,
    max(:first_seen, COALESCE(:decided, 0), COALESCE(:ended, 0)))
    ON CONFLICT DO UPDATE SET
    title = CASE excluded.title WHEN '' THEN title ELSE excluded.title END,
    agent = COALESCE(excluded.agent, agent), company = COALESCE(excluded.company, company),
    first_seen = min(first_seen, excluded.first_seen),
    waiting_since = COALESCE(waiting_since, excluded.waiting_since),
    decided = COALESCE(decided, excluded.decided, CASE WHEN excluded.state IS NOT state
        AND excluded.state IN ('approved', 'rejected') THEN excluded.first_seen END),
    decided_by = COALESCE(excluded.decided_by, decided_by),
    ended = COALESCE(ended, excluded.ended, CASE WHEN excluded.state IS NOT state AND
        excluded.state IN ('done', 'failed', 'cancelled', 'rejected') THEN excluded.first_seen END),
    state = CASE WHEN excluded.state_at >= state_at THEN COALESCE(excluded.state, state)
        ELSE state END,
    estimate = COALESCE(excluded.estimate, estimate), cost = COALESCE(excluded.cost, cost),
    currency = COALESCE(excluded.currency, currency),
    state_at = max(state_at, excluded.state_at), changed = max(changed, excluded.changed)
    WHERE (title, state, estimate, cost, decided, ended) IS NOT (excluded.title, excluded.state,
        excluded.estimate, excluded.cost, excluded.decided, excluded.ended)"""
_ALERT: Final = """INSERT INTO alert VALUES (:platform, :id, :scope, :subject, :severity,
    :first_seen, :gone) ON CONFLICT DO UPDATE SET severity = excluded.severity,
    gone = excluded.gone, first_seen = min(first_seen, excluded.first_seen)
    WHERE (severity, gone) IS NOT (excluded.severity, excluded.gone)"""
_TALLY: Final = """INSERT OR IGNORE INTO tally (platform, agent, company, kind, severity)
    VALUES (?1, ?2, ?3, ?4, ?5)"""
_COUNT: Final = """INSERT INTO counted SELECT id, ?6, 0, ?7 FROM tally WHERE
    (platform, agent, company, kind, severity) = (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT DO UPDATE SET n = excluded.n WHERE excluded.n > n"""
_NAME: Final = """INSERT INTO subject VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    name = COALESCE(excluded.name, name), company = COALESCE(excluded.company, company)
    WHERE (name, company) IS NOT (excluded.name, excluded.company)"""

log = logging.getLogger(__name__)


class HistoryFile:
    """One connection, opened at the first use and again after a failure; for one thread."""

    def __init__(self, path: Path, profile: str, origin: str, redact: Callable[[str], str]) -> None:
        self.path, self._redact = path, redact
        self._platform_key = profile, origin
        self._name = f"the history {safe(str(path), 200)}"
        self.is_off = False  # nothing is written into it in this run
        self.files = 1  # another if one was damaged or taken away
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None  # the one that is open
        self._platform = 0
        self._series: dict[tuple[str, str], tuple[str, int]] = {}  # the unit of now, and its row

    def close(self) -> None:
        connection, self._connection, self._platform = self._connection, None, 0
        self._series = {}
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def read(self, read: Callable[[Reader], T]) -> T:
        with self._errors():
            return read(Reader(self._open(), self._platform))

    def write(self, batch: Sequence[Observed]) -> None:
        """Write these in one transaction, or nothing of them."""

        def work(connection: sqlite3.Connection) -> None:
            self._find_platform(connection, batch)
            for observed in batch:
                self._write(connection, observed)

        self.run(work)

    def run(self, work: Callable[[sqlite3.Connection], T], *, bare: bool = False) -> T:
        """Do something with the connection in a transaction, `bare` without one."""
        with self._errors():
            connection = self._open()
            if bare:
                return work(connection)
            with self._transaction():
                return work(connection)

    # Opening, and what goes wrong

    def _open(self) -> sqlite3.Connection:
        if self.is_off:
            raise HistoryError(
                f"{self._name} was written by a newer agentco-tui: it is left alone, and nothing"
                " is remembered in this run"
            )
        if self._connection is not None:
            with suppress(FileNotFoundError):
                if self._file is not None and os.path.samestat(self.path.stat(), self._file):
                    return self._connection
            self.close()  # somebody took it away, or set it aside
            self.files += 1
        with self._alone():
            with suppress(FileExistsError):
                flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
                os.close(os.open(self.path, flags, FILE_MODE))
            self._file = self.path.stat()
            self._connection = connection = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None
            )
            if not self._migrate(connection):
                self.close()
                self.is_off = True
                return self._open()
        rows = connection.execute(
            "SELECT id FROM platform WHERE (profile, origin) = (?, ?)", self._platform_key
        ).fetchall()
        self._platform = rows[0][0] if rows else 0
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> bool:
        """Bring the file to the newest version; False if it is of a version to come."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            return False
        if version == 0:  # has an effect before there is a table only
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -1000")
        connection.execute("PRAGMA journal_size_limit = 4000000")
        for place in range(version, len(MIGRATIONS)):
            connection.execute("BEGIN IMMEDIATE")
            for statement in filter(str.strip, MIGRATIONS[place].split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {place + 1}")
            connection.execute("COMMIT")
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other programs from opening it, or from setting it aside."""
        self.path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with suppress(OSError):  # a network's folder may know no locks
                fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            held = self._file
            self.close()
            log.info("the history: %r", error)
            why = safe(getattr(error, "strerror", None) or str(error), 120)
            words = f"nothing can be remembered: {self._name} can't be used ({why}); "
            words += "the dashboard goes on, and tries again"
            if _is_damage(error):
                aside = safe(self._set_aside(held), 200)
                words = f"{self._name} was damaged: it was set aside as {aside}, and begun anew"
            elif not isinstance(error, (sqlite3.OperationalError, OSError)):
                raise  # something that can't be stored
            raise HistoryError(words) from error
        except BaseException:
            self.close()
            raise

    def _set_aside(self, held: os.stat_result | None) -> str:
        """Give the damaged file another name, unless another program has; returns the name."""
        self.files += 1
        aside = f"{self.path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}"
        with suppress(OSError), self._alone():
            if held is None or os.path.samestat(self.path.stat(), held):
                for end in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        Path(f"{self.path}{end}").rename(self.path.with_name(aside + end))
        return aside

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        assert self._connection is not None
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                run("ROLLBACK")
            raise
        run("COMMIT")

    # Writing

    def _find_platform(self, connection: sqlite3.Connection, batch: Iterable[Observed]) -> None:
        ends = [span[0] for observed in batch for _, _, span in observed.seen]
        connection.execute(
            "INSERT INTO platform (profile, origin, first) VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
            " SET first = min(COALESCE(first, excluded.first), COALESCE(excluded.first, first))",
            (*self._platform_key, min(ends, default=None)),
        )
        (self._platform,) = connection.execute(
            "SELECT id FROM platform WHERE (profile, origin) = (?, ?)", self._platform_key
        ).fetchone()

    def _write(self, connection: sqlite3.Connection, observed: Observed) -> None:
        platform, text = self._platform, self._text
        names = [(platform, kind, key, text(name), of) for kind, key, name, of in observed.names]
        connection.executemany(_NAME, names)
        rows = defaultdict[int, list[tuple[Any, ...]]](list)
        for feed, subject, unit, sample in observed.samples:
            series = self._series_of(feed, subject, unit, sample.at)
            rows[series].append((series, *self._figures(sample)))
        for series, samples in rows.items():
            self._store(series, sorted(samples, key=itemgetter(1)))
        for feed, scope, at, ids in observed.present:
            query = f"""SELECT id, subject FROM series WHERE platform = :platform AND feed = :feed
                {_IN_COMPANY if scope else ""}"""  # noqa: S608 (our own words)
            told = {"platform": platform, "feed": feed, "scope": scope}
            known = connection.execute(query, told).fetchall()
            for series, key in known:
                if key not in ids:
                    self._store(series, [(series, at, *_GONE)])
        for feed, scope, span in observed.seen:
            self._see(connection, feed, scope, span)
        counts = [(platform, *self._counted(count)) for count in observed.counts]
        connection.executemany(_TALLY, [row[:5] for row in counts])
        connection.executemany(_COUNT, counts)
        connection.executemany(_LIFE, map(self._life, observed.lives))
        alerts = ({"platform": platform, **asdict(alert)} for alert in observed.alerts)
        connection.executemany(_ALERT, alerts)
        if observed.standing is not None:
            at, ids = observed.standing
            query = "SELECT id FROM alert WHERE platform = ? AND gone IS NULL"
            left = connection.execute(query, (platform,)).fetchall()
            gone = [(at, platform, key) for (key,) in left if key not in ids]
            connection.executemany("UPDATE alert SET gone = ? WHERE platform = ? AND id = ?", gone)

    def _series_of(self, feed: str, subject: str, unit: str, at: float) -> int:
        """The row of a series; where its unit has changed, the one before ends."""
        known = self._series.get((feed, subject))
        if known is not None and known[0] == unit:
            return known[1]
        assert self._connection is not None
        key = self._platform, feed, subject
        run = self._connection.execute
        run("INSERT OR IGNORE INTO series VALUES (NULL, ?, ?, ?, ?)", (*key, unit))
        query = "SELECT unit, id FROM series WHERE (platform, feed, subject) = (?, ?, ?)"
        found: dict[str, int] = dict(run(query, key).fetchall())
        for other, series in found.items():
            if other != unit:
                self._store(series, [(series, at, *_GONE)])
        self._series[feed, subject] = unit, found[unit]
        return found[unit]

    def _store(self, series: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Store those of these samples (series, time, figures; oldest first) that change it."""
        connection = self._connection
        assert connection is not None
        newest = "SELECT * FROM sample WHERE series = ? ORDER BY at DESC LIMIT 1"
        last = connection.execute(newest, (series,)).fetchone()
        late = 0 if last is None else sum(row[1] <= last[1] for row in rows)
        if late:  # another program was faster
            connection.executemany(_LATE, rows[:late])
            connection.executemany(_SAME, rows[:late])
            last = connection.execute(newest, (series,)).fetchone()
        # A series doesn't begin with nothing.
        at, before = (-inf, _GONE) if last is None else (last[1], last[2:])
        new: list[tuple[Any, ...]] = []
        for row in rows[late:]:
            if row[1] > at and row[2:] != before:
                at, before = row[1], row[2:]
                new.append(row)
        connection.executemany("INSERT INTO sample VALUES (?, ?, ?, ?, ?)", new)

    def _see(self, connection: sqlite3.Connection, feed: str, scope: str, span: Span) -> None:
        """Join a span with those that it meets, of whichever program."""
        key, (since, until) = (self._platform, feed, scope), span
        where = "(platform, feed, scope) = (?, ?, ?)"
        met = f"SELECT since, until FROM seen WHERE {where} AND since <= ? ORDER BY since DESC"  # noqa: S608 (our own words)
        for start, end in connection.execute(met, (*key, until + MENDED)):
            if end < since - MENDED:
                break
            since, until = min(start, since), max(end, until)
        old = f"DELETE FROM seen WHERE {where} AND since BETWEEN ? AND ?"  # noqa: S608 (our own words)
        connection.execute(old, (*key, since, until))
        connection.execute("INSERT INTO seen VALUES (?, ?, ?, ?, ?)", (*key, since, until))

    def _figures(self, sample: BudgetSample | QueueSample | AgentSample) -> tuple[Any, ...]:
        match sample:
            case BudgetSample(at, spent, limit):
                return at, _text_of(spent), _text_of(limit), None
            case QueueSample(at, waiting, oldest):
                return at, waiting, oldest, None
            case AgentSample(at, status, trust, completed):
                fits = completed is not None and completed <= _LARGEST
                return at, self._text(status), _text_of(trust), completed if fits else None

    def _counted(self, count: Counted) -> tuple[object, ...]:
        about = count.agent or "", count.company or "", self._text(count.kind), count.severity
        return *about, int(count.at) // MINUTE * MINUTE, count.count

    def _life(self, life: TaskLife) -> dict[str, Any]:
        told: dict[str, Any] = {"platform": self._platform, **asdict(life)}
        told |= {name: self._text(told[name]) for name in ("title", "decided_by", "currency")}
        return told | {name: _text_of(told[name]) for name in ("estimate", "cost")}

    def _text(self, text: str | None) -> str | None:
        return None if text is None else self._redact(safe(text, TITLE) if text else "")


_IN_COMPANY: Final = """AND subject IN (SELECT key FROM subject
    WHERE platform = :platform AND kind = 'agent' AND company = :scope)"""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as it is now, for reading only, also while dashboards write into it. Raises
    HistoryError, and FileNotFoundError if there is none.
    """
    path.stat()
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            (version,) = found.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise HistoryError(f"{safe(str(path), 200)} was written by a newer agentco-tui")
            found.execute("BEGIN")
            yield found
    except sqlite3.Error as error:
        raise HistoryError(f"{safe(str(path), 200)} can't be read ({safe(str(error))})") from error


def _text_of(number: Decimal | None) -> str | None:
    """As a text, the same for equal numbers."""
    if number is None:
        return None
    shortest = number.normalize()
    return str(shortest if shortest == number else number)


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    is_other = code == sqlite3.SQLITE_ERROR and "no such" in str(error)
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or is_other
