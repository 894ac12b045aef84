"""The activity log in a file: the platform's own export as it streams, or the entries of a list."""

from __future__ import annotations

import codecs
import csv
from collections.abc import AsyncIterator

from agentco_tui.live.names import Names
from agentco_tui.live.record_export import csv_row
from agentco_tui.model import Ref
from agentco_tui.model import format as fmt
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.text import SafeText, plain

_OWNERS = word_set("company agent actor")  # of whom an id may stand in a column
LONGEST_LINE = 1_000_000
"""Characters; a longer line is taken in pieces, so that none can fill the memory."""
MOST_LINES = 10_000  # of one row
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


async def with_names(chunks: AsyncIterator[bytes], names: Names) -> AsyncIterator[bytes]:
    """A CSV as it comes, with a column of names behind each column of ids."""
    places: list[int] | None = None  # of ids; None before the row of titles
    lines, open_quotes = list[str](), False
    async for line in lines_of(chunks):
        lines.append(line)
        open_quotes ^= line.count('"') % 2 == 1
        if open_quotes and len(lines) < MOST_LINES:
            continue  # a cell goes on in the next line
        row = next(csv.reader(["\n".join(lines)]), list[str]())
        lines, open_quotes = [], False
        if places is None:
            titles = list(map(fold, row))
            owners = {at: title.removesuffix("id") for at, title in enumerate(titles)}
            places = [at for at, owner in owners.items() if owner in _OWNERS - {*titles}]
            found = {at: f"{owners[at]}_name" for at in places}
        else:
            refs = {at: Ref(id=row[at]) for at in places if at < len(row)}
            told = {at: names.known(ref, owners[at]) for at, ref in refs.items()}
            found = {at: known or "" for at, known in told.items()}
        for at in sorted(found, reverse=True):
            row.insert(at + 1, found[at])
        yield csv_row(row).encode()
    if lines:
        yield "\n".join(lines).encode()
