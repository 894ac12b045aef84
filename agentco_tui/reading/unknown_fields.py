"""Keeps the fields of a record that were not read, as JSON (`as_extra`), for the detail pane.

A record is made of an object that the platform, the remote service, has sent. Values under names
that look like secrets are hidden at any depth, and so are texts that look like API keys, whatever
their name. Size and depth are limited; a record's JSON says how much is missing.
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
"""Takes the place of a secret."""
CUT: Final = "(cut)"
"""The name of the field that says how much is missing."""
_MAX_EXPONENT: Final = 300
"""A number of 10^301 and more becomes text, since other programs could not read it."""
_KEY_LIKE: Final = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][\w-]{8,}|gh[opsu]_\w{10,}|github_pat_\w+"
    r"|xox[abps]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|eyJ[\w-]{6,}\.eyJ[\w-]+|(?:Bearer|Basic)\s+[\w.=/+-]{8,}"
)
"""A text that looks like an API key or a token of a known service."""
_PLAIN: Final = frozenset((int, bool, type(None)))
"""Types of values that are kept unchanged."""
_VALUE_BYTES: Final = 8
"""Bytes that a value takes in addition to its text."""


class ExtraBounds(NamedTuple):
    """How much of the unread fields of one record is kept."""

    size: int
    """Bytes of the JSON, about."""
    text: int
    """Characters of one text."""
    depth: int
    """Objects and lists within each other."""


USUAL: Final = ExtraBounds(16_384, 4_000, 24)  # for all records except tasks
WHOLE: Final = ExtraBounds(64 * 1024, 30_000, 48)
"""For tasks, of which users must see everything: a longer task cannot be approved here."""

_encode = msgspec.json.Encoder(decimal_format="number").encode


def hide_keys(text: str) -> str:
    """`text` with everything in it that looks like an API key or a bearer token hidden."""
    if len(text) <= 8:
        return text
    return _KEY_LIKE.sub(HIDDEN, text)


def as_extra(fields: Mapping[str, Json], bounds: ExtraBounds = USUAL) -> bytes:
    """`fields` as compact JSON; b"" if there are none.

    Long texts are cut, and fields beyond the size are left out. A field named "(cut)" says how much
    is missing.
    """
    if not fields:
        return b""
    room = _Room(bounds, bounds.size)
    kept = _clean_fields(fields, room, 0)
    if room.characters or room.values:
        missing = ((room.characters, "character"), (room.values, "value"))
        parts = [_counted(count, noun) for count, noun in missing if count]
        kept[CUT] = f"{' and '.join(parts)} missing"
    return _encode(kept)


def _counted(count: int, noun: str) -> str:
    """A count in words: "1 value", "1,200 characters"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun}s"


def compact(value: Json, max_bytes: int = USUAL.size) -> str:
    """`value` as JSON text with secrets hidden, cut to `max_bytes`; for showing, not parsing."""
    encoded: bytes = _encode(_clean(value, _Room(USUAL, USUAL.size), 0))
    if len(encoded) <= max_bytes:
        return encoded.decode()
    return encoded[:max_bytes].decode("utf-8", "ignore") + "…"


class _Room(msgspec.Struct):
    """How many bytes the fields of one record may still take, and how much did not fit."""

    bounds: ExtraBounds
    left: int
    """Bytes that may still be used."""
    characters: int = 0
    """Characters of texts that are missing."""
    values: int = 0
    """Values that are missing, at least: those inside others are not counted."""


def _clean_fields(fields: Mapping[str, Json], room: _Room, depth: int) -> dict[str, Json]:
    """The fields of an object at this depth, as far as there is room, without secrets."""
    kept: dict[str, Json] = {}
    for name, value in fields.items():
        if room.left <= 0:
            room.values += len(fields) - len(kept)
            break
        room.left -= _VALUE_BYTES + len(name)
        kind = type(value)
        is_api_key = depth == 0 and name == "key" and kind is str and len(value) > 16
        if value is None or kind is bool:
            kept[name] = value
        elif is_secret(name) or is_api_key:
            is_empty = value in ("", [], {})
            kept[name] = value if is_empty else HIDDEN
        elif kind is int:
            kept[name] = value
        else:
            kept[name] = _clean(value, room, depth)
    return kept


def _clean(value: Json, room: _Room, depth: int) -> Json:
    """A value as far as there is room, without secrets."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        most = min(room.bounds.text, max(0, room.left))
        if len(value) > most:
            room.characters += len(value) - most
            value = f"{value[:most]}…"
        size = len(value)
        if not value.isascii():
            size = len(value.encode())
        room.left -= size
        return hide_keys(value)
    if isinstance(value, Decimal):
        if abs(value.adjusted()) > _MAX_EXPONENT:
            return str(value)
        return value
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
        room.left -= _VALUE_BYTES
        kept.append(_clean(inner, room, depth + 1))
    return kept
