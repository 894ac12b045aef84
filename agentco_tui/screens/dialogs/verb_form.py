"""The form of a verb that the platform offers, such as to reject a task with a note.

The platform is the remote service that the verb changes. The form has a field for a note or a sum,
if the verb takes one; its question shows the record whole, as it will be compared before anything
is sent. `FormRequest` has the main screen (`frame`); a `FormPlan` has the fields of a form and the
functions that check, confirm and send what was typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from agentco_tui.actions.form_check import check_form
from agentco_tui.actions.limit_text import check_limit
from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.verb_write import COMPARED, VerbWrite
from agentco_tui.api.capabilities import OfferedVerb, VerbInput
from agentco_tui.model import Agent, Company, Record, Ref
from agentco_tui.screens.detail_pane import budget_fields, details, field
from agentco_tui.screens.dialogs.form_dialog import FormError, FormField, FormPlan, Values
from agentco_tui.screens.dialogs.form_request import FormRequest
from agentco_tui.screens.navigation import name_of
from agentco_tui.text import clean_block, mark_safe
from agentco_tui.widgets.text_pane import BlankLine, FieldLine, PaneItem, Paragraph
from agentco_tui.widgets.tones import Tone

LONGEST_NOTE = 4_000
"""Characters of a note at most."""


def verb_form(request: FormRequest, verb: OfferedVerb, record: Record) -> FormPlan:
    """Return the form of a verb for a record."""
    form = VerbForm(request, verb, record)
    return FormPlan(
        title=request.title(verb.label.upper(), form.name),
        fields=form.fields(),
        parse=form.parse,
        send=request.send_write(form.make_write, form.note_done),
        question=form.question,
        yes_label=verb.label,
    )


class VerbForm:
    """The form of one verb for one record."""

    def __init__(self, request: FormRequest, verb: OfferedVerb, record: Record) -> None:
        self._frame = request.frame
        self._verb = verb
        self._record = record
        self.name = name_of(record, request.frame.workspace.names)
        self._waited = record.id in request.frame.workspace.store.pending.records
        self._asks = request.frame.workspace.client.question_of(verb.name, record)

    def fields(self) -> Sequence[FormField]:
        fields: list[FormField] = []
        if self._verb.takes_amount:
            fields.append(
                FormField("amount", "amount", "", "a month; in whole units, such as 99.50")
            )
        if self._verb.note != "none":
            optional = "" if self._verb.note == "required" else "; may stay empty"
            fields.append(FormField("note", "note", "", f"a sentence{optional}"))
        return fields

    def parse(self, values: Values) -> VerbInput:
        """Return what was typed. Raises `FormError`."""
        errors = check_form(values)
        amount: Decimal | None = None
        if self._verb.takes_amount:
            checked = check_limit(values["amount"])
            if isinstance(checked, Decimal):
                amount = checked
            else:
                errors["amount"] = checked
        note = values.get("note", "").strip() or None
        if note is None and self._verb.note == "required":
            errors["note"] = mark_safe("write a few words: it is not sent without a note")
        elif note is not None and len(note) > LONGEST_NOTE:
            errors["note"] = mark_safe(f"no more than {LONGEST_NOTE:,} characters")
        if errors:
            raise FormError(errors)
        return VerbInput(note, amount)

    def question(self, given: VerbInput) -> Sequence[PaneItem]:
        """Return what is asked, what goes with it, and the record."""
        items: list[PaneItem] = [Paragraph(self._asks, Tone.STRONG)]
        if given.amount is not None:
            amount = mark_safe(f"{given.amount:f}")
            items.append(FieldLine(mark_safe("amount"), amount, Tone.STRONG))
        if given.note is not None:
            items.append(FieldLine(mark_safe("note"), clean_block(given.note)))
        return [*items, BlankLine(), *self._record_items()]

    def _record_items(self) -> Sequence[PaneItem]:
        """Return the record as it is compared with what is read before anything is sent.

        Of an agent or a company, whose pages show what belongs to it, that is in a few lines.
        """
        record = self._record
        context = self._frame.dashboard.cell_context
        if not isinstance(record, Agent | Company):
            return details(record, context)
        items: list[PaneItem] = [Paragraph(self.name, Tone.STRONG), BlankLine()]
        for name in COMPARED[type(record)]:
            value = getattr(record, name)
            words = context.company_words(value) if isinstance(value, Ref) else value
            if name != "name":
                items.append(field(name.replace("_", " "), words))
        budget = context.budget_of(record)
        if budget is not None:
            items += [BlankLine(), *budget_fields(budget, context)]
        return items

    def note_done(self, outcome: Outcome) -> None:
        """Say on the row of a task how it was decided, and move the cursor on to the next.

        Only a task that left the list of those that wait was decided; a comment decides nothing.
        What was done already, somebody else has decided.
        """
        task = self._record
        still_waits = task.id in self._frame.workspace.store.pending.records
        if not self._waited or still_waits or outcome.attempt_id is None:
            return
        status = getattr(outcome.record, "status", None)
        words = status or mark_safe(f"{self._verb.label}: done")
        self._frame.dashboard.decisions.note_decided_here(task.id, words)
        self._frame.dialogs.go_to_next({task.id})

    def make_write(self, given: VerbInput) -> VerbWrite:
        return VerbWrite(self._frame.dashboard.services, self._verb, self._record, given)
