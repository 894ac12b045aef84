"""The dialog that shows how far the approval of a set of tasks has come.

The tasks are those of AI agents on the platform, a remote service. A set is several of them that
the user approves with one yes. A `BatchApproval` first waits in its undo window
(`BatchPhase.HELD`), in which all of it can be taken back, then sends the approvals, and reads what
became of each one: `items` has a `Decision` per task, with its `step` and at last its `outcome`.
The dialog draws this state four times a second. It may be closed: the approval goes on, and its
outcome is shown as a notice. The workspace is what is known of the platform in memory. The scope is
the company that the user has limited everything to, if any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from agentco_tui.actions.batch import BatchApproval, BatchPhase
from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.outcome import GOOD, OutcomeKind, Step
from agentco_tui.actions.outcome_words import sentence_with_platform_words
from agentco_tui.model import Task
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.detail_pane import warning
from agentco_tui.screens.dialogs.approve_dialog import count_in_words, task_labels
from agentco_tui.screens.dialogs.base import Dialog, key_hint_cells, title_of
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.widgets.text_pane import BlankLine, CellLine, Heading, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Tone, share_bar

BAR_WIDTH: Final = 24
"""Columns of the progress bar."""
REDRAW_INTERVAL: Final = 0.25
"""Seconds between two drawings."""


class BatchProgress(Dialog[bool]):
    """The progress of one approval of a set.

    Its result is True if the user wants to be asked again about the tasks that were not approved.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "stop", "Take back", show=False),
        Binding("f", "again", "Failures again", show=False),
    ]

    # The height is fixed, so that the box does not change with each drawing.
    DEFAULT_CSS = "BatchProgress .dialog--body { height: 12; }"

    def __init__(self, dashboard: DashboardContext, batch: BatchApproval) -> None:
        tasks = [item.task for item in batch.items]
        workspace = dashboard.workspace
        super().__init__(title_of(workspace.settings, "APPROVING", count_in_words(tasks)))
        self.approval = batch
        titles = task_labels(tasks)
        titled = workspace.scope.title_with_company
        self._labels = {task.id: titled(titles[task.id], task) for task in tasks}
        """The titles of the tasks by id, with the company if several are shown."""

    def on_mount(self) -> None:
        self.pane.focus()
        self._redraw_timer = self.set_interval(REDRAW_INTERVAL, self._redraw, name="progress")
        self.pane.after_resize = self._show_keys
        self.watch(self.pane, "scroll_y", self._show_keys, init=False)
        self._redraw()

    def _redraw(self) -> None:
        if self.approval.phase in (BatchPhase.ENDED, BatchPhase.TAKEN_BACK):
            self._redraw_timer.stop()
        self.pane.show(self._items())
        self._show_keys()

    def _show_keys(self) -> None:
        right: list[Cell] = []
        lines_below = self.pane.lines_below
        if lines_below:
            right.append(Cell(mark_safe(f"{lines_below} {signs.down} "), Tone.ACCENT))
        hints = {key: f" {words}   " for key, words in self._key_hints().items()}
        self.keys_line.show(key_hint_cells(hints), right)

    def _key_hints(self) -> Mapping[str, str]:
        batch = self.approval
        if batch.phase is BatchPhase.HELD:
            return {"u, esc": "take it back"}
        if batch.phase is BatchPhase.RUNNING:
            words = "stop what is not yet sent" if batch.can_stop else "close, it is read on"
            return {"esc": words}
        hints = {"esc": "close"}
        if batch.phase is BatchPhase.ENDED and batch.to_ask_again:
            hints["f"] = f"ask again: {len(batch.to_ask_again)}"
        return hints

    def _items(self) -> Iterable[PaneItem]:
        batch = self.approval
        if batch.phase is BatchPhase.TAKEN_BACK:
            yield Paragraph(mark_safe(f"{signs.good} taken back: nothing was sent"), Tone.GOOD)
            return
        if batch.phase is BatchPhase.HELD:
            words = f"it begins in {ceil(batch.hold.seconds_left())} s"
            yield warning(f"{signs.warning} nothing is sent yet: {words}")
            return
        yield from self._progress_items()
        unsettled = [
            item for item in batch.items if item.outcome is None and item.step is not Step.WAITING
        ]
        # UNKNOWN: no clear answer came, and the platform is read until it shows what happened.
        unknown = [item.task for item in unsettled if item.step is Step.UNKNOWN]
        yield from self._group(signs.unknown, "unknown", [("", task) for task in unknown])
        yield from self._failure_items(batch.items)
        on_their_way = [item.task for item in unsettled if item.step is not Step.UNKNOWN]
        yield from self._group(signs.arrow, "on their way", [("", task) for task in on_their_way])

    def _progress_items(self) -> Iterable[PaneItem]:
        """Yield the progress bar, the outcomes in numbers, and why nothing is being sent."""
        batch = self.approval
        settled = batch.results.total()  # `results` counts the outcomes by their kind
        total = len(batch.items)
        share = Decimal(settled) / total
        words = f" {fmt.count(settled)} of {fmt.count(total)}  {fmt.percent(share)}"
        yield CellLine((Cell(share_bar(share, BAR_WIDTH)), Cell(mark_safe(words))))
        yield Paragraph(batch.sentence, Tone.STRONG)
        if batch.stop_reason is not None:
            yield warning(f"{signs.warning} {batch.stop_reason}")
        pause = batch.pause_left()
        if pause > 0:
            words = f"the platform asked for a pause (429): it goes on in {ceil(pause)} s"
            yield warning(f"{signs.warning} {words}")

    def _failure_items(self, items: Sequence[Decision]) -> Iterable[PaneItem]:
        """Yield the tasks that were not approved, by kind of outcome and then by its sentence."""
        for kind in OutcomeKind:
            if kind in GOOD:
                continue
            tasks: list[tuple[str, Task]] = []
            for item in items:
                if item.outcome is not None and item.outcome.kind is kind:
                    tasks.append((sentence_with_platform_words(item.outcome), item.task))
            tasks.sort(key=itemgetter(0))
            # That someone else decided first is not an error.
            sign = signs.arrow if kind is OutcomeKind.DECIDED_ELSEWHERE else signs.warning
            yield from self._group(sign, kind, tasks)

    def _group(
        self, sign: SafeText | str, state: str, tasks: Sequence[tuple[str, Task]]
    ) -> Iterable[PaneItem]:
        """Yield tasks under a heading. Each comes with a sentence, which may be empty; neighbours
        with the same sentence show it once, below the last of them.
        """
        if tasks:
            yield BlankLine()
            yield Heading(mark_safe(f"{sign} {len(tasks)} {state}"))
        for sentence, group in groupby(tasks, key=itemgetter(0)):
            for _, task in group:
                yield Paragraph(self._labels[task.id])
            if sentence:
                yield Paragraph(mark_safe(sentence), Tone.DIM, 2)

    def action_stop(self) -> None:
        """Take the approval back in its undo window; later, stop what is not yet sent."""
        self.approval.stop()
        self._redraw()

    def handle_leave(self) -> bool:
        """Stop the approval if it can be stopped; else close, as reading may take long."""
        if self.approval.can_stop:
            self.action_stop()
            return True
        return super().handle_leave()

    def action_again(self) -> None:
        if self.approval.phase is BatchPhase.ENDED and self.approval.to_ask_again:
            self.dismiss(True)
