"""Entity tags: the platform's own mark for "the same as last time"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_ETAG: Final = re.compile(r'(W/)?"[!#-~]{0,200}"')


def usable_etag(headers: Mapping[str, str]) -> str | None:
    """The ETag, if it is one as RFC 9110 has them and so may go back in a header."""
    tag = headers.get("etag", "").strip()
    return tag if _ETAG.fullmatch(tag) else None


def if_none_match(tag: str | None) -> tuple[tuple[str, str], ...]:
    """The header that asks for an answer only if it is another one; none without a tag."""
    return () if tag is None else (("If-None-Match", tag),)
