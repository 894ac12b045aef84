"""Saves the list on the screen, or a picture of the screen, to a new file.

`save_list` returns the form of the command `list.save`: a CSV or Markdown table with the rows and
columns that the list shows, or JSON with all fields of their records. `save_screenshot` writes an
SVG picture at once. `DialogRouter` calls both with a `FormRequest`, which has the main screen
(`frame`) and its list (`frame.view`). A `FormPlan` describes a form. A feed is one list that is
polled from the platform, the remote service that has the records; the profile is the user's name
for the platform. The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentco_tui.actions.handover import as_code
from agentco_tui.live.feeds import Freshness, Phase
from agentco_tui.live.names import Names
from agentco_tui.live.record_export import as_json, csv_row
from agentco_tui.model import Moment
from agentco_tui.model import format as fmt
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan
from agentco_tui.screens.dialogs.form_request import FILE_HINT, FormRequest, write_new_file
from agentco_tui.screens.header_footer import worst
from agentco_tui.screens.plain_views import ActivityView
from agentco_tui.system.background import in_slices
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.workers import start_worker


class FileFormat(NamedTuple):
    """The parts that a file of one format consists of."""

    head: str
    rows: Sequence[Any]
    row_text: Callable[[Any], str]
    separator: str = ""
    """What is between two rows."""
    tail: str = ""


def save_list(request: FormRequest) -> FormPlan:
    """Return the form that saves the list with the rows and columns it shows when the form opens.

    The file also says which list it is, as of when, of which company and with which filter, except
    for CSV, which is only a table.
    """
    frame = request.frame
    view = frame.view
    workspace = frame.workspace
    names = workspace.names
    now = workspace.clock.now()
    table_rows = view.table.model
    # A row whose record has left the list may still be on the screen: it is not saved.
    shown_records = map(table_rows.records.get, table_rows.shown)
    shown = [record for record in shown_records if record is not None]
    columns = [table_rows.columns[index] for index in view.table.columns_shown]
    titles = [column.title.strip() or column.key.upper() for column in columns]
    # A line of the activity log may stand for several entries; JSON has all of them.
    records = view.entries() if isinstance(view, ActivityView) else shown
    freshness = [workspace.store.freshness[feed] for feed in view.lists]
    age = _age_in_seconds(freshness, workspace.clock.monotonic())
    about: dict[str, object] = {
        "profile": workspace.profile,
        "company": names.scope(workspace.poller.query.company),
        "at": fmt.stamp(now),
        "age_seconds": age,
        "filter": view.filter_text,
    }
    formats = {
        ".csv": FileFormat(csv_row(titles), shown, lambda row: csv_row(_cell_texts(columns, row))),
        ".json": FileFormat(
            head=f'{json.dumps(about)[:-1]}, "records": [',
            rows=records,
            row_text=lambda row: _json_text(row, names),
            separator=",\n",
            tail="]}\n",
        ),
        ".md": FileFormat(
            head=_markdown_head(view.place.title(), about, titles),
            rows=shown,
            row_text=lambda row: _markdown_row(_cell_texts(columns, row)),
        ),
    }

    async def send(name: str, form: Form) -> None:
        ending = Path(name).suffix
        if ending not in formats:
            raise FormError(
                {"file": mark_safe(f"the name must end in one of {', '.join(formats)}")}
            )
        form.show_progress("writing the lines")
        text = await in_slices(_text_parts(formats[ending]))
        path = await write_new_file(request, name, text)
        words = f"{fmt.count(len(shown))} lines were written to {path}"
        is_old = worst(freshness).phase in (Phase.STALE, Phase.FAILED)
        if is_old:
            words += f" {signs.warning} as of {fmt.duration(age or 0)} ago"
        frame.say(words, bad=is_old)

    day = fmt.moment(Moment(now))[:10]
    file_field = FormField(
        "file", "file", f"agentco-{view.place}-{day}.csv", f"{', '.join(formats)}; {FILE_HINT}"
    )
    what = mark_safe(f"{fmt.count(len(shown))} lines of {view.place} as they show")
    return FormPlan(
        title=request.title("SAVE", what),
        fields=[file_field],
        parse=lambda values: values["file"],
        send=send,
        can_cancel=True,
    )


def _age_in_seconds(freshness: Sequence[Freshness], monotonic: float) -> int | None:
    """Return how long ago the oldest of some feeds was read; None if none ever was."""
    answered_at = [one.answered_at for one in freshness if one.answered_at is not None]
    if not answered_at:
        return None
    return round(monotonic - min(answered_at))


def _cell_texts(columns: Sequence[Column[Any]], row: Any) -> list[str]:
    """Return the texts of a row's cells: words in place of signs, "" for what was not sent."""
    texts: list[str] = []
    for column in columns:
        word = None
        # A column with ranks is sorted by words, such as the levels, which it shows as signs.
        if column.rank and column.filter_value:
            word = column.filter_value(row)
        text = word or column.cell(row).text.strip()
        texts.append("" if text == signs.missing else text)
    return texts


def _json_text(row: Any, names: Names) -> str:
    """Return the records of a row as JSON, one per line.

    A row of the Overview is a need, which has one record or several that are alike; in all other
    lists the row is the record.
    """
    records = getattr(row, "alike", ()) or (getattr(row, "record", row),)
    return ",\n".join(json.dumps(as_json(record, names)) for record in records)


def _markdown_head(title: str, about: Mapping[str, object], columns: Sequence[str]) -> str:
    facts = [f"- {name}: {as_code(str(value))}\n" for name, value in about.items() if value]
    rule = f"{'| --- ' * len(columns)}|\n"
    return f"# {title}\n\n{''.join(facts)}\n{_markdown_row(columns)}{rule}"


def _markdown_row(cells: Sequence[str]) -> str:
    coded = (as_code(cell).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(coded)} |\n"


def _text_parts(file_format: FileFormat) -> Generator[None, None, list[str]]:
    """Return the text of a file in parts. Each step makes one row, for `in_slices`."""
    parts = [file_format.head]
    for number, row in enumerate(file_format.rows):
        if number:
            parts.append(file_format.separator)
        parts.append(file_format.row_text(row))
        yield
    parts.append(file_format.tail)
    return parts


def save_screenshot(request: FormRequest) -> SafeText:
    """Write a picture of the screen to a new SVG file; return "", as no form is needed."""
    frame = request.frame
    now = fmt.moment(Moment(frame.workspace.clock.now()))
    stamp = now[:16].replace(" ", "-").replace(":", "")
    name = f"agentco-{stamp}.svg"

    async def write_picture() -> None:
        await frame.wait_for_refresh()  # the command palette may still be on the screen
        svg = frame.app.export_screenshot()
        # Rich refers to fonts on a server; whoever opens the file shall not ask that server.
        picture = re.sub(r"(?s)@font-face \{.*?\}", "", svg)
        try:
            path = await write_new_file(request, name, [picture])
            frame.say(f"the screen was written to {path}")
        except FormError as error:
            frame.say(str(error), bad=True)

    start_worker(frame, write_picture, "save a picture")
    return mark_safe("")  # a notice would be part of the picture
