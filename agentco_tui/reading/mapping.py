"""What a profile tells of a platform that departs from the tables of names.

[profiles.prod.fields.agent_budget]
spent = "usage.cost_cents"          # a path (see `field_path`), tried before all of our names

[profiles.prod.money]
unit = "cents"                      # of sums whose unit nothing else tells
currency = "EUR"

[profiles.prod.status.task]         # also [profiles.prod.status]: status words of tasks
pending = ["needs_ok"]
null = "pending"                    # where the status is null

[profiles.prod.status.agent]
paused = ["parked"]

[profiles.prod.status.alert]
closed = ["handled"]

[profiles.prod.severity]            # of alerts and log entries
critical = ["boom"]
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentco_tui.model import Activity, Agent, AgentState, Alert, Record, Severity, Task, TaskState
from agentco_tui.reading.field_names import MINOR, Unit, fold
from agentco_tui.reading.field_path import parse_field_path
from agentco_tui.reading.json_access import Json, keys_of
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.schema import Build, DecodeContext, Kind, Row, Table
from agentco_tui.reading.values.money import power_of, scaled
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.text import safe

R = TypeVar("R", bound=Record)
E = TypeVar("E", bound=StrEnum)

UNITS: Final = {
    "units": 0, "cents": -2, "minor": MINOR, "millis": -3, "micros": -6, "nanos": -9,
}  # fmt: skip
"""What `unit` may say, and the power of ten that makes whole units of it."""
OPEN: Final = {"open": True, "closed": False}
"""What `[profiles.X.status.alert]` may say of a word: whether such an alert is open."""
NULL: Final = "null"
"""The setting that says what a status of null means."""


class Mapped(Struct, frozen=True):
    """What one profile says."""

    fields: dict[str, dict[str, str]] = {}
    """Paths by our field, by a kind's name."""
    unit: str | None = None
    """One of `UNITS`."""
    currency: str | None = None
    status: dict[str, tuple[str, ...]] = {}
    """Status words of tasks by the state that they mean."""
    agent_status: dict[str, tuple[str, ...]] = {}
    alert_status: dict[str, tuple[str, ...]] = {}
    """Status words of alerts, by one of `OPEN`."""
    severity: dict[str, tuple[str, ...]] = {}
    """Words of alerts and log entries by the severity that they mean."""
    null_status: dict[str, str] = {}
    """What a status of null means, by a kind's name."""


def _states_by_word(states: type[E], words: Mapping[str, tuple[str, ...]]) -> dict[str, E]:
    """The state that each folded word means; raises ValueError for a state that there isn't."""
    return {fold_word(word): states(state) for state, some in words.items() for word in some}


class ProfileMapping:
    """Changes the kinds that answers are read by, as a profile says. Raises KeyError and ValueError
    for a unit, a state or a path that there isn't.
    """

    def __init__(self, told: Mapped) -> None:
        self.told = told
        self.unit = Unit(None if told.unit is None else UNITS[told.unit], told.currency)
        for names in told.fields.values():
            for written in names.values():
                parse_field_path(written)
        self._task_states = _states_by_word(TaskState, told.status)
        self._agent_states = _states_by_word(AgentState, told.agent_status)
        self._severities = _states_by_word(Severity, told.severity)
        self._open_by_word = {
            fold_word(word): OPEN[state]
            for state, words in told.alert_status.items()
            for word in words
        }
        self._kinds: dict[str, Kind[Any]] = {}

    def kind(self, kind: Kind[R]) -> Kind[R]:
        """The kind as this profile has it read."""
        if self.told == NO_MAPPING:
            return kind
        known = self._kinds.get(kind.name)
        if known is None:
            names = self.told.fields.get(kind.name, {})
            known = kind.with_mapping(names)
            known.unit = self.unit
            if "status" in names:
                # `approved: true` is a word as well, once a profile calls it a status.
                fields = [_with_flags_as_words(each) for each in known.table.fields]
                known.table = Table(fields, kind.table.needs)
            known.build = self._restating(known)
            self._kinds[kind.name] = known
        return known

    def amount_sent(self, amount: Decimal) -> Decimal:
        """A sum in whole units as the platform writes it where no name tells the unit."""
        return scaled(amount, -power_of(self.unit))

    def _restating(self, kind: Kind[Any]) -> Build[Any]:
        """How records of a kind are built, where the profile has words for their states."""
        null = self.told.null_status.get(kind.name)
        is_mapped = "status" in self.told.fields.get(kind.name, {})
        paths = _status_paths(kind) if null else []
        restate: Any = None
        if kind.name == "task" and (self._task_states or null):
            restate = self._restated_task
        elif kind.name == "agent" and (self._agent_states or null):
            restate = self._restated_agent
        elif kind.name == "alert" and (self._open_by_word or self._severities or null):
            restate = self._restated_alert
        elif kind.name == "activity" and self._severities:
            restate = self._restated_activity
        if restate is None:
            return kind.build
        build = kind.build

        def build_restated(row: Row, context: DecodeContext) -> Any:
            record = build(row, context)
            has_status = not is_mapped and getattr(record, "status", None) is not None
            is_null = not has_status and any(_leads_to_null(row.obj, path) for path in paths)
            return restate(record, row, null if is_null else None)

        return build_restated

    def _restated_task(self, task: Task, row: Row, null: str | None) -> Task:
        state = None if task.status is None else self._task_states.get(fold_word(task.status))
        status = task.status
        if null is not None:
            state = TaskState(null)
            status = safe(null)
        if state is None:
            return task
        is_pending = state is TaskState.PENDING
        return replace(task, state=state, status=status, needs_approval=is_pending)

    def _restated_agent(self, agent: Agent, row: Row, null: str | None) -> Agent:
        if null is not None:
            return replace(agent, state=AgentState(null), status=safe(null))
        state = None if agent.status is None else self._agent_states.get(fold_word(agent.status))
        return agent if state is None else replace(agent, state=state)

    def _restated_alert(self, alert: Alert, row: Row, null: str | None) -> Alert:
        word = row.values.get("severity")
        severity = None if word is None else self._severities.get(fold_word(word))
        is_open = None if alert.status is None else self._open_by_word.get(fold_word(alert.status))
        if null is not None:
            is_open = OPEN[null]
        return replace(
            alert,
            severity=alert.severity if severity is None else severity,
            open=alert.open if is_open is None else is_open,
        )

    def _restated_activity(self, entry: Activity, row: Row, null: str | None) -> Activity:
        word = row.values.get("severity")
        severity = None if word is None else self._severities.get(fold_word(word))
        if severity is None:
            return entry
        return replace(entry, severity=severity, severity_derived=False)


def _with_flags_as_words(field: Field) -> Field:
    """A mapped status field that also reads true and false, as words."""
    if field.path is None or field.slot != "status":
        return field
    reader = field.reader

    def read(raw: Json) -> Any:
        return safe("true" if raw else "false") if type(raw) is bool else reader(raw)

    return field._replace(reader=read)


def _status_paths(kind: Kind[Any]) -> list[tuple[str | int, ...]]:
    """The folded paths under which a kind has its status: the mapped one, else plain names."""
    fields = [field for field in kind.table.fields if field.slot == "status"]
    mapped = [field.path for field in fields if field.path is not None]
    written = mapped or [(name,) for field in fields for name, _ in field.names_with_sources()]
    return [
        tuple(part if isinstance(part, int) else fold(part) for part in path) for path in written
    ]


def _leads_to_null(value: Json, path: tuple[str | int, ...]) -> bool:
    """Whether null is at the end of a path, or before it; a missing key is no null."""
    for part in path:
        if value is None:
            return True
        if isinstance(part, int):
            if type(value) is not list or part >= len(value):
                return False
            value = value[part]
            continue
        keys = keys_of(value, part) if type(value) is dict else ()
        if not keys:
            return False
        value = value[keys[0]]
    return value is None


NO_MAPPING: Final = Mapped()
AS_SENT: Final = ProfileMapping(NO_MAPPING)


def field_names(kind: Kind[Any]) -> tuple[str, ...]:
    """Our fields that a profile may map, for one kind."""
    return tuple(dict.fromkeys(slot for slot, *_ in kind.table.fields if " " not in slot))


def mapped_paths(mapping: ProfileMapping, kind: Kind[Any]) -> dict[str, tuple[str | int, ...]]:
    """The paths that a profile maps our fields of one kind to."""
    names = mapping.told.fields.get(kind.name, {})
    return {slot: parse_field_path(written) for slot, written in names.items()}
