"""Bodies that are wrong: what a broken or hostile platform puts in place of good JSON."""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

MIB = 1 << 20

LOGIN_PAGE = (
    b"<!doctype html>\n<html><head><title>Sign in</title></head>"
    b'<body><h1>Sign in</h1><form method="post" action="/login">'
    b'<input name="user"><input name="password" type="password"></form></body></html>\n'
)

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bPq#0;2;0;0;0\x1b\\",
    "\x9b2J\x9d52;c;ZXZpbA==\x9c",
    "\x1b[?1049l\x1b[?1000h",
    "[/]",
    "[@click=app.quit]click[/]",
    "[bold red]big[/bold red] [not closed",
    "\u202egnp.exe\u202c",
    "\u2066isolated\u2069\u200f",
    "zero\u200b\u200b\u200b\u200bwidth\ufeff",
    "tag\U000e0041\U000e0042",
    "line\u2028separator\u2029and\x85next",
    "nul\x00bel\x07del\x7fback\x08\x08",
    "two\r\nlines\tand tabs\x0b\x0c",
    "z" + "\u0335\u0336\u0337\u0338" * 20,
    "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪é",
    "=cmd|'/C calc'!A0",
    "\ud800 alone",
    "non\ufffecharacter\U0010ffff",
    "w" * 3_000,
    "%s %n {0} {title} $(id) `id`",
)
"""Texts that must never reach a terminal as they are."""

_KEPT = re.compile(
    r"(^|[_-])(id|ids|key|cursor|token|url|href|links?|next|previous|first|last)$|[a-z]I[dD]s?$"
    r"|_?at$|At$|-at$|time|status|state|priority|severity|level|type|kind|currency|unit|period"
    r"|amount|money|spent|limit|cost|^op|^rel|cursor|token",
    re.IGNORECASE,
)
"""Keys whose strings are left alone, because without them no record would be understood."""


def numbers(body: bytes, token: str) -> bytes:
    """Every number replaced by `token`, which need not be valid JSON."""
    marker = "\ufdd0number\ufdd0"

    def swap(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        return marker

    spoiled = _rewrite(body, swap)
    if spoiled is None or marker not in json.dumps(spoiled, ensure_ascii=False):
        spoiled = {"value": marker}
    return json.dumps(spoiled, ensure_ascii=False).replace(f'"{marker}"', token).encode()


def surrogates(body: bytes) -> bytes:
    """A lone surrogate, escaped as JSON allows, at the end of every string."""
    spoiled = _rewrite_texts(body, lambda text: text + "\ud83d")
    return json.dumps({"text": "\ud83d"} if spoiled is None else spoiled).encode()


def latin1(body: bytes) -> bytes:
    """Strings with accents in Latin-1, under a header that promises UTF-8."""
    spoiled = _rewrite_texts(body, lambda text: text + " café")
    text = body.decode() + " café" if spoiled is None else json.dumps(spoiled, ensure_ascii=False)
    return text.encode("latin-1", "replace")


def duplicate_keys(body: bytes) -> bytes:
    """Every key twice: first with null, then with its value."""

    def write(value: Any) -> str:
        if isinstance(value, dict):
            pairs = (f"{json.dumps(k)}:null,{json.dumps(k)}:{write(v)}" for k, v in value.items())
            return "{" + ",".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(write, value)) + "]"
        return json.dumps(value)

    try:
        return write(json.loads(body)).encode()
    except ValueError:
        return b'{"a":null,"a":1}'


def hostile(body: bytes) -> bytes:
    """A hostile text at the end of every string that isn't an id, a moment or a status."""
    payloads = cycle(HOSTILE)
    spoiled = _rewrite_texts(body, lambda text: f"{text} {next(payloads)}")
    if spoiled is None:
        return body + "\r\n".join(HOSTILE).encode("utf-8", "replace")
    return json.dumps(spoiled).encode()


def deep(brackets: int) -> bytes:
    """Lists inside lists."""
    return b"[" * brackets + b"]" * brackets


def endless() -> Iterator[bytes]:
    """Pieces of a list that never ends."""
    yield b"["
    row = b'{"id":"x_%d","title":"and one more"},'
    number = 0
    while True:
        yield b"".join(row % turn for turn in range(number, number + 1_000))
        number += 1_000


@functools.lru_cache(maxsize=8)
def gzip_bomb(mib: int, *, twice: bool) -> bytes:
    """A gzip stream of valid JSON, `[` blanks `]`, of this many MiB; compressed twice if told."""
    piece = b" " * MIB
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = squeeze.compress(b"[") + squeeze.flush(zlib.Z_FULL_FLUSH)
    # After a full flush no block refers to what came before, so one serves for all.
    block = squeeze.compress(piece) + squeeze.flush(zlib.Z_FULL_FLUSH)
    tail = squeeze.compress(b"]") + squeeze.flush(zlib.Z_FINISH)
    check = zlib.crc32(b"[")
    for _ in range(mib):
        check = zlib.crc32(piece, check)
    check = zlib.crc32(b"]", check)
    length = (mib * MIB + 2) & 0xFFFFFFFF
    trailer = check.to_bytes(4, "little") + length.to_bytes(4, "little")
    bomb = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + head + block * mib + tail + trailer
    if twice:
        again = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        bomb = again.compress(bomb) + again.flush()
    return bomb


def _rewrite(body: bytes, swap: Callable[[Any], Any]) -> Any:
    """The JSON with every leaf swapped; None if the body is none."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walk(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner) for inner in value]
        return swap(value)

    try:
        return walk(json.loads(body))
    except ValueError:
        return None


def _rewrite_texts(body: bytes, swap: Callable[[str], str]) -> Any:
    """The JSON with every free text swapped; None if the body is none."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        if isinstance(value, str) and not _KEPT.search(key):
            return swap(value)
        return value

    try:
        return walk(json.loads(body))
    except ValueError:
        return None
