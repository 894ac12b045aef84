"""The live picture without a screen, until every feed has an outcome: `picture URL KEY`.

Prints the peak of memory in megabytes, how many feeds failed and how many live, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from pathlib import Path

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.live.feeds import Clock, FeedName, Pace, Phase
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store


async def look(url: str, key: str) -> dict[str, float]:
    """Poll everything until each feed answered or failed."""
    store = Store()
    async with open_client(BaseUrl.parse(url), ApiKey(key), attempts=1) as client:
        poller = Poller(client, store, Clock(), refresh=60)
        poller.set_paces(dict.fromkeys(FeedName, Pace.REFRESH))
        running = asyncio.create_task(poller.run())
        fresh = store.freshness
        while any(one.phase is Phase.LOADING for one in fresh.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    failed = sum(one.failure is not None for one in fresh.values())
    return {"peak_mb": peak_bytes() / 1e6, "failed": failed, "live": len(fresh) - failed}


def peak_bytes() -> int:
    """The most memory this program held.

    Linux keeps `ru_maxrss` over an exec, so there it would be that of whoever started the program.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(look(sys.argv[1], sys.argv[2]))))
