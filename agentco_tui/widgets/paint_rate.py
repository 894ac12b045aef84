"""How often a screen is painted at most.

Textual 8.2.8 paints up to sixty times a second, a number that it reads once from its environment;
the timer that paces it belongs to the screen and isn't public, so this looks before it touches.
"""

from __future__ import annotations

from typing import Any, Final

from textual.screen import Screen
from textual.timer import Timer

FULL: Final = 60.0
THIN: Final = 8.0
"""Paints a second."""


def limit(screen: Screen[Any], *, thin: bool) -> bool:
    """Pace the screen for a thin line, or as usual; False if Textual is not as expected."""
    timer = getattr(screen, "_update_timer", None)
    if not isinstance(timer, Timer) or not hasattr(timer, "_interval"):
        return False
    timer._interval = 1 / (THIN if thin else FULL)
    return True
