"""`agentco-tui journal`: what was approved or changed from here, and what became of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TextIO

import msgspec

from agentco_tui.actions.journal_entries import Attempt, Settled, from_line, lines, seconds_of
from agentco_tui.api.records import Moment
from agentco_tui.commands.output import Exit, complain
from agentco_tui.format import moment
from agentco_tui.text import SafeText, plain, safe, signs

_SPANS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0}
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([smhdw])", re.ASCII)

HELD_BACK = 10_000
"""Attempts kept to wait for their outcomes, so that each stands on one line in order."""


def since_when(text: str, now: float) -> float:
    """The moment that `--since` means, in seconds since 1970.

    "90s", "30m", "2h", "3d" and "1w" count back from `now`; a date or a date with a time is taken
    in local time unless it has a zone. Raises ValueError with a sentence.

    >>> since_when("2h", 10_000.0)
    2800.0
    """
    typed = text.strip()
    span = _SPAN.fullmatch(typed.casefold())
    if span is not None:
        return now - float(span[1]) * _SPANS[span[2]]
    try:
        return datetime.fromisoformat(typed).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"--since can't be read from “{safe(text, 60)}”: "
            "give a span as 2h or 3d, or a date as 2026-01-31 or 2026-01-31T14:30"
        ) from None


def run(path: Path, *, as_json: bool, since: float | None, out: TextIO) -> int:
    """Print the journal at `path`: a line for each attempt with its outcome, the oldest first.

    `since` is the earliest moment, in seconds since 1970. Returns the exit code.
    """
    try:
        with path.open("rb") as file:
            unsettled = _unsettled(from_line(line) for _, line in lines(file))
            pairs = _pairs((from_line(line) for _, line in lines(file)), unsettled)
            for attempt, settled in pairs:
                at = seconds_of(attempt.time)
                if since is None or at is None or at >= since:
                    out.write((_json if as_json else _line)(attempt, settled) + "\n")
    except FileNotFoundError:
        if not as_json:
            out.write(f"nothing was approved or changed from here yet ({safe(str(path))})\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"the journal {path} can't be read: {error.strerror}")
        return Exit.FAILED
    return Exit.OK


def _unsettled(entries: Iterator[Attempt | Settled | None]) -> set[str]:
    """The ids of attempts without an outcome; few, so that the rest can be read as a stream."""
    found: set[str] = set()
    for entry in entries:
        if isinstance(entry, Attempt):
            found.add(entry.attempt)
        elif isinstance(entry, Settled):
            found.discard(entry.attempt)
    return found


def _pairs(
    entries: Iterator[Attempt | Settled | None], unsettled: set[str]
) -> Iterator[tuple[Attempt, Settled | None]]:
    """Every attempt with its outcome, in the order of the attempts."""
    waiting: dict[str, Attempt] = {}
    outcomes: dict[str, Settled] = {}

    def ready() -> Iterator[tuple[Attempt, Settled | None]]:
        while waiting:
            first = next(iter(waiting))
            if first not in outcomes and first not in unsettled and len(waiting) < HELD_BACK:
                return
            yield waiting.pop(first), outcomes.pop(first, None)

    for entry in entries:
        if isinstance(entry, Attempt):
            waiting[entry.attempt] = entry
        elif isinstance(entry, Settled) and entry.attempt in waiting:
            outcomes.setdefault(entry.attempt, entry)
        yield from ready()
    for attempt_id, attempt in waiting.items():
        yield attempt, outcomes.get(attempt_id)


def _json(attempt: Attempt, settled: Settled | None) -> str:
    told = msgspec.structs.asdict(attempt)
    told["outcome"] = None if settled is None else _outcome_of(settled)
    return json.dumps(told, ensure_ascii=True)


def _outcome_of(settled: Settled) -> dict[str, object]:
    told = msgspec.structs.asdict(settled)
    return {
        "is": told.pop("outcome"),
        **{name: value for name, value in told.items() if name not in ("attempt", "v")},
    }


def _line(attempt: Attempt, settled: Settled | None) -> SafeText:
    at = seconds_of(attempt.time)
    when = moment(None if at is None else Moment(at=at))
    who = ", ".join(
        safe(name, 60)
        for name in (
            attempt.company_name or attempt.company,
            attempt.agent_name or attempt.agent,
        )
        if name
    )
    whose = f" ({who})" if who else ""
    what = f"{safe(attempt.verb, 20)} “{safe(attempt.title, 80)}”{whose}"
    return plain(f"{when}  {safe(attempt.profile, 40)}  {what}  {_became(settled)}")


def _became(settled: Settled | None) -> SafeText:
    if settled is None:
        return plain(f"{signs.unknown} unknown: no outcome is written")
    words = f" ({safe(settled.words, 120)})" if settled.words else ""
    known = f", known by {safe(settled.known_by, 20)}" if settled.known_by else ""
    return plain(f"{safe(settled.outcome, 40)}{known}{words}")
