"""Counts of alerts that came where a list of alerts was due (SHAPES A19, D "in the wild")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentco_tui.api.context import Unread
from agentco_tui.api.names import fold, words
from agentco_tui.model.records import Alert, Severity
from agentco_tui.reading.schema import Json
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.status import severity
from agentco_tui.text import safe

SUMMARY_ID: Final = "alerts-summary"
_WRAPPERS: Final = ("data", "result", "response", "payload", "alerts", "summary", "counts")
_MAX_FIELDS: Final = 30


def read_summary(body: Json) -> Alert | Unread | None:
    """One alert that tells the counts; None if all of them are 0; Unread if this is no summary.

    So that five alerts which are only counted are never shown as no alerts (DESIGN law 1).
    """
    counts = _counts(body)
    if not counts:
        return Unread("no summary of alerts")
    if not any(counts.values()):
        return None
    told = ", ".join(f"{' '.join(words(name))} {count}" for name, count in counts.items())
    return Alert(
        id=SUMMARY_ID,
        severity=_worst(counts),
        text=safe(f"the platform only counts its alerts: {told}"),
        kind=safe("summary"),
        extra=as_extra(counts),
    )


def _counts(body: Json) -> dict[str, int]:
    for _ in range(4):
        if type(body) is not dict or len(body) > _MAX_FIELDS:
            return {}
        inner = next(
            (
                value
                for key, value in body.items()
                if fold(key) in _WRAPPERS and type(value) is dict
            ),
            None,
        )
        if inner is None:
            break
        body = inner
    if type(body) is not dict:
        return {}
    counts = {name: value for name, value in body.items() if type(value) is int and value >= 0}
    others = [value for value in body.values() if type(value) in (list, dict)]
    return counts if counts and not others and _counts_alerts(counts) else {}


def _counts_alerts(counts: Mapping[str, int]) -> bool:
    """True if a count's name is about alerts: their severity, their state, or how many."""
    for name in counts:
        parts = set(words(name))
        if parts & {"alert", "alerts", "open", "active", "unread", "triggered", "resolved"}:
            return True
        if severity(name) is not Severity.UNKNOWN:
            return True
    return False


def _worst(counts: Mapping[str, int]) -> Severity:
    found = {severity(name) for name, count in counts.items() if count}
    for level in (Severity.CRITICAL, Severity.WARNING, Severity.INFO):
        if level in found:
            return level
    return Severity.UNKNOWN
