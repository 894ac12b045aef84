"""The activity log in a file: the platform's own export as it streams, or the entries of a list."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator

from agentco_tui import format as fmt
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.text import SafeText, plain

LONGEST_LINE = 1_000_000
"""Characters; a longer line is taken in pieces, so that none can fill the memory."""
_LONGEST_NAME = 200


class Written:
    """How much of a CSV there is by now; a row ends where no quotes are open."""

    def __init__(self) -> None:
        self.bytes = 0
        self._head, self._ends, self._quoted, self._rest = b"", 0, 0, False

    def take(self, chunk: bytes) -> bytes:
        if len(self._head) < _LONGEST_NAME:
            self._head += chunk[:_LONGEST_NAME]
        pieces = chunk.split(b'"')
        self._ends += sum(piece.count(b"\n") for piece in pieces[self._quoted :: 2])
        self._quoted = (self._quoted + len(pieces) - 1) % 2
        self._rest = not chunk.endswith(b"\n")
        self.bytes += len(chunk)
        return chunk

    @property
    def sentence(self) -> SafeText:
        """Such as "200 rows, 18.2 kB"; a first row that begins with a known name is not counted."""
        name = self._head.decode(errors="replace").lstrip("\ufeff").split(",")[0].strip('"\r\n ')
        rows = self._ends + self._rest - bool(ACTIVITY.table.read({name: "1"}).values)
        return plain(
            f"{'1 row' if rows == 1 else f'{fmt.count(rows)} rows'}, {fmt.size(self.bytes)}"
        )


async def lines_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of UTF-8 text that comes in pieces; what is no UTF-8 is replaced."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    async for chunk in chunks:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            yield line.removesuffix("\r")
        if len(rest) > LONGEST_LINE:
            yield rest
            rest = ""
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest
