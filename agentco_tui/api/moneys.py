"""Sums of money: their unit is told by the field's name, then by a sibling, else assumed.

SHAPES D "Units": a suffix or prefix decides first (cents, micros, nano, minor, usd, tokens,
credits), then a sibling `currency`, `unit` or `metric`; size never. Amounts stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any, Final

from agentco_tui.api.names import fold, word_set, words
from agentco_tui.api.units import (
    MINOR,
    NO_MONEY,
    NO_UNIT,
    SIGNS,
    UNIT_WORDS,
    UNITS,
    Unit,
    combined,
    merged,
    unit_from_sibling,
    unit_of,
)
from agentco_tui.model.records import Money
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.values.number import to_decimal
from agentco_tui.text import SafeText

_NO_MINOR: Final = word_set("""JPY KRW VND CLP ISK UGX XAF XOF PYG RWF KMF DJF GNF BIF VUV XPF""")
_THREE_MINOR: Final = word_set("KWD BHD OMR JOD TND IQD LYD")
_EXACT: Final = Context(prec=80)

_SIGN: Final = lazy_pattern(
    r"^\s*([-+(]?)\s*(US\$|A\$|C\$|R\$|[$€£¥₹₩₽₴₺₫฿₪]|[A-Za-z]{3,7}(?=[\s\d-]))?\s*"
    r"([-+]?[\d.,'’_\s\u00a0\u2009\u202f]*\d[\d.,]*(?:[eE][+-]?\d{1,3})?)\s*"
    r"(US\$|[$€£¥₹₩₽₴₺₫฿₪¢]|[A-Za-zł]{2,7})?\s*(\)?)\s*$"
)


def to_money(raw: Json, unit: Unit = NO_UNIT) -> Money | Partial | None:
    """`raw` as a sum: a number or text in `unit`, or an object with amount and currency.

    Reads 12.5, "12.50", "$1,234.50", "12,50 €", "USD 12", `{"amount": "12.50", "currency":
    "usd"}`, `{"value": 0.06, "currency": "usd"}`, `{"units": "12", "nanos": 500000000,
    "currencyCode": "USD"}`. Partial if the object holds more.
    """
    if type(raw) is dict:
        return _from_object(raw, unit)
    value = to_decimal(raw)
    if value is None:
        return _from_text(raw, unit) if type(raw) is str else None
    return _money(value, unit)


def _money(value: Decimal, unit: Unit) -> Money:
    power = unit.power
    if power == MINOR:
        power = 0 if unit.currency in _NO_MINOR else -3 if unit.currency in _THREE_MINOR else -2
    if power:
        value = value.scaleb(power, _EXACT)
    return Money(
        value,
        SafeText(unit.currency) if unit.currency else None,
        not unit.told,
    )


def _from_text(raw: str, unit: Unit) -> Money | None:
    if len(raw) > 60:
        return None
    match = _SIGN.match(raw.replace("\u2212", "-"))
    if match is None:
        return None
    lead, before, digits, after, closing = match.groups()
    if (lead == "(") != (closing == ")"):
        return None
    value = to_decimal(digits)
    if value is None:
        return None
    if lead in ("-", "("):
        value = -value
    said = NO_UNIT
    for mark in (before, after):
        if not mark:
            continue
        if mark == "¢":
            said = Unit(-2, said.currency, True)
        elif mark in SIGNS:
            said = Unit(said.power, SIGNS[mark], True)
        elif mark.lower() in UNITS:
            said = unit_of((mark.lower(),))
        else:
            return None
    # a sign in the text itself is nearer than the field's name, and means whole units
    return _money(
        value, Unit(said.power, said.currency or unit.currency, True) if said.told else unit
    )


_AMOUNTS: Final = (
    "amount", "value", "total", "sum", "number", "units", "amt", "price", "raw", "formatted",
    "display",
)  # fmt: skip
_SCALES: Final = (
    "scale", "exponent", "precision", "minorunits", "decimals", "decimalplaces", "fractiondigits",
)  # fmt: skip
"""How many digits of a whole number are behind the point: `{"amount": 1250, "scale": 2}`."""
_CURRENCIES: Final = word_set(
    """currency currencycode unit units code iso billingcurrency amountunit denomination ccy
    symbol currencyiso isocode currencysymbol"""
)


def _from_object(raw: Mapping[str, Json], unit: Unit, depth: int = 0) -> Money | Partial | None:
    if not 0 < len(raw) <= 12:
        return None
    if len(raw) == 1 and next(iter(raw)).startswith("$number"):
        value = to_decimal(raw)
        return None if value is None else _money(value, unit)
    by_name = {fold(key): key for key in raw}
    sibling, used = NO_UNIT, 0
    for name in by_name:
        value = raw[by_name[name]]
        if name in _CURRENCIES and type(value) in (str, dict) and to_decimal(value) is None:
            each = unit_from_sibling(value)
            if each.told:
                sibling, used = combined(sibling, each), used + 1
    nanos = by_name.get("nanos")
    if "units" in by_name and nanos is not None:
        whole, part = to_decimal(raw[by_name["units"]]), to_decimal(raw[nanos])
        if whole is not None and part is not None:
            total = _EXACT.add(whole, part.scaleb(-9, _EXACT))
            return _whole(_money(total, merged(Unit(0, None, True), sibling)), used + 2, raw)
    best: tuple[int, str, Unit] | None = None
    for name, key in by_name.items():
        own = words(key)
        base = tuple(word for word in own if word not in UNIT_WORDS and word != "in")
        if base and (len(base) != 1 or base[0] not in _AMOUNTS):
            continue
        if not base and not own:
            continue
        if type(raw[key]) is dict or (to_decimal(raw[key]) is None and type(raw[key]) is not str):
            continue
        if name in _CURRENCIES and to_decimal(raw[key]) is None:
            continue
        rank = _AMOUNTS.index(base[0]) if base else len(_AMOUNTS)
        rank += 100 * (unit_of(own).currency in NO_MONEY)
        if best is None or rank < best[0]:
            best = (rank, key, unit_of(own))
    if best is None:
        inner = raw.get(by_name.get("amount", by_name.get("money", "")))
        if type(inner) is not dict or depth > 1:
            return None
        return _from_object(inner, merged(unit, sibling), depth + 1)
    _, key, own_unit = best
    scale = next((raw[by_name[name]] for name in _SCALES if name in by_name), None)
    is_whole = type(raw[key]) is int or (type(raw[key]) is str and raw[key].isdigit())
    if type(scale) is int and -9 <= scale <= 9 and is_whole and not own_unit.power:
        own_unit, used = Unit(-abs(scale), own_unit.currency, True), used + 1
    found = to_money(raw[key], merged(merged(own_unit, unit), sibling))
    shown = next((raw[by_name[name]] for name in _SHOWN if name in by_name), None)
    if type(shown) is str and isinstance(found, Money):
        found, used = _as_shown(found, _from_text(shown, NO_UNIT)), used + 1
    return _whole(found, used + 1, raw) if isinstance(found, Money) else None


_SHOWN: Final = ("formatted", "display", "displayvalue", "pretty", "text", "label")


def _as_shown(money: Money, shown: Money | None) -> Money:
    """`money` in the unit that the same sum written out proves: 10000 and "$100.00" are cents."""
    if shown is None or shown.unit_assumed:
        return money
    sizes = [money.amount.scaleb(power, _EXACT) for power in (0, -2, -6)]
    # exact before rounded: 1 beside "$0.01" is a cent, 0.4 beside "$0" is not
    for value in (*(each for each in sizes if each == shown.amount), *sizes):
        if abs(value - shown.amount) < 1:
            return Money(value, shown.currency or money.currency)
    return money


def _whole(money: Money, used: int, raw: Mapping[str, Json]) -> Money | Partial:
    return money if sum(value is not None for value in raw.values()) <= used else Partial(money)


def minus(limit: Money, spent: Money) -> Money | None:
    """`limit` less `spent`, marked as derived; None if they are in different currencies."""
    if limit.currency and spent.currency and limit.currency != spent.currency:
        return None
    return Money(
        _EXACT.subtract(limit.amount, spent.amount),
        limit.currency or spent.currency,
        limit.unit_assumed or spent.unit_assumed,
        True,
    )


_COST_WORDS: Final = word_set("cost costs spend spent price")
_COST_BESIDE: Final = word_set(
    """total estimated expected calculated actual so far to date in amount value estimate current
    projected llm model run task sum"""
)
_HOPED: Final = word_set("estimated expected estimate projected")


def cost_rule(name: str) -> tuple[int, str, Any] | None:
    """For fields named by a rule: `totalCostUsd`, `cost_usd_cents`, `estimated-cost-micros`.

    What was spent comes before what is expected, and money before tokens and credits.
    """
    folded = fold(name)
    if "cost" not in folded and "spen" not in folded and "price" not in folded:
        return None
    parts = words(name)
    core = {word for word in parts if word not in UNIT_WORDS and word not in _COST_BESIDE}
    if not core or not core <= _COST_WORDS:
        return None
    unit = unit_of(parts)
    rank = 10 * bool(_HOPED.intersection(parts)) + 100 * (unit.currency in NO_MONEY) + len(parts)
    return rank, "cost", lambda raw: to_money(raw, unit)


def with_sibling(money: Money | None, sibling: Unit) -> Money | None:
    """`money`, whose field's name told nothing, in the unit that a sibling field tells."""
    if money is None or not sibling.told:
        return money
    if money.unit_assumed:
        return _money(money.amount, sibling)
    if money.currency is None and sibling.currency:
        return Money(money.amount, SafeText(sibling.currency), False, money.derived)
    return money
