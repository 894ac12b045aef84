"""Budgets: limit, spent, remaining and share of the whole, a company or an agent (SHAPES D)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from agentco_tui.api import shares
from agentco_tui.api.budget_figures import Figures, read_figures
from agentco_tui.api.context import BARE, Context, Unread
from agentco_tui.api.drafts import Row, drafted
from agentco_tui.api.figures import OWNERS, figures_in, is_reset
from agentco_tui.api.moneys import minus, with_sibling
from agentco_tui.api.names import some, word_set, words
from agentco_tui.api.plans import WRAPPERS, Meaning, Spec, Values
from agentco_tui.api.units import NO_UNIT, unit_of_values, unit_rule
from agentco_tui.model.records import Budget, BudgetScope, Moment, Money, Ref
from agentco_tui.reading.schema import Json
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.status import fold_word
from agentco_tui.reading.values.text import flag, named, word
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText

_MAX_FIELDS: Final = 400
_EXHAUSTED: Final = word_set(
    """exceeded exhausted hard_stop blocked over_budget overbudget over_limit depleted stopped
    limit_reached budget_exceeded critical"""
)

_MEANINGS: Final = (
        Meaning("id", "budget_id id _id uuid policy_id", to_id),
        Meaning("agent", "agent agent_ref assistant worker member bot employee", to_ref),
        Meaning("agent_id", "agent_id agent_uuid assistant_id member_id worker_id bot_id "
                "employee_id", to_ref_id),
        Meaning("agent_name", "agent_name assistant_name agent_display_name worker_name bot_name "
                "member_name employee_name", to_ref_name),
        Meaning("company", "company organization organisation org workspace tenant account",
                to_ref),
        Meaning(
            "company_id",
            "company_id organization_id organisation_id org_id workspace_id tenant_id "
            "account_id",
            to_ref_id,
        ),
        Meaning("company_name", "company_name organization_name org_name workspace_name "
                "tenant_name account_name", to_ref_name),
        Meaning("scope_type", "scope_type scope entity_type resource_type level", word),
        Meaning("scope_id", "scope_id entity_id resource_id subject_id target_id", to_id),
        Meaning("scope_name", "scope_name entity_name resource_name subject_name", named),
        Meaning("name", "name display_name budget_name title label access_group", named),
        Meaning(
            "period",
            """period budget_period window_kind time_unit budget_duration limit_reset
            reset_interval time_period window interval cycle billing_period frequency recurrence
            reset_period duration""",
            word,
        ),
        Meaning("ends", "window_end period_end ending_at end_time ends_at ends_on", to_moment),
        Meaning("status", "status state health budget_status level_status", word),
        Meaning("paused", "paused is_paused agent_paused suspended blocked is_blocked", flag),
        Meaning("over", "is_over_budget over_budget exceeded is_exceeded over_limit", flag),
        Meaning(
            "no_limit", "unlimited is_unlimited no_limit no_budget uncapped infinite", flag
        ),
        Meaning("has_limit", "has_limit has_budget limited is_limited", flag),
        Meaning("threshold_type", "threshold_type alert_type warn_type", word),
)  # fmt: skip
BUDGET: Final = Spec(_MEANINGS, wrappers=f"budget {WRAPPERS} data metadata spec", rule=unit_rule)


_MINE: Final = {
    BudgetScope.AGENT: frozenset(("agent",)),
    BudgetScope.COMPANY: word_set("company org organization workspace tenant account owner"),
}


class _Draft(NamedTuple):
    """A budget whose shares wait for what the other rows prove."""

    obj: Mapping[str, Json]
    values: Values
    left: dict[str, Json]
    figures: Figures


def draft(
    obj: Mapping[str, Json], context: Context = BARE, scope: BudgetScope = BudgetScope.ALL
) -> _Draft:
    """The first half of reading a budget."""
    values: Values = {}
    left = BUDGET.read(obj, values)
    figures = read_figures(left, unit_of_values(values, context.unit), _MINE.get(scope, OWNERS))
    own = {slot.partition(" ")[2]: unit for slot, unit in values.items() if " " in slot}
    if len(set(own.values())) > 1:
        # `limit_currency` and `spent_currency` differ: the sums can't be compared
        figures = figures._replace(
            limit=with_sibling(figures.limit, own.get("limit", NO_UNIT)),
            spent=with_sibling(figures.spent, own.get("spent", own.get("used", NO_UNIT))),
            remaining=with_sibling(figures.remaining, own.get("remaining", NO_UNIT)),
        )
    for name, raw in some(left, _MAX_FIELDS):
        if "resets" not in values and raw is not None and is_reset(words(name)):
            at = to_moment(raw)
            if isinstance(at, Moment):
                values["resets"] = at
            if at is not None:
                del left[name]
    return _Draft(obj, values, left, figures)


def scale_of(drafts: Iterable[_Draft]) -> shares.Scale:
    """What all rows of an answer together prove about their shares."""
    found: list[shares.RawShare] = []
    warns: list[shares.RawShare] = []
    for row in drafts:
        found.extend(each for each in (row.figures.share, row.figures.left_share) if each)
        warns.extend((row.figures.warn,) if row.figures.warn else ())
    return shares.proven_scale(found, warns)


def finish(
    row: _Draft,
    scope: BudgetScope,
    scale: shares.Scale,
    context: Context = BARE,
    default_id: str | None = None,
) -> Budget:
    """The second half; raises Unread if nothing says what the budget is for."""
    values, left, figures = row.values, dict(row.left), row.figures
    status: SafeText | None = values.get("status")
    scope = _scope(values, scope)
    owner = _owner(values, scope, context)
    owner_id = (owner.id if owner else None) or default_id
    if owner_id is None and owner is not None and owner.name is not None:
        owner_id = str(owner.name)
    if owner_id is None:
        raise Unread("a budget without the id of what it is for")
    if values.get("id") not in (None, owner_id):
        left["id"] = values["id"]
    limit, unlimited = _limit(figures, values, status)
    spent, remaining = figures.spent, figures.remaining
    taken = {"limit", "spent", "remaining", "forecast"}
    if unlimited:
        limit = None
        if remaining is not None and remaining.amount <= 0:
            remaining = None
    elif remaining is None and limit is not None and spent is not None:
        remaining = minus(limit, spent)
    elif spent is None and limit is not None and remaining is not None:
        spent = minus(limit, remaining)
    share, derived = _share(figures, limit, spent, unlimited=unlimited, scale=scale, taken=taken)
    warn = _warn(figures, limit, values.get("threshold_type"), taken)
    for slot, path in figures.paths:
        if slot in taken:
            _drop(left, path)
    if values.get("threshold_type") is not None and warn is None:
        left["threshold_type"] = values["threshold_type"]
    resets = values.get("resets") or values.get("ends")
    return Budget(
        id=owner_id,
        scope=scope,
        name=(owner.name if owner else None) or values.get("scope_name") or values.get("name"),
        company=_company(values, context) if scope is not BudgetScope.COMPANY else None,
        limit=limit,
        unlimited=unlimited,
        spent=spent,
        remaining=remaining,
        share=share,
        share_derived=derived,
        warn_at=warn,
        forecast=figures.forecast,
        period=values.get("period") or (SafeText(figures.period) if figures.period else None),
        resets=resets,
        status=status,
        paused=values.get("paused"),
        extra=as_extra(left),
    )


def _scope(values: Values, scope: BudgetScope) -> BudgetScope:
    told = fold_word(str(values.get("scope_type") or ""))
    if told in ("company", "organization", "organisation", "org", "workspace", "tenant", "account"):
        return BudgetScope.COMPANY
    if told in ("agent", "assistant", "worker", "member", "bot", "employee"):
        return BudgetScope.AGENT
    return scope


def _company(values: Values, context: Context) -> Ref | None:
    ref = joined(values.get("company_id"), values.get("company"), values.get("company_name"))
    return context.named(ref)


def _owner(values: Values, scope: BudgetScope, context: Context) -> Ref | None:
    """What the budget is for: by the reference of its scope, else by its own id and name."""
    own = Ref(values.get("scope_id"), values.get("scope_name"))
    itself = Ref(values.get("id"), values.get("name"))
    if scope is BudgetScope.ALL:
        return joined(own, itself)
    if scope is BudgetScope.AGENT:
        named_ref = joined(values.get("agent_id"), values.get("agent"), values.get("agent_name"))
    else:
        named_ref = _company(values, context)
    if named_ref is not None and named_ref.id is not None:
        # the record's own name is its owner's too, its own id is only the budget's
        return context.named(joined(named_ref, Ref(None, own.name), Ref(None, itself.name)))
    return context.named(joined(own, named_ref, itself))


def _limit(figures: Figures, values: Values, status: SafeText | None) -> tuple[Money | None, bool]:
    """The limit, and whether the platform said that there is none (SHAPES D "No limit")."""
    if values.get("no_limit") is True or values.get("has_limit") is False:
        return None, True
    told = fold_word(status) if status else ""
    if told in ("no_budget", "unlimited", "no_limit"):
        return None, True
    if figures.limit_is_zero:
        used_up = told in _EXHAUSTED or values.get("over") is True or values.get("paused") is True
        return (figures.limit, False) if used_up else (None, True)
    return figures.limit, figures.unlimited


def _share(
    figures: Figures,
    limit: Money | None,
    spent: Money | None,
    *,
    unlimited: bool,
    scale: shares.Scale,
    taken: set[str],
) -> tuple[Decimal | None, bool]:
    """The share and whether it was worked out here; what spent and limit say comes first."""
    if unlimited:
        if figures.share is not None and figures.share.value == 0:
            taken.add("share")
        return None, False
    computed = shares.share_of(spent, limit)
    if computed is not None:
        sent = shares.settled(figures.share, scale, computed)
        if sent is not None and shares.near(sent, computed):
            taken.add("share")
            return computed, False
        return computed, True
    sent = shares.settled(figures.share, scale)
    if sent is not None:
        taken.add("share")
        return sent, False
    left = shares.settled(figures.left_share, scale)
    if left is not None:
        taken.add("left")
        return 1 - left, True
    return None, False


def _warn(
    figures: Figures, limit: Money | None, kind: SafeText | None, taken: set[str]
) -> Decimal | None:
    if kind is not None and "abs" in kind.lower() and figures.warn is not None:
        if limit is not None and limit.amount > 0:
            taken.add("warn")
            return figures.warn.value / limit.amount
        return None
    point = shares.threshold(figures.warn)
    if point is not None:
        taken.add("warn")
        return point
    soft = shares.share_of(figures.soft, limit)
    if soft is not None:
        taken.add("soft")
    return soft


def _drop(left: dict[str, Any], path: Sequence[str]) -> None:
    """Take what was understood out of what was not; objects that become empty go too."""
    *way, last = path
    holders = [left]
    for name in way:
        inner = holders[-1].get(name)
        if type(inner) is not dict:
            return
        inner = dict(inner)
        holders[-1][name] = inner
        holders.append(inner)
    holders[-1].pop(last, None)
    for holder, name in zip(reversed(holders[:-1]), reversed(way), strict=True):
        if not holder[name]:
            del holder[name]


def read_budgets(rows: Sequence[Row], scope: BudgetScope) -> list[Budget | Unread]:
    """All budgets of one answer: `rows` of (object, context, id from its key)."""
    first, drafts = drafted(rows, lambda obj, context: draft(obj, context, scope))
    scale = scale_of(first)
    out: list[Budget | Unread] = []
    for row, (_, context, key) in zip(drafts, rows, strict=True):
        try:
            out.append(finish(row, scope, scale, context, key))
        except Unread as error:
            out.append(error)
    return out


def looks_like_budget(obj: Mapping[str, Json]) -> bool:
    """True if at least one limit, spent, remaining or share is in it."""
    return any(
        found.sense.slot in ("limit", "spent", "remaining", "share") for found in figures_in(obj)
    )
