"""What each operation of the interface answers, and what it does to the world."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any

from agentco_tui.demo.export import as_csv
from agentco_tui.demo.fields import (
    agent_budget_fields,
    agent_fields,
    alert_fields,
    company_budget_fields,
    company_fields,
    entry_fields,
    overview_fields,
    task_fields,
    trace_steps,
)
from agentco_tui.demo.model import Agent, Entry
from agentco_tui.demo.renderer import Renderer
from agentco_tui.demo.shape import Out, Refusal
from agentco_tui.demo.world import RefusedFieldsError, World

if TYPE_CHECKING:
    from agentco_tui.demo.app import Call

_HOUR = 3_600.0


class Answers:
    """One method for each operation; each takes the call and gives the answer."""

    def __init__(self, world: World, renderer: Renderer) -> None:
        self._world = world
        self._renderer = renderer

    # --- companies ------------------------------------------------------------------------

    def companies(self, call: Call) -> Out:
        """GET /api/companies."""
        with self._world.living() as state:
            return self._renderer.listing(
                "companies",
                list(state.companies.values()),
                call.ask,
                identify=lambda company: (company.id, company.version),
                fields=company_fields,
                revision=state.revisions["companies"],
            )

    def company(self, call: Call) -> Out:
        """GET /api/companies/:id."""
        with self._world.living():
            company = self._world.company(call.record_id)
            return self._renderer.single("companies", company_fields(company))

    def create_company(self, call: Call) -> Out:
        """POST /api/companies."""
        name, template, mission = _texts(call.fields, "name", "template", "mission")
        company = self._world.create_company(name, template, mission)
        return self._renderer.single("companies", company_fields(company), 201)

    def clone_company(self, call: Call) -> Out:
        """POST /api/companies/:id/clone."""
        name, mission = _texts(call.fields, "name", "mission")
        company = self._world.clone_company(call.record_id, name, mission)
        return self._renderer.single("companies", company_fields(company), 201)

    # --- agents ---------------------------------------------------------------------------

    def agents(self, call: Call) -> Out:
        """GET /api/agents."""
        with self._world.living() as state:
            return self._renderer.listing(
                "agents",
                self._world.agents(call.ask.get("company_id")),
                call.ask,
                identify=_agent_identity,
                fields=agent_fields,
                revision=state.revisions["agents"],
            )

    def agent(self, call: Call) -> Out:
        """GET /api/agents/:id."""
        with self._world.living():
            return self._renderer.single("agents", agent_fields(self._world.agent(call.record_id)))

    # --- tasks ----------------------------------------------------------------------------

    def tasks(self, call: Call) -> Out:
        """GET /api/tasks."""
        with self._world.living() as state:
            status = call.ask.get("status")
            return self._renderer.listing(
                "tasks",
                self._world.tasks(call.ask.get("company_id"), status),
                call.ask,
                identify=lambda task: (task.id, task.version),
                fields=task_fields,
                revision=state.revisions["tasks"],
            )

    def create_task(self, call: Call) -> Out:
        """POST /api/tasks."""
        texts = _texts(call.fields, "company_id", "title", "agent_id", "priority")
        with self._world.living():
            task = self._world.create_task(*texts)
            return self._renderer.single("tasks", task_fields(task), 201)

    def approve(self, call: Call) -> Out:
        """POST /api/tasks/:id/approve."""
        with self._world.living():
            fields = task_fields(self._world.approve(call.record_id))
            shape = self._renderer.shape
            return shape.approved(self._renderer.record("tasks", fields), fields, shape.style)

    def trace(self, call: Call) -> Out:
        """GET /api/tasks/:id/trace."""
        with self._world.living() as state:
            task = self._world.task(call.record_id)
            shape = self._renderer.shape
            told = shape.trace(trace_steps(state, task), task_fields(task), shape.style)
            return Out(shape.single("trace", told))

    # --- activity -------------------------------------------------------------------------

    def activity(self, call: Call) -> Out:
        """GET /api/activity."""
        with self._world.living() as state:
            return self._renderer.listing(
                "activity",
                self._entries(call),
                call.ask,
                identify=lambda entry: (entry.id, 0),
                fields=entry_fields,
                revision=state.revisions["activity"],
            )

    def export(self, call: Call) -> Out:
        """GET /api/activity/export; the filters of the list apply too."""
        wanted = call.ask.get("format") or "csv"
        if wanted != "csv":
            raise Refusal(400, "unknown_format", f"unknown format {wanted!r}: only csv is known")
        headers = (("Content-Disposition", 'attachment; filename="activity.csv"'),)
        with self._world.living():
            return Out(as_csv(self._entries(call)), 200, headers, "text/csv; charset=utf-8")

    def _entries(self, call: Call) -> list[Entry]:
        ask = call.ask
        return self._world.activity(
            ask.get("company_id"),
            ask.get("agent_id"),
            _day(ask.get("from"), "from"),
            _day(ask.get("to"), "to"),
        )

    # --- budget ---------------------------------------------------------------------------

    def budget(self, call: Call) -> Out:
        """GET /api/budget."""
        del call
        with self._world.living() as state:
            return self._renderer.single("overview", overview_fields(state, self._hour()))

    def company_budgets(self, call: Call) -> Out:
        """GET /api/budget/companies."""
        with self._world.living() as state:
            hour = self._hour()
            return self._renderer.listing(
                "company_budgets",
                list(state.companies.values()),
                call.ask,
                identify=lambda company: (company.id, (company.version, hour)),
                fields=lambda company: company_budget_fields(state, company, hour),
                revision=(state.revisions["budgets"], state.revisions["companies"], hour),
            )

    def agent_budgets(self, call: Call) -> Out:
        """GET /api/budget/agents."""
        with self._world.living() as state:
            hour = self._hour()
            return self._renderer.listing(
                "agent_budgets",
                self._world.agents(call.ask.get("company_id")),
                call.ask,
                identify=lambda agent: (agent.id, (agent.spent, agent.limit, agent.status, hour)),
                fields=lambda agent: agent_budget_fields(state, agent, hour),
                revision=(state.revisions["budgets"], hour),
            )

    def set_limit(self, call: Call) -> Out:
        """POST /api/budget/agents/:id; `monthly_limit` in whole currency units, 0 lifts it."""
        value = call.fields.get("monthly_limit")
        if "monthly_limit" not in call.fields:
            raise RefusedFieldsError([("monthly_limit", "is required")])
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RefusedFieldsError([("monthly_limit", "must be a number")])
        if not math.isfinite(value) or not 0 <= value <= 1_000_000_000:
            raise RefusedFieldsError([("monthly_limit", "must be from 0 to 1,000,000,000")])
        with self._world.living() as state:
            agent = self._world.set_limit(call.record_id, value)
            fields = agent_budget_fields(state, agent, self._hour())
            return self._renderer.single("agent_budgets", fields)

    def alerts(self, call: Call) -> Out:
        """GET /api/budget/alerts."""
        with self._world.living() as state:
            return self._renderer.listing(
                "alerts",
                self._world.alerts(),
                call.ask,
                identify=lambda alert: (alert.id, alert.version),
                fields=alert_fields,
                revision=state.revisions["alerts"],
            )

    def _hour(self) -> float:
        """The present hour: a forecast that moves with every second would never stand still."""
        now = self._world.now
        return now - now % _HOUR


def _agent_identity(agent: Agent) -> tuple[str, object]:
    return agent.id, agent.version


def _texts(fields: dict[str, Any], *names: str) -> tuple[str, ...]:
    """These fields of a body as texts; RefusedFieldsError names each that isn't one."""
    wrong = []
    for name in names:
        if name not in fields:
            wrong.append((name, "is required"))
        elif not isinstance(fields[name], str):
            wrong.append((name, "must be a string"))
    if wrong:
        raise RefusedFieldsError(wrong)
    return tuple(fields[name] for name in names)


def _day(text: str | None, name: str) -> date | None:
    """A day of a query in the form YYYY-MM-DD; Refusal 422 if it is none."""
    if text is None:
        return None
    words = "must be a day in the form YYYY-MM-DD"
    refusal = Refusal(422, "invalid_query", "Validation error", ((name, words),))
    if len(text) != 10:
        raise refusal
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise refusal from error
