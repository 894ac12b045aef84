"""Sums of money, exact: their unit is told by the name, the value, a sibling, the answer or the
profile; else they are as sent, and marked.

A currency alone tells no unit: "USD" stands beside dollars and beside cents. Size tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any, Final, NamedTuple

from agentco_tui.model import Money
from agentco_tui.reading.field_names import (
    MINOR,
    NO_MONEY,
    NO_UNIT,
    UNIT_WORDS,
    Unit,
    fold,
    split_unit,
    unit_in_name,
    word_set,
)
from agentco_tui.reading.json_access import Json, get_field
from agentco_tui.reading.name_index import Field, Reader
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import Values
from agentco_tui.reading.values.scalar import to_decimal
from agentco_tui.text import SafeText, safe
from agentco_tui.text.patterns import lazy_pattern

SIGNS: Final = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB",
    "US$": "USD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "CHF": "CHF", "zł": "PLN", "₴": "UAH",
    "kr": "SEK", "₺": "TRY", "₫": "VND", "฿": "THB", "₪": "ILS",
}  # fmt: skip
_NO_MINOR: Final = word_set("JPY KRW VND CLP ISK UGX XAF XOF PYG RWF KMF DJF GNF BIF VUV XPF")
_THREE_MINOR: Final = word_set("KWD BHD OMR JOD TND IQD LYD")
_EXACT: Final = Context(prec=80)
_LONGEST_TEXT: Final = 60

_WRITTEN: Final = lazy_pattern(
    r"^\s*([-+(]?)\s*(US\$|A\$|C\$|R\$|[$€£¥₹₩₽₴₺₫฿₪]|[A-Za-z]{3,7}(?=[\s\d-]))?\s*"
    r"([-+]?[\d.,'’_\s\u00a0\u2009\u202f]*\d[\d.,]*(?:[eE][+-]?\d{1,3})?)\s*"
    r"(US\$|[$€£¥₹₩₽₴₺₫฿₪¢]|[A-Za-zł]{2,7})?\s*(\)?)\s*$"
)
"""A sum as people write it: "$1,234.50", "12,50 €", "USD 12", "(3.00)"."""


class Sum(NamedTuple):
    """An amount as it was sent, and what its name and value tell of its unit."""

    value: Decimal
    unit: Unit = NO_UNIT


def to_sum(raw: Json, unit: Unit = NO_UNIT) -> Any:
    """`raw` as a Sum in the unit that the field's name tells, if its own value tells no other.

    Incomplete if the value is an object that holds more; None if it is none.
    """
    if type(raw) is dict:
        return _from_object(raw, unit)
    value = to_decimal(raw)
    if value is None:
        return _from_text(raw, unit) if type(raw) is str else None
    return Sum(value, unit)


def money_field(slot: str, names: str, reader: Reader = to_sum) -> Field:
    """A field of sums: each of its names may end in a unit (`cost`, `cost_usd`, `costCents`)."""
    return Field(slot, names, reader, in_units=True)


def declared_unit(values: Values, context: Unit | None) -> Unit:
    """What the fields of a record (`UNIT_FIELDS`) and the answer round it tell of its sums."""
    own: Unit = values.get("unit", NO_UNIT)
    currency: Unit | None = values.get("currency")
    return (own if currency is None else own.with_more(currency)).with_more(context)


def to_money(found: Sum | None, beside: Unit = NO_UNIT) -> Money | None:
    """The sum in whole units; `beside` completes what its own name and value told."""
    if found is None:
        return None
    own, value = found.unit, found.value
    unit = own.with_more(beside)
    if own.power is not None and beside.currency in NO_MONEY:
        unit = own  # `spent_cents` beside `unit: "tokens"` is still money
    value = scaled(value, power_of(unit))
    currency = SafeText(unit.currency) if unit.currency else None
    return Money(value, currency, unit.power is None)


def power_of(unit: Unit) -> int:
    """The power of ten that makes whole units of a sum."""
    if unit.power == MINOR:
        return 0 if unit.currency in _NO_MINOR else -3 if unit.currency in _THREE_MINOR else -2
    return unit.power or 0


def scaled(value: Decimal, power: int) -> Decimal:
    return value.scaleb(power, _EXACT) if power else value


def _from_text(raw: str, unit: Unit) -> Sum | None:
    match = _WRITTEN.match(raw.replace("\u2212", "-")) if len(raw) <= _LONGEST_TEXT else None
    if match is None:
        return None
    lead, before, digits, after, closing = match.groups()
    value = to_decimal(digits)
    if value is None or (lead == "(") != (closing == ")"):
        return None
    said = NO_UNIT
    for mark in filter(None, (before, after)):
        each = Unit(0, SIGNS[mark]) if mark in SIGNS else unit_in_name(mark)
        if each == NO_UNIT and mark != "¢":
            return None  # "12 GB" is no sum
        said = said.with_more(Unit(-2) if mark == "¢" else each)
    return Sum(-value if lead in ("-", "(") else value, said.with_more(unit))


_AMOUNTS: Final = ("amount", "value", "total", "number", "amt", "price")
"""Names of the number in an object that is a sum; each may end in a unit."""
_CURRENCIES: Final = word_set(
    "currency currencycode currencyiso isocurrencycode billingcurrency code iso ccy"
)
_UNITS: Final = word_set("unit units amountunit denomination")
_SCALES: Final = word_set("scale exponent decimals decimalplaces fractiondigits minorunits")
"""How many digits of a whole number are behind the point: `{"amount": 1250, "scale": 2}`."""


def _from_object(raw: Mapping[str, Json], unit: Unit) -> Any:
    """`{"amount": "12.50", "currency": "usd"}`, Google's units and nanos, `{"cents": 5}`."""
    if not 0 < len(raw) <= 12:
        return None
    if len(raw) == 1 and (number := to_decimal(raw)) is not None and "$" in next(iter(raw)):
        return Sum(number, unit)  # MongoDB's `$numberDecimal`
    said = NO_UNIT
    used = 0
    amounts: dict[tuple[int, int], Sum] = {}
    named = {fold(key): value for key, value in raw.items()}
    for name, value in named.items():
        each: Unit | None = None
        if name in _CURRENCIES:
            each = currency_word(value)
        elif name in _UNITS and type(value) is str and to_decimal(value) is None:
            each = unit_word(value)
        elif name in _SCALES and type(value) is int and abs(value) < 9 and len(raw) > 2:
            each = Unit(-abs(value))
        elif (place := _place_of(name)) is not None and type(value) is not dict:
            amount = to_decimal(value)
            own = unit_in_name(name)
            if amount is not None:
                amounts.setdefault((own.rank, place), Sum(amount, own))
        if each is not None:
            said = said.with_more(each)
            used += 1
    whole = to_decimal(named.get("units"))
    part = to_decimal(named.get("nanos"))
    if whole is not None and (part is not None or "currencycode" in named):
        total = _EXACT.add(whole, (part or Decimal(0)).scaleb(-9, _EXACT))
        found = Sum(total, Unit(0).with_more(said))
        used += 1 if part is None else 2
    elif amounts:
        best = min(amounts)
        amount, own = amounts[best]
        found = Sum(amount, own.with_more(said).with_more(unit))
        used += 1
        if best[1] == len(_AMOUNTS) and used < len(raw):
            return None  # `{"tokens": 5, "requests": 2}` counts things
    else:
        return None
    values_sent = sum(value is not None for value in raw.values())
    return found if values_sent <= used else Incomplete(found)


def _place_of(name: str) -> int | None:
    """The rank of a name within an object that is a sum; a unit alone is a name, too."""
    for place, amount in enumerate(_AMOUNTS):
        if name == amount or (name.startswith(amount) and amount in dict(split_unit(name))):
            return place
    return len(_AMOUNTS) if name in UNIT_WORDS else None


def comparable(one: Money, other: Money) -> bool:
    """True if nothing says that the two are in different units."""
    if one.currency != other.currency and (
        (one.currency and other.currency) or NO_MONEY.intersection((one.currency, other.currency))
    ):
        return False
    return one.unit_assumed == other.unit_assumed or not one.amount or not other.amount


def minus(one: Money, other: Money) -> Money | None:
    """`one` less `other`, marked as derived; None if they are in different units."""
    if not comparable(one, other):
        return None
    return Money(
        _EXACT.subtract(one.amount, other.amount),
        one.currency or other.currency,
        one.unit_assumed or other.unit_assumed,
        True,
    )


def unit_word(raw: Any) -> Unit | None:
    """What a `unit` says: "cents", "usd_cents", "USD" (whole ones), `{"code": "EUR"}`, "GB"."""
    text = _code_in(raw)
    if text is None or fold(text) in ("unit", "units", "money", "count", "none", "default"):
        return None
    if text in SIGNS:
        return Unit(0, SIGNS[text])
    return UNIT_WORDS.get(fold(text)) or Unit(0, str(safe(text.upper(), 12)))


def currency_word(raw: Any) -> Unit | None:
    """What a `currency` says: a code without a scale; "usd_cents" tells both."""
    text = _code_in(raw)
    known = None if text is None else unit_word(text)
    if known is None or known.power != 0 or known.currency in NO_MONEY:
        return known
    return Unit(None, known.currency)


def _code_in(raw: Any) -> str | None:
    if type(raw) is dict:
        raw = next((raw[key] for key in ("code", "iso", "id", "currency") if key in raw), None)
    text = raw.strip() if type(raw) is str else ""
    return text if 0 < len(text) <= 24 else None


def _metric(raw: Json) -> Unit | None:
    """`metric: "billed_cents"`; what else is measured is no unit of sums."""
    return UNIT_WORDS.get(fold(raw)) if type(raw) is str else None


def _cents_if(raw: Json) -> Unit | None:
    return Unit(-2) if raw is True else None


def _of_digits(raw: Json) -> Unit | None:
    return Unit(-raw) if type(raw) is int and 0 <= raw < 5 else None


UNIT_FIELDS: Final = (
    Field("currency", """
        currency currency_code billing_currency  # Anthropic, OpenAI
        ccy currency_iso iso_currency_code budget_currency
        {customer,budget,money}.{currency,currency_code}  # Google Ads
        spend_management.currency spending_limits_currency  # Vercel, Stripe Issuing
        """, currency_word),
    Field("unit", "unit units amount_unit {money,cost,currency,budget}_unit", unit_word),
    Field("unit", "{amounts,values,costs,money,sums}_in denomination", unit_word),
    Field("unit", "metric  # paperclip: billed_cents", _metric),
    Field("unit", "{is_,}in_cents amounts_in_cents  # a flag", _cents_if),
    Field("unit", "minor_units  # how many digits", _of_digits),
)  # fmt: skip
"""The fields of a record that tell the unit of the sums beside them."""

_BESIDE: Final = tuple(
    (fold(name), field)
    for field in UNIT_FIELDS
    for name, _ in field.names_with_sources()
    if "." not in name and name not in ("unit", "units")
)
_AROUND: Final = word_set("meta metadata summary totals info settings data result payload budget")


def envelope_unit(body: Json, depth: int = 0) -> Unit:
    """The unit that an answer tells once for all: `{"currency": "EUR", "data": […]}`."""
    if type(body) is not dict or len(body) > 400:
        return NO_UNIT
    unit = NO_UNIT
    for name, field in _BESIDE:
        raw = get_field(body, name)
        told = None if raw is None else field.reader(raw)
        unit = unit.with_more(told)
    for name in ("unit", "units"):  # of an answer's own `unit: "ms"` it is something else
        unit = unit.with_more(_metric(get_field(body, name)))
    if depth < 2:
        for name in _AROUND:
            unit = unit.with_more(envelope_unit(get_field(body, name), depth + 1))
    return unit
