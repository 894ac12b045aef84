"""Finds out who decided the tasks that left the queue, by reading their records.

The queue is the list of tasks on the platform, the remote service, that wait for approval. A poll
of the queue shows that a task is gone (departed), not why. The activity log may say it; otherwise
the list of all tasks is read, once for all departures, after all other reads and with long pauses.
The history, a database, keeps a `TaskLife` of each task: when it came, was decided and ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from agentco_tui.api.errors import ApiError
from agentco_tui.history.history import History
from agentco_tui.history.observations import HistoryError, Observed, TaskLife
from agentco_tui.history.reader import Reader
from agentco_tui.live.feeds import Clock, Query
from agentco_tui.model import Task

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

GATHER: Final = 5.0
"""Seconds after a change of the queue: the log often tells meanwhile, and more tasks may leave."""
SPACING: Final = 30.0  # seconds between two reads of the list, at least
SHARE_OF_TIME: Final = 50  # at most one part in this many of the time is spent on such reads
LONGEST_PAUSE: Final = 1_800.0  # seconds between two reads of a list that takes long
LOOKED_BACK: Final = 7 * 86_400.0
"""Seconds after which it is no longer asked what became of a task."""

log = logging.getLogger(__name__)

LifeOf = Callable[[Task, float], TaskLife]
"""Returns what the record of a task says that was read at a time."""


class DepartureReader:
    """Reads the records of departed tasks, and hands them to the history."""

    def __init__(
        self,
        client: Platform,
        history: History,
        clock: Clock,
        *,
        query: Callable[[], Query],
        wait_until_idle: Callable[[], Awaitable[bool]],
        life_of: LifeOf,
    ) -> None:
        """`query` returns what the feeds are asked about now; `wait_until_idle` returns when no
        other request is in flight; `life_of` is `Sampler.life_of_record`.
        """
        self._client = client
        self._history = history
        self._clock = clock
        self._query = query
        self._wait_until_idle = wait_until_idle
        self._life_of = life_of
        self._wanted = asyncio.Event()
        self._failures = 0

    def note_change(self) -> None:
        """Look soon for tasks that have left the queue."""
        self._wanted.set()

    async def run(self) -> None:
        """Read whenever tasks have departed, until cancelled."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(GATHER)
            await self._wait_until_idle()
            self._wanted.clear()
            try:
                pause = await self._look_up()
            except ApiError as error:
                log.info("the records of departed tasks could not be read: %r", error)
                self._failures += 1
                doubled = SPACING * 2.0 ** min(self._failures, 6)
                pause = min(LONGEST_PAUSE, max(doubled, error.retry_after or 0.0))
                self._wanted.set()
            except HistoryError as error:
                log.info("departed tasks can't be looked up: %s", error)
                pause = SPACING
            except Exception:
                # A bug of ours here must not end the program, which goes on without this.
                log.exception("looking up departed tasks failed")
                pause = LONGEST_PAUSE
            await asyncio.sleep(pause)

    async def _look_up(self) -> float:
        """Read the records if tasks have departed; returns the seconds before the next read.
        Raises ApiError and HistoryError.
        """
        company = self._query().company
        now = self._clock.now()
        find = partial(_departed, now - LOOKED_BACK, company)
        departed = await self._history.ask(find, up_to_now=True)
        if not departed:
            return 0.0
        began = self._clock.monotonic()
        listing = await self._client.tasks(company_id=company)
        took = self._clock.monotonic() - began
        self._failures = 0
        by_id = {task.id: task for task in listing.records if not task.shared_id}
        found = [by_id[task] for task in departed if task in by_id]
        self._history.observe(self._observe(found, departed, self._clock.now()))
        return min(LONGEST_PAUSE, max(SPACING, SHARE_OF_TIME * took))

    def _observe(self, found: list[Task], departed: list[str], at: float) -> Iterator[Observed]:
        lives = [self._life_of(task, at) for task in found]
        yield Observed(lives=lives, looked_up=departed)


def _departed(since: float, company: str | None, reader: Reader) -> list[str]:
    return reader.departed_by_unknown(since, company)
