"""Shows every payload in every widget that takes one text at a time, one payload after another.

`python -m tests.safety.apps.widgets FILE STRIDE`: every STRIDE-th payload; in FILE stands at the
end how many (place, payload) pairs were on the screen. The texts take the way they take in the
dashboard: through the error that an answer becomes, through the outcome of a write, through
`clean_line`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from textual.app import App, ComposeResult

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.api.error_messages import RequestInfo, error_for_status
from agentco_tui.api.errors import ApiError
from agentco_tui.config import Settings
from agentco_tui.live.feeds import Freshness
from agentco_tui.screens.dialogs.base import Question, title_of
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan
from agentco_tui.screens.header_footer import notice
from agentco_tui.screens.targets import Target, completion, not_found_text
from agentco_tui.text import clean_block, clean_line, clipboard_text, mark_safe
from agentco_tui.textual_patches import compositor
from agentco_tui.widgets.prompt import Prompt, WordSuggester
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import CellLine, FieldLine, Heading, Notice, Paragraph
from agentco_tui.widgets.tones import Cell
from tests.text.payloads import PAYLOADS

SETTINGS = Settings(base_url=BaseUrl.parse("https://platform.example"))
PLACES = (
    """
notice, header, toast, prompt hint, suggestion, ghost note, column header, table's empty text
question title, question text, question field, question heading, form value, form suggestion
form hint, form error, form refusal, clipboard, terminal title
""".strip()
    .replace("\n", ", ")
    .split(", ")
)


def error_of(text: str) -> ApiError:
    """What an answer becomes that refuses with this text wherever it can."""
    body = json.dumps(
        {"error": {"message": text, "code": text}, "errors": [{"field": "title", "message": text}]}
    )
    info = RequestInfo("POST", f"/api/tasks/{text}/approve", clean_line("platform.example"))
    return error_for_status(info, 422, {"content-type": "application/json"}, body.encode(), 0.0)


class Widgets(App[None]):
    ALLOW_SELECT = False

    def __init__(self, report: Path, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.report = report
        self.pairs = 0
        self.notice_line = Notice()
        self.header = StatusLine()
        self.prompt = Prompt()
        self.tables: list[RecordTable[str]] = []

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.notice_line
        yield self.prompt

    def on_mount(self) -> None:
        self.run_worker(self.show_all())

    async def show_all(self) -> None:
        """One payload after another: in the frame, then in a question, then in a form."""
        for text in list(PAYLOADS.values())[:: self.stride]:
            error = error_of(text)
            await self.show(text, error)
            await self.ask(text, error)
            await self.painted()
            form = await self.fill_in(text, error)
            await [*form.inputs.values()][-1].action_submit()
            await self.painted()
            self.pairs += len(PLACES)
            while len(self.screen_stack) > 1:
                await self.pop_screen()
        self.report.write_text(str(self.pairs))
        self.exit()

    async def painted(self) -> None:
        """Wait until what was asked for is on its way to the terminal."""
        done = asyncio.Event()
        self.screen.refresh()
        self.screen.call_after_refresh(done.set)
        await done.wait()

    async def show(self, text: str, error: ApiError) -> None:
        words = clean_line(text)
        self.header.show([Cell(words)], [Cell(clean_line(str(error), 40))])
        self.notice_line.show(notice(Freshness(failure=error), 0.0))
        self.clear_notifications()
        self.notify(clean_line(str(error)), markup=False, timeout=60)
        among = [Target("agent", mark_safe(f"A{words}"), "ag_1")]
        hint = not_found_text(f"agent {text}", among)
        self.prompt.ask(":", "agent A", hint, WordSuggester(lambda t: completion(t, among)))
        self.copy_to_clipboard(clipboard_text(text))
        if self._driver is not None:
            self._driver.write(f"\x1b]2;{clean_line(text, 120)}\x07")
        await self.show_table(text)

    async def show_table(self, text: str) -> None:
        for table in self.tables:
            await table.remove()
        columns: list[Column[str]] = [
            Column(
                "one", mark_safe(clean_line(text)), 20, lambda row: Cell(clean_line(row)), grow=1
            ),
            Column("two", mark_safe("TWO"), 10, lambda _: Cell(mark_safe("two"))),
        ]
        full = RecordTable(columns)
        empty = RecordTable(columns)
        empty.set_state(clean_line(text))
        self.tables = [full, empty]
        await self.mount(*self.tables)
        full.load([("a", text), ("b", text)])
        empty.load([])
        full.freeze()
        full.apply(removed=["a"])
        full.set_tombstone("a", Cell(clean_line(text)))

    async def ask(self, text: str, error: ApiError) -> None:
        question = Question(
            title_of(SETTINGS, "APPROVE", clean_line(text)),
            [
                Heading(clean_line(text)),
                Paragraph(clean_block(text)),
                FieldLine(clean_line(text, 20), clean_block(text)),
                CellLine((Cell(clean_line(text)),), (Cell(mark_safe(str(error))),)),
            ],
        )
        await self.push_screen(question)

    async def fill_in(self, text: str, error: ApiError) -> Form:
        def read(_: object) -> None:
            if not error.fields:
                raise FormError({"other": clean_line(text)})

        async def send(*_: object) -> None:
            raise FormError(dict(error.fields), mark_safe(str(error)))

        plan = FormPlan(
            title=title_of(SETTINGS, "Create a task", clean_line(text)),
            fields=(
                FormField(
                    "title",
                    mark_safe("title"),
                    clean_line(text),
                    clean_line(text),
                    lambda *_: f"{clean_line(text)}more",
                ),
                FormField(
                    "other",
                    mark_safe("other"),
                    "",
                    clean_line(text),
                    lambda *_: str(clean_line(text)),
                ),
            ),
            parse=read,
            send=send,
        )
        form = Form(plan)
        await self.push_screen(form)
        return form


if __name__ == "__main__":
    compositor.install_partial_paint()
    Widgets(Path(sys.argv[1]), int(sys.argv[2])).run()
