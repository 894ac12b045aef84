"""What was not understood, kept as JSON beside the record.

Values under names that look like secrets are replaced, whatever the depth; so are texts that look
like keys whatever their name. Size and depth are bounded, and what was left out is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.field_names import is_secret
from agentco_tui.reading.schema import Json

HIDDEN: Final = "(hidden)"
CUT: Final = "(cut)"
"""The name under which a cut `extra` tells what is missing."""
_MAX_EXPONENT: Final = 300
_KEY_LIKE: Final = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][\w-]{8,}|gh[opsu]_\w{10,}|github_pat_\w+"
    r"|xox[abps]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|eyJ[\w-]{6,}\.eyJ[\w-]+|(?:Bearer|Basic)\s+[\w.=/+-]{8,}"
)
_PLAIN: Final = frozenset((int, bool, type(None)))


class ExtraBounds(NamedTuple):
    """How much of one record is kept."""

    size: int
    """Bytes of the JSON."""
    text: int
    """Characters of one text."""
    values: int
    """Nested values."""
    depth: int


USUAL: Final = ExtraBounds(16_384, 4_000, 2_000, 24)
WHOLE: Final = ExtraBounds(64 * 1024, 30_000, 3_000, 48)
"""More than anybody reads before a decision: what is longer can't be decided here."""

_encode = msgspec.json.Encoder(decimal_format="number").encode


def hide_keys(text: str) -> str:
    """`text` with everything in it that looks like a key or a bearer token replaced."""
    return _KEY_LIKE.sub(HIDDEN, text) if len(text) > 8 else text


def as_extra(fields: Mapping[str, Json], caps: ExtraBounds = USUAL) -> bytes:
    """`fields` as compact JSON of about `caps.size` bytes at most; b"" if there are none.

    Longer texts, lists and objects are shortened first; if that is not enough, later fields are
    left out. A field named "(cut)" says how much is missing.
    """
    if not fields:
        return b""
    budget: _Budget | None = None
    clean: dict[str, Json] = {}
    within = len(fields) <= caps.values
    for name, value in fields.items() if within else islice(fields.items(), caps.values):
        kind = type(value)
        if value is None or kind is bool:
            clean[name] = value
        elif is_secret(name) and value not in ("", [], {}):
            clean[name] = HIDDEN
        elif kind is int or (kind is str and len(value) <= 8):
            clean[name] = value
        elif kind is str and name == "key" and len(value) > 16:
            clean[name] = HIDDEN
        else:
            budget = budget or _Budget(caps, caps.values)
            clean[name] = _clean(value, budget, 0)
    encoded = _encode(clean)
    beyond = len(fields) - len(clean)
    if len(encoded) > caps.size or beyond:
        return _fitted(clean, beyond, budget or _Budget(caps, caps.values))
    if budget is not None and (budget.characters or budget.values):
        return _encode({**clean, CUT: _missing(budget)})
    return encoded


def compact(value: Json, max_bytes: int = USUAL.size) -> str:
    """`value` as JSON text with secrets hidden, cut to `max_bytes`; for showing, not parsing."""
    encoded: bytes = _encode(_clean(value, _Budget(USUAL, USUAL.values), 0))
    if len(encoded) <= max_bytes:
        return encoded.decode()
    return encoded[:max_bytes].decode("utf-8", "ignore") + "…"


class _Budget(msgspec.Struct):
    """How many nested values one extra may still hold, and what had no room in it."""

    caps: ExtraBounds
    left: int
    characters: int = 0
    """Of texts that are missing."""
    values: int = 0
    """Values that are missing, at least: those within others are not counted."""


def _missing(budget: _Budget) -> str:
    """What had no room, in words."""
    lost = ((budget.characters, "character"), (budget.values, "value"))
    told = [f"{count:,} {what}{'s' if count != 1 else ''}" for count, what in lost if count]
    return f"{' and '.join(told)} missing"


def _clean(value: Json, budget: _Budget, depth: int) -> Json:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        most = budget.caps.text
        if len(value) > most:
            budget.characters += len(value) - most
            value = f"{value[:most]}…"
        return hide_keys(value)
    if isinstance(value, Decimal):
        return value if abs(value.adjusted()) <= _MAX_EXPONENT else str(value)
    if depth >= budget.caps.depth:
        budget.values += 1
        return "…"
    out: Any
    if isinstance(value, dict):
        out = {}
        for name, inner in value.items():
            budget.left -= 1
            if budget.left < 0:
                budget.values += len(value) - len(out)
                out["…"] = f"{len(value) - len(out)} more"
                break
            is_flag = inner is None or type(inner) is bool
            hidden = not is_flag and is_secret(name)
            out[name] = HIDDEN if hidden else _clean(inner, budget, depth + 1)
        return out
    out = []
    for inner in value:
        budget.left -= 1
        if budget.left < 0:
            budget.values += len(value) - len(out)
            out.append(f"… {len(value) - len(out)} more")
            break
        out.append(_clean(inner, budget, depth + 1))
    return out


def _fitted(clean: dict[str, Json], left_out: int, budget: _Budget) -> bytes:
    """As much of `clean` as has room; `left_out` fields are not even in it."""
    kept: dict[str, Json] = {}
    most = budget.caps.size
    size = 80
    share = max(200, most // max(1, min(len(clean), 40)))
    budget.values += left_out
    for name, whole in clean.items():
        value, lost = whole, 0
        encoded: bytes = _encode(value)
        if len(encoded) > share:
            lost = len(encoded) - share + 20
            value = encoded[: share - 20].decode("utf-8", "ignore") + "…"
            encoded = _encode(value)
        grown = size + len(encoded) + len(_encode(name)) + 2
        if grown > most:
            budget.values += 1
            continue
        budget.characters += lost
        kept[name] = value
        size = grown
    kept[CUT] = _missing(budget)
    return _encode(kept)
