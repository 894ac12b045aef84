"""The form that sets an AI agent's monthly limit.

Its question shows the old limit, the new one and the difference; a limit that is ten times as high
needs a second confirmation. The budget that the question showed is passed to the write (the change
that is sent): if the platform, the remote service, has another limit by then, nothing is sent. A
`FormPlan` has the fields of a form and the functions that check, confirm and send what was typed; a
`FormRequest` has the main screen (`frame`) and the record under its cursor (`subject`). The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from agentco_tui.actions.limit_change import LimitChange
from agentco_tui.actions.limit_text import check_limit, limit_words
from agentco_tui.actions.write_flow import Write
from agentco_tui.model import Budget, Money, Ref
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import limit_agent_id, limit_refused
from agentco_tui.screens.detail_pane import warning
from agentco_tui.screens.dialogs.form_dialog import FormError, FormField, FormPlan, Values
from agentco_tui.screens.dialogs.form_request import FormRequest
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.text_pane import BlankLine, FieldLine, PaneItem, Paragraph
from agentco_tui.widgets.tones import Tone

LARGE_FACTOR: Final = 10
"""Times the old limit at or above which a new limit needs a second confirmation."""


def set_limit(request: FormRequest) -> FormPlan | SafeText:
    """Return the form for the limit of the agent on the line under the cursor."""
    refusal = limit_refused(request.subject, request.frame.workspace.store)
    if refusal is not None:
        return refusal
    agent_id = limit_agent_id(request.subject)
    if agent_id is None:
        return mark_safe("limits can be set for agents: put the cursor on a line about an agent")
    form = LimitForm(request, agent_id)
    return FormPlan(
        title=request.title("SET LIMIT", form.agent_name),
        fields=[form.field()],
        parse=form.parse,
        send=request.send_write(form.make_write),
        question=form.question,
        yes_label="set it",
        second_question=form.second_question,
    )


class LimitForm:
    """The form for the limit of one agent."""

    def __init__(self, request: FormRequest, agent_id: str) -> None:
        self._services = request.frame.dashboard.services
        self._workspace = request.frame.workspace
        self._agent_id = agent_id
        self._shown = self._workspace.store.agent_budgets.get(agent_id)
        """The budget as the last question showed it; at first, as it is when the form opens."""
        budget_name = self._shown.name if self._shown is not None else None
        self.agent_name = self._workspace.names.agent(Ref(id=agent_id, name=budget_name))

    def field(self) -> FormField:
        old = _old_limit(self._shown)
        value = "" if old is None else f"{old.amount:f}"
        hint = f"until now {limit_words(self._shown)}; in whole units, such as 99.50"
        return FormField("monthly_limit", "monthly limit", value, hint)

    def parse(self, values: Values) -> Decimal:
        """Return the amount that was typed. Raises `FormError`."""
        amount = check_limit(values["monthly_limit"])
        if isinstance(amount, Decimal):
            return amount
        raise FormError({"monthly_limit": amount})

    def question(self, amount: Decimal) -> Sequence[PaneItem]:
        """Return the agent, the old and the new limit, and warnings."""
        # It may have been read again while the form was open.
        budget = self._workspace.store.agent_budgets.get(self._agent_id)
        self._shown = budget
        items: list[PaneItem] = [
            FieldLine(mark_safe("agent"), self._name_and_id()),
            FieldLine(mark_safe("old limit"), limit_words(budget)),
            FieldLine(mark_safe("new limit"), in_currency_of(budget, amount), Tone.STRONG),
        ]
        if budget is not None and budget.limit is not None:
            change = amount - budget.limit.amount
            sign = "+" if change > 0 else ""
            words = mark_safe(f"{sign}{in_currency_of(budget, change)}")
            items.append(FieldLine(mark_safe("change"), words))
        if not amount:
            items += [
                BlankLine(),
                warning(f"{signs.warning} some platforms take 0 for no limit at all"),
            ]
        if budget is not None and budget.spent is not None:
            items.append(FieldLine(mark_safe("spent"), fmt.money(budget.spent)))
            if amount < budget.spent.amount:
                words = mark_safe(f"{signs.warning} the new limit is below what is spent already")
                items += [BlankLine(), warning(words)]
        return items

    def _name_and_id(self) -> SafeText:
        """Return the agent's name with its id, as two agents may have the same name."""
        shown_id = clean_line(self._agent_id)
        if self.agent_name == shown_id:
            return shown_id
        return mark_safe(f"{self.agent_name}  {shown_id}")

    def second_question(self, amount: Decimal) -> Sequence[PaneItem]:
        """Return whether so high a limit is meant; nothing if it is not that high."""
        old = _old_limit(self._shown)
        if old is None or old.amount <= 0 or amount < LARGE_FACTOR * old.amount:
            return ()
        times = fmt.number(amount // old.amount)
        new = in_currency_of(self._shown, amount)
        words = f"{new} is {times} times the old limit, {limit_words(self._shown)}"
        return [
            warning(f"{signs.warning} {words}"),
            BlankLine(),
            Paragraph(mark_safe("is it meant?")),
        ]

    def make_write(self, amount: Decimal) -> Write[Budget]:
        budget = self._shown
        agent = self._workspace.store.agents.get(self._agent_id)
        company = budget.company if budget is not None else None
        if company is None and agent is not None:
            company = agent.company
        return LimitChange(
            self._services,
            Ref(id=self._agent_id, name=self.agent_name),
            amount,
            shown=budget,
            company=company,
        )


def _old_limit(budget: Budget | None) -> Money | None:
    """Return the limit of a budget; None if it has none or none is known."""
    if budget is None or budget.unlimited:
        return None
    return budget.limit


def in_currency_of(budget: Budget | None, amount: Decimal) -> SafeText:
    """Return an amount in the currency of a budget, or without one if that is unknown."""
    currency = None
    if budget is not None:
        figures = (budget.limit, budget.spent, budget.remaining)
        currency = next((money.currency for money in figures if money), None)
    return fmt.money(Money(amount, currency), exact=True)
