"""What other runs left without an outcome is settled by reading, and told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from agentco_tui.actions.approve import Approver
from agentco_tui.actions.companies import CompanyWriter
from agentco_tui.actions.create_task import TaskCreator
from agentco_tui.actions.journal import Attempt
from agentco_tui.actions.limit import LimitSetter
from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.verbs import Verb

Told = Callable[[Attempt, Outcome], None]


class TakeUp:
    """Settles what this origin and profile left open; nothing is ever sent here."""

    def __init__(
        self,
        approver: Approver,
        tasks: TaskCreator,
        companies: CompanyWriter,
        limits: LimitSetter,
    ) -> None:
        self._by_verb: dict[str, Callable[[Attempt], Awaitable[Outcome]]] = {
            Verb.APPROVE: approver.take_up,
            Verb.CREATE_TASK: tasks.take_up,
            Verb.CREATE_COMPANY: companies.take_up,
            Verb.CLONE_COMPANY: companies.take_up,
            Verb.SET_LIMIT: limits.take_up,
        }

    async def run(self, left: Iterable[Attempt], told: Told) -> None:
        """Settle these attempts, which were claimed, calling `told` for each once it is known.

        As long as the platform is away, it doesn't return.
        """
        known = [attempt for attempt in left if attempt.verb in self._by_verb]

        async def settle(attempt: Attempt) -> None:
            told(attempt, await self._by_verb[attempt.verb](attempt))

        async with asyncio.TaskGroup() as group:
            for attempt in known:
                group.create_task(settle(attempt))
