"""The table of characters against all who measure them, over the whole of Unicode."""

from __future__ import annotations

import unicodedata

import pytest
import wcwidth
from rich.cells import cell_len, get_character_cell_size

from agentco_tui.text import cell_width, clean_block, clean_line, count_hidden, escaped
from agentco_tui.text.signs import COMMON_CHARACTERS
from agentco_tui.text.width import SHOWN_CHARACTERS

from .make_cells import width_of


def characters(table: str) -> list[str]:
    spans = (span.partition("-") for span in table.split())
    return [chr(code) for a, _, b in spans for code in range(int(a, 16), int(b or a, 16) + 1)]


TABLES = {
    0: characters(SHOWN_CHARACTERS["marks"]),
    1: characters(SHOWN_CHARACTERS["narrow"]),
    2: characters(SHOWN_CHARACTERS["wide"]),
}
KEPT = {char: width for width, chars in TABLES.items() for char in chars}


def test_common_characters_are_shown_unchanged_in_one_cell() -> None:
    assert set(TABLES[1]) >= COMMON_CHARACTERS
    text = "".join(sorted(COMMON_CHARACTERS))
    with_another = f"{text}\u0416"  # a Cyrillic letter, with which all patterns are tried
    assert clean_line(with_another) == with_another
    assert clean_line(text) == text
    assert count_hidden(with_another) == count_hidden(text) == 0
    assert cell_width(with_another) == cell_width(text) + 1 == len(with_another)


@pytest.mark.slow
@pytest.mark.parametrize("width", [0, 1, 2])
def test_rich_and_wcwidth_agree_on_every_character_beside_any_other(width: int) -> None:
    for char in TABLES[width]:
        assert get_character_cell_size(char) == width, ascii(char)
        assert wcwidth.wcwidth(char) == width, ascii(char)
    for near in ("a", "\u0915", "e\u0301"):
        for start in range(0, len(TABLES[width]), 500):
            text = near + near.join(TABLES[width][start : start + 500])
            expected = sum(wcwidth.wcwidth(char) for char in text)
            assert wcwidth.wcswidth(text) == cell_len(text) == cell_width(text) == expected


def test_no_character_that_must_never_pass_is_kept() -> None:
    # pyte drops the rest of what it draws at a zero-width character without a combining class.
    assert all(unicodedata.combining(char) for char in TABLES[0])
    for char in KEPT:
        assert unicodedata.category(char)[0] != "C" or unicodedata.unidata_version != "14.0.0"
        assert unicodedata.category(char) not in {"Zl", "Zp", "Mc", "Me"}
        assert char == " " or not char.isspace()
        assert set(unicodedata.normalize("NFC", char)) <= KEPT.keys(), ascii(char)
    assert not set("\u115f\u1160\u3164\uffa0\u2800\xad\u200d\ufe0f\u034f") & KEPT.keys()
    assert not set(map(chr, (*range(0xD800, 0xE000), *range(0xE000, 0xF900)))) & KEPT.keys()
    assert not set(map(chr, range(0xE0000, 0xE1000))) & KEPT.keys()


def test_what_people_write_with_is_kept() -> None:
    sample = (
        "".join(map(chr, range(0x20, 0x7F)))
        + "äßçñéøžőğ Ωж шалом العربية 漢字かなカナ한글 €£–…“”🚀✅❌⚠"
    )
    assert set(sample) <= KEPT.keys()
    assert len(KEPT) > 140_000


@pytest.mark.slow
def test_every_character_of_unicode_comes_out_as_kept_ones() -> None:
    kept = {*KEPT, "\n"}
    for start in range(0, 0x110000, 0x4000):
        text = "".join(map(chr, range(start, start + 0x4000)))
        clean = clean_block(text, max_cells=100_000, max_lines=100_000)
        assert set(clean) <= kept, hex(start)
    assert escaped("".join(map(chr, range(0x20000))), max_cells=2_000_000).isprintable()


@pytest.mark.slow
@pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="made with another Unicode version"
)
def test_the_table_is_what_its_rules_make() -> None:
    # Every 13th character: the whole takes ten seconds.
    for code in range(0x20, 0x110000, 13):
        char = chr(code)
        width = width_of(char)
        if char in KEPT:
            assert width == KEPT[char], hex(code)
        elif width is not None:
            composed = unicodedata.normalize("NFC", char)
            assert any(width_of(part) is None for part in composed), hex(code)
