"""Parses the bytes of an answer to JSON, however odd they are: `parse_json`.

An answer is one of the platform, the remote service. The usual body is parsed by msgspec, which is
fast and strict. One that it refuses is parsed again by the standard library, without the hazards: a
byte-order mark, NaN and Infinity (no numbers in JSON; they become None), control characters inside
texts, lone surrogates, bytes that are no UTF-8, integers of thousands of digits and exponents
beyond reason (both kept as text), and several documents in one body (NDJSON, server-sent events),
which are returned as a list. A text that holds JSON is parsed as well. A body whose values would
fill the memory is not parsed at all.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Final

import msgspec

from agentco_tui.reading.json_access import Json
from agentco_tui.text import mark_safe
from agentco_tui.text.patterns import lazy_pattern

_MAX_INT_DIGITS: Final = 40
"""An integer with more digits stays text."""
_MAX_EXPONENT: Final = 400
"""A number of 10^401 and more, or 10^-401 and less, stays text."""
_HTML_START: Final = 2_000
"""Bytes of a body that are examined for signs of a web page."""

_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_ESCAPES: Final = lazy_pattern(
    r"(\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2}"
)
"""A backslash, a pair of surrogates, or a lone one."""
_HTML: Final = lazy_pattern(r"<!doctype\s+html|<html[\s>]|\A<(?:head|body|title|script)[\s>]", re.I)
_SSE_LINE: Final = lazy_pattern(r"\A(?:data|event|id|retry)?:")
# Lines are read one by one: a list of all would take too much memory if a body is all line ends.
_LINE: Final = lazy_pattern(r"([^\r\n]*+)(?:\r\n?|\n|\Z)")


class BodyError(ValueError):
    """The body is no JSON; `is_html` if it is a web page, such as a proxy's or a login page."""

    def __init__(self, reason: str, *, is_html: bool = False) -> None:
        super().__init__(reason)
        self.reason = mark_safe(reason)
        self.is_html = is_html


class OverfullBodyError(BodyError):
    """The parsed body would take more memory than one answer may."""


def parse_json(body: bytes) -> Json:
    """The JSON in `body`; None for an empty body.

    Fractions come as Decimal, exactly as written. Of a key given twice the last one wins. Takes
    time in proportion to the body, whatever it holds, and raises only `BodyError`.
    """
    _check_memory(body)
    try:
        with contextlib.suppress(ValueError, InvalidOperation):
            return _parse_json_inside(_decode(body))
        _check_memory(body, as_text=True)
        return _parse_json_inside(_parse_text(body.decode("utf-8", "agentco-latin1")))
    except RecursionError:
        raise BodyError("JSON that is nested too deeply") from None


def _parse_text(text: str) -> Json:
    """The JSON in a text, read with the hazards taken away; None if it is blank."""
    text = text.lstrip("\ufeff").strip(" \t\r\n\0")
    # No encoder, terminal or request can take a lone surrogate.
    text = _ESCAPES.sub(lambda escape: escape[0] if escape[1] else "\\ufffd", text)
    if not text:
        return None
    return _documents(text)


def _parse_json_inside(text: Json) -> Json:
    """The JSON that a JSON text holds, read as tolerantly as a body; any other value unchanged."""
    if type(text) is not str:
        return text
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return text
    with contextlib.suppress(ValueError, InvalidOperation):
        return _decode(text)
    _check_memory(text.encode("utf-8", "replace"), as_text=True)
    with contextlib.suppress(BodyError):
        return _parse_text(text)
    return text


def looks_like_html(body: bytes) -> bool:
    """Whether the first bytes are those of a web page."""
    start = body[:_HTML_START].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    return start.startswith("<") and _HTML.search(start) is not None


def _no_json(text: str) -> BodyError:
    """The error for a text that is no JSON, with what it seems to be."""
    if looks_like_html(text[: _HTML_START * 2].encode("utf-8", "replace")):
        return BodyError("a web page, not JSON", is_html=True)
    if text.startswith("<"):
        return BodyError("XML or the like, not JSON")
    if text.startswith(("[", "{")):
        return BodyError("JSON that is cut off or broken")
    return BodyError("no JSON")


def _latin1_bytes(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8, read as Latin-1."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("agentco-latin1", _latin1_bytes)


def _integer(digits: str) -> int | str:
    """The integer; its text if it is too long."""
    if len(digits) > _MAX_INT_DIGITS:
        return digits
    return int(digits)


def _fraction(digits: str) -> Decimal | str:
    """The number, exactly as written; its text if the exponent is beyond reason."""
    with contextlib.suppress(InvalidOperation):
        value = Decimal(digits)
        if abs(value.adjusted()) <= _MAX_EXPONENT:
            return value
    return digits


_loads: Callable[[str], Json] = json.JSONDecoder(
    parse_int=_integer, parse_float=_fraction, parse_constant=lambda _name: None, strict=False
).decode


def _documents(text: str) -> Json:
    """The JSON in a text; a list of all documents in server-sent events, or if each has its line.

    A document that is no JSON stays text, unless most of them are none. Raises BodyError.
    """
    with contextlib.suppress(ValueError):
        return _loads(text)
    is_stream = _SSE_LINE.match(text) is not None
    documents: list[Json] = []
    data: list[str] = []
    """The lines of the event that is being read."""
    broken = 0
    """How many documents are no JSON."""
    for line in _LINE.finditer(f"{text}\n"):
        if is_stream and line[1].startswith("data:"):
            data.append(line[1][5:].removeprefix(" "))
            continue
        if is_stream and line[1].strip():
            if data and not _SSE_LINE.match(line[1]):
                raise _no_json(text)
            continue
        document = line[1].strip(" \t\x1e,")
        if is_stream:
            document = "\n".join(data)
        data.clear()
        if document.strip() in ("", "[DONE]"):
            continue
        try:
            documents.append(_loads(document))
        except ValueError:
            broken += 1
            documents.append(document)
        if not is_stream and broken > 3 and broken > len(documents) // 2:
            raise _no_json(text)
    objects = sum(isinstance(each, (dict, list)) for each in documents)
    if is_stream and objects > 0:
        return documents
    if len(documents) > 1 and objects > broken and isinstance(documents[0], (dict, list)):
        return documents
    raise _no_json(text)


# The size of a body is limited, but `[{},{},…` becomes thirty times as large as Python's objects.
# Counting the bytes that begin objects, lists and values takes a millisecond for four megabytes,
# and is exact enough. Signs inside texts are counted too, so that prose seems larger than it is.
_MOST_MEMORY: Final = 120_000_000
"""Bytes that a body and the objects parsed from it may take together."""
_SMALL: Final = 256 * 1024
"""Bytes: a body up to this size takes at most a fifth of `_MOST_MEMORY`, and is not checked."""
_MEMORY_COSTS: Final = ((b"{", 170), (b"[", 80), (b",", 75), (b".", 50))
"""Bytes for an object, a list, a further value, a fraction, as measured with CPython 3.11."""
_LINE_COST: Final = 75
"""Bytes for a line of a text that may be parsed line by line."""


def _check_memory(body: bytes, *, as_text: bool = False) -> None:
    """Raise OverfullBodyError if the body and its parsed values would take too much memory.

    `as_text`: the body is decoded to one text first, which is then parsed, maybe line by line.
    """
    size = len(body)
    if size <= _SMALL:
        return
    texts = size
    if not body.isascii():
        texts *= 4  # one letter that is no ASCII makes all of its text wider
    if as_text:
        texts *= 2
    values = sum(cost * body.count(sign) for sign, cost in _MEMORY_COSTS)
    if as_text:
        values += _LINE_COST * body.count(b"\n")
    if size + texts + values > _MOST_MEMORY:
        raise OverfullBodyError("more values than fit into memory")
