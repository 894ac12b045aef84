"""Cost follows change: what a record table paints, counted in cells and bytes, never in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from msgspec.structs import force_setattr

from agentco_tui.text import mark_safe
from agentco_tui.textual_patches import compositor
from agentco_tui.textual_patches.registry import PARTIAL_PAINT
from agentco_tui.widgets.tones import Cell
from tests.widgets.host import Host, Job

WIDE = (120, 40)
TRUST = (92, 98)
"""Left and right edge of the TRUST column at 120 columns."""


@pytest.fixture(autouse=True)
def partial() -> Iterator[None]:
    """With the partial repaints; without them the same cells are asked for, at another price."""
    assert compositor.install_partial_paint()
    yield
    PARTIAL_PAINT.uninstall()


def changed(app: Host, place: int, trust: int | None) -> tuple[str, Job]:
    job = app.table.model.record(app.table.model.shown[place])
    assert job is not None
    return job.id, replace(job, trust=trust)


async def test_a_change_with_nothing_new_paints_nothing() -> None:
    app = Host(1_000)
    async with app.run_test(size=WIDE) as pilot:
        await app.quiet(pilot)
        app.table.apply()
        app.table.apply(changed=[(job.id, job) for job in app.first])
        app.table.apply(changed=[(job.id, replace(job)) for job in app.first])
        app.table.apply(removed=["nobody"])
        app.table.load((job.id, replace(job)) for job in app.first)
        app.table.update_clock_cells()
        app.table.set_state(app.table.empty_text)
        app.table.set_filter("")
        app.table.freeze()
        app.table.release()
        assert await app.painted(pilot) == []


async def test_what_differs_is_repainted_and_nothing_else() -> None:
    app = Host(1_000)
    async with app.run_test(size=WIDE) as pilot:
        app.table.apply(changed=[changed(app, place, 111) for place in range(20)])
        await app.quiet(pilot)
        left, right = TRUST
        for count, trust in ((1, 222), (5, 333), (20, 444)):
            app.table.apply(changed=[changed(app, place, trust) for place in range(count)])
            # Just the three figures: the blanks before them are as they were.
            expected = [(place + 1, right - 3, right) for place in range(count)]
            assert await app.painted(pilot) == expected
        app.table.apply(changed=[changed(app, 0, 454), changed(app, 1, 445), changed(app, 2, 44)])
        assert await app.painted(pilot) == [
            (1, right - 2, right - 1),
            (2, right - 1, right),
            (3, right - 3, right - 2),
        ]
        # Whether other characters are a cell each depends on their neighbours.
        for other in (None, 77):
            app.table.apply(changed=[changed(app, 0, other)])
            assert await app.painted(pilot) == [(1, left, right)]
        # What cannot be seen.
        app.table.apply(changed=[changed(app, place, 999) for place in range(100, 500)])
        app.table.apply(
            added=[("new", replace(app.first[0], id="new", since=1e9))],
            removed=[app.table.model.shown[700]],
        )
        assert await app.painted(pilot) == []
        # A mark is its sign, a cursor's move two rows, on a slow line two signs.
        app.table.mark([app.table.model.shown[7]])
        assert await app.painted(pilot) == [(8, 0, 3)]
        await pilot.press("j")
        await app.quiet(pilot)
        await pilot.press("j")
        assert await app.painted(pilot) == [(2, 0, 119), (3, 0, 119)]
        app.table.viewport.thin = True
        await pilot.press("j")
        await app.quiet(pilot)
        await pilot.press("j")
        assert await app.painted(pilot) == [(4, 0, 3), (5, 0, 3)]
        # A row that moves: only the rows between.
        tenth, fifth = (app.table.model.record(app.table.model.shown[at]) for at in (10, 5))
        assert tenth is not None
        assert fifth is not None
        app.table.apply(changed=[(tenth.id, replace(tenth, since=fifth.since - 0.5))])
        assert {y for y, _, _ in await app.painted(pilot)} <= set(range(6, 12))
        assert app.table.model.shown[5] == tenth.id
        # A ghost is its row, once.
        app.table.freeze()
        gone = app.table.model.shown[1]
        app.table.apply(removed=[gone])
        assert await app.painted(pilot) == [(2, 0, 119)]
        for painted in ({2}, set()):
            app.table.set_tombstone(gone, Cell(mark_safe("approved elsewhere")))
            assert {y for y, _, _ in await app.painted(pilot)} == painted


async def test_a_tick_repaints_only_the_ages_that_read_differently() -> None:
    app = Host()
    async with app.run_test(size=WIDE) as pilot:
        rows = [
            replace(app_job, since=100_000.0 - age)
            for app_job, age in zip(
                (Job(f"j{at}", "x", "a", "c") for at in range(4)),
                (5, 59, 3_590, 7_000),
                strict=True,
            )
        ]
        app.table.load((job.id, job) for job in rows)
        await app.quiet(pilot)
        app.clock.now += 1
        app.table.update_clock_cells()
        ages = {
            app.table.model.record(app.table.model.shown[y - 1]): y
            for y, _, _ in await app.painted(pilot)
        }
        assert set(ages) == {rows[0], rows[1]}
        app.table.update_clock_cells()
        assert await app.painted(pilot) == []


async def test_bytes_in_full_colour() -> None:
    """What the figures promise; Textual adds 22 bytes a frame (synchronised output, cursor)."""
    app = Host(1_000)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("j")
        await app.quiet(pilot)
        app.table.apply(changed=[changed(app, 4, 999)])
        assert await app.written(pilot) <= 80 - 22
        app.table.apply(changed=[changed(app, place, 998) for place in range(3, 23)])
        assert await app.written(pilot) <= 20 * 25 + 50
        app.table.mark([app.table.model.shown[8]])
        assert await app.written(pilot) <= 90 - 22
        moves = []
        for key in "jjjjkkkjjj":
            await pilot.press(key)
            moves.append(await app.written(pilot) + 22)
        assert sum(moves) / len(moves) <= 430
        app.table.viewport.thin = True
        await pilot.press("k")
        await app.quiet(pilot)
        await pilot.press("j")
        assert await app.written(pilot) + 22 <= 130


async def test_cells_of_rows_never_shown_are_never_made() -> None:
    app = Host()
    made: list[str] = []
    async with app.run_test(size=WIDE) as pilot:
        title = next(column for column in app.table.model.columns if column.key == "title")
        real = title.cell

        def counted(job: Job) -> Cell:
            made.append(job.id)
            return real(job)

        force_setattr(title, "cell", counted)
        app.table.load((f"j{at:05d}", Job(f"j{at:05d}", "x", "a", "c")) for at in range(5_000))
        await pilot.pause()
        assert len(made) == 39
        await pilot.press("j")
        app.table.apply(changed=[("j04000", Job("j04000", "y", "a", "c"))])
        app.table.sort_by("title")
        assert len(made) <= 39 * 2
