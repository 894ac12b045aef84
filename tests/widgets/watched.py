"""The host program, with everything it would write to a terminal kept."""

from __future__ import annotations

from rich.console import Console
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.pilot import Pilot

from tests.widgets.host import Host, Job

SMALL, LARGE = (80, 24), (120, 40)


def job(row_id: str, since: float = 0.0, title: str = "x") -> tuple[str, Job]:
    """A row of the table."""
    return row_id, Job(row_id, title, "Ada", "Globex", since=since)


class Watched(Host):
    """Keeps each update that the compositor hands to the terminal."""

    def __init__(self, count: int = 0, sort: tuple[str, bool] | None = ("age", False)) -> None:
        super().__init__(count, sort=sort)
        self.updates: list[CompositorUpdate] = []

    def _display(self, screen: object, renderable: object) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.updates.append(renderable)
        super()._display(screen, renderable)  # type: ignore[arg-type]

    async def painted(self, pilot: Pilot[None]) -> list[tuple[int, int, int]]:
        """The spans (line, left, right) painted since the last call, when all is painted."""
        await pilot.pause()
        spans = []
        for update in self.updates:
            assert isinstance(update, ChopsUpdate), "the whole screen was painted"
            spans += update.spans
        self.updates.clear()
        return spans

    async def written(self, pilot: Pilot[None]) -> int:
        """The bytes written since the last call, in 24-bit colour."""
        await pilot.pause()
        console = Console(
            color_system="truecolor", force_terminal=True, width=self.size.width, height=2
        )
        count = sum(len(update.render_segments(console).encode()) for update in self.updates)
        self.updates.clear()
        return count

    async def quiet(self, pilot: Pilot[None]) -> None:
        """Forgets what was painted so far."""
        await pilot.pause()
        self.updates.clear()

    def line(self, y: int) -> str:
        """The text of a line of the table; 0 is the header."""
        return self.table.render_line(y).text

    def lines(self) -> list[str]:
        """The text of all lines below the header, without the scroll bar and blanks at the end."""
        return [self.line(y)[:-1].rstrip() for y in range(1, self.table.size.height)]

    def told(self, kind: type[object]) -> list[object]:
        """What the table said of this kind."""
        return [message for message in self.said if type(message) is kind]


# Functions, so that the type check doesn't take what they give for unchanging.


def cursor(app: Watched) -> str | None:
    return app.table.view.cursor


def marked(app: Watched) -> tuple[str, ...]:
    return app.table.marked


def busy(app: Watched) -> bool:
    return not app.table.idle.is_set()
