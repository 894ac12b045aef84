"""A list as it shows, or a picture of the screen, in a new file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

from agentco_tui.actions.handover import as_code
from agentco_tui.live.feeds import Phase
from agentco_tui.live.record_export import as_json, csv_row
from agentco_tui.model import Moment
from agentco_tui.model import format as fmt
from agentco_tui.screens.dialogs.form_definitions import HERE, FormRequest, new_file
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan
from agentco_tui.screens.header_footer import worst
from agentco_tui.system.background import in_slices
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.workers import start_worker


def save(ask: FormRequest) -> FormPlan | SafeText:
    """The list with its lines and columns as they are now; as JSON all that its records have."""
    view, workspace, table = ask.frame.view, ask.frame.workspace, ask.frame.view.table
    now, names, place = workspace.clock.now(), workspace.names, view.place
    shown = list(filter(None, map(table.model.records.get, table.model.shown)))
    folded = getattr(view, "entries", lambda: shown)()  # what lines of the log stand for
    known = [workspace.store.freshness[feed] for feed in view.lists]
    asked = [each.answered_at for each in known if each.answered_at is not None]
    age = round(workspace.clock.monotonic() - min(asked)) if asked else None
    about = {
        **{"profile": workspace.profile, "company": names.scope(workspace.poller.query.company)},
        **{"at": fmt.stamp(now), "age_seconds": age, "filter": view.filter_text},
    }
    columns = [table.model.columns[index] for index in table.columns_shown]
    titles = [column.title.strip() or column.key.upper() for column in columns]

    def cells(row: Any) -> Iterable[str]:  # words in place of signs
        for column in columns:
            word = column.filter_value(row) if column.rank and column.filter_value else None
            text = word or column.cell(row).text.strip()
            yield "" if text == signs.missing else text

    def row_of(cells: Iterable[str]) -> str:
        coded = (as_code(cell).replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(coded)} |\n"

    def json_of(row: Any) -> str:
        of_need = getattr(row, "alike", ()) or (getattr(row, "record", row),)
        return ",\n".join(json.dumps(as_json(one, names)) for one in of_need)

    told = "".join(f"- {name}: {as_code(str(value))}\n" for name, value in about.items() if value)
    begin = f'{json.dumps(about)[:-1]}, "records": ['
    head = f"# {place.title()}\n\n{told}\n{row_of(titles)}{'| --- ' * len(titles)}|\n"
    forms: Mapping[str, tuple[str, list[Any], Callable[[Any], str], str, str]] = {
        ".csv": (csv_row(titles), shown, lambda row: csv_row(cells(row)), "", ""),
        ".json": (begin, folded, json_of, ",\n", "]}\n"),
        ".md": (head, shown, lambda row: row_of(cells(row)), "", ""),
    }

    def written(ending: str) -> Generator[None, None, list[str]]:
        begins, rows, line, between, ends = forms[ending]
        parts = [begins]
        for row in rows:
            parts += [line(row), between]
            yield
        return [*parts[: -1 if rows else None], ends]

    async def send(name: str, form: Form) -> None:
        if (ending := Path(name).suffix) not in forms:
            raise FormError({"file": plain(f"its ending says the form: {', '.join(forms)}")})
        form.says("writing the lines")
        path = await new_file(ask, name, await in_slices(written(ending)))
        old = f" {signs.warning} as of {fmt.duration(age or 0)} ago"
        old *= worst(known).phase in (Phase.STALE, Phase.FAILED)
        ask.frame.say(f"{fmt.count(len(shown))} lines were written to {path}{old}", bad=bool(old))

    name = f"agentco-{place}-{fmt.moment(Moment(now))[:10]}.csv"
    fields = [FormField("file", "file", name, f"{', '.join(forms)}; {HERE}")]
    title = ask.title("SAVE", plain(f"{fmt.count(len(shown))} lines of {place} as they show"))
    return FormPlan(title, fields, lambda values: values["file"], send, can_stop=True)


def screenshot(ask: FormRequest) -> FormPlan | SafeText:
    """The screen as it is, without the fonts that Rich asks a server for."""
    frame = ask.frame
    name = f"agentco-{fmt.moment(Moment(frame.workspace.clock.now()))[:16].replace(' ', '-')}.svg"

    async def work() -> None:
        await frame.wait_for_refresh()  # the palette may still stand there
        picture = re.sub(r"(?s)@font-face \{.*?\}", "", frame.app.export_screenshot())
        try:
            path = await new_file(ask, name.replace(":", ""), [picture])
            frame.say(f"the screen was written to {path}")
        except FormError as error:
            frame.say(str(error), bad=True)

    start_worker(frame, work, "save a picture")
    return plain("")  # a notice would stand in it
