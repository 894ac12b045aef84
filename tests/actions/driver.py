"""A dashboard without a screen, as a process of its own, so that it can be killed.

    python -m tests.actions.driver BASE_URL JOURNAL COUNT        (the key in DRIVER_KEY)

Takes up what was left behind, then approves COUNT of the pending tasks as one set. Prints a line of
JSON for each outcome: {"phase": "take up" | "set", "task", "attempt", "kind"}.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from agentco_tui.actions.batch import BatchApproval
from agentco_tui.actions.decisions import recover
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.services import Services
from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.transport import Transport
from agentco_tui.live.clock import SystemClock
from agentco_tui.live.store import Store
from tests.actions.office import QUICK, left_behind


def say(phase: str, found: Outcome) -> None:
    line = {
        "phase": phase,
        "task": found.subject,
        "attempt": found.attempt_id,
        "kind": found.kind,
        "why_not": found.why_not,
        "sentence": found.sentence,
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def main(base_url: str, journal_path: Path, count: int) -> None:
    journal = Journal(journal_path)
    journal.tidy()
    key = ApiKey.parse(os.environ["DRIVER_KEY"])
    async with Transport(BaseUrl.parse(base_url), key) as transport:
        client = Client(transport)
        services = Services(
            client,
            Store(),
            SystemClock(),
            journal,
            origin=base_url,
            profile="test",
            timing=QUICK,
        )
        left = await asyncio.to_thread(left_behind, journal, base_url)
        for found in await asyncio.gather(*(recover(services, attempt) for attempt in left)):
            assert found is not None
            say("take up", found)
        pending = await client.tasks(status="pending")
        batch = BatchApproval(services, pending.records[:count])
        told: set[str] = set()

        def tell() -> None:
            for item in batch.items:
                if item.outcome is not None and item.task.id not in told:
                    told.add(item.task.id)
                    say("set", item.outcome)

        batch.subscribe(tell)
        if batch.confirm(str(batch.number_to_type or "")):
            await batch.run()
        await services.close()
    journal.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
