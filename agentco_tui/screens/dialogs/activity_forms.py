"""The forms of the Activity screen: which part of the activity log it shows, and the export.

The activity log is that of the platform, the remote service whose AI agents are watched.
`filter_activity` sets for this screen what is asked of the log. `export_activity` writes the log to
a CSV file while the platform's export of it arrives; `Written` counts the rows and bytes of it.
Each returns a `FormPlan`, i.e. the fields of a form, `parse`, which checks what was typed, and
`send`, which uses it. A `FormRequest` has the main screen (`frame`) and its list (`frame.view`);
the scope is the company that the dashboard is limited to. The workspace is what is known of the
platform in memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any, Final

from agentco_tui.api.errors import ApiError
from agentco_tui.live.activity_window import DEFAULT_CAPACITY
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.live.log_file import Written
from agentco_tui.live.record_export import csv_row, flat_names, flat_record
from agentco_tui.model import Moment, Ref
from agentco_tui.model import format as fmt
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan, Values
from agentco_tui.screens.dialogs.form_request import (
    FILE_HINT,
    FormRequest,
    absolute_path,
    check_values,
)
from agentco_tui.screens.plain_views import ActivityView
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.system.background import turn
from agentco_tui.text import SafeText, mark_safe

DAY_NEEDED: Final = "a day is needed, such as 2026-01-31"
LIMIT_NEEDED: Final = f"a whole number from 1 to {DEFAULT_CAPACITY} is needed"


def _parse_limit(text: str) -> int:
    number = int(text)
    if not 1 <= number <= DEFAULT_CAPACITY:
        raise ValueError(text)
    return number


PARSERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "from": (date.fromisoformat, DAY_NEEDED),
    "to": (date.fromisoformat, DAY_NEEDED),
    "limit": (_parse_limit, LIMIT_NEEDED),
}
"""By field: what parses its text or raises ValueError, and the error to show then."""


def filter_activity(request: FormRequest) -> FormPlan:
    """Return the form for company, agent, days and number of the entries that are requested."""
    view = request.frame.view
    assert isinstance(view, ActivityView)

    def parse(values: Values) -> ActivityFilter:
        # Names are turned into ids; `errors` has those that fit no record or several.
        company_id, agent_id, errors = request.find_ids(values)
        parsed: dict[str, Any] = dict.fromkeys(PARSERS)
        for name, (parser, error) in PARSERS.items():
            if not values[name]:
                continue
            try:
                parsed[name] = parser(values[name])
            except ValueError:
                errors[name] = mark_safe(error)
        if parsed["from"] and parsed["to"] and parsed["from"] > parsed["to"]:
            errors["to"] = mark_safe("that is before the first day")
        check_values({}, errors)  # raises FormError if there are errors
        return ActivityFilter(
            company=company_id,
            agent=agent_id,
            from_date=parsed["from"],
            to_date=parsed["to"],
            limit=parsed["limit"],
        )

    async def send(wanted: ActivityFilter, _: Form) -> None:
        view.filter_log(wanted)
        request.frame.lines.show()

    current = view.log_filter
    name_fields = request.name_fields(
        Ref(id=current.company) if current.company else None,
        Ref(id=current.agent) if current.agent else None,
        "empty for the company in scope, or all",
        "empty for all",
    )
    limit = "" if current.limit is None else str(current.limit)
    fields = (
        *name_fields,
        FormField("from", "from", _iso_date(current.from_date), "first day, as 2026-01-31"),
        FormField("to", "to", _iso_date(current.to_date), "last day"),
        FormField("limit", "limit", limit, "how many entries a poll asks for"),
    )
    title = request.title("FILTER", mark_safe("the activity log"))
    return FormPlan(title=title, fields=fields, parse=parse, send=send)


def _iso_date(day: date | None) -> str:
    return "" if day is None else day.isoformat()


def export_activity(request: FormRequest) -> FormPlan:
    """Return the form for the file to which the activity log is written.

    The platform exports the whole log only. If the list is filtered, the entries that it shows are
    written instead, as `agentco-tui get activity --csv` writes them.
    """
    workspace = request.frame.workspace
    view = request.frame.view
    assert isinstance(view, ActivityView)
    filters = view.narrowing()  # in words; empty if the list shows the whole log
    entries = view.entries()

    def parse(values: Values) -> Values:
        empty = [name for name, value in values.items() if not value]
        return check_values(values, {name: mark_safe("this is needed") for name in empty})

    async def entries_as_csv() -> AsyncIterator[bytes]:
        yield csv_row(flat_names("activity")).encode()
        for entry in entries:
            await turn()  # let keys and polls be handled meanwhile
            yield csv_row(flat_record(entry, workspace.names).values()).encode()

    async def send(values: Values, form: Form) -> None:
        source: AbstractAsyncContextManager[AsyncIterator[bytes]]
        if filters:
            source = nullcontext(entries_as_csv())
        else:
            source = workspace.client.export_activity(values["format"])
        words = await _write_chunks(source, values["file"], form)
        request.frame.say(f"{words}, written to {absolute_path(values['file'])}")

    stamp = fmt.moment(Moment(workspace.clock.now()))[:16].replace(" ", "-").replace(":", "")
    fields: list[FormField] = []
    if filters:
        what = mark_safe(f"{fmt.count(len(entries))} entries shown: {', '.join(filters)}")
    else:
        what = mark_safe("the activity log, all of it")
        fields.append(FormField("format", "format", "csv", "csv is the one that is known"))
    fields.append(FormField("file", "file", f"activity-{stamp}.csv", FILE_HINT))
    title = request.title("EXPORT", what)
    return FormPlan(title=title, fields=fields, parse=parse, send=send, can_cancel=True)


async def _write_chunks(
    source: AbstractAsyncContextManager[AsyncIterator[bytes]], name: str, form: Form
) -> SafeText:
    """Write a stream to a new file, and return its size in words. Raises `FormError`.

    The form shows the progress and the rate.
    """
    written = Written()
    began_at = monotonic()
    try:
        with atomic_write(Path(name)) as file:
            async with source as chunks:
                async for chunk in chunks:
                    file.write(written.take(chunk))
                    seconds = max(monotonic() - began_at, 0.001)
                    rate = fmt.size(int(written.bytes / seconds))
                    form.show_progress(f"{written.sentence}, {rate}/s")
    except ApiError as error:
        raise FormError({}, mark_safe(str(error))) from error
    except AtomicWriteError as error:
        raise FormError({"file": mark_safe(str(error))}) from error
    return written.sentence
