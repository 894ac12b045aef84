"""The write-ahead journal: what was sent from this machine, and the outcomes.

What is sent are requests that change the platform, the remote service; an origin is its address as
configured, a verb what the request does ("approve"). One file for all dashboards of a user on a
machine, of JSON lines in plain ASCII: an `Attempt` is written before its request is sent, its
outcome (`Settled`) when that is known. The journal also keeps two dashboards from sending the same
thing: under its lock, an attempt is written only if no other at the same subject (the task, AI
agent or company acted on) is open, and no line about that subject came after the read that the
decision is based on. What this process has in flight is also kept in memory. If another program
changed the file, nothing is sent: before each attempt all of the file is compared with what was
read.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from agentco_tui.actions.host_addresses import addresses_of
from agentco_tui.actions.journal_errors import (
    JournalBusyError,
    JournalError,
    JournalLostError,
    os_errors,
)
from agentco_tui.actions.journal_file import LOCK_PATIENCE, JournalFile
from agentco_tui.actions.journal_lines import (
    REPEATED,
    Attempt,
    Entry,
    Settled,
    from_line,
    to_line,
)
from agentco_tui.actions.writer_lock import WriterLock, is_alive
from agentco_tui.api.origin import platform_of
from agentco_tui.model.format import stamp
from agentco_tui.text import SafeText, clean_line

REMEMBERED: Final = 4_096  # subjects whose last attempt is kept in memory
CLOSING_PATIENCE: Final = 0.2
"""Seconds that the end of the program waits for another process that is writing a line."""


class InFlight(Exception):  # noqa: N818 (no error: another process was first)
    """The same write is in flight now; or it was, and its outcome can't be found out from here.

    The message is a sentence for the user.
    """


class Unsettled(Exception):  # noqa: N818
    """An earlier attempt at the same was left behind, and its outcome is unknown."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.attempt)
        self.attempt = attempt


class Overtaken(Exception):  # noqa: N818
    """Another process acted on the subject after the read: it must be read again."""


class OpenAttempts(NamedTuple):
    """The attempts at a platform that have no outcome yet."""

    elsewhere: list[Attempt]
    """Those of other live processes on this machine, which will find out their outcomes."""
    left: list[Attempt]  # those left behind by processes that have ended
    trouble: SafeText | None
    """Why the journal can't be written, so that nothing is sent; None while it can."""


class Earlier(NamedTuple):
    """The last attempt at a subject, and what became of it if that is known."""

    attempt: Attempt
    settled: Settled | None


class Journal:
    """The journal at a path, one per process. Its methods may wait for the file: call them in a
    thread, except `earlier`.
    """

    def __init__(self, path: Path, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self.lost: JournalLostError | None = None  # once set, nothing is sent any more
        self._redact = redact
        self._file = JournalFile(path)
        self._writers = path.parent / "writers"
        self._alive = WriterLock(self._writers)
        self._mutex = threading.RLock()
        self._open: dict[str, Attempt] = {}
        """Attempts that have no outcome in the file, of all processes."""
        self._last: OrderedDict[tuple[str, str, str], Earlier] = OrderedDict()
        """By platform, verb and subject; the newest last."""
        self._here: dict[str, Attempt] = {}
        """Attempts begun or claimed by this process whose outcome is not written."""
        self._owed: dict[str, Settled] = {}  # outcomes that could not be written yet
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._closed = False

    def mark(self, origin: str = "") -> int:
        """Return where the journal ends now, for `begin`; called before a read.

        The host of `origin` is resolved once, for the attempts there. Raises JournalError.
        """
        if origin and origin not in self._addresses:
            self._addresses[origin] = addresses_of(origin)
        with self._mutex:
            if self._refuse_if_lost():
                with self._locked():
                    self._refuse_if_lost()
            return self._file.read_to

    def begin(self, attempt: Attempt, since: int) -> Attempt:
        """Write an attempt. Nothing may be sent unless this returns.

        `since` is the mark taken before the read that the decision is based on. Raises InFlight,
        Unsettled, Overtaken and JournalError.
        """
        with self._mutex:
            if self._closed:
                raise JournalError("the journal is closed here", "this dashboard is ending")
            addresses = attempt.addresses or self._addresses.get(attempt.origin, ())
            now = attempt.time or stamp(time.time())
            attempt = replace(attempt, time=now, addresses=addresses)
            self._left_behind(attempt, self._here.values())
            self._refuse_if_lost()
            with self._locked():
                self._refuse_if_lost()
                self._refuse_if_changed()
                left = self._left_behind(attempt, self._open.values())
                if left is not None:
                    raise Unsettled(self._write_as_ours(left))
                # Another process wrote about the same subject after the read.
                if any(line.subject == attempt.subject for line in self._file.entries_since(since)):
                    raise Overtaken
                self._write_owed()
                return self._write_as_ours(attempt)

    def finish(self, settled: Settled) -> None:
        """Write the outcome of an attempt, or correct it.

        If that raises JournalError, it is tried again later.
        """
        with self._mutex:
            attempt_id = settled.attempt
            attempt = self._here.get(attempt_id) or self._open.get(attempt_id)
            if attempt is None:
                last = self._last_of(attempt_id)
                if last is not None:
                    attempt = last.attempt
            repeated: dict[str, Any] = {}
            if attempt is not None:
                repeated = {name: getattr(attempt, name) for name in REPEATED}
            now = settled.time or stamp(time.time())
            self._owed[attempt_id] = replace(settled, time=now, pid=os.getpid(), **repeated)
            with self._locked():
                self._write_owed()

    def claim(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """Take over attempts that were left behind; return those that no other process has taken
        over by now. Raises JournalError.
        """
        with self._mutex, self._locked():
            if self._closed:
                return []
            open_now = [self._open[one.attempt] for one in attempts if one.attempt in self._open]
            return [self._write_as_ours(attempt) for attempt in open_now if self._is_left(attempt)]

    def follow(self, origin: str) -> OpenAttempts:
        """Read what other processes wrote, and return the open attempts at a platform.

        Made to be called each second: it reads only what was added, and waits for no other process.
        Once the journal is closed, nothing is open.
        """
        trouble: SafeText | None = None
        with self._mutex:
            if self._closed:
                return OpenAttempts([], [], None)
            try:
                # A lost file is replaced only if there is something to write into it.
                if self._has_grown() or self._owed or self._here:
                    with contextlib.suppress(JournalBusyError), self._locked(0.0):
                        self._write_owed()
                self._refuse_if_lost()
            except JournalError as error:
                trouble = (self.lost or error).sentence
            platform = platform_of(origin)
            open_attempts = OpenAttempts([], [], trouble)
            for attempt in self._open.values():
                is_ours = attempt.attempt in self._owed or attempt.attempt in self._here
                if is_ours or platform_of(attempt.origin) != platform:
                    continue
                if self._is_left(attempt):
                    open_attempts.left.append(attempt)
                else:
                    open_attempts.elsewhere.append(attempt)
            return open_attempts

    def earlier(self, origin: str, verb: str, subject: str) -> Earlier | None:
        """Return the last attempt at a subject, as of the last read of the file by this process."""
        return self._last.get((platform_of(origin), verb, subject))

    def latest(self, origin: str) -> list[Earlier]:
        """Return the last attempt at each subject and verb, the newest last; as `earlier` does."""
        platform = platform_of(origin)
        with self._mutex:
            return [last for key, last in self._last.items() if key[0] == platform]

    def unfinished(self) -> tuple[list[Attempt], list[Settled]]:
        """Return the attempts of unknown outcome, and the outcomes that could not be written.

        Both are those of this process.
        """
        owed = list(self._owed.values())
        settled_ids = {settled.attempt for settled in owed}
        unknown = [one for one in list(self._here.values()) if one.attempt not in settled_ids]
        return unknown, owed

    def close(self) -> None:
        """Stop being a live writer: what is still open is left for the next start."""
        with self._mutex:
            if self._owed and not self._closed:
                with contextlib.suppress(JournalError), self._locked(CLOSING_PATIENCE):
                    self._write_owed()
            self._closed = True
            self._alive.release()
            self._file.close()

    # --- reading and writing lines

    @contextlib.contextmanager
    def _locked(self, patience: float = LOCK_PATIENCE) -> Iterator[None]:
        """Keep other processes out, and read what they added.

        What is in flight here is written again if the file was removed, or the lock file by which
        other processes know that this one lives.
        """
        with self._file.locked(patience):
            self._has_grown()
            self._read_added()
            # At the end of the program it is left for others.
            if not self._closed:
                for attempt in list(self._here.values()):
                    self._write_as_ours(attempt)
            yield

    def _has_grown(self) -> bool:
        """Whether there are lines to read. A lost file is remembered (`lost`), and one at the same
        path is used from then on. Raises JournalError.
        """
        try:
            return self._file.has_grown()
        except JournalLostError as lost:
            self.lost = self.lost or lost
        self._file.close()
        self._file = JournalFile(self.path, follow_links=False)
        self._open.clear()
        with contextlib.suppress(JournalError):
            return self._file.has_grown()
        return False

    def _write_as_ours(self, attempt: Attempt) -> Attempt:
        """Write an attempt with this process as its writer, unless the file has it so; called with
        the lock held.
        """
        with os_errors("the state folder"):
            signed = replace(attempt, pid=os.getpid(), writer=self._alive.hold())
        if self._open.get(attempt.attempt) != from_line(to_line(signed, self._redact)):
            self._append_entry(signed)
        self._here[attempt.attempt] = signed
        return signed

    def _append_entry(self, entry: Entry) -> None:
        self._file.append(to_line(entry, self._redact))
        self._read_added()

    def _write_owed(self) -> None:
        """Write the outcomes that are not in the file; one that differs from it as a correction."""
        for attempt_id, settled in list(self._owed.items()):
            written: Settled | None = None
            if attempt_id not in self._open:
                last = self._last_of(attempt_id)
                if last is not None:
                    written = last.settled
            if written is None:
                self._append_entry(settled)
            elif (written.outcome, written.known_by) != (settled.outcome, settled.known_by):
                self._append_entry(replace(settled, corrects=written.outcome))
            del self._owed[attempt_id]

    def _last_of(self, attempt_id: str) -> Earlier | None:
        for earlier in self._last.values():
            if earlier.attempt.attempt == attempt_id:
                return earlier
        return None

    def _read_added(self) -> None:
        for entry in self._file.read_added():
            key = (platform_of(entry.origin), entry.verb, entry.subject)
            if isinstance(entry, Attempt):
                self._open[entry.attempt] = entry
                self._last[key] = Earlier(entry, None)
            else:
                self._here.pop(entry.attempt, None)
                attempt = self._open.pop(entry.attempt, None)
                last = self._last.get(key)
                if last is not None and last.attempt.attempt == entry.attempt:
                    attempt = last.attempt
                if attempt is None:
                    continue
                self._last[key] = Earlier(attempt, entry)
            self._last.move_to_end(key)
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)

    # --- who may send

    def _refuse_if_lost(self) -> bool:
        """Whether there are lines to read. Raises JournalError if the file was lost or changed."""
        has_grown = self.lost is None and self._has_grown()
        self.lost = self.lost or self._file.damage
        if self.lost is not None:
            raise self.lost
        return has_grown

    def _refuse_if_changed(self) -> None:
        """Compare all of the file with what was read from it; called with the lock held. Raises
        JournalError.
        """
        try:
            self._file.check_whole()
        except JournalLostError as lost:
            self.lost = self.lost or lost
            raise

    def _left_behind(self, attempt: Attempt, others: Iterable[Attempt]) -> Attempt | None:
        """Return the other attempt at the same subject that was left behind; None if there is none.

        Raises InFlight if a live process works on one. If two names of hosts lead to one address,
        they may be one platform, or several behind it: then nothing is sent, and nothing is read
        from one on behalf of the other.
        """
        left: Attempt | None = None
        for other in others:
            if (other.verb, other.subject) != (attempt.verb, attempt.subject):
                continue
            is_same_platform = platform_of(other.origin) == platform_of(attempt.origin)
            may_be_same = is_same_platform or set(other.addresses) & set(attempt.addresses)
            if other.attempt in self._owed or not may_be_same:
                continue
            if not self._is_left(other):
                raise InFlight(self._in_flight_sentence(other))
            if not is_same_platform:
                raise InFlight(
                    f"the same was tried at {clean_line(other.origin, 200)}, which may be the same "
                    "platform, and it is not known what became of it: start there once "
                    f"(profile {clean_line(other.profile, 60)}), which finds out"
                )
            left = left or other
        return left

    def _in_flight_sentence(self, other: Attempt) -> str:
        who = "another dashboard on this machine"
        if other.attempt in self._here:
            who = "this dashboard"
        what = f"doing this ({clean_line(other.verb)})"
        if other.verb == "approve":
            what = "approving this task"
        return f"{who} is {what} right now"

    def _is_left(self, attempt: Attempt) -> bool:
        """Whether an attempt was left behind: no live process will find out its outcome."""
        if attempt.attempt in self._here:
            return False
        if attempt.writer and attempt.writer == self._alive.token:
            return True  # an older copy of the file shows it
        with contextlib.suppress(OSError):
            return not is_alive(self._writers, attempt.writer)
        return False  # if unknown, nothing is sent because of it
