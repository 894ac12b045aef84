"""Units of sums: told by a name, by a sibling, or by the answer round a record (SHAPES D "Units").

A suffix or prefix decides first (cents, micros, nano, minor, usd, tokens, credits), then a sibling
`currency`, `unit` or `metric`; size never. All that is told counts together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agentco_tui.api.names import fold, some, word_set, words
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.time import NONE
from agentco_tui.text import safe

NO_MONEY: Final = frozenset(("TOKENS", "CREDITS", "POINTS"))
MINOR: Final = 99
"""Stands for "the minor unit of the currency", whose size depends on the currency."""

_CODES: Final = word_set(
    """usd eur gbp jpy cny chf cad aud nzd inr brl sek nok dkk pln czk huf ron try zar mxn krw
    sgd hkd twd thb idr php vnd myr ils aed sar rub uah clp cop ars pen kwd bhd"""
)
SIGNS: Final = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB",
    "US$": "USD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "CHF": "CHF", "zł": "PLN", "₴": "UAH",
    "kr": "SEK", "₺": "TRY", "₫": "VND", "฿": "THB", "₪": "ILS",
}  # fmt: skip


class Unit(NamedTuple):
    """What one unit of an amount is worth."""

    power: int = 0
    """Amount times ten to this power is whole units; MINOR where the currency decides."""
    currency: str | None = None
    told: bool = False
    """True if a name or a sibling said it."""


NO_UNIT: Final = Unit()
UNITS: Final[dict[str, Unit]] = {
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
UNIT_WORDS: Final = frozenset(UNITS)
_SUFFIXES: Final = ("¢",)


def unit_of(name_words: tuple[str, ...]) -> Unit:
    """The unit that a name's words tell: `spentMonthlyCents`, `usd_micros`, `cost_usd`."""
    unit = NO_UNIT
    for word in name_words:
        each = UNITS.get(word)
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
    if text in SIGNS:
        return Unit(0, SIGNS[text], True)
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
            if rule is not None and not rule[1].startswith("currency") and type(raw) is str:
                each = _read_metric(raw)  # `unit: "ms"` is about something else
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


def currency_rule(name: str) -> tuple[int, str, Any] | None:
    """The same for currencies only: a step's `unit` may be that of its duration."""
    told = unit_rule(name)
    return told if told is not None and told[1] == "currency" else None
