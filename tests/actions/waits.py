"""Waits so short that tests don't wait."""

from __future__ import annotations

from agentco_tui.actions.waits import Waits

QUICK = Waits(
    still_pending=0.02,
    confirm=0.02,
    first=0.002,
    ceiling=0.01,
    spacing=0.0,
    hold=0.0,
    hold_one=0.0,
)
