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
        return _sensible(raw)
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


def _sensible(value: Decimal) -> Decimal | None:
    if not value.is_finite():
        return None
    if value and abs(value.adjusted()) > _MAX_ADJUSTED:
        return None
    return value


def _from_text(text: str) -> Decimal | None:
    if len(text) > _MAX_TEXT:
        return None
    bare = text.strip().replace("\u2212", "-")
    if not _PLAIN.match(bare):
        cleaned = _without_separators(bare)
        if cleaned is None:
            return None
        bare = cleaned
    try:
        return _sensible(Decimal(bare))
    except InvalidOperation:
        return None


def _without_separators(text: str) -> str | None:
    negative = False
    if text.startswith("(") and text.endswith(")"):
        text, negative = text[1:-1], True
    text = _BLANKS.sub("", text)
    comma, point = text.rfind(","), text.rfind(".")
    if comma >= 0 and point >= 0:
        group, decimal = (",", ".") if point > comma else (".", ",")
        whole, _, part = text.rpartition(decimal)
        if not _grouped(whole, group):
            return None
        text = f"{whole.replace(group, '')}.{part}"
    elif comma >= 0:
        if _grouped(text, ","):
            text = text.replace(",", "")
        elif text.count(",") == 1:
            text = text.replace(",", ".")
    elif text.count(".") > 1 and _grouped(text, "."):
        text = text.replace(".", "")
    if not _PLAIN.match(text):
        return None
    return f"-{text}" if negative else text


def _grouped(text: str, separator: str) -> bool:
    first, *groups = text.lstrip("+-").split(separator)
    if not groups:
        return text.lstrip("+-").isdigit()
    in_threes = all(len(group) == 3 and group.isdigit() for group in groups)
    # the Indian way groups in twos before the last three
    in_twos = len(groups[-1]) == 3 and all(len(g) == 2 and g.isdigit() for g in groups[:-1])
    return 1 <= len(first) <= 3 and first.isdigit() and (in_threes or in_twos)
