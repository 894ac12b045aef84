"""Sums of money: their unit is told by the field's name, then by a sibling, else assumed.

SHAPES D "Units": a suffix or prefix decides first (cents, micros, nano, minor, usd, tokens,
credits), then a sibling `currency`, `unit` or `metric`; size never. Amounts stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any, Final, NamedTuple

from agentco_tui.api.bodies import Json
from agentco_tui.api.names import fold, some, word_set, words
from agentco_tui.api.numbers import to_decimal
from agentco_tui.api.plans import Partial
from agentco_tui.api.records import Money
from agentco_tui.api.times import NONE
from agentco_tui.patterns import lazy_pattern
from agentco_tui.text import SafeText, safe

_EXACT: Final = Context(prec=80)

MINOR: Final = 99
"""Stands for "the minor unit of the currency", whose size depends on the currency."""
_NO_MINOR: Final = word_set("""JPY KRW VND CLP ISK UGX XAF XOF PYG RWF KMF DJF GNF BIF VUV XPF""")
_THREE_MINOR: Final = word_set("KWD BHD OMR JOD TND IQD LYD")

_CODES: Final = word_set(
    """usd eur gbp jpy cny chf cad aud nzd inr brl sek nok dkk pln czk huf ron try zar mxn krw
    sgd hkd twd thb idr php vnd myr ils aed sar rub uah clp cop ars pen kwd bhd"""
)
_SIGNS: Final = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB",
    "US$": "USD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "CHF": "CHF", "zł": "PLN", "₴": "UAH",
    "kr": "SEK", "₺": "TRY", "₫": "VND", "฿": "THB", "₪": "ILS",
}  # fmt: skip
_SIGN: Final = lazy_pattern(
    r"^\s*([-+(]?)\s*(US\$|A\$|C\$|R\$|[$€£¥₹₩₽₴₺₫฿₪]|[A-Za-z]{3,7}(?=[\s\d-]))?\s*"
    r"([-+]?[\d.,'’_\s\u00a0\u2009\u202f]*\d[\d.,]*(?:[eE][+-]?\d{1,3})?)\s*"
    r"(US\$|[$€£¥₹₩₽₴₺₫฿₪¢]|[A-Za-zł]{2,7})?\s*(\)?)\s*$"
)


class Unit(NamedTuple):
    """What one unit of an amount is worth."""

    power: int = 0
    """Amount times ten to this power is whole units; MINOR where the currency decides."""
    currency: str | None = None
    told: bool = False
    """True if a name or a sibling said it."""


NO_UNIT: Final = Unit()
_UNIT_WORDS: Final[dict[str, Unit]] = {
    "cents": Unit(-2, None, True), "cent": Unit(-2, None, True), "pence": Unit(-2, "GBP", True),
    "micro": Unit(-6, None, True), "micros": Unit(-6, None, True),
    "microdollars": Unit(-6, "USD", True), "microdollar": Unit(-6, "USD", True),
    "microusd": Unit(-6, "USD", True), "microunits": Unit(-6, None, True),
    "microcents": Unit(-8, None, True), "milli": Unit(-3, None, True),
    "millis": Unit(-3, None, True), "millicents": Unit(-5, None, True),
    "mills": Unit(-3, None, True), "nano": Unit(-9, None, True), "nanos": Unit(-9, None, True),
    "nanodollars": Unit(-9, "USD", True), "nanousd": Unit(-9, "USD", True),
    "minor": Unit(MINOR, None, True), "dollars": Unit(0, "USD", True),
    "dollar": Unit(0, "USD", True), "euros": Unit(0, "EUR", True), "euro": Unit(0, "EUR", True),
    "pounds": Unit(0, "GBP", True), "tokens": Unit(0, "TOKENS", True),
    "token": Unit(0, "TOKENS", True), "credits": Unit(0, "CREDITS", True),
    "credit": Unit(0, "CREDITS", True), "points": Unit(0, "POINTS", True),
    "major": Unit(0, None, True), **{code: Unit(0, code.upper(), True) for code in _CODES},
}  # fmt: skip
UNIT_WORDS: Final = frozenset(_UNIT_WORDS)
_SUFFIXES: Final = ("¢",)


def unit_of(name_words: tuple[str, ...]) -> Unit:
    """The unit that a name's words tell: `spentMonthlyCents`, `usd_micros`, `cost_usd`."""
    unit = NO_UNIT
    for word in name_words:
        each = _UNIT_WORDS.get(word)
        if each is not None:
            power = unit.power if each.power == 0 else each.power
            unit = Unit(power, each.currency or unit.currency, True)
    return unit


def unit_from_sibling(raw: Json) -> Unit:
    """The unit in a sibling's value: "USD", "usd_cents", "billed_cents", "GB", {"code": "EUR"}."""
    if type(raw) is dict:
        raw = next(
            (v for k, v in raw.items() if fold(k) in ("code", "id", "currency", "iso")), None
        )
    if type(raw) is not str or not raw.strip() or len(raw) > 40:
        return NO_UNIT
    text = raw.strip()
    if text in _SIGNS:
        return Unit(0, _SIGNS[text], True)
    unit = unit_of(words(text))
    if unit.told:
        return unit
    if fold(text) in ("units", "unit", "money", "amount", "count", "none", "currency", "default"):
        return NO_UNIT
    return Unit(0, str(safe(text.upper(), 12)), True)


def combined(one: Unit, other: Unit) -> Unit:
    """What two siblings tell together: `currency: "USD"` and `unit: "cents"` are US cents."""
    if not (one.told and other.told):
        return one if one.told else other
    return Unit(one.power or other.power, one.currency or other.currency, True)


_ABOUT_UNITS: Final = word_set(
    """currency currencies unit units denomination ccy code money amount amounts value values
    billing spent remaining used budget cost costs price prices spend spending limit figures in
    metric iso"""
)
_FIGURES: Final = word_set("limit spend spent remaining used")
_TELL_UNITS: Final = frozenset(("currency", "unit", "units", "denomination", "ccy", "metric"))


def unit_rule(name: str) -> tuple[int, str, Any] | None:
    """For fields that tell the unit of those beside them, by a rule.

    `billingCurrency`, `cost_unit`, `amounts_in`, `in_cents: true`; slots "currency" and "unit".
    """
    own = words(name)
    if not own or len(own) > 5:
        return None
    parts = {*own}
    if "in" in parts and parts & UNIT_WORDS and parts <= UNIT_WORDS | _ABOUT_UNITS | {"is", "as"}:
        unit = unit_of(own)
        return len(own), "unit", lambda raw: (unit if raw else NONE) if type(raw) is bool else None
    if own[0] == "minor" and own[1:] in (("unit",), ("units",)):
        return 9, "unit", _read_digits
    if not parts <= _ABOUT_UNITS:
        return None
    if not parts & _TELL_UNITS and not (own[-1] == "in" and len(own) > 1):
        return None
    slot = "currency" if parts & {"currency", "ccy"} else "unit"
    if _FIGURES.intersection(parts):
        slot = f"{slot} {own[0]}"
    return len(own), slot, _read_metric if own == ("metric",) else _read_unit


def _read_unit(raw: Json) -> Unit | None:
    return unit if (unit := unit_from_sibling(raw)).told else None


def _read_digits(raw: Json) -> Unit | None:
    """`minor_units: 2`: sums are in hundredths."""
    return Unit(-raw, None, True) if type(raw) is int and 0 <= raw <= 4 else None


def _read_metric(raw: Json) -> Unit | None:
    return unit if type(raw) is str and (unit := unit_of(words(raw))).told else None


_AROUND: Final = word_set(
    "meta metadata summary totals overview info settings data result response payload budget"
)


def unit_beside(body: Json, depth: int = 0) -> Unit:
    """The unit that an answer tells once for all: `{"currency": "EUR", "data": […]}`."""
    unit = NO_UNIT
    for name, raw in some(body, 40) if type(body) is dict else ():
        each: Any = None
        if type(raw) is str or type(raw) is bool:
            rule = unit_rule(name)
            each = rule[2](raw) if rule is not None else None
        elif type(raw) is dict and depth < 3 and fold(name) in _AROUND:
            each = unit_beside(raw, depth + 1)
        unit = combined(unit, each) if isinstance(each, Unit) else unit
    return unit


def unit_of_values(values: Mapping[str, Any], around: Unit) -> Unit | None:
    """What a record's fields tell of its sums' unit, completed by the answer round it."""
    told = combined(values.get("currency", NO_UNIT), values.get("unit", NO_UNIT))
    if not told.told:
        # `limit_currency` and `spent_currency` are that of the record if they agree
        each = {unit for slot, unit in values.items() if " " in slot}
        told = each.pop() if len(each) == 1 else told
    told = combined(told, around)
    return told if told.told else None


def merged(name: Unit, sibling: Unit) -> Unit:
    """The name's unit completed by the sibling's: the name's size wins, a currency is added."""
    if not name.told:
        return sibling
    return Unit(
        sibling.power if name.power == 0 and name.currency is None else name.power,
        name.currency or sibling.currency,
        True,
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
        elif mark in _SIGNS:
            said = Unit(said.power, _SIGNS[mark], True)
        elif mark.lower() in _UNIT_WORDS:
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
        rank += 100 * (unit_of(own).currency in _NO_MONEY)
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
    return _whole(found, used + 1, raw) if isinstance(found, Money) else None


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
    rank = 10 * bool(_HOPED.intersection(parts)) + 100 * (unit.currency in _NO_MONEY) + len(parts)
    return rank, "cost", lambda raw: to_money(raw, unit)


_NO_MONEY: Final = frozenset(("TOKENS", "CREDITS", "POINTS"))


def with_sibling(money: Money | None, sibling: Unit) -> Money | None:
    """`money`, whose field's name told nothing, in the unit that a sibling field tells."""
    if money is None or not sibling.told:
        return money
    if money.unit_assumed:
        return _money(money.amount, sibling)
    if money.currency is None and sibling.currency:
        return Money(money.amount, SafeText(sibling.currency), False, money.derived)
    return money
