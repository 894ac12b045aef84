"""Parts of a whole: 0.8, 80 and "80 %" are the same only if something says so.

A name that says ratio, a per cent sign, a value over 1.5, the sums of the record or the other rows
of the answer say so; what nothing settles is unread. No share is ever clamped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from enum import Enum
from typing import Final, NamedTuple

from agentco_tui.model import Money
from agentco_tui.reading.schema import Field, Json
from agentco_tui.reading.values.money import comparable
from agentco_tui.reading.values.number import to_decimal

_PERCENT_ABOVE: Final = Decimal("1.5")
_MOST: Final = Decimal(10) ** 7
_ROUNDING: Final = Context(prec=28)


class Scale(Enum):
    """What 1 means."""

    RATIO = "ratio"
    PERCENT = "percent"
    OPEN = "open"
    """Either; but a percentage where it is over 1.5."""
    PCT = "pct"
    """As OPEN; other rows below 1 prove a ratio (`hourly_pct` of OpenFang is one)."""


class Part(NamedTuple):
    """A share as it was sent."""

    value: Decimal
    scale: Scale


def part_field(slot: str, names: str, scale: Scale) -> Field:
    """A field of shares under names that say `scale`."""

    def read(raw: Json) -> Part | None:
        if type(raw) is str and raw.strip().endswith("%"):
            value = to_decimal(raw.strip()[:-1])
            return None if value is None else Part(value, Scale.PERCENT)
        value = None if type(raw) is dict else to_decimal(raw)
        if value is None or abs(value) > _MOST:
            return None
        if scale is not Scale.RATIO and value > _PERCENT_ABOVE:
            return Part(value, Scale.PERCENT)
        return Part(value, scale)

    return Field(slot, names, read)


def proven(parts: Sequence[Part], thresholds: Iterable[Part]) -> Scale:
    """What the parts under one name, in all rows of an answer, prove: RATIO, PERCENT or OPEN."""
    if any(part.scale is Scale.PERCENT for part in parts):
        return Scale.PERCENT
    below_one = [part for part in parts if part.scale is Scale.PCT and 0 < part.value < 1]
    points_below_one = any(
        0 < point.value < 1 and point.scale is not Scale.PERCENT for point in thresholds
    )
    is_open = any(part.scale is not Scale.RATIO for part in parts)
    return Scale.RATIO if len(below_one) > 1 or (is_open and points_below_one) else Scale.OPEN


def settled(part: Part | None, scale: Scale, computed: Decimal | None = None) -> Decimal | None:
    """The share with 1 as the whole, or None if its scale stays open.

    `scale` is what `proven` found; `computed` is what spent and limit make it.
    """
    if part is None:
        return None
    ways = {Scale.RATIO: part.value, Scale.PERCENT: part.value / 100}
    told = ways.get(part.scale, ways.get(scale))
    if told is None and computed is not None:
        return next((each for each in ways.values() if near(each, computed)), None)
    return part.value if told is None and part.value == 0 else told


def warning_point(part: Part | None) -> Decimal | None:
    """Where to warn: 0.8 and 80 alike, since nobody asks to be warned at 0.8 per cent."""
    if part is None or part.value < 0 or part.value > 300:
        return None
    return part.value / 100 if part.scale is Scale.PERCENT else part.value


def near(one: Decimal, other: Decimal) -> bool:
    """True if both tell the same share, but for rounding to a whole per cent."""
    return abs(one - other) <= max(Decimal("0.0051"), abs(other) / 200)


def share_of(spent: Money | None, limit: Money | None) -> Decimal | None:
    """Spent over limit; None without both, without a limit above 0, or across units."""
    if spent is None or limit is None or limit.amount <= 0 or not comparable(spent, limit):
        return None
    return _ROUNDING.divide(spent.amount, limit.amount)
