"""The write-ahead journal: what was done from this machine, and what became of it.

One file for all dashboards of a person on a machine, of JSON lines in plain ASCII: an attempt is
written before its request is sent, its outcome when that is known. The journal is also what keeps
two dashboards from sending the same thing: under its lock an attempt is written only if no other
at the same subject is open, and no line about it came after the read that the decision rests on.
What this process has in flight it knows without the file, too. Where the file was changed by
anything else, nothing is sent: before each attempt all of it is compared with what was read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from agentco_tui.actions.journal_file import (
    ABOUT,
    LOCK_PATIENCE,
    Attempt,
    Entry,
    JournalBusyError,
    JournalError,
    JournalFile,
    JournalLostError,
    Settled,
    WriterLock,
    from_line,
    is_alive,
    os_errors,
    to_line,
)
from agentco_tui.api.origin import fold_host, platform_of
from agentco_tui.model.format import stamp
from agentco_tui.text import SafeText, safe

log = logging.getLogger(__name__)

REMEMBERED = 4_096  # subjects whose last attempt is kept in memory
CLOSING_PATIENCE = 0.2
"""Seconds that the end of the program waits for another process that is writing a line."""
LOOKUP_PATIENCE = 2.0  # seconds that the first write waits for the platform's host to be resolved
MOST_ADDRESSES = 16  # of a host, that are kept with an attempt

# ---- which platform an address leads to


def addresses_of(origin: str, patience: float = LOOKUP_PATIENCE) -> tuple[str, ...]:
    """What an address leads to: each IP address of its host with the port, sorted; this machine's
    own are one. Empty, and logged, if the host can't be resolved within `patience` seconds.
    """
    parts = urlsplit(platform_of(origin))
    host, port = parts.hostname or "", parts.port
    found: list[str] = []

    def look_up() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                found.append(f"{_of_machine(family, str(address[0]))}:{port}")

    # A daemon, so that a resolver that hangs doesn't hold up the end of the program.
    thread = threading.Thread(target=look_up, name="journal-lookup", daemon=True)
    thread.start()
    thread.join(patience)
    if not found:
        log.warning("%s could not be resolved: the journal knows it by its name only", host)
    return tuple(sorted(set(found)))[:MOST_ADDRESSES]


def _of_machine(family: int, address: str) -> str:
    """An IP address in its usual spelling; any of this machine's own is localhost."""
    try:
        # Sends nothing: only the route is looked up, and one to oneself begins where it ends.
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return "localhost" if probe.getsockname()[0] == address else fold_host(address)
    except OSError:
        return fold_host(address)


# ---- the journal


class InFlight(Exception):  # noqa: N818 (no error: somebody else was first)
    """The same is being done now; or it was, and what became of it can't be found out from here.
    In a sentence for a person.
    """


class Unsettled(Exception):  # noqa: N818
    """An earlier attempt at the same thing was left behind, and nobody knows what became of it."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.attempt)
        self.attempt = attempt


class Overtaken(Exception):  # noqa: N818
    """Something was done to the subject after the read: read again."""


class Following(NamedTuple):
    """What is open at a platform: attempts without an outcome, in flight or unknown."""

    elsewhere: list[Attempt]
    """Those that another process on this machine, which is alive, finds out about."""
    left: list[Attempt]  # those that nobody does
    trouble: SafeText | None
    """Why nothing can be written, and so nothing is sent; None while it can."""


class Earlier(NamedTuple):
    """The last attempt at a subject, and what became of it if that is known."""

    attempt: Attempt
    settled: Settled | None


class Journal:
    """The journal at a path, one for a process. What waits for its file is not for event loops."""

    def __init__(self, path: Path, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self.lost: JournalLostError | None = None
        self._redact = redact
        self._file = JournalFile(path)
        self._writers = path.parent / "writers"
        self._alive = WriterLock(self._writers)
        self._mutex = threading.RLock()
        self._open: dict[str, Attempt] = {}
        """Attempts without an outcome in the file, whoever wrote them."""
        self._last: OrderedDict[tuple[str, str, str], Earlier] = OrderedDict()
        """By platform, verb and subject; the newest last."""
        self._here: dict[str, Attempt] = {}
        """Attempts begun or taken up by this process whose outcome is not written."""
        self._owed: dict[str, Settled] = {}  # outcomes that could not be written yet
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._closed = False

    def mark(self, origin: str = "") -> int:
        """Where the journal ends now, for `begin`; taken before a read. Raises JournalError.

        What the host of `origin` is resolved to is looked up, once, for the attempts there.
        """
        if origin and origin not in self._addresses:
            self._addresses[origin] = addresses_of(origin)
        with self._mutex:
            if self._refuse_if_lost():
                with self._locked():
                    self._refuse_if_lost()
            return self._file.read_to

    def begin(self, attempt: Attempt, since: int) -> Attempt:
        """Write an attempt; only if this returns may anything be sent.

        `since` is the mark taken before the read that the decision rests on. Raises InFlight,
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
                    raise Unsettled(self._sign(left))
                if any(line.subject == attempt.subject for line in self._file.since(since)):
                    raise Overtaken
                self._write_owed()
                return self._sign(attempt)

    def finish(self, settled: Settled) -> None:
        """Write what became of an attempt, or correct it. Raises JournalError, and tries later."""
        with self._mutex:
            attempt_id = settled.attempt
            attempt = self._here.get(attempt_id) or self._open.get(attempt_id)
            if attempt is None and (last := self._written(attempt_id)) is not None:
                attempt = last.attempt
            about = {name: getattr(attempt, name) for name in ABOUT} if attempt else {}
            now = settled.time or stamp(time.time())
            self._owed[attempt_id] = replace(settled, time=now, pid=os.getpid(), **about)
            with self._locked():
                self._write_owed()

    def claim(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """Take up those left behind that nobody else has taken up by now. Raises JournalError."""
        with self._mutex, self._locked():
            known = [self._open[one.attempt] for one in attempts if one.attempt in self._open]
            left = [] if self._closed else [one for one in known if self._is_left(one)]
            return [self._sign(attempt) for attempt in left]

    def follow(self, origin: str) -> Following:
        """Take in what other processes wrote, and say what is open at a platform.

        Made to be called each second: reads only what was added, and waits for no other process.
        """
        trouble: SafeText | None = None
        with self._mutex:
            try:
                # A lost file is begun anew only if there is something to write into it.
                if self._grown() or self._owed or self._here:
                    with contextlib.suppress(JournalBusyError), self._locked(0.0):
                        self._write_owed()
                self._refuse_if_lost()
            except JournalError as error:
                trouble = (self.lost or error).sentence
            platform, found = platform_of(origin), Following([], [], trouble)
            for attempt in self._open.values():
                known = attempt.attempt in self._owed or attempt.attempt in self._here
                if not known and platform_of(attempt.origin) == platform:
                    (found.left if self._is_left(attempt) else found.elsewhere).append(attempt)
            return found

    def earlier(self, origin: str, verb: str, subject: str) -> Earlier | None:
        """The last attempt at a subject, as of the last time that the file was read here."""
        return self._last.get((platform_of(origin), verb, subject))

    def latest(self, origin: str) -> list[Earlier]:
        """The last attempt at each subject and verb, the newest last; as of `earlier`."""
        platform = platform_of(origin)
        with self._mutex:
            return [last for key, last in self._last.items() if key[0] == platform]

    def unfinished(self) -> tuple[list[Attempt], list[Settled]]:
        """What this process doesn't know the outcome of, and outcomes that it could not write."""
        owed = list(self._owed.values())
        known = {settled.attempt for settled in owed}
        return [one for one in list(self._here.values()) if one.attempt not in known], owed

    def close(self) -> None:
        """Stop being a live writer: what is still open is for the next start."""
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
        """Keep other processes out, read what they added, and write again what is in flight here
        if the file, or this process's sign of life, was removed.
        """
        with self._file.locked(patience):
            self._grown()
            self._read_added()
            # At the end of the program it is for others.
            for attempt in [] if self._closed else list(self._here.values()):
                self._sign(attempt)
            yield

    def _grown(self) -> bool:
        """Whether there are lines to take in. A loss of the file is noted. Raises JournalError."""
        try:
            return self._file.grown()
        except JournalLostError as lost:
            self.lost = self.lost or lost
        self._file.close()
        self._file = JournalFile(self.path, follow_links=False)
        self._open.clear()
        with contextlib.suppress(JournalError):
            return self._file.grown()
        return False

    def _sign(self, attempt: Attempt) -> Attempt:
        """Write an attempt as one that is worked on here, unless it stands so; the lock is held."""
        with os_errors("the state folder"):
            signed = replace(attempt, pid=os.getpid(), writer=self._alive.hold())
        if self._open.get(attempt.attempt) != from_line(to_line(signed, self._redact)):
            self._append(signed)
        self._here[attempt.attempt] = signed
        return signed

    def _append(self, entry: Entry) -> None:
        self._file.append(to_line(entry, self._redact))
        self._read_added()

    def _write_owed(self) -> None:
        for attempt_id, settled in list(self._owed.items()):
            last = None if attempt_id in self._open else self._written(attempt_id)
            first = None if last is None else last.settled
            if first is None:
                self._append(settled)
            elif (first.outcome, first.known_by) != (settled.outcome, settled.known_by):
                self._append(replace(settled, corrects=first.outcome))
            del self._owed[attempt_id]

    def _written(self, attempt_id: str) -> Earlier | None:
        return next((one for one in self._last.values() if one.attempt.attempt == attempt_id), None)

    def _read_added(self) -> None:
        for entry in self._file.added():
            key = (platform_of(entry.origin), entry.verb, entry.subject)
            if isinstance(entry, Attempt):
                self._open[entry.attempt] = entry
                self._last[key] = Earlier(entry, None)
            else:
                self._here.pop(entry.attempt, None)
                attempt, last = self._open.pop(entry.attempt, None), self._last.get(key)
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
        """Whether there are lines to take in. Raises JournalError."""
        grown = self.lost is None and self._grown()
        self.lost = self.lost or self._file.damage
        if self.lost is not None:
            raise self.lost
        return grown

    def _refuse_if_changed(self) -> None:
        """Compare all of the file with what was read from it; the lock is held. Raises
        JournalError.
        """
        try:
            self._file.check_whole()
        except JournalLostError as lost:
            self.lost = self.lost or lost
            raise

    def _left_behind(self, attempt: Attempt, others: Iterable[Attempt]) -> Attempt | None:
        """The one of the others at the same thing that nobody works on; raises InFlight if
        somebody works on one.

        Where two names of hosts lead to one address, they may be one platform or several behind
        it: then nothing is sent, and nothing is read from one on behalf of the other.
        """
        left: Attempt | None = None
        for other in others:
            if (other.verb, other.subject) != (attempt.verb, attempt.subject):
                continue
            same = platform_of(other.origin) == platform_of(attempt.origin)
            may_be_same = same or set(other.addresses) & set(attempt.addresses)
            if other.attempt in self._owed or not may_be_same:
                continue
            if not self._is_left(other):
                here = other.attempt in self._here
                who = "this dashboard" if here else "another dashboard on this machine"
                approving = other.verb == "approve"
                what = "approving this task" if approving else f"doing this ({safe(other.verb)})"
                raise InFlight(f"{who} is {what} right now")
            if not same:
                raise InFlight(
                    f"the same was tried at {safe(other.origin, 200)}, which may be the same "
                    "platform, and it is not known what became of it: start there once "
                    f"(profile {safe(other.profile, 60)}), which finds out"
                )
            left = left or other
        return left

    def _is_left(self, attempt: Attempt) -> bool:
        """Whether nobody finds out what became of it."""
        if attempt.attempt in self._here:
            return False
        if attempt.writer and attempt.writer == self._alive.token:
            return True  # an older copy of the file shows it
        with contextlib.suppress(OSError):
            return not is_alive(self._writers, attempt.writer)
        return False  # where it can't be told, nothing is sent on the strength of it
