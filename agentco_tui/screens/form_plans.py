"""The forms: which fields each has, what is checked, what is asked, and what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

from agentco_tui import format as fmt
from agentco_tui.actions.outcome import Outcome
from agentco_tui.api.errors import ApiError
from agentco_tui.api.records import Agent, Company, Money, Ref, Task
from agentco_tui.live.sources import ActivityFilter, Query
from agentco_tui.screens.dialog import title_of
from agentco_tui.screens.form import Errors, FormField, FormPlan, Refusal, Values
from agentco_tui.screens.go_to import find
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.pane_content import Field, Gap, Item, Text
from agentco_tui.widgets.tones import Tone
from agentco_tui.whole_file import FileInTheWayError, WholeFileError, whole_file

Tell = Callable[[Outcome], None]


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

    def check(values: Values) -> Errors:
        errors = needed(values, "company_id", "agent_id", "title", "priority")
        if "company_id" not in errors and company_in(values) is None:
            errors["company_id"] = plain("no company here has this name or id")
        if "agent_id" not in errors and agent_in(values) is None:
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

    async def send(values: Values) -> Refusal | None:
        company, agent = company_in(values), agent_in(values)
        if company is None or agent is None:
            return Refusal(plain("company or agent is not known any more"), check(values))
        outcome = await session.desk.create_task(
            company, agent, values["title"], values["priority"]
        )
        return refusal_of(outcome, tell)

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

    async def send(values: Values) -> Refusal | None:
        outcome = await session.desk.create_company(
            values["name"], values["template"], values["mission"]
        )
        return refusal_of(outcome, tell)

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
        check=lambda values: needed(values, "name", "template", "mission"),
        question=lambda values: shown(values.items()),
        send=send,
        verb="create it",
    )


def clone_company(session: Session, company: Company, tell: Tell) -> FormPlan:
    """POST /api/companies/:id/clone: name and mission."""
    name = company.name or safe(company.id)

    async def send(values: Values) -> Refusal | None:
        outcome = await session.desk.clone_company(company, values["name"], values["mission"])
        return refusal_of(outcome, tell)

    return FormPlan(
        title=title_of(session.settings.profile, "CLONE", name),
        fields=(
            FormField("name", plain("new name"), f"{name} 2"),
            FormField("mission", plain("mission"), company.mission or ""),
        ),
        check=lambda values: needed(values, "name", "mission"),
        question=lambda values: [Field(plain("from"), name), *shown(values.items())],
        send=send,
        verb="clone it",
    )


def set_limit(session: Session, agent_id: str, tell: Tell) -> FormPlan:
    """POST /api/budget/agents/:id: monthly_limit; old, new and difference are shown."""
    budget = session.store.agent_budgets.get(agent_id)
    name = session.names.agent(Ref(id=agent_id, name=budget.name if budget else None))
    old = budget.limit if budget is not None and not budget.unlimited else None
    currency = old.currency if old is not None else None

    def in_units(amount: Decimal) -> SafeText:
        return fmt.money(Money(amount, currency))

    def difference(new: Decimal) -> SafeText:
        if old is None:
            return plain("the limit until now is not known")
        change = new - old.amount
        sign = "+" if change > 0 else ""
        return plain(f"{in_units(old.amount)} {signs.arrow} {in_units(new)} ({sign}{in_units(change)})")

    def check(values: Values) -> Errors:
        amount = amount_in(values["monthly_limit"])
        return {"monthly_limit": amount} if isinstance(amount, str) else {}

    def notes(values: Values) -> Errors:
        amount = amount_in(values["monthly_limit"])
        return {} if isinstance(amount, str) else {"monthly_limit": difference(amount)}

    def question(values: Values) -> Sequence[Item]:
        amount = amount_in(values["monthly_limit"])
        if isinstance(amount, str):
            return [Text(amount, Tone.CRITICAL)]
        items: list[Item] = [
            Field(plain("agent"), name),
            Field(plain("old limit"), fmt.money(old)),
            Field(plain("new limit"), in_units(amount), Tone.STRONG),
            Field(plain("change"), difference(amount)),
        ]
        if budget is not None and budget.spent is not None:
            items.append(Field(plain("spent"), fmt.money(budget.spent)))
            if amount < budget.spent.amount:
                words = f"{signs.warning} the new limit is below what is spent already"
                items += [Gap(), Text(plain(words), Tone.WARNING)]
        return items

    async def send(values: Values) -> Refusal | None:
        amount = amount_in(values["monthly_limit"])
        if isinstance(amount, str):
            return Refusal(amount)
        return refusal_of(await session.desk.set_limit(agent_id, name, amount), tell)

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


def amount_in(text: str) -> Decimal | SafeText:
    """The sum that was typed, or what is wrong with it."""
    try:
        amount = Decimal(text.replace(",", "").replace("_", ""))
    except InvalidOperation:
        return plain("a number is needed, such as 120 or 99.50")
    if not amount.is_finite() or amount < 0:
        return plain("a limit can't be below zero" if amount < 0 else "a number is needed")
    exponent = amount.as_tuple().exponent
    if amount.adjusted() > 12 or (isinstance(exponent, int) and exponent < -6):
        return plain("that is more digits than a limit has")
    return amount


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
        if limit and not (limit.isascii() and limit.isdigit() and 0 < int(limit) <= 100_000):
            errors["limit"] = plain("a whole number from 1 to 100000 is needed")
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

    async def send(values: Values) -> Refusal | None:
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

    async def send(values: Values) -> Refusal | None:
        path = Path(values["file"])
        try:
            with whole_file(path) as target:
                async with session.client.export_activity(values["format"]) as chunks:
                    async for chunk in chunks:
                        target.write(chunk)
        except ApiError as error:
            return Refusal(plain(str(error)))
        except (FileInTheWayError, WholeFileError) as error:
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
