"""Units of sums: told by a name's end, a field beside the sum, the answer or the profile.

A currency alone tells no unit: "USD" stands beside dollars and beside cents. Size tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.schema import Field, Json, under
from agentco_tui.text import safe

MINOR: Final = 99
"""The power of "the minor unit of the currency": its size depends on the currency."""
NO_MONEY: Final = frozenset(("TOKENS", "CREDITS", "POINTS"))

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

    power: int | None = None
    """Amount times ten to this power is whole units; MINOR; None where nothing told it."""
    currency: str | None = None

    def with_more(self, other: Unit | None) -> Unit:
        """What this one tells, completed by another."""
        if other is None:
            return self
        power = other.power if self.power is None else self.power
        return Unit(power, self.currency or other.currency)


NO_UNIT: Final = Unit()

_WORDS: Final[dict[str, Unit]] = {
    "cents": Unit(-2), "cent": Unit(-2), "billedcents": Unit(-2), "hundredths": Unit(-2),
    "pence": Unit(-2, "GBP"), "minor": Unit(MINOR), "minorunits": Unit(MINOR),
    "minorunit": Unit(MINOR), "micros": Unit(-6), "micro": Unit(-6), "microunits": Unit(-6),
    "microdollars": Unit(-6, "USD"), "microusd": Unit(-6, "USD"), "microcents": Unit(-8),
    "millicents": Unit(-5), "mills": Unit(-3), "millis": Unit(-3), "nanos": Unit(-9),
    "nanodollars": Unit(-9, "USD"), "nanousd": Unit(-9, "USD"), "dollars": Unit(0, "USD"),
    "dollar": Unit(0, "USD"), "euros": Unit(0, "EUR"), "pounds": Unit(0, "GBP"),
    "major": Unit(0), "majorunits": Unit(0), "wholeunits": Unit(0), "tokens": Unit(0, "TOKENS"),
    "credits": Unit(0, "CREDITS"), "points": Unit(0, "POINTS"),
    **{code: Unit(0, code.upper()) for code in _CODES},
    **{f"{code}cents": Unit(-2, code.upper()) for code in ("usd", "eur", "aud", "cad", "us")},
    **{f"{code}micros": Unit(-6, code.upper()) for code in ("usd", "eur")},
    **{f"{code}minor": Unit(MINOR, code.upper()) for code in _CODES},
    "uscents": Unit(-2, "USD"), "eurocents": Unit(-2, "EUR"),
}  # fmt: skip
_LENGTHS: Final = sorted({len(word) for word in _WORDS}, reverse=True)


def split_unit(folded: str) -> Iterator[tuple[str, Unit]]:
    """A folded name without the unit at its end, and that unit: the longest unit first."""
    for length in _LENGTHS:
        if length < len(folded) and (unit := _WORDS.get(folded[-length:])) is not None:
            yield folded[:-length].removesuffix("in"), unit


def is_unit(folded: str) -> bool:
    """True for a folded name that is a unit and nothing else: `cents`, `usd`."""
    return folded in _WORDS


def stems(folded: str) -> Iterator[str]:
    """What a folded name may be without a unit at its end."""
    return (stem for stem, _ in split_unit(folded))


def unit_in_name(name: str) -> Unit:
    """The unit that the last part of a (dotted) name tells: `usage.cost_cents`."""
    folded = fold(name.rpartition(".")[2])
    if folded in _WORDS:
        return _WORDS[folded]
    return next((unit for _, unit in split_unit(folded)), NO_UNIT)


def unit_word(raw: Json) -> Unit | None:
    """What a `unit` says: "cents", "usd_cents", "USD" (whole ones), `{"code": "EUR"}`, "GB"."""
    text = _text(raw)
    if text is None or fold(text) in ("unit", "units", "money", "count", "none", "default"):
        return None
    if text in SIGNS:
        return Unit(0, SIGNS[text])
    return _WORDS.get(fold(text)) or Unit(0, str(safe(text.upper(), 12)))


def currency_word(raw: Json) -> Unit | None:
    """What a `currency` says: a code without a scale; "usd_cents" tells both."""
    text = _text(raw)
    known = None if text is None else unit_word(text)
    if known is None or known.power != 0 or known.currency in NO_MONEY:
        return known
    return Unit(None, known.currency)


def _text(raw: Json) -> str | None:
    if type(raw) is dict:
        raw = next((raw[key] for key in ("code", "iso", "id", "currency") if key in raw), None)
    text = raw.strip() if type(raw) is str else ""
    return text if 0 < len(text) <= 24 else None


def _metric(raw: Json) -> Unit | None:
    """`metric: "billed_cents"`; what else is measured is no unit of sums."""
    return _WORDS.get(fold(raw)) if type(raw) is str else None


def _flag_of(unit: Unit) -> Any:
    return lambda raw: unit if raw is True else None


def _of_digits(raw: Json) -> Unit | None:
    return Unit(-raw) if type(raw) is int and 0 <= raw < 5 else None


UNIT_FIELDS: Final = (
    Field(
        "currency",
        """
        currency currency_code                  # Anthropic, OpenAI
        billing_currency ccy currency_iso iso_currency_code budget_currency
        {customer,budget,money}.{currency,currency_code}  # Google Ads
        spend_management.currency               # Vercel
        spending_limits_currency                # Stripe Issuing
        """,
        currency_word,
    ),
    Field("unit", "unit units amount_unit {money,cost,currency,budget}_unit", unit_word),
    Field("unit", "{amounts,values,costs,money,sums}_in denomination", unit_word),
    Field("unit", "metric  # paperclip: billed_cents", _metric),
    Field("unit", "{is_,}in_cents amounts_in_cents cents", _flag_of(Unit(-2))),
    Field("unit", "{is_,}in_{minor,minor_units}", _flag_of(Unit(MINOR))),
    Field("unit", "minor_units  # how many digits", _of_digits),
    Field("unit", "{is_,}in_micros", _flag_of(Unit(-6))),
)
"""The fields of a record that tell the unit of the sums beside them."""

_BESIDE: Final = tuple(
    (fold(name), field)
    for field in UNIT_FIELDS
    for name, _ in field.sourced()
    if "." not in name and name not in ("unit", "units", "cents")
)
_AROUND: Final = word_set("meta metadata summary totals info settings data result payload budget")


def unit_beside(body: Json, depth: int = 0) -> Unit:
    """The unit that an answer tells once for all: `{"currency": "EUR", "data": […]}`."""
    if type(body) is not dict or len(body) > 400:
        return NO_UNIT
    unit = NO_UNIT
    for name, field in _BESIDE:
        raw = under(body, name)
        told = None if raw is None else field.reader(raw)
        unit = unit.with_more(told)
    for name in ("unit", "units"):  # of an answer's own `unit: "ms"` it is something else
        unit = unit.with_more(_metric(under(body, name)))
    if depth < 2:
        for name in _AROUND:
            unit = unit.with_more(unit_beside(under(body, name), depth + 1))
    return unit
