"""A request, checked in every part before it may go out (law 6: strict out)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode

from agentco_tui.api.answered import Asked, not_sent
from agentco_tui.api.credentials import BaseUrl

Pairs = Iterable[tuple[str, str]]
"""Names and values of a query or of headers, in order."""

_PATH: Final = re.compile(r"/api(/[A-Za-z0-9_.~%!$&'()*+,;=:@-]+)+")
_DOT_SEGMENT: Final = re.compile(r"/\.{1,2}(/|$)")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_HEADER_VALUE: Final = re.compile(r"[!-~]([ -~]{0,1022}[!-~])?")
_LONGEST_URL: Final = 16_000
_LONGEST_ID: Final = 2_000


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What goes out on every attempt, without the key."""

    asked: Asked
    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes | None = field(repr=False)
    takes_304: bool
    """True if the request is conditional, so that a 304 is an answer to it."""


def outgoing(
    base: BaseUrl,
    asked: Asked,
    *,
    params: Pairs = (),
    body: bytes | None = None,
    accept: str,
    headers: Pairs = (),
) -> Outgoing:
    """The request as it will go out; raises NotSent if any part of it cannot."""
    if not _PATH.fullmatch(asked.path) or _DOT_SEGMENT.search(asked.path):
        raise not_sent(asked, "the path is none of the platform's: is an id wrong?")
    lines = [("Accept", accept), *headers]
    if body is not None:
        lines.append(("Content-Type", "application/json"))
    for name, value in lines:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise not_sent(asked, "a header holds a character that cannot be sent")
    query = _query(asked, params)
    url = base.join(asked.path) + (f"?{query}" if query else "")
    if len(url) > _LONGEST_URL:
        raise not_sent(asked, "the address became too long: use fewer or shorter filters")
    conditional = any(name.lower() == "if-none-match" for name, _ in lines)
    return Outgoing(asked, url, tuple(lines), body, conditional)


def segment(identifier: str) -> str:
    """An identifier as exactly one path segment, percent-encoded.

    The segments "." and ".." would be taken away by clients and proxies, so their dots are
    encoded too. Raises ValueError, without the identifier in its text, if it is empty, longer
    than 2,000 characters or cannot be UTF-8.
    """
    if not identifier:
        raise ValueError("the id is empty")
    if len(identifier) > _LONGEST_ID:
        raise ValueError("the id is too long")
    if identifier in (".", ".."):
        return "%2E" * len(identifier)
    try:
        return quote(identifier, safe="")
    except UnicodeError:
        raise ValueError("the id holds a character that cannot be sent") from None


def _query(asked: Asked, params: Pairs) -> str:
    try:
        return urlencode([*params], quote_via=quote, safe="")
    except UnicodeError:
        words = "a filter holds a character that cannot be sent"
        error = not_sent(asked, words)
    raise error
