"""A form: a dialog with text fields, whose input is checked, confirmed and then sent.

A `FormPlan` describes one form: its fields, and functions that parse the input, ask for
confirmation and send it. `form_definitions.py`, `shift_forms.py` and `save_form.py` have a plan for
each command that opens a form; `DialogRouter` opens a `Form` with it. The confirmations are
`Question` dialogs over the form, which only a `y` accepts. If what was typed is invalid or refused,
the form stays open with what was typed, and shows why at the fields.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Final, TypeAlias

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input
from textual.worker import Worker

from agentco_tui.screens.dialogs.base import Dialog, Question, key_hint_cells
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.widgets.prompt import LineInput, WordSuggester
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Notice, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

PROGRESS_TIME: Final = 0.25
"""Seconds for which words about the progress are shown at least, so that they can be read."""
WARNING_TIME: Final = 8.0
"""Seconds for which a notice about a form that was left is shown."""

Values: TypeAlias = Mapping[str, str]
"""What was typed, by the name of the field."""
Errors: TypeAlias = Mapping[str, SafeText]
"""What is wrong, by the name of the field."""
Suggest: TypeAlias = Callable[[str, Values], str | None]
"""Completes what was typed into a field, given the values of all fields; None for no completion."""
Confirmation: TypeAlias = Callable[[Any], Sequence[PaneItem]]
"""Returns the text of a question about the parsed input; nothing if no question is needed."""


class FormField(msgspec.Struct, frozen=True):
    """One text field of a form, with a label before it and a line below it."""

    name: str
    """The key of its text in `Values`; for a write, the name of the field that is sent."""
    label: str
    value: str = ""
    """What is in the field when the form opens."""
    hint: str = ""
    """Shown below the field as long as nothing is wrong with it."""
    suggest: Suggest | None = None


class FormError(Exception):
    """The input is invalid, or was refused."""

    def __init__(self, fields: Errors, message: SafeText | None = None) -> None:
        """`fields` says what is wrong with single fields, `message` with the whole."""
        super().__init__(message or "some fields can't be sent")
        self.fields = fields
        self.message = message


Send: TypeAlias = Callable[[Any, "Form"], Awaitable[None]]
"""Sends the parsed input; may raise `FormError`, and show its progress in the form."""


def no_confirmation(_: Any) -> Sequence[PaneItem]:
    """Ask nothing."""
    return ()


class FormPlan(msgspec.Struct, frozen=True):
    """What one form asks for and does. Without fields, it only asks its question."""

    title: Sequence[Cell]
    fields: Sequence[FormField]
    parse: Callable[[Values], Any]
    """Turns what was typed into what is sent; raises `FormError` if it is invalid."""
    send: Send
    question: Confirmation = no_confirmation
    """The confirmation before it is sent. Forms that change nothing on the platform need none."""
    yes_label: str = "send"
    """What `y` does, or, in a form without a question, enter."""
    second_question: Confirmation = no_confirmation
    """A second confirmation, if what was typed is likely to be a mistake."""
    can_cancel: bool = False
    """Whether `esc` cancels `send` while it runs."""
    enter_submits: bool = False
    """Whether enter submits the form from every field, because all may stay empty. Otherwise enter
    goes to the next field, and submits from the last one."""


class Form(Dialog[None]):
    """The dialog of one `FormPlan`."""

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
    # The class `-asked` hides the form while a question about it is open.

    def __init__(self, plan: FormPlan) -> None:
        super().__init__(plan.title)
        self.plan = plan
        self.inputs: dict[str, LineInput] = {}
        """The text fields, by name."""
        self.notes: dict[str, Notice] = {}
        """The lines below the fields, by name: a hint or an error."""
        for field in plan.fields:
            self.inputs[field.name] = LineInput(
                self._field_entered, field.value, suggester=self._suggester(field)
            )
            self.notes[field.name] = Notice(classes="form--note")
        self.status = Notice(classes="form--status")
        """The line below all fields: the progress, or why the form was refused."""
        self._progress_at = 0.0
        """When the progress was last shown, by the monotonic clock."""
        self._sending: Worker[Any] | None = None
        """The worker that sends the form, also after it has finished."""
        self._errors: dict[str, SafeText] = {}
        self._parsed: Any = None

    def _suggester(self, field: FormField) -> WordSuggester | None:
        suggest = field.suggest
        if suggest is None:
            return None
        return WordSuggester(lambda typed: suggest(typed, self.values))

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            for field in self.plan.fields:
                with Horizontal(classes="form--row"):
                    label = StatusLine(classes="form--label")
                    label.show([Cell(mark_safe(field.label), Tone.DIM)])
                    yield label
                    yield self.inputs[field.name]
                yield self.notes[field.name]
        yield self.status

    def on_mount(self) -> None:
        if not self.plan.fields:
            self.keys_line.show(key_hint_cells({"esc": ": back"}))  # shown if it is refused
            self.call_after_refresh(self._submit)
            return
        empty_fields = [field for field in self.plan.fields if not field.value]
        first_field = empty_fields[0] if empty_fields else self.plan.fields[-1]
        self.inputs[first_field.name].focus()
        separator = f" {signs.separator} "
        hints = {"enter": f": next field, then continue{separator}", "esc": ": cancel"}
        if self.plan.enter_submits:
            hints = {
                "enter": f": {self.plan.yes_label}{separator}",
                "tab": f": next field{separator}",
                "esc": ": cancel",
            }
        self.keys_line.show(key_hint_cells(hints))
        self.show_notes()

    @property
    def values(self) -> dict[str, str]:
        """What is typed into the fields, by name, without blanks around it."""
        return {name: field.value.strip() for name, field in self.inputs.items()}

    def show_notes(self) -> None:
        """Show below each field what is wrong with it, or else its hint."""
        for field in self.plan.fields:
            error = self._errors.get(field.name)
            if error is None:
                note = Paragraph(mark_safe(field.hint), Tone.DIM)
            else:
                note = Paragraph(mark_safe(f"{signs.critical} {error}"), Tone.CRITICAL)
            self.notes[field.name].show([note])

    @on(Input.Changed)
    def _input_changed(self, event: Input.Changed) -> None:
        """Remove the error of a field that was edited."""
        event.stop()
        for name, field in self.inputs.items():
            if field is event.input:
                self._errors.pop(name, None)
        self.show_notes()

    async def _field_entered(self, field: Input) -> None:
        """Go to the next field, which gets the next key; submit the form after the last one."""
        inputs: list[Input] = list(self.inputs.values())
        next_inputs = inputs[inputs.index(field) + 1 :]
        if next_inputs and not self.plan.enter_submits:
            self.set_focus(next_inputs[0])
            return
        if not self.is_sending:
            self._submit()

    def _submit(self) -> None:
        """Check what was typed, and ask for confirmation."""
        try:
            self._parsed = self.plan.parse(self.values)
        except FormError as error:
            self._show_error(error)
            wrong = [name for name in self.inputs if name in error.fields]
            self.set_focus(self.inputs[wrong[0]])
        else:
            self._confirm([self.plan.question, self.plan.second_question])

    def _confirm(self, confirmations: Sequence[Confirmation]) -> None:
        """Ask these questions one after the other; send the form after a yes to all of them."""
        for number, confirmation in enumerate(confirmations, start=1):
            items = confirmation(self._parsed)
            if items:
                self.add_class("-asked")
                question = Question(self.plan.title, items, self.plan.yes_label)
                answered = partial(self._answered, self.focused, confirmations[number:])
                self.app.push_screen(question, answered)
                return
        self._send()

    def _answered(
        self, focused: Any, next_confirmations: Sequence[Confirmation], yes: bool | None
    ) -> None:
        """Show the form again, and go on after a yes; `focused` had the focus before."""
        self.remove_class("-asked")
        if isinstance(focused, Input):
            focused.select_on_focus = False  # what is typed next is added to the text
        self.set_focus(focused)
        if yes:
            self._confirm(next_confirmations)
        elif not self.plan.fields:
            self.dismiss()  # there is nothing to go back to

    def _send(self) -> None:
        self.show_progress("waiting for the first bytes" if self.plan.can_cancel else "sending")
        self._progress_at = 0.0
        # The app runs the worker, not the form: it also runs on if the form is left.
        self._sending = start_worker(self.app, self._do_send, "send the form", group="writes")

    @property
    def is_sending(self) -> bool:
        return self._sending is not None and not self._sending.is_finished

    def show_progress(self, words: str) -> None:
        """Show how far sending is; do nothing if that was shown less than `PROGRESS_TIME` ago."""
        if monotonic() - self._progress_at < PROGRESS_TIME or not self.is_attached:
            return
        self._progress_at = monotonic()
        hint = f" {signs.separator} esc stops it" if self.plan.can_cancel else ""
        self.status.show([Paragraph(mark_safe(f"{signs.arrow} {words}{hint}"), Tone.ACCENT)])

    async def _do_send(self) -> None:
        try:
            await self.plan.send(self._parsed, self)
        except asyncio.CancelledError:
            if self.plan.can_cancel and self.is_attached:
                words = mark_safe(f"{signs.warning} stopped: nothing was written")
                self.status.show([Paragraph(words, Tone.WARNING)])
            raise
        except FormError as error:
            if self.is_attached:
                self._show_error(error)
            else:
                self._warn(str(error))
        else:
            self.dismiss()

    def _show_error(self, error: FormError) -> None:
        status: list[PaneItem] = []
        # A message that a field shows already is not repeated.
        if error.message is not None and error.message not in error.fields.values():
            status.append(Paragraph(mark_safe(f"{signs.critical} {error.message}"), Tone.CRITICAL))
        self.status.show(status)
        self._errors = {name: why for name, why in error.fields.items() if name in self.inputs}
        self.show_notes()

    def handle_leave(self) -> bool:
        """Cancel sending if that is possible, else close the form; return True if handled.

        A write, i.e. a change on the platform (the remote service), can't be cancelled once it is
        sent: its outcome is shown later, and noted in the journal, the file of all writes.
        """
        if self._sending is not None and self.is_sending:
            if self.plan.can_cancel:
                self._sending.cancel()
                return True
            self._warn(
                f"{signs.unknown} not known yet what became of it; the journal keeps it, and the "
                "platform is read before the same is sent again, or at the next start"
            )
        return super().handle_leave()

    def _warn(self, words: str) -> None:
        self.app.notify(mark_safe(words), markup=False, severity="warning", timeout=WARNING_TIME)
