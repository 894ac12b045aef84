"""`collect_as_usual`: how a program that runs for long looks for garbage."""

from __future__ import annotations

import gc

_USUAL_THRESHOLDS = (700, 10, 10)
"""Python's own. `__main__` sets higher ones, for commands that end soon."""


def collect_as_usual() -> None:
    """Exclude everything that exists now from garbage collection, and turn it on.

    The hundred thousand objects of imported modules would otherwise block the event loop for 30
    to 50 ms whenever the collector looks through all of them.
    """
    gc.freeze()
    gc.set_threshold(*_USUAL_THRESHOLDS)
    gc.enable()
