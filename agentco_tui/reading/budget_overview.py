"""The answer to /api/budget: the whole, and the parts that came with it.

The whole is never summed up from parts. Where the figures are one company's or one agent's, the
whole says so by its scope and id, and never stands for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentco_tui.model import Budget, BudgetOverview, BudgetScope
from agentco_tui.reading.decode import RefusedBody, Unshaped, outline, read_page
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.kinds.budget import (
    AGENT_BUDGETS,
    COMPANY_BUDGETS,
    WHOLE,
    WHOLE_ID,
    is_budget,
)
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.schema import Around, Json, Kind, Unread, under
from agentco_tui.reading.values.money import unit_beside
from agentco_tui.reading.values.unit import Unit
from agentco_tui.text import safe

_WRAPPERS: Final = word_set("data result response payload body attributes info item")
_WHOLE: Final = (
    "overview", "summary", "total", "totals", "overall", "global", "whole", "all", "budget",
    "organization", "account", "platform", "costs", "spendmanagement", "currentperiod",
)  # fmt: skip
"""Names of the object that holds the whole's figures, best first."""
_LISTS: Final[Mapping[str, Kind[Budget] | None]] = {
    **dict.fromkeys(("companies", "bycompany", "companybudgets", "percompany", "organizations"),
                    COMPANY_BUDGETS),
    **dict.fromkeys(("agents", "byagent", "agentbudgets", "peragent", "topagents", "topspenders"),
                    AGENT_BUDGETS),
    **dict.fromkeys(("budgets", "breakdown", "items", "parts", "policies", "scopes")),
}  # fmt: skip
"""Names of lists and maps of parts; None where each row says what it is for."""
_OF_ALL: Final = word_set("global all overall platform total")
_AGENTS: Final = word_set("agent assistant user")
_OF_A_PART: Final = word_set("id name date startdate starttime startingat timestamp")
"""What a row has that is one of several: of an agent, of a day."""
_MAX_DEPTH: Final = 4


def read_overview(body: Json, mapping: ProfileMapping = AS_SENT) -> BudgetOverview:
    """The whole's budget and the parts beside it; `mapping` is the profile's.

    Raises Unshaped if the answer holds neither a figure nor a part, RefusedBody if it says that
    the call failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    root, shape = _unwrapped(body)
    unit = unit_beside(body).with_more(mapping.unit)
    if root is None:
        return BudgetOverview(whole=_nothing(), shape=shape)
    if type(root) is list:
        only = root[0] if len(root) == 1 and type(root[0]) is dict else None
        if only is None or not _OF_A_PART.isdisjoint(map(fold, only)):
            parts = _parts("budgets", root, unit, mapping)
            return BudgetOverview(whole=_nothing(), parts=tuple(parts), shape=f"{shape}[]")
        root, shape = only, f"{shape}[]"
    if type(root) is not dict:
        raise Unshaped(safe(f"the answer holds no budget: {outline(root)}"))
    parts, names, rest = [], [shape or "{}"], dict[str, Json]()
    for key, value in root.items():
        folded = fold(key)
        if folded in _LISTS and _holds_objects(value):
            if type(value) is list:
                whole = [row for row in value if _scope_of(row) in _OF_ALL]
                if len(whole) == 1:
                    rest.update((k, v) for k, v in whole[0].items() if fold(k) != "scope")
                    value = [row for row in value if row is not whole[0]]  # noqa: PLW2901
            parts += _parts(folded, value, unit, mapping)
            names.append(f"{key}[]")
        elif folded in _LISTS and type(value) is list:
            names.append(f"{key}[]")
        else:
            rest[key] = value
    found = _whole(rest, unit, mapping.kind(WHOLE))
    if found is None and len(names) == 1:
        raise Unshaped(safe("the answer holds no budget: none of its fields is a known figure"))
    return BudgetOverview(
        whole=found or _nothing(), parts=tuple(parts), shape=safe(" + ".join(names), 120)
    )


def _unwrapped(body: Json) -> tuple[Json, str]:
    path: list[str] = []
    while type(body) is dict and len(path) < _MAX_DEPTH:
        inner = [key for key, value in body.items() if fold(key) in _WRAPPERS
                 and type(value) in (dict, list) and value]  # fmt: skip
        if len(inner) != 1 or is_budget(body, WHOLE):
            break
        path.append(inner[0])
        body = body[inner[0]]
    return body, safe(".".join(path), 60)


def _holds_objects(value: Json) -> bool:
    """A list of objects or a map of them; counters under a list's name are neither."""
    if type(value) is list:
        return any(type(item) is dict for item in value)
    return type(value) is dict and bool(value) and all(type(v) is dict for v in value.values())


def _scope_of(row: Json) -> str:
    """What a row of a list says it is for, folded: "agent", "global"; "" if it does not."""
    if type(row) is not dict:
        return ""
    told = (under(row, name) for name in ("scopetype", "scope", "budgetscope", "level"))
    scope = next((fold(each) for each in told if type(each) is str), "")
    return scope or ("agent" if not {"agentid", "agent"}.isdisjoint(map(fold, row)) else "")


def _parts(name: str, rows: Json, unit: Unit, mapping: ProfileMapping) -> list[Budget]:
    kind = _LISTS[name]
    if kind is not None:
        return _read(mapping.kind(kind), {name: rows}, unit)
    of_agents: list[Json] = []
    others: list[Json] = []
    for row in rows:
        if type(row) is dict and row:
            (of_agents if _scope_of(row) in _AGENTS else others).append(row)
    found: list[Budget] = []
    for each, some in ((AGENT_BUDGETS, of_agents), (COMPANY_BUDGETS, others)):
        found += _read(mapping.kind(each), {name: some}, unit) if some else []
    return found


def _read(kind: Kind[Budget], body: Json, unit: Unit) -> list[Budget]:
    try:
        return list(read_page(kind, body, unit).records)
    except Unshaped:
        return []


def _whole(rest: Mapping[str, Json], unit: Unit, kind: Kind[Budget]) -> Budget | None:
    """The whole's figures: from the answer's top, else from the object that sums it up."""
    obj: Mapping[str, Json] = rest
    if not is_budget(rest, kind):
        named = {fold(key): key for key in rest if type(rest[key]) is dict}
        own = next((named[each] for each in _WHOLE
                    if each in named and is_budget(rest[named[each]], kind)), None)  # fmt: skip
        if own is None:
            return None
        obj = {**{key: value for key, value in rest.items() if key != own}, **rest[own]}
    try:
        return kind.read(obj, Around(unit=unit, is_root=True))
    except Unread:
        return None


def _nothing() -> Budget:
    return Budget(id=WHOLE_ID, scope=BudgetScope.ALL)
