"""A dialog with fields to fill in: checked here before anything is asked, kept if it is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input

from agentco_tui.background import start_worker
from agentco_tui.screens.dialogs.base import Dialog, Question, key_cells
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.prompt import Suggest, WordSuggester
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, Notice, Text
from agentco_tui.widgets.tones import Cell, Tone

Values = Mapping[str, str]
Errors = Mapping[str, SafeText]
Doubt = Callable[[], None]  # told when it is not known what became of what was sent


class FormField(msgspec.Struct, frozen=True):
    name: str
    label: str
    value: str = ""
    hint: str = ""
    suggest: Suggest | None = None


class Refusal(msgspec.Struct, frozen=True):
    words: SafeText
    fields: Errors = msgspec.field(default_factory=dict)


Send = Callable[[Values, Doubt], Awaitable[Refusal | None]]


class FormPlan(msgspec.Struct, frozen=True):
    """`check` finds what is wrong before anything is sent; `notes` says beneath a field what it
    means; `question` is what `y` answers, empty if nothing is changed; `send` does it and returns
    None, or why it was refused; it calls what it is given while nobody knows what became of it.
    """

    title: Sequence[Cell]
    fields: Sequence[FormField]
    check: Callable[[Values], Errors]
    send: Send
    question: Callable[[Values], Sequence[Item]] = lambda _: ()
    notes: Callable[[Values], Errors] = lambda _: {}
    verb: str = "send"


class FieldInput(Input):
    """A field's text; enter is dealt with before the next key, which may be there already."""

    async def action_submit(self) -> None:
        form = self.screen
        assert isinstance(form, Form), "a field stands in its form"
        form.entered(self)


class Form(Dialog[bool]):
    """Enter goes to the next field and, on the last one, on to the question."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Back", show=False),
        Binding("down", "app.focus_next", "Next field", show=False),
        Binding("up", "app.focus_previous", "Field before", show=False),
    ]

    DEFAULT_CSS = """
    Form VerticalScroll { height: auto; max-height: 66vh; }
    Form .form--row { height: 1; }
    Form .form--label { width: 14; }
    Form Input { height: 1; border: none; padding: 0; width: 1fr; background: $boost; }
    Form Input:focus { border: none; background: $primary-muted; }
    Form .form--note { padding: 0 0 0 14; }
    Form .form--status { padding: 0; }
    """

    def __init__(self, plan: FormPlan) -> None:
        super().__init__(plan.title)
        self.plan = plan
        self.inputs = {
            spec.name: FieldInput(
                spec.value,
                compact=True,
                select_on_focus=True,
                suggester=WordSuggester(spec.suggest) if spec.suggest else None,
            )
            for spec in plan.fields
        }
        self.notes = {spec.name: Notice(classes="form--note") for spec in plan.fields}
        self.status = Notice(classes="form--status")
        self._sending = self._in_doubt = self._told_to_wait = False
        self._errors: dict[str, SafeText] = {}

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            with VerticalScroll(can_focus=False):
                for spec in self.plan.fields:
                    with Horizontal(classes="form--row"):
                        yield StatusLine(classes="form--label", id=f"label-{spec.name}")
                        yield self.inputs[spec.name]
                    yield self.notes[spec.name]
            yield self.status
            yield self.keys_line

    def on_mount(self) -> None:
        for spec in self.plan.fields:
            label = self.query_one(f"#label-{spec.name}", StatusLine)
            label.show([Cell(plain(spec.label), Tone.DIM)])
        empty = (spec.name for spec in self.plan.fields if not spec.value)
        self.inputs[next(empty, self.plan.fields[-1].name)].focus()
        self._show_keys()
        self.show_notes()

    def _show_keys(self) -> None:
        keys = {"enter": " next, and at the end go on     ", "esc": " leave"}
        self.keys_line.show(key_cells(keys))

    @property
    def values(self) -> dict[str, str]:
        return {name: field.value.strip() for name, field in self.inputs.items()}

    def show_notes(self) -> None:
        meanings = self.plan.notes(self.values)
        for spec in self.plan.fields:
            note = Text(meanings.get(spec.name, plain(spec.hint)), Tone.DIM)
            if (wrong := self._errors.get(spec.name)) is not None:
                note = Text(plain(f"{signs.critical} {wrong}"), Tone.CRITICAL)
            self.notes[spec.name].show([note])

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        typed = event.input
        self._errors = {n: e for n, e in self._errors.items() if self.inputs.get(n) is not typed}
        self.show_notes()

    def entered(self, field: FieldInput) -> None:
        """Enter in a field: on to the next one, which has the next key; after the last, submit."""
        fields = list(self.inputs.values())
        after = fields[fields.index(field) + 1 :]
        if after:
            self.set_focus(after[0])
        if after or self._sending:
            return
        self._errors = dict(self.plan.check(self.values))
        self.show_notes()
        if self._errors:
            self.set_focus(self.inputs[next(iter(self._errors))])
            return
        if items := self.plan.question(self.values):
            question = Question(self.plan.title, items, self.plan.verb)
            self.app.push_screen(question, lambda yes: self._send() if yes else None)
        else:
            self._send()

    def _send(self) -> None:
        self._sending, self._in_doubt, self._told_to_wait = True, False, False
        self.status.show([Text(plain(f"{signs.arrow} sending"), Tone.ACCENT)])
        # Not of the form: what became of it is looked for, and told, when the form has been left.
        start_worker(self.app, self._do_send, "send the form", group="writes")

    async def _do_send(self) -> None:
        refusal = await self.plan.send(self.values, self._doubted)
        self._sending = False
        if not self.is_attached:
            if refusal is not None:
                self.app.notify(refusal.words, markup=False, severity="warning", timeout=8)
            return
        if self._in_doubt:
            self._show_keys()
        if refusal is None:
            self.dismiss(True)
            return
        # Words that stand beside a field already are not said twice.
        said = refusal.words in refusal.fields.values()
        words = Text(plain(f"{signs.critical} {refusal.words}"), Tone.CRITICAL)
        self.status.show([] if said else [words])
        self._errors = {name: why for name, why in refusal.fields.items() if name in self.inputs}
        self.show_notes()

    def action_close(self) -> None:
        """Leave; not while it is being sent, because its outcome would be lost.

        Where the answer was lost, that may last: the outcome is told later, and in the journal.
        """
        if self._sending and not self._in_doubt:
            return
        if self._sending:
            words = f"{signs.unknown} not known yet what became of it; the journal keeps it, and it"
            words += " is looked for before the same is sent again, or at the next start"
            self.app.notify(plain(words), markup=False, severity="warning", timeout=8)
        self.dismiss(False)

    def leave_first(self) -> bool:
        """Leave the form; while it is being sent only the program can be left, when asked twice."""
        if not self._sending or self._in_doubt:
            self.action_close()
            return True
        if self._told_to_wait:
            return False
        self._told_to_wait = True
        words = f"{signs.arrow} sending: it can't be taken back. Once more leaves the program; "
        words += "the journal keeps it, and the next start reads what became of it"
        self.status.show([Text(plain(words), Tone.WARNING)])
        return True

    def _doubted(self) -> None:
        self._in_doubt = True
        words = f"{signs.unknown} the answer was lost: it is looked for by reading, nothing is sent"
        self.status.show([Text(plain(words), Tone.WARNING)])
        self.keys_line.show(key_cells({"esc": " leave"}))
