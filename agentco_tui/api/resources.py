"""The names that one kind of record goes by in answers, and a list of them that was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from agentco_tui.api.groups import Groups
from agentco_tui.api.plans import Spec
from agentco_tui.reading.schema import Json


class FoundList(NamedTuple):
    """The list in an answer."""

    items: Sequence[Json]
    keys: Sequence[str] | None
    """The id of each item, where a map told it."""
    path: str
    """Such as "data.tasks[]"."""
    holder: Mapping[str, Json] | None
    """The object that holds the list: what else is in it may be about pages."""


class Resource(NamedTuple):
    """The names that one kind of record goes by in answers, all folded."""

    own: tuple[str, ...]
    """Its own, best first: "tasks", "task"."""
    also: tuple[str, ...]
    """What relatives call it: "issues", "jobs"; taken after the usual list names."""
    spec: Spec
    groups: Groups
    """How they are found in groups."""
    knows: Callable[[Mapping[str, Json]], bool] | None = None
    """Tells whether an object has anything of this kind in it, where names alone do not."""
    maps: Callable[[Mapping[str, Json]], list[Json] | None] | None = None
    """Finds the records in maps side by side: `{"limits": {"a": 5}, "spent": {"a": 4}}`."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names, also in the singular."""
        return (
            *self.own,
            *self.also,
            *(name.removesuffix("s") for name in (*self.own, *self.also)),
        )

    def has_any(self, obj: Mapping[str, Json]) -> bool:
        """True if something in `obj` means something for this kind, its id apart."""
        plan = self.spec.plan(obj)
        if plan.slots - {"id"}:
            return True
        if any(type(obj[key]) is dict and spec.plan(obj[key]).slots for key, spec in plan.nested):
            return True
        return self.knows is not None and self.knows(obj)
