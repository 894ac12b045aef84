"""What a profile tells of a platform that departs: its own names, its unit of sums, its words.

[profiles.prod.fields.agent_budget]
spent = "usage.cost_cents"          # tried before every name of the table

[profiles.prod.money]
unit = "cents"                      # of sums whose unit nothing else tells
currency = "EUR"

[profiles.prod.status]
pending = ["needs_ok"]              # status words of tasks
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from agentco_tui.model import Record, Task, TaskState
from agentco_tui.reading.schema import Around, Kind, Row
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.reading.values.unit import MINOR, NO_UNIT, Unit

R = TypeVar("R", bound=Record)

UNITS: Final = {
    "units": 0, "cents": -2, "minor": MINOR, "millis": -3, "micros": -6, "nanos": -9,
}  # fmt: skip
"""What `unit` may say, and the power of ten that makes whole units of it."""
KINDS: Final = {
    "company": "companies", "agent": "agents", "task": "tasks", "company_budget": "company_budgets",
    "agent_budget": "agent_budgets", "budget": "budget", "alert": "alerts", "activity": "activity",
}  # fmt: skip
"""The tables below `fields`, and the kinds of record that they are for."""


class ProfileMapping:
    """What one profile says; changes the kinds that answers are read by."""

    def __init__(
        self,
        fields: Mapping[str, Mapping[str, str]] | None = None,
        *,
        unit: str | None = None,
        currency: str | None = None,
        status: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """`fields`: dotted names by our field, by a name of `KINDS`; `unit`: one of `UNITS`;
        `status`: the platform's words by the state of a task that they mean.
        """
        self.fields = {KINDS[kind]: dict(names) for kind, names in (fields or {}).items()}
        self.unit = Unit(None if unit is None else UNITS[unit], currency)
        self.states = {
            fold_word(word): TaskState(state)
            for state, words in (status or {}).items()
            for word in words
        }
        self._kinds: dict[str, Kind[Any]] = {}

    def kind(self, kind: Kind[R]) -> Kind[R]:
        """The kind as this profile has it."""
        if not self.fields and not self.states and self.unit == NO_UNIT:
            return kind
        known = self._kinds.get(kind.name)
        if known is None:
            known = kind.with_mapping(self.fields.get(kind.name, {}))
            known.unit = self.unit
            if self.states and kind.name == "tasks":
                known.build = self._restated(kind.build)
            self._kinds[kind.name] = known
        return known

    def _restated(self, build: Callable[[Row, Around], R]) -> Callable[[Row, Around], R]:
        def built(row: Row, around: Around) -> R:
            record = build(row, around)
            state = None
            if isinstance(record, Task) and record.status is not None:
                state = self.states.get(fold_word(record.status))
            if state is None:
                return record
            waits = state is TaskState.PENDING
            return msgspec.structs.replace(record, state=state, needs_approval=waits)

        return built


AS_SENT: Final = ProfileMapping()
"""What says nothing."""


def field_names(kind: Kind[Any]) -> tuple[str, ...]:
    """Our fields that a profile may map, for one kind."""
    return tuple(dict.fromkeys(slot for slot, *_ in kind.table.fields if " " not in slot))
