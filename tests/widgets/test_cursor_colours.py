"""The line under the cursor keeps the colour of what is wrong with it."""

from __future__ import annotations

import pytest
from rich.style import Style

from agentco_tui.widgets.table.widget import RecordTable, TableState
from tests.widgets.host import Host, Job

PRIORITIES = {"high": True, "raised": True, "medium": False, "low": False}
"""Whether the priority's cell is to be told from the rest of the line by its colour."""


def style_of(table: RecordTable[Job], word: str) -> Style:
    """The style of the piece of the cursor's line that holds the word."""
    line = 1 + table.shown_ids.index(str(table.cursor_id))
    style = next(s.style for s in table.render_line(line) if word in s.text)
    assert style is not None
    return style


@pytest.mark.parametrize("priority", PRIORITIES)
async def test_colours_under_the_cursor(priority: str) -> None:
    app = Host()
    app.first = [Job(one, f"Title {one}", "Ada", "Acme", priority=one) for one in PRIORITIES]
    async with app.run_test(size=(100, 12)) as pilot:
        assert app.table.move_cursor_to(priority)
        await pilot.pause()
        title, told = style_of(app.table, "Title"), style_of(app.table, priority)
        assert told.bgcolor == title.bgcolor
        assert (told.color != title.color) == PRIORITIES[priority]
        app.table.set_state(TableState.STALE)
        await pilot.pause()
        assert style_of(app.table, priority) == style_of(app.table, "Title"), "old is but old"
