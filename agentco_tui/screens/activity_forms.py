"""The forms of the activity screen: what of the log to show, and where to write the export."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

from agentco_tui import format as fmt
from agentco_tui.api.errors import ApiError
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.sources import ActivityFilter, Query
from agentco_tui.model.records import Agent, Company
from agentco_tui.screens.dialog import title_of
from agentco_tui.screens.form import Doubt, Errors, FormField, FormPlan, Refusal, Values
from agentco_tui.screens.form_plans import agent_called, company_called, completed, needed
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.whole_file import FileInTheWayError, WholeFileError, whole_file


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
