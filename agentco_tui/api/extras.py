"""What was not understood, kept as JSON beside the record (DESIGN law 6, SHAPES G "secrets").

Values under names that look like secrets are replaced, whatever the depth; so are texts that look
like keys whatever their name. Size and depth are bounded, and what was left out is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from agentco_tui.api.bodies import Json
from agentco_tui.api.names import is_secret, some
from agentco_tui.patterns import lazy_pattern

HIDDEN: Final = "(hidden)"
CUT: Final = "(cut)"
"""The name under which a cut `extra` tells what is missing."""
MAX_EXTRA: Final = 16_384
_MAX_DEPTH: Final = 24
_MAX_ITEMS: Final = 2_000
_MAX_TEXT: Final = 4_000
_MAX_EXPONENT: Final = 300
_KEY_LIKE: Final = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][\w-]{8,}|gh[opsu]_\w{10,}|github_pat_\w+"
    r"|xox[abps]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|eyJ[\w-]{6,}\.eyJ[\w-]+|(?:Bearer|Basic)\s+[\w.=/+-]{8,}"
)
_PLAIN: Final = frozenset((int, bool, type(None)))

_encode = msgspec.json.Encoder(decimal_format="number").encode


def hide_keys(text: str) -> str:
    """`text` with everything in it that looks like a key or a bearer token replaced."""
    return _KEY_LIKE.sub(HIDDEN, text) if len(text) > 8 else text


def as_extra(fields: Mapping[str, Json]) -> bytes:
    """`fields` as compact JSON of at most about 16 kB; b"" if there are none.

    Longer texts, lists and objects are shortened first; if that is not enough, later fields are
    left out, and a field named "(cut)" says how many.
    """
    if not fields:
        return b""
    budget: _Budget | None = None
    clean: dict[str, Json] = {}
    for name, value in fields.items() if len(fields) <= _MAX_ITEMS else some(fields, _MAX_ITEMS):
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
            budget = budget or _Budget()
            clean[name] = _clean(value, budget, 0)
    encoded = _encode(clean)
    beyond = len(fields) - len(clean)
    return encoded if len(encoded) <= MAX_EXTRA and not beyond else _fitted(clean, beyond)


def compact(value: Json, max_bytes: int = MAX_EXTRA) -> str:
    """`value` as JSON text with secrets hidden, cut to `max_bytes`; for showing, not parsing."""
    encoded: bytes = _encode(_clean(value, _Budget(), 0))
    if len(encoded) <= max_bytes:
        return encoded.decode()
    return encoded[:max_bytes].decode("utf-8", "ignore") + "…"


class _Budget:
    """How many nested values one extra may still hold: the work and the size are bounded."""

    def __init__(self) -> None:
        self.left = _MAX_ITEMS


def _clean(value: Json, budget: _Budget, depth: int) -> Json:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        short = value if len(value) <= _MAX_TEXT else f"{value[:_MAX_TEXT]}…"
        return hide_keys(short)
    if isinstance(value, Decimal):
        return value if abs(value.adjusted()) <= _MAX_EXPONENT else str(value)
    if depth >= _MAX_DEPTH:
        return "…"
    out: Any
    if isinstance(value, dict):
        out = {}
        for name, inner in value.items():
            budget.left -= 1
            if budget.left < 0:
                out["…"] = f"{len(value) - len(out)} more"
                break
            out[name] = (
                HIDDEN
                if inner is not None
                and inner is not True
                and inner is not False
                and is_secret(name)
                else _clean(inner, budget, depth + 1)
            )
        return out
    out = []
    for inner in value:
        budget.left -= 1
        if budget.left < 0:
            out.append(f"… {len(value) - len(out)} more")
            break
        out.append(_clean(inner, budget, depth + 1))
    return out


def _fitted(clean: dict[str, Json], left_out: int) -> bytes:
    """As much of `clean` as has room; `left_out` fields are not even in it."""
    kept: dict[str, Json] = {}
    size = 60
    share = max(200, MAX_EXTRA // max(1, min(len(clean), 40)))
    for name, whole in clean.items():
        value = whole
        encoded: bytes = _encode(value)
        if len(encoded) > share:
            value = encoded[: share - 20].decode("utf-8", "ignore") + "…"
            encoded = _encode(value)
        grown = size + len(encoded) + len(_encode(name)) + 2
        if grown > MAX_EXTRA:
            left_out += 1
            continue
        kept[name] = value
        size = grown
    kept[CUT] = f"{left_out} more fields" if left_out else "long values shortened"
    return _encode(kept)
