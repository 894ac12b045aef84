"""Records that come in groups: by status, by severity, by day, by whose they are (SHAPES K).

`{"todo": [{"id": 1}], "done": [{"id": 2}]}` is one list whose records leave out what the group
says; so is a list of columns or of companies with the records inside. What a group says is put
into its records where they don't say it themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from agentco_tui.api.names import fold, some, word_set
from agentco_tui.model.records import AgentState, Severity, TaskState
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.status import agent_state, alert_open, severity, task_state

Slot = Callable[[str], "str | None"]
"""The field that a group's name is the value of, such as "status"; None if it is no such name."""
Known = Callable[[Mapping[str, Json]], frozenset[str]]
"""What an object of the kind that was asked for has in it."""

_BESIDE: Final = word_set(
    """total count totals counts meta pagination paging pageinfo links success ok message timestamp
    updatedat generatedat asof servertime requestid version page limit offset hasmore nextcursor
    cursor next previous first last self summary"""
)
_INNER: Final = ("items", "data", "results", "records", "list", "rows", "entries", "cards", "nodes")
_LABELS: Final = ("status", "state", "severity", "name", "title", "label", "key", "group", "value")
_OWNERS: Final = {
    **dict.fromkeys(("companies", "organizations", "workspaces", "bycompany"), "company"),
    **dict.fromkeys(("agents", "assistants", "byagent"), "agent"),
}
_DAY: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_OWN_IDS: Final = (("agent_id", ("ag_", "agt_", "agent_")), ("company_id", ("cmp_", "company_")))
_MOST_GROUPS: Final = 1_000


def task_slot(name: str) -> str | None:
    """The slot for groups of tasks."""
    return "status" if task_state(name) is not TaskState.OTHER else None


def agent_slot(name: str) -> str | None:
    """The slot for groups of agents and of companies."""
    return "status" if agent_state(name) is not AgentState.OTHER else None


def alert_slot(name: str) -> str | None:
    """The slot for groups of alerts."""
    if severity(name) is not Severity.UNKNOWN:
        return "severity"
    return "status" if alert_open(name) is not None else None


def entry_slot(name: str) -> str | None:
    """The slot for groups of log entries."""
    return "severity" if severity(name) is not Severity.UNKNOWN else None


class Groups:
    """How one kind of record is found in groups."""

    def __init__(self, own: tuple[str, ...], slot: Slot | None, known: Known) -> None:
        """`own`: the names of such records, folded; `slot` is None where no word makes a group."""
        self._own = own
        self._slot = slot
        self._known = known

    def by_name(self, obj: Mapping[str, Json]) -> list[Json] | None:
        """The records of an object whose fields are groups; None if they are none."""
        found: list[Json] = []
        groups = 0
        for key, value in some(obj, _MOST_GROUPS):
            label = self._label(key)
            rows = self._rows(value) if label is not None else None
            if label is None or rows is None:
                # `success` may be a group as well as a word about the answer.
                if fold(key) in _BESIDE or (type(value) is int and fold(key).endswith("count")):
                    continue
                return None
            groups += 1
            found += self._labelled(rows, label)
        # One alone may be the list under another name; all empty ones may be counters of a kind.
        lone = groups == 1 and any(fold(key) in (*self._own, "queue") for key in obj)
        return found if groups and not lone and (found or groups > 1) else None

    def in_list(self, name: str, items: list[Json]) -> list[Json] | None:
        """The records inside the items of a list under `name`, each a group; None if it is none."""
        owner = _OWNERS.get(name) if name not in self._own else None
        found: list[Json] = []
        for item in items:
            if type(item) is not dict:
                return None
            label = self._told(item)
            rows = self._inside(item, owner is not None or label is not None)
            if rows is None:
                return None
            if owner is None and label is None and name not in _BOARDS and not rows:
                return None  # `{"task": null}` makes no group
            if owner is not None and (ref := {k: item[k] for k in ("id", "name") if k in item}):
                label = {**(label or {}), owner: ref}
            found += self._labelled(rows, label or {})
        return found if items else None

    def told_by(self, bucket: Mapping[str, Json], rows: list[Json]) -> list[Json]:
        """`rows`, with what the object round them says about them all."""
        label = self._told(bucket)
        return self._labelled(rows, label) if label else rows

    def _label(self, key: str) -> dict[str, Json] | None:
        """What a group's name says; empty if it is an id or a day, None if it is no group."""
        if self._slot is not None:
            bare = fold(key)
            for name in self._own:
                bare = bare.removesuffix(name) or bare
            for word in (key, bare):
                slot = self._slot(word)
                if slot is not None:
                    return {slot: word}
        for field, starts in _OWN_IDS:
            if key.startswith(starts):
                return {field: key}
        return {} if _DAY.fullmatch(key) else None

    def _told(self, bucket: Mapping[str, Json]) -> dict[str, Json] | None:
        """What one of a list of groups says it is."""
        label: dict[str, Json] = {}
        for key, value in some(bucket, 40):
            name = fold(key)
            if name in ("agentid", "companyid", "agentname", "companyname") and type(value) in (
                str,
                int,
            ):
                label[key] = value
            elif name in _LABELS and type(value) is str and self._slot is not None:
                slot = self._slot(value)
                if slot is not None:
                    label.setdefault(slot, value)
        return label or None

    def _inside(self, item: Mapping[str, Json], said: bool) -> list[Json] | None:
        names = (*self._own, *_INNER) if said else self._own
        for key, value in some(item, 40):
            if fold(key) in names and (value is None or type(value) is list):
                return self._rows(value)
        return None

    def _rows(self, value: Json) -> list[Json] | None:
        if value is None:
            return []
        if type(value) is list:
            fine = all(type(row) is dict for row in value) and self._are_known(value)
            return value if fine or not value else None
        if type(value) is not dict or not value:
            return [] if value == {} else None
        inner = self._inside(value, True)
        if inner is not None:
            return inner
        rows = [{"id": key, **row} for key, row in value.items() if type(row) is dict]
        return rows if len(rows) == len(value) and self._are_known(rows) else None

    def _are_known(self, rows: list[Json]) -> bool:
        return any(self._known(row) for row in rows[:20])

    def _labelled(self, rows: list[Json], label: Mapping[str, Json]) -> list[Json]:
        out: list[Json] = []
        for row in rows:
            if type(row) is not dict or not label:
                out.append(row)
                continue
            slots = self._known(row)
            said = {
                field: value
                for field, value in label.items()
                if not {fold(field), field, fold(field).removesuffix("id")} & slots
                and f"{field}_id" not in slots
            }
            out.append({**row, **said} if said else row)
        return out


_BOARDS: Final = ("columns", "groups", "lanes", "sections", "buckets", "days", "pages")
