"""The forms, by the command that opens each: fields, what is checked and asked, what is done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import date
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any, Final

import msgspec

from agentco_tui.actions.creations import CompanyCreation, TaskCreation
from agentco_tui.actions.form_check import check_form
from agentco_tui.actions.limit_change import LimitChange
from agentco_tui.actions.limit_text import check_limit, limit_words
from agentco_tui.actions.outcome import GOOD, Step
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.write_flow import CREATING, Write
from agentco_tui.api.errors import ApiError
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.live.insight import priority_rank
from agentco_tui.live.log_file import Written
from agentco_tui.live.names import named
from agentco_tui.live.record_export import csv_row, flat, flat_names
from agentco_tui.model import Agent, Budget, Company, Moment, Money, Record, Ref, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.cells import limit_agent_id, limit_refused
from agentco_tui.screens.detail_pane import warning
from agentco_tui.screens.dialogs.base import title_of
from agentco_tui.screens.dialogs.form_dialog import (
    Errors,
    Form,
    FormError,
    FormField,
    FormPlan,
    Send,
    Values,
)
from agentco_tui.screens.plain_views import ActivityView
from agentco_tui.screens.targets import completed
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.system.background import turn
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone


class FormRequest(msgspec.Struct, frozen=True):
    frame: BaseFrame
    subject: Record | None

    def title(self, doing: str, what: SafeText) -> list[Cell]:
        return title_of(self.frame.workspace.settings, doing, what)

    def _company_id(self, words: str) -> str | None:
        found = named(words, self.frame.workspace.store.companies)
        return found[0].id if len(found) == 1 else None

    def chosen(self, values: Values) -> tuple[str | None, str | None, dict[str, SafeText]]:
        """Return the ids of the company and the agent that are named, None for those that are not
        found, and what is wrong with the names, by their fields.
        """
        workspace = self.frame.workspace
        errors: dict[str, SafeText] = {}
        company = values["company_id"]
        agent = values["agent_id"]
        company_id = self._company_id(company)
        scope = workspace.poller.query.company
        agents = named(agent, self._agents(company_id or scope))
        if company and company_id is None:
            errors["company_id"] = plain("no company here has this name or id")
        if agent and len(agents) != 1:
            where = "of this company" if company_id else "here"
            errors["agent_id"] = plain(f"no agent {where} has this name or id")
            if company_id and scope not in (None, company_id):
                words = f"only agents of {workspace.names.scope(scope)} are known while only it is"
                errors["agent_id"] = plain(f"{words} shown (0 shows all)")
        return company_id, agents[0].id if len(agents) == 1 else None, errors

    def _agents(self, company_id: str | None) -> Iterable[Agent]:
        """Return the agents that may be of a company, or all without one."""
        for agent in self.frame.workspace.store.agents:
            if not company_id or not agent.company or agent.company.id in (None, company_id):
                yield agent

    def fields(
        self, company: Ref | None, agent: Ref | None, hint: str, agent_hint: str
    ) -> tuple[FormField, FormField]:
        """Return fields for a company's and an agent's name or id, which are completed.

        The agent is completed from those of the company in the form, else of the one in scope.
        """
        workspace = self.frame.workspace

        def companies(typed: str, _: Values) -> str | None:
            return completed(typed, (one.name or safe(one.id) for one in workspace.store.companies))

        def agents(typed: str, values: Values) -> str | None:
            company = self._company_id(values["company_id"]) or workspace.poller.query.company
            return completed(typed, (one.name or safe(one.id) for one in self._agents(company)))

        of_company = "" if company is None else workspace.names.company(company)
        of_agent = "" if agent is None else workspace.names.agent(agent)
        return (
            FormField("company_id", "company", of_company, hint, companies),
            FormField("agent_id", "agent", of_agent, agent_hint, agents),
        )

    def writes(self, make: Callable[[Any], Write[Any]]) -> Send:
        """Return what a form does that writes.

        A good outcome is reported, and a new record is shown unless the form was left. With any
        other outcome the form stays open.
        """

        async def send(meant: Any, form: Form) -> None:
            def reached(step: Step) -> None:
                if step is Step.UNKNOWN:
                    form.says("the answer was lost: it is looked for by reading, nothing is sent")

            outcome = await make(meant).run(reached)
            if outcome.kind not in GOOD:
                words = outcome.platform_words
                platform = f" (platform: {words})" if words else ""
                raise FormError(outcome.fields, plain(f"{outcome_sentence(outcome)}{platform}"))
            self.frame.dialogs.tell(outcome)
            if outcome.verb in CREATING and outcome.record and form.is_attached:
                self.frame.view.go_to(outcome.record.id)

        return send


HERE = "in the folder that the program was started in; must not exist yet"
TENFOLD = 10  # times the old limit from which on a new one is asked about twice


def checked(values: Values, wrong: Errors | None = None) -> Values:
    if errors := {**check_form(values), **(wrong or {})}:
        raise FormError(errors)
    return values


def _fields_of(values: Mapping[str, str]) -> list[Item]:
    """Return the fields that are sent; `-` for those left empty, which are not sent."""
    shown = {name: safe(value, 200) or signs.missing for name, value in values.items()}
    return [FieldLine(plain(name), value) for name, value in shown.items()]


def new_task(ask: FormRequest) -> FormPlan:
    """POST /api/tasks: company, agent, title and priority."""
    workspace = ask.frame.workspace
    names = workspace.names
    like = ask.subject if isinstance(ask.subject, Task) else None
    # The priorities of the tasks here, as the API names only "high"; the most urgent first.
    tasks = (*workspace.store.pending, *workspace.store.tasks)
    words = {task.priority for task in tasks if task.priority}
    priorities = sorted(words, key=lambda word: (priority_rank(word), word))

    def read(values: Values) -> Values:
        company_id, agent_id, wrong = ask.chosen(values)
        values = checked(values, wrong)
        return {**values, "company_id": company_id or "", "agent_id": agent_id or ""}

    def question(meant: Values) -> Sequence[Item]:
        company = names.company(Ref(id=meant["company_id"]))
        agent = f"{names.agent(Ref(id=meant['agent_id']))}  {meant['agent_id']}"
        named = {"title": meant["title"], "company": company, "agent": agent}
        return _fields_of({**named, "priority": meant["priority"]})

    company = names.company_of(like) if like is not None else None
    scope = workspace.poller.query.company
    if scope is not None:
        company = Ref(id=scope)
    seen = "seen here: " + ", ".join(priorities) if priorities else "such as high"
    fields = (
        *ask.fields(company, like.agent if like else None, "a name or an id", "a name or an id"),
        FormField("title", "title", "", "what is to be done"),
        FormField("priority", "priority", "", seen, lambda typed, _: completed(typed, priorities)),
    )
    send = ask.writes(lambda meant: TaskCreation(ask.frame.dashboard.services, meant))
    return FormPlan(
        ask.title("Create a task", plain("")), fields, read, send, question, "create it"
    )


def new_company(ask: FormRequest) -> FormPlan:
    """POST /api/companies: name, template and mission."""
    workspace = ask.frame.workspace
    templates = sorted({c.template for c in workspace.store.companies if c.template})
    seen = "seen here: " + ", ".join(templates) if templates else "a template of the platform"
    hint = f"{seen}; may stay empty"
    fields = (
        FormField("name", "name"),
        FormField("template", "template", "", hint, lambda t, _: completed(t, templates)),
        FormField("mission", "mission", "", MISSION_HINT),
    )
    send = ask.writes(lambda meant: CompanyCreation(ask.frame.dashboard.services, meant, None))
    title = ask.title("Create a company", plain(""))
    return FormPlan(title, fields, checked, send, _fields_of, "create it")


def clone_company(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/companies/:id/clone: name and mission."""
    source = ask.subject
    if not isinstance(source, Company):
        return plain("put the cursor on a company to clone it")
    if source.unwritable is not None:
        return source.unwritable
    name = source.name or safe(source.id)
    fields = (
        FormField("name", "new name", f"{name} 2"),
        FormField("mission", "mission", source.mission or "", MISSION_HINT),
    )
    send = ask.writes(lambda meant: CompanyCreation(ask.frame.dashboard.services, meant, source))
    return FormPlan(ask.title("CLONE", name), fields, checked, send, _fields_of, "clone it")


MISSION_HINT: Final = "what it is for, in a sentence; may stay empty"


def in_currency_of(budget: Budget | None, amount: Decimal) -> SafeText:
    figures = () if budget is None else (budget.limit, budget.spent, budget.remaining)
    currency = next((money.currency for money in figures if money), None)
    return fmt.money(Money(amount, currency), exact=True)


def set_limit(ask: FormRequest) -> FormPlan | SafeText:
    """POST /api/budget/agents/:id: monthly_limit; old, new and difference are shown.

    The budget may come while it is open: the write goes by what the question showed last.
    """
    workspace = ask.frame.workspace
    subject = ask.subject
    budgets = workspace.store.agent_budgets
    refused = limit_refused(subject, workspace.store)
    if refused is not None:
        return refused
    agent_id = limit_agent_id(subject)
    if agent_id is None:
        return plain("limits can be set for agents: put the cursor on a line about an agent")
    budget = shown = budgets.get(agent_id)
    name = workspace.names.agent(Ref(id=agent_id, name=budget.name if budget else None))
    # The id that the request names: two agents may have the same name.
    named_with_id = name if name == safe(agent_id) else plain(f"{name}  {safe(agent_id)}")

    def read(values: Values) -> Decimal:
        amount = check_limit(values["monthly_limit"])
        if isinstance(amount, Decimal):
            return amount
        raise FormError({"monthly_limit": amount})

    def question(amount: Decimal) -> Sequence[Item]:
        nonlocal shown
        shown = budgets.get(agent_id)
        items: list[Item] = [
            FieldLine(plain("agent"), named_with_id),
            FieldLine(plain("old limit"), limit_words(shown)),
            FieldLine(plain("new limit"), in_currency_of(shown, amount), Tone.STRONG),
        ]
        if shown is not None and shown.limit is not None:
            change = amount - shown.limit.amount
            words = f"{'+' if change > 0 else ''}{in_currency_of(shown, change)}"
            items.append(FieldLine(plain("change"), plain(words)))
        if not amount:
            items += [Gap(), warning(f"{signs.warning} some platforms take 0 for no limit at all")]
        if shown is not None and shown.spent is not None:
            items.append(FieldLine(plain("spent"), fmt.money(shown.spent)))
            if amount < shown.spent.amount:
                words = f"{signs.warning} the new limit is below what is spent already"
                items += [Gap(), warning(words)]
        return items

    def write(amount: Decimal) -> Write[Budget]:
        agent = workspace.store.agents.get(agent_id)
        company = shown.company if shown is not None else None
        company = company or (agent.company if agent is not None else None)
        ref = Ref(id=agent_id, name=name)
        return LimitChange(ask.frame.dashboard.services, ref, amount, shown=shown, company=company)

    def again(amount: Decimal) -> Sequence[Item]:
        """Return the second question, whether so much more is meant; nothing if it is not more."""
        old = None if shown is None or shown.unlimited else shown.limit
        if not old or old.amount <= 0 or amount < TENFOLD * old.amount:
            return ()
        times = fmt.number(amount // old.amount)
        new = in_currency_of(shown, amount)
        words = f"{signs.warning} {new} is {times} times the old limit, {limit_words(shown)}"
        return [warning(words), Gap(), Text(plain("is it meant?"))]

    old = None if budget is None or budget.unlimited else budget.limit
    old_amount = "" if old is None else f"{old.amount:f}"
    hint = f"until now {limit_words(budget)}; in whole units, such as 99.50"
    fields = (FormField("monthly_limit", "monthly limit", old_amount, hint),)
    title = ask.title("SET LIMIT", name)
    return FormPlan(title, fields, read, ask.writes(write), question, "set it", again)


def _entries(words: str) -> int:
    if (number := int(words)) not in range(1, DEFAULT_CAPACITY + 1):
        raise ValueError
    return number


def activity_filters(ask: FormRequest) -> FormPlan:
    """What this screen asks GET /api/activity for: company, agent, dates and limit."""
    view = ask.frame.view
    assert isinstance(view, ActivityView)
    chosen = view.log_filter
    a_day = "a day is needed, such as 2026-01-31"
    readers: Mapping[str, tuple[Callable[[str], Any], str]] = {
        "from": (date.fromisoformat, a_day),
        "to": (date.fromisoformat, a_day),
        "limit": (_entries, f"a whole number from 1 to {DEFAULT_CAPACITY} is needed"),
    }

    def read(values: Values) -> ActivityFilter:
        company_id, agent_id, errors = ask.chosen(values)
        found = dict.fromkeys(readers)
        for name, (reader, wanted) in readers.items():
            try:
                found[name] = reader(values[name]) if values[name] else None
            except ValueError:
                errors[name] = plain(wanted)
        if found["from"] and found["to"] and found["from"] > found["to"]:
            errors["to"] = plain("that is before the first day")
        checked({}, errors)
        return ActivityFilter(company_id, agent_id, *found.values())

    async def send(wanted: ActivityFilter, _: Form) -> None:
        view.filter_log(wanted)
        ask.frame.show_frame()

    company, agent = (Ref(id=i) if i else None for i in (chosen.company, chosen.agent))
    first, last = (day.isoformat() if day else "" for day in (chosen.from_date, chosen.to_date))
    limit = "" if chosen.limit is None else str(chosen.limit)
    fields = (
        *ask.fields(company, agent, "empty for the company in scope, or all", "empty for all"),
        FormField("from", "from", first, "first day, as 2026-01-31"),
        FormField("to", "to", last, "last day"),
        FormField("limit", "limit", limit, "how many entries a poll asks for"),
    )
    return FormPlan(ask.title("FILTER", plain("the activity log")), fields, read, send)


def whole(name: str) -> SafeText:
    """The path of a file."""
    return safe(str(Path(name).expanduser().resolve()), 200)


async def new_file(ask: FormRequest, name: str, text: list[str], field: str = "file") -> SafeText:
    """Write a file that is not there yet, without the key; its path. Raises FormError."""

    def write() -> SafeText:
        with atomic_write(Path(name)) as file:
            for part in text:
                file.write(ask.frame.workspace.client.transport.key.redact(part).encode())
        return whole(name)

    try:
        return await asyncio.to_thread(write)
    except AtomicWriteError as error:
        raise FormError({field: plain(str(error))}, plain(str(error))) from error


def export_activity(ask: FormRequest) -> FormPlan:
    """GET /api/activity/export, written to a file as it comes.

    The API exports the whole log only. If the list leaves something out, the entries that it shows
    are written instead, as `get activity --csv` writes them.
    """
    workspace = ask.frame.workspace
    view = ask.frame.view
    assert isinstance(view, ActivityView)
    left_out = view.narrowing()
    entries = view.entries()

    def read(values: Values) -> Values:
        return checked(values, {n: plain("this is needed") for n in values if not values[n]})

    async def shown() -> AsyncIterator[bytes]:
        yield csv_row(flat_names("activity")).encode()
        for entry in entries:
            await turn()
            yield csv_row(flat(entry, workspace.names).values()).encode()

    async def send(values: Values, form: Form) -> None:
        written = Written()
        begun = monotonic()
        form_of = values.get("format", "csv")
        exported = nullcontext(shown()) if left_out else workspace.client.export_activity(form_of)
        try:
            with atomic_write(Path(values["file"])) as file:
                async with exported as chunks:
                    async for chunk in chunks:
                        file.write(written.take(chunk))
                        seconds = max(monotonic() - begun, 0.001)
                        rate = fmt.size(int(written.bytes / seconds))
                        form.says(f"{written.sentence}, {rate}/s")
        except ApiError as error:
            raise FormError({}, plain(str(error))) from error
        except AtomicWriteError as error:
            raise FormError({"file": plain(str(error))}) from error
        ask.frame.say(f"{written.sentence}, written to {whole(values['file'])}")

    now = fmt.moment(Moment(workspace.clock.now()))
    name = f"activity-{now[:16].replace(' ', '-').replace(':', '')}.csv"
    what = plain("the activity log, all of it")
    if left_out:
        what = plain(f"{fmt.count(len(entries))} entries shown: {', '.join(left_out)}")
    fields = [FormField("file", "file", name, HERE)]
    if not left_out:
        fields.insert(0, FormField("format", "format", "csv", "csv is the one that is known"))
    return FormPlan(ask.title("EXPORT", what), fields, read, send, can_stop=True)


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
