"""The question whether to approve one task."""

from __future__ import annotations

from collections.abc import Sequence

from agentco_tui import format as fmt
from agentco_tui.actions.outcome import Verb
from agentco_tui.actions.services import age_of
from agentco_tui.api.errors import ApiError
from agentco_tui.background import start_worker
from agentco_tui.live.insight import waiting_since
from agentco_tui.model import Task, Trace
from agentco_tui.screens.columns.cells import priority_cell, spent_text
from agentco_tui.screens.decision_notes import READ_AFTER, decision_items
from agentco_tui.screens.detail_pane import budget_fields
from agentco_tui.screens.dialogs.base import TaskQuestion, Why
from agentco_tui.screens.dialogs.substance import substance
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen, summary_items
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, joined, plain, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Item, Text
from agentco_tui.widgets.tones import Tone

TRACE_LINES = 4
"""Steps of the trace that the question shows."""


class ApproveQuestion(TaskQuestion):
    """Whether to approve one task: its substance, and the end of its trace."""

    def __init__(self, session: Session, task: Task, note: SafeText | None = None) -> None:
        self.look = session.look
        self.subject = task
        self.trace: Trace | None = None
        self.failure: ApiError | None = None
        self._note = note
        self._told: list[Item] = []
        """What has happened to the task since the question opened."""
        super().__init__(session, [task], ("APPROVE", plain("1 task")), "approve")

    def on_mount(self) -> None:
        """Read the trace while the person reads the rest, and follow the task."""
        if self.subject.cut is not None:
            self.switch_off(plain(f"not all of it can be shown: {self.subject.cut}"))
        start_worker(self, self._read_trace, "read the trace")
        self.set_timer(READ_AFTER, self._count_as_read, name="read")

    def _count_as_read(self) -> None:
        if self.app.screen is self and not self.hidden and not self._told:
            self.session.count_as_read(self.subject)

    async def _read_trace(self) -> None:
        try:
            self.trace = await self.session.client.task_trace(self.subject.id)
        except ApiError as error:
            self.failure = error
        self.show_items(self.question())

    def happened(self, task: Task, lines: Sequence[SafeText], *, why: Why) -> None:
        reason = plain(f"{lines[0]} while you read") if why == "left" else lines[0]
        self._told = [Text(plain(f"{signs.warning} {reason}"), Tone.WARNING), Gap()]
        if why == "changed":
            reason = plain("it changed; leave, and open it again")
            self._told = [
                Text(plain(f"{signs.warning} it changed while you read:"), Tone.WARNING),
                *(Text(line, Tone.WARNING, 2) for line in lines),
                Gap(),
            ]
        self.show_end(self.question(), reason)

    # ---- what it says

    def question(self) -> list[Item]:
        task, names = self.subject, self.session.names
        agent = names.agent_of(task.agent)
        since = waiting_since(task)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        trust = self.look.trust_of(task)
        facts = [
            names.company(names.company_of(task)),
            plain(f"{names.agent(task.agent)}{role}"),
            plain(priority_cell(task.priority).text.strip()),
            plain(f"waits {self.look.age(since)}"),
        ]
        if trust is not None:
            facts.append(plain(f"trust {fmt.trust(trust)}"))
        items: list[Item] = list(self._told)
        if self._note is not None:
            items += [Text(plain(f"{signs.warning} {self._note}"), Tone.WARNING), Gap()]
        items += self._before()
        items += substance(task, self.look, [Text(joined(facts, f" {signs.separator} "))])
        budget = None
        if task.agent is not None and task.agent.id is not None:
            budget = self.session.store.agent_budgets.get(task.agent.id)
        if budget is not None:
            items += [Gap(), *budget_fields(budget, self.look)[:1]]
            items.append(FieldLine(plain("budget"), spent_text(budget)))
        items.append(Gap())
        if self.failure is not None:
            items.append(Text(plain(f"{signs.unknown} trace: {self.failure}"), Tone.WARNING))
        elif self.trace is None:
            items.append(Text(plain("reading the trace"), Tone.DIM))
        else:
            items += summary_items(self.trace, self.look, TRACE_LINES)
        return items

    def _before(self) -> list[Item]:
        """What was sent for this task before, from here or by an earlier run."""
        decision = self.session.decisions.of(self.subject.id)
        if decision is not None:
            return decision_items(self.session, decision)
        earlier = self.session.earlier(Verb.APPROVE, self.subject.id)
        if earlier is None or earlier.settled is None:
            return []
        age = age_of(earlier.attempt.time)
        when = f"sent before, {fmt.ago(age)}" if age is not None else "sent before"
        words = f"{signs.warning} {when}: {earlier.settled.outcome}"
        return [Text(plain(words), Tone.WARNING), Gap()]

    def action_more(self) -> None:
        """Read the whole trace; from there one comes back to this question."""
        self.app.push_screen(TraceScreen(self.session, self.subject))
