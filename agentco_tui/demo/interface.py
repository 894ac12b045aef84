"""The interface itself: what each operation answers, and what it does to the world."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import unquote

from agentco_tui.demo import record_fields as f
from agentco_tui.demo.connection import Answer, Request, phrase_of
from agentco_tui.demo.operations import OPERATIONS, Keys, path_pattern
from agentco_tui.demo.renderer import Identified, Renderer
from agentco_tui.demo.shapes import Shape
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import (
    DOLLAR,
    DemoAgent,
    DemoCompany,
    Entry,
    RefusedError,
    WorldState,
    check,
    iso,
)

R = TypeVar("R", bound=Identified)
_HOUR = 3_600.0
_COLUMNS = ("id", "timestamp", "level", "action", "company", "agent", "task", "message", "cost")


@dataclass(frozen=True, slots=True)
class _Admitted:
    """A request that has passed the gate, over the world as it stands."""

    request: Request
    state: WorldState
    hour: float
    """The present hour: a forecast that moves with every second would never stand still."""
    record_id: str

    def texts(self, *names: str) -> list[str]:
        """These fields of the body as texts; RefusedError names each that isn't one."""
        body = self.request.json()
        check(
            *(
                (not isinstance(body.get(name), str), name, "must be a string")
                if name in body
                else (True, name, "is required")
                for name in names
            )
        )
        return [body[name] for name in names]

    def day(self, name: str) -> date | None:
        """A day of the query in the form YYYY-MM-DD; RefusedError 422 if it is none."""
        text = self.request.get(name)
        if text is None:
            return None
        try:
            if len(text) == 10:
                return date.fromisoformat(text)
        except ValueError:
            pass
        words = "must be a day in the form YYYY-MM-DD"
        raise RefusedError(422, "invalid_query", "Validation error", ((name, words),))


class Interface:
    def __init__(self, world: World, keys: Keys, shape: Shape, *, etag: bool = False) -> None:
        self.world = world
        self._keys = keys
        self._renderer = Renderer(shape)
        self._etag = etag
        self._operations: dict[str, Callable[[_Admitted], Answer]] = {
            operation.name: getattr(self, f"_{operation.name}") for operation in OPERATIONS
        }

    def answer(self, request: Request) -> Answer:
        try:
            answer = self._admitted(request)
        except RefusedError as refusal:
            answer = self._renderer.refusal(refusal)
        if answer.status == 401:
            return answer.replaced(answer.body, www_authenticate="Bearer")
        if not self._etag or request.method != "GET" or answer.status != 200:
            return answer
        tag = f'"{hashlib.blake2b(answer.body, digest_size=12).hexdigest()}"'
        if request.headers.get("if-none-match") == tag:
            return Answer(304, {"etag": tag})
        return answer.replaced(answer.body, etag=tag)

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
            now = self.world.now
            admitted = _Admitted(request, state, now - now % _HOUR, record_id)
            return self._operations[operation.name](admitted)

    def _list(
        self,
        kind: str,
        asked: _Admitted,
        rows: Sequence[R],
        fields: Callable[[R], f.Fields],
        hour: float = 0.0,
    ) -> Answer:
        revision = asked.state.revisions[type(rows[0])] if rows else 0
        return self._renderer.listing(
            kind, rows, asked.request, fields=fields, revision=revision, hour=hour
        )

    # One method for each operation, under its name.

    def _companies(self, asked: _Admitted) -> Answer:
        rows = list(asked.state.companies.values())
        return self._list("companies", asked, rows, f.company_fields)

    def _company(self, asked: _Admitted) -> Answer:
        return self._one_company(self.world.company(asked.record_id))

    def _create_company(self, asked: _Admitted) -> Answer:
        named = asked.texts("name", "template", "mission")
        return self._one_company(self.world.create_company(*named), 201)

    def _clone_company(self, asked: _Admitted) -> Answer:
        named = asked.texts("name", "mission")
        return self._one_company(self.world.clone_company(asked.record_id, *named), 201)

    def _one_company(self, company: DemoCompany, status: int = 200) -> Answer:
        return self._renderer.single("companies", f.company_fields(company), status)

    def _agents(self, asked: _Admitted) -> Answer:
        rows = self.world.agents(asked.request.get("company_id"))
        return self._list("agents", asked, rows, f.agent_fields)

    def _agent(self, asked: _Admitted) -> Answer:
        return self._renderer.single("agents", f.agent_fields(self.world.agent(asked.record_id)))

    def _tasks(self, asked: _Admitted) -> Answer:
        rows = self.world.tasks(asked.request.get("company_id"), asked.request.get("status"))
        return self._list("tasks", asked, rows, f.task_fields)

    def _create_task(self, asked: _Admitted) -> Answer:
        task = self.world.create_task(*asked.texts("company_id", "title", "agent_id", "priority"))
        return self._renderer.single("tasks", f.task_fields(task), 201)

    def _approve(self, asked: _Admitted) -> Answer:
        return self._renderer.approved(f.task_fields(self.world.approve(asked.record_id)))

    def _trace(self, asked: _Admitted) -> Answer:
        task = self.world.task(asked.record_id)
        return self._renderer.trace(f.trace_steps(asked.state, task), f.task_fields(task))

    def _entries(self, asked: _Admitted) -> list[Entry]:
        of = asked.request.get("company_id"), asked.request.get("agent_id")
        return self.world.activity(*of, asked.day("from"), asked.day("to"))

    def _activity(self, asked: _Admitted) -> Answer:
        return self._list("activity", asked, self._entries(asked), f.entry_fields)

    def _export(self, asked: _Admitted) -> Answer:
        wanted = asked.request.get("format") or "csv"
        if wanted != "csv":
            words = f"unknown format {wanted!r}: only csv is known"
            raise RefusedError(400, "unknown_format", words)
        headers = {
            "content-type": "text/csv; charset=utf-8",
            "content-disposition": 'attachment; filename="activity.csv"',
        }
        return Answer(HTTPStatus.OK, headers, _as_csv(self._entries(asked)))

    def _budget(self, asked: _Admitted) -> Answer:
        return self._renderer.single("overview", f.overview_fields(asked.state, asked.hour))

    def _company_budgets(self, asked: _Admitted) -> Answer:
        def fields(company: DemoCompany) -> f.Fields:
            return f.company_budget_fields(asked.state, company, asked.hour)

        rows = list(asked.state.companies.values())
        return self._list("company_budgets", asked, rows, fields, asked.hour)

    def _agent_budgets(self, asked: _Admitted) -> Answer:
        def fields(agent: DemoAgent) -> f.Fields:
            return f.agent_budget_fields(asked.state, agent, asked.hour)

        rows = self.world.agents(asked.request.get("company_id"))
        return self._list("agent_budgets", asked, rows, fields, asked.hour)

    def _set_limit(self, asked: _Admitted) -> Answer:
        """`monthly_limit` is in whole currency units; 0 lifts it."""
        body = asked.request.json()
        value = body.get("monthly_limit", 0)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        too_far = is_number and not (math.isfinite(value) and 0 <= value <= 1_000_000_000)
        check(
            ("monthly_limit" not in body, "monthly_limit", "is required"),
            (not is_number, "monthly_limit", "must be a number"),
            (too_far, "monthly_limit", "must be from 0 to 1,000,000,000"),
        )
        agent = self.world.set_limit(asked.record_id, value)
        fields = f.agent_budget_fields(asked.state, agent, asked.hour)
        return self._renderer.single("agent_budgets", fields)

    def _alerts(self, asked: _Admitted) -> Answer:
        return self._list("alerts", asked, self.world.alerts(), f.alert_fields)


def _as_csv(entries: Iterable[Entry]) -> bytes:
    """A header row, then a row for each entry; no cell that a spreadsheet would run."""
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
    return sheet.getvalue().encode()
