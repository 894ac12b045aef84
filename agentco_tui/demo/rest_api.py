"""The REST API of the embedded platform: its API keys, and what each operation answers and does.

The embedded platform is a local server that takes the place of the real service in demos and tests.
`RestApi` reads and changes a `World`, the simulated companies, AI agents and tasks, which is
brought up to date and locked during each request. A `Renderer` writes the answers as JSON. A
`RefusedError` of either is answered with an error status; `check` raises one for fields that break
a rule.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from agentco_tui.demo.http_messages import Answer, Request, path_pattern, phrase_of
from agentco_tui.demo.record_fields import overview_fields, record_fields, trace_fields
from agentco_tui.demo.renderer import Renderer
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DOLLAR, RefusedError, WorldState, check, iso

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet runs a cell that begins with one of these as a formula."""
_EXPORT_COLUMNS = (
    "id",
    "timestamp",
    "level",
    "action",
    "company",
    "agent",
    "task",
    "message",
    "cost",
)


class Keys(dict[str, str]):
    """The API keys by permission: `full` may do everything, `read` only read.

    They are made from the seed of the world.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        for permission in ("full", "read"):
            digest = hashlib.sha256(f"agentco demo key {seed} {permission}".encode()).hexdigest()
            self[permission] = f"ag_{permission}_{digest[:32]}"

    def permission(self, authorization: str | None) -> str | None:
        """`full`, `read`, or None if the header holds no valid key."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        for permission, key in self.items():
            if key == token:
                return permission
        return None


class RestApi:
    """Answers requests to one world."""

    def __init__(self, world: World, keys: Keys, renderer: Renderer) -> None:
        self.world = world
        self.keys = keys
        self._renderer = renderer

    def answer(self, request: Request) -> Answer:
        """The platform's answer, after the request was carried out."""
        try:
            answer = self._answer_permitted(request)
        except RefusedError as refusal:
            answer = self._renderer.error(refusal)
        if answer.status == 401:
            return answer.replaced(answer.body, www_authenticate="Bearer")
        return answer

    def error(self, status: int) -> Answer:
        """An error with this status, in the platform's own words."""
        phrase = phrase_of(status)
        code = phrase.lower().replace(" ", "_")
        return self._renderer.error(RefusedError(status, code, phrase))

    def _answer_permitted(self, request: Request) -> Answer:
        operation = request.operation
        if operation is None:
            raise RefusedError(404, "not_found", "no such path")
        authorization = request.headers.get("authorization")
        permission = self.keys.permission(authorization)
        if permission is None:
            message = "API key missing or invalid" if authorization else "API key missing"
            raise RefusedError(401, "unauthorized", message)
        if operation.writes and permission != "full":
            raise RefusedError(403, "forbidden", "API key lacks the permission to change anything")
        path = path_pattern(operation.path).fullmatch(request.path)
        record_id = unquote(path[1]) if path and path.re.groups else ""
        with self.world.locked() as state:
            if operation.writes:
                return self._write(operation.name, record_id, request, state)
            return self._read(operation.name, record_id, request, state)

    def _single(self, kind: str, record: object, status: int = 200) -> Answer:
        fields = record_fields(kind, record, self.world.state)
        return self._renderer.single(kind, fields, status)

    def _read(self, operation: str, record_id: str, request: Request, state: WorldState) -> Answer:
        world = self.world
        company_id = request.get("company_id")
        rows: Sequence[Any]
        match operation:
            case "company":
                return self._single("companies", world.company(record_id))
            case "agent":
                return self._single("agents", world.agent(record_id))
            case "trace":
                task = world.task(record_id)
                steps = trace_fields(state, task)
                return self._renderer.trace(steps, record_fields("tasks", task, state))
            case "budget":
                return self._renderer.single("overview", overview_fields(state))
            case "companies" | "company_budgets":
                rows = list(state.companies.values())
            case "agents" | "agent_budgets":
                rows = world.agents(company_id)
            case "tasks":
                rows = world.tasks(company_id, request.get("status"))
            case "alerts":
                rows = world.alerts()
            case _:
                first_day = request.day("from")
                last_day = request.day("to")
                rows = world.activity(company_id, request.get("agent_id"), first_day, last_day)
        if operation == "export":
            return _export(rows, request.get("format") or "csv")
        return self._renderer.listing(
            operation,
            rows,
            request,
            fields=lambda row: record_fields(operation, row, state),
            revision=state.revisions[type(rows[0])] if rows else 0,
        )

    def _write(self, operation: str, record_id: str, request: Request, state: WorldState) -> Answer:
        world = self.world
        match operation:
            case "approve":
                task = world.approve(record_id)
                return self._renderer.approved(record_fields("tasks", task, state))
            case "create_task":
                fields = request.texts("company_id", "title", "agent_id", "priority")
                return self._single("tasks", world.create_task(*fields), 201)
            case "create_company":
                fields = request.texts(
                    "name", "template", "mission", optional=("template", "mission")
                )
                return self._single("companies", world.create_company(*fields), 201)
            case "clone_company":
                fields = request.texts("name", "mission", optional=("mission",))
                company = world.clone_company(record_id, *fields)
                return self._single("companies", company, 201)
            case _:
                return self._set_limit(record_id, request)

    def _set_limit(self, agent_id: str, request: Request) -> Answer:
        """`monthly_limit` is in whole currency units; 0 removes the limit."""
        body = request.json()
        value = body.get("monthly_limit", 0)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_in_range = is_number and math.isfinite(value) and 0 <= value <= 1_000_000_000
        check(
            ("monthly_limit" not in body, "monthly_limit", "is required"),
            (not is_number, "monthly_limit", "must be a number"),
            (is_number and not is_in_range, "monthly_limit", "must be from 0 to 1,000,000,000"),
        )
        return self._single("agent_budgets", self.world.set_limit(agent_id, value))


def _export(entries: Iterable[Any], file_format: str) -> Answer:
    """A CSV file with a header row; no cell is a formula that a spreadsheet would run."""
    if file_format != "csv":
        message = f"unknown format {file_format!r}: only csv is known"
        raise RefusedError(400, "unknown_format", message)
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(_EXPORT_COLUMNS)
    for entry in entries:
        cells = (
            entry.id,
            iso(entry.at),
            entry.level,
            entry.action,
            _name_of(entry.company),
            _name_of(entry.agent),
            _name_of(entry.task),
            entry.message,
            f"{(entry.cost or 0) / DOLLAR:.4f}",
        )
        writer.writerow(map(_harmless_cell, cells))
    headers = {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="activity.csv"',
    }
    return Answer(200, headers, sheet.getvalue().encode())


def _name_of(record: Any) -> str:
    return record.name if record else ""


def _harmless_cell(cell: str) -> str:
    """The text of a cell, quoted if a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
