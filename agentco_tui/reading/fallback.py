"""What stands in for a text or an id that was not sent: sentences made of fields, a hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import msgspec

from agentco_tui.model import Money, Ref
from agentco_tui.reading.schema import Json
from agentco_tui.text import SafeText, safe

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS: Final = re.compile(r"[\s._:/\-]+")


def phrase(word: str) -> str:
    """A machine's verb as words: "agent_spawned", "ToolInvoke", "task.approved" → lower case."""
    parts = _SEPARATORS.sub(" ", _HUMP.sub(" ", word)).split()
    return " ".join(part if part.isupper() and len(part) < 4 else part.lower() for part in parts)


def called(ref: Ref | None) -> str | None:
    """What to call a record in a sentence: its name, else its id."""
    if ref is None:
        return None
    return ref.name or (safe(ref.id, 60) if ref.id else None)


def percent(share: Decimal) -> str:
    """A share as a percentage with at most one decimal."""
    value = share * 100
    whole = value.quantize(Decimal(1)) if abs(value) < 10**9 else value
    return f"{whole} %" if whole == value else f"{value:.1f} %"


def amount(money: Money) -> str:
    """A sum in plain figures, with its currency if one was told."""
    value = money.amount
    text = f"{value:.2f}" if value != value.to_integral_value() else f"{value:f}".split(".")[0]
    return f"{text} {money.currency}" if money.currency else text


def alert(
    who: str | None,
    kind: str | None,
    *,
    share: Decimal | None,
    threshold: Decimal | None,
    spent: Money | None,
    limit: Money | None,
) -> SafeText | None:
    """One sentence of what an alert's fields tell; None if they tell nothing."""
    parts: list[str] = []
    if share is not None:
        parts.append(f"{percent(share)} of the budget used")
        if spent is not None and limit is not None:
            parts.append(f"({amount(spent)} of {amount(limit)})")
    elif spent is not None:
        of = f" of {amount(limit)}" if limit is not None else ""
        parts.append(f"{amount(spent)}{of} spent")
    if threshold is not None:
        point = f"warning at {percent(threshold)}"
        parts.append(f", {point}" if parts else point)
    told = " ".join(parts).replace(" ,", ",")
    if kind:
        told = f"{phrase(kind)}: {told}" if told else phrase(kind)
    if not told:
        return None
    return safe(f"{who}: {told}" if who else told)


def activity(
    actor: str | None, verb: str | None, target: str | None, outcome: str | None
) -> SafeText | None:
    """One sentence from actor, verb and target ; None without all of them."""
    parts = [actor, phrase(verb) if verb else None, target]
    told = " ".join(part for part in parts if part)
    if not told:
        return None
    return safe(f"{told} ({phrase(outcome)})" if outcome else told)


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


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
