"""The answer to /api/budget: the whole and the parts that came with it (SHAPES D, B16)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from agentco_tui.api.context import Context, Unread
from agentco_tui.api.envelopes import json_inside
from agentco_tui.api.fields_budget import draft, finish, looks_like_budget, scale_of
from agentco_tui.api.kinds import AGENT_BUDGETS, COMPANY_BUDGETS, Kind
from agentco_tui.api.listings import RefusedBody, Unshaped, decode_page
from agentco_tui.api.names import fold
from agentco_tui.api.pairs import from_pairs
from agentco_tui.api.units import NO_UNIT, Unit, unit_beside
from agentco_tui.model.records import Budget, BudgetOverview, BudgetScope
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.schema import Json
from agentco_tui.text import safe

WHOLE_ID: Final = "all"
"""The id of the whole's budget, which has no record of its own."""

_WRAPPERS: Final = ("data", "result", "response", "payload", "body", "attributes", "info", "item")
_WHOLE: Final = (
    "budget", "overview", "total", "totals", "summary", "overall", "global", "whole", "all",
    "organization", "account", "platform", "spend", "costs", "monthly", "current_month", "month",
)  # fmt: skip
_ITSELF: Final = ("budget", "overview", "summary", "overall", "global", "whole", "all", "totals")
"""Names of the whole that say nothing about its figures."""
_COMPANY_LISTS: Final = ("companies", "bycompany", "companybudgets", "percompany", "organizations")
_AGENT_LISTS: Final = ("agents", "byagent", "agentbudgets", "peragent", "topagents", "topspenders")
_PART_LISTS: Final = ("budgets", "breakdown", "items", "parts", "policies", "scopes")


def decode_overview(body: Json) -> BudgetOverview:
    """The whole's budget, and the parts beside it; the whole is never summed up from the parts.

    Raises Unshaped if the answer holds neither a figure nor a part.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    if type(body) is str:
        body = json_inside(body)
        if body is None:
            raise Unshaped(safe("the answer holds no budget, only a text"))
    root, shape = _unwrapped(body)
    root = from_pairs(root) or root
    if root is None:
        return BudgetOverview(whole=_nothing(), shape=shape)
    if type(root) is list:
        parts = _parts(COMPANY_BUDGETS, root)
        if len(root) == 1 and type(root[0]) is dict and _is_the_whole(root[0]):
            return BudgetOverview(whole=_whole(root[0]), shape=f"{shape}[]")
        return BudgetOverview(whole=_nothing(), parts=tuple(parts), shape=f"{shape}[]")
    if type(root) is not dict:
        raise Unshaped(safe("the answer holds no budget"))
    unit = unit_beside(body)
    parts, rest, names = _taken_apart(root, unit)
    whole = _whole(rest, unit)
    if not parts and not names and not _says_anything(whole):
        raise Unshaped(safe("the answer holds no budget: none of its fields is a known figure"))
    return BudgetOverview(
        whole=whole, parts=tuple(parts), shape=safe(" + ".join([shape or "{}", *names]), 120)
    )


def _unwrapped(body: Json) -> tuple[Json, str]:
    path: list[str] = []
    for _ in range(4):
        if type(body) is not dict:
            break
        by_name = {fold(key): key for key in islice(body, 200)}
        key = next(
            (
                by_name[name]
                for name in _WRAPPERS
                if name in by_name and type(body[by_name[name]]) in (dict, list)
            ),
            None,
        )
        if key is None or any(
            looks_like_budget({name: value}) for name, value in body.items() if name != key
        ):
            break
        path.append(key)
        body = body[key]
    return body, ".".join(path)


def _taken_apart(
    root: Mapping[str, Json], unit: Unit
) -> tuple[list[Budget], dict[str, Json], list[str]]:
    """Parts, what is left for the whole, and the names of the lists that the parts were in."""
    parts: list[Budget] = []
    rest: dict[str, Json] = {}
    names: list[str] = []
    for key, listed in root.items():
        name, value = fold(key), listed
        if type(value) is list and (pairs := from_pairs(value)) and looks_like_budget(pairs):
            rest.update(pairs)
            continue
        if type(value) is list and len(value) == 1 and name in _ITSELF:
            rest[key] = value[0]
            continue
        if type(value) is list and name in _PART_LISTS:
            whole = [item for item in value if type(item) is dict and _is_of_all(item)]
            if len(whole) == 1:
                rest.update(whole[0])
                value = [item for item in value if item is not whole[0]]
        kind: Kind[Budget] | None = None
        if name in _COMPANY_LISTS:
            kind = COMPANY_BUDGETS
        elif name in _AGENT_LISTS:
            kind = AGENT_BUDGETS
        elif name in _PART_LISTS and type(value) is list:
            kind = _kind_of(value)
        found = _parts(kind, value, unit) if kind is not None and _holds_objects(value) else []
        if found:
            parts.extend(found)
            names.append(f"{key}[]")
            if type(value) is list:
                continue
        elif kind is not None and type(value) is list:
            names.append(f"{key}[]")
            continue
        if not found:
            rest[key] = value
    return parts, rest, names


def _is_of_all(item: Mapping[str, Json]) -> bool:
    """True for the row of a list of budgets that says it is for everything."""
    scope = next((v for k, v in item.items() if fold(k) in ("scope", "scopetype", "level")), None)
    return type(scope) is str and fold(scope) in ("global", "all", "overall", "platform", "total")


def _holds_objects(value: Json) -> bool:
    """A list of objects or a map of them; counters under a list's name are neither (B16)."""
    if type(value) is list:
        return any(type(item) is dict for item in value)
    return type(value) is dict and bool(value) and all(type(v) is dict for v in value.values())


def _kind_of(items: list[Json]) -> Kind[Budget]:
    first = next((item for item in items if type(item) is dict), {})
    names = {fold(key) for key in first}
    scope = next(
        (str(v) for k, v in first.items() if fold(k) in ("scope", "scopetype", "type")), ""
    )
    is_agent = "agentid" in names or "agent" in names or "agent" in scope.lower()
    return AGENT_BUDGETS if is_agent else COMPANY_BUDGETS


def _parts(kind: Kind[Budget], value: Json, unit: Unit = NO_UNIT) -> list[Budget]:
    try:
        return list(decode_page(kind, value, unit).records)
    except Unshaped:
        return []


def _whole(obj: Mapping[str, Json], unit: Unit = NO_UNIT) -> Budget:
    """The whole's figures: from the answer's top, else from the object that sums it up."""
    by_name = {fold(key): key for key in islice(obj, 200)}
    for name in _ITSELF:
        key = by_name.get(name)
        inner = obj.get(key) if key is not None else None
        if type(inner) is dict and looks_like_budget(inner):
            rest = {k: v for k, v in obj.items() if k != key}
            if not looks_like_budget(rest):
                return _read({**rest, **inner}, unit)
    top = _read(obj, unit)
    if top.limit is not None or top.unlimited or top.spent is not None:
        return top
    for name in _WHOLE:
        key = by_name.get(fold(name))
        inner = obj.get(key) if key is not None else None
        if type(inner) is dict and looks_like_budget(inner):
            return _read({**{k: v for k, v in obj.items() if k != key}, **inner}, unit)
    return top


def _read(obj: Mapping[str, Json], unit: Unit) -> Budget:
    row = draft(obj, Context(unit=unit))
    try:
        return finish(row, BudgetScope.ALL, scale_of([row]), Context(), WHOLE_ID)
    except Unread:
        return _nothing()


def _nothing() -> Budget:
    return Budget(id=WHOLE_ID, scope=BudgetScope.ALL)


def _is_the_whole(obj: Mapping[str, Json]) -> bool:
    names = {fold(key) for key in obj}
    return not names & {"companyid", "agentid", "scopeid", "company", "agent"} and (
        looks_like_budget(obj) and not names & {"id", "name"}
    )


def _says_anything(whole: Budget) -> bool:
    told: tuple[Any, ...] = (whole.limit, whole.spent, whole.remaining, whole.share, whole.forecast)
    return whole.unlimited or any(each is not None for each in told)
