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
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.actions.services import Services, Timing
from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.transport import Transport
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.clock import SystemClock
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from tests.actions.drill import TALLY
from tests.actions.test_property import Approvals, TestApprovals
from tests.benchmarks.slow_link import slow_link

SET = 200
LONGEST = 10.0
"""Seconds."""


def drill(wanted: int) -> float:
    """Run the property test until so many decisions were made; returns the seconds it took."""
    began = time.monotonic()
    while TALLY.decisions < wanted:
        more = settings(TestApprovals.settings, max_examples=50)
        run_state_machine_as_test(Approvals, settings=more)
    return time.monotonic() - began


async def a_set(platform: EmbeddedPlatform, folder: Path, one_way: float) -> tuple[float, float]:
    """Seconds until all were sent, and until all were settled, once released."""
    journal = Journal(folder / "state" / f"journal-{one_way}.jsonl")
    async with slow_link(platform.port, one_way) as port:
        base = BaseUrl.parse(f"http://127.0.0.1:{port}")
        async with Transport(base, ApiKey.parse(platform.full_key)) as transport:
            client = Client(transport)
            services = Services(
                client,
                Poller(client, Store(), SystemClock()),
                journal,
                origin=base.origin,
                profile="benchmark",
                timing=replace(Timing(), hold=0.0),
            )
            pending = await client.tasks(status="pending")
            batch = BatchApproval(services, pending.records[:SET])
            assert batch.confirm(str(SET))
            began = time.monotonic()
            await batch.run()
            took = time.monotonic() - began
            assert batch.results == {OutcomeKind.APPROVED_HERE: SET}, batch.sentence
            await services.close()
    journal.close()
    sent = platform.requests.matching("approve")[-SET:]
    return max(seen.started + seen.took for seen in sent) - began, took


def main() -> int:
    """Print the figures."""
    wanted = int(os.environ.get("AGENTCO_APPROVALS", "10000"))
    say = sys.stdout.write
    failed = False
    for label, one_way in (("100 ms there and back", 0.05), ("100 ms each way", 0.1)):
        with (
            tempfile.TemporaryDirectory() as folder,
            EmbeddedPlatform(seed=3, companies=2, agents=12, tasks=900, speed=0.0) as platform,
        ):
            sent, took = asyncio.run(a_set(platform, Path(folder), one_way))
            say(f"{SET} approvals, {label}: sent in {sent:.1f} s, settled in {took:.1f} s\n")
            failed = failed or (one_way == 0.05 and took > LONGEST)
    took = drill(wanted)
    say(f"decisions tried    {TALLY.decisions:,} in {took:.0f} s\n")
    say(f"sent               {TALLY.sent:,}\n")
    say(f"faults ordered     {TALLY.faults:,}\n")
    say(f"kills              {TALLY.kills:,}\n")
    say(f"others acted       {TALLY.meddled:,}\n")
    say(f"duplicates         {TALLY.duplicates}\n")
    say(f"wrong claims       {TALLY.wrong_claims}\n")
    for kind, count in TALLY.kinds.most_common():
        say(f"  {kind:<18} {count:,}\n")
    return int(failed or bool(TALLY.duplicates or TALLY.wrong_claims))


if __name__ == "__main__":
    sys.exit(main())
