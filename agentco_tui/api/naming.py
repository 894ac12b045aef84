"""Records whose identifier is under a name that no table has (SHAPES H "Id keys").

`work_orders[].work_order_id`, `identity: {"id": …}`, `sys_id`: what tells the records of a list
apart is found by where and how it stands, and only if it does tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentco_tui.api.names import fold, some, word_set, words
from agentco_tui.api.resources import FoundList, Resource
from agentco_tui.reading.schema import Json

_MOST_FIELDS: Final = 60
_LIKE_ID: Final = frozenset(("id", "uuid", "guid", "gid", "uid"))
_OF_OTHERS: Final = word_set(
    """parent external trace correlation session request user owner creator created author group
    project root source target previous next last run span batch version type template model
    agent company organization org workspace tenant account worker bot assistant customer client
    task event alert budget scope policy entry log insert subject entity resource step"""
)


class Naming:
    """How the records of one list that have no known identifier are told apart."""

    def __init__(self, found: FoundList, resource: Resource) -> None:
        self._spec = resource.spec
        self._is_plain = resource.knows is None and bool(found.path)
        kind = _singular(found.path)
        self._kind = kind if kind in resource.names or kind not in _OF_OTHERS else ""
        self._key = self._telling(found.items) if self._is_plain else None

    def named(self, item: Mapping[str, Json]) -> Mapping[str, Json]:
        """`item` with its identifier where it is looked for; itself if it has none."""
        if not self._is_plain:
            return item
        if self._kind:
            bare = {_without(key, self._kind): value for key, value in item.items()}
            if len(bare) == len(item) and "id" in self._spec.plan(bare).slots:
                return bare
        inside = [
            (key, value)
            for key, value in some(item, _MOST_FIELDS)
            if type(value) is dict
            and key in self._spec.plan(item).unknown
            and self._is_one(value)
            and not _OF_OTHERS.intersection(words(key))
        ]
        if len(inside) == 1:
            return {**{k: v for k, v in item.items() if k != inside[0][0]}, **inside[0][1]}
        if self._key is not None and self._key in item:
            return {"id": item[self._key], **{k: v for k, v in item.items() if k != self._key}}
        return item

    def _is_one(self, value: Mapping[str, Json]) -> bool:
        return len(value) <= _MOST_FIELDS and "id" in self._spec.plan(value).slots

    def _telling(self, items: Sequence[Json]) -> str | None:
        """The first unknown field named like an identifier that differs in each of the records."""
        rows = [item for item in items if type(item) is dict]
        for key, _ in some(rows[0], _MOST_FIELDS) if rows else ():
            own = words(key)
            if not own or own[-1] not in _LIKE_ID or _OF_OTHERS.intersection(own):
                continue
            if key not in self._spec.plan(rows[0]).unknown:
                continue
            told = [row.get(key) for row in rows]
            if all(type(each) in (str, int) and each != "" for each in told):
                return key if len(set(told)) == len(told) else None
        return None


def _singular(path: str) -> str:
    """What one record is called where the list is named: "data.work_orders[]" → "workorder"."""
    name = fold(path.rstrip("[]").rpartition(".")[2])
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name.removesuffix("s") if len(name) > 3 and name.endswith("s") else ""


def _without(key: str, kind: str) -> str:
    folded = fold(key)
    return folded.removeprefix(kind) if folded.startswith(kind) and folded != kind else key
