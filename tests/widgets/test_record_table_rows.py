"""The record table in a running program: sort, filter, hold, marks, mouse, large tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentco_tui.text import plain
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone
from tests.widgets.host import LARGE, SMALL, Host, busy, cursor, job, jobs, marked

# ---- sort and filter


async def test_sorting_keeps_the_cursor_on_its_record() -> None:
    app = Host(100)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.press(*"jjj")
        at = cursor(app)
        app.table.sort_by("trust")
        assert app.table.sort == ("trust", True)
        assert "TRUST▼" in app.line(0)
        assert cursor(app) == at
        trusts = [
            row.trust for row_id in app.table.rows.shown if (row := app.table.rows.record(row_id))
        ]
        known = [trust for trust in trusts if trust is not None]
        assert known == sorted(known, reverse=True)
        assert trusts[: len(known)] == known
        app.table.reverse_sort()
        assert app.table.sort == ("trust", False)
        app.table.cycle_sort()
        assert app.table.sort == ("spent", True)
        for _ in range(2):
            app.table.cycle_sort()
        assert app.table.sort == ("age", False)
        app.table.sort_by(None)
        assert list(app.table.rows.shown) == [one.id for one in app.first]
        with pytest.raises(KeyError):
            app.table.sort_by("nobody")


async def test_a_filter_on_age_lets_rows_in_as_time_goes_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Host()
    async with app.run_test(size=SMALL):
        now = [1_000.0]
        monkeypatch.setattr("agentco_tui.widgets.table.widget.monotonic", lambda: now[0])
        app.table.load([job("a", app.clock.now - 7_190), job("b", app.clock.now - 7_300)])
        app.table.set_filter("age>2h")
        assert list(app.table.rows.shown) == ["b"]
        app.clock.now += 20
        app.table.tick()
        assert list(app.table.rows.shown) == ["b"]
        now[0] += 20
        app.table.tick()
        assert list(app.table.rows.shown) == ["b", "a"]


# ---- hold


async def test_while_held_nothing_moves_and_the_release_brings_it_up_to_date() -> None:
    app = Host()
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        table.load(job(name, at, f"task {name}") for at, name in enumerate("abcde"))
        await pilot.press("j")
        table.hold()
        table.apply(
            added=[job("n1", -1.0), job("n2", 2.5)],
            changed=[job("a", 99.0, "task A changed")],
            removed=["c"],
        )
        assert list(table.rows.shown) == list("abcde")
        assert table.rows.waiting == 2
        assert "task A changed" in app.line(1)
        assert app.line(3).strip().startswith("gone · task c")
        assert table.rows.ghost_note("c")
        table.ghost("c", Cell(plain("approved elsewhere"), Tone.GOOD))
        assert app.line(3).strip().startswith("approved elsewhere · task c")
        await pilot.press("j")
        assert cursor(app) == "c"
        table.release()
        assert list(table.rows.shown) == ["n1", "b", "n2", "d", "e", "a"]
        assert cursor(app) == "d"
        assert table.rows.waiting == 0


# ---- marks


async def test_space_marks_and_goes_on() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        ids = list(app.table.rows.shown)
        await pilot.press("space", "space", "k", "space")
        assert marked(app) == (ids[0],)
        assert cursor(app) == ids[2]
        await pilot.pause()
        assert len(app.told(RecordTable.MarksChanged)) == 3
        app.table.can_mark = False
        await pilot.press("space")
        assert marked(app) == (ids[0],), "the key is for others then"


async def test_marks_of_ranges_and_of_all_that_is_shown() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        ids = list(table.rows.shown)
        await pilot.press("space", "j", "j")
        table.action_mark_range()
        assert marked(app) == tuple(ids[:4])
        table.clear_marks()
        table.mark([ids[9]])
        table.move_cursor_to(ids[7])
        table.action_mark_range()
        assert set(marked(app)) == set(ids[7:10])
        table.set_filter("agent:linus")
        table.action_mark_all_shown()
        assert set(marked(app)) == {*ids[7:10], *table.rows.shown}


async def test_marks_belong_to_records_and_go_with_them() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        ids = list(table.rows.shown)
        table.mark([ids[2], ids[5], "nobody"])
        table.sort_by("title")
        assert marked(app) == (ids[2], ids[5])
        table.hold()
        table.apply(removed=[ids[2]])
        assert marked(app) == (ids[5],)
        table.mark([ids[2]])
        assert marked(app) == (ids[5],)
        table.load([(one.id, one) for one in app.first if one.id != ids[5]])
        assert marked(app) == ()
        await pilot.pause()


# ---- mouse and opening


async def test_a_click_moves_the_cursor_and_another_opens_and_on_a_title_sorts() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        ids = list(app.table.rows.shown)
        await pilot.click(app.table, offset=(20, 4))
        assert cursor(app) == ids[3]
        assert app.told(RecordTable.Opened) == []
        await pilot.click(app.table, offset=(20, 4))
        await pilot.press("enter")
        opened = [one.row_id for one in app.said if isinstance(one, RecordTable.Opened)]
        assert opened == [ids[3], ids[3]]
        x = app.line(0).index("TASK")
        for descending in (False, True):
            await pilot.click(app.table, offset=(x, 0))
            assert app.table.sort == ("title", descending)


async def test_a_click_on_the_scroll_bar_goes_there() -> None:
    app = Host(300)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(app.table, offset=(79, 23))
        last = app.table.rows.record(app.table.rows.shown[-1])
        assert last is not None
        assert last.title[:10] in app.line(23)


# ---- large tables


async def test_large_work_goes_on_in_slices_and_another_change_finishes_it() -> None:
    app = Host()
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        many = list(jobs(40_000))
        table.load((one.id, one) for one in many)
        assert busy(app)
        assert len(table.rows.shown) == 0
        await table.idle.wait()
        assert not busy(app)
        assert len(table.rows.shown) == 40_000
        await pilot.pause()
        assert len(app.told(RecordTable.WorkDone)) == 1
        table.sort_by("title")
        assert busy(app)
        changed = replace(many[7], title="  first of all")
        table.apply(changed=[(changed.id, changed)])
        assert not busy(app)
        assert table.rows.shown[0] == changed.id
        assert table.set_filter("refund 39999") is None
        assert table.set_filter("first of all") is None
        await table.idle.wait()
        assert list(table.rows.shown) == [changed.id]
        await pilot.press("j")
