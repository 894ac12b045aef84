"""The forms, by the command that opens each: fields, what is checked and asked, what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import msgspec

from agentco_tui import format as fmt
from agentco_tui.actions import writes
from agentco_tui.actions.outcome import GOOD, Step
from agentco_tui.actions.write_flow import CREATING, Write
from agentco_tui.actions.writes import CompanyCreation, LimitChange, check_limit, limit_words
from agentco_tui.api.errors import ApiError
from agentco_tui.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.feeds import ActivityFilter, Query
from agentco_tui.live.insight import priority_rank
from agentco_tui.live.log_file import Written, as_csv
from agentco_tui.live.store import named
from agentco_tui.model import Agent, Budget, Company, Moment, Money, Record, Ref, Task
from agentco_tui.screens.cells import limit_of
from agentco_tui.screens.dialogs.base import title_of
from agentco_tui.screens.dialogs.form_dialog import (
    Errors,
    Form,
    FormField,
    FormPlan,
    Refusal,
    Send,
    Values,
)
from agentco_tui.screens.targets import completed
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen
    from agentco_tui.screens.plain_views import ActivityView


class FormRequest(msgspec.Struct, frozen=True):
    frame: MainScreen
    subject: Record | None

    def title(self, doing: str, what: SafeText) -> list[Cell]:
        return title_of(self.frame.session.settings, doing, what)

    def company(self, words: str) -> Company | None:
        found = named(words, self.frame.session.store.companies)
        return found[0] if len(found) == 1 else None

    def agent(self, words: str, company_id: str | None) -> Agent | None:
        found = named(words, self._agents(company_id))
        return found[0] if len(found) == 1 else None

    def _agents(self, company_id: str | None) -> Iterable[Agent]:
        """Those that may be of a company, or all."""
        agents, fits = self.frame.session.store.agents, (None, company_id)
        return (a for a in agents if not company_id or not a.company or a.company.id in fits)

    def record_field(self, name: str, label: str, value: str, hint: str) -> FormField:
        """A field for a company's or an agent's name or id, completed from those known; an agent
        from those of the company that the form has, else of the one in scope.
        """
        session = self.frame.session

        def suggest(typed: str, values: Values) -> str | None:
            known: Iterable[Agent | Company] = session.store.companies
            if label == "agent":
                company = self.company(values.get(name.replace("agent", "company"), ""))
                known = self._agents(company.id if company else session.poller.query.company)
            return completed(typed, (one.name or safe(one.id) for one in known))

        return FormField(name, label, value, hint, suggest)

    def writes(self, make: Callable[[Values], Write[Any]]) -> Send:
        """What a form does that writes: a good outcome is told, and what was made shown, unless the
        form has been left; any other outcome keeps it open.
        """

        async def send(values: Values, form: Form) -> Refusal | None:
            def reached(step: Step) -> None:
                if step is Step.UNKNOWN:
                    form.says("the answer was lost: it is looked for by reading, nothing is sent")

            outcome = await make(values).run(reached)
            if outcome.kind in GOOD:
                self.frame.dialogs.tell(outcome)
                if outcome.verb in CREATING and outcome.record and form.is_attached:
                    self.frame.view.go_to(outcome.record.id)
                return None
            words = f" (platform: {outcome.words})" if outcome.words else ""
            return Refusal(plain(f"{outcome.sentence}{words}"), outcome.fields)

        return send


TENFOLD = 10  # times the old limit from which on a new one is asked about twice
NO_COMPANY = plain("no company here has this name or id")


def _fields_of(values: Mapping[str, str]) -> list[Item]:
    """What is sent; what was left empty is not."""
    shown = {name: safe(value, 200) or signs.missing for name, value in values.items()}
    return [FieldLine(plain(name), value) for name, value in shown.items()]


def new_task(ask: FormRequest) -> FormPlan:
    """POST /api/tasks: company, agent, title and priority."""
    session, like = ask.frame.session, ask.subject if isinstance(ask.subject, Task) else None
    names = session.names
    # The words that tasks here have, as the interface names "high" only; the most urgent first.
    tasks = (*session.store.pending, *session.store.tasks)
    words = {task.priority for task in tasks if task.priority}
    priorities = sorted(words, key=lambda word: (priority_rank(word), word))

    def chosen(values: Values) -> tuple[Company | None, Agent | None]:
        company = ask.company(values["company_id"])
        return company, ask.agent(values["agent_id"], company.id if company else None)

    def write(values: Values) -> Write[Any]:
        company, agent = chosen(values)
        ids = {"company_id": company.id if company else "", "agent_id": agent.id if agent else ""}
        return writes.TaskCreation(session, {**values, **ids})

    def check(values: Values) -> Errors:
        company, agent = chosen(values)
        errors: dict[str, SafeText] = {}
        if company is None:
            typed = values["company_id"]
            errors["company_id"] = NO_COMPANY if typed else plain("choose a company")
        if agent is None:
            no_agent = "no agent of this company has this name or id"
            if company is not None and session.poller.query.company not in (None, company.id):
                no_agent = f"only agents of {names.scope(session.poller.query.company)} are known "
                no_agent += "while only it is shown (0 shows all)"
            errors["agent_id"] = plain(no_agent if values["agent_id"] else "choose an agent")
        typed_in = {name: values[name] for name in ("title", "priority")}
        return errors | writes.check_form(typed_in)

    def notes(values: Values) -> Errors:
        company, agent = chosen(values)
        known = {
            "company_id": (company.name, safe(company.id)) if company else (),
            "agent_id": (agent.name, agent.role, safe(agent.id)) if agent else (),
        }
        return {n: plain("  ".join(filter(None, words))) for n, words in known.items() if words}

    def question(values: Values) -> Sequence[Item]:
        company, agent = chosen(values)
        company_name = (company and company.name) or values["company_id"]
        agent_name = (agent and agent.name) or values["agent_id"]
        names = {"title": values["title"], "company": company_name, "agent": agent_name}
        return _fields_of({**names, "priority": values["priority"]})

    company = names.company_of(like) if like is not None else None
    company_id = session.poller.query.company or (company.id if company else None)
    company_name = "" if company_id is None else names.company(Ref(id=company_id))
    agent_name = names.agent(like.agent) if like is not None and like.agent else ""
    seen = "seen here: " + ", ".join(priorities) if priorities else "such as high"
    fields = (
        ask.record_field("company_id", "company", company_name, "a name or an id"),
        ask.record_field("agent_id", "agent", agent_name, "a name or an id"),
        FormField("title", "title", "", "what is to be done"),
        FormField("priority", "priority", "", seen, lambda typed, _: completed(typed, priorities)),
    )
    title = ask.title("CREATE", plain("1 task"))
    return FormPlan(title, fields, check, ask.writes(write), question, notes, "create it")


def new_company(ask: FormRequest, source: Company | None = None) -> FormPlan:
    """POST /api/companies: name, template and mission; with a source as `clone_company`."""
    session, begin = ask.frame.session, list[Item]()
    doing, what, verb = "CREATE", plain("1 company"), "create it"
    templates = sorted({c.template for c in session.store.companies if c.template})
    seen = "seen here: " + ", ".join(templates) if templates else "a template of the platform"
    seen, mission = f"{seen}; may stay empty", "what it is for, in a sentence; may stay empty"
    fields: Sequence[FormField] = (
        FormField("name", "name"),
        FormField("template", "template", "", seen, lambda typed, _: completed(typed, templates)),
        FormField("mission", "mission", "", mission),
    )
    if source is not None:
        doing, what, verb = "CLONE", source.name or safe(source.id), "clone it"
        begin.append(FieldLine(plain("from"), what))
        named = FormField("name", "new name", f"{what} 2")
        fields = (named, FormField("mission", "mission", source.mission or "", mission))
    return FormPlan(
        ask.title(doing, what),
        fields,
        writes.check_form,
        ask.writes(lambda values: CompanyCreation(session, values, source)),
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
    currency = next((money.currency for money in figures if money), None)
    return fmt.money(Money(amount, currency), exact=True)


def limit_change(budget: Budget | None, new: Decimal) -> SafeText:
    if budget is None or (budget.limit is None and not budget.unlimited):
        return plain("the limit until now is not known")
    words = f"{limit_words(budget)} {signs.arrow} {in_currency_of(budget, new)}"
    if not budget.unlimited and budget.limit is not None:
        change = new - budget.limit.amount
        words += f" ({'+' if change > 0 else ''}{in_currency_of(budget, change)})"
    return plain(words)


def set_limit(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/budget/agents/:id: monthly_limit; old, new and difference are shown.

    The budget may come while it is open: the write goes by what the question showed last.
    """
    session = ask.frame.session
    agent_id = limit_of(ask.subject)
    if agent_id is None:
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
            FieldLine(plain("old limit"), limit_words(shown)),
            FieldLine(plain("new limit"), in_currency_of(shown, amount), Tone.STRONG),
            FieldLine(plain("change"), limit_change(shown, amount)),
        ]
        if not amount:
            words = f"{signs.warning} some platforms take 0 for no limit at all"
            items += [Gap(), Text(plain(words), Tone.WARNING)]
        if shown is not None and shown.spent is not None:
            items.append(FieldLine(plain("spent"), fmt.money(shown.spent)))
            if amount < shown.spent.amount:
                words = f"{signs.warning} the new limit is below what is spent already"
                items += [Gap(), Text(plain(words), Tone.WARNING)]
        return items

    def write(values: Values) -> Write[Budget]:
        agent, amount = session.store.agents.get(agent_id), check_limit(values["monthly_limit"])
        company = shown.company if shown is not None else None
        assert isinstance(amount, Decimal), "it was checked before it was asked about"
        company = company or (agent.company if agent is not None else None)
        ref = Ref(id=agent_id, name=name)
        return LimitChange(session, ref, amount, shown=shown, company=company)

    def again(values: Values) -> Sequence[Item]:
        """Whether so much more than until now is meant."""
        amount = check_limit(values["monthly_limit"])
        old = None if shown is None or shown.unlimited else shown.limit
        if isinstance(amount, str) or not old or not 0 < TENFOLD * old.amount <= amount:
            return ()
        times, asked = fmt.number(amount // old.amount), in_currency_of(shown, amount)
        words = f"{signs.warning} {asked} is {times} times the old limit, {limit_words(shown)}"
        return [Text(plain(words), Tone.WARNING), Gap(), Text(plain("is it meant?"))]

    old = None if budget is None or budget.unlimited else budget.limit
    old_amount = "" if old is None else f"{old.amount:f}"
    hint = "in whole units, such as 120 or 99.50"
    fields = (FormField("monthly_limit", "monthly limit", old_amount, hint),)
    title = ask.title("SET LIMIT", name)
    return FormPlan(title, fields, check, ask.writes(write), question, notes, "set it", again)


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

    async def send(values: Values, _: Form) -> None:
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
    """GET /api/activity/export, written to a file as it comes. It can't be asked for a part: of a
    list that leaves something out, what it shows is written.
    """
    session, view = ask.frame.session, cast("ActivityView", ask.frame.views["activity"])
    left_out, entries = view.narrowing(), view.entries()

    def target(values: Values) -> Path:
        return Path(values["file"]).expanduser().resolve()

    async def send(values: Values, form: Form) -> Refusal | None:
        written, begun = Written(), monotonic()

        try:
            path = target(values)
            with atomic_write(path) as file:
                if left_out:
                    found = await as_csv(entries, session.names)
                    file.write(written.take(found))
                else:
                    async with session.client.export_activity(values["format"]) as chunks:
                        async for chunk in chunks:
                            file.write(written.take(chunk))
                            seconds = max(monotonic() - begun, 0.001)
                            rate = fmt.size(int(written.bytes / seconds))
                            form.says(f"{written.sentence}, {rate}/s")
        except ApiError as error:
            return Refusal(plain(str(error)))
        except (AtomicWriteError, RuntimeError, ValueError) as error:
            return Refusal(plain(str(error)), {"file": plain(str(error))})
        ask.frame.say(f"{written.sentence}, written to {safe(str(path), 200)}")
        return None

    def check(values: Values) -> Errors:
        return {name: plain("this is needed") for name, each in values.items() if not each}

    def notes(values: Values) -> Errors:
        with suppress(OSError, RuntimeError, ValueError):
            return {"file": plain(f"{safe(str(target(values)), 200)}, must not exist yet")}
        return {}

    now = fmt.moment(Moment(session.clock.now()))
    name = f"activity-{now[:16].replace(' ', '-').replace(':', '')}.csv"
    fields = [FormField("file", "file", name, "must not exist yet")]
    what = plain("the activity log, all of it")
    if left_out:
        what = plain(f"{fmt.count(len(entries))} entries shown: {', '.join(left_out)}")
    else:
        fields.insert(0, FormField("format", "format", "csv", "csv is the one that is known"))
    title = ask.title("EXPORT", what)
    return FormPlan(title, fields, check, send, notes=notes, can_stop=True)


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
