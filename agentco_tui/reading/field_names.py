"""Functions on the names of fields: folding, splitting into words, secrets, and units of money.

Platforms, the remote services whose answers are read, spell the same name in many ways, so names
are compared *folded* (`fold`): `budgetMonthlyCents`, `budget_monthly_cents` and
`Budget-Monthly-Cents` are one name, "budgetmonthlycents". A name of a sum may end in its unit:
`split_unit` finds it, and `Unit` says how many whole units of a currency one such unit is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern

_LONGEST: Final = 80
"""Characters of a name that count; the rest is ignored."""
_NOISE: Final = lazy_pattern(r"[\x00-/:-@\[-`{-\x7f]+")
"""All of ASCII but letters and digits. What is beyond ASCII belongs to words: as the complement of
those, this would take milliseconds to compile."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text, which are separated by blanks."""
    return frozenset(text.split())


@memoized(8192)
def _fold(name: str) -> str:
    if name.isascii() and name.isalnum():
        return name.lower()
    # Salesforce marks custom fields: Role__c.
    without_underscores = name.removesuffix("__c").replace("_", "")
    if without_underscores.isascii() and without_underscores.isalnum():
        return without_underscores.lower()
    return _NOISE.sub("", name.removesuffix("__c")).casefold()


def fold(name: str) -> str:
    """The name in lower case, without separators and signs; only 80 characters of it count."""
    if len(name) > _LONGEST:
        name = name[:_LONGEST]
    return _fold(name)


HUMP: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins in a name such as `agentId` or `HTTPError`."""


@memoized(8192)
def words(name: str) -> tuple[str, ...]:
    """The words of a field's name, lower case, by humps and separators; for showing only."""
    pieces = _NOISE.split(name[:_LONGEST])
    return tuple(part.casefold() for piece in pieces for part in HUMP.split(piece) if part)


def phrase(name: str) -> str:
    """A name in words: "agent spawned" of "agent_spawned", "tool invoke" of "ToolInvoke"."""
    return " ".join(words(name))


_SECRETS: Final = word_set(
    """pwd bearer otp totp totpcode dsn jwt token authtokens connectionstring accesskey signingkey
    accesstokens apikeys"""
)
_SECRET_PARTS: Final = (
    "password", "passwd", "passphrase", "secret", "apikey", "credential", "privatekey",
    "authorization", "cookie",
)  # fmt: skip
_PAGE_TOKENS: Final = (
    "pagetoken", "nexttoken", "prevtoken", "previoustoken", "continuationtoken", "pertoken",
    "maxtoken", "synctoken",
)  # fmt: skip


@memoized(8192)
def is_secret(name: str) -> bool:
    """Whether a field of this name may hold an API key, a password or the like: never shown.

    `token` and `…_token` are secrets; token counts (`input_tokens`) and page tokens are not.
    """
    folded = fold(name)
    if folded in _SECRETS or any(part in folded for part in _SECRET_PARTS):
        return True
    if folded.endswith(("token", "tokenvalue")):
        return not folded.endswith(_PAGE_TOKENS)
    return folded.startswith(("bearer", "accesstoken", "authtoken", "refreshtoken"))


# -- units of sums ---------------------------------------------------------------------------------

MINOR: Final = 99
"""A special power: the minor unit of the currency, whose size depends on the currency."""
NO_MONEY: Final = frozenset(("TOKENS", "CREDITS", "POINTS"))
"""Values of `Unit.currency` that count something else than money."""

_CODES: Final = word_set(
    """usd eur gbp jpy cny chf cad aud nzd inr brl sek nok dkk pln czk huf ron try zar mxn krw
    sgd hkd twd thb idr php vnd myr ils aed sar rub uah clp cop ars pen kwd bhd"""
)


class Unit(NamedTuple):
    """The unit of an amount, as far as it is known."""

    power: int | None = None
    """Amount times ten to this power is whole units: -2 for cents; or MINOR; None if unknown."""
    currency: str | None = None
    """Such as "USD"; None if unknown."""

    def with_more(self, other: Unit | None) -> Unit:
        """Return this unit, with its unknown parts filled in from another."""
        if other is None or other is NO_UNIT:
            return self
        power = self.power
        if power is None:
            power = other.power
        return Unit(power, self.currency or other.currency)

    @property
    def rank(self) -> int:
        """The rank among sums under similar names: money 0, an unknown unit 1, no money 2."""
        if self.power is None:
            return 1
        if self.currency in NO_MONEY:
            return 2
        return 0


NO_UNIT: Final = Unit()
"""The unit of which nothing is known."""

UNIT_WORDS: Final[dict[str, Unit]] = {
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
_LENGTHS: Final = sorted({len(word) for word in UNIT_WORDS}, reverse=True)


def split_unit(folded: str) -> Iterator[tuple[str, Unit]]:
    """Yield a folded name without the unit at its end, and that unit: the longest unit first."""
    for length in _LENGTHS:
        if length < len(folded) and (unit := UNIT_WORDS.get(folded[-length:])) is not None:
            yield folded[:-length].removesuffix("in"), unit


def unit_in_name(name: str) -> Unit:
    """The unit at the end of a name, which may have dots: cents of `usage.cost_cents`."""
    folded = fold(name.rpartition(".")[2])
    if folded in UNIT_WORDS:
        return UNIT_WORDS[folded]
    return next((unit for _, unit in split_unit(folded)), NO_UNIT)
