"""Reads a page of a list again, and decodes only the rows that are new in it.

A row is one object of the list, as the platform, the remote service, sends it. A poll mostly brings
the rows of the poll before, and one or two others. The bytes of each row are hashed; for a row
whose hash is known the record of the last reading is used, so that it is the very same object. What
is kept for a row is its record and eight bytes; no body is kept.

A record also depends on what is around the list (`DecodeContext`): names of other records, a unit
of sums. If that differs from the last reading, every row is decoded again.

`Fetcher` uses a `RowDecoder` for each page. `locate_rows`, `decode_rows` and `page_of` are the
three steps of `decode.read_page`; an *outcome* is the record of a row, or the reason why there is
none.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from agentco_tui.model import Record
from agentco_tui.reading.decode import (
    LocatedRows,
    Page,
    UnexpectedShape,
    UnreadRow,
    decode_rows,
    locate_rows,
    page_of,
    read_summary,
)
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import parse_json
from agentco_tui.reading.schema import DecodeContext, Kind

R = TypeVar("R", bound=Record)

_LIST_PATH: Final = re.compile(r"(?:[^.\[\]{}]+(?:\.[^.\[\]{}]+)*)?\[\]")
"""The path of a list in an object, such as "data.tasks[]", or of a bare list: "[]"."""

_decode_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class CachedRows(msgspec.Struct, Generic[R], frozen=True):
    """The records of a list as it was read last, with a hash of the bytes of each row."""

    kind: Kind[R]
    path: str
    """Where the list is, as in `FoundList`."""
    context: DecodeContext
    hashes: array[int]
    """Salted for each process by Python, so that no platform can make two rows look the same."""
    outcomes: Sequence[R | UnreadRow]

    def find(self, hashes: Iterable[int]) -> list[R | UnreadRow | None]:
        """What was made of the rows with these hashes; None for a new row."""
        outcome_by_hash = dict(zip(self.hashes, self.outcomes, strict=True))
        return [outcome_by_hash.get(row_hash) for row_hash in hashes]


class SplitBody(NamedTuple):
    """A body cut into its rows and the objects that they are nested in."""

    layers: tuple[tuple[str, dict[str, msgspec.Raw]], ...]
    """From the outside in: the key that leads further, and all fields of the object."""
    rows: list[bytes]

    def with_rows(self, indices: Iterable[int]) -> bytes:
        """The body with only these of its rows."""
        part = b"[" + b",".join([self.rows[index] for index in indices]) + b"]"
        for key, fields in reversed(self.layers):
            part = msgspec.json.encode({**fields, key: msgspec.Raw(part)})
        return part


def split_body(body: bytes, path: str) -> SplitBody | None:
    """The body cut into the rows of the list at `path`; None if it has no such list.

    Also None if a key with a dot in it makes the path ambiguous, or if the body is no strict JSON.
    """
    if _LIST_PATH.fullmatch(path) is None:
        return None
    names = path.removesuffix("[]").split(".") if path != "[]" else []
    layers: list[tuple[str, dict[str, msgspec.Raw]]] = []
    part: bytes | msgspec.Raw = body
    try:
        for name in names:
            fields = _decode_fields(part)
            if name not in fields or any("." in key for key in fields):
                return None
            layers.append((name, fields))
            part = fields[name]
        rows = [bytes(raw) for raw in _decode_items(part)]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return SplitBody(tuple(layers), rows)


class _Known(NamedTuple, Generic[R]):
    """The rows of a body before any of them is decoded, with the outcomes that are reused."""

    located: LocatedRows
    """The rows that were parsed."""
    indices: Sequence[int]
    """Of each parsed row its index in the body."""
    hashes: array[int]
    outcomes: list[R | UnreadRow | None]
    """Of all rows of the body; None for new ones, all of which were parsed."""


class RowDecoder(Generic[R]):
    """Reads one page: `parse` the body, then `read_page`, and keep `rows` for the next time."""

    def __init__(self, kind: Kind[R], cached: CachedRows[R] | None) -> None:
        """`cached` is `rows` of the decoder that read this page last."""
        self.rows: CachedRows[R] | None = None
        """The rows of this page, once it was read; None if they cannot be reused."""
        self._kind = kind
        self._cached: CachedRows[R] | None = None
        if cached is not None and cached.kind is kind:
            self._cached = cached
        self._body = b""
        self._known: _Known[R] | None = None

    def parse(self, body: bytes) -> Json:
        """The JSON in a body, without most of the rows that were there last time; raises BodyError.

        Its first and its last row are always kept, because pagination examines them.
        """
        self._body = body
        if self._cached is not None:
            parsed = self._parse_new_rows(body, self._cached)
            if parsed is not None:
                return parsed
        return parse_json(body)

    def read_page(self, body: Json) -> Page[R]:
        """The page in what `parse` returned; raises as `decode.read_page` does."""
        if self._known is not None:
            return self._read_new_rows(self._known, body)
        located = locate_rows(self._kind, body)
        if located is None:
            return read_summary(self._kind, body)
        outcomes = list(decode_rows(self._kind, located))
        page = page_of(located, body, outcomes)
        if self._rows_are_independent():
            split = split_body(self._body, located.found.path)
            if split is not None and len(split.rows) == len(outcomes):
                self._keep(located, array("q", map(hash, split.rows)), outcomes, page)
        self._body = b""
        return page

    def _rows_are_independent(self) -> bool:
        """Whether a record of the kind never depends on the other rows of its list."""
        return self._kind.find_share_scales is None and self._kind.instead is None

    def _parse_new_rows(self, body: bytes, cached: CachedRows[R]) -> Json | None:
        """The parsed body with its new rows only; None if all of it must be read."""
        split = split_body(body, cached.path)
        if split is None or not 0 < len(split.rows) <= self._kind.max_rows:
            return None
        hashes = array("q", map(hash, split.rows))
        outcomes = cached.find(hashes)
        new = [index for index, outcome in enumerate(outcomes) if outcome is None]
        if 2 * len(new) > len(split.rows):
            return None
        indices = sorted({0, len(split.rows) - 1, *new})
        parsed = parse_json(split.with_rows(indices))
        try:
            located = locate_rows(self._kind, parsed)
        except UnexpectedShape:
            return None
        if located is None or located.found.path != cached.path:
            return None
        if located.context != cached.context or len(located.found.items) != len(indices):
            return None
        self._known = _Known(located, indices, hashes, outcomes)
        return parsed

    def _read_new_rows(self, known: _Known[R], body: Json) -> Page[R]:
        items = known.located.found.items
        new_indices: list[int] = []
        new_items: list[Json] = []
        for index, item in zip(known.indices, items, strict=True):
            if known.outcomes[index] is None:
                new_indices.append(index)
                new_items.append(item)
        found = known.located.found._replace(items=new_items)
        new_rows = known.located._replace(found=found)
        outcomes: list[Any] = known.outcomes
        for index, outcome in zip(new_indices, decode_rows(self._kind, new_rows), strict=True):
            outcomes[index] = outcome
        page = page_of(known.located, body, outcomes)
        self._keep(known.located, known.hashes, outcomes, page)
        return page

    def _keep(
        self,
        located: LocatedRows,
        hashes: array[int],
        outcomes: Sequence[R | UnreadRow],
        page: Page[R],
    ) -> None:
        """Keep what was made of each row; the page's own tuple, if it has a record for each."""
        has_all = len(page.records) == len(outcomes)
        kept = page.records if has_all else tuple(outcomes)
        path = located.found.path
        self.rows = CachedRows(self._kind, path, located.context, hashes, kept)
