"""Readers of texts, words, flags and numbers; whatever comes in their place is turned away.

A boolean is never a number, and a number whose size makes no sense (1e999) is none either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from agentco_tui.reading.field_names import fold
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.reading.unknown_fields import compact
from agentco_tui.text import SafeText, safe, safe_block
from agentco_tui.text.patterns import lazy_pattern

_WORD_CELLS: Final = 60
_SHORT: Final = 400
"""Up to so many printable ASCII characters a block is just a line."""
_NAMED: Final = (
    "displayvalue", "name", "displayname",
    "title", "label", "fullname", "text", "value", "word", "message",
    "content", "username", "login", "slug", "identifier", "key", "email", "rendered", "en",
    "default",
)  # fmt: skip
_WORDED: Final = (
    "displayvalue", "state", "status",
    "name", "value", "phase", "label", "code", "key", "current", "level", "type",
)  # fmt: skip
_BLOCK: Final = ("text", "content", "message", "value", "body", "output", "markdown", "plain")


def line(raw: Json) -> Any:
    """One line of text; a number as its digits; `EMPTY` for an empty text; None for all else."""
    if type(raw) is str:
        return safe(raw) if raw and not raw.isspace() else EMPTY
    if type(raw) is int or type(raw) is Decimal:
        return number_text(raw)
    return None


def text_only(raw: Json) -> Any:
    """One line, only from a text."""
    return line(raw) if type(raw) is str else None


def named(raw: Json) -> Any:
    """A name: a line, or the name inside an object such as `{"name": "Scout", "id": "1"}`."""
    if type(raw) is dict:
        return _inner(raw, _NAMED, line)
    return line(raw)


def word(raw: Json) -> Any:
    """A status word or the like: a short line, or the word inside `{"state": "working", …}`."""
    if type(raw) is str:
        return safe(raw.strip(), _WORD_CELLS) if raw and not raw.isspace() else EMPTY
    if type(raw) is dict:
        if len(raw) == 1 and (number := to_decimal(raw)) is not None:
            return number_text(number)
        return _inner(raw, _WORDED, word)
    if type(raw) is list and len(raw) == 1 and type(raw[0]) is str:
        return word(raw[0])
    return line(raw)


def block(raw: Json, max_cells: int = 20_000, max_lines: int = 2_000) -> Any:
    """Several lines of text, also from a list of texts or the text inside an object."""
    if type(raw) is str:
        if len(raw) <= _SHORT and raw.isascii() and raw.isprintable() and not raw.isspace():
            return safe(raw) if raw else EMPTY
        return safe_block(raw, max_cells, max_lines) if raw and not raw.isspace() else EMPTY
    if type(raw) is list and raw and all(type(part) is str for part in raw):
        return safe_block("\n".join(raw), max_cells, max_lines)
    if type(raw) is dict:
        return _inner(raw, _BLOCK, lambda inner: block(inner, max_cells, max_lines))
    return line(raw)


def shown(raw: Json) -> SafeText | None:
    """Any value as a block of text: texts as they are, the rest as compact JSON, keys hidden."""
    if raw is None or raw in ("", {}, []):
        return None
    if type(raw) is str:
        return safe_block(raw) or None
    if type(raw) is list and len(raw) < 200:
        parts = [shown(part) if type(part) in (str, dict) else None for part in raw]
        if all(parts):
            return safe_block("\n".join(map(str, parts)))
    if type(raw) is dict:
        inner = _inner({key: value for key, value in raw.items() if key != "type"}, _BLOCK, block)
        if isinstance(inner, str):
            return SafeText(inner)
    return safe_block(compact(raw, 4_000))


_FLAGS: Final = {
    **dict.fromkeys(("true", "yes", "y", "1", "on"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off"), False),
}


def flag(raw: Json) -> bool | None:
    """A yes or no: true, "true", "yes", 1 and their opposites; None for all else."""
    return _FLAGS.get(str(raw).strip().lower()) if type(raw) in (bool, int, str) else None


def number_text(raw: int | Decimal) -> SafeText | None:
    """A number as text, plain digits; None if it has more digits than anyone reads."""
    if type(raw) is Decimal:
        if not raw.is_finite() or abs(raw.adjusted()) > 30:
            return None
        return safe(f"{raw:f}")
    return safe(str(raw)) if -(10**30) < raw < 10**30 else None


def _inner(raw: Mapping[str, Json], names: tuple[str, ...], reader: Any) -> Any:
    if len(raw) > 40:
        return None
    by_name = {fold(key): value for key, value in raw.items()}
    texts = [name for name in names if type(by_name.get(name)) is str]
    for name in (*texts, *names):
        value = by_name.get(name)
        if value is None or type(value) is dict or type(value) is list:
            continue
        found = reader(value)
        if found is None or found is EMPTY:
            continue
        return found if sum(each is not None for each in raw.values()) == 1 else Incomplete(found)
    return None


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
    if kind is dict and len(raw) <= 3:
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
