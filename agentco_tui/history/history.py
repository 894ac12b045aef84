"""The memory: what the platform was, from `history.sqlite3` in the state folder.

Times are seconds since 1970 by the platform's clock. Sums are whole units of the subject's
currency, as they were read. All work on the file is done by one thread; the event loop only hands
on to it what was observed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from agentco_tui.history.observations import HistoryError, Observed
from agentco_tui.history.reader import Reader
from agentco_tui.system.background import turn_of_thread
from agentco_tui.text import SafeText, plain

if TYPE_CHECKING:
    from agentco_tui.history.database import HistoryDatabase

WRITE_EVERY: Final = 10.0  # seconds between two batches
MOST_BYTES: Final = 200_000_000  # of the file
MOST_WAITING: Final = 20_000
"""Rows kept while the file can't be written; then the oldest observations go, and leave a gap."""
BATCH: Final = 4_000  # rows of one transaction, about
THIN_EVERY: Final = 3_600.0  # seconds between two looks for what may be thinned
THIN_FOR: Final = 0.1  # seconds of it at a time

log = logging.getLogger(__name__)

T = TypeVar("T")


class History:
    """The file of one platform, its thread, and the way to write and read it off the event loop.

    Nothing is opened or imported before the first use. `on_trouble` is called in the event loop
    with a sentence for each new reason why nothing can be remembered.
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
        """`redact` takes keys out of a text; `most_bytes` is how large the file may be."""
        self.path = path
        self.on_trouble: Callable[[SafeText], object] = bool
        self._about, self._most_bytes = (path, profile, origin, redact), most_bytes
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="history")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._file: HistoryDatabase | None = None  # in the thread only, as all below
        self._waiting: list[Observed] = []
        self._rows = self._dropped = 0
        self._write_at = time.monotonic() + WRITE_EVERY
        self._thinning: Iterator[None] | None = None
        self._thin_at = 0.0
        self._told = set[str]()

    # In the event loop

    @property
    def lost(self) -> int:
        """Another number after something of what was observed is not in the file, because it had to
        be dropped or another file was begun: who observes then tells everything anew.
        """
        return self._dropped + (1 if self._file is None else self._file.files)

    def hand(self, observe: Callable[[], Iterable[Observed]]) -> None:
        """Let the thread observe, and write what it brings with the next batch."""
        self._loop = asyncio.get_running_loop()
        with suppress(HistoryError):  # closed
            self._submit(partial(self._take, observe))

    async def ask(self, read: Callable[[Reader], T], *, up_to_now: bool = False) -> T:
        """Run a read in the history's thread. With `up_to_now` all that was observed is written
        before, which else is done in batches. Raises HistoryError.
        """
        self._loop = asyncio.get_running_loop()
        work = partial(self._read, read, up_to_now=up_to_now)
        return await asyncio.wrap_future(self._submit(work))

    def write(self, observed: Iterable[Observed]) -> None:
        """Write at once, and wait for it: of a past made elsewhere. Raises HistoryError."""
        self._submit(partial(self._opened().write, list(observed))).result()

    def close(self, patience: float = 0.5) -> None:
        """Write what waits, within so many seconds; nothing can be read or written after that."""
        with suppress(HistoryError, TimeoutError):
            self._submit(self._end).result(patience)
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        try:
            return self._executor.submit(work)
        except RuntimeError:
            raise HistoryError(plain("the history is closed")) from None

    # In the thread

    def _opened(self) -> HistoryDatabase:
        if self._file is None:
            # SQLite is not imported before it is used.
            from agentco_tui.history.database import HistoryDatabase  # noqa: PLC0415

            self._file = HistoryDatabase(*self._about)
        return self._file

    def _take(self, observe: Callable[[], Iterable[Observed]]) -> None:
        try:
            for observed in observe():
                self._waiting.append(observed)
                self._rows += len(observed)
                # Of a long list while the rest is still to be observed.
                if self._rows >= BATCH or time.monotonic() >= self._write_at:
                    self._write()
                    self._thin()
                turn_of_thread()
        except Exception:
            log.exception("what was observed can't be remembered")

    def _write(self) -> None:
        self._write_at = time.monotonic() + WRITE_EVERY
        file = self._opened()
        try:
            file.write(self._waiting)
        except HistoryError as error:
            self._tell(error)
            while self._rows > MOST_WAITING:
                self._rows -= len(self._waiting.pop(0))
                self._dropped += 1
            return
        except Exception:
            # What can't be stored is left out, with what else that answer told.
            log.exception("some of what was observed can't be remembered")
            for observed in self._waiting:
                with suppress(Exception):
                    file.write([observed])
        self._waiting, self._rows = [], 0

    def _thin(self) -> None:
        """For a moment; the rest follows after the next batches, for reads wait meanwhile."""
        now = time.monotonic()
        if self._thinning is None and now >= self._thin_at:
            self._thinning = self._opened().thin(self._most_bytes)
            self._thin_at = now + THIN_EVERY
        try:
            for _ in self._thinning or ():
                if time.monotonic() >= now + THIN_FOR:
                    return
                turn_of_thread()
        except HistoryError as error:
            self._tell(error)
        self._thinning = None

    def _read(self, read: Callable[[Reader], T], *, up_to_now: bool) -> T:
        if up_to_now and self._waiting:
            self._write()
        try:
            return self._opened().read(read)
        except HistoryError as error:
            self._tell(error)
            raise

    def _end(self) -> None:
        if self._waiting:
            self._write()
        if self._file is not None:
            self._file.close()

    def _tell(self, error: HistoryError) -> None:
        """Once for each sentence."""
        sentence, loop = plain(str(error)), self._loop
        if sentence not in self._told:
            self._told.add(sentence)
            log.warning("%s", sentence)
            if loop is not None:
                with suppress(RuntimeError):  # the loop is closed: the program ends
                    loop.call_soon_threadsafe(self.on_trouble, sentence)
