"""Whatever happens to the rows, the cursor stays with its record, or goes to the nearest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.widgets.table.widget import RecordTable
from tests.widgets.host import Clock, Job, columns

IDS = [f"j{number}" for number in range(10)]
JOB = st.builds(
    Job,
    id=st.just(""),
    title=st.sampled_from(["refund", "publish", "renew"]),
    agent=st.sampled_from(["Ada", "Linus"]),
    company=st.just("Globex"),
    since=st.integers(0, 3).map(float),
    trust=st.one_of(st.none(), st.integers(0, 3)),
)
ROWS = st.dictionaries(st.sampled_from(IDS), JOB, max_size=6)
CHANGES = st.one_of(
    st.tuples(st.just("load"), ROWS),
    st.tuples(st.just("apply"), ROWS, st.lists(st.sampled_from(IDS), max_size=4)),
    st.tuples(st.just("apply"), ROWS, st.lists(st.sampled_from(IDS), max_size=4)),
    st.tuples(st.just("sort"), st.sampled_from(["age", "title", "trust", None])),
    st.tuples(st.just("turn")),
    st.tuples(st.just("filter"), st.sampled_from(["", "refund", "agent:ada", "trust>1"])),
    st.tuples(st.just("hold")),
    st.tuples(st.just("release")),
    st.tuples(st.just("move"), st.integers(-3, 3)),
    st.tuples(st.just("mark")),
)


def do(table: RecordTable[Job], change: tuple[Any, ...]) -> None:
    match change:
        case ("load", rows):
            table.load((row_id, replace(job, id=row_id)) for row_id, job in rows.items())
        case ("apply", rows, gone):
            table.apply(
                ((row_id, replace(job, id=row_id)) for row_id, job in rows.items()), (), gone
            )
        case ("sort", key):
            table.sort_by(key)
        case ("turn",):
            table.reverse_sort()
        case ("filter", typed):
            assert table.set_filter(typed) is None
        case ("hold",):
            table.freeze()
        case ("release",):
            table.release()
        case ("move", rows):
            table.action_move(rows)
        case ("mark",):
            table.action_toggle_mark()


def nearest(before: list[str], cursor: str, shown: list[str]) -> str | None:
    """The row that should have the cursor if `cursor` isn't shown any more."""
    at = before.index(cursor)
    for row_id in (*before[at + 1 :], *reversed(before[:at])):
        if row_id in shown:
            return row_id
    return shown[0] if shown else None


@settings(max_examples=200)
@given(st.lists(JOB, min_size=5, max_size=len(IDS)), st.integers(0, 9), st.lists(CHANGES))
def test_the_cursor_stays_with_its_record(
    first: list[Job], place: int, changes: list[tuple[Any, ...]]
) -> None:
    table: RecordTable[Job] = RecordTable(columns(Clock()), sort=("age", False))
    do(table, ("load", dict(zip(IDS, first, strict=False))))
    do(table, ("move", place))
    for change in changes:
        before, cursor = list(table.model.shown), table.viewport.cursor
        do(table, change)
        shown = list(table.model.shown)
        assert (table.viewport.cursor is None) is (not shown)
        if change[0] in {"move", "mark"} or not shown:
            continue
        if cursor is None:
            assert table.viewport.cursor == shown[0]
        elif cursor in shown:
            assert table.viewport.cursor == cursor
        else:
            assert table.viewport.cursor == nearest(before, cursor, shown)
        for row_id in table.marked:
            assert table.model.record(row_id) is not None
            assert not table.model.tombstone(row_id)


def half_loaded_table() -> RecordTable[Job]:
    """Return a table that shows j2, j1 and j0 with the cursor on j1, while j5 to j3 are loaded."""
    jobs = {
        f"j{number}": Job(f"j{number}", "refund", "Ada", "Globex", since=float(number))
        for number in range(6)
    }
    table: RecordTable[Job] = RecordTable(columns(Clock()), sort=("age", True))
    table.load(list(jobs.items())[:3])
    table.move_cursor_to("j1")
    # The work that is left when the first slices were taken; it has not begun to change the rows.
    # private: a load that is half done cannot be had by public means without a race.
    table._work = table._run_and_repaint(table.model.load(jobs.items()), asked=False)
    table.idle.clear()
    return table


def test_a_move_while_rows_are_loaded_is_one_on_what_is_shown() -> None:
    """A held key would otherwise have a large table sorted in one go, at every repeat."""
    table = half_loaded_table()
    table.action_move(-1)
    assert table.model.shown == ["j2", "j1", "j0"]
    assert table.viewport.cursor == "j2"
    table.finish_work()
    assert table.model.shown == ["j5", "j4", "j3", "j2", "j1", "j0"]
    assert table.viewport.cursor == "j2"


def test_a_jump_to_the_end_goes_to_the_end_of_the_rows_that_are_loaded() -> None:
    table = half_loaded_table()
    table.action_last()
    assert table.model.shown == ["j5", "j4", "j3", "j2", "j1", "j0"]
    assert table.viewport.cursor == "j0"


def test_a_move_while_the_user_waits_for_a_sort_is_one_in_the_new_order() -> None:
    table = half_loaded_table()
    # private: as above, for a sort that the user asked for.
    table._is_work_asked = True
    table.action_move(-1)
    assert table.model.shown == ["j5", "j4", "j3", "j2", "j1", "j0"]
    assert table.viewport.cursor == "j2"
