"""Reads the answer that holds the budget of the whole platform, and those of its parts beside it.

The platform is the remote service with companies of AI agents. The parts are budgets of companies
and agents. The whole is never summed up from them. A row is one object of a list in the answer, an
envelope what is around the lists. `WHOLE`, `COMPANY_BUDGETS` and `AGENT_BUDGETS` are kinds: a
`Kind` describes one kind of record, such as `COMPANY_BUDGETS`; `read_page` reads a list of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from agentco_tui.model import Budget, BudgetOverview, BudgetScope
from agentco_tui.reading.decode import (
    RefusedBody,
    UnexpectedShape,
    describe_shape,
    read_page,
)
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import Unit, fold, word_set
from agentco_tui.reading.identity import mark_shared
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS, WHOLE, WHOLE_ID
from agentco_tui.reading.kinds.budget_owner import scope_of
from agentco_tui.reading.kinds.figures import FIGURE_NAMES
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.schema import DecodeContext, Kind, UnreadableRecord
from agentco_tui.reading.values.money import envelope_unit
from agentco_tui.text import clean_line

_WRAPPERS: Final = word_set("data result response payload body attributes info item")
"""Keys under which an answer may hold the overview. All keys in these tables are folded."""
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
"""Names of lists and maps of parts, and of what; None if each row says what it is for."""
_OF_ALL: Final = word_set("global all overall platform total")
"""Scopes of a row that is the whole's."""
_OF_A_PART: Final = word_set("id name date startdate starttime startingat timestamp")
"""Fields of a row that is one of several: an agent's, a day's."""
_MAX_DEPTH: Final = 4
"""How many wrappers within each other are opened."""


def read_overview(body: Json, mapping: ProfileMapping = AS_SENT) -> BudgetOverview:
    """The whole's budget and the parts beside it.

    `mapping` has the names and units that the user has declared for this platform (`AS_SENT`:
    none).

    Figures of one company or agent are its own: the whole says so by its scope and id. Raises
    UnexpectedShape if the answer holds neither a figure nor a part, RefusedBody if it says that
    the call failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    root, shape = _without_wrappers(body)
    unit = envelope_unit(body).with_more(mapping.unit)
    nothing = Budget(id=WHOLE_ID, scope=BudgetScope.ALL)
    if root is None:
        return BudgetOverview(whole=nothing, shape=shape)
    if type(root) is list:
        shape = f"{shape}[]"
        if not _is_list_of_whole(root):
            list_parts = _read_parts("budgets", root, unit, mapping)
            return BudgetOverview(whole=nothing, parts=tuple(list_parts), shape=shape)
        root = root[0]
    if type(root) is not dict:
        raise UnexpectedShape(clean_line(f"the answer holds no budget: {describe_shape(root)}"))
    parts: list[Budget] = []
    paths = [shape or "{}"]
    rest: dict[str, Json] = {}
    """The fields that are no list of parts."""
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
        parts += _read_parts(fold(key), rows, unit, mapping)
        paths.append(f"{key}[]")
    whole_budget = _read_whole(rest, unit, mapping.kind(WHOLE))
    if whole_budget is None and len(paths) == 1:
        raise UnexpectedShape(
            clean_line("the answer holds no budget: none of its fields is a known figure")
        )
    shape = clean_line(" + ".join(paths), 120)
    return BudgetOverview(whole=whole_budget or nothing, parts=tuple(parts), shape=shape)


def _is_list_of_whole(rows: list[Json]) -> bool:
    """Whether a list has one row, and that row is the whole and not one of several parts."""
    if len(rows) != 1 or type(rows[0]) is not dict:
        return False
    return _OF_A_PART.isdisjoint(map(fold, rows[0]))


def _without_wrappers(body: Json) -> tuple[Json, str]:
    """The overview inside its wrappers, and the path to it: "data.result"."""
    path: list[str] = []
    while type(body) is dict and len(path) < _MAX_DEPTH:
        inner = [key for key, value in body.items() if fold(key) in _WRAPPERS
                 and type(value) in (dict, list) and value]  # fmt: skip
        if len(inner) != 1 or _has_figure(body, WHOLE):
            break
        path.append(inner[0])
        body = body[inner[0]]
    return body, clean_line(".".join(path), 60)


def _is_map(value: Json) -> bool:
    """Whether it is a map of objects; counters under a list's name are none."""
    return type(value) is dict and bool(value) and all(type(v) is dict for v in value.values())


def _is_of_all(row: Json) -> bool:
    """Whether a row of a list says that it is the whole's."""
    if type(row) is not dict:
        return False
    scope_word = WHOLE.table.read(row).values.get("scope_type")
    return fold(scope_word or "") in _OF_ALL


def _read_parts(name: str, rows: Json, unit: Unit, mapping: ProfileMapping) -> list[Budget]:
    """The budgets in a list or map of parts; `name` is its folded key, one of `_LISTS`."""
    kind = _LISTS[name]
    rows_by_kind: dict[Kind[Budget], Json] = {}
    if kind is not None:
        rows_by_kind[kind] = rows
    else:
        rows_by_kind = _rows_by_kind(rows)
    budgets: list[Budget] = []
    for row_kind, kind_rows in rows_by_kind.items():
        with suppress(UnexpectedShape):
            page = read_page(mapping.kind(row_kind), {name: kind_rows}, unit)
            budgets += mark_shared(page.records)  # marks records that have the same id
    return budgets


def _rows_by_kind(rows: Json) -> dict[Kind[Budget], Json]:
    """The rows of a list sorted into budgets of agents and budgets of companies."""
    agent_rows: list[Json] = []
    company_rows: list[Json] = []
    for row in rows:
        if type(row) is not dict or not row:
            continue
        scope = scope_of(WHOLE.table.read(row).values, BudgetScope.ALL)
        if scope is BudgetScope.AGENT:
            agent_rows.append(row)
        else:
            company_rows.append(row)
    return {AGENT_BUDGETS: agent_rows, COMPANY_BUDGETS: company_rows}


def _read_whole(rest: Mapping[str, Json], unit: Unit, kind: Kind[Budget]) -> Budget | None:
    """The whole's budget: from the answer's top, else from the object that sums it up.

    Figures of such an object may be read from the top too, as `budget.spent`; then only the object
    says whose they are.
    """
    key_of_whole = _key_of_whole(rest, kind)
    at_top = _read_object(rest, unit, kind) if _has_figure(rest, kind) else None
    if key_of_whole is None or (at_top is not None and at_top.scope is not BudgetScope.ALL):
        return at_top
    beside = {key: value for key, value in rest.items() if key != key_of_whole}
    inside = _read_object({**beside, **rest[key_of_whole]}, unit, kind)
    if at_top is None or inside is None:
        return at_top or inside
    is_same = (inside.spent, inside.limit) == (at_top.spent, at_top.limit)
    return inside if is_same and inside.scope is not BudgetScope.ALL else at_top


def _read_object(obj: Mapping[str, Json], unit: Unit, kind: Kind[Budget]) -> Budget | None:
    """The budget in an object that is not a row of a list; None if there is none."""
    try:
        return kind.read(obj, DecodeContext(unit=unit, is_root=True))
    except UnreadableRecord:
        return None


def _key_of_whole(rest: Mapping[str, Json], kind: Kind[Budget]) -> str | None:
    """The key of the object with the whole's figures; None if there is none."""
    key_by_name = {fold(key): key for key, value in rest.items() if type(value) is dict}
    for name in _OF_THE_WHOLE:
        key = key_by_name.get(name)
        if key is not None and _has_figure(rest[key], kind):
            return key
    return None


def _has_figure(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an object has a limit, spent, remaining or share, of whatever period."""
    # The slots, our names of the fields, end in the period: "limit month".
    return any(slot.split(" ")[0] in FIGURE_NAMES for slot in kind.table.read(obj).values)
