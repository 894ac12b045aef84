"""What was not understood, kept as JSON beside the record.

Values under names that look like secrets are replaced, whatever the depth; so are texts that look
like keys whatever their name. Size and depth are bounded, and what was left out is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

import msgspec

from agentco_tui.reading.field_names import is_secret
from agentco_tui.reading.json_access import Json
from agentco_tui.text.patterns import lazy_pattern

HIDDEN: Final = "(hidden)"
CUT: Final = "(cut)"
"""The name under which a cut `extra` tells what is missing."""
_MAX_EXPONENT: Final = 300
_KEY_LIKE: Final = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][\w-]{8,}|gh[opsu]_\w{10,}|github_pat_\w+"
    r"|xox[abps]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|eyJ[\w-]{6,}\.eyJ[\w-]+|(?:Bearer|Basic)\s+[\w.=/+-]{8,}"
)
_PLAIN: Final = frozenset((int, bool, type(None)))
_OF_A_VALUE: Final = 8
"""Bytes that a value takes beside its text."""


class ExtraBounds(NamedTuple):
    """How much of one record is kept."""

    size: int
    """Bytes of the JSON, about."""
    text: int
    """Characters of one text."""
    depth: int


USUAL: Final = ExtraBounds(16_384, 4_000, 24)
WHOLE: Final = ExtraBounds(64 * 1024, 30_000, 48)
"""More than anybody reads before a decision: what is longer can't be decided here."""

_encode = msgspec.json.Encoder(decimal_format="number").encode


def hide_keys(text: str) -> str:
    """`text` with everything in it that looks like a key or a bearer token replaced."""
    return _KEY_LIKE.sub(HIDDEN, text) if len(text) > 8 else text


def as_extra(fields: Mapping[str, Json], bounds: ExtraBounds = USUAL) -> bytes:
    """`fields` as compact JSON; b"" if there are none.

    Long texts are cut, and what comes when the room is used up is left out. A field named "(cut)"
    says how much is missing.
    """
    if not fields:
        return b""
    room = _Room(bounds, bounds.size)
    kept = _clean_fields(fields, room, 0)
    if room.characters or room.values:
        lost = ((room.characters, "character"), (room.values, "value"))
        told = [f"{count:,} {what}{'s' if count != 1 else ''}" for count, what in lost if count]
        kept[CUT] = f"{' and '.join(told)} missing"
    return _encode(kept)


def compact(value: Json, max_bytes: int = USUAL.size) -> str:
    """`value` as JSON text with secrets hidden, cut to `max_bytes`; for showing, not parsing."""
    encoded: bytes = _encode(_clean(value, _Room(USUAL, USUAL.size), 0))
    if len(encoded) <= max_bytes:
        return encoded.decode()
    return encoded[:max_bytes].decode("utf-8", "ignore") + "…"


class _Room(msgspec.Struct):
    """How many bytes one extra may still take, and what had no room in it."""

    bounds: ExtraBounds
    left: int
    characters: int = 0
    """Of texts that are missing."""
    values: int = 0
    """Values that are missing, at least: those within others are not counted."""


def _clean_fields(fields: Mapping[str, Json], room: _Room, depth: int) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for name, value in fields.items():
        if room.left <= 0:
            room.values += len(fields) - len(kept)
            break
        room.left -= _OF_A_VALUE + len(name)
        kind = type(value)
        if value is None or kind is bool:
            kept[name] = value
        elif is_secret(name) or (not depth and name == "key" and kind is str and len(value) > 16):
            kept[name] = HIDDEN if value not in ("", [], {}) else value
        else:
            kept[name] = value if kind is int else _clean(value, room, depth)
    return kept


def _clean(value: Json, room: _Room, depth: int) -> Json:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        most = min(room.bounds.text, max(0, room.left))
        if len(value) > most:
            room.characters += len(value) - most
            value = f"{value[:most]}…"
        room.left -= len(value) if value.isascii() else len(value.encode())
        return hide_keys(value)
    if isinstance(value, Decimal):
        return value if abs(value.adjusted()) <= _MAX_EXPONENT else str(value)
    if depth >= room.bounds.depth:
        room.values += 1
        return "…"
    if isinstance(value, dict):
        return _clean_fields(value, room, depth + 1)
    kept: list[Json] = []
    for inner in value:
        if room.left <= 0:
            room.values += len(value) - len(kept)
            break
        room.left -= _OF_A_VALUE
        kept.append(_clean(inner, room, depth + 1))
    return kept
