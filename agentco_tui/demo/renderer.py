"""Turns records into bytes in one shape, and keeps what was made until it changes.

A record is encoded once for each of its versions, and a whole list once for each revision of its
kind, so that a poll which brings nothing new costs next to nothing at any size.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

import msgspec

from agentco_tui.demo.dress import dress, moment, record_id, rekey, rekeyed
from agentco_tui.demo.model import Refusal
from agentco_tui.demo.records import Fields, Link, When, Word
from agentco_tui.demo.shapes import ERRORS, TRACES, Json, Shape, written

_KEPT_RECORDS = 400_000
_KEPT_LISTS = 64
_LOG_USUAL, _LOG_MOST = 500, 5_000
"""Entries of the log in one answer: without `limit`, and at most. Nothing says so."""

_SINGULAR = {
    "companies": "company",
    "agents": "agent",
    "tasks": "task",
    "activity": "entry",
    "alerts": "alert",
    "trace": "trace",
}
"""What a record of each kind is called; all others are budgets."""
_PLURAL = {"activity": "entries"} | {
    kind: kind for kind in ("companies", "agents", "tasks", "alerts")
}
"""What a list of each kind is called where it is named after what it holds."""

_encoder = msgspec.json.Encoder()


class Row(Protocol):
    """A record of the world."""

    @property
    def id(self) -> str:
        """Its identifier."""


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Out:
    """An answer before it is written: JSON to encode (or bytes), and what goes with it."""

    body: Json
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    media: str = "application/json"


@dataclass(frozen=True, slots=True)
class Ask:
    """What of a request the envelopes need: its address and query, for links to other pages."""

    origin: str
    path: str
    query: tuple[tuple[str, str], ...]

    def get(self, *names: str) -> str | None:
        """The first of these query parameters that was sent."""
        return next((value for name, value in self.query if name in names), None)

    def address(self, **changed: object) -> str:
        """The same request with other parameters."""
        kept = [(name, value) for name, value in self.query if name not in changed]
        query = urlencode([*kept, *((name, str(value)) for name, value in changed.items())])
        return f"{self.origin}{self.path}?{query}"


class Renderer:
    """Writes answers in one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._records: dict[tuple[str, str], tuple[object, msgspec.Raw]] = {}
        self._lists: dict[tuple[object, ...], tuple[object, Out]] = {}

    def record(self, kind: str, fields: Fields) -> Json:
        """One record, dressed, without an envelope."""
        shape = self.shape
        dressed = dress(kind, fields, shape)
        template = shape.records.get(kind) or shape.records.get("*")
        if template is None:
            return rekeyed(dressed, shape.keys)
        return written(template, {**dressed, **self._more(kind, fields, dressed)})

    def single(self, kind: str, fields: Fields, status: int = 200) -> Out:
        """The answer that is one record."""
        return self._enveloped(kind, self.record(kind, fields), _related([fields]), status)

    def approved(self, task: Fields) -> Out:
        """The answer to an approve that was done."""
        status, template = self.shape.approved
        values = {**dress("tasks", task, self.shape), "record": self.record("tasks", task)}
        return Out(written(template, values), status, media=self.shape.media)

    def trace(self, steps: list[Fields], task: Fields) -> Out:
        """The answer that is a trace."""
        trace, shape = TRACES[self.shape.trace], self.shape
        root_id = f"{task['id']}-root"
        whole: dict[str, Any] = {
            name: sum(step[name] for step in steps)
            for name in ("total_tokens", "seconds", "cost_usd")
        }
        whole |= {
            "task_id": record_id(task["id"], shape),
            "root_id": root_id,
            "title": task["title"],
            "task_status": shape.words.get(task["status"].word, task["status"].word),
            "seconds": round(whole["seconds"], 3),
            "started_at": moment(steps[0]["started_at"].at if steps else 0.0, shape.times),
        }
        by_id: dict[str, Json] = {}
        top = [written(trace.root, whole)] if trace.root else []
        for step in steps:
            values = {
                name: moment(value.at, shape.times)
                if isinstance(value, When)
                else shape.words.get(value.word, value.word)
                if isinstance(value, Word)
                else value
                for name, value in step.items()
            }
            values |= {
                name: trace.words.get(step[name], step[name]) for name in ("type", "outcome")
            }
            values["parent_or_root"] = step["parent_id"] or root_id
            template = rekeyed(trace.step, shape.keys) if trace.rekey else trace.step
            told = by_id[step["id"]] = written(template, values)
            if trace.children:
                told[trace.children] = []
            parent = by_id.get(step["parent_id"]) if trace.children else None
            (top if parent is None else parent[trace.children]).append(told)
        template = rekeyed(trace.whole, shape.keys) if trace.rekey else trace.whole
        return self._enveloped("trace", written(template, {**whole, "steps": top}), None, 200)

    def refusal(self, refusal: Refusal) -> Out:
        """The answer that says no."""
        errors = ERRORS[self.shape.error]
        statuses = errors.statuses
        status = statuses.get(refusal.code) or statuses.get(str(refusal.status), refusal.status)
        values: dict[str, Any] = {
            "status": str(status),
            "status_number": status,
            "code": refusal.code,
            "CODE": refusal.code.upper(),
            "message": refusal.message,
            "told": str(refusal),
            "first": refusal.fields[0][0] if refusal.fields else None,
        }
        values["each"] = [
            written(errors.each, {**values, "name": name, "words": words})
            for name, words in refusal.fields
        ]
        values["by_name"] = dict(
            zip((name for name, _ in refusal.fields), values["each"], strict=True)
        )
        template = errors.bodies.get(refusal.code, errors.body)
        body = written(errors.fields if refusal.fields and errors.fields else template, values)
        return Out(body.encode() if isinstance(body, str) else body, status, media=errors.media)

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
        shape = self.shape
        start, size = self._part(kind, [row.id for row in rows], ask)
        end = min(len(rows), start + size)
        values = self._page(rows, ask, start, size)
        sent = [self._raw(kind, row, fields, version) for row in rows[start:end]]
        if shape.row != "$row":
            sent = [
                written(shape.row, {"row": row, "row_cursor": f"c{start + turn}"})
                for turn, row in enumerate(sent, start=1)
            ]
        values |= {"kinds": rekey(_PLURAL.get(kind, "budgets"), shape.keys), "rows": sent}
        if shape.links == "related":
            values["included"] = _related([fields(row) for row in rows[start:end]])
        headers = {name: written(template, values) for name, template in shape.headers.items()}
        told = tuple((name, str(value)) for name, value in headers.items() if value is not None)
        out = Out(encode(written(shape.rows, values)), 200, told, shape.media)
        if len(self._lists) >= _KEPT_LISTS:
            self._lists.clear()
        self._lists[key] = (revision, out)
        return out

    def _enveloped(self, kind: str, record: Json, included: Json, status: int) -> Out:
        called = rekey(_SINGULAR.get(kind, "budget"), self.shape.keys)
        values = {"kind": called, "record": record, "included": included}
        return Out(written(self.shape.one, values), status, media=self.shape.media)

    def _more(self, kind: str, fields: Fields, dressed: Fields) -> Fields:
        """What a template of a record may also name."""
        links = {
            name: link
            for name in ("task", "agent", "company")
            if isinstance(link := fields.get(name), Link)
        }
        of = links.get("agent") or links.get("company")
        entity = next(iter(links), "company")
        person = fields.get("actor")
        by_agent = None if person else links.get("agent")
        return {
            "kinds": _PLURAL.get(kind, "budgets"),
            "record_id": fields.get("id") or (of.id if of else "all"),
            "attributes": rekeyed({k: v for k, v in dressed.items() if k != "id"}, self.shape.keys),
            "relationships": {
                name: {"data": {"type": _PLURAL[_kind_of(name)], "id": link.id}}
                for name, link in links.items()
            },
            "actor_type": "user" if person else "agent",
            "actor_id": person or (by_agent.id if by_agent else None),
            "actor_name": person or (by_agent.name if by_agent else None),
            "entity_type": entity,
            "entity_id": links[entity].id if links else None,
        }

    def _raw(
        self, kind: str, row: R, fields: Callable[[R], Fields], version: Callable[[R], object]
    ) -> msgspec.Raw:
        now = version(row)
        kept = self._records.get((kind, row.id))
        if kept is not None and kept[0] == now:
            return kept[1]
        raw = msgspec.Raw(_encoder.encode(self.record(kind, fields(row))))
        if len(self._records) >= _KEPT_RECORDS:
            self._records.clear()
        self._records[kind, row.id] = (now, raw)
        return raw

    def _page(self, rows: Sequence[R], ask: Ask, start: int, size: int) -> dict[str, Any]:
        """What the envelope of a list may name."""
        total = len(rows)
        end = min(total, start + size)
        number = start // max(1, size) + 1
        last_id = rows[end - 1].id if end > start else ""
        # An opaque cursor for what follows: base64, at times with `+`, `/` and `=`.
        cursor = base64.b64encode(f"{end}>{last_id}?~".encode()).decode()
        more = end < total
        links = [(number + 1, "next")] if more else []
        pages = [f'<{ask.address(page=page)}>; rel="{rel}"' for page, rel in [*links, (1, "first")]]
        return {
            "start": start,
            "size": size,
            "total": total,
            "page": number,
            "pages": max(1, -(-total // max(1, size))),
            "more": more,
            "cursor": cursor if more else None,
            "end_cursor": cursor if last_id else None,
            "first_id": rows[start].id if last_id else None,
            "last_id": last_id or None,
            "next_offset": end if more else None,
            "next_page": number + 1 if more else "",
            "self_url": ask.address(page=number),
            "next_url": ask.address(page=number + 1) if more else None,
            "previous_url": ask.address(page=number - 1) if start else None,
            "link": ", ".join(pages),
        }

    def _part(self, kind: str, ids: Sequence[str], ask: Ask) -> tuple[int, int]:
        """Where the page that was asked for begins, and how many rows it may have."""
        paging, total = self.shape.paging, len(ids)
        asked = _whole(ask.get("limit", "per_page", "page_size", "pageSize", "size"), "limit")
        if paging == "none":
            usual = _LOG_USUAL if kind == "activity" else total
            return 0, max(1, usual if asked is None else min(asked, _LOG_MOST))
        size = min(asked or self.shape.page_size, self.shape.page_size)
        if paging == "page":
            start = (max(1, _whole(ask.get("page"), "page") or 1) - 1) * size
        elif paging == "offset":
            start = _whole(ask.get("offset"), "offset", least=0) or 0
        elif paging == "after":
            after = ask.get("after", "starting_after")
            start = 0 if after is None else _position(ids, after, total)
        else:
            cursor = ask.get("cursor", "after")
            start = _from_cursor(ids, cursor) if cursor else 0
        return min(total, start), size


def encode(body: Json) -> bytes:
    """JSON as bytes; bytes are passed through."""
    return body if isinstance(body, bytes) else _encoder.encode(body)


def _kind_of(name: str) -> str:
    return next(kind for kind, singular in _SINGULAR.items() if singular == name)


def _related(records: Sequence[Fields]) -> list[Json] | None:
    """What records refer to, each told once, as JSON:API includes it."""
    found: dict[str, Json] = {}
    for fields in records:
        for name in ("company", "agent", "task"):
            link = fields.get(name)
            if isinstance(link, Link):
                attributes = {"name": link.name}
                found[link.id] = {"type": _kind_of(name), "id": link.id, "attributes": attributes}
    return list(found.values())


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
