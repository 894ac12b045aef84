"""Processes the platform's CSV export of its activity log (what AI agents did) as it is downloaded.

The platform is the remote service that the program watches. `Written` counts rows and bytes for the
message at the end; `with_names` adds a column of names next to each column of ids, if the user
wants that. Both take the export in chunks of bytes.
"""

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
from agentco_tui.text import SafeText, mark_safe

_OWNERS = word_set("company agent actor")  # whose ids a column may hold
LONGEST_LINE = 1_000_000
"""Characters; a longer line is split, so that no line can fill the memory."""
MOST_LINES = 10_000  # of one row
_LONGEST_NAME = 200


class Written:
    """Counts the rows and bytes of a CSV as its chunks are written."""

    def __init__(self) -> None:
        self.bytes = 0
        self._head = b""
        self._complete_rows = 0  # line ends outside quotes
        self._is_quoted = 0  # 1 inside quotes, as an index into pieces between quotes
        self._has_partial_row = False

    def take(self, chunk: bytes) -> bytes:
        """Count a chunk, and return it."""
        if len(self._head) < _LONGEST_NAME:
            self._head += chunk[:_LONGEST_NAME]
        pieces = chunk.split(b'"')
        self._complete_rows += sum(piece.count(b"\n") for piece in pieces[self._is_quoted :: 2])
        self._is_quoted = (self._is_quoted + len(pieces) - 1) % 2
        self._has_partial_row = not chunk.endswith(b"\n")
        self.bytes += len(chunk)
        return chunk

    @property
    def sentence(self) -> SafeText:
        """Such as "200 rows, 18.2 kB"; a first row that begins with a known name is not counted."""
        name = self._head.decode(errors="replace").lstrip("\ufeff").split(",")[0].strip('"\r\n ')
        rows = self._complete_rows
        if self._has_partial_row:
            rows += 1
        # The first row has titles if its first cell is the name of a field of log entries.
        has_title_row = bool(ACTIVITY.table.read({name: "1"}).values)
        if has_title_row:
            rows -= 1
        counted = "1 row" if rows == 1 else f"{fmt.count(rows)} rows"
        return mark_safe(f"{counted}, {fmt.size(self.bytes)}")


async def lines_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of UTF-8 text that comes in chunks; invalid UTF-8 is replaced."""
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
    """A CSV as it comes, with a column of names after each column of ids."""
    id_columns: list[int] | None = None  # None before the row of titles
    owners: dict[int, str] = {}  # the kind of record of each column
    lines: list[str] = []
    has_open_quotes = False
    async for line in lines_of(chunks):
        lines.append(line)
        if line.count('"') % 2 == 1:
            has_open_quotes = not has_open_quotes
        if has_open_quotes and len(lines) < MOST_LINES:
            continue  # the cell goes on in the next line
        row: list[str] = next(csv.reader(["\n".join(lines)]), [])
        lines = []
        has_open_quotes = False
        added: dict[int, str] = {}
        if id_columns is None:
            titles = [fold(title) for title in row]  # in lower case, without separators
            owners = {column: title.removesuffix("id") for column, title in enumerate(titles)}
            named = _OWNERS - {*titles}
            id_columns = [column for column, owner in owners.items() if owner in named]
            added = {column: f"{owners[column]}_name" for column in id_columns}
        else:
            for column in id_columns:
                if column < len(row):
                    name = names.known_name(Ref(id=row[column]), owners[column])
                    added[column] = name or ""
        for column in sorted(added, reverse=True):
            row.insert(column + 1, added[column])
        yield csv_row(row).encode()
    if lines:
        yield "\n".join(lines).encode()
