"""The question whether to approve one task, and what it shares with the question about several.

A task is what an AI agent wants to do on the platform, the remote service that is watched.
`ApproveQuestion` shows a whole task, the budgets that approving it affects (`DecisionFacts`), and
the end of its trace: the steps that the agent took for it. `BatchQuestion`, which asks about a set
of tasks, is in `batch_question.py`. `DialogRouter` opens both, and sends the approval after a yes.

The user must approve exactly what is on the screen. While a question is open, `TaskQuestion`
therefore listens to `workspace.store`, the records as last read from the platform, and to
`dashboard.decisions`, the approvals made from this machine. If a task changes, leaves the list or
is decided, the question shows that, and `y` has no effect any more. The workspace is what is known
of the platform in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.outcome import Verb
from agentco_tui.actions.services import age_of
from agentco_tui.api.errors import ApiError
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.store import Change
from agentco_tui.model import Ref, Task, Trace
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import priority_cell
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.decision_facts import DecisionFacts
from agentco_tui.screens.decision_notes import READ_AFTER, line_note, text_of
from agentco_tui.screens.detail_pane import task_in_full, warning, whole_title
from agentco_tui.screens.dialogs.base import Question, title_of
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen, summary_items
from agentco_tui.screens.sized_screen import PHONE_WIDTH
from agentco_tui.text import SafeText, clean_line, joined, mark_safe, signs
from agentco_tui.widgets.text_pane import BlankLine, PaneItem, Paragraph
from agentco_tui.widgets.tones import Tone
from agentco_tui.widgets.workers import start_worker

TRACE_STEPS: Final = 4
"""Steps of the trace that the question shows, the last ones."""
SHORT_SCREEN: Final = 24
"""Lines; on a shorter screen the task comes before budgets and similar tasks."""


class TaskQuestion(Question):
    """A question about tasks as they were when it opened.

    If one of them changes or is decided meanwhile, it says so, and `y` has no effect any more.
    """

    def __init__(
        self,
        dashboard: DashboardContext,
        tasks: Sequence[Task],
        subject: SafeText,
        yes_label: str,
    ) -> None:
        """`subject` says in the title what is approved, `yes_label` what `y` does."""
        workspace = dashboard.workspace
        super().__init__(title_of(workspace.settings, "APPROVE", subject), (), yes_label)
        self.dashboard = dashboard
        self.workspace = workspace
        self.tasks = {task.id: task for task in tasks}
        """The tasks as they are shown, and as they will be approved, by id."""
        self.changes: dict[str, tuple[str, ...]] = {}
        """What happened to tasks since the question opened, in lines, by task id."""
        self._labels = task_labels(tasks)
        self.facts = DecisionFacts(dashboard, tasks, self.show_items)

    def on_mount(self) -> None:
        start_worker(self, self.facts.read, "read what else a decision rests on")
        self.close_callbacks = [
            self.workspace.store.subscribe(self._store_changed),
            self.dashboard.decisions.subscribe(self._decision_changed),
        ]

    def _why_removed(self, change: Change, task: Task) -> str:
        """Why a task is in the list no more: the list itself may have been dropped."""
        is_read = self.workspace.store.freshness[FeedName.PENDING].answered_at is not None
        is_listed = change.feed is FeedName.PENDING and self.workspace.scope.includes(task)
        if is_read and is_listed:
            return "it left the list of pending tasks"
        return "the list of pending tasks is being read again"

    def _store_changed(self, change: Change) -> None:
        """Compare the tasks with what was just read of a feed (one list of the platform)."""
        if change.feed not in (FeedName.PENDING, FeedName.TASKS):
            return
        store = self.workspace.store
        for task_id, shown in self.tasks.items():
            now = store.pending.get(task_id)
            if now is None and change.feed is FeedName.TASKS:
                now = store.tasks.get(task_id)
            if now is None:
                if task_id in change.removed:
                    self._switch_off_for(task_id, [self._why_removed(change, shown)])
                continue
            if now is shown:
                continue
            lines = [
                f"{field.field}: “{field.was}” {signs.arrow} “{field.is_}”"
                for field in differences(shown, now)
            ]
            if lines:
                self._switch_off_for(task_id, lines)

    def _decision_changed(self, task_id: str) -> None:
        decision = self.dashboard.decisions.by_task.get(task_id)
        if task_id not in self.tasks or decision is None or decision.is_acknowledged:
            return
        self._switch_off_for(task_id, [line_note(self.dashboard, decision).text])

    def _switch_off_for(self, task_id: str, lines: Sequence[str]) -> None:
        """Give `y` no effect any more, and show what happened to a task."""
        if self.changes.get(task_id) == tuple(lines):
            return
        self.changes[task_id] = tuple(lines)
        self.switch_off(mark_safe("changed: leave, and open it again"))
        self.show_items()
        self.pane.scroll_home(animate=False, immediate=True)

    def change_items(self) -> Iterable[PaneItem]:
        """Yield what happened to the tasks since the question opened; nothing if nothing did."""
        if not self.changes:
            return
        yield warning(f"{signs.warning} changed while you read:")
        for task_id, lines in self.changes.items():
            yield warning(self._labels[task_id], 2)
            for line in lines:
                yield warning(line, 2)
        yield BlankLine()

    def earlier_attempt(self, task_id: str) -> str | None:
        """Return the outcome of an earlier approval of the task; None if there was none.

        It may have been made by this dashboard or, according to the journal, by an earlier run.
        """
        decision = self.dashboard.decisions.by_task.get(task_id)
        if decision is not None:
            return f"tried before: {text_of(self.dashboard, decision)}"
        earlier = self.dashboard.services.earlier(Verb.APPROVE, task_id)
        if earlier is None or earlier.settled is None:
            return None
        ago = fmt.ago(age_of(earlier.attempt.time))
        return f"tried before, {ago}: {earlier.settled.outcome}"


class ApproveQuestion(TaskQuestion):
    """The question whether to approve one task."""

    def __init__(
        self, dashboard: DashboardContext, task: Task, note: SafeText | None = None
    ) -> None:
        """`note` is a warning shown above the task."""
        super().__init__(dashboard, [task], mark_safe("1 task"), "approve")
        self.cell_context = dashboard.cell_context
        self.subject = task
        self.trace: Trace | ApiError | None = None
        """The trace of the task, or why it can't be read; None while it is being read."""
        self._note = note

    def on_mount(self) -> None:
        if self.subject.cut is not None:  # which parts of the task were too long to be kept
            self.switch_off(mark_safe(f"not all of it can be shown: {self.subject.cut}"))
        start_worker(self, self._read_trace, "read the trace")
        self.set_timer(READ_AFTER, self._mark_as_read, name="read")

    async def _read_trace(self) -> None:
        self.trace = await self.workspace.traces.read(self.subject)
        self.show_items()

    def _mark_as_read(self) -> None:
        """Remember what the user has read of the task, unless it was covered or has changed."""
        if self.app.screen is self and not self.hidden and not self.changes:
            # `content` is a digest of the task's fields: it differs if the task has changed.
            self.dashboard.read_digests[self.subject.id] = self.subject.content

    def items(self) -> Iterable[PaneItem]:
        task = self.subject
        yield from self.change_items()
        for words in (self._note, self.earlier_attempt(task.id)):
            if words:
                yield warning(f"{signs.warning} {words}")
                yield BlankLine()
        summary = self._summary()
        facts = list(self.facts.items())
        width, height = self.app.size
        if width < PHONE_WIDTH or height < SHORT_SCREEN:
            critical = [item for item in facts if _is_critical(item)]
            others = [item for item in facts if not _is_critical(item)]
            yield from task_in_full(task, self.cell_context, [summary, *critical])
            yield from (BlankLine(), *others, BlankLine())
        else:
            yield from task_in_full(task, self.cell_context, [summary, *facts])
            if height > SHORT_SCREEN:
                yield BlankLine()
        yield from self._trace_items()

    def _summary(self) -> Paragraph:
        """Return one line: company, agent, priority, how long the task has waited, and trust.

        Of a company or an agent that does not work, its status is there, too.
        """
        task = self.subject
        names = self.workspace.names
        context = self.cell_context
        agent = names.agent_of(task.agent)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        parts = [
            context.company_words(names.company_of(task) or Ref()),
            mark_safe(f"{context.agent_words(task.agent or Ref())}{role}"),
            mark_safe(priority_cell(task.priority).text.strip()),
            mark_safe(f"waits {self.cell_context.wait(waiting_since(task))}"),
        ]
        trust = self.cell_context.trust_of(task)
        if trust is not None:
            parts.append(mark_safe(f"trust {fmt.number(trust)}"))
        return Paragraph(joined(parts, f" {signs.separator} "))

    def _trace_items(self) -> Iterable[PaneItem]:
        if isinstance(self.trace, ApiError):
            yield warning(f"{signs.unknown} trace: {self.trace}")
        elif self.trace is None:
            yield Paragraph(mark_safe("reading the trace"), Tone.DIM)
        else:
            yield from summary_items(self.trace, self.cell_context, TRACE_STEPS)

    def action_more(self) -> None:
        """Show the whole trace over the question."""
        self.app.push_screen(TraceScreen(self.dashboard, self.subject))


def _is_critical(item: PaneItem) -> bool:
    return getattr(item, "tone", None) is Tone.CRITICAL


def count_in_words(tasks: Sequence[Task]) -> SafeText:
    """Return how many tasks there are: "1 task", "12 tasks"."""
    if len(tasks) == 1:
        return mark_safe("1 task")
    return mark_safe(f"{fmt.count(len(tasks))} tasks")


def task_labels(tasks: Sequence[Task]) -> dict[str, SafeText]:
    """Return the titles of tasks by their ids; if several have the same title, with the id."""
    labels = {task.id: whole_title(task) for task in tasks}
    count_by_title = Counter(labels.values())
    for task in tasks:
        title = labels[task.id]
        if count_by_title[title] > 1:
            labels[task.id] = mark_safe(f"{title} ({clean_line(task.sent_id, 60)})")
    return labels
