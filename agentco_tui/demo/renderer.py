"""Writes the embedded platform's records and errors as JSON answers, and caches them.

The embedded platform is a local server that takes the place of the real service in demos and tests.
`Fields` are a record's values by name, before they get their JSON form. Lists are bare arrays,
names are in snake_case, amounts in dollars, and times in ISO 8601. A record is encoded once per
version, and a list once per revision of its kind, so that a poll that brings nothing new is cheap
at any size. Tests subclass the renderer to answer in the styles of other platforms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.demo.record_fields import VALUE_TYPES, Fields
from agentco_tui.demo.world_state import CENT, DOLLAR, RefusedError, iso

Json = Any

_MOST_CACHED_RECORDS = 400_000
_MOST_CACHED_LISTS = 64
_LOG_ENTRIES = 500
"""Entries of the log in an answer to a request without `limit`."""
_MOST_LOG_ENTRIES = 5_000
"""Entries of the log in one answer, whatever the `limit`; no answer mentions this limit."""

_encode = msgspec.json.Encoder().encode


class Renderer:
    """Answers for the operations of the REST API. `kind` is the name of a list of records."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], tuple[object, msgspec.Raw]] = {}
        """By kind and id: the version and the encoded record."""
        self._lists: dict[tuple[object, ...], tuple[object, Answer]] = {}
        """By request: the revision and the answer."""

    def single(self, kind: str, fields: Fields, status: int = 200) -> Answer:
        """The answer with one record."""
        return json_answer(status, self.record(kind, fields))

    def approved(self, task: Fields) -> Answer:
        """The answer to an approval that was carried out."""
        return self.single("tasks", task)

    def trace(self, steps: list[Fields], task: Fields) -> Answer:
        """The answer with the trace of a task."""
        trace = {
            "task_id": task["id"],
            "status": task["status"],
            "steps": [_trace_step(step) for step in steps],
        }
        return json_answer(200, trace)

    def error(self, refusal: RefusedError) -> Answer:
        """The answer with an error."""
        body: dict[str, Json] = {"error": refusal.message}
        if refusal.fields:
            body["details"] = [
                {"path": [name], "message": reason, "code": "invalid"}
                for name, reason in refusal.fields
            ]
        return json_answer(refusal.status, body)

    def listing(
        self,
        kind: str,
        rows: Sequence[Any],
        request: Request,
        *,
        fields: Callable[[Any], Fields],
        revision: int,
    ) -> Answer:
        """The answer with a list.

        `fields` returns the fields of a row, which are the same as long as its version is. The
        answer is cached for the same request as long as `revision` is the same.
        """
        key = (kind, request.path, request.parameters, request.headers.get("host"))
        cached = self._lists.get(key)
        if cached is not None and cached[0] == revision:
            return cached[1]
        answer = self.list_answer(kind, rows, request, fields)
        if len(self._lists) >= _MOST_CACHED_LISTS:
            self._lists.clear()
        self._lists[key] = (revision, answer)
        return answer

    def list_answer(
        self,
        kind: str,
        rows: Sequence[Any],
        request: Request,
        fields: Callable[[Any], Fields],
    ) -> Answer:
        """The answer with a list that is not in the cache."""
        size = unpaged_size(kind, len(rows), request.whole("limit"))
        return json_answer(200, [self.encoded_row(kind, row, fields) for row in rows[:size]])

    def record(self, kind: str, fields: Fields) -> Json:
        """A record as it is sent."""
        record: dict[str, Json] = {}
        for name, value in fields.items():
            record |= _written_field(name, value)
        return record

    def encoded_row(self, kind: str, row: Any, fields: Callable[[Any], Fields]) -> msgspec.Raw:
        """The JSON of a row of a list, from the cache if its version is the same."""
        version = getattr(row, "version", 0)
        cached = self._records.get((kind, row.id))
        if cached is not None and cached[0] == version:
            return cached[1]
        encoded = msgspec.Raw(_encode(self.record(kind, fields(row))))
        if len(self._records) >= _MOST_CACHED_RECORDS:
            self._records.clear()
        self._records[kind, row.id] = (version, encoded)
        return encoded


def json_answer(status: int, body: Json, media_type: str = "application/json") -> Answer:
    """An answer whose body is encoded as JSON."""
    return Answer(status, {"content-type": media_type}, _encode(body))


def unpaged_size(kind: str, total: int, limit: int | None) -> int:
    """How many rows an answer without pages has."""
    if limit is not None:
        return min(limit, _MOST_LOG_ENTRIES)
    return _LOG_ENTRIES if kind == "activity" else total


def rounded_cents(micros: int) -> int:
    """An amount of micro-dollars in cents, rounded half up, as ledgers do."""
    return (micros + CENT // 2) // CENT


def dollars(micros: int) -> int | float:
    """An amount of micro-dollars in dollars, as a whole number if it is one."""
    return micros // DOLLAR if micros % DOLLAR == 0 else micros / DOLLAR


def percent(share: float) -> int | float:
    """A share of 1 as a percentage with two places, as a whole number if it is one."""
    rounded = round(share * 100, 2)
    return int(rounded) if rounded.is_integer() else rounded


def _written_field(name: str, value: Any) -> dict[str, Json]:
    """A field as it is sent: two fields for a link, one for anything else."""
    value_type = VALUE_TYPES.get(name)
    if value_type == "share":
        sent_name = "percent_used" if name == "used" else f"{name}_percent"
        return {sent_name: None if value is None else percent(value)}
    if value is None:
        return {name: None}
    match value_type:
        case "amount":
            return {name: dollars(value)}
        case "remainder":
            return {name: dollars(max(0, value))}
        case "time":
            return {name: iso(value)}
        case "link":
            return {f"{name}_id": value.id, f"{name}_name": value.name}
    return {name: value}


def _trace_step(step: Fields) -> dict[str, Json]:
    return {
        "id": step["id"],
        "parent_id": step["parent_id"],
        "index": step["index"],
        "type": step["type"],
        "tool": step["tool"],
        "arguments": step["arguments"],
        "content": step["content"],
        "status": step["status"],
        "started_at": iso(step["started_at"]),
        "input_tokens": step["input_tokens"],
        "output_tokens": step["output_tokens"],
        "cost": step["cost_usd"],
        "duration_ms": round(step["seconds"] * 1000),
    }
