"""Turns records into bytes in one shape, and keeps what was made until it changes.

A record is encoded once for each of its versions, and a whole list once for each revision of its
kind, so that a poll which brings nothing new costs next to nothing at any size.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from agentco_tui.demo.fields import Fields
from agentco_tui.demo.model import Refusal
from agentco_tui.demo.shape import Ask, Json, Out, Page, Shape
from agentco_tui.demo.styles import dress


class Row(Protocol):
    """A record of the world."""

    @property
    def id(self) -> str:
        """Its identifier."""


R = TypeVar("R", bound=Row)
_KEPT_RECORDS = 400_000
_KEPT_LISTS = 64
_LOG_USUAL, _LOG_MOST = 500, 5_000
"""Entries of the log in one answer: without `limit`, and at most. Nothing says so (SHAPES E)."""

_encoder = msgspec.json.Encoder()


class Renderer:
    """Writes answers in one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._records: dict[tuple[str, str], tuple[object, msgspec.Raw]] = {}
        self._lists: dict[tuple[object, ...], tuple[object, Out]] = {}

    def record(self, kind: str, fields: Fields) -> Json:
        """One record, dressed, without an envelope."""
        dressed = dress(kind, fields, self.shape.style)
        if self.shape.reshape is not None:
            return self.shape.reshape(kind, fields, dressed)
        return dressed

    def single(self, kind: str, fields: Fields, status: int = 200) -> Out:
        """The answer that is one record."""
        return Out(self.shape.single(kind, self.record(kind, fields)), status)

    def listing(
        self,
        kind: str,
        rows: Sequence[R],
        ask: Ask,
        *,
        fields: Callable[[R], Fields],
        version: Callable[[R], object],
        revision: object,
    ) -> Out:
        """The answer that is a list, or a page of one.

        `fields` gives a row's neutral fields and `version` changes with them; the answer is kept
        for the same request until `revision` is another one.
        """
        key = (kind, ask)
        kept = self._lists.get(key)
        if kept is not None and kept[0] == revision:
            return kept[1]
        page = self._page(kind, [row.id for row in rows], ask)
        sent = [self._raw(kind, row, fields, version) for row in rows[page.start : page.end]]
        made = self.shape.listing(kind, sent, page, ask)
        out = Out(encode(made.body), made.status, made.headers, made.media)
        if len(self._lists) >= _KEPT_LISTS:
            self._lists.clear()
        self._lists[key] = (revision, out)
        return out

    def approved(self, task: Fields) -> Out:
        """The answer to an approve that was done."""
        return self.shape.approved(self.record("tasks", task), task, self.shape.style)

    def trace(self, steps: list[Fields], task: Fields) -> Out:
        """The answer that is a trace."""
        return Out(self.shape.single("trace", self.shape.trace(steps, task, self.shape.style)))

    def refusal(self, refusal: Refusal) -> Out:
        """The answer that says no."""
        return self.shape.refuse(refusal)

    def _raw(
        self, kind: str, row: R, fields: Callable[[R], Fields], version: Callable[[R], object]
    ) -> msgspec.Raw:
        now = version(row)
        kept = self._records.get((kind, row.id))
        if kept is not None and kept[0] == now:
            return kept[1]
        told = fields(row)
        record = self.record(kind, told)
        if self.shape.in_list is not None:
            record = self.shape.in_list(kind, told, record)
        raw = msgspec.Raw(_encoder.encode(record))
        if len(self._records) >= _KEPT_RECORDS:
            self._records.clear()
        self._records[kind, row.id] = (now, raw)
        return raw

    def _page(self, kind: str, ids: Sequence[str], ask: Ask) -> Page:
        total = len(ids)
        asked = _whole(ask.get("limit", "per_page", "page_size", "pageSize", "size"), "limit")
        if self.shape.paging == "none":
            usual = _LOG_USUAL if kind == "activity" else total
            size = max(1, usual if asked is None else min(asked, _LOG_MOST))
            start = 0
        else:
            size = min(asked or self.shape.page_size, self.shape.page_size)
            start = min(total, self._start(ids, ask, size))
        end = min(total, start + size)
        return Page(start, size, total, tuple(ids[start:end]))

    def _start(self, ids: Sequence[str], ask: Ask, size: int) -> int:
        match self.shape.paging:
            case "page":
                return (max(1, _whole(ask.get("page"), "page") or 1) - 1) * size
            case "page0":
                return (_whole(ask.get("page"), "page", least=0) or 0) * size
            case "offset":
                return _whole(ask.get("offset"), "offset", least=0) or 0
            case "after":
                after = ask.get("after", "starting_after")
                return 0 if after is None else _position(ids, after, len(ids))
            case _:
                cursor = ask.get(
                    "cursor", "after", "pageToken", "page_token", "nextPageToken", "NextToken"
                )
                return 0 if not cursor else _from_cursor(ids, cursor)


def encode(body: Json) -> bytes:
    """JSON as bytes; bytes are passed through."""
    return body if isinstance(body, bytes) else _encoder.encode(body)


def _from_cursor(ids: Sequence[str], cursor: str) -> int:
    try:
        place, _, last_id = base64.b64decode(cursor, validate=True).decode().partition(">")
        return _position(ids, last_id.removesuffix("?~"), int(place))
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise Refusal(400, "invalid_cursor", "the cursor is not valid") from error


def _position(ids: Sequence[str], last_id: str, otherwise: int) -> int:
    """After the row with this id, wherever it is by now."""
    try:
        return ids.index(last_id) + 1
    except ValueError:
        return otherwise


def _whole(text: str | None, name: str, least: int = 1) -> int | None:
    """A whole number of a query; Refusal 422 if it is none."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        words = f"must be a whole number from {least}"
        raise Refusal(422, "invalid_query", "Validation error", ((name, words),))
    return int(text)
