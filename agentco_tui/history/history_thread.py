"""The part of the history that runs in its thread: batches are written, kept after a failure, and
old buckets deleted between batches.

The history is a database of what was polled from a platform, the remote service that is watched.
`Rows` are what one poll brought; a bucket has the figures of one minute, ten minutes or an hour.
Only one process writes the buckets of a platform; others leave their rows in the database for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from agentco_tui.history.observations import HistoryError
from agentco_tui.history.reader import Reader
from agentco_tui.history.rows import Rows
from agentco_tui.system.background import turn_of_thread
from agentco_tui.text import SafeText, mark_safe

if TYPE_CHECKING:
    from agentco_tui.history.database import HistoryDatabase

MOST_WAITING: Final = 20_000
"""Rows kept while the file can't be written; then the oldest are dropped, and leave a gap."""
EXPIRE_EVERY: Final = 3_600.0  # seconds between two searches for old buckets
EXPIRE_FOR: Final = 0.1  # seconds of that between two batches

log = logging.getLogger(__name__)

T = TypeVar("T")


class HistoryThread:
    """Used by one thread only, except `generation`."""

    def __init__(
        self,
        path: Path,
        profile: str,
        origin: str,
        most_bytes: int,
        report: Callable[[SafeText], None],
    ) -> None:
        """`report` is called once with each sentence that says why nothing can be remembered.

        `profile` is the user's name for the platform, `origin` the scheme, host and port of its
        address, `most_bytes` how large the file may be.
        """
        self._path = path
        self._profile = profile
        self._origin = origin
        self._most_bytes = most_bytes
        self._report = report
        self._database: HistoryDatabase | None = None
        self._unwritten: list[Rows] = []
        self._dropped = 0  # batches
        self._expiring: Iterator[None] | None = None
        self._expire_at = 0.0  # by the steady clock
        self._reported: set[str] = set()

    @property
    def generation(self) -> int:
        """The number of files that were used and of batches that were dropped."""
        return self._dropped + (1 if self._database is None else self._database.files_opened)

    def take(self, batch: Sequence[Rows]) -> None:
        """Write a batch, together with what could not be written before."""
        self._unwritten += batch
        try:
            if self._write_unwritten():
                self._expire_for_a_moment()
        except Exception:
            # A bug of ours here must not end the program, which goes on without a history.
            log.exception("what was observed can't be remembered")

    def read(self, read: Callable[[Reader], T]) -> T:
        """Raises HistoryError."""
        try:
            return self._opened().read(read)
        except HistoryError as error:
            self._report_once(error)
            raise

    def write(self, batch: Sequence[Rows]) -> None:
        """Write now or raise HistoryError."""
        self._opened().write(batch)

    def close(self) -> None:
        """Write what waits, and close the file."""
        if self._unwritten:
            self._write_unwritten()
        if self._database is not None:
            self._database.close()

    def _opened(self) -> HistoryDatabase:
        if self._database is None:
            # SQLite is imported at the first use.
            from agentco_tui.history.database import HistoryDatabase  # noqa: PLC0415

            self._database = HistoryDatabase(self._path, self._profile, self._origin)
        return self._database

    def _write_unwritten(self) -> bool:
        """Returns whether this process writes the buckets of the platform, and could."""
        database = self._opened()
        is_writer = False
        try:
            is_writer = database.write(self._unwritten)
        except HistoryError as error:
            self._report_once(error)
            self._drop_oldest()
            return False
        except Exception:
            # What can't be stored is left out, with the rest of its rows.
            log.exception("some of what was observed can't be remembered")
            for rows in self._unwritten:
                with suppress(Exception):
                    is_writer = database.write([rows])
        self._unwritten = []
        return is_writer

    def _drop_oldest(self) -> None:
        waiting = sum(rows.count for rows in self._unwritten)
        while waiting > MOST_WAITING:
            waiting -= self._unwritten.pop(0).count
            self._dropped += 1

    def _expire_for_a_moment(self) -> None:
        """Delete some of what is old; the rest follows after the next batches, because reads wait
        meanwhile.
        """
        now = time.monotonic()
        if self._expiring is None and now >= self._expire_at:
            self._expiring = self._opened().expire(self._most_bytes)
            self._expire_at = now + EXPIRE_EVERY
        try:
            for _ in self._expiring or ():
                if time.monotonic() >= now + EXPIRE_FOR:
                    return
                turn_of_thread()  # wait while the user presses keys
        except HistoryError as error:
            self._report_once(error)
        self._expiring = None

    def _report_once(self, error: HistoryError) -> None:
        sentence = mark_safe(str(error))
        if sentence not in self._reported:
            self._reported.add(sentence)
            self._report(sentence)
