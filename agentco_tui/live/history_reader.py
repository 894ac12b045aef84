"""Reads of the history: what held, what happened, and when the platform was not looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from msgspec import convert

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.history_records import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    QueueSample,
    Span,
    TaskLife,
    Track,
)
from agentco_tui.model import BudgetScope, Severity
from agentco_tui.text import SafeText

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
_OF_TALLY: Final = "COALESCE(NULLIF(tally.company, ''), subject.company)"
_NEWEST: Final = """(SELECT at FROM sample WHERE series = id AND (a IS NOT NULL OR b IS NOT NULL)
    ORDER BY at DESC LIMIT 1)"""


class Reader:
    """Reads of one platform's history; runs in the history's thread only."""

    def __init__(self, connection: sqlite3.Connection, platform: int) -> None:
        """`platform` is its row in the file."""
        self._connection, self._platform = connection, platform

    def first_seen(self) -> float | None:
        """When the platform was first seen; None if nothing is known of it."""
        rows = self._rows("SELECT first FROM platform WHERE id = :platform")
        return rows[0][0] if rows else None

    def budget(
        self,
        scope: BudgetScope,
        subject: str,
        since: float,
        until: float | None = None,
        *,
        every: float = 0.0,
    ) -> Track[BudgetSample]:
        """A budget over time, with what held at `since`; the subject of the whole is "".

        With `every`, at most one sample in each so many seconds: the last. Where its unit has
        changed, only what is of the unit of now.
        """

        def sample(at: float, spent: str | None, limit: str | None, _: object) -> BudgetSample:
            return BudgetSample(at, _decimal(spent), _decimal(limit))

        company = self._company(subject) if scope is BudgetScope.AGENT else ""
        series = BUDGET_FEEDS[scope], subject, company
        return self._track(sample, series, since, until, every)

    def queue(self, company: str | None, since: float) -> Track[QueueSample]:
        """What waited of one company, or of all of them (None)."""

        def sample(at: float, waiting: int, oldest: float | None, _: object) -> QueueSample:
            return QueueSample(at, waiting, oldest)

        return self._track(sample, (FeedName.PENDING, company or "", company or ""), since)

    def agent(self, agent: str, since: float) -> Track[AgentSample]:
        def sample(at: float, *told: Any) -> AgentSample:
            status, trust, completed = told
            return AgentSample(at, status and SafeText(status), _decimal(trust), completed)

        return self._track(sample, (FeedName.AGENTS, agent, self._company(agent)), since)

    def activity(
        self, since: float, *, agent: str | None = None, company: str | None = None
    ) -> tuple[list[Counted], tuple[Span, ...]]:
        """Counts of the log, oldest first, and when the log was read without a gap."""
        rows = self._rows(
            f"""SELECT at, NULLIF(agent, ''), {_OF_TALLY}, tally.kind, severity, sum(n)
            FROM tally CROSS JOIN counted ON counted.tally = tally.id
            LEFT JOIN subject ON subject.platform = tally.platform AND subject.kind = 'agent'
                AND subject.key = tally.agent
            WHERE tally.platform = :platform {"AND agent = :agent" if agent else ""}
            AND (:company IS NULL OR {_OF_TALLY} = :company)
            AND at >= :since GROUP BY at, tally.id ORDER BY at""",  # noqa: S608 (our own words)
            agent=agent,
            company=company,
            since=since - since % MINUTE,
        )
        counts = [
            Counted(float(at), who, of, kind, Severity(severity), n)
            for at, who, of, kind, severity, n in rows
        ]
        scope = company or (self._company(agent) if agent else "")
        return counts, self._seen(FeedName.ACTIVITY, scope, since, inf)

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
        return rows, self._seen(FeedName.ACTIVITY, scope, since, inf)

    def lives(
        self, since: float, *, agent: str | None = None, company: str | None = None
    ) -> list[TaskLife]:
        """Tasks that were first seen, decided or ended since then, oldest first."""
        columns = ", ".join(TaskLife.__struct_fields__)
        rows = self._rows(
            f"""SELECT {columns} FROM life WHERE platform = :platform AND changed >= :since
            {"AND agent = :agent" if agent else ""} {"AND company = :company" if company else ""}
            ORDER BY first_seen""",  # noqa: S608 (our own words)
            agent=agent,
            company=company,
            since=since,
        )
        return _records(rows, TaskLife)

    def alerts(self, since: float) -> list[AlertLife]:
        """Alerts that came or went since then, oldest first."""
        columns = ", ".join(AlertLife.__struct_fields__)
        rows = self._rows(
            f"""SELECT {columns} FROM alert WHERE platform = :platform
            AND max(first_seen, COALESCE(gone, 0)) >= :since ORDER BY first_seen""",  # noqa: S608 (our own words)
            since=since,
        )
        return _records(rows, AlertLife)

    def subjects(self, feed: FeedName) -> list[tuple[str, SafeText]]:
        """What there are figures of: each id, with the currency of its sums as of now."""
        rows = self._rows(
            f"""SELECT subject, unit FROM series WHERE platform = :platform AND feed = :feed
            ORDER BY subject, {_NEWEST}""",  # noqa: S608 (our own words)
            feed=feed,
        )
        return [*{key: SafeText(unit.rstrip("?")) for key, unit in rows}.items()]

    def names(self, kind: str) -> dict[str, tuple[SafeText | None, str | None]]:
        """All that were seen of a kind ("company", "agent") by id: name, and id of the company."""
        rows = self._rows(
            "SELECT key, name, company FROM subject WHERE platform = :platform AND kind = :kind",
            kind=kind,
        )
        return {key: (name and SafeText(name), company) for key, name, company in rows}

    def _rows(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, {**values, "platform": self._platform}).fetchall()

    def _company(self, agent: str) -> str:
        rows = self._rows(
            "SELECT company FROM subject WHERE platform = :platform AND kind = 'agent'"
            " AND key = :agent",
            agent=agent,
        )
        return (rows[0][0] or "") if rows else ""

    def _track(
        self,
        sample: Callable[..., S],
        series: tuple[FeedName, str, str],
        since: float,
        until: float | None = None,
        every: float = 0.0,
    ) -> Track[S]:
        """Of a feed, a subject and its company."""
        feed, subject, company = series
        last = inf if until is None else until
        # `max(at)` makes the other columns those of that row.
        rows = self._rows(
            f"""WITH track (id) AS (SELECT id FROM series
                WHERE platform = :platform AND feed = :feed AND subject = :subject ORDER BY
                {_NEWEST} DESC LIMIT 1)
            SELECT {"max(at)" if every else "at"}, a, b, c FROM sample, track
            WHERE series = track.id AND at <= :last AND at >= COALESCE((SELECT max(at)
                FROM sample WHERE series = track.id AND at <= :since), :since)
            {"GROUP BY CAST(at / :every AS INTEGER)" if every else ""} ORDER BY 1""",  # noqa: S608 (our own words)
            feed=feed,
            subject=subject,
            since=since,
            last=last,
            every=every,
        )
        samples = tuple(sample(*row) for row in rows)
        return Track(samples, self._seen(feed, company, since, last))

    def _seen(self, feed: FeedName, scope: str, since: float, until: float) -> tuple[Span, ...]:
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


def _records(rows: Iterable[Sequence[object]], kind: type[S]) -> list[S]:
    """Rows with the columns of a struct, in its order, as such structs."""
    names = cast("Any", kind).__struct_fields__
    return [convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in rows]


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
