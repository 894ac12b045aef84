"""Budgets: limit, spent, remaining and share of the whole, a company or an agent.

Figures may come for several periods and in several units at once. One period is chosen, and
nothing is added up; where limit, spent and remaining contradict each other none of them is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final

import msgspec

from agentco_tui.model import Budget, BudgetScope, Money, Ref
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.schema import Around, Field, Json, Kind, Partial, Row, Unread, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values import percent
from agentco_tui.reading.values.money import (
    UNIT_FIELDS,
    MoneyReader,
    Sum,
    comparable,
    minus,
    money_field,
    to_money,
    told_unit,
)
from agentco_tui.reading.values.percent import Part, Scale, part_reader
from agentco_tui.reading.values.plain_text import flag, named, word
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.reading.values.time import to_moment
from agentco_tui.reading.values.unit import NO_UNIT, Unit, currency_word
from agentco_tui.text import SafeText

WHOLE_ID: Final = "all"
"""The id of the whole's budget, which has no record of its own."""
_MOST_COMPANIES: Final = 25_000
_MOST_AGENTS: Final = 50_000

_UNLIMITED: Final = word_set("unlimited none infinity inf infinite nolimit uncapped never nobudget")
_EXHAUSTED: Final = word_set(
    """exceeded exhausted hard_stop blocked over_budget overbudget over_limit depleted stopped
    limit_reached budget_exceeded critical"""
)


class _NoLimit:
    """A limit that is none."""


NO_LIMIT: Final = _NoLimit()


class LimitReader(MoneyReader):
    """A reader of limits: below zero, and words such as "unlimited", are `NO_LIMIT`."""

    def __call__(self, raw: Json) -> Any:
        """A Sum, Partial or NO_LIMIT; None for all else."""
        if type(raw) is str and fold(raw) in _UNLIMITED:
            return NO_LIMIT
        found = super().__call__(raw)
        sent = found.value if type(found) is Partial else found
        return NO_LIMIT if type(sent) is Sum and sent.value < 0 else found


# -- the table ----------------------------------------------------------------------------------

PERIODS: Final = {
    "month": "{monthly,month,this_month,current_month,mtd}",
    "day": "{daily,day,today}",
    "week": "{weekly,week,this_week}",
    "hour": "{hourly,hour}",
    "year": "{yearly,annual,year,ytd}",
    "quarter": "{quarterly,quarter}",
    "lifetime": "{lifetime,all_time}",
}
"""Words that stand for P in the names below."""
_ORDER: Final = ("month", "", "lifetime", "year", "quarter", "week", "day", "hour")
"""Which period is read where the record names none: those the platform sets limits for."""

_LIMIT: Final = """
    limit {spend,spending,cost,hard,budget}_limit    # OpenFang, OpenRouter, LiteLLM, OpenAI
    budget max_budget budget_max                     # LiteLLM
    budget_{amount,cap} amount_limit limit_amount    # GitHub, paperclip incidents
    total_{budget,limit} {cap,quota,allowance} {spend,spending,cost}_cap max_{spend,cost}
    new_limit current.limit                          # the answer to a changed limit
    {,budget.}budget_limit.amount budget_limit       # AWS
    amount.specified_amount                          # Google Cloud Billing
    spend_management.amount                          # Vercel
    {budget,usage,limits,cost,costs,spend}.limit{,_usd,_cents} limits.{cost,spend,max}{,_usd,_cents}
    {budget,litellm_budget_table}.{max_budget,amount,total,max,cap}{,_usd,_cents}  # LiteLLM
    totals.{limit,budget}{,_usd,_cents}
"""
_LIMIT_P: Final = """
    P_{limit,budget,cap,quota} {limit,budget,cap,max}_P max_P_{spend,cost,budget}
    P_{spend,spending,cost,budget}_limit budget_P_limit {spend,spending}_limit_P  # OpenFang
    max_cost_per_P                                   # OpenFang: max_cost_per_hour_usd
    {limit,limits,budget,budgets,caps}.P{,_usd,_cents} P.{limit,budget,cap,amount}{,_usd,_cents}
    {budget,costs,limits}.P_{limit,budget}{,_usd,_cents}
"""
_SPENT: Final = """
    spent used spend usage {total,current,actual}_{spent,spend,cost,usage,used}
    observed_amount amount_observed                  # paperclip
    budget_{spent,used} {spent,used}_amount amount_{spent,used} consumed
    {spent,spend}_{so_far,to_date} {cost,money}_{used,spent} {used,spent}_cost spending
    {total_,}expenses current_month_total            # OptScale
    {,budget.}calculated_spend.actual_spend          # AWS
    {budget,usage,spend,cost,costs,limits}.{spent,used,total_spent}{,_usd,_cents}
    {budget,usage}.{spend,cost,total_cost}{,_usd,_cents} {spend,costs}.current
    current.{spent,used,spend,cost}{,_usd,_cents} current_period.{usage,spend,spent,cost}
    totals.{spent,spend,cost}{,_usd,_cents}
    cost
"""
_SPENT_P: Final = """
    P_{spend,spent,cost,usage,used,expenses,spending} {spend,spent,cost,usage,used}_P  # OpenFang
    P_{spend,cost}_to_date {spent,used}_this_P spend_P_to_date P_to_date_{spend,cost,usage}
    {spend,spent,usage,used,cost,costs}.P{,_usd,_cents}
    P.{spend,spent,used,usage,cost}{,_usd,_cents}
    {budget,costs,usage}.P_{spend,spent,cost}{,_usd,_cents}
"""
_REMAINING: Final = """
    remaining remaining_{amount,budget,limit} {amount,budget,limit}_remaining  # OpenRouter
    left {amount,budget}_left
    {budget,usage,limits,cost,costs,totals}.{remaining,left}{,_usd,_cents}
"""
_REMAINING_P: Final = """
    P_remaining remaining_P P_{limit,budget}_remaining remaining_P_budget
    remaining.P{,_usd,_cents} P.{remaining,left}{,_usd,_cents}
"""
_FORECAST: Final = """
    {forecast,forecasted,projected}{,_spend,_amount,_cost,_total} {spend,cost}_forecast
    P_{forecast,projection,projected,projected_spend} projected_P{,_spend,_cost}
    {,budget.}calculated_spend.forecasted_spend      # AWS
    {budget,usage,costs}.{forecast,projected}{,_usd,_cents}
"""
_PARTS: Final = {
    Scale.OPEN: """
        percent percentage percent_used used_percent{,age} usage_percent{,age} percentage_used
        utilization_percent{,age} {spent,budget_used,budget}_percent percent_{spent,of_limit}
        {budget,usage,limits,cost,costs}.{percent,percentage,percent_used,used_percent}
        {budget,usage,limits,cost,costs}.{usage,utilization}_percent
    """,
    Scale.PCT: """
        pct {used,usage,utilization,spent,budget}_pct pct_{used,of_cap,of_limit,spent}  # OpenFang
        {,budget_}utilization utilisation {used_,usage_,}share
        {budget,usage,limits,cost,costs}.{pct,utilization}
    """,
    Scale.RATIO: """
        ratio {usage,used,spent,utilization,budget,budget_used}_ratio {used_,}fraction fraction_used
        {budget,usage}.{ratio,usage_ratio,used_ratio}
    """,
}
_PARTS_P: Final = {
    Scale.OPEN: "P_{percent,percent_used,used_percent} {,costs.}P_utilization_percent",
    Scale.PCT: "P_{pct,utilization} P.{pct,utilization,percent}",
    Scale.RATIO: "P_{ratio,usage_ratio} P.ratio",
}


def _of_periods(slot: str, bare: str, with_period: str, make: Any) -> list[Field]:
    """The fields of one figure: "limit" without a period, "limit month", "limit day" and so on."""
    fields = [make(slot, bare)]
    for period, words in PERIODS.items():
        fields.append(make(f"{slot} {period}", _spelt(with_period, words)))
    return fields


def _spelt(names: str, words: str) -> str:
    """`names` with the words of a period in the place of P."""
    parts = names.replace("P_", f"{words}_").replace("_P", f"_{words}")
    return parts.replace("P.", f"{words}.").replace(".P", f".{words}")


def _part_field(scale: Scale) -> Any:
    return lambda slot, names: Field(slot, names, part_reader(scale))


def _limit_field(slot: str, names: str) -> Field:
    return Field(slot, names, LimitReader())


FIGURES: Final = (
    *_of_periods("limit", _LIMIT, _LIMIT_P, _limit_field),
    *_of_periods("spent", _SPENT, _SPENT_P, money_field),
    *_of_periods("remaining", _REMAINING, _REMAINING_P, money_field),
    *(
        field
        for scale in (Scale.RATIO, Scale.OPEN, Scale.PCT)
        for field in _of_periods("share", _PARTS[scale], _PARTS_P[scale], _part_field(scale))
    ),
    money_field("amount", "amount  # paperclip: the limit, beside observed_amount"),
    money_field("total", "total  # a limit only if spent and remaining add up to it"),
    money_field("forecast", _spelt(_FORECAST, PERIODS["month"])),
    money_field("soft", "{,budget.,litellm_budget_table.}soft_{budget,limit}  # LiteLLM"),
    Field(
        "left share",
        "remaining_{percent,percentage} {percent,percentage}_{remaining,left}",
        part_reader(Scale.OPEN),
    ),
    Field("left share", "remaining_pct pct_remaining", part_reader(Scale.PCT)),
    Field("left share", "{remaining_ratio,ratio_remaining}", part_reader(Scale.RATIO)),
    Field(
        "warn",
        """
        warn_percent                                 # paperclip
        {alert,warning,warn}_threshold{,_percent,_pct} {alert,warn}_at{,_percent,_pct}  # OpenFang
        threshold threshold_percent {budget,limits}.{warn_percent,alert_threshold}
        """,
        part_reader(Scale.OPEN),
    ),
    *UNIT_FIELDS,
    *(
        Field(f"{figure}_currency", f"{figure}_currency", currency_word)
        for figure in ("limit", "spent", "remaining")
    ),
)
"""The figures of a budget; alerts have the same."""

AGENT_WORDS: Final = "{agent,assistant,worker,bot,employee,member}"
COMPANY_WORDS: Final = "{company,organization,organisation,org,workspace,tenant,account,team}"
FIELDS: Final = (
    *FIGURES,
    Field("id", "id _id uuid guid", to_id),
    Field("budget_id", "{budget,policy}_id", to_id),
    Field("agent", f"{AGENT_WORDS} agent_ref", to_ref),
    Field("agent_id", f"{AGENT_WORDS}_{{id,uuid}} user_id  # LiteLLM members", to_ref_id),
    Field("agent_name", f"{AGENT_WORDS}_{{name,display_name,alias}}", to_ref_name),
    Field("company", f"{COMPANY_WORDS} customer", to_ref),
    Field("company_id", f"{COMPANY_WORDS}_{{id,uuid}}", to_ref_id),
    Field("company_name", f"{COMPANY_WORDS}_{{name,alias,display_name}}", to_ref_name),
    Field("owner", "owner subject assignee holder", to_ref),
    Field("owner_id", "{owner,subject,assignee,holder}_id", to_ref_id),
    Field("owner_name", "{owner,subject,budget_entity}_name  # GitHub", to_ref_name),
    Field("scope_type", "{scope,entity,resource,owner,subject}_type scope budget_scope", word),
    Field("scope_id", "{scope,entity,resource,target}_id  # paperclip", to_id),
    Field("scope_name", "{scope,entity,resource,target}_name  # paperclip", named),
    Field("name", "display_name name full_name title label access_group", named),
    Field("budget_name", "budget_name display_name  # AWS, Google: whose it is", named),
    Field("stops", "prevent_further_usage  # GitHub: a limit of 0 is one", flag),
    Field(
        "period",
        """
        period {budget.,budget_}period window_kind time_unit  # paperclip, AWS
        budget_duration litellm_budget_table.budget_duration  # LiteLLM
        {limit,interval,budget}_reset reset_{interval,period} # OpenRouter
        {time,billing}_period window interval cycle frequency recurrence time_grain
        """,
        word,
    ),
    Field(
        "resets",
        """
        {resets,renews}_{at,ts} {,next_}reset_{at,date,time} reset_on next_reset
        {next_,}renewal_{date,at}
        {,litellm_budget_table.}budget_reset_at P_resets_at
        {window,period}_end {ending,ends}_at {end_time,ends_on} current_period.end
        """.replace("P_", "monthly_"),
        to_moment,
    ),
    Field("status", "status state health budget_status", word),
    Field("paused", "{is_,agent_,}paused suspended {is_,}blocked", flag),
    Field("over", "{is_,}over_{budget,limit} {is_,}exceeded", flag),
    Field("no_limit", "{is_,}unlimited no_limit no_budget uncapped", flag),
    Field("has_limit", "has_{limit,budget}", flag),
    Field("threshold_type", "{threshold,alert,warn}_type", word),
)

# -- the record ---------------------------------------------------------------------------------


class Figures(msgspec.Struct, frozen=True):
    """The figures of one record, of one period."""

    limit: Money | None = None
    unlimited: bool = False
    spent: Money | None = None
    remaining: Money | None = None
    share: Decimal | None = None
    share_derived: bool = False
    period: str = ""
    used: frozenset[str] = frozenset()
    """The slots that something was read from."""


def survey(rows: Sequence[Row]) -> dict[str, Scale]:
    """What all rows of an answer prove about their shares, by the name they came under."""
    points = [row.values["warn"] for row in rows if "warn" in row.values]
    found: dict[str, list[Part]] = {}
    for row in rows:
        for slot, value in row.values.items():
            if type(value) is Part and slot != "warn":
                found.setdefault(row.origin(slot), []).append(value)
    return {name: percent.proven(parts, points) for name, parts in found.items()}


def figures(row: Row, around: Around, *, at_zero: bool = False) -> Figures:
    """The figures of a record; `at_zero` tells that a limit of 0 is one, and used up."""
    unit = told_unit(row.values, around.unit)
    values = {
        slot: to_money(value, _own_unit(slot, row.values).with_more(unit))
        if type(value) is Sum
        else value
        for slot, value in row.values.items()
    }
    period, slots = _chosen(values)
    limit: Any = values.get(slots.get("limit", ""))
    spent: Money | None = values.get(slots.get("spent", ""))
    remaining: Money | None = values.get(slots.get("remaining", ""))
    unlimited = limit is NO_LIMIT
    if limit is None:
        limit = _from_totals(values, spent, remaining, slots)
    if unlimited or (limit is not None and limit.amount == 0 and not at_zero):
        limit, unlimited = None, True
    if _contradict(limit, spent, remaining):
        limit = spent = remaining = None
        slots = {slot: own for slot, own in slots.items() if slot == "share"}
    if unlimited:
        remaining = remaining if remaining and remaining.amount > 0 else None
    elif limit is not None and spent is not None and remaining is None:
        remaining = minus(limit, spent)
    elif limit is not None and remaining is not None and spent is None:
        rest = minus(limit, remaining)
        spent = rest if rest is not None and 0 <= rest.amount <= limit.amount else None
    share, derived = _share(row, around, slots, limit, spent)
    if unlimited:
        share, derived = None, False
        used = frozenset(slots.values())
    else:
        used = frozenset(own for slot, own in slots.items() if slot != "share" or share is not None)
    return Figures(limit, unlimited, spent, remaining, share, derived, period, used)


def _own_unit(slot: str, values: Values) -> Unit:
    """What `spent_currency` tells of what was spent."""
    own: Unit = values.get(f"{slot.partition(' ')[0]}_currency", NO_UNIT)
    return own


def _chosen(values: Values) -> tuple[str, dict[str, str]]:
    """The period, and for each figure the slot that it is read from: the period's own, else bare.

    The record's own period comes first. Where it names none, that with a limit is read, months
    before others; bare spending counts for it, unless there are two and nothing tells which.
    """
    told = _canonical(values.get("period"))
    have = {slot.partition(" ")[::2] for slot in values if slot.split(" ")[0] in _FOUR}
    periods = {period for _, period in have}
    if told and (told in periods or "" in periods):
        period = told
    else:
        real = [each for each in _ORDER if _is_real(values.get(_slot("limit", each)))]
        known = [each for each in _ORDER if each in periods]
        period = next(
            iter(real or [each for each in known if ("limit", each) in have] or known), ""
        )
    slots: dict[str, str] = {}
    for figure in _FOUR:
        # A figure that names no period is that of the record; one beside a bare limit is a month's.
        near = [period, "" if period else "month"]
        ways = [_slot(figure, each) for each in near if (figure, each) in have]
        if figure == "spent" and len(ways) > 1 and not told and not period:
            ways = _agreeing(values, ways)
        if ways:
            slots[figure] = ways[0]
    return period, slots


_FOUR: Final = ("limit", "spent", "remaining", "share")


def _slot(figure: str, period: str) -> str:
    return f"{figure} {period}" if period else figure


def _is_real(limit: Any) -> bool:
    return isinstance(limit, Money) and limit.amount > 0


def _agreeing(values: Values, ways: list[str]) -> list[str]:
    """Which of two sums beside a bare limit was spent of it: only what is left of it tells."""
    limit, remaining = values.get("limit"), values.get("remaining")
    if values[ways[0]] == values[ways[1]]:
        return ways
    if not isinstance(limit, Money) or not isinstance(remaining, Money):
        return []
    return [way for way in ways if not _contradict(limit, values[way], remaining)]


def _from_totals(
    values: Values, spent: Money | None, remaining: Money | None, slots: dict[str, str]
) -> Money | None:
    """A bare `amount` beside what was spent; a `total` that spent and remaining add up to."""
    amount: Money | None = values.get("amount")
    total: Money | None = values.get("total")
    if amount is not None and (spent is not None or remaining is not None):
        slots["limit"] = "amount"
        return amount
    adds_up = spent is not None and remaining is not None and total is not None
    if not adds_up or total is None or _contradict(total, spent, remaining):
        return None
    slots["limit"] = "total"
    return total


def _contradict(limit: Money | None, spent: Money | None, remaining: Money | None) -> bool:
    """True if the three are all there and do not agree; what is left may be told as 0 at least."""
    if limit is None or spent is None or remaining is None:
        return False
    if not (comparable(limit, spent) and comparable(limit, remaining)):
        return False
    rest, left = limit.amount - spent.amount, remaining.amount
    allowed = max(Decimal("0.02"), abs(limit.amount) / 1000)
    floored = left == 0 and rest < 0
    return abs(rest - left) > allowed and not floored


def _share(
    row: Row, around: Around, slots: Mapping[str, str], limit: Money | None, spent: Money | None
) -> tuple[Decimal | None, bool]:
    """The share, and whether it was worked out here; none if what was sent contradicts it."""
    scales: Mapping[str, Scale] = around.survey or {}

    def sent(slot: str) -> tuple[Part | None, Scale]:
        origin = row.origin(slot) if slot in row.values else ""
        return row.values.get(slot), scales.get(origin, Scale.OPEN)

    computed = percent.share_of(spent, limit)
    part, scale = sent(slots.get("share", ""))
    if computed is not None:
        if part is None:
            return computed, True
        told = percent.settled(part, scale, computed)
        agrees = told is not None and percent.near(told, computed)
        return (computed, False) if agrees else (None, False)
    told = percent.settled(part, scale)
    if told is not None:
        return told, False
    left = percent.settled(*sent("left share"))
    return (1 - left, True) if left is not None else (None, False)


def _canonical(told: SafeText | None) -> str:
    """The period that a word means: "calendar_month_utc", "1mo", "DAILY"; else ""."""
    return _PERIOD_WORDS.get(fold_word(told), "") if told else ""


_PERIOD_WORDS: Final = {
    word: period
    for period, words in {
        "month": "month monthly calendar_month calendar_month_utc per_month 1mo mtd 30d 1m",
        "day": "day daily per_day 1d 24h today calendar_day calendar_day_utc",
        "week": "week weekly per_week 7d 1w",
        "hour": "hour hourly per_hour 1h",
        "year": "year yearly annual annually per_year 1y 12mo 365d",
        "quarter": "quarter quarterly 3mo",
        "lifetime": "lifetime all_time total forever",
    }.items()
    for word in words.split()
}


def unused(row: Row, used: frozenset[str]) -> dict[str, Json]:
    """What is left of a record: what was not understood, and figures that nothing was read from."""
    left, keys = dict(row.left), row.keys
    taken = {key for slot, key in keys.items() if slot not in FIGURE_SLOTS or slot in used}
    for slot, key in keys.items():
        if slot in FIGURE_SLOTS and slot not in used and key not in taken:
            left[key] = row.obj[key]
    return left


FIGURE_SLOTS: Final = frozenset(field.slot for field in FIGURES if field not in UNIT_FIELDS)


def _build(row: Row, around: Around, *, scope: BudgetScope) -> Budget:
    values = row.values
    scope = _scope(values, scope)
    owner, company = _owner(values, around, scope)
    status: SafeText | None = values.get("status")
    told = fold_word(status) if status else ""
    stopped = told in _EXHAUSTED or any(values.get(slot) for slot in ("over", "paused", "stops"))
    found = figures(row, around, at_zero=stopped)
    no_limit = values.get("no_limit") is True or values.get("has_limit") is False
    if no_limit or fold(told) in _UNLIMITED:
        found = msgspec.structs.replace(
            found, limit=None, unlimited=True, remaining=None, share=None, share_derived=False
        )
    unit = told_unit(values, around.unit)
    used = set(found.used) | {"forecast", "amount" if "amount" in found.used else ""}
    warn = _warning(values, found.limit, unit, used)
    if "left share" in values and found.share is not None:
        used.add("left share")
    left = unused(row, frozenset(used))
    if values.get("id") not in (None, owner.id):
        left["id"] = values["id"]
    return Budget(
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
        warn_at=warn,
        forecast=to_money(values.get("forecast"), unit),
        period=values.get("period") or (SafeText(found.period) if found.period else None),
        resets=values.get("resets"),
        status=status,
        paused=values.get("paused"),
        extra=as_extra(left),
    )


def _warning(values: Values, limit: Money | None, unit: Unit, used: set[str]) -> Decimal | None:
    """The platform's own warning point, as a share; also where it is told as a sum."""
    part: Part | None = values.get("warn")
    if part is not None and "abs" in str(values.get("threshold_type", "")).lower():
        used.add("warn")
        return part.value / limit.amount if limit is not None and limit.amount > 0 else None
    point = percent.warning_point(part)
    if point is not None:
        used.add("warn")
        return point
    soft = percent.share_of(to_money(values.get("soft"), unit), limit)
    if soft is not None:
        used.add("soft")
    return soft


SCOPES: Final = {
    **dict.fromkeys(("company", "organization", "organisation", "org", "workspace", "tenant",
                     "account", "team"), BudgetScope.COMPANY),
    **dict.fromkeys(("agent", "assistant", "worker", "member", "bot", "employee", "user"),
                    BudgetScope.AGENT),
}  # fmt: skip
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
    company = around.named(
        joined(values.get("company_id"), values.get("company"), values.get("company_name"))
    )
    ref = company
    if scope is BudgetScope.AGENT:
        ref = joined(values.get("agent_id"), values.get("agent"), values.get("agent_name"))
    ref = joined(
        ref,
        Ref(values.get("scope_id"), values.get("scope_name")),
        values.get("owner_id"), values.get("owner"), values.get("owner_name"),
        Ref(around.key),
    )  # fmt: skip
    is_budget = "budget_id" in values or fold(around.path) in _OF_BUDGETS
    if not is_budget and (ref is None or ref.id is None):
        ref = joined(ref, Ref(values.get("id"), values.get("name")))
    if ref is not None and ref.name is None and (ref.id is not None or "id" not in values):
        ref = joined(ref, Ref(None, values.get("name")))
    if ref is None and "id" not in values and "budget_name" in values:
        ref = Ref(None, values["budget_name"])
    if ref is None or (ref.id is None and ref.name is None):
        raise Unread("a budget without the id of what it is for")
    named_ref = around.named(ref)
    return named_ref if named_ref is not None else ref, company


def is_budget(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """True if at least one limit, spent, remaining or share is in it."""
    return any(slot.split(" ")[0] in _FOUR for slot in kind.table.fills(obj))


COMPANY_BUDGETS: Final[Kind[Budget]] = Kind(
    "company_budgets",
    noun="company budgets",
    own="companies company_budgets budgets by_company company budget",
    also="organizations teams breakdown policies limits spend costs",
    fields=FIELDS,
    build=partial(_build, scope=BudgetScope.COMPANY),
    needs="id name company company_id company_name scope_id scope_name owner owner_id owner_name "
    "budget_name",
    nameless="a budget without the id of what it is for",
    most=_MOST_COMPANIES,
    survey=survey,
)
AGENT_BUDGETS: Final[Kind[Budget]] = Kind(
    "agent_budgets",
    noun="agent budgets",
    own="agents agent_budgets budgets by_agent agent budget",
    also="breakdown per_agent members rankings policies limits spend costs",
    fields=FIELDS,
    build=partial(_build, scope=BudgetScope.AGENT),
    needs="id name agent agent_id agent_name scope_id scope_name owner owner_id owner_name "
    "budget_name",
    nameless="a budget without the id of what it is for",
    most=_MOST_AGENTS,
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
