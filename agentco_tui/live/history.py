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

from agentco_tui.background import turn_of_thread
from agentco_tui.live.history_reader import Reader
from agentco_tui.live.history_records import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    HistoryError,
    Observed,
    QueueSample,
    Span,
    TaskLife,
    Track,
)
from agentco_tui.text import SafeText, plain

if TYPE_CHECKING:
    from agentco_tui.live.history_file import HistoryFile

__all__ = [
    "AgentSample",
    "AlertLife",
    "BudgetSample",
    "Counted",
    "History",
    "HistoryError",
    "Observed",
    "QueueSample",
    "Reader",
    "Span",
    "TaskLife",
    "Track",
]

WRITE_EVERY: Final = 10.0  # seconds between two batches
MOST_BYTES: Final = 200_000_000  # of the file
MOST_WAITING: Final = 20_000
"""Rows kept while the file can't be written; then the oldest observations go, and leave a gap."""
BATCH: Final = 4_000  # rows of one transaction, about
THIN_EVERY: Final = 3_600.0  # seconds between two looks for what may be thinned

log = logging.getLogger(__name__)

T = TypeVar("T")


class History:
    """The file of one platform, its thread, and the way to write and read it off the event loop.

    Nothing is opened, imported or begun before the first use. `on_trouble` is called in the event
    loop with a sentence for each new reason why nothing can be remembered.
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
        self.lost = 0
        """How often something of what was observed is not in the file, because it had to be dropped
        or another file was begun: who observes then tells everything anew."""
        self._about, self._most_bytes = (path, profile, origin, redact), most_bytes
        self._file: HistoryFile | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: list[Observed] = []  # in the thread only, as all below
        self._rows = 0
        self._files = 1  # that were written into
        self._told = set[str]()
        self._thin_at = 0.0
        self._thinning: Iterator[None] | None = None

    # In the event loop

    def hand(self, observe: Callable[[], Iterable[Observed]]) -> None:
        """Let the thread observe, and write what it brings with the next batch."""
        if self._is_closed or (self._file is not None and self._file.is_off):
            return
        self._loop = asyncio.get_running_loop()
        self._submit(partial(self._take, observe))
        if self._timer is None:
            self._timer = self._loop.call_later(WRITE_EVERY, self._write_soon)

    async def ask(self, read: Callable[[Reader], T]) -> T:
        """Run a read in the history's thread. Raises HistoryError."""
        self._loop = asyncio.get_running_loop()
        return await asyncio.wrap_future(self._submit(partial(self._read, read)))

    def write(self, observed: Iterable[Observed]) -> None:
        """Write at once, and wait for it: of a past made elsewhere. Raises HistoryError."""
        self._submit(partial(self._opened().write, list(observed))).result()

    def close(self, patience: float = 0.5) -> None:
        """Write what waits, within so many seconds; nothing can be read or written after that."""
        if self._is_closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        executor, last = self._executor, None
        if executor is not None:
            last = self._submit(self._end)
        self._is_closed = True
        if executor is not None and last is not None:
            with suppress(TimeoutError):
                last.result(patience)
            executor.shutdown(wait=False, cancel_futures=True)

    def _write_soon(self) -> None:
        self._timer = None
        self._submit(self._write)

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        if self._is_closed:
            raise HistoryError(plain("the history is closed"))
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="history")
        return self._executor.submit(work)

    # In the thread

    def _opened(self) -> HistoryFile:
        if self._file is None:
            # SQLite is not imported before it is used.
            from agentco_tui.live.history_file import HistoryFile  # noqa: PLC0415

            self._file = HistoryFile(*self._about)
        return self._file

    def _take(self, observe: Callable[[], Iterable[Observed]]) -> None:
        try:
            for observed in observe():
                self._waiting.append(observed)
                self._rows += len(observed)
                if self._rows >= BATCH:  # of a long list, while the rest is still to be observed
                    self._write()
                turn_of_thread()
        except Exception:
            log.exception("what was observed can't be remembered")

    def _write(self) -> None:
        if not self._waiting:
            return
        file = self._opened()
        try:
            file.write(self._waiting)
        except HistoryError as error:
            self._tell(error)
            while self._rows > MOST_WAITING or (self._waiting and file.is_off):
                self._rows -= len(self._waiting.pop(0))
                self.lost += 1
        except Exception:
            # What can't be stored is left out, with what else that answer told.
            log.exception("some of what was observed can't be remembered")
            for observed in self._waiting:
                with suppress(Exception):
                    file.write([observed])
            self._waiting, self._rows = [], 0
        else:
            self._waiting, self._rows = [], 0
            self.lost, self._files = self.lost + file.files - self._files, file.files
            if self._thinning is None and time.monotonic() >= self._thin_at:
                self._thin_at = time.monotonic() + THIN_EVERY
                from agentco_tui.live.history_thinning import thin  # noqa: PLC0415 (once an hour)

                self._thinning = thin(file, self._most_bytes)
                self._submit_next()

    def _submit_next(self) -> None:
        with suppress(HistoryError, RuntimeError):  # closed, or the interpreter ends
            self._submit(self._thin)

    def _thin(self) -> None:
        """One slice; what else waits for the thread has its turn between two."""
        try:
            assert self._thinning is not None
            next(self._thinning)
            turn_of_thread()
            self._submit_next()
        except StopIteration:
            self._thinning = None
        except HistoryError as error:
            self._thinning = None
            self._tell(error)
        except Exception:
            log.exception("what is old can't be thinned; it is tried again at the next start")

    def _read(self, read: Callable[[Reader], T]) -> T:
        try:
            return self._opened().read(read)
        except HistoryError as error:
            self._tell(error)
            raise

    def _end(self) -> None:
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
