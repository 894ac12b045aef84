"""The journal's lines and its file: appended to whole, made durable, shared under a lock, watched.

Beside it lies a lock file, and a folder in which each process that writes keeps a file of its own
locked (flock) while it lives; the kernel frees that however the process ends. A pid alone would
not do: it is used again, and means nothing on a shared home directory.

Each line ends with a running digest: of all bytes of the file before it, and of its own up to the
digest. Whatever is changed, taken out or put in before a line is found by reading that line. What
this can't show is that the file ends too early: a process that has the file open notices that by
its length, one that starts later can't. Lines without a digest, which older versions write, are
covered by the next line that has one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import asdict

from agentco_tui.text import SafeText, plain, safe

LONGEST_LINE = 256 * 1024
"""Bytes; what is longer is no line of ours, and is skipped without being kept."""
LOCK_PATIENCE = 3.0  # seconds to wait for another process that is writing a line
_LOCK_PAUSE = 0.005
_TAIL = 512  # bytes before the place that was read to, compared each time
_DIGEST_SIZE = 16  # bytes
_SEALED = b'{"sealed":true,'
"""What a line with a digest begins with, far from the digest at its end: a line that has lost its
digest is told from one that never had one."""
_DIGEST = b',"digest":"'
_SEAL = re.compile(_DIGEST + b'([0-9a-f]{32})"}')
_PIECE = 1024 * 1024  # bytes that are read at once
_TOKEN = re.compile(r"[0-9]{1,10}-[0-9a-f]{12}")


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    attempt: str  # the attempt's id, also sent as Idempotency-Key
    time: str = ""  # when, as ISO 8601 in UTC by this machine's clock; of writing, if not given
    origin: str = ""
    """The platform's address as it was configured, with the path of a reverse proxy."""
    profile: str = ""
    verb: str = ""
    subject: str = ""  # what is acted on: an id, or a digest of what a new record is to be
    title: str = ""
    task: str | None = None
    company: str | None = None
    company_name: str | None = None
    agent: str | None = None
    agent_name: str | None = None
    pid: int = 0
    v: int = 2


class Attempt(_Line, frozen=True, kw_only=True, tag_field="kind", tag="attempt"):
    """Written before a write is sent."""

    addresses: tuple[str, ...] = ()
    """What the host was resolved to, each with the port; empty if it could not be."""
    fingerprint: str = ""
    details: dict[str, Any] = {}
    """What else is needed to reconcile it by reading, such as the limit that was set."""
    writer: str = ""  # names the file that the writing process keeps locked while it lives


class Settled(_Line, frozen=True, kw_only=True, tag_field="kind", tag="outcome"):
    """Written when it is known what became of an attempt; the last one of an attempt counts."""

    outcome: str
    reason: str = ""  # why it is of this kind, a `Reason`; older versions write none
    decision: str = ""  # what was decided about a task, as far as the platform tells
    decided_by: str | None = None
    decided_at: float | None = None  # seconds since 1970 by the platform's clock
    known_by: str = ""
    words: str | None = None
    http_status: int | None = None
    sentence: str = ""
    made: str | None = None  # the id of the record that was created
    corrects: str = ""  # the outcome that was written before and is not so


Entry = Attempt | Settled

ABOUT = (
    *("origin", "profile", "verb", "subject", "title"),
    *("task", "company", "company_name", "agent", "agent_name"),
)
"""What an outcome repeats of its attempt, so that a line found by grep can be read alone."""
_TEXTS = frozenset({"title", "company_name", "agent_name", "decided_by", "words", "sentence"})
"""What the platform says; the rest are ids and our own words."""


def to_line(entry: Entry, redact: Callable[[str], str] = str) -> bytes:
    """One line with its newline, ASCII only: a `cat` of the journal can't be taken over by a title.

    Fields that are not known are left out, and texts pass through `redact`.
    """
    fields: dict[str, Any] = {"kind": "attempt" if isinstance(entry, Attempt) else "outcome"}
    for name, value in asdict(entry).items():
        if value not in (None, "", (), {}):
            fields[name] = redact(value) if name in _TEXTS else value
    for name, value in fields.get("details", {}).items():
        if isinstance(value, str):
            fields["details"] = {**fields["details"], name: redact(value)}
    # Not msgspec's encoder: it refuses the lone surrogates that an id may hold.
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def from_line(line: bytes) -> Entry | None:
    """The entry in a line; None if the line is torn, or not one of ours."""
    try:  # the standard library reads lone surrogates, msgspec doesn't
        entry: Entry = msgspec.convert(json.loads(line), Attempt | Settled)
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError):
        return None
    return entry


def seconds_of(time: str) -> float | None:
    """The other way; None if it is no such time."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=UTC).timestamp()


class JournalError(Exception):
    """The journal can't be written or read, so nothing may be sent."""

    def __init__(self, why: str, advice: str = "mend that and try again") -> None:
        self.why: SafeText = plain(why)
        self.sentence: SafeText = plain(f"{why}: nothing is sent without it; {advice}")
        super().__init__(self.sentence)


class JournalBusyError(JournalError):
    """Another process keeps the lock."""


class JournalLostError(JournalError):
    """What is at the path is not the file, or not the content, that was read before."""


class JournalDamagedError(JournalLostError):
    """The running digest doesn't fit: something was changed, taken out or put in."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(
            f"the journal {safe(str(path), 200)} was changed by something else, in or before line "
            f"{line:,}",
            "keep it for whoever looks into that, move it out of the way, and start again: "
            "a new one is begun then",
        )


@contextlib.contextmanager
def os_errors(what: str) -> Iterator[None]:
    """An OSError inside becomes a JournalError about `what`."""
    try:
        yield
    except OSError as error:
        reason = safe(error.strerror or type(error).__name__, 120)
        raise JournalError(f"{what} can't be used ({reason})") from error


def lines(file: BinaryIO, start: int = 0) -> Iterator[bytes]:
    """The lines from the offset `start` on, in bounded memory.

    A line too long to be ours comes as b"". The last line comes even if its newline is missing.
    """
    file.seek(start)
    while line := file.readline(LONGEST_LINE):
        whole = line
        while not line.endswith(b"\n") and (line := file.readline(LONGEST_LINE)):
            whole = b""
        yield whole


class RunningDigest:
    """The digest of all bytes of a journal so far, checked at each line that has one.

    Feed it every line as it is in the file, with its newline, a long one in pieces.
    """

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=_DIGEST_SIZE)
        self._number = 1  # of the line that is being fed
        self._begun = False  # whether a piece of that line was fed already
        self._is_sealed_file = False  # whether a line with a digest came
        self.damaged_line: int | None = None
        """The number of the first line at which the digest doesn't fit; None if all fit."""
        self._suspect_line: int | None = None

    @property
    def value(self) -> bytes:
        return self._hash.digest()

    def seal(self, line: bytes, before: bytes = b"") -> bytes:
        """A line, as `to_line` makes it, with the digest that it has next in the file; `before` is
        written between what was fed and the line.
        """
        body = _SEALED + line.removeprefix(b"{").removesuffix(b"}\n") + _DIGEST
        digest = self._hash.copy()
        digest.update(before + body)
        return body + digest.hexdigest().encode("ascii") + b'"}\n'

    def feed(self, piece: bytes) -> None:
        """Take the next line, or a piece of it."""
        if not self._begun:
            # A line that can't be read, or has lost its digest, is what a process left that died
            # while it wrote it: the next one has ended it and covers it. As the last line of all
            # it can't be that, if it is complete.
            self._suspect_line = None
            self._check(piece)
        self._hash.update(piece)
        self._begun = not piece.endswith(b"\n")
        if not self._begun:
            self._number += 1

    def damage(self) -> int | None:
        """The number of the first line that shows that the file was changed, None if none does;
        asked when all lines were fed.
        """
        return self.damaged_line if self.damaged_line is not None else self._suspect_line

    def _check(self, line: bytes) -> None:
        content = line.removesuffix(b"\n")
        seal = _SEAL.search(content)
        is_complete = line.endswith(b"\n")
        is_whole_seal = seal is not None and seal.end() == len(content)
        if seal is not None and is_whole_seal:
            self._is_sealed_file = True
            digest = self._hash.copy()
            digest.update(content[: seal.start(1)])
            is_right = digest.hexdigest().encode("ascii") == seal[1]
        else:
            is_right = seal is None  # nothing can stand behind a whole seal
        if not is_right and self.damaged_line is None:
            self.damaged_line = self._number
        if self._is_sealed_file and is_complete and seal is None and content.strip():
            is_of_older_version = not content.startswith(_SEALED) and from_line(line) is not None
            self._suspect_line = None if is_of_older_version else self._number


def damaged_line(file: BinaryIO) -> int | None:
    """The number of the first line of a journal that shows that it was changed; None if none does.

    Memory is bounded, whatever the file holds.
    """
    digest = RunningDigest()
    file.seek(0)
    while piece := file.readline(LONGEST_LINE):
        digest.feed(piece)
    return digest.damage()


Story = tuple[Attempt, list[Settled]]
"""An attempt with its outcomes; the last is the one that counts."""


def stories(file: BinaryIO) -> Iterator[Story]:
    """Every attempt with its outcomes in the order of the attempts, those that correct others last.

    The file is read twice, as a stream: for the outcomes, which are few and small, and for all.
    """
    outcomes: dict[str, list[Settled]] = {}
    for line in lines(file):
        if isinstance(entry := from_line(line), Settled):
            outcomes.setdefault(entry.attempt, []).append(entry)
    told: set[str] = set()
    for line in lines(file):
        entry = from_line(line)
        if isinstance(entry, Attempt) and entry.attempt not in told:
            told.add(entry.attempt)
            became = outcomes.pop(entry.attempt, [])
            first = [settled for settled in became if not settled.corrects][:1]
            yield entry, first + [settled for settled in became if settled.corrects]


class JournalFile:
    """One file. It is held open from when it is first seen, so that no other file can take its
    inode, and each use compares what is at the path with it. Every method may raise JournalError.

    `follow_links` is False for a file that took the place of another while that was open.
    """

    def __init__(self, path: Path, *, follow_links: bool = True) -> None:
        self.path = path
        self.lock_path = path.with_suffix(".lock")
        self._name = f"the journal {safe(str(path), 200)}"
        self.read_to = 0
        self._tail = (0, b"")
        self._digest = RunningDigest()  # of what was read
        self._fd: int | None = None
        self._links = 0 if follow_links else os.O_NOFOLLOW

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @contextlib.contextmanager
    def locked(self, patience: float = LOCK_PATIENCE) -> Iterator[None]:
        """Keep every other process out. Raises JournalBusyError after that many seconds."""
        give_up = time.monotonic() + patience
        while True:
            with os_errors(self._name):
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                fd = os.open(self.lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                while not _try_lock(fd):
                    if time.monotonic() >= give_up:
                        raise JournalBusyError(
                            "another dashboard on this machine has been writing into the journal "
                            f"for {patience:g} s",
                            "see if it hangs",
                        )
                    time.sleep(_LOCK_PAUSE)
                if same_file(fd, self.lock_path):
                    yield
                    return
                # It was deleted before it was locked: another process may lock a new one.
            finally:
                os.close(fd)

    def grown(self) -> bool:
        fd = self._checked()
        return fd is not None and os.fstat(fd).st_size != self.read_to

    def added(self) -> Iterator[Entry]:
        """What was not read yet; with the lock held, so that an unfinished last line is that of a
        process that is dead. Raises JournalLostError.
        """
        fd = self._checked()
        if fd is None:
            return
        size = os.fstat(fd).st_size
        if size == self.read_to:
            return
        with os_errors(self._name), os.fdopen(os.dup(fd), "rb") as file:
            file.seek(self.read_to)
            while piece := file.readline(LONGEST_LINE):
                self._digest.feed(piece)
        yield from self.since(self.read_to)
        self.read_to = size
        start = max(0, size - _TAIL)
        self._tail = (start, os.pread(fd, size - start, start))

    @property
    def damage(self) -> JournalDamagedError | None:
        """That the file was changed, by the digests of what was read from it; None if it wasn't."""
        line = self._digest.damage()
        return None if line is None else JournalDamagedError(self.path, line)

    def check_whole(self) -> None:
        """Read all that was read before once more; with the lock held. Raises JournalLostError if
        it is not what it was then.
        """
        fd = self._checked()
        if fd is None:
            return
        digest = blake2b(digest_size=_DIGEST_SIZE)
        with os_errors(self._name):
            offset = 0
            while offset < self.read_to:
                piece = os.pread(fd, min(_PIECE, self.read_to - offset), offset)
                if not piece:
                    break
                digest.update(piece)
                offset += len(piece)
        if digest.digest() != self._digest.value:
            raise self._lost("was written over")

    def since(self, offset: int) -> Iterator[Entry]:
        """What stands in the file from an offset on; with the lock held."""
        if self._fd is not None:
            with os_errors(self._name), os.fdopen(os.dup(self._fd), "rb") as file:
                for line in lines(file, offset):
                    if (entry := from_line(line)) is not None:
                        yield entry

    def append(self, line: bytes) -> None:
        """Add one line with its digest, on the disk and at the path when this returns; with the
        lock held, and all lines before it read (`added`).

        A torn line before it is ended first. If the line doesn't fit, what was written of it is
        taken back.
        """
        created = self._checked() is None
        with os_errors(self._name):
            fd = self._opened(os.O_CREAT | os.O_EXCL if created else 0)
            size = os.fstat(fd).st_size
            try:
                is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                ending = b"\n" if is_torn else b""
                data = ending + self._digest.seal(line, ending)
                while data:
                    data = data[os.write(fd, data) :]
                os.fsync(fd)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, size)
                raise
            if created:  # its name is made durable, too
                folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        self._checked()

    def _checked(self) -> int | None:
        """A descriptor to read from, if it is still the same file; None while there is none."""
        with os_errors(self._name):
            try:
                at_path = self.path.stat()
            except FileNotFoundError:
                if self._fd is None:
                    return None
                raise self._lost("was deleted or moved away") from None
            held = os.fstat(self._opened())
            if not os.path.samestat(at_path, held):
                other = "a folder" if self.path.is_dir() else "another file"
                other = "a link" if self.path.is_symlink() else other
                raise self._lost(f"was replaced by {other}")
            if held.st_size < self.read_to:
                raise self._lost("was cut short, or replaced by an older copy")
            start, tail = self._tail
            if os.pread(self._opened(), len(tail), start) != tail:
                raise self._lost("was written over")
        return self._fd

    def _opened(self, create: int = 0) -> int:
        if self._fd is None:
            flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | self._links | create
            fd = os.open(self.path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise OSError(errno.EINVAL, "it is no plain file")
            self._fd = fd
        return self._fd

    def _lost(self, how: str) -> JournalLostError:
        return JournalLostError(
            f"{self._name} {how} while this dashboard was open",
            "see what became of it, and start this dashboard again",
        )


class WriterLock:
    """The liveness of this process: a file that it keeps locked from `hold` until `release`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = ""
        self._fd: int | None = None

    def hold(self) -> str:
        """Take the lock, and again if its file is gone; returns its token. Raises OSError.

        What killed processes left is removed before.
        """
        if self._fd is not None and not same_file(self._fd, self.folder / self.token):
            self.release()
        while self._fd is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in self.folder.iterdir():
                with contextlib.suppress(OSError):
                    is_alive(self.folder, path.name)
            token = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
            path = self.folder / token
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            # Not locked, or gone: somebody took it for a dead writer's, and removed it.
            if _try_lock(fd) and same_file(fd, path):
                self._fd, self.token = fd, token
            else:
                os.close(fd)
        return self.token

    def release(self) -> None:
        """Let go: what is open in the journal now counts as left behind."""
        if self._fd is None:
            return
        with contextlib.suppress(OSError):
            (self.folder / self.token).unlink()
        os.close(self._fd)
        self._fd = None
        self.token = ""


def is_alive(folder: Path, token: str) -> bool:
    """Whether the process that holds this token lives; a dead one's file is removed.

    Raises OSError if that can't be found out.
    """
    if not _TOKEN.fullmatch(token):
        return False
    path = folder / token
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        alive = not _try_lock(fd)
        if not alive and same_file(fd, path):
            path.unlink()
        return alive
    finally:
        os.close(fd)


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
