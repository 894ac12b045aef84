"""How columns share the width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.text import mark_safe
from agentco_tui.widgets.table.layout import GAP, Column, arrange
from agentco_tui.widgets.tones import Cell


def column(
    key: str,
    width: int,
    min_width: int = 4,
    grow: int = 0,
    priority: int = 0,
    shown_by_default: bool = True,
) -> Column[str]:
    return Column(
        key,
        mark_safe(key),
        width,
        lambda text: Cell(mark_safe(text)),
        min_width=min_width,
        grow=grow,
        priority=priority,
        shown_by_default=shown_by_default,
    )


def test_room_left_over_goes_to_the_columns_that_grow_by_their_shares() -> None:
    layout = arrange([column("a", 5), column("b", 5, grow=1), column("c", 5, grow=2)], 32)
    assert [(placed.x, placed.width) for placed in layout] == [(0, 5), (7, 10), (19, 13)]


def test_without_a_column_that_grows_the_room_stays_empty() -> None:
    layout = arrange([column("a", 5), column("b", 5)], 40)
    assert [placed.width for placed in layout] == [5, 5]


def test_the_highest_priority_number_goes_first_and_the_rightmost_of_equals() -> None:
    columns = [
        column("a", 10),
        column("b", 10, priority=2),
        column("c", 10, priority=1),
        column("d", 10, priority=2),
    ]
    seen = [[placed.index for placed in arrange(columns, room)] for room in (46, 45, 33, 21)]
    assert seen == [[0, 1, 2, 3], [0, 1, 2], [0, 2], [0]]


def test_what_is_unknown_goes_before_all_others_but_only_where_room_is_short() -> None:
    columns = [column("a", 10), column("b", 10, priority=2), column("c", 10, grow=1)]
    seen = [[placed.index for placed in arrange(columns, room, {0})] for room in (34, 33, 15)]
    assert seen == [[0, 1, 2], [1, 2], [2]]


def test_a_needed_column_stays_and_all_shrink_before_another_has_to_go() -> None:
    columns = [
        column("a", 10),
        column("b", 10, min_width=8, priority=3),
        column("c", 10, min_width=8, priority=1),
    ]
    seen = [[p.index for p in arrange(columns, room, needed={1})] for room in (34, 24, 23, 14)]
    assert seen == [[0, 1, 2], [0, 1, 2], [0, 1], [0, 1]]
    assert [placed.width for placed in arrange(columns, 24, needed={1})] == [4, 8, 8]


def test_columns_of_priority_0_shrink_the_widest_slack_first_and_are_then_cut() -> None:
    columns = [column("a", 10, min_width=8), column("b", 20, min_width=5)]
    assert [placed.width for placed in arrange(columns, 22)] == [10, 10]
    assert [placed.width for placed in arrange(columns, 15)] == [8, 5]
    narrow = arrange(columns, 9)
    assert [placed.width for placed in narrow] == [8]
    assert [placed.width for placed in arrange(columns, 12)] == [8, 2]


def test_a_column_that_grows_shrinks_before_another_is_hidden() -> None:
    columns = [
        column("name", 14, min_width=10, grow=2),
        column("role", 12, min_width=8, grow=1, priority=3),
        column("company", 15, min_width=8, priority=2),
        column("status", 17, min_width=10),
    ]

    def laid(room: int) -> dict[str, int]:
        return {columns[one.index].key: one.width for one in arrange(columns, room)}

    assert laid(64) == {"name": 14, "role": 12, "company": 15, "status": 17}
    assert laid(56) == {"name": 10, "role": 8, "company": 15, "status": 17}
    assert laid(55) == {"name": 19, "company": 15, "status": 17}
    assert laid(46) == {"name": 10, "company": 15, "status": 17}
    assert laid(45) == {"name": 26, "status": 17}
    assert laid(28) == {"name": 10, "status": 16}


def test_columns_that_are_not_shown_take_no_room() -> None:
    layout = arrange([column("a", 5), column("b", 50, shown_by_default=False)], 20)
    assert [placed.index for placed in layout] == [0]


made_up = st.lists(
    st.builds(
        column,
        key=st.just("k"),
        width=st.integers(1, 40),
        min_width=st.integers(1, 40),
        grow=st.integers(0, 3),
        priority=st.integers(0, 4),
        shown_by_default=st.booleans(),
    ),
    max_size=8,
)


@given(columns=made_up, room=st.integers(0, 200))
def test_every_layout_is_in_order_and_fits_if_it_can(columns: list[Column[str]], room: int) -> None:
    layout = arrange(columns, room)
    placed = layout
    assert [one.index for one in placed] == sorted(one.index for one in placed)
    x = 0
    for one in placed:
        assert one.x == x
        x += one.width + GAP
    assert not placed or x - GAP <= room
    always = {
        at for at, column in enumerate(columns) if column.shown_by_default and column.priority == 0
    }
    least = sum(min(columns[at].width, max(1, columns[at].min_width)) for at in always)
    if placed and least + GAP * max(0, len(always) - 1) <= room:
        assert always <= {one.index for one in placed}
        for one in placed:
            assert one.width >= min(columns[one.index].width, max(1, columns[one.index].min_width))
        if any(columns[one.index].grow for one in placed):
            assert x - GAP == room


def test_columns_that_were_chosen_stand_in_their_order_and_those_put_in_go_last() -> None:
    columns = [
        column("a", 10),
        column("b", 10, priority=1),
        column("c", 10, shown_by_default=False),
        column("d", 10, priority=1),
    ]
    seen = [
        [placed.index for placed in arrange(columns, room, chosen=(3, 2, 1))]
        for room in (34, 33, 21)
    ]
    assert seen == [[3, 2, 1], [3, 2], [2]]
