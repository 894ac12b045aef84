"""Turns what was observed into rows of plain values, as the database stores them.

The history is a database of what was polled from the platform, the remote service with AI agents
that is watched; an `Observed` is what one poll brought (`observations.py` explains its parts). This
is done on the event loop, in slices, so that the thread of the history only hands rows to SQLite.
Rows can be encoded: a process that may not write hands them over to the one that may.

A feed is one list that is polled, its scope the company that it was asked for ("" for all). A
subject is the id of what a figure is about: a budget's owner or an agent. A span is a time in which
every poll of a feed was answered. The queue is the tasks that wait for the user's decision; a task
that is gone from it without a known decision has departed, at some time between `departed_after`
and `departed`, and is then looked up once. Counts are those of the activity log's entries.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

import msgspec
from msgspec.structs import asdict, astuple

from agentco_tui.history.observations import Observed, QueueSeen, TaskLife
from agentco_tui.text import clean_line

MINUTE: Final = 60
LONGEST_TITLE: Final = 200  # cells
_LARGEST: Final = 2**63 - 1  # of integers in SQLite

Cell = str | int | float | None
"""A value that SQLite stores. Sums are text: equal ones the same text."""

SampleRow = tuple[str, str, float, Cell, Cell, Cell]
"""Feed, subject, time, and up to three figures; of money the third is the unit."""
CountRow = tuple[str, str, str, str, int, int]
"""Agent, company, kind, severity, the beginning of the minute, and how many."""

SpanRow = tuple[str, str, float, float]
"""Feed, scope, and since and until when it was seen without a gap."""


class LifeRow(msgspec.Struct, kw_only=True):
    """What is stored of the life of one task; `TaskLife` says what the fields mean."""

    id: str
    title: str
    agent: str | None
    company: str | None
    first_seen: float
    waiting_since: float | None
    decided: float | None
    decided_by: str | None
    ended: float | None
    state: str | None
    estimate: str | None
    cost: str | None
    currency: str | None
    state_at: float  # when it was seen in this state
    changed: float  # when it was first seen, decided, ended or departed, whichever came last
    waits: int | None
    departed: float | None
    departed_after: float | None
    looked_up: int | None = None


class AlertRow(msgspec.Struct, kw_only=True):
    """What is stored of one alert; `AlertLife` says what the fields mean."""

    id: str
    scope: str
    subject: str | None
    severity: str
    first_seen: float
    gone: float | None
    text: str | None
    is_dated: bool


class Rows(msgspec.Struct, kw_only=True):
    """The rows of one `Observed`, whose fields have the same names."""

    names: list[tuple[str, str, str | None, str | None]] = []
    samples: list[SampleRow] = []
    seen: list[SpanRow] = []
    counts: list[CountRow] = []
    lives: list[LifeRow] = []
    alerts: list[AlertRow] = []
    open_alerts: tuple[float, frozenset[str]] | None = None
    ended_alerts: list[tuple[str, float]] = []
    queue: QueueSeen | None = None
    departures: list[tuple[str, float, float]] = []
    looked_up: list[str] = []
    count: int = 0  # of rows, about


def prepared(observed: Observed, redact: Callable[[str], str]) -> Rows:
    """Returns the rows of what was observed; `redact` takes API keys out of a text."""

    def cell(value: object) -> Cell:
        return _cell(value, redact)

    def text(value: str | None) -> str | None:
        return None if value is None else _text(value, redact)

    return Rows(
        names=[(kind, key, text(name), company) for kind, key, name, company in observed.names],
        samples=[
            _sample_row(feed, subject, unit, astuple(sample), cell)
            for feed, subject, unit, sample in observed.samples
        ],
        seen=[(str(feed), scope, *span) for feed, scope, span in observed.seen],
        counts=[
            (
                each.agent or "",
                each.company or "",
                _text(each.kind, redact),
                str(each.severity),
                int(each.at) // MINUTE * MINUTE,
                each.count,
            )
            for each in observed.counts
        ],
        lives=[_life_row(life, cell) for life in observed.lives],
        alerts=[
            AlertRow(
                id=alert.id,
                scope=str(alert.scope),
                subject=alert.subject,
                severity=str(alert.severity),
                first_seen=alert.first_seen,
                gone=alert.gone,
                text=text(alert.text),
                is_dated=alert.is_dated,
            )
            for alert in observed.alerts
        ],
        open_alerts=observed.open_alerts,
        ended_alerts=observed.ended_alerts,
        queue=observed.queue,
        departures=[(each.task, each.at, each.after) for each in observed.departures],
        looked_up=observed.looked_up,
        count=len(observed),
    )


def _sample_row(
    feed: str, subject: str, unit: str, values: tuple[object, ...], cell: Callable[[object], Cell]
) -> SampleRow:
    """The time and the figures of a sample. A sum in another unit is another sum, so the unit of
    money is the third figure.
    """
    at, *figures = values
    cells = [*map(cell, figures), unit or None, None]
    assert isinstance(at, float | int)
    return str(feed), subject, float(at), cells[0], cells[1], cells[2]


def _life_row(life: TaskLife, cell: Callable[[object], Cell]) -> LifeRow:
    values = {name: cell(value) for name, value in asdict(life).items()}
    # Ids are stored unchanged.
    values |= {"id": life.id, "agent": life.agent, "company": life.company}
    moments = (life.first_seen, life.decided, life.ended, life.departed)
    changed = max(at for at in moments if at is not None)
    return msgspec.convert(
        {**values, "state_at": life.first_seen, "changed": changed}, LifeRow, strict=False
    )


def _text(value: str, redact: Callable[[str], str]) -> str:
    return redact(clean_line(value, LONGEST_TITLE)) if value else ""


def _cell(value: object, redact: Callable[[str], str]) -> Cell:
    """A value as SQLite takes it; an integer that it can't store is None."""
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return _text(str(value), redact)
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else None
    assert isinstance(value, Decimal)
    shortest = value.normalize()  # rounds what has very many digits
    return str(shortest if shortest == value else value)
