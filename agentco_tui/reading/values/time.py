"""Readers of points in time and durations, in all forms that platforms send.

Platforms are the remote services whose answers are read. The readers return None for a value that
is no time at all, and `EMPTY` for a *sentinel*, a value that means "no time": Go's year 1, the
epoch itself, year 9999, an empty text.
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
"""Earlier times are sentinels: 1970-01-01 in some time zone."""
_LAST: Final = 253_370_764_800
"""Times from here on are sentinels for "no end": 9999-01-01."""
_YEAR_ONE: Final = -62_135_596_800
"""0001-01-01, Go's zero time."""
_EPOCHS: Final = tuple((10**digits, 10 ** (digits - 9)) for digits in (9, 12, 15, 18))
"""(smallest number, units a second) of times in seconds, milli-, micro- and nanoseconds."""
_MAX_TEXT: Final = 64
"""Characters of the longest text that is read as a time."""

_GENERAL: Final = lazy_pattern(
    r"""(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?
        (?:(?:[T]|\s+)(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?
        \s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?(?:\s*(?:UTC|GMT|Z)|\s*\[[\w/+-]+\]|\s+m=\S+)*\Z""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""ISO 8601 and what resembles it: "2026-11-21 09:00:00 UTC"; the day or the time may be missing."""
_COMPACT: Final = lazy_pattern(
    r"((?:19[7-9]|2[01]\d)\d)(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?(?:[.,]?(\d+))?)?"
    r"(Z|[+-]\d\d:?\d\d)?\Z",
    re.ASCII,
)
"""`20261121T090000Z`."""
_DOTNET: Final = lazy_pattern(r"\\?/Date\((-?\d{1,16})(?:[+-]\d{4})?\)\\?/\Z", re.ASCII)
"""`/Date(1795251600000)/`, in milliseconds."""
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
        found: Any = _from_iso_text(raw) or _from_text(raw.strip())
        if type(found) is not datetime:
            return found
        zone_assumed = found.tzinfo is None
        if zone_assumed:
            found = found.replace(tzinfo=UTC)
        at = found.timestamp()
        return Moment(at, zone_assumed) if _FIRST <= at < _LAST else EMPTY
    if type(raw) is int or type(raw) is Decimal:
        return _from_number(raw)
    return _from_object(raw) if type(raw) is dict else None


def _from_iso_text(text: str) -> datetime | None:
    """The time in a text of the usual form; None if it needs a closer look.

    It is many times faster than the patterns of `_from_text`.
    """
    if len(text) < 19 or text[4] != "-":
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _from_number(value: int | Decimal) -> Any:
    """The time of a number that counts since 1970; EMPTY for a sentinel; None if it is no time."""
    for least, units_a_second in _EPOCHS:
        if least <= value < least * 10:
            return Moment(float(value / units_a_second))
    if value == 0:
        return EMPTY
    for units_a_second in (1, 1000):
        if value == _YEAR_ONE * units_a_second:
            return EMPTY
        if _LAST * units_a_second <= value < (_LAST + 366 * 86_400) * units_a_second:
            return EMPTY  # a time in the year 9999
    return None


def _from_text(text: str) -> Any:
    """A datetime, or what `to_moment` returns: a Moment, EMPTY or None."""
    if not text or text.lower() in ("never", "none", "null", "n/a", "-"):
        return EMPTY
    if len(text) > _MAX_TEXT:
        return None
    if _DIGITS.match(text):
        at = _from_number(Decimal(text))
        if at is not None or len(text) not in (8, 14):  # 20261121, 20261121090000
            return at
    dotnet = _DOTNET.match(text)
    if dotnet is not None:
        return _from_number(int(dotnet[1]))
    match = _GENERAL.match(text) or _COMPACT.match(text)
    if match is not None:
        return _from_match(match)
    if _MAIL.match(text):
        with suppress(ValueError, TypeError, IndexError, OverflowError):
            return parsedate_to_datetime(text)
    return None


def _from_match(match: re.Match[str]) -> Any:
    """The datetime that a pattern found; EMPTY in the year 0; None if there is no such day or time.

    It has no zone if the text has none.
    """
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if year == "0000":
        return EMPTY  # how some databases write "none"
    microseconds = int((fraction or "0")[:6].ljust(6, "0"))
    whole_second = min(int(second or 0), 59)  # a leap second counts as the one before
    try:
        clock = time(int(hour or 0), int(minute or 0), whole_second, microseconds)
        return datetime.combine(date(int(year), int(month), int(day or 1)), clock, _zone_of(zone))
    except (ValueError, OverflowError):
        return None


def _zone_of(text: str | None) -> timezone | None:
    """The time zone of "Z", "UTC", "+01:00" or "-0530"; None if there is none.

    Raises ValueError for an offset of a day or more.
    """
    if text is None:
        return None
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _from_object(raw: dict[str, Json]) -> Any:
    """Protobuf's and Firestore's seconds and nanos, MongoDB's `$date`, PHP's date and zone."""
    if len(raw) > 6:
        return None
    by_name = {fold(key): value for key, value in raw.items()}
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
"""Seconds by the word of a unit; a month has 30 days."""
_PIECE: Final = lazy_pattern(r"\s*(\d+(?:\.\d+)?)\s*([a-zµμ]+)", re.IGNORECASE)
"""One number with its unit, of a duration such as "6m0s"."""
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
        unit_word = raw.get("unit", raw.get("units"))
        if type(unit_word) is str:
            # Of an unknown unit -1, which makes the duration negative, hence None.
            unit = _UNITS.get(unit_word.lower(), -1.0)
            return to_seconds(raw.get("value", raw.get("amount")), unit)
        if raw and raw.keys() <= _UNITS.keys():
            parts = [to_seconds(value, _UNITS[name]) for name, value in raw.items()]
            return None if None in parts else _bounded(sum(filter(None, parts)))
    number = to_decimal(raw)
    if number is not None:
        return _bounded(float(number) * unit)
    if type(raw) is not str or not raw or len(raw) > _MAX_TEXT:
        return None
    return _seconds_from_text(raw.strip())


def _seconds_from_text(text: str) -> float | None:
    """The seconds of "PT1.5S", "00:01:30" or "6m0s"; None if it is no duration."""
    iso = _ISO.match(text)
    if iso is not None and any(iso.groups()):
        unit_seconds = (7 * _DAY, _DAY, 3600.0, 60.0, 1.0)
        pairs = zip(iso.groups(), unit_seconds, strict=True)
        return _bounded(sum(float(number or 0) * seconds for number, seconds in pairs))
    clock = _CLOCK.match(text)
    if clock is not None:
        hours, minutes, seconds = clock.groups()
        return _bounded(int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds))
    total = 0.0
    end = 0
    for piece in _PIECE.finditer(text):
        unit = _UNITS.get(piece[2].lower())
        if unit is None or piece.start() != end:
            return None
        total += float(piece[1]) * unit
        end = piece.end()
    is_whole_text = end > 0 and end == len(text)
    return _bounded(total) if is_whole_text else None


def _bounded(seconds: float) -> float | None:
    """`seconds`, None if they are negative or more than a hundred years."""
    return seconds if 0 <= seconds <= _MAX_SECONDS else None
