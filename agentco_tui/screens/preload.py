"""Startup work that the first screen does not need: the app runs it once that screen is shown.

From the start of the program until `freeze_gc`, garbage collection is rare, then off.
"""

from __future__ import annotations

import gc

_USUAL_COLLECTIONS = (700, 10, 10)
"""Python's own thresholds: `__main__` sets higher ones, with which a collection takes longer."""


def preload_dialogs() -> None:
    """Import the dialogs, so that the first key that opens one does not wait for them."""
    import agentco_tui.history.history_keeper  # noqa: PLC0415
    import agentco_tui.screens.dialogs.router  # noqa: F401, PLC0415


def freeze_gc() -> None:
    """Exclude everything that exists now from garbage collection, and turn it on.

    The hundred thousand objects of imported modules would otherwise block the event loop for 30
    to 50 ms whenever the collector looks through all of them.
    """
    gc.freeze()
    gc.set_threshold(*_USUAL_COLLECTIONS)
    gc.enable()
