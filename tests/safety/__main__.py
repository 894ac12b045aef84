"""How much is tried against what: python -m tests.safety."""

from __future__ import annotations

import sys

from agentco_tui.live.feeds import FeedName
from tests.live.test_poller_faults import FAULTS as FEED_FAULTS
from tests.safety.apps.widgets import PLACES
from tests.safety.hostile_world import COUNT
from tests.safety.test_canary import SPECS
from tests.safety.test_dashboard_texts import TABLES
from tests.safety.test_ends_of_life import ENDS
from tests.safety.test_other_faults import BOMBS
from tests.safety.test_writes_under_faults import FAULTS, WRITES


def lines() -> list[str]:
    """A line for each matrix."""
    columns = sum(len(letters) for letters in TABLES.values())
    return [
        f"places × payloads, one at a time: {len(PLACES)} × {COUNT} = {len(PLACES) * COUNT:,}",
        f"columns of tables × payloads, all at once: {columns} × {COUNT} = {columns * COUNT:,}",
        f"feeds × faults, live picture: {len(FeedName)} × {len(FEED_FAULTS)} = "
        f"{len(FeedName) * len(FEED_FAULTS):,}",
        f"writes × faults, with journal and world: {len(WRITES)} × {len(FAULTS)} = "
        f"{len(WRITES) * len(FAULTS):,}",
        f"memory, every feed in a process of its own: {len(BOMBS)} bombs",
        f"faults over which the key is searched for: {len(SPECS)}",
        f"ends of life with polls and an approval on their way: {len(ENDS)}",
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
