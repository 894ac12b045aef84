"""What holds of `text` for every string there is."""

from __future__ import annotations

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.text import (
    cell_width,
    clip,
    clipboard_text,
    escaped,
    fit,
    joined,
    plain,
    safe,
    safe_block,
    wrap,
)

from .judges import columns_of_bars, widths
from .payloads import PAYLOADS
from .test_text import forbidden

anything = st.text(st.characters(exclude_categories=()))
hostile = st.lists(
    st.one_of(
        st.sampled_from(sorted({char for text in PAYLOADS.values() for char in text})),
        st.sampled_from("\u0301\u0316\u0334\u200d\ufe0f\U0001f3fd\u1112\u1161\u11ab\n\r\t |[/]"),
        st.sampled_from(sorted(PAYLOADS.values())),
    ),
    max_size=40,
).map("".join)
texts = st.one_of(anything, hostile)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)),
)


@given(texts, st.integers(0, 60))
def test_safe_is_safe_bounded_and_settled(text: str, cells: int) -> None:
    line = safe(text, cells)
    assert not forbidden(line)
    assert widths(line) == {cell_width(line)}
    assert cell_width(line) <= cells
    assert safe(line, cells) == line
    assert bool(safe(text)) == bool(text) or set(text) <= set("\u200d\ufe0e\ufe0f")


@given(texts, st.integers(0, 200), st.integers(1, 9))
def test_blocks_are_safe_bounded_and_settled(text: str, cells: int, lines: int) -> None:
    block = safe_block(text, cells, lines)
    assert not forbidden(block.replace("\n", ""))
    assert block.count("\n") < lines
    assert cell_width(block) <= cells
    assert safe_block(block, cells, lines) == block
    assert all(widths(line) == {cell_width(line)} for line in block.split("\n"))


@given(texts, st.integers(-1, 40), st.sampled_from(("left", "right")))
def test_fit_is_exact(text: str, width: int, align: Literal["left", "right"]) -> None:
    for clean in (safe(text), safe_block(text)):
        row = fit(clean, width, align)
        assert widths(row) == {max(width, 0)}
        assert cell_width(clip(clean, width)) <= max(width, 0)


@given(st.lists(hostile, min_size=1, max_size=6), st.integers(1, 20))
def test_rows_are_exact_in_a_terminal(texts: list[str], width: int) -> None:
    row = "|" + "|".join(fit(safe(text.replace("|", "!")), width) for text in texts) + "|"
    columns = list(range(0, (width + 1) * (len(texts) + 1), width + 1))
    assert columns_of_bars([row], columns[-1] + 1) == [columns]


@given(texts, st.integers(1, 30))
def test_wrap_loses_only_blanks(text: str, width: int) -> None:
    block = safe_block(text)
    lines = wrap(block, width)
    assert all(cell_width(line) <= width for line in lines)
    assert all(widths(line) == {cell_width(line)} for line in lines)
    if width > 1:
        assert "".join("".join(lines).split()) == "".join(block.split())


@given(texts)
def test_escaped_hides_nothing(text: str) -> None:
    shown = escaped(text, max_cells=100_000)
    assert not forbidden(shown)
    assert widths(shown) == {cell_width(shown)}
    if all(ord(char) < 0x2000 and char != "\\" for char in text) and text.isascii():
        assert shown.encode("ascii").decode("unicode_escape") == text
    assert escaped(text, max_cells=7) == clip(escaped(text, max_cells=7), 7)


@given(json_values)
def test_any_json_is_safe(value: object) -> None:
    for line in (safe(value), escaped(value)):
        assert not forbidden(line)
        assert widths(line) == {cell_width(line)}


@given(st.lists(texts))
def test_safe_pieces_together_are_safe(parts: list[str]) -> None:
    whole = joined(map(safe, parts), " · ")
    assert plain(whole) == whole
    assert widths(whole) == {cell_width(whole)}


@given(texts, st.integers(0, 100))
def test_clipboard_is_bounded_and_clean(text: str, cap: int) -> None:
    copied = clipboard_text(text, cap)
    assert len(copied.encode()) <= cap
    assert not set(copied) & set(map(chr, (*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x202E)))
