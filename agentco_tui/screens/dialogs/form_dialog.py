"""A dialog with fields to fill in: checked here before anything is asked, kept if it is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Any, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input
from textual.worker import Worker

from agentco_tui.screens.dialogs.base import Dialog, Question, key_cells
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.prompt import LineInput, WordSuggester
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, Notice, Text
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

READABLE = 0.25  # seconds for which words about what is being sent stand at least
Values = Mapping[str, str]
Errors = Mapping[str, SafeText]
Suggest = Callable[[str, Values], str | None]  # by what is typed, and by the other fields


class FormField(msgspec.Struct, frozen=True):
    name: str
    label: str
    value: str = ""
    hint: str = ""
    suggest: Suggest | None = None


class FormError(Exception):
    """What is wrong with what was typed, or why it was refused: by field, and in `words`."""

    def __init__(self, fields: Errors, words: SafeText | None = None) -> None:
        super().__init__(words or "some fields can't be sent")
        self.fields, self.words = fields, words


Send = Callable[[Any, "Form"], Awaitable[None]]


class FormPlan(msgspec.Struct, frozen=True):
    """`read` gives what is meant by what was typed; `question` says what `y` answers, empty if
    nothing is changed, and `again` what a second one does, empty if none is needed; `send` does it.
    Both `read` and `send` may raise `FormError`. With `can_stop` escape ends it meanwhile.
    `enter_submits` is for a form whose fields may all stay as they are: enter submits it from
    every field, where it otherwise goes to the next field first.
    """

    title: Sequence[Cell]
    fields: Sequence[FormField]
    read: Callable[[Values], Any]
    send: Send
    question: Callable[[Any], Sequence[Item]] = lambda _: ()
    verb: str = "send"
    again: Callable[[Any], Sequence[Item]] = lambda _: ()
    can_stop: bool = False
    enter_submits: bool = False


class Form(Dialog[None]):
    """Enter goes to the next field and, on the last one, on to the question; in a form of which
    `enter_submits` it does so on every field.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
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
    Form.-asked { background: transparent; }
    Form.-asked > Vertical { visibility: hidden; }
    """

    def __init__(self, plan: FormPlan) -> None:
        super().__init__(plan.title)
        self.plan = plan
        self.inputs = {
            spec.name: LineInput(self._entered, spec.value, suggester=self._suggester(spec))
            for spec in plan.fields
        }
        self.notes = {spec.name: Notice(classes="form--note") for spec in plan.fields}
        self.status = Notice(classes="form--status")
        self._said_at = 0.0
        self._worker: Worker[Any] | None = None
        self._errors: dict[str, SafeText] = {}
        self._meant: Any = None

    def _suggester(self, spec: FormField) -> WordSuggester | None:
        suggest = spec.suggest
        return None if suggest is None else WordSuggester(lambda typed: suggest(typed, self.values))

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            for spec in self.plan.fields:
                with Horizontal(classes="form--row"):
                    label = StatusLine(classes="form--label")
                    label.show([Cell(plain(spec.label), Tone.DIM)])
                    yield label
                    yield self.inputs[spec.name]
                yield self.notes[spec.name]
        yield self.status

    def on_mount(self) -> None:
        empty = (spec.name for spec in self.plan.fields if not spec.value)
        self.inputs[next(empty, self.plan.fields[-1].name)].focus()
        then = f" {signs.separator} "
        keys = {"enter": f": next field, then continue{then}", "esc": ": cancel"}
        if self.plan.enter_submits:
            keys = {
                "enter": f": {self.plan.verb}{then}",
                "tab": f": next field{then}",
                "esc": ": cancel",
            }
        self.keys_line.show(key_cells(keys))
        self.show_notes()

    @property
    def values(self) -> dict[str, str]:
        return {name: field.value.strip() for name, field in self.inputs.items()}

    def show_notes(self) -> None:
        for spec in self.plan.fields:
            note = Text(plain(spec.hint), Tone.DIM)
            if (wrong := self._errors.get(spec.name)) is not None:
                note = Text(plain(f"{signs.critical} {wrong}"), Tone.CRITICAL)
            self.notes[spec.name].show([note])

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        typed = event.input
        self._errors = {n: e for n, e in self._errors.items() if self.inputs.get(n) is not typed}
        self.show_notes()

    async def _entered(self, field: Input) -> None:
        """Enter in a field: on to the next one, which has the next key; after the last, submit."""
        fields = list[Input](self.inputs.values())
        after = fields[fields.index(field) + 1 :]
        if after and not self.plan.enter_submits:
            self.set_focus(after[0])
            return
        if self._sending:
            return
        try:
            self._meant = self.plan.read(self.values)
        except FormError as error:
            self._refused(error)
            self.set_focus(next(self.inputs[name] for name in self.inputs if name in error.fields))
        else:
            self._ask(self.plan.question, self.plan.again)

    def _ask(self, *asked: Callable[[Any], Sequence[Item]]) -> None:
        """Ask one question after the other, each of which needs a yes of its own, then send it."""
        if not asked:
            self._send()
        elif items := asked[0](self._meant):
            question, field = Question(self.plan.title, items, self.plan.verb), self.focused

            def then(yes: bool | None) -> None:
                self.remove_class("-asked")
                if isinstance(field, Input):
                    field.select_on_focus = False  # what is typed next goes on
                self.set_focus(field)
                if yes:
                    self._ask(*asked[1:])

            self.add_class("-asked")
            self.app.push_screen(question, then)
        else:
            self._ask(*asked[1:])

    def _send(self) -> None:
        self.says("waiting for the first bytes" if self.plan.can_stop else "sending")
        self._said_at = 0.0
        # Not of the form: what became of it is looked for, and told, when the form has been left.
        self._worker = start_worker(self.app, self._do_send, "send the form", group="writes")

    @property
    def _sending(self) -> bool:
        return self._worker is not None and not self._worker.is_finished

    def says(self, words: str) -> None:
        """How far it is, while it is being sent; not more often than can be read."""
        if monotonic() - self._said_at < READABLE or not self.is_attached:
            return
        self._said_at = monotonic()
        stop = f" {signs.separator} esc stops it" if self.plan.can_stop else ""
        self.status.show([Text(plain(f"{signs.arrow} {words}{stop}"), Tone.ACCENT)])

    async def _do_send(self) -> None:
        try:
            await self.plan.send(self._meant, self)
        except asyncio.CancelledError:
            if self.plan.can_stop and self.is_attached:
                stopped = plain(f"{signs.warning} stopped: nothing was written")
                self.status.show([Text(stopped, Tone.WARNING)])
            raise
        except FormError as error:
            if self.is_attached:
                self._refused(error)
            else:
                self.app.notify(str(error), markup=False, severity="warning", timeout=8)
        else:
            self.dismiss()

    def _refused(self, error: FormError) -> None:
        # Words that stand beside a field already are not said twice.
        said = error.words is None or error.words in error.fields.values()
        words = Text(plain(f"{signs.critical} {error.words}"), Tone.CRITICAL)
        self.status.show([] if said else [words])
        self._errors = {n: why for n, why in error.fields.items() if n in self.inputs}
        self.show_notes()

    def leave_first(self) -> bool:
        """Stop it, else leave: what became of what was sent is told later, and in the journal."""
        if self._worker is not None and self._sending and self.plan.can_stop:
            self._worker.cancel()
            return True
        if self._sending:
            words = f"{signs.unknown} not known yet what became of it; the journal keeps it, and it"
            words += " is looked for before the same is sent again, or at the next start"
            self.app.notify(plain(words), markup=False, severity="warning", timeout=8)
        return super().leave_first()
