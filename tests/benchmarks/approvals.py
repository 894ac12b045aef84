"""The figures of safe approval: many approvals under every fault, and a set over a slow line.

    AGENTCO_APPROVALS=10000 python -m tests.benchmarks.approvals

Exit code 1 if anything was sent twice or claimed wrongly, or if the set took too long.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from msgspec.structs import replace

from agentco_tui.actions.batch import BatchApproval
from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.actions.services import Timing
from agentco_tui.demo.server import EmbeddedPlatform
from tests.actions.drill import TALLY
from tests.actions.office import office
from tests.actions.test_property import Approvals, TestApprovals

SET = 200
LONGEST = 10.0
"""Seconds for a set where every answer comes 100 ms late."""


async def a_set(platform: EmbeddedPlatform, folder: Path) -> float:
    """Seconds until a set is sent and settled, once released."""
    timing = replace(Timing(), hold=0.0)
    async with office(platform, folder / "journal.jsonl", timing=timing) as desk:
        batch = BatchApproval(desk.services, (await desk.pending())[:SET])
        assert batch.confirm(str(SET))
        began = time.monotonic()
        await batch.run()
        assert batch.results == {OutcomeKind.APPROVED_HERE: SET}, batch.sentence
        return time.monotonic() - began


def main() -> int:
    """Print the figures."""
    failed = False
    for late in (100, 200):
        with (
            tempfile.TemporaryDirectory() as folder,
            EmbeddedPlatform(seed=3, companies=2, agents=12, tasks=900, speed=0.0) as platform,
        ):
            platform.faults.add(f"*:latency={late}ms")
            took = asyncio.run(a_set(platform, Path(folder)))
            sys.stdout.write(f"{SET} approvals, answers {late} ms late: {took:.1f} s\n")
            failed = failed or (late == 100 and took > LONGEST)
    began = time.monotonic()
    while TALLY["decisions"] < int(os.environ.get("AGENTCO_APPROVALS", "10000")):
        more = settings(TestApprovals.settings, max_examples=50)
        run_state_machine_as_test(Approvals, settings=more)
    sys.stdout.write(f"the drill took {time.monotonic() - began:.0f} s\n")
    for name, count in TALLY.items():
        sys.stdout.write(f"{name:<18} {count:,}\n")
    return int(failed or bool(TALLY["duplicates"] or TALLY["wrong claims"]))


if __name__ == "__main__":
    sys.exit(main())
