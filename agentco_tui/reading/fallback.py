"""What stands in for a text or an id that was not sent: sentences made of fields, a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import msgspec

from agentco_tui import format as fmt
from agentco_tui.model import Money, Ref
from agentco_tui.reading.field_names import words
from agentco_tui.reading.schema import Json
from agentco_tui.text import SafeText, safe


def phrase(word: str) -> str:
    """A machine's verb as words, lower case: "agent_spawned", "ToolInvoke", "task.approved"."""
    return " ".join(words(word))


def called(ref: Ref | None) -> str | None:
    """What to call a record in a sentence: its name, else its id."""
    return None if ref is None else ref.name or (safe(ref.id, 60) if ref.id else None)


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
    sums = " of ".join(fmt.money(each) for each in (spent, limit) if each is not None)
    parts: list[str] = []
    if share is not None:
        beside = f" ({sums})" if spent is not None and limit is not None else ""
        parts.append(f"{fmt.percent(share)} of the budget used{beside}")
    elif spent is not None:
        parts.append(f"{sums} spent")
    if threshold is not None:
        parts.append(f"warning at {fmt.percent(threshold)}")
    told = ": ".join(filter(None, (who, phrase(kind or ""), ", ".join(parts))))
    return safe(told) if kind or parts else None


def activity(
    actor: str | None, verb: str | None, target: str | None, outcome: str | None
) -> SafeText | None:
    """One sentence from actor, verb and target; None without all of them."""
    told = " ".join(filter(None, (actor, phrase(verb or ""), target)))
    if not told:
        return None
    return safe(f"{told} ({phrase(outcome)})" if outcome else told)


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def content_id(kind: str, obj: Mapping[str, Json]) -> str:
    """The same id for the same content, whatever the order of its fields: "alert-3f…"."""
    try:
        encoded = _encode(obj)
    except (RecursionError, ValueError, TypeError, OverflowError, UnicodeEncodeError):
        flat = sorted((k, str(v)) for k, v in obj.items() if type(v) not in (dict, list))
        encoded = repr(flat).encode("utf-8", "replace")
    return f"{kind}-{hashlib.blake2b(encoded, digest_size=8).hexdigest()}"
