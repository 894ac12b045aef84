"""The kinds of record that the interface lists: their names, and how their rows are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from agentco_tui.api import (
    drafts,
    fields_activity,
    fields_agent,
    groups,
)
from agentco_tui.api.context import Context, Unread
from agentco_tui.api.names import fold
from agentco_tui.api.plans import Spec
from agentco_tui.api.resources import Resource
from agentco_tui.model.records import (
    Activity,
    Agent,
    Alert,
    Budget,
    Company,
    Record,
    Task,
)
from agentco_tui.reading import schema
from agentco_tui.reading.kinds import alert, budget, company, task
from agentco_tui.reading.mapping import ProfileMapping
from agentco_tui.reading.schema import Json
from agentco_tui.text import safe

R = TypeVar("R", bound=Record)

# What all feeds together may bring has to fit the memory: tasks are many on large platforms, all
# else is a tenth of them or less. A budget or an alert takes three times the memory of a task.
_MOST_AGENTS: Final = 50_000
_MOST_ENTRIES: Final = 20_000
_MOST_AGENT_BUDGETS: Final = 50_000
_MOST_BUDGETS: Final = 25_000


class Kind(Generic[R]):
    """One kind of record that the interface lists: its names, and how its rows are read."""

    def __init__(
        self,
        name: str,
        noun: str,
        resource: Resource,
        read: Callable[[Sequence[drafts.Row]], list[R | Unread]],
        *,
        needs: str = "",
        nameless: str,
        summed_up: Callable[[Json], R | Unread | None] | None = None,
        most: int,
    ) -> None:
        self.name = name
        self.noun = noun
        """For sentences: "tasks"."""
        self.resource = resource
        self.read = read
        self.needs = frozenset(needs.split())
        """Slots of which one must be there, else a record cannot be told from others."""
        self.nameless = safe(nameless)
        """Why a record was not read that has none of them."""
        self.summed_up = summed_up
        """Reads a summary that came in place of a list; Unread if it is none, None if all is 0."""
        self.most = most
        """Records of a listing; that there are more is told."""

    by_table: schema.Kind[R] | None = None
    """The kind in the new room, which then reads all."""

    @classmethod
    def of(cls, kind: schema.Kind[R]) -> Kind[R]:
        """A kind that the new room reads."""
        self = cls.__new__(cls)
        self.name, self.noun, self.most, self.needs = kind.name, kind.noun, kind.most, kind.needs
        self.by_table = kind
        return self

    def mapped(self, mapping: ProfileMapping) -> Kind[R]:
        """The kind as a profile has it, where the new room reads it."""
        if self.by_table is None:
            return self
        kind = mapping.kind(self.by_table)
        return self if kind is self.by_table else Kind.of(kind)

    def __repr__(self) -> str:
        return f"Kind({self.name})"


def _each(
    read: Callable[[Mapping[str, Json], Context, str | None], R],
) -> Callable[[Sequence[drafts.Row]], list[R | Unread]]:
    def read_all(rows: Sequence[drafts.Row]) -> list[R | Unread]:
        out: list[R | Unread] = []
        for obj, context, key in rows:
            try:
                out.append(read(obj, context, key))
            except Unread as error:
                out.append(error)
        return out

    return read_all


def _resource(
    own: str,
    also: str,
    spec: Spec,
    slot: groups.Slot | None,
    knows: Callable[[Mapping[str, Json]], bool] | None = None,
    *,
    maps: Callable[[Mapping[str, Json]], list[Json] | None] | None = None,
) -> Resource:
    names = tuple(map(fold, own.split()))
    inside = groups.Groups(names, slot, lambda obj: spec.plan(obj).slots)
    return Resource(names, tuple(map(fold, also.split())), spec, inside, knows, maps)


COMPANIES: Final[Kind[Company]] = Kind.of(company.COMPANIES)
AGENTS: Final[Kind[Agent]] = Kind(
    "agents",
    "agents",
    _resource(
        "agents agent agent_list ai_agents",
        "assistants workers bots members employees staff team workforce roster crew",
        fields_agent.AGENT,
        groups.agent_slot,
    ),
    _each(fields_agent.read_agent),
    needs="id",
    nameless="an agent without an id",
    most=_MOST_AGENTS,
)
TASKS: Final[Kind[Task]] = Kind.of(task.TASKS)
COMPANY_BUDGETS: Final[Kind[Budget]] = Kind.of(budget.COMPANY_BUDGETS)
AGENT_BUDGETS: Final[Kind[Budget]] = Kind.of(budget.AGENT_BUDGETS)
ALERTS: Final[Kind[Alert]] = Kind.of(alert.ALERTS)
ACTIVITY: Final[Kind[Activity]] = Kind(
    "activity",
    "activity entries",
    _resource(
        "activity activities activity_log activity_logs activity_entries entries logs events",
        "audit_logs audit_log feed history timeline",
        fields_activity.ACTIVITY,
        groups.entry_slot,
    ),
    _each(fields_activity.read_activity),
    nameless="an entry of which no field is known",
    most=_MOST_ENTRIES,
)
