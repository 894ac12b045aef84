"""Limit, spent, remaining, share and the rest, found by the words in fields' names (SHAPES D).

A name is not looked up but understood: `budgetMonthlyCents`, `monthly_limit`, `maxSpendUsd` and
`limits: {"monthly": 5}` are all limits of a month, the first in cents, the third in dollars. Words
that belong to no budget (`rate_limit`, `max_retries`) leave a name unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from agentco_tui.api.names import fold, some, word_set, words
from agentco_tui.api.units import NO_UNIT, UNIT_WORDS, Unit, combined, merged, unit_of, unit_rule
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.reference import looks_like_id
from agentco_tui.reading.values.time import NONE

_PERIODS: Final[dict[str, str]] = {
    "monthly": "month", "month": "month", "mtd": "month", "months": "month",
    "daily": "day", "day": "day", "today": "day", "hourly": "hour", "hour": "hour",
    "weekly": "week", "week": "week", "yearly": "year", "annual": "year", "year": "year",
    "ytd": "year", "quarterly": "quarter", "quarter": "quarter", "lifetime": "lifetime",
    "alltime": "lifetime", "accumulated": "lifetime", "rolling": "rolling",
}  # fmt: skip
PERIOD_ORDER: Final = ("month", "", "rolling", "lifetime", "year", "quarter", "week", "day", "hour")
"""Which period a record is about if it has figures of several: the interface sets months."""

_FILLERS: Final = word_set(
    """amount value values total current to date so far this of the by in sum exact calendar
    cycle period per usable for all overall global company agent team org organization
    project account owner platform money is has currently accrued recorded reported utc net
    new updated effective gross running actual approximate figure figures window max"""
) - {"max", "is", "has"}
_SPENT: Final = word_set(
    """spent used consumed observed burned charged billed spentsofar incurred consume"""
)
_SPENDING: Final = word_set(
    """spend spending burn usage cost costs consumption expenditure expense expenses calculated use
    actual"""
)
_HARD_LIMIT: Final = word_set("""limit limits cap caps max maximum ceiling quota quotas hard""")
_SOFT_LIMIT: Final = word_set(
    """budget budgets budgeted planned granted authorized specified allowance allotment allocated
    allocation allowed"""
)
_REMAINING: Final = word_set(
    """remaining left available balance unspent remainder headroom remain unused leftover"""
)
_SHARE: Final = word_set(
    """percent pct percentage ratio fraction utilization utilisation share perc"""
)
_PERCENT: Final = word_set("percent pct percentage perc")
_RATIO: Final = word_set("ratio fraction")
_WARN: Final = word_set("""warn warning alert threshold soft notify warnings alerts""")
_FORECAST: Final = word_set(
    """forecast forecasted projected projection predicted expected estimate estimated eom"""
)
_RATE: Final = word_set("rate burn velocity speed")
_RESET: Final = word_set("""reset resets renew renews renewal refresh refreshes rollover""")
_WHEN: Final = word_set("at on date time end ends ending until next ts epoch unix ms utc iso")

_CLASSES: Final = (
    _SPENT | _SPENDING | _HARD_LIMIT | _SOFT_LIMIT | _REMAINING | _SHARE | _WARN | _FORECAST
)


_NOW: Final = frozenset((("current",), ("current", "value"), ("current", "amount"), ("value",)))
"""Names that say nothing by themselves; beside a limit they are what was spent."""


class Sense(NamedTuple):
    """What a field's name says that its value is."""

    slot: str
    """Money: limit, spent, remaining, forecast, amount, current, soft; share, left, warn."""
    period: str
    unit: Unit
    is_ratio: bool = False
    """True if the name says that 1 is the whole."""
    says_percent: bool = False
    exact: bool = False


@lru_cache(maxsize=8192)
def sense(name_words: tuple[str, ...]) -> Sense | None:
    """What a name made of these words means for a budget; None if it means nothing there."""
    if not name_words or len(name_words) > 10:
        return None
    period = next((_PERIODS[word] for word in name_words if word in _PERIODS), "")
    unit = unit_of(name_words)
    core = {
        word
        for word in name_words
        if word not in _PERIODS and word not in UNIT_WORDS and word not in _FILLERS
    }
    if "actual" in name_words:
        core.add("actual")
    if core & _SHARE and core & _WARN:
        core.discard("at")
    if not core:
        return _unnamed(name_words, period, unit)
    if not core <= _CLASSES:
        return None
    slot = _slot(core)
    if slot is None:
        return None
    return Sense(
        slot, period, unit, bool(core & _RATIO), bool(core & _PERCENT), "exact" in name_words
    )


def _unnamed(name_words: tuple[str, ...], period: str, unit: Unit) -> Sense | None:
    if name_words == ("amount",) or (unit.told and set(name_words) <= UNIT_WORDS | {"amount"}):
        return Sense("amount", period, unit)
    return Sense("current", period, unit) if name_words in _NOW else None


def _slot(core: set[str]) -> str | None:
    if core & _SHARE:
        if core & _REMAINING:
            return "left"
        return "warn" if core & _WARN else "share"
    if core & _FORECAST:
        return "forecast"
    if core & _WARN:
        money = core & (_HARD_LIMIT | _SOFT_LIMIT) and "soft" in core
        return "soft" if money else "warn" if core <= _WARN | {"limit", "budget"} else None
    if core & _REMAINING:
        return "remaining"
    if core & _SPENT:
        return "spent"
    if core & _HARD_LIMIT:
        return "limit"
    if core & _SPENDING:
        return "spent"
    return "limit" if core & _SOFT_LIMIT else None


class Found(NamedTuple):
    """One value whose name made sense."""

    path: tuple[str, ...]
    sense: Sense
    raw: Any
    apart: tuple[str, ...] = ()
    """Where the other record stands that this is a figure of, if it is one's."""


_MAX_FIELDS: Final = 300
_MONEY_KEYS: Final = word_set(
    """amount value currency currencycode unit units code nanos ccy symbol denomination minor
    minorunits cents amountcents precision scale exponent currencyiso currencysymbol isocode
    formatted display raw number numberdecimal numberlong numberint numberdouble decimals
    decimalplaces fractiondigits displayvalue pretty"""
)


def figures_in(obj: Mapping[str, Json]) -> Iterator[Found]:
    """All figures in an object and in the objects inside it, down to three levels.

    A name inside an object is read by itself; where it says nothing (`{"spend": {"monthly": 5}}`,
    `{"ActualSpend": {"Amount": "5"}}`) it is read together with the names around it.
    """
    budget = [_MAX_FIELDS]
    yield from _walk(obj, _Place(), budget)


class _Place(NamedTuple):
    """Where a walk through an object has come to, and what the names on the way say."""

    path: tuple[str, ...] = ()
    outer: tuple[str, ...] = ()
    period: str = ""
    sibling: Unit = NO_UNIT
    apart: tuple[str, ...] = ()


_OTHER_TIMES: Final = word_set(
    """previous prior last past former old before yesterday average avg mean median peak default
    defaults history historical recommended suggested trend change delta comparison next upcoming
    future scheduled pending requested proposed"""
)
_COUNTED: Final = word_set(
    """rate requests request runs seats seat retries retry storage calls messages users
    concurrency tasks jobs sessions"""
)
_IDENTITIES: Final = frozenset(("id", "uuid", "guid", "agentid", "companyid", "userid", "teamid"))
OWNERS: Final = word_set(
    """agent company team org organization project account owner platform parent group department
    global overall workspace tenant"""
)
"""Words of names that say whose a figure is."""


def _is_of_something_else(own: tuple[str, ...]) -> bool:
    """True for the names of objects whose figures are of another time, or of no sum of money.

    `previous`, `rate_limit` and `by_model` are; `last_30_days` and `by_period` are not.
    """
    if _COUNTED.intersection(own):
        return True
    if own[0] in ("by", "per") and len(own) > 1:
        return not _PERIODS.keys() & own and "period" not in own
    return bool(_OTHER_TIMES.intersection(own)) and not any(word.isdigit() for word in own)


def _walk(obj: Mapping[str, Json], place: _Place, budget: list[int]) -> Iterator[Found]:
    path, outer, period, sibling, apart = place
    shown = _written_out(obj)
    for name, raw in obj.items():
        budget[0] -= 1
        if budget[0] < 0:
            return
        own = words(name)
        here = (*path, name)
        if type(raw) is dict:
            inner_period = next((_PERIODS[word] for word in own if word in _PERIODS), period)
            if _is_sum(raw):
                found = _sense(own, outer, inner_period)
                if found is not None:
                    yield Found(here, found, raw, apart)
            elif len(path) < 3 and own and not _is_of_something_else(own):
                beside = _unit_in(raw)
                is_record = not apart and any(fold(key) in _IDENTITIES for key, _ in some(raw, 40))
                inner = _Place(
                    here,
                    (*outer, *own),
                    inner_period,
                    beside if beside.told else sibling,
                    here if is_record and not _CLASSES.intersection(own) else apart,
                )
                yield from _walk(raw, inner, budget)
            continue
        if type(raw) is list or (not outer and _PLURALS.issuperset(own)):
            continue  # `budgets: 12` is how many there are
        found = _sense(own, outer, period)
        if found is not None:
            if shown and fold(name) in shown:
                raw = {"value": raw, "formatted": shown[fold(name)]}  # noqa: PLW2901
            if found.slot == "spent" and type(raw) is str and raw.rstrip().endswith("%"):
                found = found._replace(slot="share")
            if sibling.told:
                found = found._replace(unit=merged(found.unit, sibling))
            yield Found(here, found, raw, apart)


_WRITTEN: Final = ("formatted", "display", "pretty")


def _written_out(obj: Mapping[str, Json]) -> dict[str, Json]:
    """By name, the sums that stand there as texts as well: `limit_formatted: "$100.00"`."""
    found: dict[str, Json] = {}
    for name, raw in some(obj, _MAX_FIELDS):
        if type(raw) is str and (of := _written_of(name)):
            found.setdefault(of, raw)
    return found


@lru_cache(maxsize=4096)
def _written_of(name: str) -> str:
    """The name of the sum that this one's text writes out; "" if it is no such text."""
    folded = fold(name)
    return next((folded.replace(mark, "") for mark in _WRITTEN if mark in folded), "")


_PLURALS: Final = word_set("budgets limits caps quotas")


def _unit_in(obj: Mapping[str, Json]) -> Unit:
    """The unit that an object tells for all figures in it: `{"limit": 5, "currency": "USD"}`."""
    unit = NO_UNIT
    for name, raw in some(obj, 40):
        told = unit_rule(name)
        if told is not None and (each := told[2](raw)) is not None and each is not NONE:
            unit = combined(unit, each)
    return unit


def says_nothing(name: str) -> bool:
    """True if nothing in the name of an object tells what the figures in it are."""
    own = words(name)
    return not _CLASSES.intersection(own) and not _adds_nothing(own)


def _sense(own: tuple[str, ...], outer: tuple[str, ...], period: str) -> Sense | None:
    alone = sense(own)
    if alone is not None and _COLOURS.intersection(outer):
        alone = _coloured(alone, own, outer)
    if alone is None or alone.slot == "amount":
        if outer and _adds_nothing(own):
            alone = sense((*outer, *own)) or alone
    elif outer:
        outer_sense = sense(outer)
        if outer_sense is not None and not alone.unit.told and outer_sense.unit.told:
            alone = alone._replace(unit=merged(outer_sense.unit, NO_UNIT))
    if alone is not None and not alone.period and period:
        return alone._replace(period=period)
    return alone


_COLOURS: Final = _FORECAST | _WARN


def _coloured(alone: Sense, own: tuple[str, ...], outer: tuple[str, ...]) -> Sense | None:
    """What a name says inside an object of what is expected, or of where to warn.

    `{"forecast": {"spent": 120}}` was not spent, `{"alert": {"percent": 80}}` is no share used,
    and `{"soft": {"limit": 80}}` is no limit.
    """
    if _FORECAST.intersection(outer):
        return sense((*outer, *own)) if alone.slot in ("spent", "amount", "forecast") else None
    if alone.slot == "share" or (alone.slot == "limit" and "soft" in outer):
        return sense((*outer, *own)) or alone
    return alone


def _adds_nothing(own: tuple[str, ...]) -> bool:
    """True if the words say only period, unit or "amount", so that the names around them decide."""
    return all(word in _PERIODS or word in UNIT_WORDS or word in _FILLERS for word in own)


def _is_sum(raw: Mapping[str, Json]) -> bool:
    """True for `{"amount": "5", "currency": "usd"}`: one sum, not a set of figures."""
    if not 0 < len(raw) <= 6:
        return False
    folded = {"".join(words(name)) for name in raw}
    others = folded - _MONEY_KEYS
    if len(others) == 1:
        # the amount with its unit in the name: {"amount_micros": 5, "currency_code": "usd"}
        told = next(words(name) for name in raw if "".join(words(name)) in others)
        if "amount" in told and {*told} <= UNIT_WORDS | {"amount", "in"}:
            others = set()
    return not others and not folded <= {"currency", "unit", "code", "units", "symbol"}


def in_maps(obj: Mapping[str, Json]) -> list[Json] | None:
    """`{"limits": {"a": 5}, "spent": {"a": 4}}` as one object for each id; None if it is none.

    The keys inside must say nothing themselves, and be those of more than one map or look like
    identifiers.
    """
    maps: dict[str, Mapping[str, Json]] = {}
    for name, value in some(obj, _MAX_FIELDS):
        if type(value) is not dict or not value:
            continue
        told = sense(words(name))
        if told is None or told.slot not in ("limit", "spent", "remaining", "share"):
            continue
        if all(_is_sum(each) if type(each) is dict else type(each) is not list
               for each in value.values()) and all(map(says_nothing, value)):  # fmt: skip
            own = (word[:-1] if word in _PLURALS else word for word in words(name))
            maps["_".join(own)] = value
    ids = list(dict.fromkeys(key for each in maps.values() for key in each))
    if not ids or not (
        all(map(looks_like_id, ids)) or sum(ids[0] in each for each in maps.values()) > 1
    ):
        return None
    return [
        {"id": key, **{name: each[key] for name, each in maps.items() if key in each}}
        for key in ids
    ]


def is_reset(name_words: tuple[str, ...]) -> bool:
    """True for `budget_reset_at`, `resetsAt`, `next_reset`: when the period starts anew."""
    parts = set(name_words)
    return bool(parts & _RESET) and parts <= _RESET | _WHEN | set(_PERIODS) | _FILLERS | {
        "budget", "limit", "spend", "usage", "in", "seconds",
    }  # fmt: skip
