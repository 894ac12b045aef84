"""Reads a page of a list again, and decodes only the rows that are new in it.

A row is one object of the list, as the platform, the remote service, sends it. A poll mostly brings
the rows of the poll before, and one or two others. The bytes of each row are hashed; for a row
whose hash is known the record of the last reading is used, so that it is the very same object. What
is kept for a row is its record and sixteen bytes; no body is kept.

A record also depends on what is around the list (`DecodeContext`): names of other records, a unit
of sums. If that differs from the last reading, every row is decoded again. So it is if the rows
together now say something else of the shares in all of them (`Kind.share_hints`).

The new rows of a long body are decoded in chunks: parsed at once, ten thousand budgets would need
three times the memory of their records, and Python does not give all of that back.

`Fetcher` uses a `RowDecoder` for each page. `locate_rows`, `decode_rows` and `page_of` are the
three steps of `decode.read_page`; an *outcome* is the record of a row, or the reason why there is
none.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from agentco_tui.model import Record
from agentco_tui.reading.decode import (
    LocatedRows,
    Page,
    UnexpectedShape,
    UnreadRow,
    build_records,
    hints_of,
    locate_rows,
    page_of,
    read_rows,
    read_summary,
)
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import parse_json
from agentco_tui.reading.schema import DecodeContext, Kind
from agentco_tui.reading.shared_values import SharedValues
from agentco_tui.system.background import turn_of_thread

R = TypeVar("R", bound=Record)

_LONG: Final = 256 * 1024
"""Bytes of a body from which on its rows are decoded in chunks, which is done in a thread."""
_CHUNK: Final = 64 * 1024
"""Bytes of rows that are decoded together."""
_MOST_AROUND: Final = 64 * 1024
"""Bytes around the list of a body, which are parsed again with each chunk of its rows."""
_DEEPEST: Final = 3
"""Objects that the list of a long body may be nested in."""
_BLANKS: Final = 64
"""Bytes in which a list must begin."""
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
    share_scales: Any
    """What all the rows together say, as in `DecodeContext`; None if the kind has no shares."""
    hashes: array[int]
    """Salted for each process by Python, so that no platform can make two rows look the same."""
    outcomes: Sequence[R | UnreadRow]
    hints: Sequence[Hashable]
    """Of each row what it says about the scale of shares, if the kind has any."""
    values: SharedValues
    """What the records have in common."""

    def find(self, hashes: Iterable[int]) -> list[int | None]:
        """The indices of the rows with these hashes; None for a new row."""
        index_by_hash = dict(zip(self.hashes, range(len(self.hashes)), strict=True))
        return [index_by_hash.get(row_hash) for row_hash in hashes]


class SplitBody(NamedTuple):
    """A body cut into its rows and the objects that they are nested in."""

    layers: tuple[tuple[str, dict[str, msgspec.Raw]], ...]
    """From the outside in: the key that leads further, and all fields of the object."""
    rows: list[msgspec.Raw]
    """Views of the body, not copies."""

    @property
    def hashes(self) -> array[int]:
        """The hash of each row."""
        return array("q", [hash(bytes(row)) for row in self.rows])

    @property
    def size_around(self) -> int:
        """Bytes of all that is beside the list."""
        return sum(
            len(memoryview(value))
            for key, fields in self.layers
            for name, value in fields.items()
            if name != key
        )

    def size_of(self, index: int) -> int:
        """Bytes of a row."""
        return len(memoryview(self.rows[index]))

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
        rows = _decode_items(part)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return SplitBody(tuple(layers), rows)


def find_long_list(body: bytes) -> str | None:
    """The path of the list that takes most of a body, as in `FoundList`; None if there is none."""
    names: list[str] = []
    part: bytes | msgspec.Raw = body
    try:
        for _ in range(_DEEPEST):
            if bytes(memoryview(part)[:_BLANKS]).lstrip().startswith(b"["):
                return f"{'.'.join(names)}[]"
            for name, value in _decode_fields(part).items():
                if 2 * len(memoryview(value)) > len(body):
                    names.append(name)
                    part = value
                    break
            else:
                return None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return None


class _SomeRows(NamedTuple):
    """Rows of a body that were parsed together, with what is around them."""

    indices: Sequence[int]
    """Of each parsed row its index in the body."""
    located: LocatedRows


class _Known(NamedTuple, Generic[R]):
    """The rows of a body before any of them is decoded, with the outcomes that are reused."""

    split: SplitBody
    path: str
    first: _SomeRows
    """The first and the last row, and the first chunk of the new ones."""
    rest: Sequence[Sequence[int]]
    """The indices of the other new rows, in chunks."""
    hashes: array[int]
    outcomes: list[R | UnreadRow | None]
    """Of all rows of the body; None for new ones, all of which were parsed."""
    hints: list[Hashable]
    """Of all rows of the body, as in `CachedRows`."""


class RowDecoder(Generic[R]):
    """Reads one page: `parse` the body, then `read_page`, and keep `rows` for the next time."""

    def __init__(
        self,
        kind: Kind[R],
        cached: CachedRows[R] | None,
        shared_values: SharedValues | None = None,
    ) -> None:
        """`cached` is `rows` of the decoder that read this page last.

        `shared_values` are those of the other pages of the list, if it has any.
        """
        self.rows: CachedRows[R] | None = None
        """The rows of this page, once it was read; None if they cannot be reused."""
        self.kind = kind
        self._cached: CachedRows[R] | None = None
        if cached is not None and cached.kind is kind:
            self._cached = cached
        self._values = shared_values or SharedValues()
        if self._cached is not None:
            self._values = self._cached.values
        self._of_reading: dict[Hashable, Hashable] = {}
        self._body = b""
        self._known: _Known[R] | None = None

    def parse(self, body: bytes) -> Json:
        """The JSON in a body, without most of the rows that are read later or are known.

        Its first and its last row are always kept, because pagination examines them. Raises
        BodyError.
        """
        self._body = body
        path: str | None = None
        if self._cached is not None:
            path = self._cached.path
        elif len(body) > _LONG and self._rows_are_cacheable():
            path = find_long_list(body)
        if path is not None:
            parsed = self._parse_some_rows(body, path)
            if parsed is not None:
                return parsed
        return parse_json(body)

    def read_page(self, body: Json) -> Page[R]:
        """The page in what `parse` returned; raises as `decode.read_page` does, and BodyError."""
        if self._known is not None:
            page = self._read_new_rows(self._known, body)
            self._known = None
            if page is not None:
                return page
            body = parse_json(self._body)
        return self._read_whole(body)

    def _read_whole(self, body: Json) -> Page[R]:
        """The page in a body that was parsed with all its rows."""
        located = locate_rows(self.kind, body)
        if located is None:
            return read_summary(self.kind, body)
        rows = list(read_rows(self.kind, located.found))
        hints = list(hints_of(self.kind, rows))
        scales = self._share_scales(hints)
        outcomes = list(self._build(rows, located.context, scales))
        page = page_of(located, body, outcomes)
        if self._rows_are_cacheable():
            path = located.found.path
            split = split_body(self._body, path)
            if split is not None and len(split.rows) == len(outcomes):
                self._keep(page, located, scales, split.hashes, outcomes, hints)
        self._body = b""
        return page

    def _rows_are_cacheable(self) -> bool:
        """Whether all that a record takes from other rows is the scale of its shares."""
        return self.kind.instead is None

    def _share_scales(self, hints: Iterable[Hashable]) -> Any:
        """What the rows with these hints say of the shares of them all."""
        if self.kind.find_share_scales is None:
            return None
        return self.kind.find_share_scales(Counter(hints))

    def _build(
        self, rows: Iterable[Any], context: DecodeContext, scales: Any
    ) -> Iterator[R | UnreadRow]:
        """The outcomes of rows, which share their values."""
        if scales is not None:
            context = msgspec.structs.replace(context, share_scales=scales)
        for outcome in build_records(self.kind, rows, context):
            if not isinstance(outcome, UnreadRow):
                self._values.share(outcome, self._of_reading)
            yield outcome

    def _parse_some_rows(self, body: bytes, path: str) -> Json | None:
        """The parsed body with some of its rows; None if all of it must be read at once."""
        split = split_body(body, path)
        if split is None or not 0 < len(split.rows) <= self.kind.max_rows:
            return None
        cached = self._cached
        hashes = split.hashes
        row_count = len(split.rows)
        places: list[int | None] = [None] * row_count if cached is None else cached.find(hashes)
        new = [index for index, place in enumerate(places) if place is None]
        chunks = [new]
        if len(body) > _LONG:
            if split.size_around > _MOST_AROUND:
                return None
            chunks = list(_chunks(split, new))
        elif 2 * len(new) > row_count:
            return None
        parsed, located = self._locate(split, path, sorted({0, row_count - 1, *chunks[0]}))
        if located is None or (cached is not None and located.located.context != cached.context):
            return None
        outcomes: list[R | UnreadRow | None] = [None] * row_count
        hints: list[Hashable] = [()] * row_count
        if cached is not None:
            outcomes = [None if place is None else cached.outcomes[place] for place in places]
            if cached.hints:
                hints = [() if place is None else cached.hints[place] for place in places]
        self._known = _Known(split, path, located, chunks[1:], hashes, outcomes, hints)
        return parsed

    def _locate(
        self, split: SplitBody, path: str, indices: Sequence[int]
    ) -> tuple[Json, _SomeRows | None]:
        """Some rows of a body, parsed; None with them if they are not found where they should be.

        Raises BodyError.
        """
        parsed = parse_json(split.with_rows(indices))
        try:
            located = locate_rows(self.kind, parsed)
        except UnexpectedShape:
            return parsed, None
        if located is None or located.found.path != path:
            return parsed, None
        if len(located.found.items) != len(indices):
            return parsed, None
        return parsed, _SomeRows(indices, located)

    def _read_new_rows(self, known: _Known[R], body: Json) -> Page[R] | None:
        """The page with the new rows decoded; None if all rows must be read at once.

        The scale of shares is taken from the last reading or from the first chunk, and compared
        with that of all rows in the end.
        """
        first = known.first.located
        scales: Any = None if self._cached is None else self._cached.share_scales
        outcomes: list[Any] = known.outcomes
        for some in self._parsed_chunks(known):
            if some is None or some.located.context != first.context:
                return None
            indices: list[int] = []
            items: list[Json] = []
            for index, item in zip(some.indices, some.located.found.items, strict=True):
                if outcomes[index] is None:
                    indices.append(index)
                    items.append(item)
            rows = list(read_rows(self.kind, some.located.found._replace(items=items)))
            for index, hints in zip(indices, hints_of(self.kind, rows), strict=True):
                known.hints[index] = hints
            if scales is None:
                scales = self._share_scales(known.hints)
            built = self._build(rows, first.context, scales)
            for index, outcome in zip(indices, built, strict=True):
                outcomes[index] = outcome
        if self._share_scales(known.hints) != scales:
            return None
        page = page_of(first, body, outcomes)
        self._keep(page, first, scales, known.hashes, outcomes, known.hints)
        self._body = b""
        return page

    def _parsed_chunks(self, known: _Known[R]) -> Iterator[_SomeRows | None]:
        """The rows that are parsed, one chunk after the other; None for one that is not found.

        Raises BodyError.
        """
        yield known.first
        for indices in known.rest:
            turn_of_thread()
            _, some = self._locate(known.split, known.path, indices)
            yield some

    def _keep(  # noqa: PLR0917 - the fields of `CachedRows`
        self,
        page: Page[R],
        located: LocatedRows,
        share_scales: Any,
        hashes: array[int],
        outcomes: Sequence[R | UnreadRow],
        hints: Sequence[Hashable],
    ) -> None:
        """Keep what was made of each row; the page's own tuple, if it has a record for each."""
        has_all = len(page.records) == len(outcomes)
        same = dict(zip(hints, hints, strict=True))
        has_shares = self.kind.find_share_scales is not None
        self.rows = CachedRows(
            kind=self.kind,
            path=located.found.path,
            context=located.context,
            share_scales=share_scales,
            hashes=hashes,
            outcomes=page.records if has_all else tuple(outcomes),
            hints=tuple(map(same.__getitem__, hints)) if has_shares else (),
            values=self._values,
        )


def _chunks(split: SplitBody, indices: Sequence[int]) -> Iterator[list[int]]:
    """The indices of rows in lists of so many rows as are decoded together; at least one list."""
    chunk: list[int] = []
    size = 0
    for index in indices:
        chunk.append(index)
        size += split.size_of(index)
        if size >= _CHUNK:
            yield chunk
            chunk = []
            size = 0
    yield chunk
