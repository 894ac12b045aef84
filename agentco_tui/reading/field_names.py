"""Field names: compared folded, and known as names of secrets.

`budgetMonthlyCents`, `budget_monthly_cents` and `Budget-Monthly-Cents` are one name.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from agentco_tui.patterns import lazy_pattern

_LONGEST: Final = 80
_NOISE: Final = lazy_pattern(r"[^0-9a-zA-Z\u0080-\U0010ffff]+")


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of `text`."""
    return frozenset(text.split())


@lru_cache(maxsize=8192)
def _fold(name: str) -> str:
    if name.isascii() and name.isalnum():
        return name.lower()
    # Salesforce marks custom fields: Role__c.
    return _NOISE.sub("", name.removesuffix("__c")).casefold()


def fold(name: str) -> str:
    """`name` without case, humps, separators and signs; of a long one the first 80 characters."""
    return _fold(name if len(name) <= _LONGEST else name[:_LONGEST])


_HUMP: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """The words of a field's name, lower case, by humps and separators; for showing only."""
    pieces = _NOISE.split(name[:_LONGEST])
    return tuple(part.casefold() for piece in pieces for part in _HUMP.split(piece) if part)


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


@lru_cache(maxsize=8192)
def is_secret(name: str) -> bool:
    """True if a field of this name may hold a key, a password or the like: never shown.

    `token` and `…_token` are secrets; token counts (`input_tokens`) and page tokens are not.
    """
    folded = fold(name)
    if folded in _SECRETS or any(part in folded for part in _SECRET_PARTS):
        return True
    if folded.endswith(("token", "tokenvalue")):
        return not folded.endswith(_PAGE_TOKENS)
    return folded.startswith(("bearer", "accesstoken", "authtoken", "refreshtoken"))
