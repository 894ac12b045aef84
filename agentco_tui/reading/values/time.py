"""Points in time and durations, in all the forms of SHAPES H.

Readers return `NOTHING` for a value that means "no time" (Go's year 1, the epoch itself, year 9999,
an empty text), which is not the same as a value that is no time at all (None).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Final

from agentco_tui.model import Moment
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.field_names import fold
from agentco_tui.reading.schema import NOTHING, Json
from agentco_tui.reading.values.number import to_decimal

NONE: Final = NOTHING

_DAY: Final = 86_400.0
_FIRST: Final = _DAY * 2
"""Up to here a time is "1970", which means none (SHAPES H)."""
_LAST: Final = 253_370_764_800.0
"""9999-01-01: from here on a time means "no end"."""

_GENERAL: Final = lazy_pattern(
    r"""(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?
        (?:(?:[T]|\s+)(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?
        \s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?(?:\s*(?:UTC|GMT|Z)|\s*\[[\w/+-]+\]|\s+m=\S+)*\Z""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_COMPACT: Final = lazy_pattern(
    r"(\d{4})(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?(?:[.,]?(\d+))?)?(Z|[+-]\d\d:?\d\d)?\Z", re.ASCII
)
_DOTNET: Final = lazy_pattern(r"\\?/Date\((-?\d{1,16})(?:[+-]\d{4})?\)\\?/\Z", re.ASCII)
_MAIL: Final = lazy_pattern(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,\s*)?\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4}\s+\d", re.A
)
_ASCTIME: Final = lazy_pattern(
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\Z", re.ASCII
)
_DIGITS: Final = lazy_pattern(r"-?\d{1,25}(?:\.\d{1,12})?\Z", re.ASCII)
_MAX_TEXT: Final = 64


def to_moment(raw: Json) -> Any:
    """`raw` as a point in time; NONE for a sentinel; None if it is no time.

    Numbers count by their size alone: seconds, milliseconds, microseconds or nanoseconds since
    1970; any other size is no time. Without a zone UTC is assumed, and marked.
    """
    if type(raw) is str:
        if len(raw) >= 19 and raw[4] == "-":
            try:
                when = datetime.fromisoformat(raw)
            except ValueError:
                return _from_text(raw)
            return _from_datetime(when)
        return _from_text(raw)
    if type(raw) is int or type(raw) is Decimal:
        return _from_number(raw)
    if type(raw) is dict:
        return _from_object(raw)
    if type(raw) is list:
        return _from_parts(raw)
    return None


def _checked(at: float, zone_assumed: bool) -> Any:
    if at < _FIRST or at >= _LAST:
        return NOTHING
    return Moment(at, zone_assumed)


def _from_datetime(when: datetime) -> Any:
    if when.tzinfo is None:
        return _checked(when.replace(tzinfo=UTC).timestamp(), True)
    return _checked(when.timestamp(), False)


def _from_number(value: int | Decimal) -> Any:
    if value == 0:
        return NOTHING
    if 1_000_000_000 <= value < 10_000_000_000:
        return Moment(float(value))
    if 1_000_000_000_000 <= value < 10_000_000_000_000:
        return Moment(float(value / 1_000))
    if 10**15 <= value < 10**16:
        return Moment(float(value / 1_000_000))
    if 10**18 <= value < 10**19:
        return Moment(float(value / 1_000_000_000))
    # the sentinels' own numbers: year 1 and years 9999, in seconds and milliseconds
    if value in (-62_135_596_800, -62_135_596_800_000):
        return NOTHING
    if _LAST <= value < 253_402_300_801 or _LAST * 1000 <= value < 253_402_300_801_000:
        return NOTHING
    return None


def _from_text(raw: str) -> Any:
    text = raw.strip()
    if not text or len(text) > _MAX_TEXT:
        return NOTHING if not text else None
    if _DIGITS.match(text):
        return _from_digits(text)
    if text[0].isdigit():
        match = _GENERAL.match(text) or _COMPACT.match(text)
        if match:
            return _from_match(match)
    elif match := _DOTNET.match(text):
        return _from_number(int(match[1]))
    if _MAIL.match(text) or _ASCTIME.match(text):
        try:
            return _from_datetime(parsedate_to_datetime(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    if text.lower() in ("never", "none", "null", "n/a", "-"):
        return NOTHING
    return None


def _from_digits(text: str) -> Any:
    number = to_decimal(text)
    if number is None:
        return None
    at = _from_number(int(text) if text.lstrip("-").isdigit() else number)
    if at is not None or len(text) not in (8, 14):
        return at
    # 20261121 and 20261121090000: no epoch has so few or so many digits
    match = _COMPACT.match(text)
    return _from_match(match) if match and 1970 <= int(match[1]) <= 2200 else None


def _from_match(match: re.Match[str]) -> Any:
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        when = datetime(
            int(year),
            int(month),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            min(int(second or 0), 59),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(zone),
        )
    except (ValueError, OverflowError):
        # year 0000 is how some databases write "none"
        return NOTHING if year == "0000" else None
    return _from_datetime(when)


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _from_object(raw: dict[str, Json]) -> Any:
    """Protobuf's and Firestore's seconds and nanos, MongoDB's `$date`, PHP's date and zone."""
    if not 0 < len(raw) <= 6:
        return None
    by_name = {fold(key): value for key, value in raw.items()}
    whole = to_decimal(by_name.get("seconds"))
    if whole is not None:
        part = to_decimal(by_name.get("nanos", by_name.get("nanoseconds"))) or Decimal(0)
        return _from_number(whole + part / 1_000_000_000)
    for name in ("date", "iso", "value", "timestamp", "at", "time", "utc"):
        inner = by_name.get(name)
        if type(inner) is dict and name == "date":
            inner = inner.get("$numberLong")
        if inner is None or type(inner) is dict or type(inner) is list:
            continue
        found = to_moment(inner)
        if isinstance(found, Moment) and found.zone_assumed:
            return Moment(found.at, by_name.get("timezone") not in ("UTC", "Z", "GMT"))
        return found
    return None


def _from_parts(raw: list[Json]) -> Any:
    """`[2026, 11, 21, 9, 0, 0]`: how Jackson writes a time without a zone."""
    if not 3 <= len(raw) <= 7 or not all(type(part) is int for part in raw):
        return None
    year, month, day, hour, minute, second, nanos = (*raw, 0, 0, 0, 0)[:7]
    if not 1970 <= year <= 2200:
        return None
    try:
        when = datetime(year, month, day, hour, minute, second, nanos // 1000, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return _checked(when.timestamp(), True)


_UNITS: Final[dict[str, float]] = {
    "ns": 1e-9, "nano": 1e-9, "nanos": 1e-9, "nanoseconds": 1e-9,
    "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "micros": 1e-6, "microseconds": 1e-6, "micro": 1e-6,
    "ms": 1e-3, "milli": 1e-3, "millis": 1e-3, "milliseconds": 1e-3, "msec": 1e-3,
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hr": 3600.0, "hrs": 3600.0, "hour": 3600.0, "hours": 3600.0,
    "d": _DAY, "day": _DAY, "days": _DAY, "w": 7 * _DAY, "week": 7 * _DAY, "weeks": 7 * _DAY,
    "mo": 30 * _DAY, "month": 30 * _DAY, "months": 30 * _DAY, "y": 365 * _DAY,
}  # fmt: skip
_PIECE: Final = lazy_pattern(r"\s*(\d+(?:\.\d+)?)\s*([a-zµμ]+)", re.IGNORECASE)
_ISO: Final = lazy_pattern(
    r"P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z",
    re.ASCII,
)
_CLOCK: Final = lazy_pattern(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2}(?:\.\d+)?)\Z", re.ASCII)
_MAX_SECONDS: Final = 100 * 365 * _DAY


def duration_reader(name_words: tuple[str, ...]) -> Callable[[Any], float | None]:
    """A reader of durations for a field whose name has these words: `duration_ms`, `runtimeMs`.

    A bare number counts in the unit of the name, in seconds if it names none (SHAPES H).
    """
    unit = 1.0
    for word in reversed(name_words):
        if word in _UNITS and word not in ("h", "d", "m", "y", "w", "second"):
            unit = _UNITS[word]
            break
    return lambda raw: to_seconds(raw, unit)


def to_seconds(raw: Json, unit: float = 1.0) -> float | None:
    """`raw` in seconds: a number in `unit` seconds, "1.5s", "6m0s", "PT1.5S", "00:01:30", "1mo".

    Also `{"seconds": "3", "nanos": 500000000}`, `{"ms": 1500}`, `{"value": 1500, "unit": "ms"}`.
    """
    if type(raw) is dict and not raw.keys().isdisjoint(_PARTS):
        return _in_parts(raw)
    number = to_decimal(raw)
    if number is not None:
        return _bounded(float(number) * unit)
    if type(raw) is not str or not raw or len(raw) > _MAX_TEXT:
        return None
    text = raw.strip()
    match = _ISO.match(text)
    if match and any(match.groups()):
        parts = [float(part or 0) for part in match.groups()]
        scale = (7 * _DAY, _DAY, 3600.0, 60.0, 1.0)
        return _bounded(sum(part * each for part, each in zip(parts, scale, strict=True)))
    if match := _CLOCK.match(text):
        hours, minutes, seconds = match.groups()
        return _bounded(int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds))
    total, end = 0.0, 0
    for piece in _PIECE.finditer(text):
        each = _UNITS.get(piece[2].lower())
        if each is None or piece.start() != end:
            return None
        total, end = total + float(piece[1]) * each, piece.end()
    return _bounded(total) if end and end == len(text) else None


_PARTS: Final = ("ms", "seconds", "secs", "s", "us", "ns", "nanos", "unit", "units")


def _in_parts(raw: dict[str, Json]) -> float | None:
    unit = next((raw[name] for name in ("unit", "units") if type(raw.get(name)) is str), None)
    if unit is not None:
        known = _UNITS.get(unit.strip().lower())
        value = to_decimal(next((raw[name] for name in ("value", "amount") if name in raw), None))
        return None if known is None or value is None else _bounded(float(value) * known)
    parts = [
        float(number) * _UNITS[name]
        for name in _PARTS[:-2]
        if (number := to_decimal(raw.get(name))) is not None
    ]
    return _bounded(sum(parts)) if parts else None


def _bounded(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= _MAX_SECONDS else None
