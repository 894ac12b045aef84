"""Turns records into answers in one shape, and keeps what was made until it changes.

A record is encoded once for each of its versions, and a whole list once for each revision of its
kind, so that a poll which brings nothing new costs next to nothing at any size.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from agentco_tui.demo import shapes
from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.demo.record_fields import Fields
from agentco_tui.demo.shapes import Json, Shape, dress, rekey, rekeyed, sort_of, told, written
from agentco_tui.demo.world_state import RefusedError

_KEPT_RECORDS = 400_000
_KEPT_LISTS = 64
_LOG_USUAL, _LOG_MOST = 500, 5_000
"""Entries of the log in one answer: without `limit`, and at most. Nothing says so."""

_NAMES = {
    "companies": ("company", "companies"),
    "agents": ("agent", "agents"),
    "tasks": ("task", "tasks"),
    "activity": ("entry", "entries"),
    "alerts": ("alert", "alerts"),
    "trace": ("trace", "traces"),
}
"""What a record and a list of each kind are called where they are named; all others are budgets."""
_BUDGET = ("budget", "budgets")
_LINKS = {"task": "tasks", "agent": "agents", "company": "companies"}
"""The kinds of what a record refers to, the closest to it first."""

_encode = msgspec.json.Encoder().encode


class Renderer:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._records: dict[tuple[str, str], tuple[object, msgspec.Raw]] = {}
        self._lists: dict[tuple[object, ...], tuple[object, Answer]] = {}

    def single(self, kind: str, fields: Fields, status: int = 200) -> Answer:
        return self._enveloped(kind, self._record(kind, fields), [fields], status)

    def approved(self, task: Fields) -> Answer:
        status, template = self.shape.approved
        values = {**dress("tasks", task, self.shape), "record": self._record("tasks", task)}
        return self._answer(status, written(template, values))

    def trace(self, steps: list[Fields], task: Fields) -> Answer:
        shape = self.shape
        form = shapes.TRACES[shape.trace]
        keys = shape.keys if form.rekey else "snake"
        root_id = f"{task['id']}-root"
        whole: dict[str, Any] = {
            "total_tokens": sum(step["total_tokens"] for step in steps),
            "seconds": round(sum(step["seconds"] for step in steps), 3),
            "cost_usd": sum(step["cost_usd"] for step in steps),
            "task_id": shapes.record_id(task["id"], shape),
            "root_id": root_id,
            "title": task["title"],
            "task_status": told("status", task["status"], shape),
            "started_at": told("started_at", steps[0]["started_at"], shape) if steps else None,
        }
        by_id: dict[str, Json] = {}
        top = [written(form.root, whole)] if form.root else []
        template = rekeyed(form.step, keys)
        for step in steps:
            values = {name: told(name, value, shape) for name, value in step.items()}
            values |= {name: form.words.get(step[name], step[name]) for name in ("type", "outcome")}
            values["parent_or_root"] = step["parent_id"] or root_id
            shown = by_id[step["id"]] = written(template, values)
            parent = by_id.get(step["parent_id"]) if form.children else None
            if form.children:
                shown[form.children] = []
            (parent[form.children] if parent else top).append(shown)
        body = written(rekeyed(form.whole, keys), {**whole, "steps": top})
        return self._enveloped("trace", body, [], 200)

    def refusal(self, refusal: RefusedError) -> Answer:
        form = shapes.ERRORS[self.shape.error]
        status = form.statuses.get(refusal.code) or form.statuses.get(
            str(refusal.status), refusal.status
        )
        values: dict[str, Any] = {
            "status": str(status),
            "status_number": status,
            "code": refusal.code,
            "CODE": refusal.code.upper(),
            "message": refusal.message,
            "told": str(refusal),
            "first": refusal.fields[0][0] if refusal.fields else None,
        }
        by_name = {
            name: written(form.each, {**values, "name": name, "words": words})
            for name, words in refusal.fields
        }
        values |= {"by_name": by_name, "each": list(by_name.values())}
        template = form.bodies.get(refusal.code, form.body)
        body = written(form.fields if refusal.fields and form.fields else template, values)
        return self._answer(status, body.encode() if isinstance(body, str) else body, form.media)

    def listing(
        self,
        kind: str,
        rows: Sequence[Any],
        request: Request,
        *,
        fields: Callable[[Any], Fields],
        revision: int,
    ) -> Answer:
        """The answer that is a list, or a page of one.

        `fields` gives a row's neutral fields, the same as long as its version is; the answer is
        kept for the same request until `revision` is another one.
        """
        key = (kind, request.path, request.parameters, request.headers.get("host"))
        kept = self._lists.get(key)
        if kept is not None and kept[0] == revision:
            return kept[1]
        shape = self.shape
        start, size = self._part(kind, [row.id for row in rows], request)
        shown = rows[start : start + size]
        values = _page(rows, request, start, size)
        sent: list[Json] = [self._raw(kind, row, fields) for row in shown]
        if shape.row != "$row":
            sent = [
                written(shape.row, {"row": row, "row_cursor": f"c{turn}"})
                for turn, row in enumerate(sent, start=start + 1)
            ]
        values |= {"kinds": rekey(_NAMES.get(kind, _BUDGET)[1], shape.keys), "rows": sent}
        if shape.links == "related":
            values["included"] = _related([fields(row) for row in shown])
        answer = self._answer(200, written(shape.rows, values))
        headers = {name: written(template, values) for name, template in shape.headers.items()}
        answer.headers.update((k, str(v)) for k, v in headers.items() if v is not None)
        if len(self._lists) >= _KEPT_LISTS:
            self._lists.clear()
        self._lists[key] = (revision, answer)
        return answer

    def _answer(self, status: int, body: Json, media: str = "") -> Answer:
        if status == 204:
            return Answer(status, {})
        media = media or self.shape.media
        if media.startswith("text/"):
            media += "; charset=utf-8"
        data = body if isinstance(body, bytes) else _encode(body)
        return Answer(status, {"content-type": media}, data)

    def _enveloped(self, kind: str, record: Json, related: Sequence[Fields], status: int) -> Answer:
        called = rekey(_NAMES.get(kind, _BUDGET)[0], self.shape.keys)
        values = {"kind": called, "record": record, "included": _related(related) or None}
        return self._answer(status, written(self.shape.one, values))

    def _record(self, kind: str, fields: Fields) -> Json:
        shape = self.shape
        dressed = dress(kind, fields, shape)
        template = shape.records.get(sort_of(kind)) or shape.records.get("*")
        if template is None:
            return rekeyed(dressed, shape.keys)
        links = {name: fields[name] for name in _LINKS if fields.get(name)}
        of = links.get("agent") or links.get("company")
        entity = next(iter(links), "company")
        person = fields.get("actor")
        actor = links.get("agent") if person is None else None
        more = {
            "kinds": _NAMES.get(kind, _BUDGET)[1],
            "record_id": fields.get("id") or (of.id if of else "all"),
            "attributes": rekeyed({k: v for k, v in dressed.items() if k != "id"}, shape.keys),
            "relationships": {
                name: {"data": {"type": _LINKS[name], "id": link.id}}
                for name, link in links.items()
            },
            "actor_type": "user" if person else "agent",
            "actor_id": actor.id if actor else person,
            "actor_name": actor.name if actor else person,
            "entity_type": entity,
            "entity_id": links[entity].id if links else None,
        }
        return written(template, {**dressed, **more})

    def _raw(self, kind: str, row: Any, fields: Callable[[Any], Fields]) -> msgspec.Raw:
        now = getattr(row, "version", 0)
        kept = self._records.get((kind, row.id))
        if kept is not None and kept[0] == now:
            return kept[1]
        raw = msgspec.Raw(_encode(self._record(kind, fields(row))))
        if len(self._records) >= _KEPT_RECORDS:
            self._records.clear()
        self._records[kind, row.id] = (now, raw)
        return raw

    def _part(self, kind: str, ids: Sequence[str], request: Request) -> tuple[int, int]:
        """Where the page that was asked for begins, and how many rows it may have."""
        paging, total = self.shape.paging, len(ids)
        asked = request.whole("limit", "per_page", "page_size", "pageSize", "size")
        if paging == "none":
            usual = _LOG_USUAL if kind == "activity" else total
            return 0, max(1, usual if asked is None else min(asked, _LOG_MOST))
        size, start = min(asked or self.shape.page_size, self.shape.page_size), 0
        if paging == "page":
            start = (max(1, request.whole("page") or 1) - 1) * size
        elif paging == "offset":
            start = request.whole("offset", least=0) or 0
        elif paging == "after":
            start = _behind(ids, request.get("after", "starting_after"), total)
        elif cursor := request.get("cursor", "after"):
            try:
                place, _, last = base64.b64decode(cursor, validate=True).decode().partition(">")
                start = _behind(ids, last.removesuffix("?~"), int(place))
            except ValueError as error:
                raise RefusedError(400, "invalid_cursor", "the cursor is not valid") from error
        return min(total, start), size


def _page(rows: Sequence[Any], request: Request, start: int, size: int) -> dict[str, Any]:
    """What the envelope of a list may name."""

    def address(page: int) -> str:
        kept = [(name, value) for name, value in request.parameters if name != "page"]
        query = urlencode([*kept, ("page", str(page))])
        return f"http://{request.headers.get('host', '')}{request.path}?{query}"

    total, end = len(rows), min(len(rows), start + size)
    page = start // max(1, size) + 1
    last_id = rows[end - 1].id if end > start else ""
    # An opaque cursor for what follows: base64, at times with `+`, `/` and `=`.
    cursor = base64.b64encode(f"{end}>{last_id}?~".encode()).decode()
    more = end < total
    links = [(page + 1, "next")] if more else []
    return {
        "start": start,
        "size": size,
        "total": total,
        "page": page,
        "pages": max(1, -(-total // max(1, size))),
        "more": more,
        "cursor": cursor if more else None,
        "end_cursor": cursor if last_id else None,
        "first_id": rows[start].id if last_id else None,
        "last_id": last_id or None,
        "next_offset": end if more else None,
        "next_page": page + 1 if more else "",
        "self_url": address(page),
        "next_url": address(page + 1) if more else None,
        "previous_url": address(page - 1) if start else None,
        "link": ", ".join(f'<{address(at)}>; rel="{rel}"' for at, rel in [*links, (1, "first")]),
    }


def _related(records: Sequence[Fields]) -> list[Json]:
    """What records refer to, each told once, as JSON:API includes it."""
    found: dict[str, Json] = {}
    for fields in records:
        for name in ("company", "agent", "task"):
            link = fields.get(name)
            if link:
                attributes = {"name": link.name}
                found[link.id] = {"type": _LINKS[name], "id": link.id, "attributes": attributes}
    return list(found.values())


def _behind(ids: Sequence[str], last_id: str | None, otherwise: int) -> int:
    """After the row with this id, wherever it is by now."""
    try:
        return 0 if last_id is None else ids.index(last_id) + 1
    except ValueError:
        return otherwise
