"""What an agent did for a task, step by step, over the whole screen."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agentco_tui.api.errors import ApiError
from agentco_tui.model import Task, Trace, TraceStep, extra_fields
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import CellContext
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.decision_notes import READ_AFTER, decision_items, may_approve, settled_as
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.dialogs.base import Searched, WholeScreen, key_cells
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.text import Align, SafeText, cell_width, clip, escaped, fit, plain, signs
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Laid, Text, broken
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width
from agentco_tui.widgets.workers import start_worker


def step_items(
    trace: Trace,
    context: CellContext,
    *,
    width: int,
    raw: bool = False,
    opened: Container[int] | None = None,
) -> list[Item]:
    """The steps as lines of a pane of so many columns, each with its text beneath, or the text's
    beginning beside it if its number isn't among the `opened`.
    """
    indents = ["  " * min(step.depth, 8) for step in trace.steps]
    heads = [
        (
            Cell(plain(f"{at:>3} {indents[at - 1]}"), Tone.DIM),
            Cell(signs.critical, Tone.CRITICAL) if step.failed else Cell(plain(" ")),
            Pressable(step.kind or plain("step"), Tone.ACCENT, str(at)),
            Cell(plain(f"  {step.name}" if step.name else ""), Tone.STRONG),
        )
        for at, step in enumerate(trace.steps, start=1)
    ]
    widest = min(max(map(total_width, heads), default=0), width * 2 // 3)
    took = took_columns(trace.steps, context, width - widest - GAP)
    items: list[Item] = []
    for at, step in enumerate(trace.steps, start=1):
        text = (escaped(step.text) if raw else step.text) if step.text else plain("")
        tone = Tone.CRITICAL if step.failed else Tone.PLAIN
        is_open = opened is None or at in opened
        begins = plain("") if is_open else plain("  " + clip(text, LONGEST).split("\n")[0])
        right = (Cell(took[at - 1], Tone.DIM),)
        items.append(Cells((*heads[at - 1], Cell(begins, Tone.DIM)), right))
        if text and is_open:
            items.append(Text(text, tone, len(indents[at - 1]) + 5))
    if trace.unread:
        words = plain(f"{signs.warning} {fmt.count(trace.unread)} steps could not be read")
        items.append(Text(words, Tone.WARNING))
    if not trace.steps:
        items.append(Text(plain("the platform has no steps for this task"), Tone.DIM))
    return items


def matches(trace: Trace, words: Sequence[str]) -> list[int]:
    """Return the numbers of the steps in which all these words occur."""
    texts = (f"{step.kind} {step.name} {step.text}".casefold() for step in trace.steps)
    return [at for at, text in enumerate(texts, start=1) if all(word in text for word in words)]


GAP: Final = 2
LONGEST: Final = 400  # columns of what a folded step says
MOST_STATUS: Final = 16
STATUS: Final = 3
LESS_WANTED: Final = (STATUS, 2, 1, 0)  # where it is narrow: a status that matters has a sign


def took_columns(steps: Sequence[TraceStep], context: CellContext, room: int) -> list[SafeText]:
    """What each step took, one beneath the other in `room` columns; what no step has takes none."""
    table = [
        (
            fmt.duration(step.duration) if step.duration is not None else plain(""),
            plain(f"{fmt.count(step.tokens)} tokens") if step.tokens is not None else plain(""),
            fmt.money(step.cost) if step.cost is not None else plain(""),
            clip(step.status, MOST_STATUS) if step.status else plain(""),
            context.age(step.at.at) if step.at is not None else plain(""),
        )
        for step in steps
    ]
    widths = [max(map(cell_width, words)) for words in zip(*table, strict=True)]
    kept = [at for at, width in enumerate(widths) if width]
    for least in LESS_WANTED:
        if sum(widths[at] + GAP for at in kept) - GAP <= room:
            break
        kept = [at for at in kept if at != least]
    sides: dict[int, Align] = {STATUS: "left"}
    return [
        plain("  ".join(fit(row[at], widths[at], sides.get(at, "right")) for at in kept))
        for row in table
    ]


def summary_items(trace: Trace, context: CellContext, most: int) -> list[Item]:
    if not trace.steps:
        return [Text(plain("trace: the platform has no steps for this task"), Tone.DIM)]
    last = trace.steps[-1]
    when = f", the last {fmt.ago(context.clock.now() - last.at.at)}" if last.at else ""
    head = plain(f"trace  {fmt.count(len(trace.steps))} steps{when}")
    key = Cell(plain("t to read all"), Tone.DIM)
    items: list[Item] = [Cells((Cell(head, Tone.DIM),), (key,))]
    first = max(0, len(trace.steps) - most)
    for at, step in enumerate(trace.steps[first:], start=first + 1):
        said = (step.name, step.text and step.text.split("\n", 1)[0])
        text = "  ".join(filter(None, said))
        number = plain(f"{at:>3} ")
        kind = plain(f"{step.kind or 'step'}  ")
        words = Cell(plain(text), Tone.CRITICAL if step.failed else Tone.PLAIN)
        items.append(Cells((Cell(number, Tone.DIM), Cell(kind, Tone.ACCENT), words)))
    return items


class TraceScreen(WholeScreen[bool], Searched[bool]):
    """Reads the trace and shows it; `a` goes on to the question whether to approve."""

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
            [Cell(plain(" TRACE "), Tone.STRONG), Cell(task.title)],
            [Cell(workspace.names.agent(task.agent), Tone.ACCENT), Cell(plain(" "))],
        )
        self.dashboard = dashboard
        self.workspace = workspace
        self.cell_context = dashboard.cell_context
        self.subject = task
        self.trace: Trace | ApiError | None = None
        """The trace, or why it could not be read; None while it is being read."""
        self.links = DetailPane(classes="dialog--body")
        self.pane = self.links
        self._opened: set[int] = set()
        """The numbers of the steps that are unfolded."""
        self._found: list[int] = []
        """The numbers of the steps in which the words of the search occur."""
        self._going_to = 0
        """The number of the step that is being gone to, until it is drawn; 0 for none."""
        self._raw = False
        """Whether hidden characters are shown."""
        approve = {" a": " approve "} if may_approve(dashboard, task) else {}
        keys = {" esc": " back ", **approve, " /": " search ", " enter": " fold ", " z": " all "}
        self.keys = {**keys, " o": " pager ", " r": " read again ", " x": " raw "}

    def on_mount(self) -> None:
        self.set_timer(READ_AFTER, self._count_as_read, name="read")
        self.action_read()

    def _count_as_read(self) -> None:
        if self.app.screen is self and not self.hidden:
            self.dashboard.read_digests[self.subject.id] = self.subject.content

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_items)

    def action_read(self) -> None:
        self.trace = None
        self.show_items()
        start_worker(self, self._read, "read the trace", exclusive=True)

    async def _read(self) -> None:
        trace = self.trace = await self.workspace.traces.read(self.subject)
        if isinstance(trace, Trace):
            # A trace that is longer than the screen is folded, except for the steps that failed.
            size = sum(2 + step.text.count("\n") if step.text else 1 for step in trace.steps)
            fits = size <= self.app.size.height
            steps = enumerate(trace.steps, start=1)
            self._opened = {number for number, step in steps if fits or step.failed}
        self.show_items()

    def show_items(self, to: int = 0) -> None:
        """Draw everything again, and go to the step with this number, if it is not 0."""
        work = partial(self._draw, to)
        start_worker(self, work, "draw the trace", exclusive=True, group="draw")

    async def _draw(self, to: int) -> None:
        """Make the lines in a thread: those of ten thousand steps take half a second."""
        width = self.pane.scrollable_content_region.width
        laid = await asyncio.to_thread(lambda: broken(self._items(width, self._opened), width))
        self.pane.show([Laid(laid)])
        if to:
            self.links.go_to(str(to))
            if self._going_to == to:
                self._going_to = 0

    def _items(self, width: int, opened: Container[int] | None) -> Iterable[Item]:
        trace = self.trace
        if isinstance(trace, ApiError):
            yield Text(plain(f"{signs.critical} the trace could not be read"), Tone.CRITICAL)
            yield Text(plain(str(trace)), Tone.CRITICAL)
        elif trace is None:
            yield Text(plain("reading the trace"), Tone.DIM)
        else:
            yield from step_items(
                trace, self.cell_context, width=width, raw=self._raw, opened=opened
            )
            if trace.extra and extra_fields(trace.extra):
                yield from (Gap(), Heading(plain("Other fields of the answer")))
                yield Text(escaped(trace.extra.decode("utf-8", "replace")), Tone.DIM)
        yield Gap()
        yield Heading(plain("Task"))
        task = self.subject
        decision = self.dashboard.decisions.by_task.get(task.id)
        if decision is not None:
            yield from decision_items(self.dashboard, decision)
            if decision.outcome is not None and isinstance(decision.outcome.record, Task):
                task = decision.outcome.record
        resolution = settled_as(self.dashboard, task.id)
        yield from details(task, self.cell_context, raw=self._raw, resolution=resolution)

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        """Fold or unfold a step; the links in the task's fields lead nowhere here."""
        if message.key.isdigit():
            self._opened ^= {int(message.key)}
            self.show_items()

    def action_fold(self) -> None:
        """Fold all steps if any is unfolded, else unfold all."""
        if isinstance(self.trace, Trace):
            self._opened = set() if self._opened else {*range(1, len(self.trace.steps) + 1)}
            self.show_items()

    async def _searched(self, _: Input) -> None:
        await super()._searched(_)
        words = self.words.value.casefold().split()
        if isinstance(self.trace, Trace) and words:
            self._found = await asyncio.to_thread(matches, self.trace, words)
            self.action_next(0)

    def action_next(self, by: int) -> None:
        """Unfold the next step with the words, with -1 the one before, with 0 the first."""
        here = int(self.links.here) if self.links.here.isdigit() else 0
        # A key may come while the step of the last one is still being drawn.
        at = self._going_to or here
        found = sorted(self._found, key=lambda one: ((one - at) * by <= 0, one * by))
        place = f"{self._found.index(found[0]) + 1} of " if found else ""
        more = plain(f"{place}{fmt.count(len(found))} found, n N ")
        self.keys_line.show(key_cells(self.keys), [Cell(more, Tone.ACCENT)])
        self._opened.update(found[:1])
        self._going_to = found[0] if found else 0
        self.show_items(self._going_to)

    def action_pager(self) -> None:
        """Show the whole trace in the pager, unfolded."""
        from agentco_tui.screens.copying import page  # noqa: PLC0415 - when it is first wanted

        width = self.size.width
        page(self.key_app, self.workspace, broken(self._items(width, None), width))

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen("tasks", self.workspace.settings, {}))

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show_items()
