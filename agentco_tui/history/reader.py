"""Reads of the history: figures over time, what happened, and when the platform was not seen.

The history is a database of what was polled from the platform, the remote service with companies of
AI agents that is watched. `migrations.py` describes the tables: a tally, for instance, is one kind
of log entry of one agent, and `counted` says how many there were. Figures and counts are stored in
buckets of a minute, ten minutes and an hour; minutes are kept for the shortest time. A `Track` is a
figure over time, with the spans in which it was seen. A subject is the owner of a figure: the id of
a company or an agent, "" for the whole; its sums are in a unit, a currency or tokens. A feed is one
list that is polled; the scope is the company that it was asked about. The queue is the list of
tasks that wait for approval, and a life what is known of one task. Times are seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from msgspec import convert

from agentco_tui.history.observations import (
    AlertLife,
    BudgetSample,
    Counted,
    QueueSample,
    Span,
    TaskLife,
    Track,
)
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope, Severity

if TYPE_CHECKING:
    import sqlite3

S = TypeVar("S")

BUDGET_FEEDS: Final = {
    BudgetScope.ALL: FeedName.BUDGET,
    BudgetScope.COMPANY: FeedName.COMPANY_BUDGETS,
    BudgetScope.AGENT: FeedName.AGENT_BUDGETS,
}
"""The feed that has the budgets of each scope."""
MINUTE: Final = 60
TEN_MINUTES: Final = 600
HOUR: Final = 3_600
"""The lengths of buckets, in seconds."""
MENDED: Final = 60.0
"""Seconds between two spans that are no gap: a dashboard was restarted, or its scope changed."""

IS_FINEST: Final = """resolution = CASE
    WHEN bucket >= COALESCE((SELECT since FROM kept WHERE kept.platform = :platform
        AND kept.resolution = 60), -1e99) THEN 60
    WHEN bucket >= COALESCE((SELECT since FROM kept WHERE kept.platform = :platform
        AND kept.resolution = 600), -1e99) THEN 600
    ELSE 3600 END"""
"""A condition in SQL: a bucket is of the shortest length that is kept of its time."""


class Reader:
    """Reads of one platform's history, in the thread of the history only."""

    def __init__(self, connection: sqlite3.Connection, platform: int) -> None:
        """`platform` is its row in the database."""
        self._connection = connection
        self._platform = platform
        kept_since = {
            length: float(since)
            for length, since in self._rows(
                "SELECT resolution, since FROM kept WHERE platform = :platform"
            )
        }
        minutes_since = kept_since.get(MINUTE, -inf)
        ten_minutes_since = min(kept_since.get(TEN_MINUTES, -inf), minutes_since)
        self.resolutions = (
            (-inf, HOUR),
            (ten_minutes_since, TEN_MINUTES),
            (minutes_since, MINUTE),
        )
        """From when on buckets of each length are complete, oldest first."""

    def resolution_at(self, at: float) -> int:
        """The shortest length of buckets, in seconds, that is complete at a time."""
        return [length for begin, length in self.resolutions if at >= begin][-1]

    def first_seen(self) -> float | None:
        """When the platform was first seen; None if nothing is known of it."""
        [(first,)] = self._rows("SELECT min(since) FROM seen WHERE platform = :platform")
        return cast("float | None", first)

    def budget(
        self,
        scope: BudgetScope,
        subject: str,
        since: float,
        until: float = inf,
        *,
        shortest: int = MINUTE,
    ) -> Track[BudgetSample]:
        """A budget over time, beginning with what held at `since`; the subject of the whole is "".

        No bucket is shorter than `shortest` seconds. Where the unit of the sums has changed, only
        those in the present one.
        """
        feed = BUDGET_FEEDS[scope]
        ranges = self._ranges(shortest)
        series = self._series(feed, subject)
        unit = self._unit(series)
        samples = tuple(
            BudgetSample(at, _decimal(spent), _decimal(limit))
            for at, spent, limit, own_unit in self._samples(series, since, until, ranges)
            if own_unit == unit or (spent is None and limit is None)
        )
        company = self._company(subject) if scope is BudgetScope.AGENT else ""
        seen = self._seen(feed, company, since, until)
        return Track(samples, seen, _resolutions_from(since, ranges))

    def queue(self, company: str | None, since: float) -> Track[QueueSample]:
        """What waited of one company, or of all of them (None)."""
        subject = company or ""
        ranges = self._ranges(MINUTE)
        series = self._series(FeedName.PENDING, subject)
        samples = tuple(
            QueueSample(at, waiting, oldest)
            for at, waiting, oldest, _ in self._samples(series, since, inf, ranges)
        )
        seen = self._seen(FeedName.PENDING, subject, since)
        return Track(samples, seen, _resolutions_from(since, ranges))

    def activity(self, since: float) -> tuple[list[Counted], tuple[Span, ...]]:
        """Counts of the log, oldest first, and when the log was read without a gap."""
        counts: list[Counted] = []
        for begin, end, length in self._ranges(MINUTE):
            rows = self._rows(
                """SELECT bucket, NULLIF(agent, ''),
                COALESCE(NULLIF(tally.company, ''), subject.company), tally.kind, severity, sum(n)
                FROM tally CROSS JOIN counted ON counted.tally = tally.id
                LEFT JOIN subject ON subject.platform = tally.platform AND subject.kind = 'agent'
                    AND subject.key = tally.agent
                WHERE tally.platform = :platform AND resolution = :length
                AND bucket >= :since AND bucket < :end
                GROUP BY bucket, tally.id ORDER BY bucket""",
                length=length,
                since=max(begin, _bucket(since, length)),
                end=end,
            )
            counts += (
                Counted(float(at), agent, company, kind, Severity(severity), number)
                for at, agent, company, kind, severity, number in rows
            )
        return counts, self._seen(FeedName.ACTIVITY, "", since)

    def entries(
        self, since: float, every: float, agent: str | None = None
    ) -> tuple[list[tuple[float, int, int]], tuple[Span, ...]]:
        """How many entries the log had, and how many of them were failures, by the beginning of
        each so many seconds; and when the log was read without a gap.
        """
        entries: dict[float, tuple[int, int]] = {}
        for begin, end, length in self._ranges(MINUTE):
            rows = self._rows(
                f"""SELECT bucket - bucket % :every, sum(n), sum(n * (severity = 'critical'
                OR tally.kind LIKE '%fail%' OR tally.kind LIKE '%error%'))
                FROM tally CROSS JOIN counted ON counted.tally = tally.id
                WHERE tally.platform = :platform {"AND agent = :agent" if agent else ""}
                AND resolution = :length AND bucket >= :since AND bucket < :end
                GROUP BY 1 ORDER BY 1""",  # noqa: S608 (our own words)
                agent=agent,
                length=length,
                since=max(begin, _bucket(since, length)),
                end=end,
                every=int(every),
            )
            for at, number, failures in rows:
                earlier = entries.get(at, (0, 0))
                entries[at] = (earlier[0] + number, earlier[1] + failures)
        scope = self._company(agent) if agent else ""
        found = [(at, number, failures) for at, (number, failures) in sorted(entries.items())]
        return found, self._seen(FeedName.ACTIVITY, scope, since)

    def lives(self, since: float, *, agent: str | None = None) -> list[TaskLife]:
        """Tasks that were first seen, decided or ended since then, oldest first."""
        where = f"changed >= :since {'AND agent = :agent' if agent else ''}"
        return self._records("life", TaskLife, where, agent=agent, since=since)

    def alerts(self, since: float) -> list[AlertLife]:
        """Alerts that came or ended since then, oldest first."""
        where = "max(first_seen, COALESCE(gone, 0)) >= :since"
        return self._records("alert", AlertLife, where, since=since)

    def seen(self, feed: FeedName, since: float) -> tuple[Span, ...]:
        """When a feed was polled and answered for all companies."""
        return self._seen(feed, "", since)

    def departed_by_unknown(self, since: float, company: str | None) -> list[str]:
        """The ids of tasks that left the queue since then, of which it is not known who decided, or
        what, and whose own records (all that the platform says of each) were not read yet. A task
        last seen as `queued` may still wait: some platforms call it so.
        """
        rows = self._rows(
            """SELECT id FROM life WHERE platform = :platform AND changed >= :since
            AND departed >= :since AND looked_up IS NULL
            AND (COALESCE(decided_by, '') = '' OR state IN ('pending', 'queued'))
            AND (:company IS NULL OR company = :company)""",
            since=since,
            company=company,
        )
        return [task for (task,) in rows]

    def _rows(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, {**values, "platform": self._platform}).fetchall()

    def _records(self, table: str, kind: type[S], where: str, **values: object) -> list[S]:
        """Rows of a table as structs whose fields have the names of its columns."""
        names = cast("Any", kind).__struct_fields__
        rows = self._rows(
            f"""SELECT {", ".join(names)} FROM {table} WHERE platform = :platform AND {where}
            ORDER BY first_seen""",  # noqa: S608 (our own words)
            **values,
        )
        return [convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in rows]

    def _company(self, agent: str) -> str:
        """The id of an agent's company; "" if it is not known."""
        rows = self._rows(
            """SELECT company FROM subject
            WHERE (platform, kind, key) = (:platform, 'agent', :agent)""",
            agent=agent,
        )
        return (rows[0][0] or "") if rows else ""

    def _ranges(self, shortest: int) -> list[tuple[float, float, int]]:
        """Which length of buckets is read of which time: begin, end and length, oldest first."""
        ends = [begin for begin, _ in self.resolutions[1:]] + [inf]
        return [
            (begin, end, max(length, shortest))
            for (begin, length), end in zip(self.resolutions, ends, strict=True)
            if begin < end
        ]

    def _series(self, feed: FeedName, subject: str) -> int | None:
        """The row of a series; None if nothing was seen of it."""
        rows = self._rows(
            """SELECT id FROM series
            WHERE (platform, feed, subject) = (:platform, :feed, :subject)""",
            feed=feed,
            subject=subject,
        )
        return int(rows[0][0]) if rows else None

    def _unit(self, series: int | None) -> str | None:
        """The unit of the last sums of a budget."""
        last_sums: list[tuple[float, str | None]] = []
        for length in (MINUTE, TEN_MINUTES, HOUR):
            last_sums += self._rows(
                """SELECT at, c FROM sample WHERE series = :series AND resolution = :length
                AND COALESCE(a, b) NOT NULL ORDER BY bucket DESC LIMIT 1""",
                series=series,
                length=length,
            )
        if not last_sums:
            return None
        _, unit = max(last_sums, key=itemgetter(0))
        return unit

    def _samples(
        self,
        series: int | None,
        since: float,
        until: float,
        ranges: Iterable[tuple[float, float, int]],
    ) -> Iterator[tuple[Any, ...]]:
        """Time and figures of each bucket, beginning with what held at `since`."""
        held: tuple[Any, ...] | None = None
        rows: list[tuple[Any, ...]] = []
        for begin, end, length in ranges:
            if end <= since:
                held = self._last_before(series, since, (begin, end, length)) or held
                continue
            if begin <= since:
                held = self._last_before(series, since, (begin, end, length)) or held
            rows += self._rows(
                """SELECT at, a, b, c FROM sample
                WHERE series = :series AND resolution = :length
                AND bucket >= :begin AND bucket < :end AND at > :since AND at <= :until
                ORDER BY bucket""",
                series=series,
                length=length,
                begin=max(begin, _bucket(since, length)),
                end=min(end, until + 1),
                since=since,
                until=until,
            )
        if held is not None:
            yield held
        yield from rows

    def _last_before(
        self, series: int | None, at: float, within: tuple[float, float, int]
    ) -> tuple[Any, ...] | None:
        """The last sample at or before a time, of buckets of one length."""
        begin, end, length = within
        rows = self._rows(
            """SELECT at, a, b, c FROM sample WHERE series = :series AND resolution = :length
            AND bucket >= :begin AND bucket < :end AND bucket <= :at AND at <= :at
            ORDER BY bucket DESC LIMIT 1""",
            series=series,
            length=length,
            begin=begin,
            end=end,
            at=at,
        )
        return rows[0] if rows else None

    def _seen(
        self, feed: FeedName, scope: str, since: float, until: float = inf
    ) -> tuple[Span, ...]:
        """When all companies, or that one, were polled, cut to the time in question."""
        rows = self._rows(
            """SELECT since, until FROM seen WHERE platform = :platform AND feed = :feed
            AND scope IN ('', :scope) AND until >= :since AND since <= :until ORDER BY since""",
            feed=feed,
            scope=scope,
            since=since,
            until=until,
        )
        return merged((max(begin, since), min(end, until)) for begin, end in rows)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans that are ordered by their beginnings, with those that meet as one."""
    found: list[Span] = []
    for begin, end in spans:
        if found and begin <= found[-1][1] + MENDED:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return tuple(found)


def joined(tracks: Iterable[Track[S]]) -> Track[S]:
    """Tracks of one figure in times that follow each other, oldest first, as one."""
    samples: list[S] = []
    spans: list[Span] = []
    resolutions: list[tuple[float, int]] = []
    for track in tracks:
        samples += track.samples
        spans += track.seen
        resolutions += track.resolutions
    return Track(tuple(samples), merged(spans), tuple(resolutions))


def _resolutions_from(
    since: float, ranges: Iterable[tuple[float, float, int]]
) -> tuple[tuple[float, int], ...]:
    """From which time on a track has buckets of which length."""
    return tuple((max(begin, since), length) for begin, end, length in ranges if end > since)


def _bucket(at: float, length: int) -> float:
    """The beginning of the bucket that holds a time."""
    return at // length * length if at > -inf else at


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
