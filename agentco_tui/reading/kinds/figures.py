"""The figures of a budget or an alert: limit, spent, remaining, share and where to warn.

Platforms are the remote services that this program can watch. `FIGURES` declares the fields,
`find_share_scales` looks at the shares of all rows of an answer, and `read_figures` returns the
`Figures` of one row. A *slot* is our name of a field: "limit" for a limit without a period, "limit
month" and "limit day" for those of a period. Each `Field(slot, names, reader)` lists the names
under which platforms send it, best first, and the function that reads a raw value; after `#` come
the platforms that use the names. A `Row` holds the values of one object by slot.

A record may have figures of several periods and in several units at once. One period is chosen,
and nothing is added up. If limit, spent and remaining contradict each other, none of them is used.

A share may be sent as 0.8, 80 or "80 %". Its scale is known from a name that says ratio, a per
cent sign, a value over 1.5, the sums of the record, or the other rows of the answer. A share whose
scale stays open is not used, and no share is ever clamped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Context, Decimal
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from agentco_tui.model import Money
from agentco_tui.reading.field_names import NO_UNIT, UNIT_WORDS, Unit, fold, word_set, words
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.name_index import Field

# Incomplete: a value that was read from a raw value that holds more.
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import DecodeContext, Row, Values
from agentco_tui.reading.values.money import (
    UNIT_FIELDS,
    Sum,
    comparable,
    declared_unit,
    minus,
    money_field,
    to_money,
    to_sum,
)
from agentco_tui.reading.values.scalar import to_decimal, to_word
from agentco_tui.reading.values.status_word import snake_case

_PERCENT_ABOVE: Final = Decimal("1.5")
"""A share above it is in per cent, unless its name says ratio."""
_MAX_SHARE: Final = Decimal(10) ** 7
"""A larger number is no share."""
_ROUNDING: Final = Context(prec=28)
"""The precision of computed shares."""


class Scale(Enum):
    """What a share of 1 means: all of the limit, or one per cent of it."""

    RATIO = "ratio"
    PERCENT = "percent"
    OPEN = "open"
    """Not known, unless the value is over 1.5 and hence a percentage."""
    PCT = "pct"
    """As OPEN, but several rows below 1 prove a ratio (`hourly_pct` of OpenFang is one)."""


class Part(NamedTuple):
    """A share as it was sent."""

    value: Decimal
    scale: Scale


def part_field(slot: str, names: str, scale: Scale) -> Field:
    """A field of shares, whose names say that they have this scale."""

    def read(raw: Json) -> Part | None:
        if type(raw) is str and raw.strip().endswith("%"):
            value = to_decimal(raw.strip()[:-1])
            if value is None:
                return None
            return Part(value, Scale.PERCENT)
        if type(raw) is dict:
            return None
        value = to_decimal(raw)
        if value is None or abs(value) > _MAX_SHARE:
            return None
        if scale is not Scale.RATIO and value > _PERCENT_ABOVE:
            return Part(value, Scale.PERCENT)
        return Part(value, scale)

    return Field(slot, names, read)


def _near(one: Decimal, other: Decimal) -> bool:
    """Whether both are the same share, apart from rounding to a whole per cent."""
    return abs(one - other) <= max(Decimal("0.0051"), abs(other) / 200)


def share_of(spent: Money | None, limit: Money | None) -> Decimal | None:
    """Spent over limit; None without both, without a limit above 0, or across units."""
    if spent is None or limit is None or limit.amount <= 0 or not comparable(spent, limit):
        return None
    return _ROUNDING.divide(spent.amount, limit.amount)


UNLIMITED: Final = word_set("unlimited none infinity inf infinite nolimit uncapped never nobudget")
"""Words in the place of a limit, or of a status, that say that there is no limit."""
NO_LIMIT: Final = type("NO_LIMIT", (), {})()
"""The value of a limit that is sent as "unlimited" or below zero."""


def to_limit(raw: Json, unit: Unit = NO_UNIT) -> Any:
    """The sum that `to_sum` reads; NO_LIMIT if it is below zero or a word such as "unlimited"."""
    if type(raw) is str and fold(raw) in UNLIMITED:
        return NO_LIMIT
    result = to_sum(raw, unit)
    sent = result
    if type(result) is Incomplete:
        sent = result.value
    if type(sent) is Sum and sent.value < 0:
        return NO_LIMIT
    return result


PERIODS: Final = {
    "month": "monthly,month,this_month,current_month,mtd",
    "day": "daily,day,today",
    "lifetime": "lifetime,all_time",
}
"""The words for a period that take the place of P in the names below."""
_PERIOD_ORDER: Final = ("month", "", "lifetime", "day")
"""The order in which a period is chosen if the record names none; "" has no period in its names."""
_PERIOD_WORDS: Final = {
    "month": "month monthly calendar_month calendar_month_utc per_month 1mo mtd 30d 1m",
    "day": "day daily per_day 1d 24h today calendar_day calendar_day_utc",
    "week": "week weekly per_week 7d 1w",
    "hour": "hour hourly per_hour 1h",
    "year": "year yearly annual annually per_year 1y 12mo 365d",
    "quarter": "quarter quarterly 3mo",
    "lifetime": "lifetime all_time total forever",
}
"""The values of a field such as `period`, by the period that they mean."""
_PERIOD_OF: Final = {
    spelling: period
    for period, spellings in _PERIOD_WORDS.items()
    for spelling in spellings.split()
}
"""The period that each of these words means."""

_SUMS: Final = {
    "limit": ("""
        limit {spend,spending,cost,hard,budget}_limit  # OpenFang, OpenRouter, LiteLLM, OpenAI
        budget max_budget budget_max                 # LiteLLM
        budget_{amount,cap} amount_limit limit_amount  # GitHub, paperclip incidents
        total_{budget,limit} {cap,quota,allowance} {spend,spending,cost}_cap max_{spend,cost}
        new_limit current.limit                      # the answer to a changed limit
        {,budget.}budget_limit.amount budget_limit   # AWS
        amount.specified_amount                      # Google Cloud Billing
        spend_management.amount                      # Vercel
        {budget,usage,limits,cost,costs,spend}.limit
        limits.{cost,spend,max}
        {budget,litellm_budget_table}.{max_budget,amount,total,max,cap}  # LiteLLM
        totals.{limit,budget} {,usage_limits.}credit_{limit,quota} recurring_limit  # Portkey
        threshold_amount                             # OpenAI spend limits
        """, """
        P_{limit,budget,cap,quota} {limit,budget,cap,max}_P max_P_{spend,cost,budget}
        P_{spend,spending,cost,budget}_limit budget_P_limit {spend,spending}_limit_P  # OpenFang
        max_cost_per_P                               # OpenFang: max_cost_per_hour_usd
        {limit,limits,budget,budgets,caps}.P P.{limit,budget,cap,amount}
        {budget,costs,limits}.P_{limit,budget}
        """),
    "spent": ("""
        spent used spend usage {total,current,actual}_{spent,spend,cost,usage,used}
        observed_amount amount_observed              # paperclip
        budget_{spent,used} {spent,used}_amount amount_{spent,used} consumed
        {spent,spend}_{so_far,to_date} {cost,money}_{used,spent} {used,spent}_cost spending
        {total_,}expenses current_month_total        # OptScale
        {,budget.}calculated_spend.actual_spend      # AWS
        {budget,usage,spend,cost,costs,limits}.{spent,used,total_spent}
        {budget,usage}.{spend,cost,total_cost} {spend,costs}.current
        current.{spent,used,spend,cost} current_period.{usage,spend,spent,cost}
        totals.{spent,spend,cost} period_to_date_{spend,cost} net_amount  # GitHub billing
        cost
        """, """
        P_{spend,spent,cost,usage,used,expenses,spending}  # OpenFang
        {spend,spent,cost,usage,used}_P
        P_{spend,cost}_to_date {spent,used}_this_P spend_P_to_date P_to_date_{spend,cost,usage}
        {spend,spent,usage,used,cost,costs}.P
        P.{spend,spent,used,usage,cost}
        {budget,costs,usage}.P_{spend,spent,cost}
        """),
    "remaining": ("""
        remaining remaining_{amount,budget,limit} {amount,budget,limit}_remaining  # OpenRouter
        left {amount,budget}_left
        {budget,usage,limits,cost,costs,totals}.{remaining,left}
        """, """
        P_remaining remaining_P P_{limit,budget}_remaining remaining_P_budget
        remaining.P P.{remaining,left}
        """),
}  # fmt: skip
"""The names of each sum: those without a period, and those with one, where P is the period."""
_SHARES: Final = {
    Scale.RATIO: ("""
        ratio {usage,used,spent,utilization,budget,budget_used}_ratio {used_,}fraction fraction_used
        {budget,usage}.{ratio,usage_ratio,used_ratio}
        """, "P_{ratio,usage_ratio} P.ratio"),
    Scale.OPEN: ("""
        percent percentage percent_used used_percent{,age} usage_percent{,age} percentage_used
        utilization_percent{,age} {spent,budget_used,budget}_percent percent_{spent,of_limit}
        {budget,usage,limits,cost,costs}.{percent,percentage,percent_used,used_percent}
        {budget,usage,limits,cost,costs}.{usage,utilization}_percent
        """, "P_{percent,percent_used,used_percent} {,costs.}P_utilization_percent"),
    Scale.PCT: ("""
        pct {used,usage,utilization,spent,budget}_pct pct_{used,of_cap,of_limit,spent}  # OpenFang
        {,budget_}utilization utilisation {used_,usage_,}share
        {budget,usage,limits,cost,costs}.{pct,utilization}
        """, "P_{pct,utilization} P.{pct,utilization,percent}"),
}  # fmt: skip
"""The names of shares by their scale, without and with a period."""


def with_period_words(names: str, words: str) -> str:
    """`names` with the words of a period in the place of P."""
    for mark in ("P_", "P."):
        names = names.replace(mark, f"{{{words}}}{mark[1]}")
    for mark in ("_P", ".P"):
        names = names.replace(mark, f"{mark[0]}{{{words}}}")
    return names


def _fields_by_period(slot: str, names: tuple[str, str], make: Any) -> list[Field]:
    """The fields of one figure: "limit" without a period, "limit month", "limit day" and so on.

    `names` are those without a period and those with one; `make` makes a field of slot and names.
    """
    bare, with_period = names
    fields = [make(slot, bare)]
    for period, words_of_period in PERIODS.items():
        spelled_names = with_period_words(with_period, words_of_period)
        fields.append(make(f"{slot} {period}", spelled_names))
    return fields


_FIGURES: Final = (
    *_fields_by_period("limit", _SUMS["limit"], partial(money_field, reader=to_limit)),
    *_fields_by_period("spent", _SUMS["spent"], money_field),
    *_fields_by_period("remaining", _SUMS["remaining"], money_field),
    *(
        field
        for scale, names in _SHARES.items()
        for field in _fields_by_period("share", names, partial(part_field, scale=scale))
    ),
    money_field("amount", "amount  # paperclip: the limit, beside observed_amount"),
    money_field("total", "total  # a limit only if spent and remaining add up to it"),
    money_field("forecast", with_period_words("""
        {forecast,forecasted,projected}{,_spend,_amount,_cost,_total} {spend,cost}_forecast
        P_{forecast,projection,projected,projected_spend} projected_P{,_spend,_cost}
        {,budget.}calculated_spend.forecasted_spend  # AWS
        {budget,usage,costs}.{forecast,projected}
        """, PERIODS["month"])),
    money_field("soft", "{,budget.,litellm_budget_table.}soft_{budget,limit}  # LiteLLM"),
    part_field("left share", """
        remaining_{percent,percentage} {percent,percentage}_{remaining,left}
        """, Scale.OPEN),
    part_field("left share", "remaining_pct pct_remaining", Scale.PCT),
    part_field("left share", "remaining_ratio ratio_remaining", Scale.RATIO),
    part_field("warn", """
        warn_percent                                 # paperclip
        {alert,warning,warn}_threshold_{percent,percentage,pct}  # OpenFang
        {alert,warn,notify}_at_{percent,percentage,pct}
        threshold_{percent,percentage,pct} {budget,limits}.warn_percent
        """, Scale.PCT),
    part_field("warn", """
        {alert,warning,warn}_threshold {alert,warn}_at
        threshold {budget,limits}.alert_threshold
        properties.details.threshold                 # Azure
        """, Scale.OPEN),
)  # fmt: skip
_OF_MONEY: Final = word_set(
    """cost costs spend spending spent amount budget charge charges billed billing bill price
    expense expenses money usage fee fees invoice revenue currency credit credits tokens"""
)
"""Words of a metric that say that money is counted."""
_OF_NOTHING: Final = word_set("unit units whole month monthly day daily week weekly year yearly")
"""Words that say neither that money is counted nor that something else is."""


def _counts_things(raw: Json) -> Any:
    """Incomplete(True) if a metric counts something else than money (`metric: "seats"`), else None.

    Incomplete keeps the metric with the unread fields.
    """
    if type(raw) is not str or not raw.strip() or fold(raw) in UNIT_WORDS:
        return None
    found = set(words(raw))
    if not found or found & (_OF_MONEY | _OF_NOTHING):
        return None
    return Incomplete(True)


FIGURES: Final = (
    *_FIGURES,
    Field("threshold_type", "{threshold,alert,warn}_type  # AWS, paperclip", to_word),
    Field("counts", "metric{,_name,_type} measure{,d_metric} usage_type", _counts_things),
    Field(
        "counts",
        "{billing,quota}_metric meter{,_slug} dimension {limit_,quota_,}unit{,s,_name}",
        _counts_things,
    ),
    Field("counts", "{budget,usage,quota,limits}.{metric,unit}", _counts_things),
    *UNIT_FIELDS,
)
"""The fields of figures, and those that say what they count and in which unit."""
_SLOTS: Final = frozenset(field.slot for field in _FIGURES)
FIGURE_NAMES: Final = ("limit", "spent", "remaining", "share")
"""First words of the slots of figures that come for several periods."""


class Figures(msgspec.Struct, frozen=True):
    """The figures of one record, of one period."""

    limit: Money | None = None
    unlimited: bool = False
    """Whether the platform says that there is no limit."""
    spent: Money | None = None
    remaining: Money | None = None
    share: Decimal | None = None
    """The spent part of the limit; 1 is all of it."""
    share_derived: bool = False
    """Whether it was computed from sums, not sent."""
    warn_at: Decimal | None = None
    """The platform's own warning point, as a share of the limit, even if it was sent as a sum."""
    period: str = ""
    """One of `PERIODS`, or "" if the record names none."""
    used: frozenset[str] = frozenset()
    """The slots that something was read from."""


class ShareHint(NamedTuple):
    """What one value of a row says about the scale of shares."""

    name: str
    """Of the field; "" for a warning point below 1."""
    scale: Scale = Scale.RATIO
    is_below_one: bool = False
    """Whether it is a share below 1 whose name may mean per cent as well as a ratio."""


def share_hints(row: Row) -> tuple[ShareHint, ...]:
    """What a row says about the scale of the shares in its answer."""
    hints: list[ShareHint] = []
    for slot, value in row.values.items():
        if slot == "warn":
            if 0 < value.value < 1 and value.scale is not Scale.PERCENT:
                hints.append(ShareHint(""))
        elif type(value) is Part:
            is_below_one = value.scale is Scale.PCT and 0 < value.value < 1
            hints.append(ShareHint(row.source(slot).name, value.scale, is_below_one))
    return tuple(hints)


def find_share_scales(rows_by_hints: Mapping[tuple[ShareHint, ...], int]) -> dict[str, Scale]:
    """The scale of the shares in an answer, by the name of their field.

    `rows_by_hints` has how many rows gave each `share_hints`. The entry "" exists if a warning
    point below 1 proves that warning points are ratios.
    """
    scales_by_name: dict[str, set[Scale]] = {}
    below_one_by_name = Counter[str]()
    points_below_one = False
    for hints, row_count in rows_by_hints.items():
        for hint in hints:
            if not hint.name:
                points_below_one = True
                continue
            scales_by_name.setdefault(hint.name, set()).add(hint.scale)
            below_one_by_name[hint.name] += row_count * hint.is_below_one
    proven: dict[str, Scale] = {}
    if points_below_one:
        proven[""] = Scale.RATIO
    for name, scales in scales_by_name.items():
        below_one = below_one_by_name[name] > 1
        if Scale.PERCENT in scales:
            proven[name] = Scale.PERCENT
        elif below_one or (scales != {Scale.RATIO} and points_below_one):
            proven[name] = Scale.RATIO
        else:
            proven[name] = Scale.OPEN
    return proven


def read_figures(
    row: Row, context: DecodeContext, *, zero_is_limit: bool = False, no_limit: bool = False
) -> Figures:
    """The figures of a record, those of one period.

    `zero_is_limit`: a limit of 0 means that nothing may be spent, not "no limit". `no_limit`:
    another field says that there is no limit.
    """
    values = _with_money(row, context)
    period, slots = _choose_slots(values)
    limit: Any = values.get(slots.get("limit", ""))
    spent: Money | None = values.get(slots.get("spent", ""))
    remaining: Money | None = values.get(slots.get("remaining", ""))
    unlimited = limit is NO_LIMIT
    if limit is None:
        limit_slot = _slot_of_limit(values, spent, remaining)
        if limit_slot is not None:
            slots["limit"] = limit_slot
            limit = values[limit_slot]
    if not unlimited and limit is not None and limit.amount == 0 and not zero_is_limit:
        unlimited = True
    if unlimited:
        limit = None
    if _contradict(limit, spent, remaining):
        limit = None
        spent = None
        remaining = None
        slots = {slot: own for slot, own in slots.items() if slot == "share"}
    if unlimited and remaining is not None and remaining.amount <= 0:
        remaining = None
    if limit is not None and spent is not None and remaining is None:
        remaining = minus(limit, spent)
    elif limit is not None and remaining is not None and spent is None:
        rest = minus(limit, remaining)
        if rest is not None and 0 <= rest.amount <= limit.amount:
            spent = rest
    share, derived = _share(row, context, slots.get("share", ""), share_of(spent, limit))
    used = {own for slot, own in slots.items() if slot != "share" or share is not None or unlimited}
    if share is not None:
        used.add("left share")
    if no_limit:
        limit = None
        unlimited = True
        remaining = None
    if unlimited:
        share = None
        derived = False
    scales: dict[str, Scale] = context.share_scales or {}
    warn_slot = "warn"
    warn_at = _warning_point(row.values, limit, is_ratio="" in scales)
    if warn_at is None:
        warn_slot = "soft"
        warn_at = share_of(values.get("soft"), limit)
    if warn_at is not None:
        used.add(warn_slot)
    return Figures(
        limit=limit,
        unlimited=unlimited,
        spent=spent,
        remaining=remaining,
        share=share,
        share_derived=derived,
        warn_at=warn_at,
        period=period,
        used=frozenset(used),
    )


def _with_money(row: Row, context: DecodeContext) -> Values:
    """The values of a row, its sums as Money; without those that count something else."""
    unit = declared_unit(row.values, context.unit)
    is_count = "counts" in row.values
    values: Values = {}
    for slot, value in row.values.items():
        if type(value) is not Sum:
            values[slot] = value
        elif not is_count or value.unit != NO_UNIT:
            values[slot] = to_money(value, unit)
    return values


def _slot_of_limit(values: Values, spent: Money | None, remaining: Money | None) -> str | None:
    """The slot of a limit that is not called one; None without one.

    It is a bare `amount` beside what was spent, or a `total` that spent and remaining add up to.
    """
    total = values.get("total")
    if values.get("amount") and (spent or remaining):
        return "amount"
    if total and spent and remaining and not _contradict(total, spent, remaining):
        return "total"
    return None


def _choose_slots(values: Values) -> tuple[str, dict[str, str]]:
    """The period ("" if none), and by figure the slot from which it is read.

    That is the slot of the period, else the one without a period.
    """
    named_period = _PERIOD_OF.get(snake_case(values.get("period") or ""), "")
    sent = {slot.partition(" ")[::2] for slot in values if slot.split(" ")[0] in FIGURE_NAMES}
    """(figure, period) of the figures in the record."""
    period = _chosen_period(values, named_period, sent)
    slots: dict[str, str] = {}
    for figure in FIGURE_NAMES:
        # A figure without a period is that of the record; one beside a bare limit is a month's.
        periods = ["", "month"]
        if period:
            periods = [period, ""]
        candidates = [f"{figure} {each}".strip() for each in periods if (figure, each) in sent]
        if figure == "spent" and len(candidates) > 1 and not named_period and not period:
            candidates = _spent_of_bare_limit(values, candidates)
        if candidates:
            slots[figure] = candidates[0]
    return period, slots


def _chosen_period(values: Values, named_period: str, sent: set[tuple[str, str]]) -> str:
    """The period that is read: the one that the record names, if it has figures of it.

    Otherwise the first in `_PERIOD_ORDER` with a limit above 0, with any limit, or with a figure.
    """
    periods = {period for _, period in sent}
    if named_period and named_period in periods:
        return named_period
    if named_period and "" in periods:
        return named_period
    present = [each for each in _PERIOD_ORDER if each in periods]
    limited = [each for each in present if ("limit", each) in sent]
    limits = {each: values.get(f"limit {each}".strip()) for each in limited}
    above_zero = [
        each for each, limit in limits.items() if isinstance(limit, Money) and limit.amount
    ]
    return next(iter(above_zero or limited or present), "")


def _spent_of_bare_limit(values: Values, candidates: list[str]) -> list[str]:
    """The slots, of two, whose sum may be what was spent of a limit without a period.

    If the two differ, the remaining sum decides which one fits; empty if neither does.
    """
    one, other = (values[slot] for slot in candidates)
    if one == other:
        return candidates
    limit = values.get("limit")
    remaining = values.get("remaining")
    if not isinstance(limit, Money) or not isinstance(remaining, Money):
        return []
    return [slot for slot in candidates if not _contradict(limit, values[slot], remaining)]


def _contradict(limit: Money | None, spent: Money | None, remaining: Money | None) -> bool:
    """Whether all three are there and do not agree; an overspent budget may have 0 remaining."""
    if limit is None or spent is None or remaining is None:
        return False
    if not (comparable(limit, spent) and comparable(limit, remaining)):
        return False
    computed = limit.amount - spent.amount
    sent = remaining.amount
    tolerance = max(Decimal("0.02"), abs(limit.amount) / 1000)
    is_cut_off_at_zero = sent == 0 and computed < 0
    return abs(computed - sent) > tolerance and not is_cut_off_at_zero


def _share(
    row: Row, context: DecodeContext, slot: str, computed: Decimal | None
) -> tuple[Decimal | None, bool]:
    """The share (None if what was sent contradicts `computed`), and whether it is derived."""
    sent = _share_sent(row, context, slot, computed)
    if computed is not None and slot not in row.values:
        return computed, True
    if computed is not None:
        if sent is not None and _near(sent, computed):
            return computed, False
        return None, False
    if sent is not None:
        return sent, False
    remaining_share = _share_sent(row, context, "left share", computed)
    if remaining_share is not None:
        return 1 - remaining_share, True
    return None, False


def _share_sent(
    row: Row, context: DecodeContext, slot: str, computed: Decimal | None
) -> Decimal | None:
    """The share that was sent, with 1 as the whole; None if its scale stays open.

    Of a share whose scale nothing says, the scale is used in which it is near the `computed` one.
    """
    part: Part | None = row.values.get(slot)
    if part is None:
        return None
    by_scale = {Scale.RATIO: part.value, Scale.PERCENT: part.value / 100}
    if part.scale in by_scale:
        return by_scale[part.scale]
    proven_scales: dict[str, Scale] = context.share_scales or {}
    proven_scale = proven_scales.get(row.source(slot).name, Scale.OPEN)
    if proven_scale in by_scale:
        return by_scale[proven_scale]
    if computed is not None:
        matching = [share for share in by_scale.values() if _near(share, computed)]
        return next(iter(matching), None)
    if part.value == 0:
        return part.value
    return None


def _warning_point(values: Values, limit: Money | None, *, is_ratio: bool) -> Decimal | None:
    """The share at which the platform warns.

    0.8 and 80 are alike, since a warning at 0.8 per cent makes no sense. 1 under a name that says
    per cent is one per cent, unless other rows of the answer have ratios there (`is_ratio`).
    """
    part: Part | None = values.get("warn")
    if part is not None and "abs" in str(values.get("threshold_type", "")).lower():
        if limit is None or limit.amount <= 0:
            return None
        return part.value / limit.amount
    if part is None or part.value < 0 or part.value > 300:
        return None
    is_percent = part.scale is Scale.PCT and part.value >= 1 and not is_ratio
    if part.scale is Scale.PERCENT or is_percent:
        return part.value / 100
    return part.value


def unused_fields(row: Row, used: frozenset[str]) -> dict[str, Json]:
    """The fields of a record that were not understood, and figures that were not used."""
    # row.unread: the fields that no Field of the table has read, by key
    left = dict(row.unread)
    keys = {slot: row.source(slot).key for slot in row.values}
    taken = {key for slot, key in keys.items() if slot not in _SLOTS or slot in used}
    left.update((key, row.obj[key]) for slot, key in keys.items() if key not in taken)
    return left
