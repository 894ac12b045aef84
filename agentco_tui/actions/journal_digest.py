"""The running digest that shows that a journal was changed.

The journal is the file in which each request that changes the remote service is noted before it is
sent, one JSON object a line. A seal is the digest in a line. Each line ends with a digest of all
bytes of the file before it, and of its own up to the digest. Whatever is changed, removed or
inserted before a line is found by reading that line. The digest can't show that the file ends too
early: a process that has the file open notices that by its length; one that starts later can't.
Lines without a digest, which older versions write, are covered by the next line that has one.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import BinaryIO, Final

from agentco_tui.actions.journal_lines import LONGEST_LINE, from_line

DIGEST_SIZE: Final = 16  # bytes
_SEALED: Final = b'{"sealed":true,'
"""What a line with a digest begins with, far from the digest at its end: so a line that has lost
its digest is told from one that never had one."""
_DIGEST: Final = b',"digest":"'
_SEAL: Final = re.compile(_DIGEST + b'([0-9a-f]{32})"}')


class RunningDigest:
    """The digest of all bytes of a journal so far, checked at each line that has one.

    Feed it every line as it is in the file, with its newline, a long one in pieces.
    """

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=DIGEST_SIZE)
        self._number = 1  # of the line that is being fed
        self._is_within_line = False  # whether a piece of that line was fed already
        self._is_sealed_file = False  # whether a line with a digest came
        self._damaged_line: int | None = None
        """The number of the first line at which the digest doesn't match; None if all match."""
        self._suspect_line: int | None = None
        """The number of the last line, if it lacks a digest; what follows may explain it."""

    @property
    def value(self) -> bytes:
        return self._hash.digest()

    def seal(self, line: bytes, before: bytes = b"") -> bytes:
        """Return a line, as `to_line` makes it, with the digest for its place at the end of the
        file. `before` is written first: the newline for a line that was left unfinished.
        """
        body = _SEALED + line.removeprefix(b"{").removesuffix(b"}\n") + _DIGEST
        digest = self._hash.copy()
        digest.update(before + body)
        return body + digest.hexdigest().encode("ascii") + b'"}\n'

    def feed(self, piece: bytes) -> None:
        """Take the next line, or a piece of it."""
        if not self._is_within_line:
            # A line that can't be read, or has lost its digest, is the remains of a process that
            # died while it wrote it, if another line follows: that one ended it and covers it. As
            # the last line of all it can't be that, if it is complete.
            self._suspect_line = None
            self._check_seal(piece)
        self._hash.update(piece)
        self._is_within_line = not piece.endswith(b"\n")
        if not self._is_within_line:
            self._number += 1

    def damaged_line(self) -> int | None:
        """Return the number of the first line that shows that the file was changed, None if none
        does; called when all lines were fed.
        """
        if self._damaged_line is not None:
            return self._damaged_line
        return self._suspect_line

    def _check_seal(self, line: bytes) -> None:
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
            is_right = seal is None  # nothing can follow a whole seal
        if not is_right and self._damaged_line is None:
            self._damaged_line = self._number
        if self._is_sealed_file and is_complete and seal is None and content.strip():
            is_of_older_version = not content.startswith(_SEALED) and from_line(line) is not None
            if not is_of_older_version:
                self._suspect_line = self._number


def find_damage(file: BinaryIO) -> int | None:
    """Return the number of the first line of a journal that shows that it was changed; None if none
    does. Memory is bounded, whatever the file holds.
    """
    digest = RunningDigest()
    file.seek(0)
    while piece := file.readline(LONGEST_LINE):
        digest.feed(piece)
    return digest.damaged_line()
