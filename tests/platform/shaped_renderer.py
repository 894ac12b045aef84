"""Writes the platform's records and errors in a response shape: an envelope, pages, other names."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.demo.record_fields import Fields
from agentco_tui.demo.renderer import Json, Renderer, json_answer, unpaged_size
from agentco_tui.demo.world_state import RefusedError
from tests.platform import shapes
from tests.platform.shapes import (
    Shape,
    dress,
    fill_template,
    rekey,
    rekey_all,
    sort_of,
    spell,
)

_NAMES = {
    "companies": ("company", "companies"),
    "agents": ("agent", "agents"),
    "tasks": ("task", "tasks"),
    "activity": ("entry", "entries"),
    "alerts": ("alert", "alerts"),
    "trace": ("trace", "traces"),
}
"""Singular and plural for each kind of record; all other kinds are budgets."""
_BUDGET = ("budget", "budgets")
_LINKS = {"task": "tasks", "agent": "agents", "company": "companies"}
"""The kind of the record behind each link, the closest to a record first."""


class ShapedRenderer(Renderer):
    """Renders answers in one shape."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def single(self, kind: str, fields: Fields, status: int = 200) -> Answer:
        """The answer with one record."""
        return self._enveloped(kind, self.record(kind, fields), [fields], status)

    def approved(self, task: Fields) -> Answer:
        """The answer to an approval that was carried out."""
        status, template = self.shape.approved
        values = {**dress("tasks", task, self.shape), "record": self.record("tasks", task)}
        return self._answer(status, fill_template(template, values))

    def trace(self, steps: list[Fields], task: Fields) -> Answer:
        """The answer with the trace of a task."""
        shape = self.shape
        form = shapes.TRACES[shape.trace]
        keys = shape.keys if form.rekey else "snake"
        root_id = f"{task['id']}-root"
        whole: dict[str, Any] = {
            "total_tokens": sum(step["input_tokens"] + step["output_tokens"] for step in steps),
            "seconds": round(sum(step["seconds"] for step in steps), 3),
            "cost_usd": sum(step["cost_usd"] for step in steps),
            "task_id": shapes.record_id(task["id"], shape),
            "root_id": root_id,
            "title": task["title"],
            "task_status": spell("status", task["status"], shape),
            "started_at": spell("started_at", steps[0]["started_at"], shape) if steps else None,
        }
        rendered_by_id: dict[str, Json] = {}
        top_level = [fill_template(form.root, whole)] if form.root else []
        template = rekey_all(form.step, keys)
        begins_at = steps[0]["started_at"] if steps else 0.0
        for step in steps:
            step |= _derived_step_fields(step, begins_at)  # noqa: PLW2901
            values = {name: spell(name, value, shape) for name, value in step.items()}
            for name in ("type", "outcome"):
                values[name] = form.words.get(step[name], step[name])
            values["parent_or_root"] = step["parent_id"] or root_id
            rendered = fill_template(template, values)
            rendered_by_id[step["id"]] = rendered
            siblings = top_level
            if form.children:
                rendered[form.children] = []
                parent = rendered_by_id.get(step["parent_id"])
                if parent:
                    siblings = parent[form.children]
            siblings.append(rendered)
        body = fill_template(rekey_all(form.whole, keys), {**whole, "steps": top_level})
        return self._enveloped("trace", body, [], 200)

    def error(self, refusal: RefusedError) -> Answer:
        """The answer with an error."""
        form = shapes.ERRORS[self.shape.error]
        status = form.statuses.get(str(refusal.status), refusal.status)
        status = form.statuses.get(refusal.code) or status
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
            name: fill_template(form.each, {**values, "name": name, "words": words})
            for name, words in refusal.fields
        }
        values |= {"by_name": by_name, "each": list(by_name.values())}
        template = form.bodies.get(refusal.code, form.body)
        if refusal.fields and form.fields:
            template = form.fields
        body = fill_template(template, values)
        if isinstance(body, str):
            body = body.encode()
        return self._answer(status, body, form.media)

    def list_answer(
        self,
        kind: str,
        rows: Sequence[Any],
        request: Request,
        fields: Callable[[Any], Fields],
    ) -> Answer:
        shape = self.shape
        start, size = self._page_bounds(kind, [row.id for row in rows], request)
        page_rows = rows[start : start + size]
        encoded: list[Json] = [self.encoded_row(kind, row, fields) for row in page_rows]
        if shape.row != "$row":
            encoded = [
                fill_template(shape.row, {"row": row, "row_cursor": f"c{number}"})
                for number, row in enumerate(encoded, start=start + 1)
            ]
        _, plural = _NAMES.get(kind, _BUDGET)
        values = _page_values(rows, request, start, size)
        values |= {"kinds": rekey(plural, shape.keys), "rows": encoded}
        if shape.links == "related":
            values["included"] = _related([fields(row) for row in page_rows])
        answer = self._answer(200, fill_template(shape.rows, values))
        for name, template in shape.headers.items():
            value = fill_template(template, values)
            if value is not None:
                answer.headers[name] = str(value)
        return answer

    def _answer(self, status: int, body: Json, media_type: str = "") -> Answer:
        """`body` is JSON, or bytes that are sent unchanged."""
        if status == 204:
            return Answer(status, {})
        media_type = media_type or self.shape.media
        if media_type.startswith("text/"):
            media_type += "; charset=utf-8"
        if isinstance(body, bytes):
            return Answer(status, {"content-type": media_type}, body)
        return json_answer(status, body, media_type)

    def _enveloped(self, kind: str, record: Json, related: Sequence[Fields], status: int) -> Answer:
        singular, _ = _NAMES.get(kind, _BUDGET)
        values = {
            "kind": rekey(singular, self.shape.keys),
            "record": record,
            "included": _related(related) or None,
        }
        return self._answer(status, fill_template(self.shape.one, values))

    def record(self, kind: str, fields: Fields) -> Json:
        """A record as a platform of this shape sends it."""
        shape = self.shape
        dressed = dress(kind, fields, shape)
        template = shape.records.get(sort_of(kind)) or shape.records.get("*")
        if template is None:
            return rekey_all(dressed, shape.keys)
        _, plural = _NAMES.get(kind, _BUDGET)
        attributes = {name: value for name, value in dressed.items() if name != "id"}
        values = {
            **dressed,
            "kinds": plural,
            "attributes": rekey_all(attributes, shape.keys),
            **_link_values(fields),
        }
        return fill_template(template, values)

    def _page_bounds(self, kind: str, ids: Sequence[str], request: Request) -> tuple[int, int]:
        """Index of the first row of the requested page, and how many rows it may have."""
        paging = self.shape.paging
        total = len(ids)
        limit = request.whole("limit", "per_page", "page_size", "pageSize", "size")
        if paging == "none":
            return 0, max(1, unpaged_size(kind, total, limit))
        size = min(limit or self.shape.page_size, self.shape.page_size)
        start = 0
        if paging == "page":
            start = (max(1, request.whole("page") or 1) - 1) * size
        elif paging == "offset":
            start = request.whole("offset", least=0) or 0
        elif paging == "after":
            start = _index_after(ids, request.get("after", "starting_after"), total)
        elif cursor := request.get("cursor", "after"):
            try:
                decoded = base64.b64decode(cursor, validate=True).decode()
                index, _, last_id = decoded.partition(">")
                start = _index_after(ids, last_id.removesuffix("?~"), int(index))
            except ValueError as error:
                raise RefusedError(400, "invalid_cursor", "the cursor is not valid") from error
        return min(total, start), size


def _derived_step_fields(step: Fields, begins_at: float) -> Fields:
    """Fields of a step in a trace that only some shapes have; the trace begins at `begins_at`."""
    tool_calls = None
    if step["tool"]:
        function = {"name": step["tool"], "arguments": json.dumps(step["arguments"])}
        tool_calls = [{"function": function}]
    return {
        "name": step["tool"] or step["type"],
        "tool_calls": tool_calls,
        "said": step["content"] or step["tool"],
        "outcome": step["status"],
        "error": step["content"] if step["status"] == "failed" else None,
        "ms": round(step["seconds"] * 1000),
        "ended_at": step["started_at"] + step["seconds"],
        "offset_ms": round((step["started_at"] - begins_at) * 1000),
        "total_tokens": step["input_tokens"] + step["output_tokens"],
    }


def _link_values(fields: Fields) -> dict[str, Any]:
    """What a template may name of the records that a record refers to."""
    links = {name: fields[name] for name in _LINKS if fields.get(name)}
    owner = links.get("agent") or links.get("company")
    owner_id = owner.id if owner else "all"
    entity_type = next(iter(links), "company")
    person = fields.get("actor")
    actor_id = actor_name = person
    agent = links.get("agent")
    if person is None and agent:
        actor_id = agent.id
        actor_name = agent.name
    return {
        "record_id": fields.get("id") or owner_id,
        "relationships": {
            name: {"data": {"type": _LINKS[name], "id": link.id}} for name, link in links.items()
        },
        "actor_type": "user" if person else "agent",
        "actor_id": actor_id,
        "actor_name": actor_name,
        "entity_type": entity_type,
        "entity_id": links[entity_type].id if links else None,
    }


def _page_values(rows: Sequence[Any], request: Request, start: int, size: int) -> dict[str, Any]:
    """What the envelope of a list may name of its page."""
    other_parameters = [pair for pair in request.parameters if pair[0] != "page"]

    def page_url(page: int) -> str:
        query = urlencode([*other_parameters, ("page", str(page))])
        return f"http://{request.headers.get('host', '')}{request.path}?{query}"

    total = len(rows)
    end = min(total, start + size)
    page = start // max(1, size) + 1
    page_count = max(1, math.ceil(total / max(1, size)))
    last_id = rows[end - 1].id if end > start else ""
    # An opaque cursor for what follows: base64, at times with `+`, `/` and `=`.
    cursor = base64.b64encode(f"{end}>{last_id}?~".encode()).decode()
    more = end < total
    link = f'<{page_url(1)}>; rel="first"'
    if more:
        link = f'<{page_url(page + 1)}>; rel="next", {link}'
    return {
        "start": start,
        "size": size,
        "total": total,
        "page": page,
        "pages": page_count,
        "more": more,
        "cursor": cursor if more else None,
        "end_cursor": cursor if last_id else None,
        "first_id": rows[start].id if last_id else None,
        "last_id": last_id or None,
        "next_offset": end if more else None,
        "next_page": page + 1 if more else "",
        "self_url": page_url(page),
        "next_url": page_url(page + 1) if more else None,
        "previous_url": page_url(page - 1) if start else None,
        "link": link,
    }


def _related(records: Sequence[Fields]) -> list[Json]:
    """The records that these refer to, each once, as JSON:API includes them."""
    related: dict[str, Json] = {}
    for fields in records:
        for name in ("company", "agent", "task"):
            link = fields.get(name)
            if link:
                attributes = {"name": link.name}
                related[link.id] = {"type": _LINKS[name], "id": link.id, "attributes": attributes}
    return list(related.values())


def _index_after(ids: Sequence[str], last_id: str | None, default: int) -> int:
    """The index after the row with this id, or the default if there is no such row any more."""
    if last_id is None:
        return 0
    try:
        return ids.index(last_id) + 1
    except ValueError:
        return default
