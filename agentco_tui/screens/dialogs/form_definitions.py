"""The forms, by the command that opens each: fields, what is checked and asked, what is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from agentco_tui import format as fmt
from agentco_tui.actions.create import (
    CompanyCreation,
    CompanyForm,
    TaskCreation,
    TaskForm,
    check_company,
    check_task,
)
from agentco_tui.actions.outcome import OnProgress, Outcome, Progress, Step
from agentco_tui.actions.set_limit import LimitChange, check_limit
from agentco_tui.api.errors import ApiError
from agentco_tui.atomic_write import AtomicWriteError, FileInTheWayError, atomic_write
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.feeds import ActivityFilter, Query
from agentco_tui.model import (
    Agent,
    Alert,
    Budget,
    BudgetScope,
    Company,
    Money,
    Record,
    Ref,
    Task,
)
from agentco_tui.screens.columns.cells import limit_text
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
from agentco_tui.screens.header_footer import Say
from agentco_tui.screens.prompts import completed, find
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone


@dataclass(frozen=True, slots=True)
class FormRequest:
    """What a form is made from, and whom it tells."""

    session: Session
    subject: Record | None
    """The record under the cursor when the form was asked for."""
    tell: Callable[[Outcome], None]
    """Says what became of a write."""
    say: Say
    filtered: Callable[[], None]
    """Called when the activity's filters have changed."""

    def title(self, verb: str, what: SafeText) -> Sequence[Cell]:
        """The form's title: profile, verb and what it acts on."""
        return title_of(self.session.settings.profile, verb, what)

    def company(self, words: str) -> Company | None:
        """The company with that name or id."""
        return find(words, self.session.store.companies)

    def agent(self, words: str, company_id: str | None) -> Agent | None:
        """The agent with that name or id, of that company if one is given."""
        fits = (None, company_id)
        agents = self.session.store.agents
        return find(
            words,
            (a for a in agents if not company_id or not a.company or a.company.id in fits),
        )

    def company_field(self, name: str, value: str, hint: str) -> FormField:
        """A field for a company's name or id, completed from those that are known."""
        known = self.session.store.companies
        return _field(name, "company", value, hint, lambda: (c.name or c.id for c in known))

    def agent_field(self, name: str, value: str, hint: str) -> FormField:
        """A field for an agent's name or id, completed from those that are known."""
        known = self.session.store.agents
        return _field(name, "agent", value, hint, lambda: (a.name or a.id for a in known))

    def writes(self, write: Callable[[Values, OnProgress], Awaitable[Outcome]]) -> Send:
        """What a form does that writes: a good outcome is told, any other keeps the form open."""

        async def send(values: Values, doubt: Doubt) -> Refusal | None:
            def step(progress: Progress) -> None:
                if progress.step is Step.UNKNOWN:
                    doubt()

            outcome = await write(values, step)
            if outcome.good:
                self.tell(outcome)
                return None
            words = f" (platform: {outcome.words})" if outcome.words else ""
            return Refusal(plain(f"{outcome.sentence}{words}"), outcome.fields)

        return send


NO_COMPANY = plain("no company here has this name or id")


def _field(
    name: str,
    label: str,
    value: str = "",
    hint: str = "",
    known: Callable[[], Iterable[str]] | None = None,
) -> FormField:
    """A field; the first of the `known` words that goes on as was typed is suggested."""
    suggest = None if known is None else lambda typed: completed(typed, known())
    return FormField(name, plain(label), value, plain(hint), suggest)


def _fields_of(values: Mapping[str, str]) -> list[Item]:
    """What will be sent, field by field, for the question."""
    return [FieldLine(plain(name), safe(value, 200)) for name, value in values.items()]


def new_task(ask: FormRequest) -> FormPlan:
    """POST /api/tasks: company, agent, title and priority."""
    session, like = ask.session, ask.subject if isinstance(ask.subject, Task) else None
    company_ref = session.names.company_of(like) if like is not None else None
    company_id = session.company or (company_ref.id if company_ref else None)
    # The words that tasks here have, as the interface names "high" only.
    tasks = (*session.store.pending, *session.store.tasks)
    priorities = sorted({task.priority for task in tasks if task.priority}) or ["high"]

    def named(values: Values) -> tuple[Company | None, Agent | None]:
        company = ask.company(values["company_id"])
        return company, ask.agent(values["agent_id"], company.id if company else None)

    def form_in(values: Values) -> TaskForm:
        company, agent = named(values)
        return TaskForm(
            company_id=company.id if company else "",
            title=values["title"],
            agent_id=agent.id if agent else "",
            priority=values["priority"],
        )

    def check(values: Values) -> Errors:
        company, agent = named(values)
        errors = dict(check_task(form_in(values)))
        if values["company_id"] and company is None:
            errors["company_id"] = NO_COMPANY
        if values["agent_id"] and agent is None:
            errors["agent_id"] = plain("no agent of this company has this name or id")
        return errors

    def notes(values: Values) -> Errors:
        company, agent = named(values)
        known = {
            "company_id": (company.name, safe(company.id)) if company else (),
            "agent_id": (agent.name, agent.role, safe(agent.id)) if agent else (),
        }
        told = {name: "  ".join(word for word in words if word) for name, words in known.items()}
        return {name: plain(words) for name, words in told.items() if words}

    def question(values: Values) -> Sequence[Item]:
        company, agent = named(values)
        return _fields_of(
            {
                "title": values["title"],
                "company": (company and company.name) or values["company_id"],
                "agent": (agent and agent.name) or values["agent_id"],
                "priority": values["priority"],
            }
        )

    company_name = "" if company_id is None else session.names.company(Ref(id=company_id))
    agent_name = session.names.agent(like.agent) if like is not None and like.agent else ""
    priority = "high" if "high" in priorities else priorities[0]
    seen = "seen here: " + ", ".join(priorities)
    return FormPlan(
        title=ask.title("CREATE", plain("1 task")),
        fields=(
            ask.company_field("company_id", company_name, "a name or an id"),
            ask.agent_field("agent_id", agent_name, "a name or an id"),
            _field("title", "title", "", "what is to be done"),
            _field("priority", "priority", priority, seen, lambda: priorities),
        ),
        check=check,
        notes=notes,
        question=question,
        send=ask.writes(lambda values, step: TaskCreation(session, form_in(values), step).run()),
        verb="create it",
    )


def new_company(ask: FormRequest) -> FormPlan:
    """POST /api/companies: name, template and mission."""
    session = ask.session
    templates = sorted({c.template for c in session.store.companies if c.template})
    seen = "seen here: " + ", ".join(templates) if templates else "a template of the platform"
    return FormPlan(
        title=ask.title("CREATE", plain("1 company")),
        fields=(
            _field("name", "name"),
            _field("template", "template", "", seen, lambda: templates),
            _field("mission", "mission", "", "what it is for, in a sentence"),
        ),
        check=lambda values: check_company(CompanyForm(**values)),
        question=_fields_of,
        send=ask.writes(
            lambda values, step: CompanyCreation(session, CompanyForm(**values), step).run()
        ),
        verb="create it",
    )


def clone_company(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/companies/:id/clone: name and mission."""
    session, company = ask.session, ask.subject
    if not isinstance(company, Company):
        return plain("put the cursor on a company to clone it")
    name = company.name or safe(company.id)
    return FormPlan(
        title=ask.title("CLONE", name),
        fields=(
            _field("name", "new name", f"{name} 2"),
            _field("mission", "mission", company.mission or ""),
        ),
        check=lambda values: check_company(CompanyForm(**values), company),
        question=lambda values: [FieldLine(plain("from"), name), *_fields_of(values)],
        send=ask.writes(
            lambda values, step: CompanyCreation(
                session, CompanyForm(**values), step, company
            ).run()
        ),
        verb="clone it",
    )


def in_currency_of(budget: Budget | None, amount: Decimal) -> SafeText:
    """An amount in the currency of what is known of a budget."""
    figures = () if budget is None else (budget.limit, budget.spent, budget.remaining)
    return fmt.money(Money(amount, next((money.currency for money in figures if money), None)))


def limit_change(budget: Budget | None, new: Decimal) -> SafeText:
    """What a new limit changes, in words."""
    if budget is None or (budget.limit is None and not budget.unlimited):
        return plain("the limit until now is not known")
    words = f"{limit_text(budget)} {signs.arrow} {in_currency_of(budget, new)}"
    if not budget.unlimited and budget.limit is not None:
        change = new - budget.limit.amount
        words += f" ({'+' if change > 0 else ''}{in_currency_of(budget, change)})"
    return plain(words)


def agent_meant(subject: Record | None) -> str | None:
    """The id of the agent that a record is or is about; None for no agent."""
    match subject:
        case Agent() | Budget(scope=BudgetScope.AGENT):
            return subject.id
        case Alert(agent=ref) | Task(agent=ref) if ref is not None:
            return ref.id
        case _:
            return None


def set_limit(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/budget/agents/:id: monthly_limit; old, new and difference are shown.

    The form may be open before the first answer with the agent's budget: what it shows is what is
    known by then, and what was shown last with the question is what the write goes by.
    """
    session, agent_id = ask.session, agent_meant(ask.subject)
    if agent_id is None:
        return plain("limits can be set for agents: put the cursor on a line about an agent")
    budgets = session.store.agent_budgets
    budget = shown = budgets.get(agent_id)
    name = session.names.agent(Ref(id=agent_id, name=budget.name if budget else None))

    def check(values: Values) -> Errors:
        amount = check_limit(values["monthly_limit"])
        return {"monthly_limit": amount} if isinstance(amount, str) else {}

    def notes(values: Values) -> Errors:
        amount, known = check_limit(values["monthly_limit"]), budgets.get(agent_id)
        if isinstance(amount, str):
            return {}
        return {"monthly_limit": limit_change(known, amount)}

    def question(values: Values) -> Sequence[Item]:
        nonlocal shown
        shown = budgets.get(agent_id)
        amount = check_limit(values["monthly_limit"])
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

    def write(values: Values, step: OnProgress) -> Awaitable[Outcome]:
        agent, amount = session.store.agents.get(agent_id), check_limit(values["monthly_limit"])
        company = shown.company if shown is not None else None
        assert isinstance(amount, Decimal), "it was checked before it was asked about"
        return LimitChange(
            session,
            Ref(id=agent_id, name=name),
            amount,
            shown=shown,
            company=company or (agent.company if agent is not None else None),
            on_progress=step,
        ).run()

    old = None if budget is None or budget.unlimited else budget.limit
    old_amount = "" if old is None else f"{old.amount:f}"
    hint = "in whole units, such as 120 or 99.50"
    return FormPlan(
        title=ask.title("SET LIMIT", name),
        fields=(_field("monthly_limit", "monthly limit", old_amount, hint),),
        check=check,
        notes=notes,
        question=question,
        send=ask.writes(write),
        verb="set it",
    )


def activity_filters(ask: FormRequest) -> FormPlan:
    """What GET /api/activity is asked for: company, agent, dates and limit."""
    session = ask.session
    chosen = session.poller.query.activity

    def filter_in(values: Values) -> ActivityFilter | dict[str, SafeText]:
        errors: dict[str, SafeText] = {}
        company = ask.company(values["company"]) if values["company"] else None
        if values["company"] and company is None:
            errors["company"] = NO_COMPANY
        scope = company.id if company else session.company
        agent = ask.agent(values["agent"], scope) if values["agent"] else None
        if values["agent"] and agent is None:
            errors["agent"] = plain("no agent here has this name or id")
        days: dict[str, date | None] = {}
        for name in ("from", "to"):
            try:
                days[name] = date.fromisoformat(values[name]) if values[name] else None
            except ValueError:
                errors[name] = plain("a day is needed, such as 2026-01-31")
        begin, end = days.get("from"), days.get("to")
        if begin and end and begin > end:
            errors["to"] = plain("that is before the first day")
        limit = values["limit"]
        whole = limit.isascii() and limit.isdigit()
        if limit and not (whole and 0 < int(limit) <= DEFAULT_CAPACITY):
            errors["limit"] = plain(f"a whole number from 1 to {DEFAULT_CAPACITY} is needed")
        return errors or ActivityFilter(
            company.id if company else None,
            agent.id if agent else None,
            begin,
            end,
            int(limit) if limit else None,
        )

    def check(values: Values) -> Errors:
        found = filter_in(values)
        return found if isinstance(found, dict) else {}

    async def send(values: Values, _: Doubt) -> Refusal | None:
        found = filter_in(values)
        if isinstance(found, dict):
            return Refusal(plain("some fields are wrong"), found)
        session.poller.set_query(Query(company=session.company, activity=found))
        ask.filtered()
        return None

    def name_of(ref_id: str | None, record: Agent | Company | None) -> str:
        return "" if ref_id is None else (record.name if record and record.name else ref_id)

    company = name_of(chosen.company, session.store.companies.get(chosen.company))
    agent = name_of(chosen.agent, session.store.agents.get(chosen.agent))
    first, last = (day.isoformat() if day else "" for day in (chosen.from_date, chosen.to_date))
    limit = "" if chosen.limit is None else str(chosen.limit)
    return FormPlan(
        title=ask.title("FILTER", plain("the activity log")),
        fields=(
            ask.company_field("company", company, "empty for the company in scope, or all"),
            ask.agent_field("agent", agent, "empty for all"),
            _field("from", "from", first, "first day, as 2026-01-31"),
            _field("to", "to", last, "last day"),
            _field("limit", "limit", limit, "how many entries a poll asks for"),
        ),
        check=check,
        send=send,
    )


def export_activity(ask: FormRequest) -> FormPlan:
    """GET /api/activity/export, written to a file as it comes."""

    async def send(values: Values, _: Doubt) -> Refusal | None:
        path = Path(values["file"])
        try:
            with atomic_write(path) as target:
                async with ask.session.client.export_activity(values["format"]) as chunks:
                    async for chunk in chunks:
                        target.write(chunk)
        except ApiError as error:
            return Refusal(plain(str(error)))
        except (FileInTheWayError, AtomicWriteError) as error:
            return Refusal(plain(str(error)), {"file": plain(str(error))})
        ask.say(f"{fmt.size(target.written)} written to {safe(str(path), 80)}")
        return None

    return FormPlan(
        title=ask.title("EXPORT", plain("the activity log")),
        fields=(
            _field("format", "format", "csv", "csv is the one that is known"),
            _field("file", "file", "activity.csv", "must not exist yet"),
        ),
        check=lambda values: {
            name: plain("this is needed") for name in ("format", "file") if not values[name]
        },
        send=send,
    )


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
