"""Budgets of the whole, a company or an agent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from agentco_tui.model import Budget, BudgetScope, Ref
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.kinds.common_fields import record, reference, references
from agentco_tui.reading.kinds.figures import (
    FIGURES,
    FOUR,
    UNLIMITED,
    figures,
    survey,
    unused,
    warning_point,
)
from agentco_tui.reading.schema import Around, Field, Json, Kind, Row, Unread, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values import percent
from agentco_tui.reading.values.money import to_money, told_unit
from agentco_tui.reading.values.plain_text import flag, named, word
from agentco_tui.reading.values.reference import joined, to_id, to_ref_name
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText

WHOLE_ID: Final = "all"
"""The id of the whole's budget, which has no record of its own."""
AGENT: Final = "agent assistant worker bot employee member"
OWNER: Final = "company organization organisation org workspace tenant account team"
"""What the company that has a budget is called; LiteLLM has teams."""
SCOPES: Final = {
    **dict.fromkeys(OWNER.split(), BudgetScope.COMPANY),
    **dict.fromkeys((*AGENT.split(), "user"), BudgetScope.AGENT),
}
_EXHAUSTED: Final = word_set(
    """exceeded exhausted hard_stop blocked over_budget overbudget over_limit depleted stopped
    limit_reached budget_exceeded critical"""
)

FIELDS: Final = (
    *FIGURES,
    Field("id", "id _id uuid guid", to_id),
    Field("budget_id", "{budget,policy}_id", to_id),
    *references("agent", AGENT, id_names="user_id  # LiteLLM members"),
    *references("company", OWNER, more="customer"),
    *references("owner", "owner subject assignee holder"),
    Field("owner_name", "budget_entity_name  # GitHub", to_ref_name),
    Field("scope_type", "{scope,entity,resource,owner,subject}_type scope budget_scope", word),
    Field("scope_id", "{scope,entity,resource,target}_id  # paperclip", to_id),
    Field("scope_name", "{scope,entity,resource,target}_name  # paperclip", named),
    Field("name", "display_name name full_name title label access_group", named),
    Field("budget_name", "budget_name display_name  # AWS, Google: whose it is", named),
    Field("stops", "prevent_further_usage  # GitHub: a limit of 0 is one", flag),
    Field("period", """
        period {budget.,budget_}period window_kind time_unit  # paperclip, AWS
        budget_duration litellm_budget_table.budget_duration  # LiteLLM
        {limit,interval,budget}_reset reset_{interval,period} # OpenRouter
        {time,billing}_period window interval cycle frequency recurrence time_grain
        """, word),
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
    warn = warning_point(values, found.limit)
    soft = percent.share_of(to_money(values.get("soft"), unit), found.limit)
    used = found.used | {"forecast", "soft" if warn is None and soft is not None else "warn"}
    left = unused(row, used)
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
        warn_at=soft if warn is None else warn,
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
    company = reference(values, "company", around)
    ref = joined(
        reference(values, "agent", around) if scope is BudgetScope.AGENT else company,
        Ref(values.get("scope_id"), values.get("scope_name")),
        reference(values, "owner", around),
        Ref(around.key),
    )
    is_budget = "budget_id" in values or fold(around.path) in _OF_BUDGETS
    if not is_budget and (ref is None or ref.id is None):
        ref = joined(ref, Ref(values.get("id"), values.get("name")))
    if ref is not None and ref.name is None and (ref.id is not None or "id" not in values):
        ref = joined(ref, Ref(None, values.get("name")))
    if ref is None and "id" not in values and "budget_name" in values:
        ref = Ref(None, values["budget_name"])
    ref = around.named(ref)
    if ref is None:
        raise Unread(_NAMELESS)
    return ref, company


def is_budget(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """True if at least one limit, spent, remaining or share is in it."""
    return any(slot.split(" ")[0] in FOUR for slot in kind.table.fills(obj))


_NAMELESS: Final = "a budget without the id of what it is for"
_OWNERS: Final = "id name scope_id scope_name owner owner_id owner_name budget_name"
_MORE: Final = "breakdown policies limits spend costs"
COMPANY_BUDGETS: Final[Kind[Budget]] = Kind(
    "company_budgets",
    noun="company budgets",
    own="companies company_budgets budgets by_company company budget",
    also=f"organizations teams {_MORE}",
    fields=FIELDS,
    build=partial(_build, scope=BudgetScope.COMPANY),
    needs=f"{_OWNERS} company company_id company_name",
    nameless=_NAMELESS,
    most=25_000,
    survey=survey,
)
AGENT_BUDGETS: Final[Kind[Budget]] = Kind(
    "agent_budgets",
    noun="agent budgets",
    own="agents agent_budgets budgets by_agent agent budget",
    also=f"per_agent members rankings {_MORE}",
    fields=FIELDS,
    build=partial(_build, scope=BudgetScope.AGENT),
    needs=f"{_OWNERS} agent agent_id agent_name",
    nameless=_NAMELESS,
    most=50_000,
    survey=survey,
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
