"""Units of sums: told by a name's end, a field beside the sum, the answer or the profile.

A currency alone tells no unit: "USD" stands beside dollars and beside cents. Size tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agentco_tui.reading.field_names import fold, word_set
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
        if other is None or other is NO_UNIT:
            return self
        power = other.power if self.power is None else self.power
        return Unit(power, self.currency or other.currency)

    @property
    def rank(self) -> int:
        """Of several sums in one place that in a unit of money counts, what is no money last."""
        return 1 if self.power is None else 2 if self.currency in NO_MONEY else 0


NO_UNIT: Final = Unit()

WORDS: Final[dict[str, Unit]] = {
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
_LENGTHS: Final = sorted({len(word) for word in WORDS}, reverse=True)


def split_unit(folded: str) -> Iterator[tuple[str, Unit]]:
    """A folded name without the unit at its end, and that unit: the longest unit first."""
    for length in _LENGTHS:
        if length < len(folded) and (unit := WORDS.get(folded[-length:])) is not None:
            yield folded[:-length].removesuffix("in"), unit


def is_unit(folded: str) -> bool:
    """True for a folded name that is a unit and nothing else: `cents`, `usd`."""
    return folded in WORDS


def unit_in_name(name: str) -> Unit:
    """The unit that the last part of a (dotted) name tells: `usage.cost_cents`."""
    folded = fold(name.rpartition(".")[2])
    if folded in WORDS:
        return WORDS[folded]
    return next((unit for _, unit in split_unit(folded)), NO_UNIT)


def unit_word(raw: Any) -> Unit | None:
    """What a `unit` says: "cents", "usd_cents", "USD" (whole ones), `{"code": "EUR"}`, "GB"."""
    text = _text(raw)
    if text is None or fold(text) in ("unit", "units", "money", "count", "none", "default"):
        return None
    if text in SIGNS:
        return Unit(0, SIGNS[text])
    return WORDS.get(fold(text)) or Unit(0, str(safe(text.upper(), 12)))


def currency_word(raw: Any) -> Unit | None:
    """What a `currency` says: a code without a scale; "usd_cents" tells both."""
    text = _text(raw)
    known = None if text is None else unit_word(text)
    if known is None or known.power != 0 or known.currency in NO_MONEY:
        return known
    return Unit(None, known.currency)


def _text(raw: Any) -> str | None:
    if type(raw) is dict:
        raw = next((raw[key] for key in ("code", "iso", "id", "currency") if key in raw), None)
    text = raw.strip() if type(raw) is str else ""
    return text if 0 < len(text) <= 24 else None
