"""What people call keys, in Textual's spelling."""

from __future__ import annotations

import string

import pytest
from textual.keys import _character_to_key

from agentco_tui.key_names import key_name, key_names


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        ("/", "slash"),
        ("-", "minus"),
        ("G", "G"),
        ("shift+s", "S"),
        ("esc", "escape"),
        ("Return", "enter"),
        ("F5", "f5"),
        ("ctrl+P", "ctrl+p"),
        ("shift+ctrl+x", "ctrl+shift+x"),
        ("ctrl++", "ctrl+plus"),
        ("ctrl+i", "tab"),
        ("ctrl+[", "escape"),
        ("pgdn", "pagedown"),
        (" j ", "j"),
    ],
)
def test_a_key_gets_its_name(written: str, name: str) -> None:
    assert key_name(written) == name


@pytest.mark.parametrize("written", ["", "ctrl+", "cntrl+x", "ctrl+ctrl+x", "f25", "foo", "a b"])
def test_what_is_no_key_has_none(written: str) -> None:
    assert key_name(written) is None


def test_printable_characters_are_named_as_textual_names_them() -> None:
    for character in string.ascii_letters + string.digits + string.punctuation:
        assert key_name(character) == _character_to_key(character)


def test_lists_of_keys() -> None:
    assert key_names("j, down,j") == (["j", "down"], [])
    assert key_names(",") == (["comma"], [])
    assert key_names("") == ([], [])
    assert key_names("j,wat") == (["j"], ["wat"])
