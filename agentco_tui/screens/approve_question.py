"""The question whether to approve one task."""

from __future__ import annotations

from collections.abc import Iterable

from agentco_tui import format as fmt
from agentco_tui.api.errors import ApiError
from agentco_tui.api.records import Task, Trace
from agentco_tui.live.insight import waiting_since
from agentco_tui.screens.columns.look import Look
from agentco_tui.screens.details import budget_fields
from agentco_tui.screens.dialog import Question, title_of
from agentco_tui.screens.level_cells import priority_cell, spent_text
from agentco_tui.screens.session import Session
from agentco_tui.screens.trace import TraceScreen, summary_items
from agentco_tui.text import plain, signs
from agentco_tui.widgets.pane_content import Cells, Field, Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

TRACE_LINES = 4
"""Steps of the trace that the question shows."""


class ApproveQuestion(Question):
    """Whether to approve one task, with the end of its trace; belongs to the task, not to a row."""

    def __init__(self, session: Session, task: Task, differences: Iterable[Item] = ()) -> None:
        self.session = session
        self.look = Look(session.store, session.names, session.clock, session.settings.alerts)
        self.subject = task
        self.trace: Trace | None = None
        self.failure: ApiError | None = None
        self._differences = tuple(differences)
        title = title_of(session.settings.profile, "APPROVE", plain("1 task"))
        super().__init__(title, self._question(), "approve")

    def on_mount(self) -> None:
        """Read the trace while the person reads the rest."""
        super().on_mount()
        self.session.read.add(self.subject.id)
        start_worker(self, self._read_trace, "read the trace")

    async def _read_trace(self) -> None:
        try:
            self.trace = await self.session.client.task_trace(self.subject.id)
        except ApiError as error:
            self.failure = error
        self.show_items(self._question())

    def _question(self) -> list[Item]:
        task, names = self.subject, self.session.names
        agent = names.agent_of(task.agent)
        since = waiting_since(task)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        trust = task.trust if task.trust is not None else (agent.trust if agent else None)
        priority = priority_cell(task.priority)
        facts: list[Cell] = [
            Cell(names.company(names.company_of(task)), Tone.STRONG),
            Cell(plain(f" {signs.separator} {names.agent(task.agent)}{role} {signs.separator} ")),
            Cell(plain(priority.text.strip()), priority.tone),
            Cell(plain(f" {signs.separator} waits {self.look.age(since)}")),
        ]
        if trust is not None:
            facts.append(Cell(plain(f" {signs.separator} trust {fmt.trust(trust)}")))
        items: list[Item] = [*self._differences, Text(task.title, Tone.STRONG), Cells(tuple(facts))]
        if task.description:
            items += [Gap(), Text(plain(task.description[:600]))]
        budget = None
        if task.agent is not None and task.agent.id is not None:
            budget = self.session.store.agent_budgets.get(task.agent.id)
        if budget is not None:
            items += [Gap(), *budget_fields(budget, self.look)[:1]]
            items.append(Field(plain("budget"), spent_text(budget)))
        items.append(Gap())
        if self.failure is not None:
            items.append(Text(plain(f"{signs.unknown} trace: {self.failure}"), Tone.WARNING))
        elif self.trace is None:
            items.append(Text(plain("reading the trace"), Tone.DIM))
        else:
            items += summary_items(self.trace, self.look, TRACE_LINES)
        return items

    def action_more(self) -> None:
        """Read the whole trace; from there one comes back to this question."""
        self.app.push_screen(TraceScreen(self.session, self.look, self.subject))
