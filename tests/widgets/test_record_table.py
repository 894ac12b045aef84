"""The record table in a running program."""

from __future__ import annotations

from tests.widgets.host import Host


async def test_rows_are_shown_sorted_with_the_cursor_on_the_first() -> None:
    app = Host(30, sort=("age", False))
    async with app.run_test(size=(80, 24)):
        oldest = min(app.first, key=lambda job: (job.since, job.id))
        assert app.table.cursor_id == oldest.id
        assert app.table.render_line(1).text.startswith("▌")
        assert oldest.title in app.table.render_line(1).text
