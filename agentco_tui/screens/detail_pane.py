"""What the detail pane says of a record: its fields, what was assumed, what wasn't understood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from agentco_tui import format as fmt
from agentco_tui import model
from agentco_tui.live import insight
from agentco_tui.model import Ref, Task, extra_fields
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, Look
from agentco_tui.screens.dialogs.substance import asked_for, field, head, identified, table, when
from agentco_tui.text import SafeText, escaped, plain, safe, signs
from agentco_tui.widgets.text_pane import Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Tone, bar

GAUGE_WIDTH = 16

_encode = msgspec.json.Encoder(decimal_format="number").encode


def named(name_of: Callable[[Ref], SafeText], ref: Ref | None) -> SafeText | None:
    if ref is None:
        return None
    name = name_of(ref)
    return name if ref.id is None or safe(ref.id) == name else plain(f"{name}  {safe(ref.id)}")


def task_details(task: Task, look: Look) -> list[Item]:
    """Who asks, how it stands and since when; `asked_for` has the rest of it."""
    company = look.names.company_of(task)
    agent = look.names.agent_of(task.agent)
    status = cells.task_status_cell(task)
    level = insight.task_level(task, look.clock.now(), look.limits)
    since = insight.waiting_since(task) if insight.waits_for_person(task) else None
    trust = look.trust_of(task)
    wait = None if since is None else plain(f"{cells.level_sign(level)} {look.age(since)}".strip())
    facts: list[Item] = [
        Gap(),
        field("status", plain(status.text.strip()), status.tone),
        field("priority", task.priority),
        field("waits", wait, TONES[level]),
        field("agent", named(look.names.agent, task.agent)),
        field("role", agent.role if agent else None),
        field("company", named(look.names.company, company)),
        field("trust", None if trust is None else fmt.number(trust)),
    ]
    known = {"updated": task.updated, "expires": task.expires}
    facts += [field(name, when(moment, look)) for name, moment in known.items() if moment]
    if task.decided or task.decided_by:
        facts.append(field("decided", when(task.decided, look)))
        facts.append(field("decided by", task.decided_by))
    return [*head(task), *facts, *identified(task, look)]


def agent_details(agent: model.Agent, look: Look) -> list[Item]:
    status = cells.agent_status_cell(agent)
    waiting = [t for t in look.store.pending if t.agent is not None and t.agent.id == agent.id]
    budget = look.store.agent_budgets.get(agent.id)
    unlimited = cells.limit_text(budget) if budget is not None and budget.unlimited else None
    left = unlimited or _sum(cells.left_of(agent, budget))
    trust = None if agent.trust is None else fmt.number(agent.trust)
    items: list[Item] = [
        Text(agent.name or safe(agent.id), Tone.STRONG),
        Gap(),
        field("role", agent.role),
        field("company", named(look.names.company, agent.company)),
        field("status", plain(status.text.strip()), status.tone),
        field("trust", agent.trust_word or trust),
        field("model", agent.model),
        field("left", left),
        field("completed", fmt.count(agent.tasks_completed)),
        field("last seen", when(agent.last_seen, look)),
        field("created", when(agent.created, look)),
        field("id", safe(agent.id)),
    ]
    items += budget_part(budget, look)
    if waiting:
        items += [Gap(), Heading(plain(f"Waiting for a person: {len(waiting)}"))]
        items += [
            Text(plain(f"{look.age(insight.waiting_since(task)):>5}  {task.title}"))
            for task in sorted(waiting, key=lambda task: insight.waiting_since(task) or 0)[:8]
        ]
    return items


def budget_part(budget: model.Budget | None, look: Look) -> list[Item]:
    known = budget_fields(budget, look) if budget else []
    return [Gap(), Heading(plain("Budget")), *known] if known else []


def company_details(company: model.Company, look: Look) -> list[Item]:
    budget = look.store.company_budgets.get(company.id)
    items: list[Item] = [
        Text(company.name or safe(company.id), Tone.STRONG),
        Gap(),
        field("status", company.status),
        field("template", company.template),
        field("agents", fmt.count(company.agent_count)),
        field("tasks", fmt.count(company.task_count)),
        field("pending", fmt.count(company.pending_count)),
        field("created", when(company.created, look)),
        field("id", safe(company.id)),
    ]
    if company.mission:
        items += [Gap(), Heading(plain("Mission")), Text(company.mission)]
    return [*items, *budget_part(budget, look)]


def budget_details(budget: model.Budget, look: Look) -> list[Item]:
    return [
        Text(look.names.budget(budget), Tone.STRONG),
        Gap(),
        field("for", plain(budget.scope)),
        *budget_fields(budget, look),
        field("id", safe(budget.id)),
    ]


def budget_fields(budget: model.Budget, look: Look) -> list[Item]:
    level, items = look.level_of(budget), list[Item]()
    if budget.share is not None and not budget.unlimited:
        gauge = f"{bar(budget.share, GAUGE_WIDTH)} {cells.share_text(budget)} "
        gauge += cells.level_sign(level)
        items.append(field("used", plain(gauge.rstrip()), TONES[level]))
    items += [
        field("limit", cells.limit_text(budget) if budget.unlimited else _sum(budget.limit)),
        field("spent", _sum(budget.spent)),
        field("left", _sum(budget.remaining), TONES[level]),
    ]
    if budget.warn_at is not None:
        items.append(field("warns at", fmt.percent(budget.warn_at)))
    if budget.forecast is not None:
        items.append(field("forecast", _sum(budget.forecast)))
    items += [field("period", budget.period), field("resets", when(budget.resets, look))]
    if budget.status:
        items.append(field("status", budget.status))
    if budget.paused:
        items.append(field("paused", plain("yes"), Tone.WARNING))
    return items


def alert_details(alert: model.Alert, look: Look) -> list[Item]:
    level = insight.alert_level(alert, look.limits)
    severity = f"{cells.level_sign(level)} {alert.severity}"
    return [
        Text(alert.text, TONES[level] if level else Tone.STRONG),
        Gap(),
        field("severity", plain(severity.strip()), TONES[level]),
        field("kind", alert.kind),
        field("status", alert.status),
        field("agent", named(look.names.agent, alert.agent)),
        field("company", named(look.names.company, alert.company)),
        field("since", when(alert.at, look)),
        field("used", fmt.percent(alert.share) if alert.share is not None else None),
        field("threshold", fmt.percent(alert.threshold) if alert.threshold is not None else None),
        field("spent", _sum(alert.spent)),
        field("limit", _sum(alert.limit)),
        field("id", safe(alert.id)),
    ]


def activity_details(entry: model.Activity, look: Look) -> list[Item]:
    return [
        Text(entry.text, Tone.STRONG),
        Gap(),
        field("when", when(entry.at, look)),
        field("what", entry.verb),
        field("agent", named(look.names.agent, entry.agent)),
        field("by", named(look.names.agent, entry.actor)),
        field("company", named(look.names.company, entry.company)),
        field("task", named(lambda ref: ref.name or signs.missing, entry.task)),
        field("severity", plain(entry.severity)),
        field("outcome", entry.outcome),
        field("id", plain("none was sent") if entry.id_derived else safe(entry.id)),
    ]


def _sum(money: model.Money | None) -> SafeText | None:
    return None if money is None else fmt.money_full(money)


DETAILS: dict[type, Callable[[Any, Look], list[Item]]] = {
    model.Task: task_details,
    model.SharedTask: task_details,
    model.Agent: agent_details,
    model.Company: company_details,
    model.Budget: budget_details,
    model.Alert: alert_details,
    model.Activity: activity_details,
}


def details(record: model.Record, look: Look, *, raw: bool = False) -> list[Item]:
    """The items for a record; with `raw` every hidden character of its text is made visible."""
    items, extra = DETAILS[type(record)](record, look), extra_fields(record.extra)
    if raw:
        whole = {**msgspec.to_builtins(record), "extra": extra}
        whole.pop("content", None)
        text = msgspec.json.format(_encode(whole), indent=2).decode("utf-8", "replace")
        lines = text.split("\n")
        most = max(map(len, lines))
        heading = Heading(plain("All fields, hidden characters shown"))
        return [*items, Gap(), heading, *(Text(escaped(line, 12 * most)) for line in lines)]
    return [*items, *([Gap(), *asked_for(record)] if isinstance(record, Task) else table(extra))]
