"""What a profile tells of a platform that departs, and a report of what is read without that.

[profiles.prod.fields.agent_budget]
spent = "usage.cost_cents"          # tried before every name of the table

[profiles.prod.money]
unit = "cents"                      # of sums whose unit nothing else tells
currency = "EUR"

[profiles.prod.status]
pending = ["needs_ok"]              # status words of tasks
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentco_tui.model import Record, Task, TaskState
from agentco_tui.reading.decode import Unshaped, outline
from agentco_tui.reading.envelope import find_list, unwrapped
from agentco_tui.reading.field_names import MINOR, NO_UNIT, Unit
from agentco_tui.reading.schema import Around, Build, Json, Kind, Row, dig
from agentco_tui.reading.unknown_fields import compact
from agentco_tui.reading.values.money import Sum, power_of, scaled, told_unit, unit_beside
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.text import SafeText, safe

R = TypeVar("R", bound=Record)

UNITS: Final = {
    "units": 0, "cents": -2, "minor": MINOR, "millis": -3, "micros": -6, "nanos": -9,
}  # fmt: skip
"""What `unit` may say, and the power of ten that makes whole units of it."""


class Mapped(Struct, frozen=True):
    """What one profile says."""

    fields: dict[str, dict[str, str]] = {}  # dotted names by our field, by a kind's name
    unit: str | None = None  # one of `UNITS`
    currency: str | None = None
    status: dict[str, tuple[str, ...]] = {}  # the platform's words by the state that they mean


class ProfileMapping:
    """Changes the kinds that answers are read by, as a profile says. Raises KeyError and ValueError
    for a unit or a state that there isn't.
    """

    def __init__(self, told: Mapped) -> None:
        self.told = told
        self.unit = Unit(None if told.unit is None else UNITS[told.unit], told.currency)
        self.states = {
            fold_word(word): TaskState(state)
            for state, words in told.status.items()
            for word in words
        }
        self._kinds: dict[str, Kind[Any]] = {}

    def kind(self, kind: Kind[R]) -> Kind[R]:
        if not self.told.fields and not self.states and self.unit == NO_UNIT:
            return kind
        known = self._kinds.get(kind.name)
        if known is None:
            known = kind.with_mapping(self.told.fields.get(kind.name, {}))
            known.unit = self.unit
            if self.states and kind.name == "task":
                built: Any = partial(self._restated, kind.build)
                known.build = built
            self._kinds[kind.name] = known
        return known

    def amount_sent(self, amount: Decimal) -> Decimal:
        """A sum in whole units as the platform writes it where no name tells the unit."""
        return scaled(amount, -power_of(self.unit))

    def _restated(self, build: Build[Any], row: Row, around: Around) -> Task:
        task: Task = build(row, around)
        state = None if task.status is None else self.states.get(fold_word(task.status))
        if state is None:
            return task
        return replace(task, state=state, needs_approval=state is TaskState.PENDING)


AS_SENT: Final = ProfileMapping(Mapped())


def field_names(kind: Kind[Any]) -> tuple[str, ...]:
    """Our fields that a profile may map, for one kind."""
    return tuple(dict.fromkeys(slot for slot, *_ in kind.table.fields if " " not in slot))


# What is read of an answer, and from where: `doctor --fields` prints it, for a mapping.

_ROWS: Final = 200
_MOST_LEFT: Final = 40
_SAMPLE_BYTES: Final = 60
_POWERS: Final = {
    None: "unit assumed", 0: "whole units", -2: "cents", -6: "micros", -9: "nanos",
    MINOR: "minor units",
}  # fmt: skip


class ReadField(Struct, frozen=True):
    """One of our fields, as an answer had it."""

    field: str
    name: SafeText
    """Of the platform's field, dotted for nested ones."""
    unit: SafeText | None
    """Of sums: what is known of their unit."""
    sample: SafeText
    """What was sent, as JSON; keys hidden."""
    records: int


class FieldReport(Struct, frozen=True):
    records: int
    read: tuple[ReadField, ...]
    missing: tuple[str, ...]
    left_over: tuple[SafeText, ...]
    """The platform's fields that nothing was read from."""


def report_fields(kind: Kind[Any], body: Json) -> FieldReport:
    """What is read of the first records in a body; raises Unshaped if it holds none of the kind."""
    found = find_list(body, kind)
    items = [body] if found is None and type(body) is dict else found.items if found else []
    around = unit_beside(body).with_more(kind.unit)
    read: dict[str, ReadField] = {}
    left: dict[str, None] = {}
    records = 0
    for item in items[:_ROWS]:
        if type(item) is not dict:
            continue
        row = kind.table.read(unwrapped(item, kind))
        records += 1
        left.update(dict.fromkeys(row.left))
        for slot, value in row.values.items():
            field = slot.partition(" ")[0]
            if field in read:
                read[field] = replace(read[field], records=read[field].records + 1)
                continue
            source, words = row.source(slot), None
            sample = compact(dig(row.obj[source.key], source.inner), _SAMPLE_BYTES)
            if type(value) is Sum:
                unit = value.unit.with_more(told_unit(row.values, around))
                size = _POWERS.get(unit.power, f"1e{unit.power}")
                words = safe(f"{size} of {unit.currency}" if unit.currency else size, 60)
            name = safe(".".join((source.key, *source.inner)), 80)
            read[field] = ReadField(field, name, words, safe(sample, 80), 1)
    if not records:
        raise Unshaped(safe(f"the answer holds no {kind.noun}: {outline(body)}"))
    return FieldReport(
        records,
        tuple(read[field] for field in field_names(kind) if field in read),
        tuple(field for field in field_names(kind) if field not in read),
        tuple(safe(key, 60) for key in list(left)[:_MOST_LEFT]),
    )
