"""The interface itself: its keys, what each operation answers and does to the world."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from agentco_tui.demo.http_messages import Answer, Request, path_pattern, phrase_of
from agentco_tui.demo.record_fields import overview_fields, record_fields, trace_steps
from agentco_tui.demo.renderer import Renderer
from agentco_tui.demo.shapes import Shape
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DOLLAR, RefusedError, WorldState, check, iso

_COLUMNS = ("id", "timestamp", "level", "action", "company", "agent", "task", "message", "cost")


class Keys(dict[str, str]):
    """A `full` key that may do everything and a `read` key, made from the seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        for which in ("full", "read"):
            digest = hashlib.sha256(f"agentco demo key {seed} {which}".encode()).hexdigest()
            self[which] = f"ag_{which}_{digest[:32]}"

    def permission(self, authorization: str | None) -> str | None:
        """`full`, `read`, or None if the header holds no valid key."""
        scheme, _, token = (authorization or "").partition(" ")
        valid = scheme.lower() == "bearer"
        return next((which for which, key in self.items() if valid and key == token), None)


class Interface:
    def __init__(self, world: World, keys: Keys, shape: Shape) -> None:
        self.world = world
        self.keys = keys
        self._renderer = Renderer(shape)

    def answer(self, request: Request) -> Answer:
        try:
            answer = self._admitted(request)
        except RefusedError as refusal:
            answer = self._renderer.refusal(refusal)
        if answer.status == 401:
            return answer.replaced(answer.body, www_authenticate="Bearer")
        return answer

    def refused(self, status: int) -> Answer:
        """The answer with this status, in the platform's own words."""
        phrase = phrase_of(status)
        code = phrase.lower().replace(" ", "_")
        return self._renderer.refusal(RefusedError(status, code, phrase))

    def _admitted(self, request: Request) -> Answer:
        operation = request.operation
        if operation is None:
            raise RefusedError(404, "not_found", "no such path")
        authorization = request.headers.get("authorization")
        permission = self.keys.permission(authorization)
        if permission is None:
            words = "API key missing or invalid" if authorization else "API key missing"
            raise RefusedError(401, "unauthorized", words)
        if operation.writes and permission != "full":
            raise RefusedError(403, "forbidden", "API key lacks the permission to change anything")
        found = path_pattern(operation.path).fullmatch(request.path)
        record_id = unquote(found[1]) if found and found.re.groups else ""
        with self.world.living() as state:
            done = self._written if operation.writes else self._read
            return done(operation.name, record_id, request, state)

    def _single(self, kind: str, record: object, status: int = 200) -> Answer:
        fields = record_fields(kind, record, self.world.state)
        return self._renderer.single(kind, fields, status)

    def _read(self, operation: str, record_id: str, request: Request, state: WorldState) -> Answer:
        world, company_id = self.world, request.get("company_id")
        rows: Sequence[Any]
        match operation:
            case "company":
                return self._single("companies", world.company(record_id))
            case "agent":
                return self._single("agents", world.agent(record_id))
            case "trace":
                task = world.task(record_id)
                steps = trace_steps(state, task)
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
                days = request.day("from"), request.day("to")
                rows = world.activity(company_id, request.get("agent_id"), *days)
        if operation == "export":
            return _sheet(rows, request.get("format") or "csv")
        return self._renderer.listing(
            operation,
            rows,
            request,
            fields=lambda row: record_fields(operation, row, state),
            revision=state.revisions[type(rows[0])] if rows else 0,
        )

    def _written(
        self, operation: str, record_id: str, request: Request, state: WorldState
    ) -> Answer:
        world = self.world
        match operation:
            case "approve":
                task = world.approve(record_id)
                return self._renderer.approved(record_fields("tasks", task, state))
            case "create_task":
                named = request.texts("company_id", "title", "agent_id", "priority")
                return self._single("tasks", world.create_task(*named), 201)
            case "create_company":
                named = request.texts(
                    "name", "template", "mission", optional=("template", "mission")
                )
                return self._single("companies", world.create_company(*named), 201)
            case "clone_company":
                named = request.texts("name", "mission", optional=("mission",))
                return self._single("companies", world.clone_company(record_id, *named), 201)
        # set_limit: `monthly_limit` is in whole currency units; 0 lifts it.
        body = request.json()
        value = body.get("monthly_limit", 0)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        too_far = is_number and not (math.isfinite(value) and 0 <= value <= 1_000_000_000)
        check(
            ("monthly_limit" not in body, "monthly_limit", "is required"),
            (not is_number, "monthly_limit", "must be a number"),
            (too_far, "monthly_limit", "must be from 0 to 1,000,000,000"),
        )
        return self._single("agent_budgets", world.set_limit(record_id, value))


def _sheet(entries: Iterable[Any], wanted: str) -> Answer:
    """A header row, then a row for each entry; no cell that a spreadsheet would run."""
    if wanted != "csv":
        words = f"unknown format {wanted!r}: only csv is known"
        raise RefusedError(400, "unknown_format", words)
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(_COLUMNS)
    for entry in entries:
        cells = (
            entry.id,
            iso(entry.at),
            entry.level,
            entry.action,
            entry.company.name if entry.company else "",
            entry.agent.name if entry.agent else "",
            entry.task.title if entry.task else "",
            entry.message,
            f"{(entry.cost or 0) / DOLLAR:.4f}",
        )
        risky = ("=", "+", "-", "@", "\t", "\r")
        writer.writerow([f"'{cell}" if cell.startswith(risky) else cell for cell in cells])
    headers = {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="activity.csv"',
    }
    return Answer(200, headers, sheet.getvalue().encode())
