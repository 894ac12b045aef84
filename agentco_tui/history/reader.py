"""Reads of the history: what held, what happened, and when the platform was not looked at."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import inf
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
MINUTE, HOUR = 60, 3_600
MENDED: Final = 60.0
"""Seconds between two spans that are no gap: a dashboard was started anew, or its scope changed."""


class Reader:
    """Reads of one platform's history; runs in the history's thread only."""

    def __init__(self, connection: sqlite3.Connection, platform: int) -> None:
        """`platform` is its row in the file."""
        self._connection, self._platform = connection, platform

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
        every: float = 0.0,
    ) -> Track[BudgetSample]:
        """A budget over time, with what held at `since`; the subject of the whole is "".

        With `every`, at most one sample in each so many seconds: the last. Where its unit has
        changed, only what is of the unit of now.
        """
        feed = BUDGET_FEEDS[scope]
        samples = tuple(
            BudgetSample(at, _decimal(spent), _decimal(limit))
            for at, spent, limit in self._samples(feed, subject, since, until, every)
        )
        company = self._company(subject) if scope is BudgetScope.AGENT else ""
        return Track(samples, self._seen(feed, company, since, until))

    def queue(self, company: str | None, since: float) -> Track[QueueSample]:
        """What waited of one company, or of all of them (None)."""
        feed, of = FeedName.PENDING, company or ""
        samples = tuple(QueueSample(*row) for row in self._samples(feed, of, since))
        return Track(samples, self._seen(feed, of, since))

    def activity(self, since: float) -> tuple[list[Counted], tuple[Span, ...]]:
        """Counts of the log, oldest first, and when the log was read without a gap."""
        rows = self._rows(
            """SELECT at, NULLIF(agent, ''), COALESCE(NULLIF(tally.company, ''), subject.company),
            tally.kind, severity, sum(n)
            FROM tally CROSS JOIN counted ON counted.tally = tally.id
            LEFT JOIN subject ON subject.platform = tally.platform AND subject.kind = 'agent'
                AND subject.key = tally.agent
            WHERE tally.platform = :platform AND at >= :since GROUP BY at, tally.id ORDER BY at""",
            since=since - since % MINUTE,
        )
        counts = [
            Counted(float(at), who, of, kind, Severity(severity), n)
            for at, who, of, kind, severity, n in rows
        ]
        return counts, self._seen(FeedName.ACTIVITY, "", since)

    def entries(
        self, since: float, every: float, agent: str | None = None
    ) -> tuple[list[tuple[float, int, int]], tuple[Span, ...]]:
        """How many entries the log had, and how many of them were failures, by the beginning of
        each so many seconds (a multiple of a minute); and when the log was read without a gap.
        """
        rows = self._rows(
            f"""SELECT at - at % :every, sum(n), sum(n * (severity = 'critical'
            OR tally.kind LIKE '%fail%' OR tally.kind LIKE '%error%'))
            FROM tally CROSS JOIN counted ON counted.tally = tally.id
            WHERE tally.platform = :platform {"AND agent = :agent" if agent else ""}
            AND at >= :since GROUP BY 1 ORDER BY 1""",  # noqa: S608 (our own words)
            agent=agent,
            since=since - since % MINUTE,
            every=int(every),
        )
        scope = self._company(agent) if agent else ""
        return rows, self._seen(FeedName.ACTIVITY, scope, since)

    def lives(self, since: float, *, agent: str | None = None) -> list[TaskLife]:
        """Tasks that were first seen, decided or ended since then, oldest first."""
        where = f"changed >= :since {'AND agent = :agent' if agent else ''}"
        return self._records("life", TaskLife, where, agent=agent, since=since)

    def alerts(self, since: float) -> list[AlertLife]:
        """Alerts that came or went since then, oldest first."""
        where = "max(first_seen, COALESCE(gone, 0)) >= :since"
        return self._records("alert", AlertLife, where, since=since)

    def seen(self, feed: FeedName, since: float) -> tuple[Span, ...]:
        """When a feed was asked and answered for all companies."""
        return self._seen(feed, "", since)

    def departed_by_unknown(self, since: float, company: str | None) -> list[str]:
        """The ids of tasks that left the queue since then, of which it is not known who decided, or
        what, and whose records were not asked for yet.
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
        """Rows of a table as such structs, which have the names of its columns."""
        names = cast("Any", kind).__struct_fields__
        rows = self._rows(
            f"""SELECT {", ".join(names)} FROM {table} WHERE platform = :platform AND {where}
            ORDER BY first_seen""",  # noqa: S608 (our own words)
            **values,
        )
        return [convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in rows]

    def _company(self, agent: str) -> str:
        rows = self._rows(
            """SELECT company FROM subject
            WHERE (platform, kind, key) = (:platform, 'agent', :agent)""",
            agent=agent,
        )
        return (rows[0][0] or "") if rows else ""

    def _samples(
        self, feed: FeedName, subject: str, since: float, until: float = inf, every: float = 0.0
    ) -> list[tuple[Any, ...]]:
        """Time and the first two figures of each, with what held at `since`, of the unit of now."""
        # `max(at)` makes the other columns those of that row.
        return self._rows(
            f"""WITH track AS NOT MATERIALIZED (SELECT at, a, b, c FROM sample
                WHERE series = (SELECT id FROM series
                WHERE (platform, feed, subject) = (:platform, :feed, :subject)))
            SELECT {"max(at)" if every else "at"}, a, b FROM track WHERE at <= :until
            AND at >= COALESCE((SELECT max(at) FROM track WHERE at <= :since), :since)
            AND (COALESCE(a, b) IS NULL OR c IS
                (SELECT c FROM track WHERE COALESCE(a, b) NOT NULL ORDER BY at DESC LIMIT 1))
            {"GROUP BY CAST(at / :every AS INTEGER)" if every else ""} ORDER BY 1""",  # noqa: S608 (our own words)
            feed=feed,
            subject=subject,
            since=since,
            until=until,
            every=every,
        )

    def _seen(
        self, feed: FeedName, scope: str, since: float, until: float = inf
    ) -> tuple[Span, ...]:
        """When all companies, or that one, were asked about, cut to the time that is looked at."""
        rows = self._rows(
            """SELECT since, until FROM seen WHERE platform = :platform AND feed = :feed
            AND scope IN ('', :scope) AND until >= :since AND since <= :until ORDER BY since""",
            feed=feed,
            scope=scope,
            since=since,
            until=until,
        )
        return merged((max(start, since), min(end, until)) for start, end in rows)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in the order of their beginnings, those that meet as one."""
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1] + MENDED:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return tuple(found)


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
