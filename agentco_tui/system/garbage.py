"""How a program that runs for long looks for garbage, without a pause that somebody notices.

Python's collector looks through all containers that it knows whenever a quarter of them are new.
The hundred thousand of imported modules, or those made of a long list, would block the event loop
for 30 to 60 ms. So they are frozen: excluded from all collections to come.
"""

from __future__ import annotations

import gc
from typing import Final

_USUAL_THRESHOLDS: Final = (700, 10, 10)
"""Python's own. `__main__` sets higher ones, for commands that end soon."""
_MANY_RECORDS: Final = 10_000
"""New records after which everything is frozen again."""


def collect_as_usual() -> None:
    """Freeze everything that exists now, and collect garbage from now on."""
    gc.freeze()
    gc.set_threshold(*_USUAL_THRESHOLDS)
    gc.enable()


class GrowthFreezer:
    """Freezes everything whenever many records have come.

    What is frozen is freed as usual once nothing refers to it; only garbage in cycles stays, and
    records are in none.
    """

    def __init__(self) -> None:
        self._frozen_count = 0

    def check(self, record_count: int) -> None:
        """Freeze if there are so many more records than at the last time."""
        if record_count >= self._frozen_count + _MANY_RECORDS:
            gc.freeze()
            self._frozen_count = record_count
        elif record_count < self._frozen_count:
            self._frozen_count = record_count
