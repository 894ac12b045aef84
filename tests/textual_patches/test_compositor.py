"""Partial repaints give the same picture as Textual's own, for fewer bytes, and ask only who can be
seen, for the lines that are repainted; and a widget is told that it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyte
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

# private: the patch under test replaces methods of these classes.
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from agentco_tui.textual_patches import compositor as patched
from agentco_tui.textual_patches.registry import PARTIAL_PAINT, SHOWN_EVENTS

WIDTH, HEIGHT = 24, 4


@pytest.fixture(autouse=True)
def left_as_it_was() -> Iterator[None]:
    told_before = bool(SHOWN_EVENTS.replaced)
    patched.SHOWN.forget()
    yield
    PARTIAL_PAINT.uninstall()
    if told_before:
        patched.install_shown_events()
    else:
        SHOWN_EVENTS.uninstall()


def console(colors: Any = "truecolor") -> Console:
    return Console(color_system=colors, force_terminal=True, width=WIDTH, height=HEIGHT)


def cells(written: str, columns: int = WIDTH, rows: int = HEIGHT) -> list[list[Any]]:
    """What a terminal shows after that, cell by cell."""
    screen = pyte.Screen(columns, rows)
    pyte.Stream(screen).feed(written)
    return [[screen.buffer[y][x] for x in range(columns)] for y in range(rows)]


def shown(*written: str) -> list[list[Any]]:
    """The same, without a blank's own colour, which can't be seen."""
    return [
        [
            cell._replace(fg="any", bold=False, italics=False)
            if cell.data == " " and not (cell.reverse or cell.underscore or cell.strikethrough)
            else cell
            for cell in line
        ]
        for line in cells("".join(written))
    ]


STYLES = st.one_of(
    st.none(),
    st.builds(
        Style,
        color=st.sampled_from([None, "#ff0000", "#00ff7f", "red"]),
        bgcolor=st.sampled_from([None, "#121212", "#1b1b1b"]),
        bold=st.sampled_from([None, True, False]),
        italic=st.sampled_from([None, True]),
        underline=st.sampled_from([None, True]),
        reverse=st.sampled_from([None, True]),
    ),
)


@st.composite
def strips(draw: st.DrawFn, width: int = WIDTH) -> Strip:
    """A strip of exactly this width, wide characters among it."""
    segments = []
    left = width
    while left:
        text = draw(st.sampled_from(["a", " ", "   ", "xyz", "返", "█", "word word"]))
        size = Segment(text).cell_length
        if size > left:
            text, size = " " * left, left
        segments.append(Segment(text, draw(STYLES)))
        left -= size
    return Strip(segments, width)


@st.composite
def chops(draw: st.DrawFn) -> ChopsUpdate:
    """A partial update over lines cut in one or two places."""
    lines, ends = [], []
    for _ in range(HEIGHT):
        cut = draw(st.sampled_from([WIDTH, 10]))
        edges = sorted({0, cut, WIDTH})
        lines.append({x: draw(strips(end - x)) for x, end in pairwise(edges)})
        ends.append(edges[1:])
    spans = []
    for y in sorted(draw(st.sets(st.integers(0, HEIGHT - 1), min_size=1))):
        edges = sorted(draw(st.sets(st.integers(0, WIDTH), min_size=2, max_size=4)))
        spans += [(y, x1, x2) for x1, x2 in zip(edges[::2], edges[1::2], strict=False)]
    return ChopsUpdate(lines, spans, ends)


def layout_of(lines: list[Strip]) -> LayoutUpdate:
    return LayoutUpdate([[strip] for strip in lines], Region(0, 0, WIDTH, HEIGHT))


@st.composite
def layouts(draw: st.DrawFn, some: list[Strip]) -> LayoutUpdate:
    """A layout whose lines are some of a few, so that many follow themselves."""
    return layout_of(draw(st.lists(st.sampled_from(some), min_size=HEIGHT, max_size=HEIGHT)))


@settings(max_examples=120, deadline=None)
@given(data=st.data(), some=st.lists(strips(), min_size=2, max_size=3))
def test_a_layout_writes_only_the_cells_that_look_different(
    data: st.DataObject, some: list[Strip]
) -> None:
    """Whatever was drawn before, the terminal shows the last layout as if it were the only one."""
    patched.SHOWN.forget()
    written: list[str] = []
    for update in data.draw(st.lists(st.one_of(layouts(some), chops()), max_size=6)):
        if isinstance(update, LayoutUpdate):
            written.append(patched.render_whole_layout(update, console()))
        else:
            written.append(patched.render_partial_update(update, console()))
    last = data.draw(layouts(some))
    written.append(patched.render_whole_layout(last, console()))
    assert shown(*written) == shown(last.render_segments(console()))
    assert patched.render_whole_layout(last, console()) == "", "it is shown already"
    patched.SHOWN.forget()
    assert shown(patched.render_whole_layout(last, console())) == shown(*written)


def test_a_layout_of_another_size_is_written_as_a_whole() -> None:
    patched.SHOWN.forget()
    line = Strip([Segment("x" * WIDTH)], WIDTH)
    assert patched.render_whole_layout(layout_of([line] * HEIGHT), console())
    smaller = LayoutUpdate([[line]] * (HEIGHT - 1), Region(0, 0, WIDTH, HEIGHT - 1))
    assert patched.render_whole_layout(smaller, console()).count("x" * WIDTH) == HEIGHT - 1


@settings(max_examples=120, deadline=None)
@given(old=st.lists(strips(), min_size=HEIGHT, max_size=HEIGHT), update=chops())
def test_a_partial_update_changes_just_its_spans(old: list[Strip], update: ChopsUpdate) -> None:
    before = layout_of(old)
    patched.SHOWN.forget()
    first = patched.render_whole_layout(before, console())
    assert shown(first) == shown(before.render_segments(console()))
    whole = ChopsUpdate(update.chops, [(y, 0, WIDTH) for y in range(HEIGHT)], update.chop_ends)
    expected, new = shown(first), shown(whole.render_segments(console()))
    assert len(first) <= len(before.render_segments(console()))
    picture = shown(first, patched.render_partial_update(update, console()))
    for y, x1, x2 in update.spans:
        expected[y][x1:x2] = new[y][x1:x2]
    split = {(y, x) for y, x1, x2 in update.spans for edge in (x1, x2) for x in (edge - 1, edge)}
    for y in range(HEIGHT):
        for x in range(WIDTH):
            if (y, x) not in split:  # half of a wide character becomes a blank there
                assert picture[y][x] == expected[y][x], (y, x)


def test_each_change_of_style_is_written_once() -> None:
    red, dark = Style(color="#ff0001", bgcolor="#121212"), Style(color="#808080", bgcolor="#121212")
    strip = Strip([Segment("ab", red), Segment("  ", dark), Segment("cd", red)], 6)
    update = ChopsUpdate([{0: strip}], [(0, 0, 6)], [[6]])
    assert patched.render_partial_update(update, console()) == (
        "\x1b[H\x1b[38;2;255;0;1;48;5;233mab  cd\x1b[m"
    )


@pytest.mark.parametrize(
    ("color", "codes"),
    [
        ("#ff5f5f", "38;5;203"),
        ("#005f87", "38;5;24"),
        ("#ffffff", "38;5;231"),
        ("#121212", "38;5;233"),
        ("#eeeeee", "38;5;255"),
        # Not among the 256 colours.
        ("#ff5f60", "38;2;255;95;96"),
        ("#f8f8f8", "38;2;248;248;248"),
        ("#000001", "38;2;0;0;1"),
        # Numbers 16 to 21, which some sets of colours change.
        ("#000000", "38;2;0;0;0"),
        ("#0000ff", "38;2;0;0;255"),
        ("#005f00", "38;5;22"),
    ],
)
def test_a_true_colour_of_the_palette_is_written_by_its_number(color: str, codes: str) -> None:
    strip = Strip([Segment("a", Style(color=color))], 1)
    update = ChopsUpdate([{0: strip}], [(0, 0, 1)], [[1]])
    written = patched.render_partial_update(update, console())
    assert written == f"\x1b[H\x1b[{codes}ma\x1b[m"


def test_every_number_of_the_palette_is_the_colour_that_it_stands_for() -> None:
    numbers: set[int] = set()
    for number in range(16, 256):
        triplet = Color.from_ansi(number).get_truecolor()
        strip = Strip([Segment("a", Style(bgcolor=triplet.hex))], 1)
        update = ChopsUpdate([{0: strip}], [(0, 0, 1)], [[1]])
        written = patched.render_partial_update(update, console())
        found = re.search(r"48;5;(\d+)m", written)
        if found is not None:
            numbers.add(int(found[1]))
            assert Color.from_ansi(int(found[1])).get_truecolor() == triplet
    assert numbers == set(range(22, 256))


def test_a_move_leaves_out_the_first_line_and_column() -> None:
    for place, written in (((0, 0), "\x1b[H"), ((0, 4), "\x1b[5H"), ((6, 4), "\x1b[5;7H")):
        assert patched.ShortControl.move_to(*place).segment.text == written


def test_attributes_are_turned_off_one_by_one() -> None:
    bold, dim = Style(bold=True, color="#ff0001"), Style(dim=True, color="#ff0001")
    strip = Strip([Segment("a", bold), Segment("b", dim), Segment("c")], 3)
    update = ChopsUpdate([{0: strip}], [(0, 1, 3)], [[3]])
    written = patched.render_partial_update(update, console())
    assert written == "\x1b[1;2H\x1b[2;38;2;255;0;1mb\x1b[mc"
    whole = ChopsUpdate([{0: strip}], [(0, 0, 3)], [[3]])
    assert "b" not in patched.render_partial_update(whole, console()), "it is shown already"
    patched.SHOWN.forget()
    assert "ma\x1b[22;2mb" in patched.render_partial_update(whole, console())


def test_installing_twice_and_taking_back() -> None:
    theirs = ChopsUpdate.render_segments, LayoutUpdate.render_segments
    assert not PARTIAL_PAINT.replaced
    assert patched.install_partial_paint()
    assert patched.install_partial_paint()
    assert PARTIAL_PAINT.replaced
    assert ChopsUpdate.render_segments is not theirs[0]
    PARTIAL_PAINT.uninstall()
    assert (ChopsUpdate.render_segments, LayoutUpdate.render_segments) == theirs


@pytest.mark.parametrize("kind", [ChopsUpdate, LayoutUpdate])
def test_a_textual_that_writes_otherwise_is_left_alone(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(update: Any, console: Console) -> str:
        return "something else"

    with monkeypatch.context() as gone:
        # private: as in a Textual that has no such class.
        gone.delattr("textual._compositor.ChopsUpdate")
        assert not patched.install_partial_paint()
    monkeypatch.setattr(kind, "render_segments", other)
    assert not patched.install_partial_paint()
    assert not PARTIAL_PAINT.replaced
    assert kind.render_segments is other


# ---- who is asked

WIDE, HIGH = 40, 12


class Layers(App[None]):
    """Widgets beside, behind and half in front of each other, some of them scrolled."""

    CSS = """
    Screen { layers: below above; background: $surface; }
    #left { width: 15; border: solid green; }
    #right { width: 1fr; background: $panel; }
    #rolled { height: 5; }
    #float { layer: above; offset: 9 3; width: 12; height: 4; background: $error; }
    """

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("left\nof it", id="left")
            with Vertical(id="right"):
                yield Static("one line")
                with VerticalScroll(id="rolled"):
                    yield Static("\n".join(f"line {at} of many" for at in range(30)))
                yield Static("below the rolled")
        yield Static("in front\nof both", id="float")


def invalidate_layout(app: App[Any]) -> None:
    """Have the screen laid out again before the next question about it."""
    # private: Textual does this to itself only, when a hidden widget is refreshed.
    app.screen._compositor._full_map_invalidated = True


def repainted(app: App[None], regions: set[Region]) -> tuple[str, list[Widget]]:
    """What is written for a repaint of these regions, and who was asked for it."""
    asked: list[Widget] = []
    # private: the patch under test repaints what Textual keeps here.
    compositor = app.screen._compositor
    compositor._dirty_regions = set(regions)
    with pytest.MonkeyPatch.context() as patch:
        original = Widget.render_lines

        def render_lines(self: Widget, crop: Region) -> Any:
            asked.append(self)
            return original(self, crop)

        patch.setattr(Widget, "render_lines", render_lines)
        update = compositor.render_partial_update()
    assert update is not None
    patched.SHOWN.forget()  # it is looked at on an empty terminal
    return patched.render_partial_update(update, console()), asked


REGIONS = st.sets(
    st.builds(
        lambda x, y, width, height: Region(x, y, min(width, WIDE - x), min(height, HIGH - y)),
        st.integers(0, WIDE - 1),
        st.integers(0, HIGH - 1),
        st.integers(1, WIDE),
        st.integers(1, HIGH),
    ),
    min_size=1,
    max_size=4,
)


async def test_the_picture_is_that_of_textual_itself() -> None:
    app = Layers()
    async with app.run_test(size=(WIDE, HIGH)) as pilot:
        app.query_one("#rolled", VerticalScroll).scroll_to(y=7, animate=False)
        await pilot.pause()

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(REGIONS)
        def same(regions: set[Region]) -> None:
            PARTIAL_PAINT.uninstall()
            own, _ = repainted(app, regions)
            assert patched.install_partial_paint()
            ours, _ = repainted(app, regions)
            assert cells(ours, WIDE, HIGH) == cells(own, WIDE, HIGH)

        same()


async def test_nobody_is_asked_who_stands_behind_others() -> None:
    app = Layers()
    async with app.run_test(size=(WIDE, HIGH)) as pilot:
        await pilot.pause()
        assert patched.install_partial_paint()
        _, asked = repainted(app, {Region(1, 1, 5, 1)})
        assert [widget.id for widget in asked] == ["left"]
        _, asked = repainted(app, {Region(10, 4, 3, 1)})
        assert [widget.id for widget in asked] == ["float"]
        _, asked = repainted(app, {Region(16, 11, 20, 1)})
        assert app.screen not in asked


# ---- who is told


class Told(Widget):
    DEFAULT_CSS = "Told { height: 1fr; }"

    def __init__(self, number: int) -> None:
        super().__init__(id=f"w{number}")
        self.told: list[str] = []

    def on_show(self) -> None:
        self.told.append("show")

    def on_hide(self) -> None:
        self.told.append("hide")

    def on_resize(self) -> None:
        self.told.append(f"resize {self.size.width} {self.size.height}")


class Pair(App[None]):
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Told(1)
            yield Told(2)

    def on_mount(self) -> None:
        self.query_one("#w2").display = False


async def told_what_is_shown(asked: bool) -> bool:
    """Whether two widgets that take turns are told so, also when their size is asked before."""
    app, told = Pair(), []
    async with app.run_test(size=(30, 10)) as pilot:
        first, second = app.query_one("#w1", Told), app.query_one("#w2", Told)
        await pilot.pause()
        for shown, hidden in ((second, first), (first, second)) * 3:
            first.told.clear()
            second.told.clear()
            # As when a widget that isn't on the screen was refreshed.
            invalidate_layout(app)
            shown.display, hidden.display = True, False
            if asked:
                assert shown.size.width == 30, "asked before it was laid out"
            await pilot.pause()
            told.append((sorted(shown.told), list(hidden.told)))
    return told == [(["resize 30 10", "show"], ["hide"])] * 6


@pytest.mark.parametrize("asked", [False, True], ids=["not asked", "asked"])
async def test_what_is_shown_is_told_so(asked: bool) -> None:
    assert patched.install_shown_events()
    assert await told_what_is_shown(asked)


async def test_a_second_layout_tells_nothing_again() -> None:
    assert patched.install_shown_events()
    app = Pair()
    async with app.run_test(size=(30, 10)) as pilot:
        first, second = app.query_one("#w1", Told), app.query_one("#w2", Told)
        await pilot.pause()
        second.display = True
        invalidate_layout(app)
        assert first.size == (30, 5)
        await pilot.pause()
        assert sorted(second.told) == ["resize 30 5", "show"]
        assert first.told[-1] == "resize 30 5"
        told = list(first.told), list(second.told)
        invalidate_layout(app)
        assert first.size == (30, 5)
        first.refresh(layout=True)
        await pilot.pause()
        assert (first.told, second.told) == told


def test_a_textual_that_lays_out_otherwise_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    SHOWN_EVENTS.uninstall()
    monkeypatch.setattr(Compositor, "reflow", lambda self, size: (self, size))
    assert not patched.install_shown_events()
