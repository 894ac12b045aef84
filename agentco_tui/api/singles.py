"""Where in an answer the one record is that was asked for (SHAPES B)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

import msgspec

from agentco_tui.api.envelopes import MAX_DEPTH, is_record, json_inside
from agentco_tui.api.names import fold
from agentco_tui.api.pairs import from_pairs
from agentco_tui.api.resources import Resource
from agentco_tui.reading.schema import Json


class FoundOne(msgspec.Struct, frozen=True):
    """The one object in an answer."""

    obj: Mapping[str, Json]
    is_root: bool
    key: str | None = None


_ONE: Final = (
    "data", "result", "item", "record", "response", "payload", "object", "resource", "info",
    "entity", "content", "value", "body", "results", "items", "node", "embedded", "details",
)  # fmt: skip


def find_one(
    body: Json, resource: Resource, wanted_id: str | None, is_wanted: Callable[[Json], bool]
) -> FoundOne | None:
    """The object of `resource` in `body` (SHAPES B); `is_wanted` tells it among several."""
    return next(_candidates(body, resource, wanted_id, is_wanted, 0), None)


def _candidates(
    body: Json,
    resource: Resource,
    wanted_id: str | None,
    is_wanted: Callable[[Json], bool],
    depth: int,
) -> Iterator[FoundOne]:
    if depth > MAX_DEPTH:
        return
    if type(body) is str:
        body = json_inside(body)
    if type(body) is list and (pairs := from_pairs(body)) is not None:
        body = pairs
    if type(body) is list:
        objects = [item for item in body if type(item) is dict]
        if len(objects) == 1:
            yield from _candidates(objects[0], resource, wanted_id, is_wanted, depth + 1)
        elif wanted_id is not None:
            yield from (FoundOne(item, False) for item in objects if is_wanted(item))
        return
    if type(body) is not dict:
        return
    by_name = {fold(key): key for key in islice(body, 400)}
    plan = resource.spec.plan(body)
    is_self = is_record(body, resource) and len(plan.slots) > 1
    knows = resource.knows
    if knows is not None and not is_self and "agent" in by_name and "budget" in by_name:
        is_self = knows({key: value for key, value in body.items() if fold(key) != "agent"})
    for name in resource.own:
        inner = body.get(by_name.get(name, ""))
        if type(inner) in (dict, list) and inner and not (is_self and name in _REF_NAMES):
            yield from _candidates(inner, resource, wanted_id, is_wanted, depth + 1)
    if not is_self:
        for name in resource.also if knows is None else ():
            inner = body.get(by_name.get(name.removesuffix("s"), ""))
            if type(inner) is dict and inner:
                yield from _candidates(inner, resource, wanted_id, is_wanted, depth + 1)
        for name in _ONE:
            inner = body.get(by_name.get(name, ""))
            if type(inner) in (dict, list, str) and inner:
                yield from _candidates(inner, resource, wanted_id, is_wanted, depth + 1)
        if wanted_id is not None and type(body.get(wanted_id)) is dict:
            yield FoundOne(body[wanted_id], False, wanted_id)
    if plan.slots or any(type(body[key]) is dict for key in plan.wrappers):
        yield FoundOne(body, depth == 0)
    elif len(body) == 1 and type(only := next(iter(body.values()))) is dict:
        # GraphQL: the name of what was asked for, whatever it is
        yield from _candidates(only, resource, wanted_id, is_wanted, depth + 1)


_REF_NAMES: Final = frozenset(
    ("agent", "company", "task", "agents", "tasks", "companies", "budget")
)
