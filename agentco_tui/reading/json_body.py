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
import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

from agentco_tui.reading.schema import Json
from agentco_tui.text import SafeText, safe

_MAX_INT_DIGITS: Final = 40
_MAX_EXPONENT: Final = 400
_EXCERPT_CELLS: Final = 80
_HTML_LOOK: Final = 2_000

_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_HTML: Final = re.compile(r"<!doctype\s+html|<html[\s>]|\A<(?:head|body|title|script)[\s>]", re.I)
_SSE_LINE: Final = re.compile(r"\A(?:data|event|id|retry)?:")
# Lines are looked at one by one: a list of all takes too much of a body that is all line ends.
_LINE: Final = re.compile(r"([^\n]*+)(?:\n|\Z)")
_SSE_LINES: Final = re.compile(r"([^\r\n]*+)(?:\r\n?|\n|\Z)")
_GUARD_PREFIX: Final = re.compile(r"\A\)\]\}',?[^\n]{0,20}\n")


class BodyError(ValueError):
    """The body is no JSON of any kind; `str(error)` is a short reason, fit to show.

    `is_html` tells a web page (a proxy's, a login page) from mere noise, and `excerpt` is how the
    body begins, cleaned and at most 80 cells wide.
    """

    def __init__(self, reason: SafeText, *, is_html: bool = False, excerpt: SafeText) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_html = is_html
        self.excerpt = excerpt


class OverfullBodyError(BodyError):
    """What the body holds would not fit into the memory that one answer may take."""


def parse_json(body: bytes) -> Json:
    """The JSON in `body`; None for an empty body.

    Fractions come as Decimal, exactly as written. Of a key given twice the last one wins. Takes
    time in proportion to the body, whatever it holds, and raises only `BodyError`.
    """
    if not fits_memory(body):
        raise _overfull(body)
    try:
        found = _decode(body)
        return _decode(found) if type(found) is str and found[:1] in ("{", "[") else found
    except RecursionError:
        raise _too_deep(body) from None
    except (ValueError, InvalidOperation):
        pass
    if not fits_memory(body, as_text=True):
        raise _overfull(body)
    text = _text(body)
    if not text:
        return None
    try:
        found = _documents(text)
    except RecursionError:
        raise _too_deep(body) from None
    return _without_surrogates(found) if _SURROGATE_ESCAPE.search(text) else found


def looks_like_html(body: bytes) -> bool:
    """True if the first bytes are those of a web page."""
    start = body[:_HTML_LOOK].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    return start.startswith("<") and _HTML.search(start) is not None


def excerpt(body: bytes) -> SafeText:
    """How the body begins: one clean line of at most 80 cells."""
    return safe(body[: _EXCERPT_CELLS * 8].decode("utf-8", "replace"), _EXCERPT_CELLS)


def _documents(text: str) -> Json:
    try:
        return _loads(text)
    except ValueError:
        pass
    events = _server_sent(text)
    if events is not None:
        return events
    lines = _json_lines(text)
    if lines is not None:
        return lines
    raise _no_json(text)


def _no_json(text: str) -> BodyError:
    body = text[: _HTML_LOOK * 2].encode("utf-8", "replace")
    begins = excerpt(body)
    if looks_like_html(body):
        return BodyError(safe("a web page, not JSON"), is_html=True, excerpt=begins)
    if text.startswith("<"):
        return BodyError(safe("XML or the like, not JSON"), excerpt=begins)
    if text[0] in "[{":
        return BodyError(safe("JSON that is cut off or broken"), excerpt=begins)
    return BodyError(safe("no JSON"), excerpt=begins)


def _overfull(body: bytes) -> OverfullBodyError:
    return OverfullBodyError(safe("more values than fit into memory"), excerpt=excerpt(body))


def _too_deep(body: bytes) -> BodyError:
    return BodyError(safe("JSON that is nested too deeply"), excerpt=excerpt(body))


def _latin1_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("agentco-latin1", _latin1_bytes)


def _text(body: bytes) -> str:
    """`body` as text: UTF-8, with bytes that are none read as Latin-1; UTF-16 and -32 by mark."""
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if body.startswith(mark):
            text = body.decode(encoding, "replace")
            break
    else:
        if body[1:2] == b"\0" and body[:1] in b'[{"':
            text = body.decode("utf-16-le", "replace")
        else:
            text = body.decode("utf-8", "agentco-latin1")
    text = text.lstrip("\ufeff").strip(" \t\r\n\0")
    return _GUARD_PREFIX.sub("", text, count=1)


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else digits


def _fraction(digits: str) -> Decimal | str:
    try:
        value = Decimal(digits)
    except InvalidOperation:
        return digits
    return digits if abs(value.adjusted()) > _MAX_EXPONENT else value


def _not_a_number(_name: str) -> None:
    return None


_loads: Callable[[str], Json] = json.JSONDecoder(
    parse_int=_int, parse_float=_fraction, parse_constant=_not_a_number, strict=False
).decode


def _server_sent(text: str) -> list[Json] | None:
    """The `data:` of each event, or None if these are no server-sent events."""
    if not _SSE_LINE.match(text):
        return None
    events: list[Json] = []
    data: list[str] = []

    def event_ends() -> None:
        whole = "\n".join(data)
        data.clear()
        if whole.strip() in ("", "[DONE]"):
            return
        try:
            events.append(_loads(whole))
        except ValueError:
            events.append(whole)

    for found in _SSE_LINES.finditer(text):
        line = found[1]
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip():
            event_ends()
        elif data and not _SSE_LINE.match(line):
            return None
    event_ends()
    return events if any(isinstance(event, (dict, list)) for event in events) else None


def _json_lines(text: str) -> list[Json] | None:
    """One document a line, or None; a line that is none stays text, and costs only itself."""
    documents: list[Json] = []
    broken = 0
    for found in _LINE.finditer(text):
        line = found[1].strip(" \t\r\x1e,")
        if not line:
            continue
        try:
            documents.append(_loads(line))
        except ValueError:
            broken += 1
            documents.append(line)
        if broken > 3 and broken > len(documents) // 2:
            return None
    whole = [item for item in documents if isinstance(item, (dict, list))]
    if len(documents) < 2 or len(whole) <= broken or not isinstance(documents[0], (dict, list)):
        return None
    return documents


def _without_surrogates(found: Json) -> Json:
    """`found` with lone surrogates replaced: no encoder, terminal or request can take them."""
    top: list[Json] = [found]
    todo: list[list[Json] | dict[str, Json]] = [top]
    while todo:
        holder = todo.pop()
        if isinstance(holder, dict):
            if any(_SURROGATE.search(key) for key in holder):
                clean = {_SURROGATE.sub("\ufffd", key): value for key, value in holder.items()}
                holder.clear()
                holder.update(clean)
            places: Any = list(holder.items())
        else:
            places = enumerate(holder)
        for place, value in places:
            if isinstance(value, str):
                if _SURROGATE.search(value):
                    holder[place] = _SURROGATE.sub("\ufffd", value)
            elif isinstance(value, (dict, list)):
                todo.append(value)
    return top[0]


# A body has its cap, but `[{},{},…` becomes thirty times its size in Python's objects. Counting the
# bytes that begin objects, lists and values takes a millisecond for four megabytes, and tells
# enough. Signs inside texts are counted too, so that prose seems larger than it is.
MOST_MEMORY: Final = 120_000_000
"""Bytes that a body may take together with what it is parsed to."""
_SMALL: Final = 256 * 1024
"""Bytes: no body up to here can come to more than a fifth of that."""

MEMORY_COSTS: Final = (
    (b"{", 170),
    (b"[", 80),
    (b",", 75),
    (b".", 50),
)
"""Bytes for an object, a list, a further value, a fraction, as measured with CPython 3.11."""
_LINE_COST: Final = 75
_ASTRAL: Final = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_AT_ONCE: Final = 8 * 1024 * 1024
"""Bytes counted in one go: two or three milliseconds."""


def fits_memory(body: bytes, *, as_text: bool = False) -> bool:
    """True if `body` and all that is parsed from it take at most `MOST_MEMORY` bytes.

    `as_text`: the body is to become one text first, which is then parsed, maybe line by line.
    """
    size = len(body)
    if size <= _SMALL:
        return True
    width = _width(body)
    total = size + width * size * (2 if as_text else 1)
    costs = (*MEMORY_COSTS, (b"\n", _LINE_COST)) if as_text else MEMORY_COSTS
    for start in range(0, size, _AT_ONCE):
        for sign, cost in costs:
            total += cost * body.count(sign, start, start + _AT_ONCE)
        if total > MOST_MEMORY:
            return False
    return True


def _width(body: bytes) -> int:
    """Bytes for a character: one letter that is no ASCII makes all of its text wider."""
    if body.isascii():
        return 1
    return 4 if any(lead in body for lead in _ASTRAL) else 2
