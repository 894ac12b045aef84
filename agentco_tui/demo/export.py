"""The activity log as CSV (SHAPES E, CSV export)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from agentco_tui.demo.model import DOLLAR, Entry
from agentco_tui.demo.styles import moment

COLUMNS = ("id", "timestamp", "level", "action", "company", "agent", "task", "message", "cost")
_RISKY = ("=", "+", "-", "@", "\t", "\r")


def guarded(cell: str) -> str:
    """The cell with an apostrophe before anything a spreadsheet would run as a formula."""
    return f"'{cell}" if cell.startswith(_RISKY) else cell


def as_csv(entries: Iterable[Entry]) -> bytes:
    """A header row, then a row for each entry."""
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(COLUMNS)
    for entry in entries:
        row = (
            entry.id,
            moment(entry.at, "z"),
            entry.level,
            entry.action,
            entry.company.name if entry.company else "",
            entry.agent.name if entry.agent else "",
            entry.task.title if entry.task else "",
            entry.message,
            f"{entry.cost / DOLLAR:.4f}",
        )
        writer.writerow([guarded(str(cell)) for cell in row])
    return sheet.getvalue().encode()
