"""Readers of texts, words, flags and numbers: a raw JSON value in, what it means out.

The raw values are those in answers of platforms, the remote services. A reader returns None for a
value that is not of its sort, `EMPTY` for an empty text, and `Incomplete(value)` if the raw value,
an object, holds more than what was read. A boolean is never a number, and neither is a number
beyond all reason (1e999).
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
from agentco_tui.text import SafeText, clean_block, clean_line
from agentco_tui.text.patterns import lazy_pattern

_WORD_CELLS: Final = 60
"""The width in cells of the terminal to which status words are cut."""
_SHORT: Final = 400
"""A block of at most so many printable ASCII characters is read as a line, which is faster."""
_NAMED: Final = (
    "displayvalue", "name", "displayname",
    "title", "label", "fullname", "text", "value", "word", "message",
    "content", "username", "login", "slug", "identifier", "key", "email", "rendered", "en",
    "default",
)  # fmt: skip
"""Folded keys of the name in an object, best first."""
_WORDED: Final = (
    "displayvalue", "state", "status",
    "name", "value", "phase", "label", "code", "key", "current", "level", "type",
)  # fmt: skip
"""Folded keys of the status word in an object, best first."""
_BLOCK: Final = ("text", "content", "message", "value", "body", "output", "markdown", "plain")
"""Folded keys of the text in an object, best first."""


def to_line(raw: Json) -> Any:
    """One line of text; a number as its digits; EMPTY for a blank text; else None."""
    if type(raw) is str:
        if not raw or raw.isspace():
            return EMPTY
        return clean_line(raw)
    if type(raw) is int or type(raw) is Decimal:
        return number_text(raw)
    return None


def to_text_only(raw: Json) -> Any:
    """One line of a text; EMPTY for a blank text; None for all else, numbers too."""
    if type(raw) is not str:
        return None
    return to_line(raw)


def to_name(raw: Json) -> Any:
    """A name: a line, or the name inside an object such as `{"name": "Scout", "id": "1"}`."""
    if type(raw) is dict:
        return _inner(raw, _NAMED, to_line)
    return to_line(raw)


def to_word(raw: Json) -> Any:
    """A status word or the like: a short line, or the word inside `{"state": "working", …}`."""
    if type(raw) is str:
        if not raw or raw.isspace():
            return EMPTY
        return clean_line(raw.strip(), _WORD_CELLS)
    if type(raw) is dict:
        if len(raw) == 1:
            number = to_decimal(raw)
            if number is not None:
                return number_text(number)
        return _inner(raw, _WORDED, to_word)
    if type(raw) is list and len(raw) == 1 and type(raw[0]) is str:
        return to_word(raw[0])
    return to_line(raw)


def to_block(raw: Json, max_cells: int = 20_000, max_lines: int = 2_000) -> Any:
    """Several lines of text, also from a list of texts or the text inside an object."""
    if type(raw) is str:
        if not raw or raw.isspace():
            return EMPTY
        if len(raw) <= _SHORT and raw.isascii() and raw.isprintable():
            return clean_line(raw)
        return clean_block(raw, max_cells, max_lines)
    if type(raw) is list and raw and all(type(part) is str for part in raw):
        return clean_block("\n".join(raw), max_cells, max_lines)
    if type(raw) is dict:
        return _inner(raw, _BLOCK, lambda inner: to_block(inner, max_cells, max_lines))
    return to_line(raw)


def to_shown_text(raw: Json) -> SafeText | None:
    """Any value as a block of text; None if it is empty.

    Texts are kept, other values become compact JSON, and values of secret fields are hidden.
    """
    if raw is None or raw in ("", {}, []):
        return None
    if type(raw) is str:
        return clean_block(raw) or None
    if type(raw) is list and len(raw) < 200 and all(type(part) in (str, dict) for part in raw):
        parts = [to_shown_text(part) for part in raw]
        if all(parts):
            return clean_block("\n".join(map(str, parts)))
    if type(raw) is dict:
        fields = {key: value for key, value in raw.items() if key != "type"}
        text = _inner(fields, _BLOCK, to_block)
        if isinstance(text, str):
            return SafeText(text)
    return clean_block(compact(raw, 4_000))


_FLAGS: Final = {
    **dict.fromkeys(("true", "yes", "y", "1", "on"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off"), False),
}
"""The words of flags, in lower case."""


def to_flag(raw: Json) -> bool | None:
    """True or False for true, "true", "yes", 1 and their opposites; None for all else."""
    if type(raw) not in (bool, int, str):
        return None
    return _FLAGS.get(str(raw).strip().lower())


def number_text(raw: int | Decimal) -> SafeText | None:
    """A number as plain digits; None if it has more than 30 or so, or is no number (NaN)."""
    if type(raw) is Decimal:
        if not raw.is_finite() or abs(raw.adjusted()) > 30:
            return None
        return clean_line(f"{raw:f}")
    if not -(10**30) < raw < 10**30:
        return None
    return clean_line(str(raw))


def _inner(raw: Mapping[str, Json], keys: tuple[str, ...], reader: Any) -> Any:
    """The value that `reader` makes of the best of `keys` in an object; None without one.

    Texts are preferred to numbers and flags. Incomplete if the object has other values.
    """
    if len(raw) > 40:
        return None
    by_key = {fold(key): value for key, value in raw.items()}
    with_text = [key for key in keys if type(by_key.get(key)) is str]
    for key in (*with_text, *keys):
        value = by_key.get(key)
        if value is None or type(value) is dict or type(value) is list:
            continue
        found = reader(value)
        if found is None or found is EMPTY:
            continue
        values_sent = sum(each is not None for each in raw.values())
        if values_sent == 1:
            return found
        return Incomplete(found)
    return None


_MAX_ADJUSTED: Final = 60
"""Numbers of 10^60 and more, or of 10^-60 and less, make no sense."""
_MAX_TEXT: Final = 60
"""Characters of the longest text that is read as a number."""
_MAX_INT: Final = 10**60
_PLAIN: Final = lazy_pattern(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\Z", re.ASCII)
"""A number as JSON or a programming language writes it."""
_GROUPED: Final = lazy_pattern(
    r"([+-]?\d{1,3}([,.])(?:\d{2,3}\2)*\d{3})(?:(?!\2)[,.](\d+))?\Z", re.ASCII
)
"""1,234.56 and 1.234,56; in India groups of two before the last three."""
_BLANKS: Final = lazy_pattern(r"[\s\u00a0\u2009\u202f'’_]+")
"""Other separators of thousands: blanks, apostrophes, underscores."""
_WRAPPED_NUMBER: Final = ("intValue", "doubleValue", "$numberLong", "$numberInt", "$numberDouble")
_WRAPPED_FRACTION: Final = ("$numberDecimal", "value", "score", "amount")
"""Keys of the number in an object that wraps one; the former ones: OpenTelemetry and MongoDB."""


def to_decimal(raw: Json) -> Decimal | None:
    """`raw` as an exact number, or None if it is none.

    Reads 12, "12", "1,234.56", "1.234,56", "1 234", "(12.50)" (negative), "−3", and the number
    inside `{"intValue": "3"}` (OpenTelemetry) or `{"$numberDecimal": "3"}` (MongoDB).
    """
    kind = type(raw)
    if kind is int:
        if not -_MAX_INT < raw < _MAX_INT:
            return None
        return Decimal(raw)
    if kind is Decimal:
        if not raw.is_finite():
            return None
        # Zero may have any exponent.
        if raw and abs(raw.adjusted()) > _MAX_ADJUSTED:
            return None
        number: Decimal = raw
        return number
    if kind is str:
        return _from_text(raw)
    if kind is dict and len(raw) <= 3:
        for name in (*_WRAPPED_NUMBER, *_WRAPPED_FRACTION):
            inner = raw.get(name)
            if inner is not None and type(inner) is not dict:
                return to_decimal(inner)
    return None


def to_count(raw: Json) -> int | None:
    """`raw` as a whole number that counts things: not negative, no fraction; else None."""
    if type(raw) is int:
        if not 0 <= raw < _MAX_INT:
            return None
        return raw
    value = to_decimal(raw)
    if value is None or value < 0 or value != value.to_integral_value():
        return None
    return int(value)


def _from_text(text: str) -> Decimal | None:
    """The number in a text, None if it is none; brackets mean that it is negative."""
    if len(text) > _MAX_TEXT:
        return None
    text = text.strip().replace("\u2212", "-")
    sign = ""
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
        sign = "-"
    if not _PLAIN.match(text):
        text = _without_groups(text)
        if not _PLAIN.match(text):
            return None
    try:
        return to_decimal(Decimal(f"{sign}{text}"))
    except InvalidOperation:
        return None


def _without_groups(text: str) -> str:
    """A number without separators of thousands, with a decimal point in place of a comma."""
    text = _BLANKS.sub("", text)
    if _PLAIN.match(text):
        return text
    match = _GROUPED.match(text)
    if match is not None:
        whole, separator, fraction = match.groups()
        digits = whole.replace(separator, "")
        if fraction:
            return f"{digits}.{fraction}"
        return digits
    if text.count(",") == 1:
        return text.replace(",", ".")
    return text
