"""The platform's messages about fields, put beside the fields of a form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agentco_tui.text import SafeText, plain


def beside(
    told: Iterable[tuple[SafeText, SafeText]], fields: Sequence[str]
) -> tuple[Mapping[str, SafeText], tuple[SafeText, ...]]:
    """Messages by form field, and those that belong to none of them.

    Platforms name a field in their own way (SHAPES C): agentId, body.agent_id,
    /data/attributes/title.
    """
    known = {_folded(field): field for field in fields}
    by_field: dict[str, SafeText] = {}
    others: list[SafeText] = []
    for name, message in told:
        parts = [_folded(part) for part in re.split(r"[./\[\]]+", name) if part]
        field = next((known[part] for part in reversed(parts) if part in known), None)
        if field is None:
            others.append(plain(f"{name}: {message}") if name else message)
        elif field in by_field:
            by_field[field] = plain(f"{by_field[field]}; {message}")
        else:
            by_field[field] = message
    return by_field, tuple(others)


def _folded(name: str) -> str:
    """`agent_id`, `agentId` and `agent-id` are one name (SHAPES K1)."""
    return re.sub("[^a-z0-9]", "", name.casefold())
