"""Identifiers made from content, for entries that came without one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from agentco_tui.reading.schema import Json

_encode = msgspec.json.Encoder(order="deterministic").encode


def content_id(kind: str, obj: Mapping[str, Json]) -> str:
    """The same id for the same content, whatever the order of its fields: "alert-3f…"."""
    try:
        encoded = _encode(obj)
    except (RecursionError, ValueError, TypeError, OverflowError, UnicodeEncodeError):
        encoded = "\n".join(f"{key}={_flat(value)}" for key, value in sorted(obj.items())).encode(
            "utf-8", "replace"
        )
    return f"{kind}-{hashlib.blake2b(encoded, digest_size=8).hexdigest()}"


def _flat(value: Json) -> str:
    return type(value).__name__ if isinstance(value, (dict, list)) else str(value)
