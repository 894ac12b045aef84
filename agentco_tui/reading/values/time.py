"""Points in time and durations, in all forms that platforms send.

Readers return `EMPTY` for a value that means "no time" (Go's year 1, the epoch itself, year 9999,
an empty text), which is not the same as a value that is no time at all (None).
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Final

from agentco_tui.model import Moment
from agentco_tui.reading.field_names import fold
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.reader_result import EMPTY
from agentco_tui.reading.values.scalar import to_decimal
from agentco_tui.text.patterns import lazy_pattern

_DAY: Final = 86_400.0
_FIRST: Final = _DAY * 2
"""Up to here a time is "1970", which means none."""
_LAST: Final = 253_370_764_800
"""9999-01-01: from here on a time means "no end"."""
_YEAR_ONE: Final = -62_135_596_800
_EPOCHS: Final = tuple((10**digits, 10 ** (digits - 9)) for digits in (9, 12, 15, 18))
"""From which number on it counts seconds, milliseconds, microseconds, nanoseconds."""
_MAX_TEXT: Final = 64

_GENERAL: Final = lazy_pattern(
    r"""(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?
        (?:(?:[T]|\s+)(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?
        \s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?(?:\s*(?:UTC|GMT|Z)|\s*\[[\w/+-]+\]|\s+m=\S+)*\Z""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_COMPACT: Final = lazy_pattern(
    r"((?:19[7-9]|2[01]\d)\d)(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?(?:[.,]?(\d+))?)?"
    r"(Z|[+-]\d\d:?\d\d)?\Z",
    re.ASCII,
)
_DOTNET: Final = lazy_pattern(r"\\?/Date\((-?\d{1,16})(?:[+-]\d{4})?\)\\?/\Z", re.ASCII)
_MAIL: Final = lazy_pattern(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,\s*)?\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4}\s+\d"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\Z",
    re.ASCII,
)
"""`Sat, 21 Nov 2026 09:00:00 GMT`, `Sat Nov 21 09:00:00 2026`."""
_DIGITS: Final = lazy_pattern(r"-?\d{1,25}(?:\.\d{1,12})?\Z", re.ASCII)


def to_moment(raw: Json) -> Any:
    """`raw` as a point in time; EMPTY for a sentinel; None if it is no time.

    Numbers count by their size alone: seconds, milliseconds, microseconds or nanoseconds since
    1970; any other size is no time. Without a zone UTC is assumed, and marked.
    """
    if type(raw) is str:
        try:
            when = datetime.fromisoformat(raw) if len(raw) >= 19 and raw[4] == "-" else None
        except ValueError:
            when = None
        found: Any = when or _from_text(raw.strip())
        if type(found) is not datetime:
            return found
        zone_assumed = found.tzinfo is None
        at = (found.replace(tzinfo=UTC) if zone_assumed else found).timestamp()
        return Moment(at, zone_assumed) if _FIRST <= at < _LAST else EMPTY
    if type(raw) is int or type(raw) is Decimal:
        return _from_number(raw)
    return _from_object(raw) if type(raw) is dict else None


def _from_number(value: int | Decimal) -> Any:
    for least, scale in _EPOCHS:
        if least <= value < least * 10:
            return Moment(float(value / scale))
    # the sentinels' own numbers: year 1 and year 9999, in seconds and milliseconds
    if value == 0 or any(
        value == _YEAR_ONE * scale or _LAST * scale <= value < (_LAST + 366 * 86_400) * scale
        for scale in (1, 1000)
    ):
        return EMPTY
    return None


def _from_text(text: str) -> Any:
    """A datetime, or what `to_moment` returns."""
    if not text or text.lower() in ("never", "none", "null", "n/a", "-"):
        return EMPTY
    if len(text) > _MAX_TEXT:
        return None
    if _DIGITS.match(text):
        at = _from_number(Decimal(text))
        if at is not None or len(text) not in (8, 14):  # 20261121, 20261121090000
            return at
    if match := _DOTNET.match(text):
        return _from_number(int(match[1]))
    if match := _GENERAL.match(text) or _COMPACT.match(text):
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        if year == "0000":
            return EMPTY  # how some databases write "none"
        of_zone = None if zone is None else UTC
        micros = int((fraction or "0")[:6].ljust(6, "0"))
        with suppress(ValueError, OverflowError):
            if zone and zone[0] in "+-":
                digits = zone[1:].replace(":", "").ljust(4, "0")
                offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
                of_zone = timezone(-offset if zone[0] == "-" else offset)
            clock = time(int(hour or 0), int(minute or 0), min(int(second or 0), 59), micros)
            return datetime.combine(date(int(year), int(month), int(day or 1)), clock, of_zone)
        return None
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return parsedate_to_datetime(text) if _MAIL.match(text) else None
    return None


def _from_object(raw: dict[str, Json]) -> Any:
    """Protobuf's and Firestore's seconds and nanos, MongoDB's `$date`, PHP's date and zone."""
    by_name = {fold(key): value for key, value in raw.items()} if len(raw) <= 6 else {}
    whole = to_decimal(by_name.get("seconds"))
    if whole is not None:
        part = to_decimal(by_name.get("nanos", by_name.get("nanoseconds"))) or Decimal(0)
        return _from_number(whole + part / 1_000_000_000)
    for name in ("date", "iso", "value", "timestamp", "at", "time", "utc"):
        inner = by_name.get(name)
        if type(inner) is dict:
            inner = inner.get("$numberLong")
        if inner is None:
            continue
        found = to_moment(inner)
        if isinstance(found, Moment) and found.zone_assumed:
            return Moment(found.at, by_name.get("timezone") not in ("UTC", "Z", "GMT"))
        return found
    return None


_UNITS: Final = {
    word: seconds
    for seconds, words in (
        (1e-9, "ns nano nanos nanoseconds"),
        (1e-6, "us µs μs micros microseconds micro"),
        (1e-3, "ms milli millis milliseconds msec"),
        (1.0, "s sec secs second seconds"),
        (60.0, "m min mins minute minutes"),
        (3600.0, "h hr hrs hour hours"),
        (_DAY, "d day days"),
        (7 * _DAY, "w week weeks"),
        (30 * _DAY, "mo month months"),
    )
    for word in words.split()
}
_PIECE: Final = lazy_pattern(r"\s*(\d+(?:\.\d+)?)\s*([a-zµμ]+)", re.IGNORECASE)
_ISO: Final = lazy_pattern(
    r"P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z",
    re.ASCII,
)
_CLOCK: Final = lazy_pattern(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2}(?:\.\d+)?)\Z", re.ASCII)
_MAX_SECONDS: Final = 100 * 365 * _DAY


def to_seconds(raw: Json, unit: float = 1.0) -> float | None:
    """`raw` in seconds: a number in `unit` seconds, "1.5s", "6m0s", "PT1.5S", "00:01:30", "1mo".

    Also `{"seconds": "3", "nanos": 500000000}`, `{"ms": 1500}`, `{"value": 1500, "unit": "ms"}`.
    """
    if type(raw) is dict:
        told = raw.get("unit", raw.get("units"))
        if type(told) is str:
            return to_seconds(raw.get("value", raw.get("amount")), _UNITS.get(told.lower(), -1.0))
        if raw and raw.keys() <= _UNITS.keys():
            parts = [to_seconds(value, _UNITS[name]) for name, value in raw.items()]
            return None if None in parts else _bounded(sum(filter(None, parts)))
    number = to_decimal(raw)
    if number is not None:
        return _bounded(float(number) * unit)
    if type(raw) is not str or not raw or len(raw) > _MAX_TEXT:
        return None
    text = raw.strip()
    match = _ISO.match(text)
    if match and any(match.groups()):
        scale = (7 * _DAY, _DAY, 3600.0, 60.0, 1.0)
        pairs = zip(match.groups(), scale, strict=True)
        return _bounded(sum(float(part or 0) * each for part, each in pairs))
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


def _bounded(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= _MAX_SECONDS else None
