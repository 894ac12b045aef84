"""The write-ahead journal: what was done from this machine, and what became of it.

One file for all dashboards of a person on a machine. It is also what keeps two of them from
sending the same thing: under its lock, an attempt is written only if no other at the same thing is
open, and no line about it came between the read that the decision rests on and now. What this
process has in flight it knows without the file, too.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import msgspec

from agentco_tui.actions.journal_entries import (
    Attempt,
    Entry,
    Settled,
    about,
    from_line,
    platform_of,
    same_platform,
    to_line,
)
from agentco_tui.actions.journal_file import (
    JournalBusyError,
    JournalError,
    JournalFile,
    JournalLostError,
    WriterLock,
    is_alive,
    remove_dead,
)
from agentco_tui.text import SafeText, plain, safe

__all__ = [
    "Attempt",
    "Earlier",
    "Following",
    "InFlight",
    "Journal",
    "JournalError",
    "Mark",
    "Open",
    "Overtaken",
    "Settled",
    "Unsettled",
    "Worker",
]

REMEMBERED = 4_096
"""Subjects whose last attempt is kept in memory."""
CLOSING_PATIENCE = 0.2
"""Seconds that the end of the program waits for another process that is writing a line."""

Mark: TypeAlias = int
"""A place in the journal, to be taken before the read that a decision rests on."""

Key = tuple[str, str, str]
"""Platform, verb and subject."""


class InFlight(Exception):  # noqa: N818 (no error: somebody else was first)
    """The same thing is being done right now, by another process or by this one; or nobody is,
    and it can't be found out from here what became of it.
    """

    def __init__(self, attempt: Attempt, sentence: str) -> None:
        self.sentence: SafeText = plain(sentence)
        super().__init__(self.sentence)
        self.attempt = attempt


class Unsettled(Exception):  # noqa: N818
    """An earlier attempt at the same thing was left behind, and nobody knows what became of it."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.attempt)
        self.attempt = attempt


class Overtaken(Exception):  # noqa: N818
    """Something was done to the subject after the read: read again."""


class Worker(StrEnum):
    """Who finds out what becomes of an open attempt."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    """Another process on this machine that is alive."""
    NOBODY = "nobody"


class Open(msgspec.Struct, frozen=True):
    """An attempt without an outcome: in flight, or unknown."""

    attempt: Attempt
    worker: Worker


class Following(msgspec.Struct, frozen=True):
    """What the journal holds at a moment."""

    open: tuple[Open, ...]
    """Attempts at the platform that was asked about, of all profiles, the oldest first."""
    trouble: SafeText | None = None
    """Why nothing can be sent, and what to do."""


class Earlier(msgspec.Struct, frozen=True):
    """The last attempt at a subject, and what became of it as far as is known."""

    attempt: Attempt
    settled: Settled | None


class Journal:
    """The journal at a path. Its methods may be called in any thread; all but `earlier`,
    `unsettled_here`, `adopt` and `let_go` wait for the disk, and for other processes' locks.

    Nothing is made before the first attempt is written. Once the file was deleted, cut short or
    replaced while it was open, nothing can be begun any more (`lost`); what this process has in
    flight, and what becomes of it, is written into the file that is there then. `redact` takes the
    key out of a text, in case the platform sends it back in one. `close` at the end.
    """

    def __init__(self, path: Path, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self.lost: JournalLostError | None = None
        """What happened to the file."""
        self._redact = redact
        self._file = JournalFile(path)
        self._writers = path.parent / "writers"
        self._alive = WriterLock(self._writers)
        self._mutex = threading.RLock()
        self._open: dict[str, Attempt] = {}
        self._last: OrderedDict[Key, Earlier] = OrderedDict()
        self._here: dict[str, Attempt] = {}
        """Attempts begun or taken up by this process whose outcome is not written."""
        self._driven: set[str] = set()
        """Those of them that it is working on."""
        self._again: dict[str, Attempt] = {}
        """Those of them that must be written again, because the file or their sign of life is gone.
        """
        self._owed: dict[str, Settled] = {}
        """Outcomes that could not be written yet."""
        self._closed = False

    def mark(self) -> Mark:
        """Where the journal ends now. Raises JournalError."""
        with self._mutex:
            self._catch_up()
            return self._file.read_to

    def begin(self, attempt: Attempt, since: Mark) -> Attempt:
        """Write an attempt before it is sent; returns it as written.

        `since` is the mark taken before the read that the decision rests on. Raises InFlight,
        Unsettled and Overtaken, each if the attempt must not be sent, and JournalError. Only if
        this returns may anything be sent.
        """
        with self._mutex:
            if self._closed:
                raise JournalError("the journal is closed here", "this dashboard is ending")
            self._refuse_if_open(attempt, list(self._here.values()))
            self._refuse_if_lost()
            self._grown()
            self._refuse_if_lost()
            with self._file.locked():
                self._take_in()
                self._refuse_if_lost()
                try:
                    self._refuse_if_open(attempt, self._open.values())
                except Unsettled as left:
                    self._take_over(left.attempt)
                    raise
                self._refuse_if_overtaken(attempt, since)
                self._pay()
                signed = msgspec.structs.replace(
                    attempt, pid=os.getpid(), writer=self._sign_of_life()
                )
                self._append(signed)
                self._here[signed.attempt] = signed
                self._driven.add(signed.attempt)
        return signed

    def finish(self, settled: Settled) -> None:
        """Write what became of an attempt; if that was written before, as its correction.

        Raises JournalError, and then tries again later. An attempt whose outcome never gets
        written is taken up by reading at the next start.
        """
        with self._mutex:
            self._driven.discard(settled.attempt)
            self._owed[settled.attempt] = msgspec.structs.replace(settled, pid=os.getpid())
            self._grown()
            with self._file.locked():
                self._take_in()
                self._pay()

    def let_go(self, attempt_id: str) -> None:
        """Say that work on an attempt stops here without its outcome being known."""
        self._driven.discard(attempt_id)  # one step, so it need not wait for the disk

    def adopt(self, attempt: Attempt) -> None:
        """Say that this process finds out what became of an attempt that was left behind."""
        self._here[attempt.attempt] = attempt
        self._driven.add(attempt.attempt)

    def claim(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """Take up attempts that were left behind; those that nobody else has taken up meanwhile.

        Where two processes want the same, one gets it. Raises JournalError.
        """
        with self._mutex, self._file.locked():
            self._take_in()
            found = [
                attempt
                for one in attempts
                if (attempt := self._open.get(one.attempt)) is not None
                and self._worker(attempt) is Worker.NOBODY
            ]
            for attempt in found:
                self._take_over(attempt)
            return found

    def left_behind(self, origin: str) -> list[Attempt]:
        """Attempts at a platform, under all its names and of all profiles, that have no outcome,
        and nobody alive who works on them. Raises JournalError.
        """
        with self._mutex:
            self._catch_up()
            return [
                found.attempt for found in self._open_at(origin) if found.worker is Worker.NOBODY
            ]

    def follow(self, origin: str) -> Following:
        """Take in what other processes wrote, and say what is open at a platform.

        Made to be called each second: it looks if the file has grown and reads what was added, and
        leaves that for the next time where another process is writing just now.
        """
        trouble: SafeText | None = None
        with self._mutex:
            try:
                # A lost file is begun anew only if there is something to write into it.
                if self._grown() or self._owed or self._signs_again() or self._again:
                    with contextlib.suppress(JournalBusyError), self._file.locked(patience=0):
                        self._take_in()
                        self._pay()
                self._refuse_if_lost()
            except JournalError as error:
                trouble = (self.lost or error).sentence
            return Following(tuple(self._open_at(origin)), trouble)

    def earlier(self, origin: str, verb: str, subject: str) -> Earlier | None:
        """The last attempt at a subject, among the last few thousand subjects.

        From memory, so it never blocks: as of the last time that the file was read here.
        """
        return self._last.get((platform_of(origin), verb, subject))

    def unsettled_here(self) -> list[Attempt]:
        """What this process began or took up and doesn't know the outcome of; never blocks."""
        return [one for one in list(self._here.values()) if one.attempt not in self._owed]

    def unwritten_here(self) -> list[Settled]:
        """Outcomes that this process knows and could not write; never blocks."""
        return list(self._owed.values())

    def tidy(self) -> None:
        """Remove what killed processes left; at a start. Raises JournalError."""
        try:
            remove_dead(self._writers)
        except OSError as error:
            raise JournalError(
                f"the state folder can't be read ({safe(error.strerror or '')})"
            ) from error

    def close(self) -> None:
        """Stop being a live writer: what is still open is for the next start."""
        with self._mutex:
            if self._owed and not self._closed:
                with contextlib.suppress(JournalError), self._file.locked(CLOSING_PATIENCE):
                    self._take_in()
                    self._pay()
            self._closed = True
            self._alive.release()
            self._file.close()

    # --- the lines --------------------------------------------------------------------------

    def _grown(self) -> bool:
        """Whether there are lines to take in. A loss of the file is noted. Raises JournalError."""
        try:
            return self._file.grown()
        except JournalLostError as lost:
            self.lost = self.lost or lost
        self._file.close()
        self._file = JournalFile(self.path, follow_links=False)
        self._open.clear()
        self._again.update(self._here)
        with contextlib.suppress(JournalError):
            return self._file.grown()
        return False

    def _catch_up(self) -> None:
        """Take in what was added. Raises JournalError, always once the file was lost."""
        self._refuse_if_lost()
        if self._grown():
            with self._file.locked():
                self._take_in()
        self._refuse_if_lost()

    def _signs_again(self) -> bool:
        """Whether the sign of life was gone, and attempts have to be written with another."""
        before = self._alive.token
        if not (before and self._here) or self._sign_of_life() == before:
            return False
        for attempt in list(self._here.values()):
            if attempt.writer == before:
                signed = msgspec.structs.replace(attempt, writer=self._alive.token)
                self._here[attempt.attempt] = self._again[attempt.attempt] = signed
        return True

    def _take_in(self) -> None:
        """Read what was added, and write again what the file has lost; the lock is held."""
        self._grown()
        self._take_added()
        for attempt_id, attempt in list(self._again.items()):
            if attempt_id in self._here and self._open.get(attempt_id) != attempt:
                self._append(attempt)
            del self._again[attempt_id]

    def _take_over(self, attempt: Attempt) -> None:
        """Write an attempt again, as one that this process works on; the lock is held."""
        signed = msgspec.structs.replace(attempt, pid=os.getpid(), writer=self._sign_of_life())
        if signed != attempt:
            self._append(signed)
        self.adopt(signed)

    def _append(self, entry: Entry) -> None:
        """Write a line and know it; the lock is held."""
        self._file.append(to_line(entry, self._redact))
        self._take_added()

    def _pay(self) -> None:
        """Write the outcomes that are owed; the lock is held."""
        for attempt_id, settled in list(self._owed.items()):
            attempt = self._here.get(attempt_id) or self._open.get(attempt_id)
            first: Settled | None = None
            if attempt_id not in self._open:
                known = (one for one in self._last.values() if one.attempt.attempt == attempt_id)
                if (last := next(known, None)) is not None:
                    attempt, first = attempt or last.attempt, last.settled
            line = settled if attempt is None else about(settled, attempt)
            if first is not None:
                line = msgspec.structs.replace(line, corrects=first.outcome)
            if first is None or (first.outcome, first.known_by) != (line.outcome, line.known_by):
                self._append(line)
            del self._owed[attempt_id]
            self._here.pop(attempt_id, None)

    def _take_added(self) -> None:
        for line in self._file.added():
            entry = from_line(line) if line else None
            if isinstance(entry, Attempt):
                self._open[entry.attempt] = entry
                self._remember(Earlier(entry, None))
            elif isinstance(entry, Settled):
                self._settle(entry)

    def _settle(self, settled: Settled) -> None:
        attempt = self._open.pop(settled.attempt, None)
        if settled.attempt not in self._driven:
            self._here.pop(settled.attempt, None)
        if attempt is not None:
            self._remember(Earlier(attempt, settled))
            return
        key = (platform_of(settled.origin), settled.verb, settled.subject)
        last = self._last.get(key)
        if last is not None and last.attempt.attempt == settled.attempt:
            self._remember(Earlier(last.attempt, settled))

    def _remember(self, earlier: Earlier) -> None:
        attempt = earlier.attempt
        key = (platform_of(attempt.origin), attempt.verb, attempt.subject)
        self._last[key] = earlier
        self._last.move_to_end(key)
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    # --- who may send -----------------------------------------------------------------------

    def _refuse_if_lost(self) -> None:
        if self.lost is not None:
            raise self.lost

    def _refuse_if_open(self, attempt: Attempt, others: Iterable[Attempt]) -> None:
        """Raises InFlight or Unsettled if one of the others is at the same thing.

        Where two names of hosts lead to one address, they may be one platform or several behind
        it: then nothing is sent, and nothing is read from one on behalf of the other.
        """
        left_behind: list[Attempt] = []
        for other in others:
            if (other.verb, other.subject) != (attempt.verb, attempt.subject):
                continue
            same = same_platform(other, attempt.origin)
            if not same and not set(other.addresses) & set(attempt.addresses):
                continue
            if other.attempt in self._owed:
                continue
            worker = self._worker(other)
            if worker is not Worker.NOBODY:
                who = "this dashboard" if worker is Worker.HERE else "another dashboard"
                who = f"{who} on this machine" if worker is Worker.ELSEWHERE else who
                what = "approving this task" if other.verb == "approve" else "doing this"
                verb = "" if other.verb == "approve" else f": {safe(other.verb)}"
                raise InFlight(other, f"{who} is {what} right now{verb}")
            if not same:
                raise InFlight(
                    other,
                    f"the same was tried at {safe(other.origin, 200)}, which may be the same "
                    "platform, and it is not known what became of it: start there once "
                    f"(profile {safe(other.profile, 60)}), which finds out",
                )
            left_behind.append(other)
        if left_behind:
            raise Unsettled(left_behind[0])

    def _refuse_if_overtaken(self, attempt: Attempt, since: Mark) -> None:
        """Raises Overtaken if there is a line about the same thing after the mark."""
        for line in self._file.since(since):
            entry = from_line(line) if line else None
            if entry is not None and entry.subject in ("", attempt.subject):
                raise Overtaken

    def _open_at(self, origin: str) -> list[Open]:
        return [
            Open(attempt, self._worker(attempt))
            for attempt in ({**self._open, **self._here}).values()
            if attempt.attempt not in self._owed and same_platform(attempt, origin)
        ]

    def _worker(self, attempt: Attempt) -> Worker:
        if attempt.attempt in self._driven:
            return Worker.HERE
        if attempt.writer and attempt.writer == self._alive.token:
            return Worker.NOBODY
        try:
            alive = is_alive(self._writers, attempt.writer)
        except OSError:
            # It can't be told, so nothing is sent on the strength of it.
            alive = True
        return Worker.ELSEWHERE if alive else Worker.NOBODY

    def _sign_of_life(self) -> str:
        try:
            return self._alive.hold()
        except OSError as error:
            raise JournalError(
                f"the state folder can't be written ({safe(error.strerror or '')})"
            ) from error
