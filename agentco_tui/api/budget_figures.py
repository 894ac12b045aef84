"""The figures of one budget, of one period and one currency, picked out of all that it names.

A record may carry figures of several periods and in several units at once (SHAPES D): one period
is chosen, money goes before tokens, and nothing is ever added up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

from agentco_tui.api import shares
from agentco_tui.api.figures import OWNERS, PERIOD_ORDER, Found, figures_in, says_nothing
from agentco_tui.api.moneys import to_money
from agentco_tui.api.names import word_set, words
from agentco_tui.api.units import NO_UNIT, Unit, merged
from agentco_tui.model.records import Money
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.values.number import to_decimal

_UNLIMITED_WORDS: Final = word_set(
    """unlimited none infinity inf infinite nolimit no_limit ∞ -1 uncapped never"""
)
_SENTINELS: Final = frozenset(
    (2**31 - 1, 2**32 - 1, 2**53 - 1, 2**53, 2**63 - 1, 2**64 - 1, 2**62, 10**18)
)
_NINES: Final = re.compile(r"9{9,}(?:\.9+)?\Z")
_HUGE: Final = Decimal(10) ** 12


class Figures(NamedTuple):
    """The figures of one record, of one period and currency."""

    limit: Money | None = None
    unlimited: bool = False
    limit_is_zero: bool = False
    spent: Money | None = None
    remaining: Money | None = None
    forecast: Money | None = None
    soft: Money | None = None
    share: shares.RawShare | None = None
    left_share: shares.RawShare | None = None
    warn: shares.RawShare | None = None
    period: str = ""
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(slot, where it stood in the object)."""


_NO_FIGURES: Final = Figures()


def read_figures(
    obj: Mapping[str, Json], sibling: Unit | None = None, mine: frozenset[str] = OWNERS
) -> Figures:
    """The figures in `obj`, by the words of its names; one period of several is chosen.

    `mine`: the words for whose figures they are; `company_limit` is no limit of an agent's.
    """
    by_slot: dict[str, list[Found]] = {}
    for found in _of_one(list(figures_in(obj)), mine):
        by_slot.setdefault(found.sense.slot, []).append(found)
    if not by_slot:
        return _NO_FIGURES
    _place_amounts(by_slot)
    period = _chosen_period(by_slot)
    out: dict[str, Any] = {"period": period}
    paths: list[tuple[str, tuple[str, ...]]] = []

    def pick(slot: str) -> tuple[Found, Any] | None:
        if slot not in by_slot:
            return None
        best: tuple[int, Found, Any] | None = None
        for found in by_slot[slot]:
            if found.sense.period not in (period, "") and (period or found.sense.period != "month"):
                continue  # what names no period is a month's, as the interface has it
            value = _value(found, sibling, slot)
            if value is None:
                continue
            rank = (
                4 * (found.sense.period != period)
                + _unit_rank(found)
                + 2 * _is_bound(found.path[-1])
            )
            if best is None or rank < best[0] or _refines(best, found, value):
                best = (rank, found, value)
        if best is None:
            return None
        paths.append((slot, best[1].path))
        return best[1], best[2]

    for slot in ("spent", "remaining", "forecast", "soft"):
        picked = pick(slot)
        if picked is not None:
            out[slot] = picked[1]
    for slot, target in (("share", "share"), ("left", "left_share"), ("warn", "warn")):
        picked = pick(slot)
        if picked is not None:
            out[target] = picked[1]
    picked = pick("limit")
    if picked is not None:
        found, value = picked
        if value is _NULL:
            out["unlimited"] = "spent" in out or "share" in out
        elif value is _NO_LIMIT:
            out["unlimited"] = True
        elif value.amount == 0:
            out["limit"], out["limit_is_zero"] = value, True
        else:
            out["limit"] = value
    return Figures(**out, paths=tuple(paths))


def _of_one(found: list[Found], mine: frozenset[str]) -> list[Found]:
    """Those figures that are the record's own.

    Another record inside it counts only if it is alone and nothing stands outside of it; of parts
    side by side (`{"openai": {"spent": 3}, "other": {"spent": 4}}`) none is the whole.
    """
    if mine is not OWNERS:
        for place, each in enumerate(found):
            others = _others(each.path, mine)
            if others:
                found[place] = each._replace(apart=others)
    for each in found:
        if len(each.path) > 1 or each.apart:
            break
    else:
        return found
    outside = [each for each in found if not each.apart]
    places = {each.apart for each in found if each.apart}
    if len(places) > 1 or any(each.sense.slot in _MONEYS for each in outside):
        found = outside
    parts: dict[tuple[Any, ...], set[str]] = {}
    for each in found:
        if len(each.path) > 1 and says_nothing(each.path[-2]):
            parts.setdefault(_part(each), set()).add(each.path[-2])
    if not any(len(names) > 1 for names in parts.values()):
        return found
    return [
        each for each in found
        if len(each.path) < 2 or not says_nothing(each.path[-2]) or len(parts[_part(each)]) < 2
    ]  # fmt: skip


@lru_cache(maxsize=4096)
def _others(path: tuple[str, ...], mine: frozenset[str]) -> tuple[str, ...]:
    """The words in names that say that a figure is of others than those that are asked for."""
    return tuple(sorted((OWNERS - mine) & {word for name in path for word in words(name)}))


_MONEYS: Final = frozenset(("limit", "spent", "remaining"))


def _part(each: Found) -> tuple[Any, ...]:
    return each.path[:-2], each.sense.slot, each.sense.period, each.sense.unit.currency


class _Mark:
    """A limit that is no sum."""


_NULL: Final = _Mark()
_NO_LIMIT: Final = _Mark()


def _value(found: Found, sibling: Unit | None, slot: str) -> Any:
    raw = found.raw
    if slot in ("share", "left", "warn"):
        return shares.read_share(raw, found.sense.is_ratio, found.sense.says_percent)
    if slot == "limit":
        if raw is None:
            return _NULL
        if is_no_limit(raw, found.sense.unit):
            return _NO_LIMIT
    elif raw is None:
        return None
    money = to_money(raw, merged(found.sense.unit, sibling) if sibling else found.sense.unit)
    return money.value if type(money) is Partial else money


def is_no_limit(raw: Json, unit: Unit = NO_UNIT) -> bool:
    """True for the ways to write "no limit" other than null and 0: negative, huge, a word."""
    if type(raw) is str:
        folded = raw.strip().lower().replace(" ", "_")
        if folded in _UNLIMITED_WORDS:
            return True
    if type(raw) is dict:
        inner = to_money(raw)
        if inner is None:
            return False
        value: Decimal | None = (inner.value if type(inner) is Partial else inner).amount  # type: ignore[union-attr]
    else:
        value = to_decimal(raw)
    if value is None:
        return False
    if value < 0 or value.scaleb(min(unit.power, 0)) >= _HUGE:
        return True
    return value in _SENTINELS or _NINES.match(f"{value:f}") is not None


def _place_amounts(by_slot: dict[str, list[Found]]) -> None:
    """A bare `amount` is the limit beside a spent figure (paperclip), else spent (OpenAI costs)."""
    current = by_slot.pop("current", None)
    if current and "limit" in by_slot and "spent" not in by_slot:
        by_slot["spent"] = current
    amounts = by_slot.pop("amount", None)
    if not amounts:
        return
    if "limit" in by_slot:
        slot = "spent" if "spent" not in by_slot else ""
    elif "spent" in by_slot or "remaining" in by_slot or "share" in by_slot:
        slot = "limit"
    else:
        slot = "spent" if type(amounts[0].raw) is dict else "limit"
    if slot:
        by_slot.setdefault(slot, []).extend(amounts)


def _chosen_period(by_slot: Mapping[str, list[Found]]) -> str:
    """The period with a limit and spending, months before others; no period counts as its own."""
    periods = {found.sense.period for each in by_slot.values() for found in each}
    if len(periods) == 1:
        return periods.pop()
    have: dict[str, dict[str, bool]] = {}
    for slot in ("limit", "spent", "remaining"):
        for found in by_slot.get(slot, ()):
            real = found.raw is not None and to_decimal(found.raw) != 0
            slots = have.setdefault(found.sense.period, {})
            slots[slot] = slots.get(slot, False) or real
    if not have:
        return next((period for period in PERIOD_ORDER if period in periods), "")

    def rank(period: str) -> tuple[bool, bool, int]:
        slots = have[period]
        bare = have.get("", {})
        spent = any(name in slots or name in bare for name in ("spent", "remaining"))
        return ("limit" not in slots, not spent, PERIOD_ORDER.index(period))

    best = min(have, key=rank)
    with_limit = [period for period in have if have[period].get("limit")]
    if not have[best].get("limit") and with_limit:
        # this period has no limit (0, null), another has one: that is the one that binds
        best = min(with_limit, key=rank)
    return best


@lru_cache(maxsize=4096)
def _is_bound(name: str) -> bool:
    """True for `max_limit`: how far a limit may be set, where there is a limit beside it."""
    own = {*words(name)}
    return bool(own & {"max", "maximum"}) and bool(own & {"limit", "cap", "quota"})


def _unit_rank(found: Found) -> int:
    unit = found.sense.unit
    if unit.currency in ("TOKENS", "CREDITS", "POINTS"):
        return 100
    return 0


def _refines(best: tuple[int, Found, Any], found: Found, value: Any) -> bool:
    """True if `value` is the exact form of the best so far (`observedAmountExact`)."""
    if not found.sense.exact or not isinstance(value, Money) or not isinstance(best[2], Money):
        return False
    return abs(value.amount - best[2].amount) < 1
