"""The database of the history: opening it, writing into it, and what happens when it is damaged.

What was polled from the platform, the remote service with AI agents that is watched, is stored: a
series is one figure over time, such as what a budget has spent; a tally counts entries of the
activity log of one kind; a life is when a task came, was decided and ended; `seen` has the times in
which a feed (one list that is polled) was read without a gap. Figures and counts are stored in
buckets of one minute, ten minutes and one hour, all three at once; each length is kept for a time
of its own. A bucket holds the last figure in it with its time, or the number of entries.

One process writes the buckets of a platform, the one with the `HistoryLock`; others put their rows
into the table `inbox`, from where the writer takes them. Every public function and method raises
HistoryError, with a sentence for the user.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import asdict

from agentco_tui.api.origin import platform_of
from agentco_tui.history.history_lock import HistoryLock
from agentco_tui.history.lives import departed_life, merged_life
from agentco_tui.history.migrations import MIGRATIONS
from agentco_tui.history.observations import HistoryError, QueueSeen
from agentco_tui.history.reader import HOUR, MENDED, MINUTE, TEN_MINUTES, Reader
from agentco_tui.history.rows import CountRow, LifeRow, Rows, SampleRow, SpanRow
from agentco_tui.live.feeds import FeedName
from agentco_tui.system.background import turn_of_thread
from agentco_tui.system.state_folder import FILE_MODE, FOLDER_MODE
from agentco_tui.text import clean_line

T = TypeVar("T")

DAY: Final = 86_400
KEPT_FOR: Final = {MINUTE: DAY, TEN_MINUTES: 30 * DAY, HOUR: 365 * DAY}
"""For how many seconds buckets of each length are kept."""
SHRINKING: Final = 0.75  # the factor by which these times are shortened if the file is too large
MOST_SHRINKINGS: Final = 40
LOCK_TIMEOUT: Final = 2.0  # seconds to wait for another process that writes
MOST_IN_INBOX: Final = 1_000  # batches of one platform; the oldest are dropped
_SERIES_AT_ONCE: Final = 20  # series or tallies whose old buckets are deleted in one transaction
_PAUSE_EVERY: Final = 100  # rows of Python work between two pauses for the event loop

_SAMPLE: Final = """INSERT INTO sample (series, resolution, bucket, at, a, b, c)
    SELECT ?1, ?2, CAST(?3 / ?2 AS INTEGER) * ?2, ?3, ?4, ?5, ?6 WHERE COALESCE(
        (SELECT at > ?3 OR (a, b, c) IS NOT (?4, ?5, ?6) FROM sample
            WHERE series = ?1 AND resolution = 3600 AND bucket <= ?3
            ORDER BY bucket DESC LIMIT 1),
        (?4, ?5, ?6) IS NOT (NULL, NULL, NULL))
    ON CONFLICT DO UPDATE SET at = excluded.at, a = excluded.a, b = excluded.b, c = excluded.c
        WHERE excluded.at >= at"""
"""Stores a figure in its bucket if it differs from the last one, or comes late; a series doesn't
begin with nothing. Hours are written last, because the last figure is looked up there."""
_RESOLUTIONS: Final = (MINUTE, TEN_MINUTES, HOUR)  # in the order in which they are written

_COLUMNS_OF_LIFE: Final = LifeRow.__struct_fields__
_ALERT: Final = """INSERT INTO alert (platform, id, scope, subject, severity, first_seen, gone,
    text, is_dated) VALUES (:platform, :id, :scope, :subject, :severity, :first_seen, :gone,
    :text, :is_dated) ON CONFLICT DO UPDATE SET severity = excluded.severity,
    gone = excluded.gone, first_seen = min(first_seen, excluded.first_seen),
    text = COALESCE(excluded.text, text), is_dated = excluded.is_dated
    WHERE (severity, gone, text) IS NOT (excluded.severity, excluded.gone, excluded.text)"""
_NAME: Final = """INSERT INTO subject VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    name = COALESCE(excluded.name, name), company = COALESCE(excluded.company, company)
    WHERE (name, company) IS NOT (excluded.name, excluded.company)"""
_ADD_TO_COUNT: Final = """INSERT INTO counted VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET n = n + excluded.n"""

_EXPIRED_HOURS: Final = """DELETE FROM sample WHERE series = ?1 AND resolution = 3600 AND bucket <
    (SELECT max(bucket) FROM sample WHERE series = ?1 AND resolution = 3600 AND bucket < ?2)"""
"""All except the last one, which still holds."""
_EXPIRED_REST: Final = (
    "DELETE FROM tally WHERE platform = :platform AND id NOT IN (SELECT tally FROM counted)",
    "DELETE FROM life WHERE platform = :platform AND changed < :end",
    "DELETE FROM alert WHERE platform = :platform AND gone < :end",
    "DELETE FROM seen WHERE platform = :platform AND until < :end",
)
log = logging.getLogger(__name__)


class HistoryDatabase:
    """One connection for one thread, opened at the first use and again after a failure."""

    def __init__(self, path: Path, profile: str, origin: str) -> None:
        self._path = path
        self._profile = profile
        self._origin = origin
        self._name = f"the history {clean_line(str(path), 200)}"
        self._lock = HistoryLock(path, platform_of(origin))
        self.files_opened = 1  # more if one was damaged or deleted
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None  # of the file that is open
        self._platform = 0  # its row
        self._series = dict[str, dict[str, int]]()  # rows of series by feed, then by subject

    def close(self) -> None:
        """Close the file, and let another process write."""
        self._disconnect()
        self._lock.release()

    def read(self, read: Callable[[Reader], T]) -> T:
        with self._connected() as connection:
            return read(Reader(connection, self._platform))

    def write(self, batch: Sequence[Rows]) -> bool:
        """Write rows in one transaction, or none of them. Returns whether this process writes the
        buckets; otherwise the rows were put into the inbox of the process that does.
        """
        with self._connected("BEGIN IMMEDIATE") as connection:
            if not self._lock.acquire():
                self._hand_over(connection, batch)
                return False
            all_rows = [*self._taken_from_inbox(connection), *batch]
            # In the order of time: a figure is stored if it differs from the one before it.
            samples = [sample for rows in all_rows for sample in rows.samples]
            self._write_samples(connection, sorted(samples, key=_time_of_sample))
            spans: list[SpanRow] = []
            for rows in all_rows:
                if rows.queue is not None:
                    # What is missing in the queue is looked for where it was seen last.
                    self._extend_seen(connection, spans)
                    spans.clear()
                    self._note_missing(connection, rows.queue)
                spans += rows.seen
                self._write_rows(connection, rows)
            self._extend_seen(connection, spans)
            return True

    def expire(self, most_bytes: int) -> Iterator[None]:
        """Delete old buckets, then all that is older than fits into a file of `most_bytes`.

        Works in slices, one at each step, so that neither reads nor other processes wait. The age
        of a platform's buckets is counted from when it was last seen, by its own clock.
        """
        share_of_time = 1.0
        for _ in range(MOST_SHRINKINGS):
            with self._connected() as connection:
                platforms = connection.execute(
                    "SELECT platform, max(until) FROM seen GROUP BY platform"
                ).fetchall()
            for platform, last_seen in platforms:
                yield from self._expire_platform(platform, last_seen, share_of_time)
            with self._connected() as connection:
                if _used_bytes(connection) <= most_bytes:
                    break
            share_of_time *= SHRINKING
        yield from self._give_back_free_pages()

    def _expire_platform(
        self, platform: int, last_seen: float, share_of_time: float
    ) -> Iterator[None]:
        """Delete what is older than that share of the time for which it is usually kept."""
        begins = {
            resolution: (last_seen - seconds * share_of_time) // HOUR * HOUR
            for resolution, seconds in KEPT_FOR.items()
        }
        with self._connected("BEGIN IMMEDIATE") as connection:
            # First, so that no reader takes buckets for complete that are being deleted.
            connection.executemany(
                """INSERT INTO kept VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET since = max(since, excluded.since)""",
                [(platform, resolution, begin) for resolution, begin in begins.items()],
            )
            series = _ids(connection, "SELECT id FROM series WHERE platform = ?", platform)
            tallies = _ids(connection, "SELECT id FROM tally WHERE platform = ?", platform)
        yield
        for some in _portions(series):
            with self._connected("BEGIN IMMEDIATE") as connection:
                for resolution in (MINUTE, TEN_MINUTES):
                    connection.executemany(
                        "DELETE FROM sample WHERE series = ? AND resolution = ? AND bucket < ?",
                        [(each, resolution, begins[resolution]) for each in some],
                    )
                connection.executemany(_EXPIRED_HOURS, [(each, begins[HOUR]) for each in some])
            yield
        for some in _portions(tallies):
            with self._connected("BEGIN IMMEDIATE") as connection:
                for resolution, begin in begins.items():
                    connection.executemany(
                        "DELETE FROM counted WHERE tally = ? AND resolution = ? AND bucket < ?",
                        [(each, resolution, begin) for each in some],
                    )
            yield
        with self._connected("BEGIN IMMEDIATE") as connection:
            for statement in _EXPIRED_REST:
                connection.execute(statement, {"platform": platform, "end": begins[HOUR]})
        yield

    def _give_back_free_pages(self) -> Iterator[None]:
        """Make the file as small as its content."""
        free_pages = 1
        while free_pages:
            with self._connected() as connection:
                (free_pages,) = connection.execute("PRAGMA freelist_count").fetchone()
                # Each of its steps frees a page.
                connection.executescript("PRAGMA incremental_vacuum(500)")
            yield
        with self._connected() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # Opening, and failures

    @contextmanager
    def _connected(self, begin: str = "") -> Iterator[sqlite3.Connection]:
        """The connection, in a transaction if `begin` is a statement that begins one."""
        try:
            connection = self._connect()
            connection.execute(begin)
            yield connection
            if begin:
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._disconnect()
            log.info("the history: %r", error)
            if _is_damage(error):
                set_aside = clean_line(self._set_aside(), 200)
                raise HistoryError(
                    f"{self._name} was damaged: it was set aside as {set_aside}, "
                    "and a new one was started"
                ) from error
            if isinstance(error, (sqlite3.OperationalError, OSError)):
                reason = clean_line(getattr(error, "strerror", None) or str(error), 120)
                raise HistoryError(
                    f"nothing can be remembered: {self._name} can't be used ({reason}); "
                    "the dashboard goes on, and tries again"
                ) from error
            raise  # a value that can't be stored
        except BaseException:
            self._disconnect()
            raise

    def _connect(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._is_in_place():
                return self._connection
            # Another program deleted the file, or set it aside.
            self._disconnect()
            self.files_opened += 1
        with _locked_folder(self._path.parent):
            with suppress(FileExistsError):
                flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
                os.close(os.open(self._path, flags, FILE_MODE))
            self._file = self._path.stat()
            self._connection = sqlite3.connect(
                self._path, timeout=LOCK_TIMEOUT, isolation_level=None
            )
            _migrate(self._connection, self._name)
        self._platform = self._find_platform(self._connection)
        return self._connection

    def _disconnect(self) -> None:
        connection = self._connection
        self._connection = None
        self._series.clear()
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _find_platform(self, connection: sqlite3.Connection) -> int:
        """Returns the row of the platform, added if it is new, and notes the profile that sees it:
        `history` can be asked about a profile without an address.
        """
        key = platform_of(self._origin)
        find = "SELECT id FROM platform WHERE key = ?"
        row = connection.execute(find, (key,)).fetchone()
        if row is None:
            connection.execute(
                "INSERT OR IGNORE INTO platform (key, origin) VALUES (?, ?)", (key, self._origin)
            )
            row = connection.execute(find, (key,)).fetchone()
        viewer = (row[0], self._profile)
        known = connection.execute(
            "SELECT 1 FROM viewer WHERE (platform, profile) = (?, ?)", viewer
        ).fetchone()
        if known is None:
            connection.execute("INSERT OR IGNORE INTO viewer VALUES (?, ?)", viewer)
        return int(row[0])

    def _is_in_place(self) -> bool:
        """Whether the file that is open still has its name."""
        try:
            return self._file is not None and os.path.samestat(self._path.stat(), self._file)
        except FileNotFoundError:
            return False

    def _set_aside(self) -> str:
        """Rename the damaged file, unless another process has; returns the new name."""
        self.files_opened += 1
        new_name = f"{self._path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}"
        with suppress(OSError), _locked_folder(self._path.parent):
            if self._is_in_place():
                for suffix in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        old = Path(f"{self._path}{suffix}")
                        old.rename(self._path.with_name(new_name + suffix))
        return new_name

    # Handing over to the process that writes

    def _hand_over(self, connection: sqlite3.Connection, batch: Iterable[Rows]) -> None:
        encoded = [(self._platform, msgspec.msgpack.encode(rows)) for rows in batch]
        connection.executemany("INSERT INTO inbox (platform, rows) VALUES (?, ?)", encoded)
        connection.execute(
            "DELETE FROM inbox WHERE platform = ?1 AND id <= "
            "(SELECT max(id) FROM inbox WHERE platform = ?1) - ?2",
            (self._platform, MOST_IN_INBOX),
        )

    def _taken_from_inbox(self, connection: sqlite3.Connection) -> list[Rows]:
        """What other processes handed over, in that order; it is removed from the inbox."""
        found = connection.execute(
            "SELECT id, rows FROM inbox WHERE platform = ? ORDER BY id", (self._platform,)
        ).fetchall()
        connection.executemany("DELETE FROM inbox WHERE id = ?", [(key,) for key, _ in found])
        taken: list[Rows] = []
        for _, encoded in found:
            try:
                taken.append(msgspec.msgpack.decode(encoded, type=Rows))
            except (msgspec.MsgspecError, TypeError):
                log.info("another version handed over what this one can't read")
        return taken

    # Writing

    def _write_rows(self, connection: sqlite3.Connection, rows: Rows) -> None:
        """Write all except the samples, the times in which feeds were seen, and the queue."""
        platform = self._platform
        connection.executemany(_NAME, [(platform, *row) for row in rows.names])
        self._write_counts(connection, rows.counts)
        for number, life in enumerate(rows.lives):
            if number % _PAUSE_EVERY == 0:
                turn_of_thread()  # wait while the user presses keys
            self._write_life(connection, life)
        connection.executemany(
            _ALERT, [{"platform": platform, **asdict(alert)} for alert in rows.alerts]
        )
        self._end_alerts(connection, rows)
        for task, at, after in rows.departures:
            self._note_departure(connection, task, at, after)
        connection.executemany(
            "UPDATE life SET looked_up = 1 WHERE platform = ? AND id = ?",
            [(platform, task) for task in rows.looked_up],
        )

    def _write_samples(self, connection: sqlite3.Connection, samples: Sequence[SampleRow]) -> None:
        # In portions: the first poll of ten thousand agents brings tens of thousands of buckets.
        for portion in _portions(samples):
            buckets = [
                (self._series_of(connection, feed, subject), resolution, *values)
                for feed, subject, *values in portion
                for resolution in _RESOLUTIONS
            ]
            connection.executemany(_SAMPLE, buckets)

    def _series_of(self, connection: sqlite3.Connection, feed: str, subject: str) -> int:
        """The row of a series, added if it is new."""
        known_of_feed = self._series.setdefault(feed, {})
        known = known_of_feed.get(subject)
        if known is not None:
            return known
        key = (self._platform, feed, subject)
        connection.execute(
            "INSERT OR IGNORE INTO series (platform, feed, subject) VALUES (?, ?, ?)", key
        )
        row = connection.execute(
            "SELECT id FROM series WHERE (platform, feed, subject) = (?, ?, ?)", key
        ).fetchone()
        known_of_feed[subject] = int(row[0])
        return int(row[0])

    def _extend_seen(self, connection: sqlite3.Connection, spans: Iterable[SpanRow]) -> None:
        """Note when feeds were seen; times that touch each other become one."""
        for feed, scope, since, until in _joined(spans):
            key = (self._platform, feed, scope)
            touched = connection.execute(
                """SELECT since, until FROM seen WHERE (platform, feed, scope) = (?, ?, ?)
                AND since <= ? AND until >= ?""",
                (*key, until + MENDED, since - MENDED),
            ).fetchall()
            connection.executemany(
                "DELETE FROM seen WHERE (platform, feed, scope, since) = (?, ?, ?, ?)",
                [(*key, begin) for begin, _ in touched],
            )
            first = min([since, *(begin for begin, _ in touched)])
            last = max([until, *(end for _, end in touched)])
            connection.execute("INSERT INTO seen VALUES (?, ?, ?, ?, ?)", (*key, first, last))

    def _write_counts(self, connection: sqlite3.Connection, counts: Iterable[CountRow]) -> None:
        """Store numbers of entries. Of a minute that is counted again the higher number stays; what
        it grew by is added to the longer buckets.

        Of a time whose minutes are no longer kept, whole buckets of the shortest length that is
        kept are compared in the same way: whoever tells of them tells of all their minutes.
        """
        reader = Reader(connection, self._platform)
        totals: dict[tuple[int, int, int], int] = {}
        for *key, minute, number in counts:
            tally = self._tally_of(connection, *key)
            resolution = reader.resolution_at(minute)
            bucket = (tally, resolution, minute // resolution * resolution)
            totals[bucket] = totals.get(bucket, 0) + number
        for (tally, resolution, begin), number in totals.items():
            row = connection.execute(
                "SELECT n FROM counted WHERE (tally, resolution, bucket) = (?, ?, ?)",
                (tally, resolution, begin),
            ).fetchone()
            growth = number - (0 if row is None else row[0])
            if growth <= 0:
                continue
            connection.executemany(
                _ADD_TO_COUNT,
                [
                    (tally, longer, begin // longer * longer, growth)
                    for longer in _RESOLUTIONS
                    if longer >= resolution
                ],
            )

    def _tally_of(self, connection: sqlite3.Connection, *kind: str) -> int:
        """The row of what is counted as one: agent, company, kind and severity."""
        key = (self._platform, *kind)
        connection.execute(
            """INSERT OR IGNORE INTO tally (platform, agent, company, kind, severity)
            VALUES (?, ?, ?, ?, ?)""",
            key,
        )
        row = connection.execute(
            """SELECT id FROM tally
            WHERE (platform, agent, company, kind, severity) = (?, ?, ?, ?, ?)""",
            key,
        ).fetchone()
        return int(row[0])

    def _write_life(self, connection: sqlite3.Connection, told: LifeRow) -> None:
        stored = self._stored_life(connection, told.id)
        merged = told if stored is None else merged_life(stored, told)
        if merged is not stored:
            self._store_life(connection, merged)

    def _stored_life(self, connection: sqlite3.Connection, task: str) -> LifeRow | None:
        row = connection.execute(
            f"SELECT {', '.join(_COLUMNS_OF_LIFE)} FROM life WHERE (platform, id) = (?, ?)",  # noqa: S608 (our own words)
            (self._platform, task),
        ).fetchone()
        return None if row is None else LifeRow(**dict(zip(_COLUMNS_OF_LIFE, row, strict=True)))

    def _store_life(self, connection: sqlite3.Connection, life: LifeRow) -> None:
        columns = ", ".join(_COLUMNS_OF_LIFE)
        values = ", ".join(f":{name}" for name in _COLUMNS_OF_LIFE)
        connection.execute(
            f"INSERT OR REPLACE INTO life (platform, {columns}) VALUES (:platform, {values})",  # noqa: S608 (our own words)
            {"platform": self._platform, **asdict(life)},
        )

    def _note_departure(
        self, connection: sqlite3.Connection, task: str, at: float, after: float | None
    ) -> None:
        stored = self._stored_life(connection, task)
        if stored is None:
            return
        departed = departed_life(stored, at, after)
        if departed is not stored:
            self._store_life(connection, departed)

    def _note_missing(self, connection: sqlite3.Connection, queue: QueueSeen) -> None:
        """Note the tasks that waited before a time without polls, and are not in the queue."""
        in_scope: dict[str, Any] = {
            "platform": self._platform,
            "feed": FeedName.PENDING,
            "scope": queue.scope,
            "at": queue.at,
        }
        waited = connection.execute(
            """SELECT id FROM life WHERE platform = :platform AND waits
            AND (:scope = '' OR company = :scope) AND first_seen <= :at""",
            in_scope,
        ).fetchall()
        missing = [task for (task,) in waited if task not in queue.ids]
        if not missing:
            return
        (last_seen,) = connection.execute(
            """SELECT max(until) FROM seen WHERE (platform, feed) = (:platform, :feed)
            AND scope IN ('', :scope) AND until < :at""",
            in_scope,
        ).fetchone()
        for task in missing:
            self._note_departure(connection, task, queue.at, last_seen)

    def _end_alerts(self, connection: sqlite3.Connection, rows: Rows) -> None:
        ended = [(at, self._platform, alert) for alert, at in rows.ended_alerts]
        if rows.open_alerts is not None:
            at, open_now = rows.open_alerts
            stored = connection.execute(
                "SELECT id FROM alert WHERE platform = ? AND gone IS NULL", (self._platform,)
            ).fetchall()
            ended += [(at, self._platform, alert) for (alert,) in stored if alert not in open_now]
        connection.executemany(
            "UPDATE alert SET gone = ? WHERE platform = ? AND id = ? AND gone IS NULL", ended
        )


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as it is now, for reading only, also while dashboards write into it. Raises
    HistoryError, and FileNotFoundError if there is none.
    """
    path.stat()
    name = f"the history {clean_line(str(path), 200)}"
    try:
        _bring_up_to_date(path, name)
        read_only = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(read_only, uri=True)) as connection:
            _version(connection, name)
            connection.execute("BEGIN")
            yield connection
    except sqlite3.Error as error:
        raise HistoryError(f"{name} can't be read ({clean_line(str(error))})") from error


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from opening or migrating the file, or from setting it aside."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a folder on a network may have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _bring_up_to_date(path: Path, name: str) -> None:
    """Migrate a file that an earlier version wrote. Raises HistoryError."""
    read_only = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(read_only, uri=True)) as connection:
        if _version(connection, name) in (0, len(MIGRATIONS)):
            return
    with (
        _locked_folder(path.absolute().parent),
        closing(sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None)) as connection,
    ):
        _migrate(connection, name)


def _version(connection: sqlite3.Connection, name: str) -> int:
    """The version of the file. Raises HistoryError if a newer program wrote it."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise HistoryError(f"{name} was written by a newer agentco-tui: it is left unchanged")
    return int(version)


def _migrate(connection: sqlite3.Connection, name: str) -> None:
    """Bring the file to the newest version. Raises HistoryError if a newer program wrote it."""
    version = _version(connection, name)
    connection.executescript(
        # The first has an effect only before there is a table.
        """PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
        PRAGMA cache_size = -1000; PRAGMA journal_size_limit = 4000000"""
    )
    connection.create_function("platform_of", 1, platform_of, deterministic=True)
    for position in range(version, len(MIGRATIONS)):
        connection.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[position]}; PRAGMA user_version = {position + 1}; COMMIT"
        )


def _joined(spans: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Join spans of a feed that follow each other without a gap, as those of polls mostly do."""
    latest: dict[tuple[str, str], tuple[float, float]] = {}
    for feed, scope, since, until in spans:
        begin, end = latest.get((feed, scope), (since, since))
        if end != since:
            yield feed, scope, begin, end
            begin = since
        latest[feed, scope] = (begin, until)
    for (feed, scope), (begin, end) in latest.items():
        yield feed, scope, begin, end


def _time_of_sample(row: SampleRow) -> float:
    _, _, at, *_ = row
    return at


def _used_bytes(connection: sqlite3.Connection) -> int:
    """The size of the file without its free pages."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free_pages,) = connection.execute("PRAGMA freelist_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free_pages) * page_size)


def _ids(connection: sqlite3.Connection, query: str, platform: int) -> list[int]:
    return [key for (key,) in connection.execute(query, (platform,))]


def _portions(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many as are worked on at once."""
    for start in range(0, len(items), _SERIES_AT_ONCE):
        yield items[start : start + _SERIES_AT_ONCE]


def _is_damage(error: Exception) -> bool:
    """Whether the file is no database, a damaged one, or has other tables than ours."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    has_other_tables = code == sqlite3.SQLITE_ERROR and "no such" in str(error)
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or has_other_tables
