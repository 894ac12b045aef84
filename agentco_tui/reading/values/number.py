"""Numbers, however written: as JSON numbers, as texts, with signs and separators.

A boolean is never a number, and a number whose size makes no sense (1e999) is none either.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.schema import Json

_MAX_ADJUSTED: Final = 60
_MAX_TEXT: Final = 60
_MAX_INT: Final = 10**60
_PLAIN: Final = lazy_pattern(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\Z", re.ASCII)
_GROUPED: Final = lazy_pattern(
    r"([+-]?\d{1,3}([,.])(?:\d{2,3}\2)*\d{3})(?:(?!\2)[,.](\d+))?\Z", re.ASCII
)
"""1,234.56 and 1.234,56; the Indian way in twos before the last three."""
_BLANKS: Final = lazy_pattern(r"[\s\u00a0\u2009\u202f'’_]+")
_INNER: Final = ("intValue", "doubleValue", "$numberLong", "$numberInt", "$numberDouble")
_INNER_FRACTION: Final = ("$numberDecimal", "value", "score", "amount")


def to_decimal(raw: Json) -> Decimal | None:
    """`raw` as an exact number, or None if it is none.

    Reads 12, "12", "1,234.56", "1.234,56", "1 234", "(12.50)" (negative), "−3", and the number
    inside `{"intValue": "3"}` (OpenTelemetry) or `{"$numberDecimal": "3"}` (MongoDB).
    """
    kind = type(raw)
    if kind is int:
        return Decimal(raw) if -_MAX_INT < raw < _MAX_INT else None
    if kind is Decimal:
        # What is far too large, or no number at all, makes no sense; 0 has any exponent.
        fits = raw.is_finite() and (not raw or -_MAX_ADJUSTED <= raw.adjusted() <= _MAX_ADJUSTED)
        return raw if fits else None
    if kind is str:
        return _from_text(raw)
    if kind is dict and 0 < len(raw) <= 3:
        for name in (*_INNER, *_INNER_FRACTION):
            inner = raw.get(name)
            if inner is not None and type(inner) is not dict:
                return to_decimal(inner)
    return None


def to_count(raw: Json) -> int | None:
    """`raw` as a whole number that counts things: not negative, no fraction; else None."""
    if type(raw) is int:
        return raw if 0 <= raw < _MAX_INT else None
    value = to_decimal(raw)
    if value is None or value < 0 or value != value.to_integral_value():
        return None
    return int(value)


def _from_text(text: str) -> Decimal | None:
    if len(text) > _MAX_TEXT:
        return None
    text, sign = text.strip().replace("\u2212", "-"), ""
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1], "-"
    if not _PLAIN.match(text):
        text = _BLANKS.sub("", text)
        match = None if _PLAIN.match(text) else _GROUPED.match(text)
        if match is not None:
            whole, group, part = match.groups()
            text = whole.replace(group, "") + (f".{part}" if part else "")
        elif text.count(",") == 1:
            text = text.replace(",", ".")
    try:
        return to_decimal(Decimal(f"{sign}{text}")) if _PLAIN.match(text) else None
    except InvalidOperation:
        return None
