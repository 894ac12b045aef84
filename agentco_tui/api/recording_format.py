"""The file format of a recording: a sequence of blocks, each of which can be read on its own.

A recording holds the answers of the platform (the remote service) in one session, to be replayed. A
block has a head (msgpack) and a body (zlib), preceded by the lengths of both and a checksum of the
head. The first head is an `About`, every other one a `Recorded`. A file that ends in the middle of
a block, as after a kill, is valid up to that block.
"""

from __future__ import annotations

import os
import secrets
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from agentco_tui.api.errors import AgentcoError
from agentco_tui.reading.mapping import DeclaredMapping

_BLOCK_START: Final = struct.Struct("<III")
"""Length of the head, length of the body, CRC-32 of the head."""
_READ_BUFFER: Final = 1024 * 1024  # bytes

FailedWith: TypeAlias = tuple[str, str, str]
"""The class of an ApiError, its `sent` and its sentence."""


class RecordingError(AgentcoError):
    """A file that cannot be written, or is no recording; `str()` is a sentence for the user."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded, and what is needed to read it the same way."""

    program: str
    """The version that wrote it."""
    base_url: str
    profile: str
    """The name of the user's configuration for this platform."""
    company: str | None = None
    """The company that all requests were limited to."""
    refresh: float = 5.0
    """Seconds between two polls."""
    mapping: DeclaredMapping = DeclaredMapping()
    """The names, units and words that the profile declares for this platform."""
    platform: str | None = None
    """The platform whose file describes the interface; None for the generic interface."""
    run: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))
    """A random word that FILE and FILE.1 of one recording have in common."""


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """One answer without its body. The order of the fields is part of the format."""

    at: float
    """When all of it had arrived: seconds since 1970 by the clock of the recording machine."""
    target: str
    """Method, path and query of the request: "GET /api/tasks?status=pending"."""
    took: float
    """Seconds from the request to the end of the answer."""
    ahead: float | None = None
    """Seconds by which the platform's clock was ahead; None if not measured."""
    status: int = 0
    """304 if the answer is the same as the last one to this target that did not fail."""
    headers: dict[str, str] = {}
    failure: FailedWith | None = None
    """The error, if there was no usable answer."""


class Block(NamedTuple):
    """A block as found in a file."""

    head: bytes
    body_offset: int
    body_length: int


def encode_block(head: msgspec.Struct, packed_body: bytes = b"") -> bytes:
    """A block as it is written to the file."""
    encoded = msgspec.msgpack.encode(head)
    start = _BLOCK_START.pack(len(encoded), len(packed_body), zlib.crc32(encoded))
    return start + encoded + packed_body


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file up to the first one that is cut off or damaged. Raises OSError."""
    with path.open("rb", buffering=_READ_BUFFER) as file:
        file_size = os.fstat(file.fileno()).st_size
        position = 0
        while len(start := file.read(_BLOCK_START.size)) == _BLOCK_START.size:
            head_length, body_length, checksum = _BLOCK_START.unpack(start)
            body_offset = position + _BLOCK_START.size + head_length
            position = body_offset + body_length
            if position > file_size:
                return
            head = file.read(head_length)
            if zlib.crc32(head) != checksum:
                return
            yield Block(head, body_offset, body_length)
            file.seek(position)
