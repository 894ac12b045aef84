"""The answer that has the whole platform's budget and its parts, companies and agents, beside it.

The whole is never summed up from its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from agentco_tui.model import Budget, BudgetOverview, BudgetScope
from agentco_tui.reading.decode import RefusedBody, UnexpectedShape, outline, read_page
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import Unit, fold, word_set
from agentco_tui.reading.identity import mark_shared
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS, WHOLE, WHOLE_ID
from agentco_tui.reading.kinds.budget_owner import scope_of
from agentco_tui.reading.kinds.figures import FOUR
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.schema import DecodeContext, Kind, UnreadableRecord
from agentco_tui.reading.values.money import envelope_unit
from agentco_tui.text import safe

_WRAPPERS: Final = word_set("data result response payload body attributes info item")
_OF_THE_WHOLE: Final = (
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
_OF_A_PART: Final = word_set("id name date startdate starttime startingat timestamp")
"""What a row has that is one of several: of an agent, of a day."""
_MAX_DEPTH: Final = 4


def read_overview(body: Json, mapping: ProfileMapping = AS_SENT) -> BudgetOverview:
    """The whole's budget and the parts beside it; `mapping` is the profile's.

    Figures of one company or agent are its own: the whole says so by its scope and id. Raises
    UnexpectedShape if the answer holds neither a figure nor a part, RefusedBody if it says that
    the call failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    root, shape = _unwrapped(body)
    unit = envelope_unit(body).with_more(mapping.unit)
    nothing = Budget(id=WHOLE_ID, scope=BudgetScope.ALL)
    if root is None:
        return BudgetOverview(whole=nothing, shape=shape)
    if type(root) is list:
        only = root[0] if len(root) == 1 and type(root[0]) is dict else None
        if only is None or not _OF_A_PART.isdisjoint(map(fold, only)):
            parts = _parts("budgets", root, unit, mapping)
            return BudgetOverview(whole=nothing, parts=tuple(parts), shape=f"{shape}[]")
        root, shape = only, f"{shape}[]"
    if type(root) is not dict:
        raise UnexpectedShape(safe(f"the answer holds no budget: {outline(root)}"))
    parts, names, rest = [], [shape or "{}"], dict[str, Json]()
    for key, value in root.items():
        if fold(key) not in _LISTS or not (type(value) is list or _is_map(value)):
            rest[key] = value
            continue
        rows = value
        if type(rows) is list:
            whole = [row for row in rows if _is_of_all(row)]
            if len(whole) == 1:
                rest.update(whole[0])
                rows = [row for row in rows if row is not whole[0]]
        parts += _parts(fold(key), rows, unit, mapping)
        names.append(f"{key}[]")
    found = _whole(rest, unit, mapping.kind(WHOLE))
    if found is None and len(names) == 1:
        raise UnexpectedShape(
            safe("the answer holds no budget: none of its fields is a known figure")
        )
    shape = safe(" + ".join(names), 120)
    return BudgetOverview(whole=found or nothing, parts=tuple(parts), shape=shape)


def _unwrapped(body: Json) -> tuple[Json, str]:
    path: list[str] = []
    while type(body) is dict and len(path) < _MAX_DEPTH:
        inner = [key for key, value in body.items() if fold(key) in _WRAPPERS
                 and type(value) in (dict, list) and value]  # fmt: skip
        if len(inner) != 1 or _has_figure(body, WHOLE):
            break
        path.append(inner[0])
        body = body[inner[0]]
    return body, safe(".".join(path), 60)


def _is_map(value: Json) -> bool:
    """A map of objects; counters under a list's name are none."""
    return type(value) is dict and bool(value) and all(type(v) is dict for v in value.values())


def _is_of_all(row: Json) -> bool:
    """Whether a row of a list says that it is the whole's."""
    told = WHOLE.table.read(row).values.get("scope_type") if type(row) is dict else None
    return fold(told or "") in _OF_ALL


def _parts(name: str, rows: Json, unit: Unit, mapping: ProfileMapping) -> list[Budget]:
    kind = _LISTS[name]
    groups: dict[Kind[Budget], Json] = {AGENT_BUDGETS: [], COMPANY_BUDGETS: []}
    for row in rows if kind is None else ():
        if type(row) is dict and row:
            is_agent = scope_of(WHOLE.table.read(row).values, BudgetScope.ALL) is BudgetScope.AGENT
            groups[AGENT_BUDGETS if is_agent else COMPANY_BUDGETS].append(row)
    found: list[Budget] = []
    for each, some in groups.items() if kind is None else [(kind, rows)]:
        with suppress(UnexpectedShape):
            found += mark_shared(read_page(mapping.kind(each), {name: some}, unit).records)
    return found


def _whole(rest: Mapping[str, Json], unit: Unit, kind: Kind[Budget]) -> Budget | None:
    """The whole's figures: from the answer's top, else from the object that sums it up."""
    obj: Mapping[str, Json] = rest
    if not _has_figure(rest, kind):
        named = {fold(key): key for key in rest if type(rest[key]) is dict}
        own = next((named[each] for each in _OF_THE_WHOLE
                    if each in named and _has_figure(rest[named[each]], kind)), None)  # fmt: skip
        if own is None:
            return None
        obj = {**{key: value for key, value in rest.items() if key != own}, **rest[own]}
    try:
        return kind.read(obj, DecodeContext(unit=unit, is_root=True))
    except UnreadableRecord:
        return None


def _has_figure(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an object has a limit, spent, remaining or share, of whatever period."""
    return any(slot.split(" ")[0] in FOUR for slot in kind.table.read(obj).values)
