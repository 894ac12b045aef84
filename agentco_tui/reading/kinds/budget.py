"""Budgets of the whole platform, a company or an agent: their table, and how they are built.

Whose budget a row is, is decided in `budget_owner`; what its figures say, in `figures`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from agentco_tui.model import Budget, BudgetScope
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.identity import doubt
from agentco_tui.reading.kinds.budget_owner import (
    AGENT_NAMES,
    NAMELESS,
    OWNER,
    SCOPE_FIELDS,
    WHOLE_ID,
    owner_of,
    scope_of,
)
from agentco_tui.reading.kinds.common_fields import record, references
from agentco_tui.reading.kinds.figures import FIGURES, UNLIMITED, figures, survey, unused
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import declared_unit, to_money
from agentco_tui.reading.values.reference import to_id, to_ref_name
from agentco_tui.reading.values.scalar import flag, named, word
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText

__all__ = ["AGENT_BUDGETS", "COMPANY_BUDGETS", "WHOLE", "WHOLE_ID"]

_EXHAUSTED: Final = word_set(
    """exceeded exhausted hard_stop blocked over_budget overbudget over_limit depleted stopped
    limit_reached budget_exceeded critical"""
)
FIELDS: Final = (
    *FIGURES,
    Field("id", "id _id uuid guid uid sys_id gid urn document_id identifier slug", to_id),
    Field("budget_id", "{budget,policy}_id", to_id),
    *references("agent", AGENT_NAMES),
    *references("person", "worker employee member user"),  # LiteLLM's user_id: who made a key
    *references("company", OWNER, more="customer"),
    *references("inner", "team workspace"),
    *references("owner", "owner subject assignee holder", more="actor  # Anthropic",
                id_names="subject_key external_customer_id  # OpenMeter, Orb"),
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


def _build(row: Row, context: DecodeContext, *, scope: BudgetScope) -> Budget:
    """The budget in a row of a list of budgets with this `scope`."""
    values = row.values
    own_scope = scope_of(values, scope)
    owner = owner_of(row, context, own_scope)
    for slot in owner.unused_slots:
        if slot in values:
            row.leave_unread(slot)
    id_doubt = owner.doubt
    if id_doubt is None and scope is BudgetScope.AGENT and own_scope is BudgetScope.COMPANY:
        id_doubt = doubt("it is the budget of a company, not of an agent")
    status = fold_word(values.get("status") or "")
    is_flagged = any(values.get(slot) for slot in ("over", "paused", "stops"))
    is_exhausted = status in _EXHAUSTED or is_flagged
    has_no_limit = (
        values.get("no_limit") is True
        or values.get("has_limit") is False
        or fold(status) in UNLIMITED
    )
    found = figures(row, context, at_zero=is_exhausted, no_limit=has_no_limit)
    unit = declared_unit(values, context.unit)
    period: SafeText | None = values.get("period")
    if not period and found.period:
        period = SafeText(found.period)
    return record(
        Budget, row, context,
        id=owner.ref.id or str(owner.ref.name),
        id_doubt=id_doubt,
        scope=own_scope,
        name=owner.ref.name or values.get("name"),
        company=None if own_scope is BudgetScope.COMPANY else owner.company,
        limit=found.limit,
        unlimited=found.unlimited,
        spent=found.spent,
        remaining=found.remaining,
        share=found.share,
        share_derived=found.share_derived,
        warn_at=found.warn_at,
        forecast=to_money(values.get("forecast"), unit),
        period=period or None,
        extra=as_extra(unused(row, found.used | {"forecast"})),
    )  # fmt: skip


def _kind(scope: BudgetScope, noun: str, own: str, also: str, most: int) -> Kind[Budget]:
    other = "person" if scope is BudgetScope.AGENT else "inner"
    owner = " ".join(f"{slot} {slot}_id {slot}_name" for slot in (scope.value, other))
    return Kind(
        f"{scope.value}_budget",
        noun=noun,
        own=own,
        also=f"{also} breakdown policies limits spend costs",
        fields=FIELDS,
        build=partial(_build, scope=scope),
        needs=f"id name scope_id scope_name owner owner_id owner_name budget_name {owner}",
        nameless=NAMELESS,
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
