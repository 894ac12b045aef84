"""What `text` makes of hostile and foreign strings, and the signs that it puts for some."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Literal

import pyte
import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agentco_tui.text import (
    SafeText,
    cell_width,
    clean_block,
    clean_line,
    clip,
    clipboard_text,
    escaped,
    fit,
    joined,
    mark_safe,
    signs,
    wrap,
)
from agentco_tui.text.patterns import lazy_pattern
from agentco_tui.text.signs import ASCII, UNICODE, Signs, in_ascii, needs_ascii, use_ascii

from .payloads import BOMBS, PAYLOADS


def widths(line: str) -> set[int]:
    """What rich and wcwidth, whole and by character, say that `line` takes: one figure is well."""
    return {cell_len(line), wcwidth.wcswidth(line), sum(wcwidth.wcwidth(char) for char in line)}


def columns_of_bars(rows: Sequence[str], width: int) -> list[list[int]]:
    """Draws each row on a line of a terminal; the columns at which it then shows "|"."""
    screen = pyte.Screen(width, len(rows))
    stream = pyte.Stream(screen)
    for number, row in enumerate(rows):
        stream.feed(f"\x1b[{number + 1};1H{row}")
    lines = [screen.buffer[number] for number in range(len(rows))]
    return [[column for column in range(width) if line[column].data == "|"] for line in lines]


def forbidden(text: str) -> list[str]:
    """The characters of `text` that must never reach a terminal."""
    return [
        ascii(char)
        for char in text
        if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        or 0xFE00 <= ord(char) <= 0xFE0F
        or char in "\u115f\u1160\u3164\uffa0\u2800\u034f"
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\x00b\x7f\x9b", "a␀b␡\ufffd"),
        ("one\r\ntwo\nthree\rfour\x85five\u2028six", "one⏎two⏎three⏎four⏎five⏎six"),
        ("a\u202eb", "a\ufffdb"),
        ("a" + "\u200b" * 90 + "b", "a\ufffdb"),
        ("\ud800", "\ufffd"),
        ("a\u2800b\xa0c\u3000d", "a b c d"),
        ("👩🏽‍💻 ❤️ 1️⃣", "👩💻 ❤ 1"),
        ("👨\u200d\u200d👩", "👨\ufffd👩"),
        ("🇩🇪", "ⒹⒺ"),
        ("a\u0334\u0322\u030a\u0301\u0302\u0303b", "ǻ\u0334\u0322\ufffdb"),
        ("\u03b1\u0313\u0301\u0345", "ᾄ"),
        ("\u0301x", "\ufffdx"),
        ("\u1112\u1161\u11ab", "한"),
        ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]"),
        ("\U0001f3f4\U000e0067\U000e007f", "🏴\ufffd"),
    ],
)
def test_safe(given: str, expected: str) -> None:
    assert clean_line(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "–"),
        (0.1, "0.1"),
        (float("nan"), "nan"),
        (Decimal("1E+999999"), "1E+999999"),
        pytest.param(10**5000, "an integer of about 5000 digits", id="huge"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        (date(2025, 11, 19), "2025-11-19"),
        ({"a": [1, None, {"b\n": False}]}, "{a: [1, null, {b⏎: false}]}"),
        (object(), "<object>"),
        (ValueError("the key is sk-1"), "<ValueError>"),
    ],
)
def test_safe_takes_any_value(given: object, expected: str) -> None:
    assert clean_line(given) == expected
    assert clean_block(given) == expected.replace("⏎", "\n")


def test_containers_are_bounded() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    assert cell_width(clean_line(deep)) < 40
    itself: list[object] = []
    itself += [itself] * 50
    assert cell_width(clean_line(itself)) == 400
    assert cell_width(clean_line({str(n): "y" * 10_000 for n in range(10_000)})) == 400


@pytest.mark.parametrize("name", [*PAYLOADS, *BOMBS])
def test_payloads_become_safe(name: str) -> None:
    payload = {**PAYLOADS, **BOMBS}[name]
    line, block, shown = clean_line(payload), clean_block(payload), escaped(payload)
    assert not forbidden(line + shown + block.replace("\n", ""))
    assert cell_width(line) <= 400
    assert cell_width(block) <= 20_000
    assert block.count("\n") < 2_000
    assert cell_width(shown) <= 4_000
    for text in (line, shown, *block.split("\n")):
        assert widths(text) == {cell_width(text)}
    assert clean_line(line) == line
    assert clean_block(block) == block
    assert clean_line(payload, 10) == clean_line(clean_line(payload, 10), 10)


def test_nothing_goes_unseen() -> None:
    """Text that loses something shows a sign, but for what only changes the look of an emoji."""
    unsigned = "\n\r\t\x0b\x0c\x85\u2028\u2029\u200d\ufe0e\ufe0f\u2800"
    for name, payload in PAYLOADS.items():
        composed = unicodedata.normalize("NFC", payload)
        lost = [char for char in composed if forbidden(char) and char not in unsigned]
        shown = [
            char for char in clean_line(payload) if char == "\ufffd" or "\u2400" <= char <= "\u2421"
        ]
        assert shown or not lost, name


def test_wrapped_panes_stay_aligned_in_a_terminal() -> None:
    rows = []
    for text in PAYLOADS.values():
        rows += [f"|{fit(line, 12)}|" for line in wrap(clean_block(text.replace("|", "!")), 12)]
    assert all(bars == [0, 13] for bars in columns_of_bars(rows, 14))


@pytest.mark.parametrize(
    ("text", "width", "align", "expected"),
    [
        ("abc", 5, "left", "abc  "),
        ("abc", 5, "right", "  abc"),
        ("abcd", 3, "left", "ab…"),
        ("abcd", 1, "left", "…"),
        ("abcd", -3, "left", ""),
        ("日本語", 5, "left", "日本…"),
        ("日本語", 4, "left", "日… "),
        ("日本語", 4, "right", " 日…"),
        ("日", 1, "left", "…"),
        ("q\u0323\u0307q\u0323q", 2, "left", "q\u0323\u0307…"),
        ("a\nb", 4, "left", "a⏎b "),
    ],
)
def test_fit(text: str, width: int, align: str, expected: str) -> None:
    assert fit(SafeText(text), width, align) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("a\n\nb", 3, ["a", "", "b"]),
        ("    indented code", 10, ["    indent", "ed code"]),
        ("  a bcdef", 6, ["  a", "bcdef"]),
        ("日本語日本", 5, ["日本", "語日", "本"]),
        ("日a", 1, ["\ufffd", "a"]),
        ("one    two", 5, ["one", "two"]),
        ("q\u0323\u0307" * 3, 2, ["q\u0323\u0307" * 2, "q\u0323\u0307"]),
    ],
)
def test_wrap(text: str, width: int, expected: list[str]) -> None:
    assert wrap(SafeText(text), width) == expected


def test_blocks_keep_their_lines() -> None:
    assert clean_block("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h") == "a\nb\nc\nd\ne\nf\ng\nh"
    assert clean_block("a\tb\n\u0301c") == "a    b\n\ufffdc"


def test_blocks_tell_what_was_cut() -> None:
    assert clean_block("x" * 1_000, max_cells=100) == "x" * 60 + "\n… 940 more characters"
    assert clean_block("a\nb\nc\nd", max_lines=3) == "a\nb\n… 4 more characters"
    assert clean_block("a\nb\nc", max_lines=3) == "a\nb\nc"
    assert clean_block("y" * 10**7).endswith("more characters")
    assert clean_block("\u200b" * 90_000).endswith("… 10,000 more characters")


def test_escaped_shows_what_was_sent() -> None:
    sent = "a\x1b[0m\u202e\U000e0041\ud800\n\t\\é日e\u0301\xa0"
    assert escaped(sent) == (
        r"a\x1b[0m\u202e\U000e0041\ud800\n\t\\é日e\u0301\xa0".replace("\\\\", "\\\\")
    )
    assert escaped("x" * 50, max_cells=10) == "x" * 9 + "…"


def test_plain_refuses_what_is_not_safe() -> None:
    assert mark_safe("▲ 3 tasks wait – look") == "▲ 3 tasks wait – look"
    with pytest.raises(AssertionError):
        mark_safe("\x1b[31m")
    assert joined([clean_line("a"), clean_line(""), clean_line("b")], " · ") == "a · b"


def test_clipboard_keeps_what_is_seen_and_marks_the_rest() -> None:
    assert clipboard_text("tsk_नमस्ते/日") == "tsk_नमस्ते/日"
    assert clipboard_text("x\n\x1b]52;c;\x07\u202e\ud800") == "x\ufffd\ufffd]52;c;" + "\ufffd" * 3
    assert clipboard_text("hi\U000e0041\U000e0101") == "hi\ufffd\ufffd"
    for payload in (*PAYLOADS.values(), *BOMBS.values()):
        assert clipboard_text(payload).isprintable()


@pytest.mark.usefixtures("ascii_mode")
def test_ascii_mode_has_nothing_but_ascii() -> None:
    assert clean_line("Café – naïve “Ω” 日 ß\n\x1b") == 'Cafe - naive "?" ? ss|^['
    assert clean_line("🇩🇪 e\u0301 ●▲✖") == "DE e *!x"
    assert mark_safe("▲ wait…") == "! wait~"
    assert clean_line(None) == signs.missing == "-"
    for payload in (*PAYLOADS.values(), *BOMBS.values()):
        line, block = clean_line(payload), clean_block(payload)
        assert line.isascii()
        assert line.isprintable()
        assert block.replace("\n", "").isprintable()
        assert (block + escaped(payload) + fit(line, 9)).isascii()
        assert clean_line(line) == line
        assert clean_block(block) == block


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    asked: list[str] = []

    def text() -> str:
        asked.append("text")
        return "a+"

    lazy, broken = lazy_pattern(text, re.IGNORECASE), lazy_pattern("(")
    assert asked == []
    assert lazy.fullmatch("aAa")
    assert lazy.fullmatch("b") is None
    assert asked == ["text"]
    with pytest.raises(re.error):
        broken.match("x")


# ---- what holds for every string there is

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
    line = clean_line(text, cells)
    assert not forbidden(line)
    assert widths(line) == {cell_width(line)}
    assert cell_width(line) <= cells
    assert clean_line(line, cells) == line
    assert bool(clean_line(text)) == bool(text) or set(text) <= set("\u200d\ufe0e\ufe0f")


@given(texts, st.integers(0, 200), st.integers(1, 9))
def test_blocks_are_safe_bounded_and_settled(text: str, cells: int, lines: int) -> None:
    block = clean_block(text, cells, lines)
    assert not forbidden(block.replace("\n", ""))
    assert block.count("\n") < lines
    assert cell_width(block) <= cells
    assert clean_block(block, cells, lines) == block
    assert all(widths(line) == {cell_width(line)} for line in block.split("\n"))


@given(texts, st.integers(-1, 40), st.sampled_from(("left", "right")))
def test_fit_is_exact(text: str, width: int, align: Literal["left", "right"]) -> None:
    for clean in (clean_line(text), clean_block(text)):
        row = fit(clean, width, align)
        assert widths(row) == {max(width, 0)}
        assert cell_width(clip(clean, width)) <= max(width, 0)


@given(st.lists(hostile, min_size=1, max_size=6), st.integers(1, 20))
def test_rows_are_exact_in_a_terminal(texts: list[str], width: int) -> None:
    row = "|" + "|".join(fit(clean_line(text.replace("|", "!")), width) for text in texts) + "|"
    columns = list(range(0, (width + 1) * (len(texts) + 1), width + 1))
    assert columns_of_bars([row], columns[-1] + 1) == [columns]


@given(texts, st.integers(1, 30))
def test_wrap_loses_only_blanks(text: str, width: int) -> None:
    block = clean_block(text)
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
    for line in (clean_line(value), escaped(value)):
        assert not forbidden(line)
        assert widths(line) == {cell_width(line)}


@given(st.lists(texts))
def test_safe_pieces_together_are_safe(parts: list[str]) -> None:
    whole = joined(map(clean_line, parts), " · ")
    assert mark_safe(whole) == whole
    assert widths(whole) == {cell_width(whole)}


# ---- signs


def each(which: Signs) -> list[str]:
    return [*which.bar_parts, *(sign for sign in vars(which).values() if len(sign) == 1)]


@pytest.mark.parametrize("which", [UNICODE, ASCII])
def test_every_sign_is_one_safe_cell(which: Signs) -> None:
    for sign in each(which):
        assert wcwidth.wcwidth(sign) == cell_len(sign) == 1
        assert clean_line(sign) == sign
        assert sign.isascii() or which is not ASCII


def test_one_object_changes_for_all_who_imported_it() -> None:
    assert signs.warning == "▲"
    try:
        use_ascii()
        assert (signs.warning, signs.missing, in_ascii()) == ("!", "-", True)
    finally:
        use_ascii(False)
    assert (signs.warning, signs.missing, in_ascii()) == ("▲", "–", False)
    with pytest.raises(AttributeError):
        signs.warning = UNICODE.good  # type: ignore[misc]


@pytest.mark.parametrize(
    ("encoding", "environ", "expected"),
    [
        ("utf-8", {}, False),
        ("utf-8", {"LANG": "C"}, True),
        ("utf-8", {"LANG": "en_US.UTF-8", "LC_ALL": "C"}, True),
        ("utf-8", {"LANG": "C", "LC_CTYPE": "C.utf8"}, False),
        ("utf-8", {"LANG": "de_DE@euro"}, True),
        ("utf-8", {"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ("utf-8", {"TERM": "vt220"}, True),
        ("ascii", {"LANG": "en_US.UTF-8"}, True),
        ("ANSI_X3.4-1968", {}, True),
        (None, {}, True),
    ],
)
def test_when_ascii_is_wanted(
    encoding: str | None, environ: dict[str, str], expected: bool
) -> None:
    assert needs_ascii(encoding, environ) is expected
