"""The same rows in other tables: `x` changes one cell, `s` sorts, `j` and `k` move.

python -m tests.benchmarks.peers.tables datatable|fast ROWS
"""

import sys
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from tests.widgets.host import Job, age_text, jobs

TITLES = ("WAITING", "PRIORITY", "TASK", "AGENT", "COMPANY", "TRUST", "SPENT %", "ID")


def cells(job: Job) -> tuple[str, ...]:
    """The same eight columns that the record table's host shows."""
    return (
        age_text(100_000.0 - job.since),
        job.priority,
        job.title,
        job.agent,
        job.company,
        "–" if job.trust is None else str(job.trust),
        "–" if job.spent is None else f"{job.spent * 100:.0f}",
        job.id,
    )


class Tables(App[None]):
    """Nothing but the table."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "change", show=False),
        Binding("s", "sort", show=False),
        Binding("j", "move(1)", show=False, priority=True),
        Binding("k", "move(-1)", show=False, priority=True),
        Binding("q", "quit", show=False),
    ]

    def __init__(self, kind: str, count: int) -> None:
        super().__init__()
        self.kind = kind
        self.count = count
        self.turns = 0
        self.table: Any = None

    def compose(self) -> ComposeResult:
        rows = [cells(job) for job in jobs(self.count)]
        if self.kind == "fast":
            from textual_fastdatatable import ArrowBackend
            from textual_fastdatatable import DataTable as FastTable

            columns = {title: [row[at] for row in rows] for at, title in enumerate(TITLES)}
            self.table = FastTable(backend=ArrowBackend.from_pydict(columns), cursor_type="row")
        else:
            self.table = DataTable(cursor_type="row")
            self.table.add_columns(*((title, title) for title in TITLES))
            self.table.add_rows(rows)
        yield self.table

    def action_move(self, step: int) -> None:
        if step > 0:
            self.table.action_cursor_down()
        else:
            self.table.action_cursor_up()

    def action_sort(self) -> None:
        self.table.sort("TASK") if self.kind != "fast" else self.table.sort([("TASK", "ascending")])

    def action_change(self) -> None:
        self.turns += 1
        at = self.table.cursor_coordinate
        self.table.update_cell_at(type(at)(at.row, 5), str(self.turns % 90 + 10))


if __name__ == "__main__":
    Tables(sys.argv[1], int(sys.argv[2])).run()
