"""The forms, by the command that opens each: fields, what is checked and asked, what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentco_tui import format as fmt
from agentco_tui.actions import writes
from agentco_tui.actions.outcome import GOOD, OnProgress, Progress, Step
from agentco_tui.actions.write_flow import Write
from agentco_tui.actions.writes import CompanyCreation, LimitChange, check_limit
from agentco_tui.api.errors import ApiError
from agentco_tui.atomic_write import AtomicWriteError, FileInTheWayError, atomic_write
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.feeds import ActivityFilter, Query
from agentco_tui.model import Agent, Alert, Budget, BudgetScope, Company, Money, Record, Ref, Task
from agentco_tui.screens.cells import limit_text
from agentco_tui.screens.dialogs.base import title_of
from agentco_tui.screens.dialogs.form_dialog import (
    Doubt,
    Errors,
    FormField,
    FormPlan,
    Refusal,
    Send,
    Values,
)
from agentco_tui.screens.prompts import completed, find
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen


class FormRequest(msgspec.Struct, frozen=True):
    frame: MainScreen
    subject: Record | None

    def title(self, doing: str, what: SafeText) -> list[Cell]:
        return title_of(self.frame.session.settings.profile, doing, what)

    def company(self, words: str) -> Company | None:
        return find(words, self.frame.session.store.companies)

    def agent(self, words: str, company_id: str | None) -> Agent | None:
        agents, fits = self.frame.session.store.agents, (None, company_id)
        ours = (a for a in agents if not company_id or not a.company or a.company.id in fits)
        return find(words, ours)

    def record_field(self, name: str, label: str, value: str, hint: str) -> FormField:
        """A field for a company's or an agent's name or id, completed from those known."""
        store = self.frame.session.store
        known: Iterable[Agent | Company] = store.agents if label == "agent" else store.companies

        def suggest(typed: str) -> str | None:
            return completed(typed, (one.name or one.id for one in known))

        return FormField(name, label, value, hint, suggest)

    def writes(self, make: Callable[[Values, OnProgress], Write[Any]]) -> Send:
        """What a form does that writes: a good outcome is told, any other keeps the form open."""

        async def send(values: Values, doubt: Doubt) -> Refusal | None:
            def step(progress: Progress) -> None:
                if progress.step is Step.UNKNOWN:
                    doubt()

            outcome = await make(values, step).run()
            if outcome.kind in GOOD:
                self.frame.dialogs.tell(outcome)
                return None
            words = f" (platform: {outcome.words})" if outcome.words else ""
            return Refusal(plain(f"{outcome.sentence}{words}"), outcome.fields)

        return send


NO_COMPANY = plain("no company here has this name or id")


def _fields_of(values: Mapping[str, str]) -> list[Item]:
    return [FieldLine(plain(name), safe(value, 200)) for name, value in values.items()]


def new_task(ask: FormRequest) -> FormPlan:
    """POST /api/tasks: company, agent, title and priority."""
    session, like = ask.frame.session, ask.subject if isinstance(ask.subject, Task) else None
    names = session.names
    # The words that tasks here have, as the interface names "high" only.
    tasks = (*session.store.pending, *session.store.tasks)
    priorities = sorted({task.priority for task in tasks if task.priority}) or ["high"]

    def named(values: Values) -> tuple[Company | None, Agent | None]:
        company = ask.company(values["company_id"])
        return company, ask.agent(values["agent_id"], company.id if company else None)

    def write(values: Values, step: OnProgress) -> Write[Any]:
        company, agent = named(values)
        ids = {"company_id": company.id if company else "", "agent_id": agent.id if agent else ""}
        return writes.TaskCreation(session, {**values, **ids}, step)

    def check(values: Values) -> Errors:
        company, agent = named(values)
        errors: dict[str, SafeText] = {}
        if company is None:
            typed = values["company_id"]
            errors["company_id"] = NO_COMPANY if typed else plain("choose a company")
        if agent is None:
            no_agent = "no agent of this company has this name or id"
            errors["agent_id"] = plain(no_agent if values["agent_id"] else "choose an agent")
        typed_in = {name: values[name] for name in ("title", "priority")}
        return errors | dict(writes.check_form(typed_in))

    def notes(values: Values) -> Errors:
        company, agent = named(values)
        known = {
            "company_id": (company.name, safe(company.id)) if company else (),
            "agent_id": (agent.name, agent.role, safe(agent.id)) if agent else (),
        }
        return {n: plain("  ".join(filter(None, words))) for n, words in known.items() if words}

    def question(values: Values) -> Sequence[Item]:
        company, agent = named(values)
        company_name = (company and company.name) or values["company_id"]
        agent_name = (agent and agent.name) or values["agent_id"]
        names = {"title": values["title"], "company": company_name, "agent": agent_name}
        return _fields_of({**names, "priority": values["priority"]})

    company = names.company_of(like) if like is not None else None
    company_id = session.poller.query.company or (company.id if company else None)
    company_name = "" if company_id is None else names.company(Ref(id=company_id))
    agent_name = names.agent(like.agent) if like is not None and like.agent else ""
    priority = "high" if "high" in priorities else priorities[0]
    seen = "seen here: " + ", ".join(priorities)
    fields = (
        ask.record_field("company_id", "company", company_name, "a name or an id"),
        ask.record_field("agent_id", "agent", agent_name, "a name or an id"),
        FormField("title", "title", "", "what is to be done"),
        FormField(
            "priority", "priority", priority, seen, lambda typed: completed(typed, priorities)
        ),
    )
    title = ask.title("CREATE", plain("1 task"))
    return FormPlan(title, fields, check, ask.writes(write), question, notes, "create it")


def new_company(ask: FormRequest, source: Company | None = None) -> FormPlan:
    """POST /api/companies: name, template and mission; with a source as `clone_company`."""
    session, begin = ask.frame.session, list[Item]()
    doing, what, verb = "CREATE", plain("1 company"), "create it"
    templates = sorted({c.template for c in session.store.companies if c.template})
    seen = "seen here: " + ", ".join(templates) if templates else "a template of the platform"
    fields: Sequence[FormField] = (
        FormField("name", "name"),
        FormField("template", "template", "", seen, lambda typed: completed(typed, templates)),
        FormField("mission", "mission", "", "what it is for, in a sentence"),
    )
    if source is not None:
        doing, what, verb = "CLONE", source.name or safe(source.id), "clone it"
        begin.append(FieldLine(plain("from"), what))
        named = FormField("name", "new name", f"{what} 2")
        fields = (named, FormField("mission", "mission", source.mission or ""))
    return FormPlan(
        ask.title(doing, what),
        fields,
        writes.check_form,
        ask.writes(lambda val, step: CompanyCreation(session, val, step, source)),
        lambda values: [*begin, *_fields_of(values)],
        verb=verb,
    )


def clone_company(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/companies/:id/clone: name and mission."""
    if isinstance(ask.subject, Company):
        return new_company(ask, ask.subject)
    return plain("put the cursor on a company to clone it")


def in_currency_of(budget: Budget | None, amount: Decimal) -> SafeText:
    figures = () if budget is None else (budget.limit, budget.spent, budget.remaining)
    return fmt.money(Money(amount, next((money.currency for money in figures if money), None)))


def limit_change(budget: Budget | None, new: Decimal) -> SafeText:
    if budget is None or (budget.limit is None and not budget.unlimited):
        return plain("the limit until now is not known")
    words = f"{limit_text(budget)} {signs.arrow} {in_currency_of(budget, new)}"
    if not budget.unlimited and budget.limit is not None:
        change = new - budget.limit.amount
        words += f" ({'+' if change > 0 else ''}{in_currency_of(budget, change)})"
    return plain(words)


def set_limit(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/budget/agents/:id: monthly_limit; old, new and difference are shown.

    The budget may come while it is open: the write goes by what the question showed last.
    """
    session = ask.frame.session
    match ask.subject:
        case Agent(id=agent_id) | Budget(scope=BudgetScope.AGENT, id=agent_id):
            pass
        case Alert(agent=Ref(id=str(agent_id))) | Task(agent=Ref(id=str(agent_id))):
            pass
        case _:
            return plain("limits can be set for agents: put the cursor on a line about an agent")
    budgets = session.store.agent_budgets
    budget = shown = budgets.get(agent_id)
    name = session.names.agent(Ref(id=agent_id, name=budget.name if budget else None))

    def check(values: Values) -> Errors:
        amount = check_limit(values["monthly_limit"])
        return {"monthly_limit": amount} if isinstance(amount, str) else {}

    def notes(values: Values) -> Errors:
        amount = check_limit(values["monthly_limit"])
        known = budgets.get(agent_id)
        return {} if isinstance(amount, str) else {"monthly_limit": limit_change(known, amount)}

    def question(values: Values) -> Sequence[Item]:
        nonlocal shown
        shown, amount = budgets.get(agent_id), check_limit(values["monthly_limit"])
        if isinstance(amount, str):
            return [Text(amount, Tone.CRITICAL)]
        items: list[Item] = [
            FieldLine(plain("agent"), name),
            FieldLine(plain("old limit"), limit_text(shown) if shown else signs.missing),
            FieldLine(plain("new limit"), in_currency_of(shown, amount), Tone.STRONG),
            FieldLine(plain("change"), limit_change(shown, amount)),
        ]
        if shown is not None and shown.spent is not None:
            items.append(FieldLine(plain("spent"), fmt.money(shown.spent)))
            if amount < shown.spent.amount:
                words = f"{signs.warning} the new limit is below what is spent already"
                items += [Gap(), Text(plain(words), Tone.WARNING)]
        return items

    def write(values: Values, step: OnProgress) -> Write[Budget]:
        agent, amount = session.store.agents.get(agent_id), check_limit(values["monthly_limit"])
        company = shown.company if shown is not None else None
        assert isinstance(amount, Decimal), "it was checked before it was asked about"
        company = company or (agent.company if agent is not None else None)
        ref = Ref(id=agent_id, name=name)
        return LimitChange(session, ref, amount, shown=shown, company=company, on_progress=step)

    old = None if budget is None or budget.unlimited else budget.limit
    old_amount = "" if old is None else f"{old.amount:f}"
    hint = "in whole units, such as 120 or 99.50"
    fields = (FormField("monthly_limit", "monthly limit", old_amount, hint),)
    title = ask.title("SET LIMIT", name)
    return FormPlan(title, fields, check, ask.writes(write), question, notes, "set it")


def _day(words: str) -> date | SafeText:
    try:
        return date.fromisoformat(words)
    except ValueError:
        return plain("a day is needed, such as 2026-01-31")


def _limit(words: str) -> int | SafeText:
    if words.isascii() and words.isdigit() and 0 < int(words) <= DEFAULT_CAPACITY:
        return int(words)
    return plain(f"a whole number from 1 to {DEFAULT_CAPACITY} is needed")


def activity_filters(ask: FormRequest) -> FormPlan:
    """What GET /api/activity is asked for: company, agent, dates and limit."""
    session = ask.frame.session
    chosen, names = session.poller.query.activity, session.names

    def read(values: Values) -> dict[str, Any]:
        """What each field that is filled in means, or as a text what is wrong with it."""
        company = ask.company(values["company"])
        agent = ask.agent(values["agent"], company.id if company else session.poller.query.company)
        found: dict[str, Any] = {
            "company": company or NO_COMPANY,
            "agent": agent or plain("no agent here has this name or id"),
            "from": _day(values["from"]),
            "to": _day(values["to"]),
            "limit": _limit(values["limit"]),
        }
        found = {name: each if values[name] else None for name, each in found.items()}
        begin, end = found["from"], found["to"]
        if isinstance(begin, date) and isinstance(end, date) and begin > end:
            found["to"] = plain("that is before the first day")
        return found

    def check(values: Values) -> Errors:
        return {n: plain(each) for n, each in read(values).items() if type(each) is str}

    async def send(values: Values, _: Doubt) -> None:
        found = read(values)
        company, agent = found["company"], found["agent"]
        wanted = ActivityFilter(
            company and company.id, agent and agent.id, found["from"], found["to"], found["limit"]
        )
        session.poller.set_query(Query(company=session.poller.query.company, activity=wanted))
        ask.frame.views["activity"].rescope()
        ask.frame.show_frame()

    company = "" if chosen.company is None else names.company(Ref(id=chosen.company))
    agent = "" if chosen.agent is None else names.agent(Ref(id=chosen.agent))
    first, last = (day.isoformat() if day else "" for day in (chosen.from_date, chosen.to_date))
    limit = "" if chosen.limit is None else str(chosen.limit)
    all_hint = "empty for the company in scope, or all"
    fields = (
        ask.record_field("company", "company", company, all_hint),
        ask.record_field("agent", "agent", agent, "empty for all"),
        FormField("from", "from", first, "first day, as 2026-01-31"),
        FormField("to", "to", last, "last day"),
        FormField("limit", "limit", limit, "how many entries a poll asks for"),
    )
    return FormPlan(ask.title("FILTER", plain("the activity log")), fields, check, send)


def export_activity(ask: FormRequest) -> FormPlan:
    """GET /api/activity/export, written to a file as it comes."""

    async def send(values: Values, _: Doubt) -> Refusal | None:
        path = Path(values["file"])
        try:
            with atomic_write(path) as file:
                async with ask.frame.session.client.export_activity(values["format"]) as chunks:
                    async for chunk in chunks:
                        file.write(chunk)
                    written = file.tell()
        except ApiError as error:
            return Refusal(plain(str(error)))
        except (FileInTheWayError, AtomicWriteError) as error:
            return Refusal(plain(str(error)), {"file": plain(str(error))})
        ask.frame.say(f"{fmt.size(written)} written to {safe(str(path), 80)}")
        return None

    def check(values: Values) -> Errors:
        return {name: plain("this is needed") for name, each in values.items() if not each}

    fields = (
        FormField("format", "format", "csv", "csv is the one that is known"),
        FormField("file", "file", "activity.csv", "must not exist yet"),
    )
    return FormPlan(ask.title("EXPORT", plain("the activity log")), fields, check, send)


FORMS: Mapping[str, Callable[[FormRequest], FormPlan | SafeText]] = {
    "tasks.new": new_task,
    "companies.new": new_company,
    "companies.clone": clone_company,
    "agents.limit": set_limit,
    "budget.limit": set_limit,
    "activity.filters": activity_filters,
    "activity.export": export_activity,
}
"""By the command that opens each; a sentence instead of a form says why there is none."""
