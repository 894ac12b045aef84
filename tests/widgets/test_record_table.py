"""The record table in a running program: what is painted, cursor and view, rows and marks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from rich.console import Console
from textual.events import MouseScrollDown
from textual.pilot import Pilot

from agentco_tui.text import mark_safe
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone
from tests.widgets.host import LARGE, SMALL, Host, busy, cursor, job, jobs, marked

# ---- what is painted


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_header_and_rows_fill_the_widget_exactly(size: tuple[int, int]) -> None:
    app = Host(200)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        first = app.updates[0].render_segments(Console(width=size[0], height=size[1]))
        assert "WAITING↑" in first, "the very first picture has the rows"
        for y in range(size[1]):
            assert app.table.render_line(y).cell_length == size[0]
        assert "WAITING↑" in app.line(0)
        oldest = min(app.first, key=lambda one: (one.since, one.id))
        assert app.line(1).startswith("▌")
        assert oldest.title[:12] in app.line(1)
        assert oldest.title[:12] in first
        assert cursor(app) == oldest.id


async def test_what_came_while_it_was_hidden_is_in_the_next_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without being told that it is shown again: it may not be (Textualize/textual issue 5024)."""
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        monkeypatch.delattr(RecordTable, "on_show")
        app.table.display = False
        await pilot.pause()
        app.table.load([job("late", title="arrived late")])
        app.table.display = True
        await pilot.pause()
        # private: what is on the terminal; `lines` would draw the table again.
        strips = app.screen._compositor.render_strips()
        assert "arrived late" in strips[1].text
        assert app.lines()[1:] == [""] * (app.table.size.height - 2)


async def test_the_cursor_stays_to_be_seen_when_the_terminal_shrinks() -> None:
    app = Host(100)
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press(*["j"] * 30)
        here = cursor(app)
        await pilot.resize_terminal(80, 10)
        await pilot.pause()
        assert [line[0] for line in app.lines()] == [" "] * 8 + ["▌"]
        await pilot.resize_terminal(80, 40)
        await pilot.pause()
        assert "▌" in [line[0] for line in app.lines()]
        assert cursor(app) == here


async def test_a_view_moved_away_from_the_cursor_stays_when_the_terminal_shrinks() -> None:
    app = Host(100)
    async with app.run_test(size=(80, 40)) as pilot:
        for _ in range(20):
            app.table.post_message(MouseScrollDown(app.table, 5, 5, 0, 0, 0, False, False, False))
        await pilot.pause()
        before = app.lines()
        assert all(line[0] == " " for line in before)
        await pilot.resize_terminal(80, 10)
        await pilot.pause()
        # Without what is cut by what the lines beside it say.
        assert [line[:26] for line in app.lines()] == [line[:26] for line in before[:9]]


async def test_what_comes_above_while_it_is_hidden_moves_the_view_with_the_cursor() -> None:
    app = Host(0)
    async with app.run_test(size=SMALL) as pilot:
        app.table.load(job(f"j{n:03}", since=1_000.0 + n) for n in range(60))
        await pilot.press(*["j"] * 10)
        await pilot.pause()
        here, at = cursor(app), [line[0] for line in app.lines()].index("▌")
        app.table.display = False
        await pilot.pause()
        app.table.apply(added=[job(f"old{n:03}", since=float(n)) for n in range(50)])
        app.table.display = True
        await pilot.pause()
        assert cursor(app) == here
        assert [line[0] for line in app.lines()].index("▌") == at


async def test_titles_that_are_cut_to_the_same_keep_the_ends_that_tell_them_apart() -> None:
    app = Host(0)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        said = "Publish the pricing page of the spring catalogue"
        titles = [f"{said} (DE)", f"{said} (FR)", "Publish the terms of business of last year"]
        app.table.load(job(title, title=title, since=float(n)) for n, title in enumerate(titles))
        await pilot.pause()
        first, second, alone = app.lines()[:3]
        assert "Publish the prici… (DE)  " in first
        assert "Publish the prici… (FR)  " in second
        assert "Publish the terms of b…  " in alone
        await app.quiet(pilot)
        await pilot.press("j")
        assert {y for y, *_ in await app.painted(pilot)} == {1, 2}, "only what the cursor moves"
        app.table.apply(changed=[job(titles[1], title=titles[0], since=1.0)])
        await pilot.pause()
        assert all("Publish the pricing pa…" in line for line in app.lines()[:2]), "nothing to tell"


async def until(pilot: Pilot[Any], seen: Callable[[], bool]) -> None:
    """Wait until the table shows it: a new size reaches it some turns of the loop later."""
    end = time.monotonic() + 30
    while not seen():
        assert time.monotonic() < end, "waited in vain"
        await pilot.pause(0.01)


async def has_columns(pilot: Pilot[Any], *names: str) -> None:
    """Wait until the table has just these columns."""
    app = cast(Host, pilot.app)
    await until(pilot, lambda: app.line(0).split() == [*names])


async def test_columns_go_by_priority_when_it_is_narrow_and_are_cut_at_last() -> None:
    app = Host(30)
    async with app.run_test(size=LARGE) as pilot:
        assert "ID" in app.line(0)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "ID" not in app.line(0))
        assert "COMPANY" in app.line(0)
        await pilot.resize_terminal(40, 24)
        await has_columns(pilot, "WAITING↑", "PRIORITY", "TASK")
        await pilot.resize_terminal(30, 24)
        await has_columns(pilot, "WAITING↑", "TASK")
        await pilot.resize_terminal(20, 10)
        await has_columns(pilot, "WAI…↑", "TASK")
        assert app.table.render_line(1).cell_length == 20
        # Too small for anything does no harm.
        for size in ((3, 2), (1, 1), (80, 1), (4, 24), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.press("j", "pagedown", "k")
        await until(pilot, lambda: app.line(0).strip().startswith("WAITING"))


async def test_a_changed_row_is_read_again_though_its_record_is_the_same() -> None:
    """A cell may show what is derived from elsewhere, as how often an entry of a log repeats."""
    app = Host()
    async with app.run_test(size=SMALL) as pilot:
        app.table.load([job("a", since=99_950.0), job("b", since=99_960.0)])
        await until(pilot, lambda: "50 s" in app.line(1) and "40 s" in app.line(2))
        app.clock.now += 5
        app.table.apply(changed=[("b", app.table.model.records["b"])])
        await until(pilot, lambda: "45 s" in app.line(2))
        assert "50 s" in app.line(1), "only what is said to have changed is read"


async def test_wide_characters_keep_the_columns_in_line() -> None:
    app = Host()
    async with app.run_test(size=SMALL) as pilot:
        app.table.load([job("a", title="返金する顧客二百十四件まとめて承認お願いします"), job("b")])
        await pilot.pause()
        assert app.table.render_line(1).cell_length == 80
        x = app.line(0).index("AGENT")
        cells = [app.table.render_line(y).crop(x, x + 11).text.strip() for y in (1, 2)]
        assert cells == ["Ada", "Ada"]


async def test_states_have_texts_and_stale_rows_stay() -> None:
    app = Host()
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        assert app.line(1).strip() == "loading…"
        table.set_state(mark_safe("the platform doesn't answer"), stale=True)
        assert app.line(1).strip() == "the platform doesn't answer"
        assert cursor(app) is None
        table.set_state(mark_safe("nothing here"))
        table.load([])
        assert app.line(1).strip() == "nothing here"
        table.apply([job("a", title="Refund")])
        assert "Refund" in app.line(1)
        table.set_state(mark_safe("nothing here"), stale=True)
        await pilot.pause()
        assert "Refund" in app.line(1)
        table.apply([job("b", 5.0, title="Publish")])
        stale = table.render_line(2)
        table.set_state(mark_safe("nothing here"))
        assert list(table.render_line(2)) != list(stale)
        assert table.render_line(2).text == stale.text
        table.set_filter("nobody")
        assert app.line(1).strip() == "no row matches nobody, esc clears the filter"
        assert (len(table.model.shown), len(table.model.records)) == (0, 2)
        assert cursor(app) is None
        table.set_filter("")
        assert cursor(app) is not None


async def test_themes_and_no_colour_keep_cursor_and_marks_visible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Host(20)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("space")
        for theme in app.available_themes:
            app.theme = theme
            await pilot.pause()
            assert app.line(2).startswith("▌")
            assert app.line(1)[1] == "■"


# ---- cursor and view


async def test_keys_move_the_cursor() -> None:
    app = Host(100)
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        ids = table.model.shown
        for keys, place in (
            ("j j down", 3),
            ("k up", 1),
            ("G", 99),
            ("g", 0),
            ("k", 0),
            ("end j", 99),
            ("home", 0),
            ("pagedown", 22),
            ("pagedown", 44),
            ("pageup", 22),
        ):
            await pilot.press(*keys.split())
            assert cursor(app) == ids[place], keys
            assert any(line.startswith("▌") for line in app.lines())
        last = app.told(RecordTable.CursorMoved)[-1]
        assert isinstance(last, RecordTable.CursorMoved)
        assert (last.row_id, last.table) == (ids[22], table)


async def test_cursor_and_screen_line_stay_with_the_record_when_rows_come_above() -> None:
    app = Host(100)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press(*"jjjjj")
        at = cursor(app)
        before = app.lines()
        app.table.apply(job(f"new{number}", -1.0) for number in range(7))
        assert cursor(app) == at
        assert [line for line in app.lines() if line] == before
        app.table.apply(removed=[f"new{number}" for number in range(7)])
        assert cursor(app) == at
        assert app.lines() == before


async def test_until_somebody_moves_the_top_of_the_list_is_what_is_seen() -> None:
    app = Host(100)
    async with app.run_test(size=SMALL):
        at = cursor(app)
        app.table.apply([job("new", -1.0, title="Most urgent")])
        assert cursor(app) == at
        assert "Most urgent" in app.line(1)
        assert app.line(2).startswith("▌")
        app.table.apply(job(f"n{number:02d}", -2.0) for number in range(50))
        assert cursor(app) == at
        assert any(line.startswith("▌") for line in app.lines())


async def test_a_view_scrolled_away_by_the_wheel_stays_where_it_is() -> None:
    app = Host(200)
    async with app.run_test(size=SMALL) as pilot:
        at = cursor(app)
        for _ in range(10):
            # private: a Pilot has no public way to turn the wheel.
            await pilot._post_mouse_events([MouseScrollDown], app.table, offset=(5, 5))
        before = app.lines()
        assert not any(line.startswith("▌") for line in before)
        app.table.apply(job(f"new{number}", -1.0) for number in range(3))
        assert app.lines() == before
        assert cursor(app) == at
        await pilot.press("j")
        assert any(line.startswith("▌") for line in app.lines())


async def test_thin_moves_the_view_in_larger_steps() -> None:
    app = Host(100)
    async with app.run_test(size=SMALL) as pilot:
        app.table.viewport.thin = True
        await pilot.press(*("j" * 23))
        assert app.lines()[11].startswith("▌")
        wanted = app.table.model.shown[80]
        assert app.table.move_cursor_to(wanted)
        assert not app.table.move_cursor_to("nobody")
        assert cursor(app) == wanted


# ---- rows


# ---- sort and filter


async def test_sorting_keeps_the_cursor_on_its_record() -> None:
    app = Host(100)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.press(*"jjj")
        at = cursor(app)
        app.table.sort_by("trust")
        assert app.table.sort == ("trust", True)
        assert "TRUST↓" in app.line(0)
        assert cursor(app) == at
        trusts = [
            row.trust for row_id in app.table.model.shown if (row := app.table.model.record(row_id))
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
        assert list(app.table.model.shown) == [one.id for one in app.first]
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
        assert list(app.table.model.shown) == ["b"]
        app.clock.now += 20
        app.table.update_clock_cells()
        assert list(app.table.model.shown) == ["b"]
        now[0] += 20
        app.table.update_clock_cells()
        assert list(app.table.model.shown) == ["b", "a"]


# ---- hold


async def test_while_held_nothing_moves_and_the_release_brings_it_up_to_date() -> None:
    app = Host()
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        table.load(job(name, at, f"task {name}") for at, name in enumerate("abcde"))
        await pilot.press("j")
        table.freeze()
        table.apply(
            added=[job("n1", -1.0), job("n2", 2.5)],
            changed=[job("a", 99.0, "task A changed")],
            removed=["c"],
        )
        assert list(table.model.shown) == list("abcde")
        assert table.model.waiting_count == 2
        assert "task A changed" in app.line(1)
        assert app.line(3).strip().startswith("gone · task c")
        assert table.model.tombstone("c")
        table.set_tombstone("c", Cell(mark_safe("approved elsewhere"), Tone.GOOD))
        assert app.line(3).strip().startswith("approved elsewhere · task c")
        table.set_tombstone("c", Cell(mark_safe("so long " * 20), Tone.GOOD))
        assert "so long" in app.line(3)
        assert "· task c" in app.line(3), "a long note leaves room for what it is about"
        await pilot.press("j")
        assert cursor(app) == "c"
        table.release()
        assert list(table.model.shown) == ["n1", "b", "n2", "d", "e", "a"]
        assert cursor(app) == "d"
        assert table.model.waiting_count == 0


# ---- marks


async def test_space_marks_and_goes_on() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        ids = list(app.table.model.shown)
        await pilot.press("space", "space", "k", "space")
        assert marked(app) == (ids[0],)
        assert cursor(app) == ids[2]


async def test_marks_of_ranges_and_of_all_that_is_shown() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        ids = list(table.model.shown)
        await pilot.press("space", "j", "j")
        table.action_mark_range()
        assert marked(app) == tuple(ids[:4])
        table.mark(marked(app), False)
        table.mark([ids[9]])
        table.move_cursor_to(ids[7])
        table.action_mark_range()
        assert set(marked(app)) == set(ids[7:10])
        table.set_filter("agent:linus")
        table.action_mark_all_shown()
        assert set(marked(app)) == {*ids[7:10], *table.model.shown}


async def test_marks_belong_to_records_and_go_with_them() -> None:
    app = Host(30)
    async with app.run_test(size=SMALL) as pilot:
        table = app.table
        ids = list(table.model.shown)
        table.mark([ids[2], ids[5], "nobody"])
        table.sort_by("title")
        assert marked(app) == (ids[2], ids[5])
        table.freeze()
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
        ids = list(app.table.model.shown)
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
        last = app.table.model.record(app.table.model.shown[-1])
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
        assert len(table.model.shown) == 0
        await table.idle.wait()
        assert not busy(app)
        assert len(table.model.shown) == 40_000
        await pilot.pause()
        assert len(app.told(RecordTable.WorkDone)) == 1
        table.sort_by("title")
        assert busy(app)
        changed = replace(many[7], title="  first of all")
        table.apply(changed=[(changed.id, changed)])
        assert not busy(app)
        assert table.model.shown[0] == changed.id
        assert table.set_filter("refund 39999") is None
        assert table.set_filter("first of all") is None
        await table.idle.wait()
        assert list(table.model.shown) == [changed.id]
        await pilot.press("j")
