"""Bars that show a share of a whole; the sign beside them is the caller's."""

from __future__ import annotations

from decimal import Decimal

from agentco_tui.text import SafeText, plain, signs


def bar(share: Decimal | None, width: int, *, track: bool = True) -> SafeText:
    """A bar of exactly `width` cells for `share` (1 is full), in steps of an eighth of a cell.

    The bar stops at its width, so a share above 1 fills it: the number beside it tells more.
    Without `track` the rest of its width stays blank, which costs less to write.
    A share above nothing always shows something, and one below the whole is never full.
    """
    empty = signs.bar_empty if track else " "
    if share is None or width <= 0:
        return plain(empty * max(0, width))
    steps = len(signs.bar_parts) + 1
    filled = int(max(Decimal(0), min(Decimal(1), share)) * width * steps)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(width * steps - 1, filled)
    full, part = divmod(filled, steps)
    head = signs.bar_full * full + (signs.bar_parts[part - 1] if part else "")
    return plain(head + empty * (width - len(head)))
