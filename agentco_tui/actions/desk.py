"""What every write needs, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.pen import Context, Pen
from agentco_tui.actions.rights import Rights
from agentco_tui.actions.task_reader import TaskReader
from agentco_tui.actions.waits import Waits
from agentco_tui.api.client import Client
from agentco_tui.live.clock import Clock
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The hands and eyes of all actions; one for each profile that is open."""

    client: Client
    store: Store
    clock: Clock
    reader: TaskReader
    pen: Pen
    rights: Rights
    waits: Waits

    @classmethod
    def at(
        cls,
        client: Client,
        store: Store,
        clock: Clock,
        journal: Journal,
        context: Context,
        *,
        poller: Poller | None = None,
        company: str | None = None,
        rights: Rights | None = None,
        waits: Waits | None = None,
    ) -> Self:
        """Put one together. Reads go through the poller where one is given (it must be running).

        `company` is the scope where there is no poller.
        """
        waits = waits or Waits()
        client = client.for_decisions
        return cls(
            client=client,
            store=store,
            clock=clock,
            reader=TaskReader(client, store, clock, poller=poller, company=company, waits=waits),
            pen=Pen(journal, context, store),
            rights=rights or Rights(),
            waits=waits,
        )

    async def close(self) -> None:
        """End reads under way; the journal is closed by whoever opened it."""
        await self.reader.close()
        self.pen.close()
