"""Checks of the arguments of the client's methods, made before anything is sent.

The client sends requests to the platform, a remote service. Each function returns the argument, or
raises an error: WrongArgumentType (a TypeError) for a wrong type, WrongArgument (a ValueError) for
a value that can't be used. Both name the argument, and neither repeats its value, which could be a
secret.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from agentco_tui.api.errors import WrongArgument, WrongArgumentType
from agentco_tui.text import mark_safe

LONGEST_ID: Final = 2_000
"""Characters of the longest id."""
LONGEST_ATTEMPT_ID: Final = 255
"""Characters of the longest Idempotency-Key."""
MOST_DIGITS: Final = 30
"""The largest number of digits on either side of a sum's point."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
"""Half of a pair of code units, which UTF-8 cannot encode."""
_ATTEMPT: Final = re.compile(r"[!-~]+")


def check_type(value: object, kind: type | tuple[type, ...], name: str, words: str) -> None:
    """Raise WrongArgumentType unless `value` is of that type; `words` name the type."""
    if not isinstance(value, kind):
        raise WrongArgumentType(mark_safe(f"{name} must be {words}, not {type(value).__name__}"))


def check_text(value: object, name: str) -> str:
    """Return the text. It may not be empty or blank, and must be valid Unicode."""
    check_type(value, str, name, "a str")
    assert isinstance(value, str)
    if not value or value.isspace():
        fault = "blank" if value else "empty"
        raise WrongArgument(mark_safe(f"{name} is {fault}"))
    _check_encodable(value, name)
    return value


def check_optional_text(value: object, name: str) -> str | None:
    """Return the text, which may be empty, or None."""
    if value is None:
        return None
    check_type(value, str, name, "a str or None")
    assert isinstance(value, str)
    _check_encodable(value, name)
    return value


def check_id(value: object, name: str) -> str:
    """Return the id of one record: a text without control characters.

    If several rows of an answer came with the same id, the program invents ids for them, which
    contain a NUL. So none of these is ever sent.
    """
    identifier = check_text(value, name)
    if len(identifier) > LONGEST_ID:
        raise WrongArgument(mark_safe(f"{name} is longer than {LONGEST_ID:,} characters"))
    if _CONTROL.search(identifier):
        raise WrongArgument(mark_safe(f"{name} holds a control character: no platform's id does"))
    return identifier


def check_optional_id(value: object, name: str) -> str | None:
    """Return the id of one record, or None."""
    return None if value is None else check_id(value, name)


def check_attempt_id(value: object) -> str | None:
    """Return an Idempotency-Key: one word of ASCII letters, digits and signs; or None."""
    if value is None:
        return None
    attempt = check_text(value, "attempt_id")
    if len(attempt) > LONGEST_ATTEMPT_ID:
        raise WrongArgument(mark_safe(f"attempt_id is longer than {LONGEST_ATTEMPT_ID} characters"))
    if not _ATTEMPT.fullmatch(attempt):
        raise WrongArgument(
            mark_safe("attempt_id must be one word of ASCII letters, digits and signs")
        )
    return attempt


def check_callable(value: object, name: str) -> None:
    """Raise WrongArgumentType unless `value` is None or can be called."""
    if value is not None and not callable(value):
        words = f"{name} must be a function or None, not {type(value).__name__}"
        raise WrongArgumentType(mark_safe(words))


def check_count(value: object, name: str) -> int | None:
    """Return a whole number that is at least 1, or None."""
    if value is None:
        return None
    if isinstance(value, bool):
        raise WrongArgumentType(mark_safe(f"{name} must be an int or None, not bool"))
    check_type(value, int, name, "an int or None")
    assert isinstance(value, int)
    if value < 1:
        raise WrongArgument(mark_safe(f"{name} must be at least 1"))
    return value


def check_days(from_date: object, to_date: object) -> tuple[date | None, date | None]:
    """Return the first and the last day of a range. A datetime counts as its day."""
    for value, name in ((from_date, "from_date"), (to_date, "to_date")):
        if value is not None:
            check_type(value, date, name, "a date or None")
    first = _to_day(from_date)
    last = _to_day(to_date)
    if first is not None and last is not None and first > last:
        raise WrongArgument(mark_safe("from_date is later than to_date"))
    return first, last


def check_limit(value: object, name: str) -> Decimal:
    """Return a sum in whole units of a currency.

    It must be finite, not negative, and have at most MOST_DIGITS digits on each side of the point.
    """
    if isinstance(value, bool):
        raise WrongArgumentType(mark_safe(f"{name} must be a Decimal or an int, not bool"))
    check_type(value, (Decimal, int), name, "a Decimal or an int")
    assert isinstance(value, Decimal | int)
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        raise WrongArgument(mark_safe(f"{name} is too large"))
    amount = Decimal(value)
    if not amount.is_finite():
        raise WrongArgument(mark_safe(f"{name} is no usable number: it is not finite"))
    if amount < 0:
        raise WrongArgument(mark_safe(f"{name} is negative"))
    # A short text such as 1e999999 may mean a number of a million digits.
    if amount.adjusted() >= MOST_DIGITS or int(amount.as_tuple().exponent) < -MOST_DIGITS:
        raise WrongArgument(mark_safe(f"{name} has more than {MOST_DIGITS} digits"))
    return amount.copy_abs()  # 0 in place of -0


def _to_day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    return None


def _check_encodable(text: str, name: str) -> None:
    """Raise WrongArgument for a text that cannot be encoded as UTF-8."""
    if _SURROGATE.search(text):
        raise WrongArgument(mark_safe(f"{name} holds a character that cannot be sent"))
