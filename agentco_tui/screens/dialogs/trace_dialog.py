"""The trace of a task: the steps that an AI agent took for it, as a page or in a few lines.

`TraceScreen` reads the trace and shows it, with the task's fields below; that of a task that runs
is read again and again, so that its log can be watched. A long trace is folded: enter unfolds the
step under the cursor, and a failed step is unfolded from the beginning. `/`
searches the steps. The questions about an approval show the last steps with `summary_items`.
The steps come from the platform, the remote service; a decision is an approval started here, and a
resolution what became of a task that no longer waits.

A `DetailPane` has a cursor on the lines that have a key; the key of a step is its number, which
counts from 1. `CellContext` gives cells what they need besides their record, such as the time. The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agentco_tui.api.errors import ApiError
from agentco_tui.model import Task, TaskState, Trace, TraceStep, extra_fields
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import CellContext
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.decision_notes import READ_AFTER, decision_items, may_approve, settled_as
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.dialogs.base import FullScreenDialog, SearchableDialog, key_hint_cells
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.text import Align, SafeText, cell_width, clip, escaped, fit, mark_safe, signs
from agentco_tui.widgets.text_pane import (
    BlankLine,
    CellLine,
    Heading,
    PaneItem,
    Paragraph,
    WrappedLines,
    break_into_lines,
)
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width
from agentco_tui.widgets.workers import start_worker

GAP: Final = 2
"""Columns between two figures of a step."""
TEXT_INDENT: Final = 5
"""Columns by which the text of a step is indented, besides the indent of the step."""
DEEPEST_INDENT: Final = 8
"""Levels of nested steps that are indented; deeper ones are indented as these."""
LONGEST_BEGINNING: Final = 400
"""Columns of the text of a folded step."""
STATUS_WIDTH: Final = 16
"""Columns of the status of a step."""
NO_TRACE: Final = "the platform has no steps for this task"


# ---- the steps as text


def step_items(
    trace: Trace,
    context: CellContext,
    *,
    width: int,
    raw: bool = False,
    unfolded: Container[int] | None = None,
) -> list[PaneItem]:
    """Return the steps for a pane of `width` columns.

    The text of a step is below it, or its beginning beside it if its number is not in `unfolded`;
    None unfolds all steps. `raw` shows hidden characters.
    """
    heads = [_step_head(number, step) for number, step in enumerate(trace.steps, start=1)]
    head_width = max(map(total_width, heads), default=0)
    head_width = min(head_width, width * 2 // 3)
    figures = step_figures(trace.steps, context, width - head_width - GAP)
    items: list[PaneItem] = []
    for number, step in enumerate(trace.steps, start=1):
        text = step.text or mark_safe("")
        if raw:
            text = escaped(text)
        is_unfolded = unfolded is None or number in unfolded
        beginning = mark_safe("")
        if not is_unfolded:
            beginning = mark_safe("  " + clip(text, LONGEST_BEGINNING).split("\n")[0])
        left = (*heads[number - 1], Cell(beginning, Tone.DIM))
        items.append(CellLine(left, (Cell(figures[number - 1], Tone.DIM),)))
        if text and is_unfolded:
            tone = Tone.CRITICAL if step.failed else Tone.PLAIN
            items.append(Paragraph(text, tone, len(_indent(step)) + TEXT_INDENT))
    if trace.unread:
        words = mark_safe(f"{signs.warning} {fmt.count(trace.unread)} steps could not be read")
        items.append(Paragraph(words, Tone.WARNING))
    if not trace.steps:
        items.append(Paragraph(mark_safe(NO_TRACE), Tone.DIM))
    return items


def _indent(step: TraceStep) -> str:
    return "  " * min(step.depth, DEEPEST_INDENT)


def _step_head(number: int, step: TraceStep) -> tuple[Cell, ...]:
    """Return a step's number, the sign of a failure, its kind and its name."""
    failure = Cell(signs.critical, Tone.CRITICAL) if step.failed else Cell(mark_safe(" "))
    name = f"  {step.name}" if step.name else ""
    return (
        Cell(mark_safe(f"{number:>3} {_indent(step)}"), Tone.DIM),
        failure,
        Pressable(step.kind or mark_safe("step"), Tone.ACCENT, str(number)),
        Cell(mark_safe(name), Tone.STRONG),
    )


DURATION, TOKENS, COST, STATUS, AGE = range(5)
"""The columns of figures, by their places in `step_figures`."""
DROPPED_FIRST: Final = (STATUS, COST, TOKENS, DURATION)
"""The figures that are left out if there is too little room, in this order. The status is first,
because a failure has a sign besides."""


def step_figures(steps: Sequence[TraceStep], context: CellContext, room: int) -> list[SafeText]:
    """Return what each step took, aligned in at most `room` columns, and how long ago it was.

    A figure that no step has takes no room. The age is shown in any case.
    """
    table = [_figures_of(step, context) for step in steps]
    widths = [max(map(cell_width, column)) for column in zip(*table, strict=True)]
    shown = [index for index, width in enumerate(widths) if width]
    for dropped in DROPPED_FIRST:
        total = sum(widths[index] + GAP for index in shown) - GAP
        if total <= room:
            break
        shown = [index for index in shown if index != dropped]
    lines: list[SafeText] = []
    for row in table:
        figures: list[str] = []
        for index in shown:
            side: Align = "left" if index == STATUS else "right"
            figures.append(fit(row[index], widths[index], side))
        lines.append(mark_safe((" " * GAP).join(figures)))
    return lines


def _figures_of(step: TraceStep, context: CellContext) -> tuple[SafeText, ...]:
    """Return the figures in the order of `DURATION` … `AGE`; "" is one that was not sent."""
    none = mark_safe("")
    return (
        none if step.duration is None else fmt.duration(step.duration),
        none if step.tokens is None else mark_safe(f"{fmt.count(step.tokens)} tokens"),
        none if step.cost is None else fmt.money(step.cost),
        clip(step.status, STATUS_WIDTH) if step.status else none,
        none if step.at is None else context.age(step.at.at),
    )


def matching_steps(trace: Trace, words: Sequence[str]) -> list[int]:
    """Return the numbers of the steps that contain all of these case-folded words."""
    numbers: list[int] = []
    for number, step in enumerate(trace.steps, start=1):
        text = f"{step.kind} {step.name} {step.text}".casefold()
        if all(word in text for word in words):
            numbers.append(number)
    return numbers


def summary_items(trace: Trace, context: CellContext, most: int) -> list[PaneItem]:
    """Return how many steps there are and a line for each of the last `most` ones."""
    if not trace.steps:
        return [Paragraph(mark_safe(f"trace: {NO_TRACE}"), Tone.DIM)]
    last = trace.steps[-1]
    when = f", the last {fmt.ago(context.clock.now() - last.at.at)}" if last.at else ""
    heading = Cell(mark_safe(f"trace  {fmt.count(len(trace.steps))} steps{when}"), Tone.DIM)
    hint = Cell(mark_safe("t to read all"), Tone.DIM)
    items: list[PaneItem] = [CellLine((heading,), (hint,))]
    first = max(0, len(trace.steps) - most)
    for number, step in enumerate(trace.steps[first:], start=first + 1):
        first_line = step.text.split("\n", 1)[0] if step.text else ""
        text = "  ".join(part for part in (step.name, first_line) if part)
        tone = Tone.CRITICAL if step.failed else Tone.PLAIN
        cells = (
            Cell(mark_safe(f"{number:>3} "), Tone.DIM),
            Cell(mark_safe(f"{step.kind or 'step'}  "), Tone.ACCENT),
            Cell(mark_safe(text), tone),
        )
        items.append(CellLine(cells))
    return items


# ---- the page


class TraceScreen(FullScreenDialog[bool], SearchableDialog[bool]):
    """The trace of one task. Its result is True if the user goes on to approve the task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,t", "leave", "Back", show=False),
        Binding("a", "dismiss(True)", "Approve", show=False, id="tasks.approve"),
        Binding("r", "read", "Refresh", show=False, id="app.refresh"),
        Binding("x", "raw", "Raw", show=False, id="list.raw"),
        Binding("o", "pager", "Pager", show=False, id="list.pager"),
        Binding("n", "next(1)", "Next", show=False),
        Binding("N", "next(-1)", "Before", show=False),
        Binding("z", "fold", "Fold all", show=False),
        Binding("question_mark", "help", "Help", show=False, id="app.help"),
    ]

    def __init__(self, dashboard: DashboardContext, task: Task) -> None:
        workspace = dashboard.workspace
        super().__init__(
            [Cell(mark_safe(" TRACE "), Tone.STRONG), Cell(task.keyed_title)],
            [Cell(workspace.names.agent(task.agent), Tone.ACCENT), Cell(mark_safe(" "))],
        )
        self.dashboard = dashboard
        self.workspace = workspace
        self.cell_context = dashboard.cell_context
        self.subject = task
        self.trace: Trace | ApiError | None = None
        """The trace, or why it could not be read; None while it is being read."""
        self.links = DetailPane(classes="dialog--body")
        self.pane = self.links
        self._unfolded: set[int] = set()
        """The numbers of the unfolded steps."""
        self._matching: list[int] = []
        """The numbers of the steps that the search matches."""
        self._target = 0
        """The number of the step to which the cursor goes with the next drawing; 0 for none."""
        self._raw = False
        """Whether hidden characters are shown."""
        hints = {" esc": " back "}
        if may_approve(dashboard, task):
            hints[" a"] = " approve "
        self.key_hints = {
            **hints,
            " /": " search ",
            " enter": " fold ",
            " z": " all ",
            " o": " pager ",
            " r": " read again ",
            " x": " raw ",
        }

    def on_mount(self) -> None:
        self.set_timer(READ_AFTER, self._mark_as_read, name="read")
        self.action_read()
        if self.subject.state is TaskState.RUNNING:
            self.set_interval(self.workspace.settings.refresh, self._follow_soon, name="follow")

    def _follow_soon(self) -> None:
        if self.app.screen is self and isinstance(self.trace, Trace):
            start_worker(self, self._follow, "follow the trace", exclusive=True, group="follow")

    async def _follow(self) -> None:
        """Show the steps that the agent has taken since; the cursor stays on the last one."""
        before = self.trace
        trace = await self.workspace.traces.read(self.subject)
        if not isinstance(before, Trace) or not isinstance(trace, Trace):
            return  # an error is shown when the user asks again: what was read stays readable
        if self.trace is not before or trace.steps == before.steps:
            return
        is_at_end = self._number_at_cursor() in (0, len(before.steps))
        self.trace = trace
        self._unfolded |= {
            number for number, step in enumerate(trace.steps, start=1) if step.failed
        }
        self.show_items(len(trace.steps) if is_at_end else 0)

    def _mark_as_read(self) -> None:
        """Remember what the user has read of the task, unless the page was covered or left."""
        if self.app.screen is self and not self.hidden:
            # `content` is a digest of the task's fields: it differs if the task has changed.
            self.dashboard.read_digests[self.subject.id] = self.subject.content

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_items)

    def action_read(self) -> None:
        """Read the trace, for the first time or again."""
        self.trace = None
        self.show_items()
        start_worker(self, self._read, "read the trace", exclusive=True)

    async def _read(self) -> None:
        self.trace = await self.workspace.traces.read(self.subject)
        if isinstance(self.trace, Trace):
            steps = self.trace.steps
            lines = sum(2 + step.text.count("\n") if step.text else 1 for step in steps)
            fits = lines <= self.app.size.height
            self._unfolded = {
                number for number, step in enumerate(steps, start=1) if fits or step.failed
            }
        self.show_items()

    # ---- drawing

    def show_items(self, target: int = 0) -> None:
        """Draw everything, and move the cursor to the step with this number, if it is not 0."""
        work = partial(self._draw, target)
        start_worker(self, work, "draw the trace", exclusive=True, group="draw")

    async def _draw(self, target: int) -> None:
        """Break the lines in a thread, as those of ten thousand steps take half a second."""
        width = self.pane.scrollable_content_region.width
        lines = await asyncio.to_thread(
            lambda: break_into_lines(self._items(width, self._unfolded), width)
        )
        self.pane.show([WrappedLines(lines)])
        if target:
            self.links.move_to_link(str(target))
            if self._target == target:
                self._target = 0

    def _items(self, width: int, unfolded: Container[int] | None) -> Iterable[PaneItem]:
        """Yield the steps and the task, for lines of `width` columns."""
        trace = self.trace
        if isinstance(trace, ApiError):
            yield Paragraph(
                mark_safe(f"{signs.critical} the trace could not be read"), Tone.CRITICAL
            )
            yield Paragraph(mark_safe(str(trace)), Tone.CRITICAL)
        elif trace is None:
            yield Paragraph(mark_safe("reading the trace"), Tone.DIM)
        else:
            yield from step_items(
                trace, self.cell_context, width=width, raw=self._raw, unfolded=unfolded
            )
            if trace.extra and extra_fields(trace.extra):
                yield BlankLine()
                yield Heading(mark_safe("Other fields of the answer"))
                yield Paragraph(escaped(trace.extra.decode("utf-8", "replace")), Tone.DIM)
        yield BlankLine()
        yield Heading(mark_safe("Task"))
        yield from self._task_items()

    def _task_items(self) -> Iterable[PaneItem]:
        """Yield the decision about the task, if there is one, and the task's fields."""
        task = self.subject
        decision = self.dashboard.decisions.by_task.get(task.id)
        if decision is not None:
            yield from decision_items(self.dashboard, decision)
            if decision.outcome is not None and isinstance(decision.outcome.record, Task):
                task = decision.outcome.record
        resolution = settled_as(self.dashboard, task.id)
        yield from details(task, self.cell_context, raw=self._raw, resolution=resolution)

    # ---- keys

    @on(DetailPane.LinkOpened)
    def _line_entered(self, message: DetailPane.LinkOpened) -> None:
        """Fold or unfold a step; the links in the task's fields lead nowhere here."""
        if message.key.isdigit():
            self._unfolded ^= {int(message.key)}
            self.show_items()

    def action_fold(self) -> None:
        """Fold all steps if any is unfolded, else unfold all."""
        if not isinstance(self.trace, Trace):
            return
        if self._unfolded:
            self._unfolded = set()
        else:
            self._unfolded = set(range(1, len(self.trace.steps) + 1))
        self.show_items()

    async def _search_entered(self, field: Input) -> None:
        await super()._search_entered(field)
        words = self.search_input.value.casefold().split()
        if isinstance(self.trace, Trace) and words:
            self._matching = await asyncio.to_thread(matching_steps, self.trace, words)
            self.action_next(0)

    def action_next(self, direction: int) -> None:
        """Go to the next matching step (1), the one before (-1) or the first one (0); unfold it.

        After the last step comes the first, and before the first the last.
        """
        # A key may come while the step of the last key is still being drawn.
        current = self._target or self._number_at_cursor()
        target = 0
        if self._matching:
            target = _next_number(self._matching, current, direction)
            self._unfolded.add(target)
        place = f"{self._matching.index(target) + 1} of " if target else ""
        words = mark_safe(f"{place}{fmt.count(len(self._matching))} found, n N ")
        self.keys_line.show(key_hint_cells(self.key_hints), [Cell(words, Tone.ACCENT)])
        self._target = target
        self.show_items(target)

    def _number_at_cursor(self) -> int:
        """Return the number of the step under the cursor; 0 if there is none."""
        key = self.links.current_link
        return int(key) if key.isdigit() else 0

    def action_pager(self) -> None:
        """Show the whole trace, unfolded, in the program of $PAGER."""
        from agentco_tui.screens.copying import page  # noqa: PLC0415 - when it is first wanted

        width = self.size.width
        page(self.key_app, self.workspace, break_into_lines(self._items(width, None), width))

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen("tasks", self.workspace.settings, {}))

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show_items()


def _next_number(numbers: Sequence[int], current: int, direction: int) -> int:
    """Return the next of some ascending numbers after `current` (1), or before it (-1).

    Begins again at the other end if there is none; 0 returns the first.
    """
    if direction > 0:
        return next((number for number in numbers if number > current), numbers[0])
    if direction < 0:
        return next((number for number in reversed(numbers) if number < current), numbers[-1])
    return numbers[0]
