"""The program itself, whose steady clock goes on by half a minute with each of ten reads.

    python -m tests.terminal.apps.hurried ARGUMENTS

The reads are those of agents' budgets. So minutes of polls pass in a moment, in the same way on
every machine.
"""

from __future__ import annotations

import sys
from typing import Any

from agentco_tui.api.client import Client
from agentco_tui.cli.main import main
from agentco_tui.live.feeds import Clock

STEP = 30.0  # seconds that pass with each read
READS = 10  # so many times; later reads take no time

monotonic = Clock.monotonic
agent_budgets = Client.agent_budgets
passed: list[float] = []


def hurried_monotonic(self: Clock) -> float:
    return monotonic(self) + sum(passed)


async def hurried_agent_budgets(self: Client, *arguments: Any, **options: Any) -> Any:
    answer = await agent_budgets(self, *arguments, **options)
    if len(passed) < READS:
        passed.append(STEP)
    return answer


if __name__ == "__main__":
    Clock.monotonic = hurried_monotonic  # type: ignore[method-assign]
    Client.agent_budgets = hurried_agent_budgets  # type: ignore[method-assign]
    sys.exit(main())
