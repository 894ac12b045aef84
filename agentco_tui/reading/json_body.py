"""Bytes of an answer to JSON, however odd the bytes are.

The usual body takes msgspec's fast way. One that it refuses is read again by the standard
library's parser with its hazards taken away: a byte-order mark, NaN and Infinity (no numbers in
JSON; they become None), control characters inside texts, lone surrogates, bytes that are no
UTF-8, integers of thousands of digits and exponents past all sense (both kept as text), and
several documents in one body (NDJSON, server-sent events), which come back as a list. A text
that holds JSON is parsed as well. What would fill the memory is not parsed at all.
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
from agentco_tui.text import plain
from agentco_tui.text.patterns import lazy_pattern

_MAX_INT_DIGITS: Final = 40
_MAX_EXPONENT: Final = 400
_HTML_LOOK: Final = 2_000

_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_ESCAPES: Final = lazy_pattern(
    r"(\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2}"
)
"""A backslash, a pair of surrogates, or a lone one."""
_HTML: Final = lazy_pattern(r"<!doctype\s+html|<html[\s>]|\A<(?:head|body|title|script)[\s>]", re.I)
_SSE_LINE: Final = lazy_pattern(r"\A(?:data|event|id|retry)?:")
# Lines are looked at one by one: a list of all takes too much of a body that is all line ends.
_LINE: Final = lazy_pattern(r"([^\r\n]*+)(?:\r\n?|\n|\Z)")


class BodyError(ValueError):
    """The body is no JSON; `is_html` tells a web page (a proxy's, a login page) from mere noise."""

    def __init__(self, reason: str, *, is_html: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_html = plain(reason), is_html


class OverfullBodyError(BodyError):
    """What the body holds would not fit into the memory that one answer may take."""


def parse_json(body: bytes) -> Json:
    """The JSON in `body`; None for an empty body.

    Fractions come as Decimal, exactly as written. Of a key given twice the last one wins. Takes
    time in proportion to the body, whatever it holds, and raises only `BodyError`.
    """
    _check_memory(body)
    try:
        with contextlib.suppress(ValueError, InvalidOperation):
            found = _decode(body)
            return _parse_json_inside(found) if type(found) is str else found
        _check_memory(body, as_text=True)
        found = _parse_text(body.decode("utf-8", "agentco-latin1"))
        return _parse_json_inside(found) if type(found) is str else found
    except RecursionError:
        raise BodyError("JSON that is nested too deeply") from None


def _parse_text(text: str) -> Json:
    """The JSON in a text, read with the hazards taken away; None if it is blank."""
    text = text.lstrip("\ufeff").strip(" \t\r\n\0")
    # No encoder, terminal or request can take a lone surrogate.
    text = _ESCAPES.sub(lambda escape: escape[0] if escape[1] else "\\ufffd", text)
    return _documents(text) if text else None


def _parse_json_inside(text: str) -> Json:
    """The JSON that a JSON text holds, read as tolerantly as a body; the text itself if none."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return text
    with contextlib.suppress(ValueError, InvalidOperation):
        return _decode(text)
    _check_memory(text.encode("utf-8", "replace"), as_text=True)
    with contextlib.suppress(BodyError):
        return _parse_text(text)
    return text


def looks_like_html(body: bytes) -> bool:
    """True if the first bytes are those of a web page."""
    start = body[:_HTML_LOOK].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    return start.startswith("<") and _HTML.search(start) is not None


def _no_json(text: str) -> BodyError:
    if looks_like_html(text[: _HTML_LOOK * 2].encode("utf-8", "replace")):
        return BodyError("a web page, not JSON", is_html=True)
    if text.startswith("<"):
        return BodyError("XML or the like, not JSON")
    return BodyError("JSON that is cut off or broken" if text[0] in "[{" else "no JSON")


def _latin1_bytes(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8, read as Latin-1."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("agentco-latin1", _latin1_bytes)


def _fraction(digits: str) -> Decimal | str:
    with contextlib.suppress(InvalidOperation):
        value = Decimal(digits)
        return digits if abs(value.adjusted()) > _MAX_EXPONENT else value
    return digits


_loads: Callable[[str], Json] = json.JSONDecoder(
    parse_int=lambda digits: int(digits) if len(digits) <= _MAX_INT_DIGITS else digits,
    parse_float=_fraction, parse_constant=lambda _name: None, strict=False,
).decode  # fmt: skip


def _documents(text: str) -> Json:
    """The JSON in a text; a list of all documents in server-sent events, or in lines of their own.

    What is no JSON among several stays text, and costs only itself.
    """
    with contextlib.suppress(ValueError):
        return _loads(text)
    is_stream = _SSE_LINE.match(text) is not None
    found: list[Json] = []
    data: list[str] = []
    broken = 0
    for line in _LINE.finditer(f"{text}\n"):
        if is_stream and line[1].startswith("data:"):
            data.append(line[1][5:].removeprefix(" "))
            continue
        if is_stream and line[1].strip():
            if data and not _SSE_LINE.match(line[1]):
                raise _no_json(text)
            continue
        whole = "\n".join(data) if is_stream else line[1].strip(" \t\x1e,")
        data.clear()
        if whole.strip() in ("", "[DONE]"):
            continue
        try:
            found.append(_loads(whole))
        except ValueError:
            broken += 1
            found.append(whole)
        if not is_stream and broken > 3 and broken > len(found) // 2:
            raise _no_json(text)
    objects = sum(isinstance(each, (dict, list)) for each in found)
    is_list = len(found) > 1 and objects > broken and isinstance(found[0], (dict, list))
    if not (objects if is_stream else is_list):
        raise _no_json(text)
    return found


# A body has its cap, but `[{},{},…` becomes thirty times its size in Python's objects. Counting the
# bytes that begin objects, lists and values takes a millisecond for four megabytes, and tells
# enough. Signs inside texts are counted too, so that prose seems larger than it is.
_MOST_MEMORY: Final = 120_000_000  # bytes that a body may take together with what it is parsed to
_SMALL: Final = 256 * 1024  # bytes: no body up to here can come to more than a fifth of that
_MEMORY_COSTS: Final = ((b"{", 170), (b"[", 80), (b",", 75), (b".", 50))
"""Bytes for an object, a list, a further value, a fraction, as measured with CPython 3.11."""


def _check_memory(body: bytes, *, as_text: bool = False) -> None:
    """Raise OverfullBodyError if the body and what is parsed from it take more than may be.

    `as_text`: the body is to become one text first, which is then parsed, maybe line by line.
    """
    size = len(body)
    if size <= _SMALL:
        return
    # One letter that is no ASCII makes all of its text wider.
    total = size + (1 if body.isascii() else 4) * size * (2 if as_text else 1)
    total += sum(cost * body.count(sign) for sign, cost in _MEMORY_COSTS)
    if total + as_text * 75 * body.count(b"\n") > _MOST_MEMORY:
        raise OverfullBodyError("more values than fit into memory")
