"""Budgets of the whole, a company or an agent; and the answer that has the whole with its parts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from agentco_tui.model import Budget, BudgetOverview, BudgetScope, Ref
from agentco_tui.reading.decode import RefusedBody, Unshaped, outline, read_page
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import Unit, fold, word_set
from agentco_tui.reading.kinds.common_fields import record, ref_of, references
from agentco_tui.reading.kinds.figures import FIGURES, FOUR, UNLIMITED, figures, survey, unused
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.schema import Around, Field, Json, Kind, Row, Unread, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import to_money, told_unit, unit_beside
from agentco_tui.reading.values.reference import COMPANY, joined, to_id, to_ref_name
from agentco_tui.reading.values.scalar import flag, named, text_only, word
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, safe

WHOLE_ID: Final = "all"
"""The id of the whole's budget, which has no record of its own."""
AGENT: Final = "agent assistant worker bot employee member"
OWNER: Final = f"{COMPANY} team"
"""What the company that has a budget is called; LiteLLM has teams."""
SCOPES: Final = {
    **dict.fromkeys(OWNER.split(), BudgetScope.COMPANY),
    **dict.fromkeys((*AGENT.split(), "user"), BudgetScope.AGENT),
}
_EXHAUSTED: Final = word_set(
    """exceeded exhausted hard_stop blocked over_budget overbudget over_limit depleted stopped
    limit_reached budget_exceeded critical"""
)
SCOPE_FIELDS: Final = (
    Field("scope_type", """
        {scope,entity,resource,target,subject,owner}_type {,budget_}scope  # paperclip, GitHub
        """, text_only),
    Field("scope_id", "{scope,entity,resource,target,subject}_id  # paperclip", to_id),
    Field("scope_name", "{scope,entity,resource,target,subject}_name  # paperclip", named),
)  # fmt: skip
"""Whom a budget, or an alert, is for."""

FIELDS: Final = (
    *FIGURES,
    Field("id", "id _id uuid guid", to_id),
    Field("budget_id", "{budget,policy}_id", to_id),
    *references("agent", AGENT, id_names="user_id  # LiteLLM members"),
    *references("company", OWNER, more="customer"),
    *references("owner", "owner subject assignee holder"),
    Field("owner_name", "budget_entity_name  # GitHub", to_ref_name),
    *SCOPE_FIELDS,
    Field("name", "display_name name full_name title label access_group", named),
    Field("budget_name", "budget_name display_name  # AWS, Google: whose it is", named),
    Field("stops", "prevent_further_usage  # GitHub: a limit of 0 is one", flag),
    Field("period", """
        period {budget.,budget_}period window_kind time_unit  # paperclip, AWS
        {,litellm_budget_table.}budget_duration  # LiteLLM
        {limit,interval,budget}_reset reset_{interval,period} # OpenRouter
        {time,billing}_period window interval cycle frequency recurrence time_grain
        """, word),
    Field("period_start", """
        {period,window,cycle,current_period,billing_period}_start period_started_at
        current_period.start
        """, to_moment),
    Field("resets", """
        {resets,renews}_{at,ts} {,next_}reset_{at,date,time} reset_on next_reset
        {next_,}renewal_{date,at} monthly_resets_at
        {,litellm_budget_table.}budget_reset_at
        {window,period}_end {ending,ends}_at {end_time,ends_on} current_period.end
        """, to_moment),
    Field("status", "status state health budget_status", word),
    Field("paused", "{is_,agent_,}paused suspended {is_,}blocked", flag),
    Field("over", "{is_,}over_{budget,limit} {is_,}exceeded", flag),
    Field("no_limit", "{is_,}unlimited no_limit no_budget uncapped", flag),
    Field("has_limit", "has_{limit,budget}", flag),
)  # fmt: skip


def _build(row: Row, around: Around, *, scope: BudgetScope) -> Budget:
    values = row.values
    scope = _scope(values, scope)
    owner, company = _owner(values, around, scope)
    told = fold_word(values.get("status") or "")
    stopped = told in _EXHAUSTED or any(values.get(slot) for slot in ("over", "paused", "stops"))
    no_limit = values.get("no_limit") is True or values.get("has_limit") is False
    found = figures(row, around, at_zero=stopped, no_limit=no_limit or fold(told) in UNLIMITED)
    unit = told_unit(values, around.unit)
    left = unused(row, found.used | {"forecast"})
    if values.get("id") not in (None, owner.id):
        left["id"] = values["id"]
    return record(
        Budget, row, around,
        id=owner.id or str(owner.name),
        scope=scope,
        name=owner.name or values.get("scope_name") or values.get("name"),
        company=company if scope is not BudgetScope.COMPANY else None,
        limit=found.limit,
        unlimited=found.unlimited,
        spent=found.spent,
        remaining=found.remaining,
        share=found.share,
        share_derived=found.share_derived,
        warn_at=found.warn_at,
        forecast=to_money(values.get("forecast"), unit),
        period=values.get("period") or (SafeText(found.period) if found.period else None),
        extra=as_extra(left),
    )  # fmt: skip


_OF_BUDGETS: Final = word_set("budgets budget policies limits rules caps controls")
"""Names of lists whose rows are budgets: an `id` in them is the budget's own."""


def _scope(values: Values, scope: BudgetScope) -> BudgetScope:
    """What a record says it is for; a whole that names a company or an agent is theirs."""
    told = SCOPES.get(fold_word(str(values.get("scope_type") or "")), scope)
    if told is BudgetScope.ALL:
        for owner in (BudgetScope.AGENT, BudgetScope.COMPANY):
            if not values.keys().isdisjoint((f"{owner}_id", f"{owner}_name", owner.value)):
                return owner
    return told


def _owner(values: Values, around: Around, scope: BudgetScope) -> tuple[Ref, Ref | None]:
    """What a budget is for, and the company it belongs to; raises Unread if nothing tells it.

    A row's own id is the owner's only where the row may be the owner itself.
    """
    if scope is BudgetScope.ALL:
        return Ref(WHOLE_ID, values.get("name")), None
    company = ref_of(values, "company", around)
    ref = joined(
        ref_of(values, "agent", around) if scope is BudgetScope.AGENT else company,
        Ref(values.get("scope_id"), values.get("scope_name")),
        ref_of(values, "owner", around),
        Ref(around.key),
    )
    is_budget = "budget_id" in values or fold(around.path) in _OF_BUDGETS
    if not is_budget and (ref is None or ref.id is None):
        ref = joined(ref, Ref(values.get("id"), values.get("name")))
    if ref is not None:
        ref = joined(ref, Ref(None, values.get("name")))
    elif "id" not in values and "budget_name" in values:
        ref = Ref(None, values["budget_name"])
    ref = around.named(ref)
    if ref is None:
        raise Unread(_NAMELESS)
    return ref, company


def is_budget(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """True if at least one limit, spent, remaining or share is in it."""
    return any(slot.split(" ")[0] in FOUR for slot in kind.table.fills(obj))


_NAMELESS: Final = "a budget without the id of what it is for"


def _kind(scope: BudgetScope, noun: str, own: str, also: str, most: int) -> Kind[Budget]:
    owner = f"{scope.value} {scope.value}_id {scope.value}_name"
    return Kind(
        f"{scope.value}_budget",
        noun=noun,
        own=own,
        also=f"{also} breakdown policies limits spend costs",
        fields=FIELDS,
        build=partial(_build, scope=scope),
        needs=f"id name scope_id scope_name owner owner_id owner_name budget_name {owner}",
        nameless=_NAMELESS,
        most=most,
        survey=survey,
    )


COMPANY_BUDGETS: Final = _kind(
    BudgetScope.COMPANY,
    "company budgets",
    "companies company_budgets budgets by_company company budget",
    "organizations teams",
    25_000,
)
AGENT_BUDGETS: Final = _kind(
    BudgetScope.AGENT,
    "agent budgets",
    "agents agent_budgets budgets by_agent agent budget",
    "per_agent members rankings",
    50_000,
)
WHOLE: Final[Kind[Budget]] = Kind(
    "budget",
    noun="budgets",
    own="budget overview",
    fields=FIELDS,
    build=partial(_build, scope=BudgetScope.ALL),
    nameless="no budget",
    most=1,
    survey=survey,
)

# -- the whole with its parts: it is never summed up from them -----------------------------------

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
    Unshaped if the answer holds neither a figure nor a part, RefusedBody if it says that the call
    failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    root, shape = _unwrapped(body)
    unit = unit_beside(body).with_more(mapping.unit)
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
        raise Unshaped(safe(f"the answer holds no budget: {outline(root)}"))
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
        raise Unshaped(safe("the answer holds no budget: none of its fields is a known figure"))
    shape = safe(" + ".join(names), 120)
    return BudgetOverview(whole=found or nothing, parts=tuple(parts), shape=shape)


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
            is_agent = _scope(WHOLE.table.read(row).values, BudgetScope.ALL) is BudgetScope.AGENT
            groups[AGENT_BUDGETS if is_agent else COMPANY_BUDGETS].append(row)
    found: list[Budget] = []
    for each, some in groups.items() if kind is None else [(kind, rows)]:
        with suppress(Unshaped):
            found += read_page(mapping.kind(each), {name: some}, unit).records
    return found


def _whole(rest: Mapping[str, Json], unit: Unit, kind: Kind[Budget]) -> Budget | None:
    """The whole's figures: from the answer's top, else from the object that sums it up."""
    obj: Mapping[str, Json] = rest
    if not is_budget(rest, kind):
        named = {fold(key): key for key in rest if type(rest[key]) is dict}
        own = next((named[each] for each in _OF_THE_WHOLE
                    if each in named and is_budget(rest[named[each]], kind)), None)  # fmt: skip
        if own is None:
            return None
        obj = {**{key: value for key, value in rest.items() if key != own}, **rest[own]}
    try:
        return kind.read(obj, Around(unit=unit, is_root=True))
    except Unread:
        return None
