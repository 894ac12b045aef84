"""The interface itself: what each operation answers, and what it does to the world."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, TypeVar
from urllib.parse import unquote

from agentco_tui.demo import records as f
from agentco_tui.demo.dress import moment
from agentco_tui.demo.model import DOLLAR, Entry, Refusal, State, check
from agentco_tui.demo.operations import Answer, Keys, Operation, Request, path_pattern
from agentco_tui.demo.renderer import Ask, Out, Renderer, Row, encode
from agentco_tui.demo.shapes import Shape
from agentco_tui.demo.world import World

R = TypeVar("R", bound=Row)
_HOUR = 3_600.0
_KEPT_ANSWERS = 10_000
_COLUMNS = ("id", "timestamp", "level", "action", "company", "agent", "task", "message", "cost")


class _Call:
    """A request that has passed the gate, over the world as it stands."""

    def __init__(self, operation: Operation, request: Request, state: State, now: float) -> None:
        self.request = request
        self.state = state
        self.hour = now - now % _HOUR
        """The present hour: a forecast that moves with every second would never stand still."""
        host = request.headers.get("host", "")
        self.ask = Ask(f"http://{host}", unquote(request.path), request.parameters)
        found = path_pattern(operation.path).fullmatch(request.path)
        self.record_id = unquote(found[1]) if found and found.re.groups else ""

    def texts(self, *names: str) -> tuple[str, ...]:
        """These fields of the body as texts; Refusal names each that isn't one."""
        body = self.request.json()
        for_each = [
            rule
            for name in names
            for rule in (
                (name not in body, name, "is required"),
                (not isinstance(body.get(name, ""), str), name, "must be a string"),
            )
        ]
        check(*for_each)
        return tuple(body[name] for name in names)

    def day(self, name: str) -> date | None:
        """A day of the query in the form YYYY-MM-DD; Refusal 422 if it is none."""
        text = self.ask.get(name)
        if text is None:
            return None
        try:
            if len(text) == 10:
                return date.fromisoformat(text)
        except ValueError:
            pass
        words = "must be a day in the form YYYY-MM-DD"
        raise Refusal(422, "invalid_query", "Validation error", ((name, words),))


class Interface:
    """Answers every operation, behind the gate that wants a key."""

    def __init__(self, world: World, keys: Keys, shape: Shape, *, etag: bool = False) -> None:
        self.world = world
        self.keys = keys
        self.renderer = Renderer(shape)
        self._etag = etag
        self._remembered: dict[tuple[str, str], Out] = {}
        self._operations: dict[str, Callable[[_Call], Out]] = {
            "companies": lambda call: self._list(
                "companies", call, list(call.state.companies.values()), f.company_fields
            ),
            "company": self._company,
            "create_company": self._create_company,
            "clone_company": self._clone_company,
            "agents": lambda call: self._list(
                "agents", call, self.world.agents(call.ask.get("company_id")), f.agent_fields
            ),
            "agent": self._agent,
            "tasks": self._tasks,
            "create_task": self._create_task,
            "approve": self._approve,
            "trace": self._trace,
            "activity": lambda call: self._list(
                "activity", call, self._entries(call), f.entry_fields
            ),
            "export": self._export,
            "budget": lambda call: self.renderer.single(
                "overview", f.overview_fields(call.state, call.hour)
            ),
            "company_budgets": self._company_budgets,
            "agent_budgets": self._agent_budgets,
            "set_limit": self._set_limit,
            "alerts": lambda call: self._list("alerts", call, self.world.alerts(), f.alert_fields),
        }

    def answer(self, request: Request) -> Answer:
        """What the platform answers to a request, which has been done by then."""
        try:
            out = self._out(request)
        except Refusal as refusal:
            out = self.renderer.refusal(refusal)
        status = out.status
        content = b"" if out.body is None and status == 204 else encode(out.body)
        headers = dict(out.headers)
        if status != 204:
            text = out.media.startswith("text/") and "charset" not in out.media
            headers["content-type"] = f"{out.media}; charset=utf-8" if text else out.media
        if status == 401:
            headers["www-authenticate"] = "Bearer"
        if self._etag and request.method == "GET" and status == 200:
            tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
            headers["etag"] = tag
            if request.headers.get("if-none-match") == tag:
                status, content = 304, b""
        bare = Answer(status, tuple((k.encode(), v.encode()) for k, v in headers.items()), content)
        return bare if status in {204, 304} else bare.replaced(content)

    def _out(self, request: Request) -> Out:
        operation = request.operation
        if operation is None:
            raise Refusal(404, "not_found", "no such path")
        authorization = request.headers.get("authorization")
        permission = self.keys.permission(authorization)
        if permission is None:
            words = "API key missing or invalid" if authorization else "API key missing"
            raise Refusal(401, "unauthorized", words)
        if operation.writes and permission != "full":
            raise Refusal(403, "forbidden", "API key lacks the permission to change anything")
        once = request.headers.get("idempotency-key") if operation.writes else None
        if once and (request.path, once) in self._remembered:
            return self._remembered[request.path, once]
        with self.world.living() as state:
            call = _Call(operation, request, state, self.world.now)
            out = self._operations[operation.name](call)
        if once:
            if len(self._remembered) >= _KEPT_ANSWERS:
                self._remembered.clear()
            self._remembered[request.path, once] = out
        return out

    def _list(
        self,
        kind: str,
        call: _Call,
        rows: Sequence[R],
        fields: Callable[[R], f.Fields],
        *,
        version: Callable[[R], object] = lambda row: getattr(row, "version", 0),
        revision: object = None,
    ) -> Out:
        return self.renderer.listing(
            kind,
            rows,
            call.ask,
            fields=fields,
            version=version,
            revision=revision or call.state.revisions[kind],
        )

    def _company(self, call: _Call) -> Out:
        return self.renderer.single(
            "companies", f.company_fields(self.world.company(call.record_id))
        )

    def _create_company(self, call: _Call) -> Out:
        company = self.world.create_company(*call.texts("name", "template", "mission"))
        return self.renderer.single("companies", f.company_fields(company), 201)

    def _clone_company(self, call: _Call) -> Out:
        company = self.world.clone_company(call.record_id, *call.texts("name", "mission"))
        return self.renderer.single("companies", f.company_fields(company), 201)

    def _agent(self, call: _Call) -> Out:
        return self.renderer.single("agents", f.agent_fields(self.world.agent(call.record_id)))

    def _tasks(self, call: _Call) -> Out:
        rows = self.world.tasks(call.ask.get("company_id"), call.ask.get("status"))
        return self._list("tasks", call, rows, f.task_fields)

    def _create_task(self, call: _Call) -> Out:
        task = self.world.create_task(*call.texts("company_id", "title", "agent_id", "priority"))
        return self.renderer.single("tasks", f.task_fields(task), 201)

    def _approve(self, call: _Call) -> Out:
        return self.renderer.approved(f.task_fields(self.world.approve(call.record_id)))

    def _trace(self, call: _Call) -> Out:
        task = self.world.task(call.record_id)
        return self.renderer.trace(f.trace_steps(call.state, task), f.task_fields(task))

    def _entries(self, call: _Call) -> list[Entry]:
        company_id, agent_id = call.ask.get("company_id"), call.ask.get("agent_id")
        return self.world.activity(company_id, agent_id, call.day("from"), call.day("to"))

    def _export(self, call: _Call) -> Out:
        wanted = call.ask.get("format") or "csv"
        if wanted != "csv":
            raise Refusal(400, "unknown_format", f"unknown format {wanted!r}: only csv is known")
        headers = (("content-disposition", 'attachment; filename="activity.csv"'),)
        return Out(as_csv(self._entries(call)), 200, headers, "text/csv; charset=utf-8")

    def _company_budgets(self, call: _Call) -> Out:
        state, hour = call.state, call.hour
        return self._list(
            "company_budgets",
            call,
            list(state.companies.values()),
            lambda company: f.company_budget_fields(state, company, hour),
            version=lambda company: (company.version, hour),
            revision=(state.revisions["budgets"], state.revisions["companies"], hour),
        )

    def _agent_budgets(self, call: _Call) -> Out:
        state, hour = call.state, call.hour
        return self._list(
            "agent_budgets",
            call,
            self.world.agents(call.ask.get("company_id")),
            lambda agent: f.agent_budget_fields(state, agent, hour),
            version=lambda agent: (agent.spent, agent.limit, agent.status, hour),
            revision=(state.revisions["budgets"], hour),
        )

    def _set_limit(self, call: _Call) -> Out:
        """`monthly_limit` is in whole currency units; 0 lifts it."""
        body: dict[str, Any] = call.request.json()
        value = body.get("monthly_limit", 0)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        too_far = is_number and not (math.isfinite(value) and 0 <= value <= 1_000_000_000)
        check(
            ("monthly_limit" not in body, "monthly_limit", "is required"),
            (not is_number, "monthly_limit", "must be a number"),
            (too_far, "monthly_limit", "must be from 0 to 1,000,000,000"),
        )
        agent = self.world.set_limit(call.record_id, value)
        fields = f.agent_budget_fields(call.state, agent, call.hour)
        return self.renderer.single("agent_budgets", fields)


def as_csv(entries: Iterable[Entry]) -> bytes:
    """A header row, then a row for each entry; no cell that a spreadsheet would run."""
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(_COLUMNS)
    for entry in entries:
        cells = (
            entry.id,
            moment(entry.at, "z"),
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
