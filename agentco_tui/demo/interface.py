"""The interface itself: what each operation answers, and what it does to the world."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import unquote

from agentco_tui.demo import record_fields as f
from agentco_tui.demo.connection import Answer, Request, phrase_of
from agentco_tui.demo.operations import Keys, path_pattern
from agentco_tui.demo.renderer import Identified, Renderer
from agentco_tui.demo.shapes import Shape
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DOLLAR, Entry, RefusedError, WorldState, check, iso

R = TypeVar("R", bound=Identified)
_HOUR = 3_600.0
_COLUMNS = ("id", "timestamp", "level", "action", "company", "agent", "task", "message", "cost")


class Interface:
    def __init__(self, world: World, keys: Keys, shape: Shape) -> None:
        self.world = world
        self._keys = keys
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
        permission = self._keys.permission(authorization)
        if permission is None:
            words = "API key missing or invalid" if authorization else "API key missing"
            raise RefusedError(401, "unauthorized", words)
        if operation.writes and permission != "full":
            raise RefusedError(403, "forbidden", "API key lacks the permission to change anything")
        found = path_pattern(operation.path).fullmatch(request.path)
        record_id = unquote(found[1]) if found and found.re.groups else ""
        with self.world.living() as state:
            # The present hour: a forecast that moves with every second would never stand still.
            hour = self.world.now // _HOUR * _HOUR
            done = self._written if operation.writes else self._read
            return done(operation.name, record_id, request, state, hour)

    def _read(
        self, operation: str, record_id: str, request: Request, state: WorldState, hour: float
    ) -> Answer:
        world, single = self.world, self._renderer.single

        def listed(rows: Sequence[R], fields: Callable[[R], f.Fields], hour: float = 0.0) -> Answer:
            revision = state.revisions[type(rows[0])] if rows else 0
            return self._renderer.listing(
                operation, rows, request, fields=fields, revision=revision, hour=hour
            )

        company_id = request.get("company_id")
        match operation:
            case "companies":
                return listed(list(state.companies.values()), f.company_fields)
            case "company":
                return single("companies", f.company_fields(world.company(record_id)))
            case "agents":
                return listed(world.agents(company_id), f.agent_fields)
            case "agent":
                return single("agents", f.agent_fields(world.agent(record_id)))
            case "tasks":
                return listed(world.tasks(company_id, request.get("status")), f.task_fields)
            case "trace":
                task = world.task(record_id)
                return self._renderer.trace(f.trace_steps(state, task), f.task_fields(task))
            case "activity" | "export":
                days = request.day("from"), request.day("to")
                entries = world.activity(company_id, request.get("agent_id"), *days)
                if operation == "activity":
                    return listed(entries, f.entry_fields)
                return _sheet(entries, request.get("format") or "csv")
            case "budget":
                return single("overview", f.overview_fields(state, hour))
            case "company_budgets":
                rows = list(state.companies.values())
                return listed(rows, lambda row: f.company_budget_fields(state, row, hour), hour)
            case "agent_budgets":
                agents = world.agents(company_id)
                return listed(agents, lambda row: f.agent_budget_fields(state, row, hour), hour)
        return listed(world.alerts(), f.alert_fields)

    def _written(
        self, operation: str, record_id: str, request: Request, state: WorldState, hour: float
    ) -> Answer:
        world, single = self.world, self._renderer.single
        match operation:
            case "approve":
                return self._renderer.approved(f.task_fields(world.approve(record_id)))
            case "create_task":
                named = request.texts("company_id", "title", "agent_id", "priority")
                return single("tasks", f.task_fields(world.create_task(*named)), 201)
            case "create_company":
                company = world.create_company(*request.texts("name", "template", "mission"))
                return single("companies", f.company_fields(company), 201)
            case "clone_company":
                company = world.clone_company(record_id, *request.texts("name", "mission"))
                return single("companies", f.company_fields(company), 201)
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
        agent = world.set_limit(record_id, value)
        return single("agent_budgets", f.agent_budget_fields(state, agent, hour))


def _sheet(entries: Iterable[Entry], wanted: str) -> Answer:
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
            f"{entry.cost / DOLLAR:.4f}",
        )
        risky = ("=", "+", "-", "@", "\t", "\r")
        writer.writerow([f"'{cell}" if cell.startswith(risky) else cell for cell in cells])
    headers = {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="activity.csv"',
    }
    return Answer(200, headers, sheet.getvalue().encode())
