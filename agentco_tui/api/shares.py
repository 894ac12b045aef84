"""Parts of a whole: 0.8, 80 and "80 %" are the same only if something says so (SHAPES D "Share").

What the name says comes first, then the value (over 1.5 is a percentage), then the other rows of
the same answer; what nothing settles stays unread and is kept with the record.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Final, NamedTuple

from agentco_tui.model.records import Money
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.number import to_decimal

_PERCENT_ABOVE: Final = Decimal("1.5")
_ROUNDING: Final = Context(prec=28)
_MAX_SHARE: Final = Decimal(10) ** 7


class RawShare(NamedTuple):
    """A share as it was sent."""

    value: Decimal
    is_ratio: bool | None
    """True or False where the name or a per cent sign settles it."""


def read_share(raw: Json, is_ratio: bool = False, says_percent: bool = True) -> RawShare | None:
    """`raw` as a share whose scale may still be open; a per cent sign settles it.

    A name that says neither ratio nor percent (`utilization`, `share`) means a ratio by custom,
    unless the value is too large for one.
    """
    if type(raw) is str and raw.strip().endswith("%"):
        value = to_decimal(raw.strip()[:-1])
        return None if value is None else RawShare(value, False)
    value = to_decimal(raw)
    if value is None or abs(value) > _MAX_SHARE:
        return None
    if not is_ratio and not says_percent:
        return RawShare(value, value <= _PERCENT_ABOVE)
    return RawShare(value, True if is_ratio else None)


def threshold(share: RawShare | None) -> Decimal | None:
    """A warning point: 0.8 and 80 alike, since nobody asks to be warned at 0.8 per cent."""
    if share is None or share.value < 0:
        return None
    if share.is_ratio is not None:
        return share.value if share.is_ratio else share.value / 100
    if share.value <= _PERCENT_ABOVE:
        return share.value
    return share.value / 100 if share.value <= 300 else None


class Scale(NamedTuple):
    """What the rows of one answer prove about their shares."""

    is_ratio: bool | None = None


def proven_scale(shares: Iterable[RawShare], thresholds: Iterable[RawShare] = ()) -> Scale:
    """The scale that a whole answer's shares and thresholds prove, if they do.

    A value over 1.5 proves percentages for all. Otherwise a threshold below 1, or at least two
    rows strictly between 0 and 1, prove ratios (SHAPES D: "other rows or a threshold in the same
    answer are below 1").
    """
    open_ones = [share.value for share in shares if share.is_ratio is None]
    points = [share.value for share in thresholds if share.is_ratio is not False]
    if any(value > _PERCENT_ABOVE for value in open_ones):
        return Scale(False)
    if any(0 < value < 1 for value in points) or sum(0 < value < 1 for value in open_ones) > 1:
        return Scale(True)
    if any(value > _PERCENT_ABOVE for value in points):
        return Scale(False)
    return Scale()


def settled(
    share: RawShare | None, scale: Scale, agrees_with: Decimal | None = None
) -> Decimal | None:
    """The share with 1 as the whole, or None if its scale stays open.

    `agrees_with` is what spent and limit make it: the reading that agrees is taken.
    """
    if share is None:
        return None
    if share.is_ratio is not None:
        return share.value if share.is_ratio else share.value / 100
    if agrees_with is not None:
        for reading in (share.value, share.value / 100):
            if near(reading, agrees_with):
                return reading
    if share.value == 0:
        return share.value
    if share.value > _PERCENT_ABOVE:
        return share.value / 100
    if scale.is_ratio is None:
        return None
    return share.value if scale.is_ratio else share.value / 100


def near(one: Decimal, other: Decimal) -> bool:
    """True if both tell the same share, but for rounding to a whole per cent."""
    return abs(one - other) <= max(Decimal("0.0051"), abs(other) / 200)


def share_of(spent: Money | None, limit: Money | None) -> Decimal | None:
    """Spent over limit; None without both, without a limit above 0, or across currencies."""
    if spent is None or limit is None or limit.amount <= 0:
        return None
    if spent.currency and limit.currency and spent.currency != limit.currency:
        return None
    return _ROUNDING.divide(spent.amount, limit.amount)
