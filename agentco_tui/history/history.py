"""The history of a platform: what was seen of it, from `history.sqlite3` in the state folder.

The platform is the remote service that is watched: its origin is the scheme, host and port of its
address, its profile the user's name for it. What a poll brings is an `Observed`; `Rows` are the
same as plain values. Rows are prepared on the event loop, in slices of some milliseconds, and
written in batches by one thread; reads get a `Reader` in that thread.

Times are seconds since 1970 by the platform's clock. Sums are whole units of the currency of their
subject (the owner of a budget), as they were read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final, TypeVar

from agentco_tui.history.history_thread import HistoryThread
from agentco_tui.history.observations import HistoryError, Observed
from agentco_tui.history.reader import Reader
from agentco_tui.history.rows import Rows, prepared
from agentco_tui.system.background import in_slices
from agentco_tui.text import SafeText, mark_safe

WRITE_EVERY: Final = 10.0  # seconds between two batches
AT_ONCE: Final = 0.001  # seconds of work for which no slices are needed
BATCH: Final = 4_000  # rows that are written at once, without waiting for that time
MOST_BYTES: Final = 200_000_000  # of the file

log = logging.getLogger(__name__)

T = TypeVar("T")


def _ignore_trouble(sentence: SafeText) -> None:
    """Nothing is shown."""


class History:
    """Reads and writes the history of one platform without blocking the event loop.

    Nothing is opened before the first use. `on_trouble` is called in the event loop with a sentence
    for each new reason why nothing can be remembered.
    """

    def __init__(
        self,
        path: Path,
        profile: str,
        origin: str,
        *,
        redact: Callable[[str], str] = str,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """`redact` takes API keys out of a text; `most_bytes` is how large the file may be."""
        self.path = path
        self.on_trouble: Callable[[SafeText], object] = _ignore_trouble
        self._redact = redact
        self._thread = HistoryThread(path, profile, origin, most_bytes, self._report)
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="history")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sources = deque[Iterator[Observed]]()
        """The iterators that were given to `observe` and are not finished."""
        self._slicing: asyncio.Future[None] | None = None
        self._is_closing = False
        self._batch: list[Rows] = []
        self._batch_size = 0  # rows in it
        self._timer: asyncio.TimerHandle | None = None

    @property
    def generation(self) -> int:
        """Another number after something that was observed did not reach the file, because it had
        to be dropped or a new file was started: then everything has to be handed over again.
        """
        return self._thread.generation

    def hand(self, observed: Observed) -> None:
        """Write what was observed with the next batch."""
        rows = prepared(observed, self._redact)
        self._batch.append(rows)
        self._batch_size += rows.count
        if self._batch_size >= BATCH:
            self.flush()
        elif self._timer is None and not self._is_closing:
            self._loop = asyncio.get_running_loop()
            self._timer = self._loop.call_later(WRITE_EVERY, self.flush)

    def observe(self, steps: Iterator[Observed]) -> None:
        """Write what an iterator brings with the next batches.

        It runs on the event loop, after those that were given before: at once if that takes only a
        moment, otherwise in slices.
        """
        self._sources.append(steps)
        if self._slicing is not None:
            return
        self._work_off_sources(perf_counter() + AT_ONCE)
        if self._sources:
            self._slicing = asyncio.ensure_future(self._work_off_in_slices())

    def flush(self) -> None:
        """Begin to write the batch now."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        batch = self._batch
        self._batch = []
        self._batch_size = 0
        if batch:
            with suppress(HistoryError):  # closed
                self._submit(partial(self._thread.take, batch))

    async def ask(self, read: Callable[[Reader], T], *, up_to_now: bool = False) -> T:
        """Run a read in the thread of the history. With `up_to_now`, everything that was handed
        over is written before. Raises HistoryError.
        """
        self._loop = asyncio.get_running_loop()
        if up_to_now:
            if self._slicing is not None:
                # Others wait for the same slices: who is cancelled must not cancel those.
                await asyncio.shield(self._slicing)
            self.flush()
        return await asyncio.wrap_future(self._submit(partial(self._thread.read, read)))

    def write(self, observed: Iterable[Observed]) -> None:
        """Write at once and wait for it, for a past made elsewhere. Raises HistoryError."""
        rows = [prepared(each, self._redact) for each in observed]
        self._submit(partial(self._thread.write, rows)).result()

    def close(self, patience: float = 0.5) -> None:
        """Write what waits, within so many seconds; nothing can be read or written after that."""
        self._is_closing = True  # ends the work in slices; this may be called in another thread
        self._work_off_sources(perf_counter() + patience / 2)
        self.flush()
        with suppress(HistoryError, TimeoutError):
            self._submit(self._thread.close).result(patience)
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _work_off_sources(self, until: float) -> None:
        """Hand over what the sources bring, until a time of `perf_counter`."""
        while self._sources and perf_counter() < until:
            self._take_step()

    async def _work_off_in_slices(self) -> None:
        try:
            await in_slices(self._source_steps())
        finally:
            self._slicing = None

    def _source_steps(self) -> Generator[None, None, None]:
        while self._sources and not self._is_closing:
            self._take_step()
            yield

    def _take_step(self) -> None:
        """Hand over what the first source brings next."""
        try:
            observed = next(self._sources[0], None)
        except Exception:
            # A bug of ours here must not end the program, which goes on without this.
            log.exception("what was observed can't be remembered")
            observed = None
        if observed is None:
            self._sources.popleft()
        elif len(observed) or observed.queue is not None or observed.open_alerts is not None:
            self.hand(observed)

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        try:
            return self._executor.submit(work)
        except RuntimeError:
            raise HistoryError(mark_safe("the history is closed")) from None

    def _report(self, sentence: SafeText) -> None:
        """Pass trouble on to the event loop; called in the thread."""
        log.warning("%s", sentence)
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the program ends
                self._loop.call_soon_threadsafe(self._show_trouble, sentence)

    def _show_trouble(self, sentence: SafeText) -> None:
        self.on_trouble(sentence)
