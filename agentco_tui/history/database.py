"""The file of the history: its schema, what is written into it, how it is thinned, and damage.

Whatever uses the file may raise HistoryError, with a sentence for a person. A sample is stored
where its figure differs from that before it, compared inside the transaction that writes it; so
several programs that see the same store it once.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import asdict, astuple

from agentco_tui.api.origin import platform_of
from agentco_tui.history.observations import (
    HistoryError,
    Observed,
    QueueSeen,
    TaskLife,
)
from agentco_tui.history.reader import HOUR, MENDED, MINUTE, Reader
from agentco_tui.live.feeds import FeedName
from agentco_tui.system.state_folder import FILE_MODE, FOLDER_MODE
from agentco_tui.text import safe

T = TypeVar("T")

DAY: Final = 86_400
TIERS: Final = ((2 * DAY, 600), (30 * DAY, HOUR))
"""From which age on, in seconds, how many seconds have one sample; counts go by the hour from the
last of these ages on."""
KEPT: Final = 365 * DAY
HALVINGS: Final = 18  # of all ages, at most, until the file is small enough
PATIENCE: Final = 2.0  # seconds to wait for another program that writes
TITLE: Final = 200  # cells
_LARGEST: Final = 2**63 - 1  # that SQLite takes as a number

MIGRATIONS: Final = (
    """
    CREATE TABLE platform (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, origin TEXT NOT NULL,
        UNIQUE (profile, origin));
    CREATE TABLE subject (platform INTEGER, kind TEXT, key TEXT, name TEXT, company TEXT,
        PRIMARY KEY (platform, kind, key)) WITHOUT ROWID;
    CREATE TABLE series (id INTEGER PRIMARY KEY, platform INTEGER, feed TEXT, subject TEXT,
        UNIQUE (platform, feed, subject));
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
    # What was seen belongs to the platform, whichever profile saw it: the profiles of one platform
    # become one. `platform_of` is the function of that name in `api/origin.py`.
    """
    CREATE TEMP TABLE moved AS SELECT id AS old, (SELECT min(id) FROM platform AS same
        WHERE platform_of(same.origin) = platform_of(platform.origin)) AS new FROM platform;
    CREATE TABLE viewer (platform INTEGER, profile TEXT, PRIMARY KEY (platform, profile))
        WITHOUT ROWID;
    INSERT OR IGNORE INTO viewer SELECT new, profile FROM platform JOIN moved ON id = old;
    DELETE FROM moved WHERE old = new;

    INSERT OR IGNORE INTO subject SELECT new, kind, key, name, company
        FROM subject JOIN moved ON platform = old;
    INSERT INTO seen SELECT new, feed, scope, since, until FROM seen JOIN moved ON platform = old
        WHERE true ON CONFLICT DO UPDATE SET until = max(until, excluded.until);
    INSERT INTO life SELECT new, id, title, agent, company, first_seen, waiting_since, decided,
        decided_by, ended, state, estimate, cost, currency, state_at, changed
        FROM life JOIN moved ON platform = old WHERE true ON CONFLICT DO UPDATE SET
        first_seen = min(first_seen, excluded.first_seen),
        decided = COALESCE(decided, excluded.decided),
        decided_by = COALESCE(decided_by, excluded.decided_by),
        ended = COALESCE(ended, excluded.ended), cost = COALESCE(excluded.cost, cost),
        state = CASE WHEN excluded.state_at > state_at THEN COALESCE(excluded.state, state)
            ELSE state END,
        state_at = max(state_at, excluded.state_at), changed = max(changed, excluded.changed);
    INSERT INTO alert SELECT new, id, scope, subject, severity, first_seen, gone
        FROM alert JOIN moved ON platform = old WHERE true ON CONFLICT DO UPDATE SET
        first_seen = min(first_seen, excluded.first_seen), gone = COALESCE(gone, excluded.gone);
    INSERT OR IGNORE INTO series (platform, feed, subject) SELECT new, feed, subject
        FROM series JOIN moved ON platform = old;
    INSERT OR IGNORE INTO sample SELECT target.id, at, a, b, c FROM sample
        JOIN series AS source ON source.id = sample.series JOIN moved ON source.platform = old
        JOIN series AS target ON (target.platform, target.feed, target.subject)
            = (new, source.feed, source.subject);
    INSERT OR IGNORE INTO tally (platform, agent, company, kind, severity)
        SELECT new, agent, company, kind, severity FROM tally JOIN moved ON platform = old;
    INSERT INTO counted SELECT target.id, at, is_hour, n FROM counted
        JOIN tally AS source ON source.id = counted.tally JOIN moved ON source.platform = old
        JOIN tally AS target
        ON (target.platform, target.agent, target.kind, target.severity, target.company)
            = (new, source.agent, source.kind, source.severity, source.company)
        WHERE true ON CONFLICT DO UPDATE SET n = max(n, excluded.n);

    DELETE FROM sample WHERE series IN
        (SELECT id FROM series WHERE platform IN (SELECT old FROM moved));
    DELETE FROM counted WHERE tally IN
        (SELECT id FROM tally WHERE platform IN (SELECT old FROM moved));
    DELETE FROM series WHERE platform IN (SELECT old FROM moved);
    DELETE FROM tally WHERE platform IN (SELECT old FROM moved);
    DELETE FROM subject WHERE platform IN (SELECT old FROM moved);
    DELETE FROM seen WHERE platform IN (SELECT old FROM moved);
    DELETE FROM life WHERE platform IN (SELECT old FROM moved);
    DELETE FROM alert WHERE platform IN (SELECT old FROM moved);
    DELETE FROM thinned WHERE platform IN (SELECT old FROM moved UNION SELECT new FROM moved);
    DELETE FROM platform WHERE id IN (SELECT old FROM moved);
    DROP TABLE moved;

    CREATE TABLE place (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL);
    INSERT INTO place SELECT id, platform_of(origin), origin FROM platform;
    DROP TABLE platform;
    ALTER TABLE place RENAME TO platform;

    ALTER TABLE life ADD COLUMN waits INTEGER;
    ALTER TABLE life ADD COLUMN departed REAL;
    ALTER TABLE life ADD COLUMN departed_after REAL;
    ALTER TABLE life ADD COLUMN looked_up INTEGER;
    UPDATE life SET waits = 1 WHERE waiting_since NOT NULL AND state IN ('pending', 'queued')
        AND decided IS NULL AND ended IS NULL;
    CREATE INDEX waiting ON life (platform, company) WHERE waits;
    ALTER TABLE alert ADD COLUMN text TEXT;
    ALTER TABLE alert ADD COLUMN is_dated INTEGER NOT NULL DEFAULT 1;
    """,
)
"""Each takes the file from the version that is its place to the next."""

_SAMPLE: Final = """INSERT OR IGNORE INTO sample SELECT ?1, ?2, ?3, ?4, ?5 WHERE COALESCE(
    (SELECT (a, b, c) IS NOT (?3, ?4, ?5) FROM sample WHERE series = ?1 AND at < ?2
    ORDER BY at DESC LIMIT 1), (?3, ?4, ?5) IS NOT (NULL, NULL, NULL))"""
"""If it differs from that before it; a series doesn't begin with nothing."""
_SAME: Final = """DELETE FROM sample WHERE series = ?1 AND (a, b, c) IS (?3, ?4, ?5) AND
    at = (SELECT at FROM sample WHERE series = ?1 AND at > ?2 ORDER BY at LIMIT 1) AND
    EXISTS (SELECT 1 FROM sample WHERE series = ?1 AND at = ?2 AND (a, b, c) IS (?3, ?4, ?5))"""
"""That behind it, which another program was faster to write, if it is the same."""
_SEEN: Final = """INSERT INTO seen SELECT ?1, ?2, ?3, COALESCE((SELECT since FROM seen WHERE
    (platform, feed, scope) = (?1, ?2, ?3) AND since <= ?4 AND until >= ?4 - ?6
    ORDER BY since DESC LIMIT 1), ?4), ?5 WHERE true
    ON CONFLICT DO UPDATE SET until = max(until, excluded.until)"""
"""As a part of the span that it meets, of whichever program."""
_LIFE: Final = """INSERT INTO life (platform, id, title, agent, company, first_seen, waiting_since,
    decided, decided_by, ended, state, estimate, cost, currency, state_at, changed,
    waits, departed, departed_after)
    VALUES (:platform, :id, :title, :agent, :company, :first_seen, :waiting_since,
    :decided, :decided_by, :ended, :state, :estimate, :cost, :currency, :first_seen,
    max(:first_seen, COALESCE(:decided, 0), COALESCE(:ended, 0), COALESCE(:departed, 0)),
    :waits, :departed, :departed_after)
    ON CONFLICT DO UPDATE SET
    title = CASE excluded.title WHEN '' THEN title ELSE excluded.title END,
    agent = COALESCE(excluded.agent, agent), company = COALESCE(excluded.company, company),
    first_seen = min(first_seen, excluded.first_seen),
    waiting_since = COALESCE(waiting_since, excluded.waiting_since),
    decided = COALESCE(decided, excluded.decided, CASE WHEN excluded.state IS NOT state
        AND excluded.state IN ('approved', 'rejected')
        THEN COALESCE(departed, excluded.first_seen) END),
    decided_by = COALESCE(excluded.decided_by, decided_by),
    ended = COALESCE(ended, excluded.ended, CASE WHEN excluded.state IS NOT state THEN
        CASE WHEN excluded.state IN ('cancelled', 'rejected')
        THEN COALESCE(departed, excluded.first_seen)
        WHEN excluded.state IN ('done', 'failed') THEN excluded.first_seen END END),
    state = CASE WHEN excluded.state_at >= state_at - iif(state IN ('pending', 'queued'), 5, 0)
        THEN COALESCE(excluded.state, state) ELSE state END,
    estimate = COALESCE(excluded.estimate, estimate), cost = COALESCE(excluded.cost, cost),
    currency = COALESCE(excluded.currency, currency),
    state_at = max(state_at, excluded.state_at), changed = max(changed, excluded.changed),
    waits = CASE WHEN excluded.waits AND COALESCE(departed < excluded.state_at, true) THEN 1
        ELSE waits END,
    looked_up = CASE WHEN excluded.waits AND departed < excluded.state_at THEN NULL
        ELSE looked_up END,
    departed_after = CASE WHEN excluded.waits AND departed < excluded.state_at THEN NULL
        ELSE COALESCE(departed_after, excluded.departed_after) END,
    departed = CASE WHEN excluded.waits AND departed < excluded.state_at THEN NULL
        ELSE COALESCE(departed, excluded.departed) END
    WHERE (title, state, estimate, cost, decided, ended) IS NOT (excluded.title, excluded.state,
        excluded.estimate, excluded.cost, excluded.decided, excluded.ended)
        OR (excluded.waits AND waits IS NOT excluded.waits)
        OR (excluded.decided_by NOT NULL AND decided_by IS NULL)
        OR (excluded.departed NOT NULL AND departed IS NULL)"""
"""A task that waits again, after it had left the queue, has not left it. The platform's clock, by
which the log tells of a decision, may be some seconds behind that by which the task was seen to
wait."""
_IN_QUEUE: Final = """SELECT id FROM life WHERE platform = :platform AND waits
    AND (:scope = '' OR company = :scope) AND first_seen <= :at"""
_LAST_SEEN: Final = """SELECT max(until) FROM seen WHERE (platform, feed) = (:platform, :feed)
    AND scope IN ('', :scope) AND until < :at"""
_DEPARTED: Final = """UPDATE life SET waits = 0, departed = ?, departed_after = ?,
    changed = max(changed, ?) WHERE platform = ? AND id = ?"""
_LOOKED_UP: Final = "UPDATE life SET looked_up = 1 WHERE platform = ? AND id = ?"
_ALERT: Final = """INSERT INTO alert (platform, id, scope, subject, severity, first_seen, gone,
    text, is_dated) VALUES (:platform, :id, :scope, :subject, :severity, :first_seen, :gone,
    :text, :is_dated) ON CONFLICT DO UPDATE SET severity = excluded.severity,
    gone = excluded.gone, first_seen = min(first_seen, excluded.first_seen),
    text = COALESCE(excluded.text, text), is_dated = excluded.is_dated
    WHERE (severity, gone, text) IS NOT (excluded.severity, excluded.gone, excluded.text)"""
_TALLY: Final = """INSERT OR IGNORE INTO tally (platform, agent, company, kind, severity)
    VALUES (?1, ?2, ?3, ?4, ?5)"""
_COUNT: Final = """INSERT INTO counted SELECT id, ?6, 0, ?7 FROM tally WHERE
    (platform, agent, company, kind, severity) = (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT DO UPDATE SET n = excluded.n WHERE excluded.n > n"""
_NAME: Final = """INSERT INTO subject VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    name = COALESCE(excluded.name, name), company = COALESCE(excluded.company, company)
    WHERE (name, company) IS NOT (excluded.name, excluded.company)"""

_THIN: Final = """DELETE FROM sample WHERE series = ?1 AND at >= ?3 AND at < ?4 AND EXISTS
    (SELECT 1 FROM sample AS later WHERE later.series = ?1 AND later.at > sample.at
    AND later.at < (CAST(sample.at / ?2 AS INTEGER) + 1) * ?2)"""
"""Leave the last sample of each step."""
_TOO_OLD: Final = """DELETE FROM sample WHERE series = ?1 AND at <
    (SELECT max(at) FROM sample WHERE series = ?1 AND at < ?2)"""
"""All but the last one, for that still holds."""
_OF_PLATFORM: Final = "tally IN (SELECT id FROM tally WHERE platform = :platform)"
_THIN_REST: Final = (
    # Minutes become hours.
    f"""INSERT INTO counted SELECT tally, at / :hour * :hour AS began, 1, sum(n) FROM counted
    WHERE {_OF_PLATFORM} AND at < :until AND NOT is_hour GROUP BY tally, began
    ON CONFLICT DO UPDATE SET n = n + excluded.n""",  # noqa: S608 (our own words)
    f"""DELETE FROM counted WHERE {_OF_PLATFORM}
    AND (at < :end OR (at < :until AND NOT is_hour))""",  # noqa: S608 (our own words)
    "DELETE FROM tally WHERE platform = :platform AND id NOT IN (SELECT tally FROM counted)",
    "DELETE FROM life WHERE platform = :platform AND changed < :end",
    "DELETE FROM alert WHERE platform = :platform AND gone < :end",
    "DELETE FROM seen WHERE platform = :platform AND until < :end",
)
log = logging.getLogger(__name__)


class HistoryDatabase:
    """One connection, opened at the first use and again after a failure; for one thread."""

    def __init__(self, path: Path, profile: str, origin: str, redact: Callable[[str], str]) -> None:
        self._path, self._redact = path, redact
        self._platform_key = profile, origin
        self._name = f"the history {safe(str(path), 200)}"
        self.files = 1  # another if one was damaged or taken away
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None  # the one that is open
        self._platform = 0

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def read(self, read: Callable[[Reader], T]) -> T:
        with self._used() as connection:
            return read(Reader(connection, self._platform))

    def write(self, batch: Iterable[Observed]) -> None:
        """Write these in one transaction, or nothing of them."""
        with self._used("BEGIN IMMEDIATE") as connection:
            for observed in batch:
                self._write(connection, observed)

    def thin(self, most_bytes: int) -> Iterator[None]:
        """Thin what has grown old, and make the file as small as it may be; a slice at each step,
        so that neither other programs nor reads wait. A platform is as old as when it was last
        seen, by its own clock.
        """
        last_seen = "SELECT platform, max(until) FROM seen GROUP BY platform"
        for halved in range(HALVINGS):
            with self._used() as connection:
                platforms = connection.execute(last_seen).fetchall()
                if halved and _size(connection) <= most_bytes:
                    break
            for platform, now in platforms:
                yield from self._thin(platform, now, 0.5**halved)
        free = 1
        while free:
            with self._used() as connection:
                (free,) = connection.execute("PRAGMA freelist_count").fetchone()
                # Each step of it frees a page.
                connection.executescript("PRAGMA incremental_vacuum(500)")
            yield
        with self._used() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _thin(self, platform: int, now: float, part: float) -> Iterator[None]:
        """One platform; all ages are that part of what they should be."""
        done_to = "SELECT step, until FROM thinned WHERE platform = ?"
        with self._used() as connection:
            done = dict[int, float](connection.execute(done_to, (platform,)).fetchall())
            found = connection.execute("SELECT id FROM series WHERE platform = ?", (platform,))
            ids = found.fetchall()
        steps = [
            (step, done.get(step, 0.0), (now - age * part) // step * step) for age, step in TIERS
        ]
        end = now - KEPT * part
        for (series,) in ids:
            with self._used("BEGIN IMMEDIATE") as connection:
                connection.executemany(_THIN, [(series, *step) for step in steps])
                connection.execute(_TOO_OLD, (series, end))
            yield
        told = {"platform": platform, "hour": HOUR, "until": steps[-1][2], "end": end}
        done_now = [(platform, step, until) for step, _, until in steps]
        with self._used("BEGIN IMMEDIATE") as connection:
            for statement in _THIN_REST:
                connection.execute(statement, told)
            connection.executemany("INSERT OR REPLACE INTO thinned VALUES (?, ?, ?)", done_now)
        yield

    # Opening, and what goes wrong

    @contextmanager
    def _used(self, begin: str = "") -> Iterator[sqlite3.Connection]:
        """The connection, in a transaction if one is to begin."""
        try:
            connection = self._open()
            connection.execute(begin)
            yield connection
            if begin:
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self.close()
            log.info("the history: %r", error)
            if _is_damage(error):
                aside = safe(self._set_aside(), 200)
                words = f"{self._name} was damaged: it was set aside as {aside}, and begun anew"
            elif isinstance(error, (sqlite3.OperationalError, OSError)):
                why = safe(getattr(error, "strerror", None) or str(error), 120)
                words = f"nothing can be remembered: {self._name} can't be used ({why}); "
                words += "the dashboard goes on, and tries again"
            else:
                raise  # something that can't be stored
            raise HistoryError(words) from error
        except BaseException:
            self.close()
            raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._is_in_place():
                return self._connection
            self.close()  # somebody took it away, or set it aside
            self.files += 1
        with _locked_folder(self._path.parent):
            with suppress(FileExistsError):
                flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
                os.close(os.open(self._path, flags, FILE_MODE))
            self._file = self._path.stat()
            self._connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
            _migrate(self._connection, self._name)
        run = self._connection.execute
        profile, origin = self._platform_key
        key = (platform_of(origin),)
        query = "SELECT id FROM platform WHERE key = ?"
        if not (rows := run(query, key).fetchall()):
            insert = "INSERT OR IGNORE INTO platform (key, origin) VALUES (?, ?)"
            run(insert, (*key, origin))
            rows = run(query, key).fetchall()
        [(self._platform,)] = rows
        # By which profiles it is known, for who names one of them and no address.
        seen_by = "SELECT 1 FROM viewer WHERE (platform, profile) = (?, ?)"
        viewer = self._platform, profile
        if not run(seen_by, viewer).fetchall():
            run("INSERT OR IGNORE INTO viewer VALUES (?, ?)", viewer)
        return self._connection

    def _is_in_place(self) -> bool:
        """Whether the file that is open still has its name."""
        try:
            return self._file is not None and os.path.samestat(self._path.stat(), self._file)
        except FileNotFoundError:
            return False

    def _set_aside(self) -> str:
        """Give the damaged file another name, unless another program has; returns the name."""
        self.files += 1
        aside = f"{self._path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}"
        with suppress(OSError), _locked_folder(self._path.parent):
            if self._is_in_place():
                for end in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        Path(f"{self._path}{end}").rename(self._path.with_name(aside + end))
        return aside

    # Writing

    def _write(self, connection: sqlite3.Connection, observed: Observed) -> None:
        platform, many = self._platform, connection.executemany
        names = [(platform, *key, self._cell(name), of) for *key, name, of in observed.names]
        many(_NAME, names)
        keys = {(platform, feed, subject) for feed, subject, *_ in observed.samples}
        many("INSERT OR IGNORE INTO series (platform, feed, subject) VALUES (?, ?, ?)", keys)
        found = "SELECT id FROM series WHERE (platform, feed, subject) = (?, ?, ?)"
        ids = {key: connection.execute(found, key).fetchone()[0] for key in keys}
        rows = [
            # Of money the unit is a figure, too: where that changes, the sums are others.
            (
                ids[platform, feed, subject],
                *[*map(self._cell, astuple(sample)), unit or None][:4],
            )
            for feed, subject, unit, sample in observed.samples
        ]
        rows.sort(key=itemgetter(0, 1))
        many(_SAMPLE, rows)
        many(_SAME, rows)
        if observed.queue is not None:
            # Before it is noted that the queue was seen now: the time before that is asked for.
            self._note_departures(connection, observed.queue)
        many(_SEEN, [(platform, feed, scope, *span, MENDED) for feed, scope, span in observed.seen])
        counts = [
            (platform, each.agent or "", each.company or "", self._cell(each.kind), each.severity,
             int(each.at) // MINUTE * MINUTE, each.count)
            for each in observed.counts
        ]  # fmt: skip
        many(_TALLY, [row[:5] for row in counts])
        many(_COUNT, counts)
        many(_LIFE, map(self._life, observed.lives))
        many(_ALERT, ({"platform": platform, **asdict(alert)} for alert in observed.alerts))
        if observed.standing is not None:
            at, standing = observed.standing
            query = "SELECT id FROM alert WHERE platform = ? AND gone IS NULL"
            left = connection.execute(query, (platform,)).fetchall()
            gone = [(at, platform, key) for (key,) in left if key not in standing]
            many("UPDATE alert SET gone = ? WHERE platform = ? AND id = ?", gone)
        many(_LOOKED_UP, [(platform, task) for task in observed.looked_up])

    def _note_departures(self, connection: sqlite3.Connection, queue: QueueSeen) -> None:
        """Note the tasks that waited before, and are not in the queue any more."""
        about = {"platform": self._platform, "scope": queue.scope, "at": queue.at}
        waited = connection.execute(_IN_QUEUE, about).fetchall()
        departed = [task for (task,) in waited if task not in queue.ids]
        if not departed:
            return
        after: float | None = queue.after
        if queue.after >= queue.at:
            # The first answer after a gap: the last one before it may be of an earlier run.
            about["feed"] = FeedName.PENDING
            [(after,)] = connection.execute(_LAST_SEEN, about).fetchall()
        rows = [(queue.at, after, queue.at, self._platform, task) for task in departed]
        connection.executemany(_DEPARTED, rows)

    def _life(self, life: TaskLife) -> dict[str, Any]:
        told = {name: self._cell(value) for name, value in asdict(life).items()}
        ids = {"platform": self._platform, "id": life.id, "agent": life.agent}
        return told | ids | {"company": life.company}

    def _cell(self, value: object) -> object:
        """As SQLite takes it: equal sums as the same text, no text with more than it may have."""
        if isinstance(value, str):
            return self._redact(safe(value, TITLE)) if value else ""
        if isinstance(value, int):
            return value if abs(value) <= _LARGEST else None
        if isinstance(value, Decimal):
            shortest = value.normalize()
            return str(shortest if shortest == value else value)
        return value


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Keep other programs from opening or migrating the file, or from setting it aside."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a network's folder may know no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as it is now, for reading only, also while dashboards write into it. Raises
    HistoryError, and FileNotFoundError if there is none.
    """
    path.stat()
    name = f"the history {safe(str(path), 200)}"
    try:
        _bring_up_to_date(path, name)
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            _version(found, name)
            found.execute("BEGIN")
            yield found
    except sqlite3.Error as error:
        raise HistoryError(f"{name} can't be read ({safe(str(error))})") from error


def _bring_up_to_date(path: Path, name: str) -> None:
    """Migrate a file that an earlier version wrote. Raises HistoryError."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
        if _version(found, name) in (0, len(MIGRATIONS)):
            return
    with (
        _locked_folder(path.absolute().parent),
        closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection,
    ):
        _migrate(connection, name)


def _version(connection: sqlite3.Connection, name: str) -> int:
    """Of the file. Raises HistoryError if it is one to come."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise HistoryError(f"{name} was written by a newer agentco-tui: it is left alone")
    return int(version)


def _migrate(connection: sqlite3.Connection, name: str) -> None:
    """Bring the file to the newest version. Raises HistoryError if it is of a version to come."""
    version = _version(connection, name)
    connection.executescript(
        # The first has an effect before there is a table only.
        """PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
        PRAGMA cache_size = -1000; PRAGMA journal_size_limit = 4000000"""
    )
    connection.create_function("platform_of", 1, platform_of, deterministic=True)
    for place in range(version, len(MIGRATIONS)):
        script = f"BEGIN IMMEDIATE; {MIGRATIONS[place]}; PRAGMA user_version = {place + 1}; COMMIT"
        connection.executescript(script)


def _size(connection: sqlite3.Connection) -> int:
    """How large the file is, but for what is free in it."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int((pages - free) * size)


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    is_other = code == sqlite3.SQLITE_ERROR and "no such" in str(error)
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or is_other
