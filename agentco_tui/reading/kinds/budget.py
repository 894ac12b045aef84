"""Budgets of the whole platform, a company or an agent: their fields, and how they are built.

A platform is a remote service with companies of AI agents. `COMPANY_BUDGETS`, `AGENT_BUDGETS` and
`WHOLE` are the descriptions by which budgets are read. In `FIELDS`, each `Field(slot, names,
reader)` lists the names under which platforms send one of our fields (its *slot*), best first, and
the function that reads a raw value; after `#` come the platforms that use the names. `_build` makes
a `Budget` of a `Row`, the values of one object by slot.

`budget_owner.owner_of` decides whose budget a row is, `figures.read_figures` what its sums say. A
*share* is the spent part of the limit. A *unit* is what a sum is in, such as cents or euros. What
is left unread of a row is shown to the user as it was sent.
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
from agentco_tui.reading.kinds.common_fields import make_record, reference_fields
from agentco_tui.reading.kinds.figures import (
    FIGURES,
    UNLIMITED,
    find_share_scales,
    read_figures,
    share_hints,
    unused_fields,
)
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import declared_unit, to_money
from agentco_tui.reading.values.reference import to_id, to_ref_name
from agentco_tui.reading.values.scalar import to_flag, to_name, to_word
from agentco_tui.reading.values.status_word import snake_case
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText

__all__ = ["AGENT_BUDGETS", "COMPANY_BUDGETS", "WHOLE", "WHOLE_ID"]

_EXHAUSTED: Final = word_set(
    """exceeded exhausted hard_stop blocked over_budget overbudget over_limit depleted stopped
    limit_reached budget_exceeded critical"""
)
"""Status words, in `snake_case`, of a budget of which nothing is left."""
# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
FIELDS: Final = (
    *FIGURES,
    Field("id", "id _id uuid guid uid sys_id gid urn document_id identifier slug", to_id),
    Field("budget_id", "{budget,policy}_id", to_id),
    *reference_fields("agent", AGENT_NAMES),
    *reference_fields("person", "worker employee member user"),  # LiteLLM: who made an API key
    *reference_fields("company", OWNER, more="customer"),
    *reference_fields("inner", "team workspace"),  # a part of a company; it may own a budget too
    *reference_fields(
        "owner", "owner subject assignee holder", more="actor  # Anthropic",
        id_names="subject_key external_customer_id  # OpenMeter, Orb",
    ),
    Field("owner_name", "budget_entity_name  # GitHub", to_ref_name),
    *SCOPE_FIELDS,
    Field("name", "display_name name full_name title label access_group", to_name),
    Field("budget_name", "budget_name display_name  # AWS, Google: whose it is", to_name),
    Field("stops", "prevent_further_usage  # GitHub: a limit of 0 is one", to_flag),
    Field("period", """
        period {budget.,budget_}period window_kind time_unit  # paperclip, AWS
        {,litellm_budget_table.}budget_duration  # LiteLLM
        {limit,interval,budget}_reset reset_{interval,period} # OpenRouter
        {time,billing}_period window interval cycle frequency recurrence time_grain
        """, to_word),
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
    Field("status", "status state health budget_status", to_word),
    Field("paused", "{is_,agent_,}paused suspended {is_,}blocked", to_flag),
    Field("over", "{is_,}over_{budget,limit} {is_,}exceeded", to_flag),
    Field("no_limit", "{is_,}unlimited no_limit no_budget uncapped", to_flag),
    Field("has_limit", "has_{limit,budget}", to_flag),
)  # fmt: skip


def _build(row: Row, context: DecodeContext, *, scope: BudgetScope) -> Budget:
    """The budget in a row of a list with budgets of `scope`: companies, agents, or the whole.

    Raises UnreadableRecord if the row does not say whose budget it is.
    """
    values = row.values
    own_scope = scope_of(values, scope)
    owner = owner_of(row, context, own_scope)
    for slot in owner.unused_slots:
        if slot in values:
            row.mark_unread(slot)
    id_doubt = owner.doubt  # why the limit of this budget can't be changed; None if it can
    if id_doubt is None and scope is BudgetScope.AGENT and own_scope is BudgetScope.COMPANY:
        id_doubt = doubt("it is the budget of a company, not of an agent")
    status = snake_case(values.get("status") or "")
    is_flagged = any(values.get(slot) for slot in ("over", "paused", "stops"))
    is_exhausted = status in _EXHAUSTED or is_flagged
    has_no_limit = (
        values.get("no_limit") is True
        or values.get("has_limit") is False
        or fold(status) in UNLIMITED
    )
    zero_is_limit = is_exhausted or context.zero_is_limit
    figures = read_figures(row, context, zero_is_limit=zero_is_limit, no_limit=has_no_limit)
    unit = declared_unit(values, context.unit)
    period: SafeText | None = values.get("period")
    if not period and figures.period:
        period = SafeText(figures.period)
    company = owner.company
    if own_scope is BudgetScope.COMPANY:
        company = None  # it is the owner itself
    return make_record(
        Budget, row, context,
        id=owner.ref.id or str(owner.ref.name),
        id_doubt=id_doubt,
        scope=own_scope,
        name=owner.ref.name or values.get("name"),
        company=company,
        limit=figures.limit,
        unlimited=figures.unlimited,
        spent=figures.spent,
        remaining=figures.remaining,
        share=figures.share,
        share_derived=figures.share_derived,
        warn_at=figures.warn_at,
        forecast=to_money(values.get("forecast"), unit),
        period=period or None,
        extra=as_extra(unused_fields(row, figures.used | {"forecast"})),
    )  # fmt: skip


def _kind(
    scope: BudgetScope, noun: str, list_keys: str, fallback_list_keys: str, max_rows: int
) -> Kind[Budget]:
    """The description of budgets of companies or agents; the parameters are those of `Kind`."""
    other = "inner"
    if scope is BudgetScope.AGENT:
        other = "person"
    owner = " ".join(f"{slot} {slot}_id {slot}_name" for slot in (scope.value, other))
    return Kind(
        f"{scope.value}_budget",
        noun=noun,
        list_keys=list_keys,
        fallback_list_keys=f"{fallback_list_keys} breakdown policies limits spend costs",
        fields=FIELDS,
        build=partial(_build, scope=scope),
        needs_one_of=f"id name scope_id scope_name owner owner_id owner_name budget_name {owner}",
        unreadable_reason=NAMELESS,
        max_rows=max_rows,
        share_hints=share_hints,
        find_share_scales=find_share_scales,
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
    list_keys="budget overview",
    fields=FIELDS,
    build=partial(_build, scope=BudgetScope.ALL),
    unreadable_reason="no budget",
    max_rows=1,
    share_hints=share_hints,
    find_share_scales=find_share_scales,
)
