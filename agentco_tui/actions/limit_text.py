"""Monthly spending limits of AI agents as text: checked when typed, written as they are shown."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from agentco_tui.model import Budget
from agentco_tui.model.format import money
from agentco_tui.text import SafeText, mark_safe, signs

WHOLE_DIGITS: Final = 12  # most digits before the point
DECIMALS: Final = 6  # most digits after it
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")


def check_limit(text: str) -> Decimal | SafeText:
    """Return the limit that was typed, or what is wrong with it.

    >>> check_limit(" 1250.50 "), check_limit("1,250")
    (Decimal('1250.50'), 'digits and a point only, without commas, as in 1250.50')
    """
    typed = text.strip()
    if not _NUMBER.fullmatch(typed):
        return mark_safe("digits and a point only, without commas, as in 1250.50")
    whole, _, decimals = typed.partition(".")
    if len(whole.lstrip("0")) > WHOLE_DIGITS or len(decimals.rstrip("0")) > DECIMALS:
        return mark_safe(f"no more than {WHOLE_DIGITS} digits, and {DECIMALS} after the point")
    return Decimal(typed)


def limit_words(budget: Budget | None) -> SafeText:
    """Return a budget's limit as it is shown: "$1,250.50", "no limit", or the sign for missing."""
    if budget is None:
        return signs.missing
    if budget.unlimited:
        return mark_safe("no limit")
    return money(budget.limit, exact=True)
