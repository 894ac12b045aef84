"""A small program with nothing but a record table, to test it and to measure it.

Run as `python -m tests.widgets.host [ROWS]`; `x` changes a cell, `q` quits.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar

from rich.console import Console
from textual import on

# private: Textual has no public name for what is written to the terminal.
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot

from agentco_tui.text import mark_safe, signs
from agentco_tui.text.row_filter import ColumnKind
from agentco_tui.textual_patches import compositor
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.themes import DEFAULT_THEME, THEMES
from agentco_tui.widgets.tones import Cell, Tone


@dataclass(frozen=True)
class Job:
    """A made-up record with a bit of everything."""

    id: str
    title: str
    agent: str
    company: str
    priority: str = "medium"
    since: float = 0.0
    trust: int | None = 50
    spent: float | None = None


SMALL, LARGE = (80, 24), (120, 40)


def job(row_id: str, since: float = 0.0, title: str = "x") -> tuple[str, Job]:
    return row_id, Job(row_id, title, "Ada", "Globex", since=since)


class Clock:
    def __init__(self) -> None:
        self.now = 100_000.0

    def age(self, job: Job) -> float:
        return self.now - job.since


def age_text(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


_PRIORITY = {
    "high": (0, Tone.CRITICAL, "✖"),
    "raised": (1, Tone.WARNING, "▲"),
    "medium": (2, Tone.PLAIN, " "),
    "low": (3, Tone.DIM, " "),
}


def priority_cell(job: Job) -> Cell:
    _, tone, sign = _PRIORITY[job.priority]
    return Cell(mark_safe(f"{sign} {job.priority}"), tone)


def title_cell(job: Job) -> Cell:
    return Cell(mark_safe(job.title), Tone.STRONG if job.priority == "high" else Tone.PLAIN)


def priority_rank(job: Job) -> int:
    return _PRIORITY[job.priority][0]


def title_key(job: Job) -> str:
    return job.title.casefold()


def number_cell(value: float | None, text: str) -> Cell:
    return Cell(signs.missing, Tone.DIM) if value is None else Cell(mark_safe(text))


def trust_cell(job: Job) -> Cell:
    return number_cell(job.trust, str(job.trust))


def spent_cell(job: Job) -> Cell:
    return number_cell(job.spent, f"{(job.spent or 0) * 100:.0f}")


def texts(job: Job, key: str) -> Cell:
    """A field as it is; the tone of an id is dim."""
    return Cell(mark_safe(getattr(job, key)), Tone.DIM if key == "id" else Tone.PLAIN)


def columns(clock: Clock) -> list[Column[Job]]:
    def column(key: str, title: str, width: int, cell: Any = None, **more: Any) -> Column[Job]:
        """By default the field's own text, sorted by without regard to case."""
        value = attrgetter(key)
        more = {"sort_key": value if cell else lambda job: value(job).casefold(), **more}
        return Column(key, mark_safe(title), width, cell or (lambda job: texts(job, key)), **more)

    figure: dict[str, Any] = {"align": "right", "descending_first": True}
    number: dict[str, Any] = {"kind": ColumnKind.NUMBER, "filter_value": attrgetter("trust")}
    share: dict[str, Any] = {"kind": ColumnKind.SHARE, "filter_value": attrgetter("spent")}
    age: dict[str, Any] = {
        "kind": ColumnKind.SECONDS,
        "filter_value": clock.age,
        "uses_clock": True,
    }
    age |= {"sort_key": attrgetter("since"), "align": "right", "aliases": ("waiting",)}
    return [
        column("age", "WAITING", 7, lambda job: Cell(mark_safe(age_text(clock.age(job)))), **age),
        column("priority", "PRIORITY", 8, priority_cell, priority=2, sort_key=priority_rank),
        column("title", "TASK", 24, title_cell, min_width=12, grow=1, sort_key=title_key),
        column("agent", "AGENT", 12, min_width=6, priority=3),
        column("company", "COMPANY", 16, min_width=8, priority=4),
        column("trust", "TRUST", 6, trust_cell, priority=5, **figure, **number),
        column("spent", "SPENT %", 7, spent_cell, priority=6, **figure, **share),
        column("id", "ID", 10, priority=7),
    ]


_VERBS = ("Refund", "Publish", "Renew", "Send", "Draft", "Check", "Translate", "Migrate")
_THINGS = ("214 customers", "the pricing page", "the domain", "invoices", "the FAQ", "backups")
_AGENTS = ("Linus", "Grace", "Maya", "Ada", "Edsger")
_COMPANIES = ("Globex", "Acme Robotics", "Initech Content")


def jobs(count: int, seed: int = 7) -> Iterator[Job]:
    """Records that are the same for the same seed."""
    chance = random.Random(seed)
    for number in range(count):
        yield Job(
            id=f"tsk_{number:06d}",
            title=f"{chance.choice(_VERBS)} {chance.choice(_THINGS)} {number}",
            agent=chance.choice(_AGENTS),
            company=chance.choice(_COMPANIES),
            priority=chance.choice(("high", "raised", "medium", "medium", "low", "low")),
            since=100_000.0 - chance.randrange(10, 90_000),
            trust=chance.choice((None, *range(0, 100, 7))),
            spent=chance.choice((None, 0.2, 0.55, 0.81, 1.18)),
        )


def spans(updates: Iterable[CompositorUpdate]) -> list[tuple[int, int, int]]:
    """Line, left and right edge of each stretch that is painted."""
    found = []
    for update in updates:
        assert isinstance(update, ChopsUpdate), "the whole screen was painted"
        found += update.spans
    return found


def size(updates: Iterable[CompositorUpdate], width: int) -> int:
    """The bytes that are written, in 24-bit colour."""
    console = Console(color_system="truecolor", force_terminal=True, width=width, height=2)
    return sum(len(update.render_segments(console).encode()) for update in updates)


class JobTable(RecordTable[Job]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("g,home", "first", show=False),
        Binding("G,end", "last", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("space", "toggle_mark", show=False),
        Binding("enter", "open", show=False),
    ]


class Host(App[None]):
    """Nothing but the table; each update that the compositor hands to the terminal is kept."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "change", show=False),
        Binding("q", "quit", show=False),
    ]

    def __init__(self, count: int = 0, sort: tuple[str, bool] | None = ("age", False)) -> None:
        super().__init__()
        self.clock = Clock()
        self.table = JobTable(
            columns(self.clock),
            search_text=lambda job: f"{job.title}\n{job.agent}\n{job.company}\n{job.priority}",
            sort=sort,
        )
        self.first = list(jobs(count))
        self.said: list[object] = []
        self.updates: list[CompositorUpdate] = []

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        if self.first:
            self.table.load((job.id, job) for job in self.first)

    @on(RecordTable.CursorMoved)
    @on(RecordTable.Opened)
    @on(RecordTable.WorkDone)
    def _keep(self, message: RecordTable.TableMessage) -> None:
        self.said.append(message)

    def action_change(self) -> None:
        cursor = self.table.viewport.cursor
        job = self.table.model.record(cursor) if cursor is not None else None
        if job is not None:
            self.table.apply(changed=[(job.id, replace(job, trust=(job.trust or 0) + 1))])

    def _display(self, screen: object, renderable: object) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.updates.append(renderable)
        # private: what is written to the terminal passes only here.
        super()._display(screen, renderable)  # type: ignore[arg-type]

    async def painted(self, pilot: Pilot[None]) -> list[tuple[int, int, int]]:
        """The spans painted since the last call, when all is painted."""
        await pilot.pause()
        found = spans(self.updates)
        self.updates.clear()
        return found

    async def written(self, pilot: Pilot[None]) -> int:
        """The bytes written since the last call, in 24-bit colour."""
        await pilot.pause()
        count = size(self.updates, self.size.width)
        self.updates.clear()
        return count

    async def quiet(self, pilot: Pilot[None]) -> None:
        await pilot.pause()
        self.updates.clear()

    def line(self, y: int) -> str:
        """The text of a line of the table; 0 is the header."""
        return self.table.render_line(y).text

    def lines(self) -> list[str]:
        """The text of all lines below the header, without the scroll bar and blanks at the end."""
        return [self.line(y)[:-1].rstrip() for y in range(1, self.table.size.height)]

    def told(self, kind: type[object]) -> list[object]:
        return [message for message in self.said if type(message) is kind]


# Functions, so that the type check doesn't take what they give for unchanging.


def cursor(app: Host) -> str | None:
    return app.table.viewport.cursor


def marked(app: Host) -> tuple[str, ...]:
    return app.table.marked


def busy(app: Host) -> bool:
    return not app.table.idle.is_set()


if __name__ == "__main__":
    compositor.install_partial_paint()
    host = Host(int(sys.argv[1]) if sys.argv[1:] else 200)
    for theme in THEMES:
        host.register_theme(theme)
    host.theme = DEFAULT_THEME  # the bytes that are counted depend on its colours
    host.run()
