"""Field names: compared folded, and taken apart into words (SHAPES K1).

`budgetMonthlyCents`, `budget_monthly_cents`, `Budget-Monthly-Cents` and `BUDGETMONTHLYCENTS` are
one name. `fold` makes them equal; `words` gives ("budget", "monthly", "cents") for each of them,
the last by cutting it along the words that this trade uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Final, TypeVar

from agentco_tui.patterns import lazy_pattern


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of `text`: how this package writes down its vocabularies."""
    return frozenset(text.split())


_V = TypeVar("_V")


def some(obj: Mapping[str, _V], most: int) -> list[tuple[str, _V]]:
    """The first `most` fields of an object, in time that does not grow with the others."""
    return list(islice(obj.items(), most))


_MAX_NAME: Final = 80
_NOISE: Final = lazy_pattern(r"[^0-9a-zA-Z\u0080-\U0010ffff]+")
_HUMP: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_SECRET_WORDS: Final = word_set(
    """password passwd passphrase pwd secret secrets authorization credential credentials
    apikey apikeys apitoken accesstoken refreshtoken authtoken bearertoken sessiontoken
    idtoken privatekey secretkey accesskey signingkey clientsecret bearer cookie cookies otp
    totp totpcode webhooksecret connectionstring dsn"""
)
_SECRET_PARTS: Final = ("password", "passwd", "secret", "apikey", "credential", "privatekey")
_COUNTED_TOKEN: Final = word_set(
    """count counts total totals input output prompt completion cached used limit max min reset
    resets next page usage cap budget remaining per cost reasoning read write creation"""
)

_VOCABULARY: Final = word_set(
    """absolute access accumulated active activity actual agent alert all allocated allocation
    allotment allowance amount and annual applied approval as assigned at available average
    balance billed billing budget burn by calculated calendar cap cents ceiling charged code
    company completed completion consumed consumption cost costs count created credit
    credits currency current cycle daily date day days dollar dollars end estimated eur euro
    euros exact exceeded expected fifo fixed for forecast forecasted fraction from funds gbp
    hard has high hour hourly hours id in input is kind left level lifetime limit limits max
    maximum micro microcents microdollars micros microusd milli min minimum minor minutes
    month monthly months name nano nanodollars nanos no notify observed of on output over
    owner paid pct percent percentage period point pool prefix price projected projection
    quarter quarterly quota rate ratio recorded refresh remaining renewal renews reset
    resets runtime scope seconds share since so soft spend spending spent start state status
    sum term this threshold time to today token tokens total type unit units unlimited
    unspent until updated usable usage usd use used utilisation utilization value warn
    warning week weekly window year yearly allowed trust score date mtd ytd far overall
    rolling expenditure ms millis milliseconds us ns sec duration elapsed latency"""
)
_LONGEST_WORD: Final = max(map(len, _VOCABULARY))


@lru_cache(maxsize=8192)
def _fold(name: str) -> str:
    if name.isascii() and name.isalnum():
        return name.lower()
    return _NOISE.sub("", _without_mark(name)).casefold()


def _without_mark(name: str) -> str:
    """Without the mark that Salesforce puts behind the names of custom fields: `Role__c`."""
    return name.removesuffix("__c").removesuffix("__r")


def fold(name: str) -> str:
    """`name` without case, humps, separators and signs; long noise is cut at 80 characters."""
    return _fold(name if len(name) <= _MAX_NAME else name[:_MAX_NAME])


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """The words of a field's name, lower case: by humps and separators, else by the vocabulary."""
    parts = [
        part.casefold()
        for piece in _NOISE.split(_without_mark(name[:_MAX_NAME]))
        for part in _HUMP.split(piece)
        if part
    ]
    found: list[str] = []
    for part in parts:
        found.extend((part,) if part in _VOCABULARY else _cut(part))
    return tuple(found)


def _cut(run: str) -> tuple[str, ...]:
    """`run` cut into vocabulary words if they cover it whole (fewest words), else `run`."""
    best: list[tuple[str, ...] | None] = [()] + [None] * len(run)
    for start in range(len(run)):
        before = best[start]
        if before is None:
            continue
        for end in range(start + 1, min(len(run), start + _LONGEST_WORD) + 1):
            known = best[end]
            if (known is None or len(before) + 1 < len(known)) and run[start:end] in _VOCABULARY:
                best[end] = (*before, run[start:end])
    return best[-1] or (run,)


@lru_cache(maxsize=8192)
def is_secret(name: str) -> bool:
    """True if a field of this name may hold a key, a password or the like: never shown.

    `token` and `…_token` are secrets; token counts (`input_tokens`, `tokens`) and page tokens
    (`nextPageToken`) are not.
    """
    folded = fold(name)
    if folded in _SECRET_WORDS or any(part in folded for part in _SECRET_PARTS):
        return True
    if folded in ("token", "jwt", "authtokens"):
        return True
    if "auth" not in folded and "tok" not in folded and "cook" not in folded:
        return False
    parts = words(name)
    if "authorization" in parts or "cookie" in parts:
        return True
    return "token" in parts and not _COUNTED_TOKEN.intersection(parts)


def snake(name: str) -> str:
    """`name` as snake_case, the one spelling in which records tell where a value came from."""
    return "_".join(words(name))
