"""Readers of sums of money: a raw JSON value in, an exact amount with its unit out.

- `to_sum` reads one value and returns a `Sum`: the number as it was sent, and the `Unit` that the
  field's name and the value give. `money_field` declares a field that is read this way.
- `declared_unit` is the unit that other fields of the record or of the answer declare.
- `to_money` combines both to a `Money`, an amount in whole currency units.

Sums come in the answers of platforms, the remote services; a profile is the user's configuration
for one, which may declare a unit. A `Unit` has a power of ten (-2 for cents, None if unknown) and a
currency (None if unknown); `one.with_more(other)` fills in from `other` what `one` does not know.
`MINOR` is the power of a currency's smallest unit, which is that of cents for most currencies. The
unit comes from the field's name, the value, a field beside it, the answer or the profile, in this
order. If none of them gives the power, the amount stays as it was sent and is marked
`unit_assumed`. A currency alone does not give it, since "USD" is sent with dollars and with cents,
and neither does the size of the amount.
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
from agentco_tui.reading.json_access import Json, folded_names, get_field
from agentco_tui.reading.name_index import Field, Reader
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import Values
from agentco_tui.reading.values.scalar import to_decimal
from agentco_tui.text import SafeText, clean_line
from agentco_tui.text.patterns import lazy_pattern

SIGNS: Final = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB",
    "US$": "USD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "CHF": "CHF", "zł": "PLN", "₴": "UAH",
    "kr": "SEK", "₺": "TRY", "₫": "VND", "฿": "THB", "₪": "ILS",
}  # fmt: skip
"""The currency that a sign means; if several currencies use it, the likeliest."""
_NO_MINOR: Final = word_set("JPY KRW VND CLP ISK UGX XAF XOF PYG RWF KMF DJF GNF BIF VUV XPF")
"""Currencies whose smallest unit is the whole one."""
_THREE_MINOR: Final = word_set("KWD BHD OMR JOD TND IQD LYD")
"""Currencies with thousandths."""
_EXACT: Final = Context(prec=80)
"""Digits enough that no sum is ever rounded."""
_LONGEST_TEXT: Final = 60
"""Characters: a longer text is no sum."""

_WRITTEN: Final = lazy_pattern(
    r"^\s*([-+(]?)\s*(US\$|A\$|C\$|R\$|[$€£¥₹₩₽₴₺₫฿₪]|[A-Za-z]{3,7}(?=[\s\d-]))?\s*"
    r"([-+]?[\d.,'’_\s\u00a0\u2009\u202f]*\d[\d.,]*(?:[eE][+-]?\d{1,3})?)\s*"
    r"(US\$|[$€£¥₹₩₽₴₺₫฿₪¢]|[A-Za-zł]{2,7})?\s*(\)?)\s*$"
)
"""A sum as people write it: "$1,234.50", "12,50 €", "USD 12", "(3.00)"."""


class Sum(NamedTuple):
    """An amount as it was sent, and its unit as far as its name and value give it."""

    value: Decimal
    unit: Unit = NO_UNIT


def to_sum(raw: Json, unit: Unit = NO_UNIT) -> Any:
    """`raw` as a Sum; Incomplete(Sum) if the value holds more; None if it is no sum.

    `unit` is the one in the field's name; a unit in the value itself takes precedence.
    """
    if type(raw) is dict:
        return _from_object(raw, unit)
    value = to_decimal(raw)
    if value is not None:
        return Sum(value, unit)
    if type(raw) is str:
        return _from_text(raw, unit)
    return None


def money_field(slot: str, names: str, reader: Reader = to_sum) -> Field:
    """A field of sums: each of its names may end in a unit (`cost`, `cost_usd`, `costCents`)."""
    return Field(slot, names, reader, in_units=True)


def declared_unit(values: Values, answer_unit: Unit | None) -> Unit:
    """The unit that a record's fields (`UNIT_FIELDS`) declare, completed by the answer's."""
    unit: Unit = values.get("unit", NO_UNIT)
    currency: Unit | None = values.get("currency")
    if currency is not None:
        unit = unit.with_more(currency)
    return unit.with_more(answer_unit)


def to_money(sent: Sum | None, declared: Unit = NO_UNIT) -> Money | None:
    """The sum in whole units; `declared` completes the unit that its own name and value give."""
    if sent is None:
        return None
    unit = sent.unit.with_more(declared)
    if sent.unit.power is not None and declared.currency in NO_MONEY:
        unit = sent.unit  # `spent_cents` beside `unit: "tokens"` is still money
    amount = scaled(sent.value, power_of(unit))
    currency: SafeText | None = None
    if unit.currency:
        currency = SafeText(unit.currency)
    return Money(amount, currency, unit_assumed=unit.power is None)


def power_of(unit: Unit) -> int:
    """The power of ten that turns a sum into whole units; 0 if it is not known."""
    if unit.power != MINOR:
        return unit.power or 0
    if unit.currency in _NO_MINOR:
        return 0
    if unit.currency in _THREE_MINOR:
        return -3
    return -2


def scaled(value: Decimal, power: int) -> Decimal:
    """`value` times ten to the `power`, exactly."""
    if power == 0:
        return value
    return value.scaleb(power, _EXACT)


def _from_text(raw: str, name_unit: Unit) -> Sum | None:
    """The sum in a text such as "$1,234.50" or "12,50 €"; None if it is no sum."""
    if len(raw) > _LONGEST_TEXT:
        return None
    match = _WRITTEN.match(raw.replace("\u2212", "-"))
    if match is None:
        return None
    lead, before, digits, after, closing = match.groups()
    value = to_decimal(digits)
    if value is None:
        return None
    if (lead == "(") != (closing == ")"):
        return None
    unit = NO_UNIT
    for mark in filter(None, (before, after)):
        mark_unit = _unit_of_mark(mark)
        if mark_unit == NO_UNIT:
            return None  # "12 GB" is no sum
        unit = unit.with_more(mark_unit)
    if lead in ("-", "("):
        value = -value
    return Sum(value, unit.with_more(name_unit))


def _unit_of_mark(mark: str) -> Unit:
    """The unit that a sign or word beside a number means; NO_UNIT if it is none of money."""
    if mark == "¢":
        return Unit(-2)
    if mark in SIGNS:
        return Unit(0, SIGNS[mark])
    return unit_in_name(mark)


_AMOUNTS: Final = ("amount", "value", "total", "number", "amt", "price")
"""Names of the number in an object that is a sum; each may end in a unit."""
_CURRENCIES: Final = word_set(
    "currency currencycode currencyiso isocurrencycode billingcurrency code iso ccy"
)
"""Names of the currency in such an object."""
_UNITS: Final = word_set("unit units amountunit denomination")
"""Names of the unit in such an object."""
_SCALES: Final = word_set("scale exponent decimals decimalplaces fractiondigits minorunits")
"""How many digits of a whole number are behind the point: `{"amount": 1250, "scale": 2}`."""


def _from_object(raw: Mapping[str, Json], name_unit: Unit) -> Any:
    """The sum in an object; Incomplete if it holds more; None if it is no sum.

    `{"amount": "12.50", "currency": "usd"}`, `{"cents": 5}`, Google's units and nanos.
    """
    if not 0 < len(raw) <= 12:
        return None
    if len(raw) == 1 and "$" in next(iter(raw)):
        number = to_decimal(raw)
        if number is not None:
            return Sum(number, name_unit)  # MongoDB's `$numberDecimal`
    declared = NO_UNIT
    used = 0  # how many of the object's fields
    amounts: dict[tuple[int, int], Sum] = {}
    """By rank, the best is the lowest: the rank of the unit in the name, then of the name."""
    named = {fold(key): value for key, value in raw.items()}
    for name, value in named.items():
        unit = _unit_in_field(name, value, may_be_scale=len(raw) > 2)
        if unit is not None:
            declared = declared.with_more(unit)
            used += 1
            continue
        rank = _name_rank(name)
        if rank is None or type(value) is dict:
            continue
        amount = to_decimal(value)
        if amount is not None:
            own_unit = unit_in_name(name)
            amounts.setdefault((own_unit.rank, rank), Sum(amount, own_unit))
    whole = to_decimal(named.get("units"))
    nanos = to_decimal(named.get("nanos"))
    if whole is not None and (nanos is not None or "currencycode" in named):
        found = Sum(_EXACT.add(whole, scaled(nanos or Decimal(0), -9)), Unit(0).with_more(declared))
        used += 1
        if nanos is not None:
            used += 1
    elif amounts:
        best = min(amounts)
        amount, own_unit = amounts[best]
        found = Sum(amount, own_unit.with_more(declared).with_more(name_unit))
        used += 1
        is_named_by_unit = best[1] == len(_AMOUNTS)
        if is_named_by_unit and used < len(raw):
            return None  # `{"tokens": 5, "requests": 2}` counts things
    else:
        return None
    values_sent = sum(value is not None for value in raw.values())
    if values_sent > used:
        return Incomplete(found)
    return found


def _unit_in_field(name: str, value: Json, *, may_be_scale: bool) -> Unit | None:
    """The unit that one field of an object declares; None if it declares none."""
    if name in _CURRENCIES:
        return currency_word(value)
    if name in _UNITS and type(value) is str and to_decimal(value) is None:
        return unit_word(value)
    if name in _SCALES and type(value) is int and abs(value) < 9 and may_be_scale:
        return Unit(-abs(value))
    return None


def _name_rank(name: str) -> int | None:
    """The rank of an amount's name within an object, the best is 0; None if it names no amount.

    The name of a unit alone ("cents") comes last.
    """
    for rank, amount in enumerate(_AMOUNTS):
        if name == amount:
            return rank
        if name.startswith(amount) and amount in dict(split_unit(name)):
            return rank
    if name in UNIT_WORDS:
        return len(_AMOUNTS)
    return None


def comparable(one: Money, other: Money) -> bool:
    """Whether two sums can be compared: nothing says that their units differ."""
    if one.currency != other.currency:
        if one.currency and other.currency:
            return False
        if one.currency in NO_MONEY or other.currency in NO_MONEY:
            return False
    return one.unit_assumed == other.unit_assumed or not one.amount or not other.amount


def minus(one: Money, other: Money) -> Money | None:
    """`one` less `other`, marked as derived; None if they are in different units."""
    if not comparable(one, other):
        return None
    return Money(
        _EXACT.subtract(one.amount, other.amount),
        currency=one.currency or other.currency,
        unit_assumed=one.unit_assumed or other.unit_assumed,
        derived=True,
    )


def unit_word(raw: Any) -> Unit | None:
    """The unit that a field named `unit` declares; None if it declares none.

    "cents", "usd_cents", "USD" (whole dollars), `{"code": "EUR"}`, and "GB", which is no money.
    """
    text = _code_in(raw)
    if text is None or fold(text) in ("unit", "units", "money", "count", "none", "default"):
        return None
    if text in SIGNS:
        return Unit(0, SIGNS[text])
    return UNIT_WORDS.get(fold(text)) or Unit(0, str(clean_line(text.upper(), 12)))


def currency_word(raw: Any) -> Unit | None:
    """The unit that a field named `currency` declares: a currency without a power of ten.

    "usd_cents" declares both.
    """
    text = _code_in(raw)
    if text is None:
        return None
    unit = unit_word(text)
    if unit is None or unit.power != 0 or unit.currency in NO_MONEY:
        return unit
    return Unit(None, unit.currency)


def _code_in(raw: Any) -> str | None:
    """The code of a unit or currency in a text or an object; None if there is none."""
    if type(raw) is dict:
        raw = next((raw[key] for key in ("code", "iso", "id", "currency") if key in raw), None)
    if type(raw) is not str:
        return None
    text = raw.strip()
    if 0 < len(text) <= 24:
        return text
    return None


def _metric(raw: Json) -> Unit | None:
    """The unit in `metric: "billed_cents"`; None for a metric that is no unit of sums."""
    if type(raw) is not str:
        return None
    return UNIT_WORDS.get(fold(raw))


def _cents_if_true(raw: Json) -> Unit | None:
    """Cents if a flag such as `in_cents` is true, else None."""
    if raw is True:
        return Unit(-2)
    return None


def _unit_of_digits(raw: Json) -> Unit | None:
    """The unit of sums with this many digits after the point; None if it is no such number."""
    if type(raw) is int and 0 <= raw < 5:
        return Unit(-raw)
    return None


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
    Field("unit", "{is_,}in_cents amounts_in_cents  # a flag", _cents_if_true),
    Field("unit", "minor_units  # how many digits", _unit_of_digits),
)  # fmt: skip
"""The fields of a record that declare the unit of the sums beside them."""

_ENVELOPE_FIELDS: Final = tuple(
    (fold(name), field)
    for field in UNIT_FIELDS
    for name, _ in field.names_with_sources()
    if "." not in name and name not in ("unit", "units")
)
"""(folded name, field) of what may declare a unit for a whole answer."""
_OUTER_OBJECTS: Final = word_set(
    "meta metadata summary totals info settings data result payload budget"
)
"""Names of objects in an answer in which it may declare its unit."""


def envelope_unit(body: Json, depth: int = 0) -> Unit:
    """The unit that an answer declares once for all its sums: `{"currency": "EUR", "data": […]}`.

    NO_UNIT if it declares none.
    """
    if type(body) is not dict or len(body) > 400:
        return NO_UNIT
    unit = NO_UNIT
    sent = folded_names(body)
    for name, field in _ENVELOPE_FIELDS:
        if name not in sent:
            continue
        raw = get_field(body, name)
        if raw is not None:
            unit = unit.with_more(field.reader(raw))
    for name in ("unit", "units"):  # an answer's own `unit` may be anything, such as "ms"
        if name in sent:
            unit = unit.with_more(_metric(get_field(body, name)))
    if depth < 2:
        for name in _OUTER_OBJECTS:
            if name in sent:
                unit = unit.with_more(envelope_unit(get_field(body, name), depth + 1))
    return unit
