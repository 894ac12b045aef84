"""The forms: which fields each has, what is checked, what is asked, and what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

from agentco_tui import format as fmt
from agentco_tui.actions import create
from agentco_tui.actions import set_limit as limits
from agentco_tui.actions.outcome import Outcome, Progress, Step
from agentco_tui.actions.validation import (
    CompanyForm,
    TaskForm,
    check_clone,
    check_company,
    check_limit,
    check_task,
)
from agentco_tui.api.errors import ApiError
from agentco_tui.atomic_write import AtomicWriteError, FileInTheWayError, atomic_write
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.feeds import ActivityFilter, Query
from agentco_tui.model.records import Agent, Budget, Company, Money, Ref, Task
from agentco_tui.screens.columns.cells import limit_text
from agentco_tui.screens.dialogs.base import title_of
from agentco_tui.screens.dialogs.form import Doubt, Errors, FormField, FormPlan, Refusal, Values
from agentco_tui.screens.prompts import find
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import Field, Gap, Item, Text
from agentco_tui.widgets.tones import Tone

Tell = Callable[[Outcome], None]


def doubts(doubt: Doubt) -> Callable[[Progress], None]:
    """Tells a form while its write is unknown."""

    def step(progress: Progress) -> None:
        if progress.step is Step.UNKNOWN:
            doubt()

    return step


def refusal_of(outcome: Outcome, tell: Tell) -> Refusal | None:
    """None after a good outcome, which is told; else what keeps the form open."""
    if outcome.good:
        tell(outcome)
        return None
    words = f" (platform: {outcome.words})" if outcome.words else ""
    return Refusal(plain(f"{outcome.sentence}{words}"), outcome.fields)


def needed(values: Values, *names: str) -> dict[str, SafeText]:
    """A sentence for each of these fields that is empty."""
    return {name: plain("this is needed") for name in names if not values[name]}


def shown(fields: Iterable[tuple[str, str]]) -> list[Item]:
    """What will be sent, field by field, for the question."""
    return [Field(plain(name), safe(value, 200)) for name, value in fields]


def agents_of(session: Session, company_id: str | None) -> list[Agent]:
    """The agents that a task of that company can be for; all where none is chosen."""
    return [
        agent
        for agent in session.store.agents
        if company_id is None or agent.company is None or agent.company.id in (None, company_id)
    ]


def company_called(session: Session, words: str) -> Company | None:
    """The company with that name or id."""
    found = find(words, list(session.store.companies))
    return found if isinstance(found, Company) else None


def agent_called(session: Session, words: str, company_id: str | None) -> Agent | None:
    """The agent of that company with that name or id."""
    found = find(words, agents_of(session, company_id))
    return found if isinstance(found, Agent) else None


def completed(typed: str, names: Iterable[str]) -> str | None:
    """The first name that goes on as was typed, with what was typed kept as it is."""
    for name in names:
        if typed and name.casefold().startswith(typed.casefold()):
            return typed + name[len(typed) :]
    return None


def new_task(session: Session, like: Task | None, tell: Tell) -> FormPlan:
    """POST /api/tasks: company, agent, title and priority."""
    company_ref = session.names.company_of(like) if like is not None else None
    company_id = session.company or (company_ref.id if company_ref else None)
    company = "" if company_id is None else session.names.company(Ref(id=company_id))
    agent = session.names.agent(like.agent) if like is not None and like.agent else ""

    def company_in(values: Values) -> Company | None:
        return company_called(session, values["company_id"])

    def agent_in(values: Values) -> Agent | None:
        company = company_in(values)
        return agent_called(session, values["agent_id"], company.id if company else None)

    def form_in(values: Values) -> TaskForm:
        company, agent = company_in(values), agent_in(values)
        return TaskForm(
            company_id=company.id if company else "",
            title=values["title"],
            agent_id=agent.id if agent else "",
            priority=values["priority"],
        )

    def check(values: Values) -> Errors:
        errors = dict(check_task(form_in(values)))
        if values["company_id"] and company_in(values) is None:
            errors["company_id"] = plain("no company here has this name or id")
        if values["agent_id"] and agent_in(values) is None:
            errors["agent_id"] = plain("no agent of this company has this name or id")
        return errors

    def notes(values: Values) -> Errors:
        company, agent = company_in(values), agent_in(values)
        told: dict[str, SafeText] = {}
        if company is not None:
            told["company_id"] = plain(f"{company.name or ''}  {safe(company.id)}".strip())
        if agent is not None:
            words = (agent.name, agent.role, safe(agent.id))
            told["agent_id"] = plain("  ".join(word for word in words if word))
        return told

    def question(values: Values) -> Sequence[Item]:
        company, agent = company_in(values), agent_in(values)
        return shown(
            (
                ("title", values["title"]),
                ("company", (company and company.name) or values["company_id"]),
                ("agent", (agent and agent.name) or values["agent_id"]),
                ("priority", values["priority"]),
            )
        )

    async def send(values: Values, doubt: Doubt) -> Refusal | None:
        return refusal_of(await create.create_task(session, form_in(values), doubts(doubt)), tell)

    priorities = seen_priorities(session)
    return FormPlan(
        title=title_of(session.settings.profile, "CREATE", plain("1 task")),
        fields=(
            FormField(
                "company_id",
                plain("company"),
                company,
                plain("a name or an id"),
                lambda typed: completed(typed, (c.name or c.id for c in session.store.companies)),
            ),
            FormField(
                "agent_id",
                plain("agent"),
                agent,
                plain("a name or an id"),
                lambda typed: completed(typed, (a.name or a.id for a in session.store.agents)),
            ),
            FormField("title", plain("title"), "", plain("what is to be done")),
            FormField(
                "priority",
                plain("priority"),
                "high" if "high" in priorities else priorities[0],
                plain("seen here: " + ", ".join(priorities)),
                lambda typed: completed(typed, priorities),
            ),
        ),
        check=check,
        notes=notes,
        question=question,
        send=send,
        verb="create it",
    )


def seen_priorities(session: Session) -> list[str]:
    """The words that tasks here have, as the interface names "high" only."""
    tasks = (*session.store.pending, *session.store.tasks)
    return sorted({task.priority for task in tasks if task.priority}) or ["high"]


def new_company(session: Session, tell: Tell) -> FormPlan:
    """POST /api/companies: name, template and mission."""
    templates = sorted({c.template for c in session.store.companies if c.template})

    def form_in(values: Values) -> CompanyForm:
        return CompanyForm(
            name=values["name"], template=values["template"], mission=values["mission"]
        )

    async def send(values: Values, doubt: Doubt) -> Refusal | None:
        return refusal_of(
            await create.create_company(session, form_in(values), doubts(doubt)), tell
        )

    seen = "seen here: " + ", ".join(templates) if templates else "a template of the platform"
    return FormPlan(
        title=title_of(session.settings.profile, "CREATE", plain("1 company")),
        fields=(
            FormField("name", plain("name")),
            FormField(
                "template",
                plain("template"),
                "",
                plain(seen),
                lambda typed: completed(typed, templates),
            ),
            FormField("mission", plain("mission"), "", plain("what it is for, in a sentence")),
        ),
        check=lambda values: check_company(form_in(values)),
        question=lambda values: shown(values.items()),
        send=send,
        verb="create it",
    )


def clone_company(session: Session, company: Company, tell: Tell) -> FormPlan:
    """POST /api/companies/:id/clone: name and mission."""
    name = company.name or safe(company.id)

    def form_in(values: Values) -> CompanyForm:
        return CompanyForm(name=values["name"], mission=values["mission"])

    async def send(values: Values, doubt: Doubt) -> Refusal | None:
        return refusal_of(
            await create.clone_company(session, company, form_in(values), doubts(doubt)), tell
        )

    return FormPlan(
        title=title_of(session.settings.profile, "CLONE", name),
        fields=(
            FormField("name", plain("new name"), f"{name} 2"),
            FormField("mission", plain("mission"), company.mission or ""),
        ),
        check=lambda values: check_clone(form_in(values)),
        question=lambda values: [Field(plain("from"), name), *shown(values.items())],
        send=send,
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
    was_and_is = f"{limit_text(budget)} {signs.arrow} {in_currency_of(budget, new)}"
    if budget.unlimited or budget.limit is None:
        return plain(was_and_is)
    change = new - budget.limit.amount
    sign = "+" if change > 0 else ""
    return plain(f"{was_and_is} ({sign}{in_currency_of(budget, change)})")


def set_limit(session: Session, agent_id: str, tell: Tell) -> FormPlan:
    """POST /api/budget/agents/:id: monthly_limit; old, new and difference are shown.

    The form may be open before the first answer with the agent's budget: what it shows is what is
    known by then, and what was shown last with the question is what the write goes by.
    """
    budget = shown_budget = session.store.agent_budgets.get(agent_id)
    name = session.names.agent(Ref(id=agent_id, name=budget.name if budget else None))

    def known() -> Budget | None:
        """The budget as it is known now."""
        return session.store.agent_budgets.get(agent_id)

    def check(values: Values) -> Errors:
        amount = check_limit(values["monthly_limit"])
        return {"monthly_limit": amount} if isinstance(amount, str) else {}

    def notes(values: Values) -> Errors:
        amount = check_limit(values["monthly_limit"])
        if isinstance(amount, str):
            return {}
        return {"monthly_limit": limit_change(known(), amount)}

    def question(values: Values) -> Sequence[Item]:
        nonlocal shown_budget
        shown_budget = known()
        spent = None if shown_budget is None else shown_budget.spent
        amount = check_limit(values["monthly_limit"])
        if isinstance(amount, str):
            return [Text(amount, Tone.CRITICAL)]
        items: list[Item] = [
            Field(plain("agent"), name),
            Field(plain("old limit"), limit_text(shown_budget) if shown_budget else signs.missing),
            Field(plain("new limit"), in_currency_of(shown_budget, amount), Tone.STRONG),
            Field(plain("change"), limit_change(shown_budget, amount)),
        ]
        if spent is not None:
            items.append(Field(plain("spent"), fmt.money(spent)))
            if amount < spent.amount:
                words = f"{signs.warning} the new limit is below what is spent already"
                items += [Gap(), Text(plain(words), Tone.WARNING)]
        return items

    async def send(values: Values, doubt: Doubt) -> Refusal | None:
        agent = session.store.agents.get(agent_id)
        company = shown_budget.company if shown_budget is not None else None
        outcome = await limits.set_limit(
            session,
            Ref(id=agent_id, name=name),
            values["monthly_limit"],
            shown=shown_budget,
            company=company or (agent.company if agent is not None else None),
            on_progress=doubts(doubt),
        )
        return refusal_of(outcome, tell)

    old = None if budget is None or budget.unlimited else budget.limit
    return FormPlan(
        title=title_of(session.settings.profile, "SET LIMIT", name),
        fields=(
            FormField(
                "monthly_limit",
                plain("monthly limit"),
                "" if old is None else f"{old.amount:f}",
                plain("in whole units, such as 120 or 99.50"),
            ),
        ),
        check=check,
        notes=notes,
        question=question,
        send=send,
        verb="set it",
    )


def activity_filters(session: Session, done: Callable[[], None]) -> FormPlan:
    """What GET /api/activity is asked for: company, agent, dates and limit."""
    query = session.poller.query
    chosen = query.activity

    def filter_in(values: Values) -> ActivityFilter | dict[str, SafeText]:
        errors: dict[str, SafeText] = {}
        company = company_called(session, values["company"]) if values["company"] else None
        if values["company"] and company is None:
            errors["company"] = plain("no company here has this name or id")
        scope = company.id if company else session.company
        agent = agent_called(session, values["agent"], scope) if values["agent"] else None
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
        if errors:
            return errors
        return ActivityFilter(
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
        done()
        return None

    def name_of(ref_id: str | None, record: Agent | Company | None) -> str:
        return "" if ref_id is None else (record.name if record and record.name else ref_id)

    return FormPlan(
        title=title_of(session.settings.profile, "FILTER", plain("the activity log")),
        fields=(
            FormField(
                "company",
                plain("company"),
                name_of(chosen.company, session.store.companies.get(chosen.company)),
                plain("empty for the company in scope, or all"),
                lambda typed: completed(typed, (c.name or c.id for c in session.store.companies)),
            ),
            FormField(
                "agent",
                plain("agent"),
                name_of(chosen.agent, session.store.agents.get(chosen.agent)),
                plain("empty for all"),
                lambda typed: completed(typed, (a.name or a.id for a in session.store.agents)),
            ),
            FormField(
                "from", plain("from"), _day(chosen.from_date), plain("first day, as 2026-01-31")
            ),
            FormField("to", plain("to"), _day(chosen.to_date), plain("last day")),
            FormField(
                "limit",
                plain("limit"),
                "" if chosen.limit is None else str(chosen.limit),
                plain("how many entries a poll asks for"),
            ),
        ),
        check=check,
        send=send,
    )


def _day(day: date | None) -> str:
    return "" if day is None else day.isoformat()


def export_activity(session: Session, say: Callable[[str], None]) -> FormPlan:
    """GET /api/activity/export, written to a file as it comes."""

    async def send(values: Values, _: Doubt) -> Refusal | None:
        path = Path(values["file"])
        try:
            with atomic_write(path) as target:
                async with session.client.export_activity(values["format"]) as chunks:
                    async for chunk in chunks:
                        target.write(chunk)
        except ApiError as error:
            return Refusal(plain(str(error)))
        except (FileInTheWayError, AtomicWriteError) as error:
            return Refusal(plain(str(error)), {"file": plain(str(error))})
        say(f"{fmt.size(target.written)} written to {safe(str(path), 80)}")
        return None

    return FormPlan(
        title=title_of(session.settings.profile, "EXPORT", plain("the activity log")),
        fields=(
            FormField("format", plain("format"), "csv", plain("csv is the one that is known")),
            FormField("file", plain("file"), "activity.csv", plain("must not exist yet")),
        ),
        check=lambda values: needed(values, "format", "file"),
        send=send,
    )
