"""Applies a profile's mapping: names, units and status words that are special to one platform.

A platform is the remote service that is watched, a profile the user's configuration for it.
`DeclaredMapping` holds the settings as the profile declares them. A `ProfileMapping` changes each
`Kind` accordingly before answers are read by it; a `Kind` is the description of one kind of record:
the names of its fields, and how a record is built of a `Row` (the values of one object by our
names). The settings:

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

from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentco_tui.model import Activity, Agent, AgentState, Alert, Record, Severity, Task, TaskState
from agentco_tui.reading.field_names import MINOR, Unit
from agentco_tui.reading.field_path import FieldPath, fold_path, parse_field_path
from agentco_tui.reading.json_access import Json, keys_of
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.schema import Build, DecodeContext, Kind, Row, Table
from agentco_tui.reading.values.money import power_of, scaled
from agentco_tui.reading.values.status_word import snake_case
from agentco_tui.text import clean_line

R = TypeVar("R", bound=Record)
E = TypeVar("E", bound=StrEnum)

UNITS: Final = {
    "units": 0, "cents": -2, "minor": MINOR, "millis": -3, "micros": -6, "nanos": -9,
}  # fmt: skip
"""The values of `unit`, and the power of ten that turns such a sum into whole units."""
OPEN: Final = {"open": True, "closed": False}
"""The keys of `[profiles.X.status.alert]`: whether alerts with these status words are open."""
NULL: Final = "null"
"""The setting that says what a status of null means."""


class DeclaredMapping(Struct, frozen=True):
    """The mapping of one profile, as it was written."""

    fields: dict[str, dict[str, str]] = {}
    """By the name of a kind: paths by our name of the field."""
    unit: str | None = None
    """One of `UNITS`."""
    currency: str | None = None
    status: dict[str, tuple[str, ...]] = {}
    """Status words of tasks, by the state that they mean."""
    agent_status: dict[str, tuple[str, ...]] = {}
    """Status words of agents, by the state that they mean."""
    alert_status: dict[str, tuple[str, ...]] = {}
    """Status words of alerts, by "open" or "closed"."""
    severity: dict[str, tuple[str, ...]] = {}
    """Words of alerts and log entries, by the severity that they mean."""
    null_status: dict[str, str] = {}
    """The state that a status of null means, by the name of a kind."""


def _states_by_word(states: type[E], words: Mapping[str, tuple[str, ...]]) -> dict[str, E]:
    """The state that each folded word means; raises ValueError for an unknown state."""
    return {
        snake_case(word): states(state)
        for state, state_words in words.items()
        for word in state_words
    }


Restate: TypeAlias = Callable[[Any, Row, str | None], Any]
"""Returns a record with the state that a profile's words give it.

The arguments are the record, the row it was built of, and the state that null means; the last one
is None unless the record's status is null."""


class ProfileMapping:
    """Changes kinds of records as a profile says.

    Raises KeyError or ValueError for an unknown unit or state and for a malformed path.
    """

    def __init__(self, declared: DeclaredMapping) -> None:
        self.declared = declared
        power: int | None = None
        if declared.unit is not None:
            power = UNITS[declared.unit]
        self.unit = Unit(power, declared.currency)
        """The unit of sums for which nothing else declares one."""
        for names in declared.fields.values():
            for path in names.values():
                parse_field_path(path)
        self._task_states = _states_by_word(TaskState, declared.status)
        self._agent_states = _states_by_word(AgentState, declared.agent_status)
        self._severities = _states_by_word(Severity, declared.severity)
        self._open_by_word = {
            snake_case(word): OPEN[state]
            for state, words in declared.alert_status.items()
            for word in words
        }
        self._mapped_kinds: dict[str, Kind[Any]] = {}
        """By name, the kinds that were changed already."""

    def kind(self, kind: Kind[R]) -> Kind[R]:
        """The kind with this profile's changes; `kind` itself if the profile has no mapping."""
        if self.declared == NO_MAPPING:
            return kind
        mapped = self._mapped_kinds.get(kind.name)
        if mapped is None:
            mapped = self._changed(kind)
            self._mapped_kinds[kind.name] = mapped
        return mapped

    def _changed(self, kind: Kind[R]) -> Kind[R]:
        """A copy of the kind with the profile's names, unit and status words."""
        names = self.declared.fields.get(kind.name, {})
        mapped = kind.with_mapping(names)
        mapped.unit = self.unit
        if "status" in names:
            # `approved: true` is a word as well, once a profile calls it a status.
            fields = [_with_flags_as_words(field) for field in mapped.table.fields]
            mapped.table = Table(fields, kind.table.needs_one_of)
        mapped.build = self._restating(mapped)
        return mapped

    def amount_sent(self, amount: Decimal) -> Decimal:
        """An amount in whole units, converted to the unit in which the platform writes sums."""
        return scaled(amount, -power_of(self.unit))

    def _restating(self, kind: Kind[Any]) -> Build[Any]:
        """The function that builds records of a kind, with the states of the profile's words."""
        null_state = self.declared.null_status.get(kind.name)
        restate = self._restater(kind.name, has_null_state=bool(null_state))
        if restate is None:
            return kind.build
        is_mapped = "status" in self.declared.fields.get(kind.name, {})
        paths: list[FieldPath] = []
        if null_state:
            paths = _status_paths(kind)
        build = kind.build

        def build_restated(row: Row, context: DecodeContext) -> Any:
            record = build(row, context)
            has_status = not is_mapped and getattr(record, "status", None) is not None
            is_null = not has_status and any(_leads_to_null(row.obj, path) for path in paths)
            if is_null:
                return restate(record, row, null_state)
            return restate(record, row, None)

        return build_restated

    def _restater(self, kind_name: str, *, has_null_state: bool) -> Restate | None:
        """The method that changes the states of a kind's records; None if the profile has none."""
        if kind_name == "task" and (self._task_states or has_null_state):
            return self._restated_task
        if kind_name == "agent" and (self._agent_states or has_null_state):
            return self._restated_agent
        if kind_name == "alert" and (self._open_by_word or self._severities or has_null_state):
            return self._restated_alert
        if kind_name == "activity" and self._severities:
            return self._restated_activity
        return None

    def _restated_task(self, task: Task, row: Row, null_state: str | None) -> Task:
        if null_state is not None:
            state = TaskState(null_state)
            is_pending = state is TaskState.PENDING
            return replace(
                task, state=state, status=clean_line(null_state), needs_approval=is_pending
            )
        if task.status is None:
            return task
        word_state = self._task_states.get(snake_case(task.status))
        if word_state is None:
            return task
        is_pending = word_state is TaskState.PENDING
        return replace(task, state=word_state, needs_approval=is_pending)

    def _restated_agent(self, agent: Agent, row: Row, null_state: str | None) -> Agent:
        if null_state is not None:
            return replace(agent, state=AgentState(null_state), status=clean_line(null_state))
        if agent.status is None:
            return agent
        state = self._agent_states.get(snake_case(agent.status))
        if state is None:
            return agent
        return replace(agent, state=state)

    def _restated_alert(self, alert: Alert, row: Row, null_state: str | None) -> Alert:
        severity = self._severity_of(row)
        if severity is None:
            severity = alert.severity
        is_open: bool | None = None
        if null_state is not None:
            is_open = OPEN[null_state]
        elif alert.status is not None:
            is_open = self._open_by_word.get(snake_case(alert.status))
        if is_open is None:
            is_open = alert.open
        return replace(alert, severity=severity, open=is_open)

    def _restated_activity(self, entry: Activity, row: Row, null_state: str | None) -> Activity:
        severity = self._severity_of(row)
        if severity is None:
            return entry
        return replace(entry, severity=severity, severity_derived=False)

    def _severity_of(self, row: Row) -> Severity | None:
        """The severity that the profile's words give a row; None if they say nothing about it."""
        word = row.values.get("severity")
        if word is None:
            return None
        return self._severities.get(snake_case(word))


def _with_flags_as_words(field: Field) -> Field:
    """A mapped status field that also reads true and false, as words."""
    if field.path is None or field.slot != "status":
        return field
    reader = field.reader

    def read(raw: Json) -> Any:
        if type(raw) is bool:
            return clean_line(str(raw).lower())
        return reader(raw)

    return field._replace(reader=read)


def _status_paths(kind: Kind[Any]) -> list[FieldPath]:
    """The folded paths under which a kind has its status: the mapped one, else plain names."""
    fields = [field for field in kind.table.fields if field.slot == "status"]
    mapped = [field.path for field in fields if field.path is not None]
    paths = mapped or [(name,) for field in fields for name, _ in field.names_with_sources()]
    return [fold_path(path) for path in paths]


def _leads_to_null(value: Json, path: FieldPath) -> bool:
    """Whether the value at a path, or one on the way to it, is null; a missing key is no null."""
    for part in path:
        if value is None:
            return True
        if isinstance(part, int):
            if type(value) is not list or part >= len(value):
                return False
            value = value[part]
            continue
        if type(value) is not dict:
            return False
        keys = keys_of(value, part)
        if not keys:
            return False
        value = value[keys[0]]
    return value is None


NO_MAPPING: Final = DeclaredMapping()
AS_SENT: Final = ProfileMapping(NO_MAPPING)
"""The mapping of a profile without one: it leaves all kinds unchanged."""


def field_names(kind: Kind[Any]) -> tuple[str, ...]:
    """Our names of the fields of a kind that a profile may map."""
    return tuple(dict.fromkeys(slot for slot, *_ in kind.table.fields if " " not in slot))


def mapped_paths(mapping: ProfileMapping, kind: Kind[Any]) -> dict[str, FieldPath]:
    """The paths to which a profile maps our fields of one kind, by our name."""
    names = mapping.declared.fields.get(kind.name, {})
    return {slot: parse_field_path(written) for slot, written in names.items()}
