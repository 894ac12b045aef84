"""Patches the timer that paints frames: it sleeps as soon as all is painted.

Textual's timer of a screen paints a change at once, and then waits for the end of that frame before
it looks whether there is another change. So a second wake-up follows each change, which on an idle
dashboard is half of them. Here the timer waits for a change first, and for the end of the last
frame only if that is not over yet; no more frames are painted in a second than before.
"""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Iterator
from math import inf
from time import monotonic
from typing import Any, Final

from textual.screen import Screen
from textual.timer import EventTargetGone, Timer

from agentco_tui.textual_patches.registry import FRAME_TIMER

FRAMES: Final = "screen_update"
"""The name of the timer that paints the frames of a screen."""

_run_of_textual: Final = Timer._run


def install_frame_timer() -> None:
    """Patch the timers of all screens that are made from now on."""
    FRAME_TIMER.install(_as_expected, _members)


def _as_expected() -> bool:
    update_timer: Any = vars(Screen)["_update_timer"]
    has_name = FRAMES in update_timer.fget.__code__.co_consts
    return has_name and all(hasattr(Timer, name) for name in ("_active", "_tick", "_run"))


def _members() -> Iterator[tuple[Any, str, Any]]:
    yield Timer, "_run", _run


async def _run(timer: Any) -> None:
    if timer.name != FRAMES:
        await _run_of_textual(timer)
        return
    painted_at = -inf
    while True:
        await timer._active.wait()  # a change
        seconds_left = painted_at + timer._interval - monotonic()
        if seconds_left > 0:
            await sleep(seconds_left)
        painted_at = monotonic()
        try:
            await timer._tick(next_timer=painted_at, count=0)
        except EventTargetGone:
            return
