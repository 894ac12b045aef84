"""`SharedValues`: equal values of the records of a long list become one object, to save memory.

A hundred thousand tasks have a few hundred different agents, companies, statuses and costs, and
each record was made with values of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from agentco_tui.model import Record

_SHARED: Final = (
    *("agent", "company", "priority", "status", "cost", "trust", "decided_by", "extra"),
    *("role", "model", "template", "budget_remaining", "actor", "severity", "id_doubt"),
)
"""Fields whose values many records have in common: sharing them saves half of the memory."""
_MOST_SHARED: Final = 50_000
"""How many shared values are kept; beyond it they are dropped and collected again."""
_LONGEST_SHARED: Final = 100
"""Characters or bytes of the longest value that is shared."""


class SharedValues:
    """The values that the records of one list share."""

    def __init__(self) -> None:
        self._pool: dict[Any, Any] = {}
        """Each value is its own key."""

    def share(self, record: Record) -> None:
        """Replace values of a new record by equal ones of other records.

        The record is frozen: this must happen before anything else has a reference to it.
        """
        pool = self._pool
        for name in fields_among(type(record), _SHARED):
            value = getattr(record, name)
            if value is None or (type(value) in (str, bytes) and len(value) > _LONGEST_SHARED):
                continue
            kept = pool.setdefault(value, value)
            if kept is not value:
                msgspec.structs.force_setattr(record, name, kept)
        if len(pool) > _MOST_SHARED:
            pool.clear()


@cache
def fields_among(record_type: type[Record], names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names that are fields of a type of record."""
    return tuple(name for name in names if name in record_type.__struct_fields__)
