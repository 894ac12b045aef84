"""Where each key of a TOML text stands."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.config.toml_lines import key_lines


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb = 2\n", ("b",), 2),
        ("\n\n[t]\n# k = 0\nk = 1", ("t", "k"), 5),
        ("[t]\nk = 1", ("t",), 1),
        ("[a.b]\nc.d = 1\nc.e = 2", ("a", "b", "c", "e"), 3),
        ("[a.b]\nc.d = 1\nc.e = 2", ("a", "b", "c"), 2),
        ('[profiles."my prod"]\n\n"base_url" = "x"', ("profiles", "my prod", "base_url"), 3),
        ("['it''s'.x]\nk=1".replace("''", ""), ("its", "x", "k"), 2),
        ('"quo\\"te" = 1', ('quo"te',), 1),
        ('a = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a = '''\nb = 1\n[t]'''\nb = 2", ("b",), 4),
        ('a = """x\\\\"""\nb = 2', ("b",), 2),
        ('a = """"quoted""""\nb = 2', ("b",), 2),
        ('a = """"""\nb = 2', ("b",), 2),
        ('a = "# no comment [x]"\nb = 2', ("b",), 2),
        ("a = [\n 1, # one, ]\n 2,\n]\nb = 2", ("b",), 5),
        ("a = [\n 1,\n 2,\n]", ("a", "1"), 3),
        ("a = { x = 1, y.z = [\n{ q = 1 }] }\nb = 1", ("a", "y", "z", "0", "q"), 2),
        ("a = { x = 1, y = '}' }\nb = 1", ("b",), 2),
        ("[[t]]\nk = 1\n[[t]]\nk = 2\n[t.u]\nv = 3", ("t", "1", "k"), 4),
        ("[[t]]\nk = 1\n[[t]]\nk = 2\n[t.u]\nv = 3", ("t", "1", "u", "v"), 6),
        ("a = 1979-05-27T07:32:00Z\r\nb = 1", ("b",), 2),
        ("[ a . 'b' ]\n c  =  1", ("a", "b", "c"), 2),
    ],
)
def test_the_line_of_a_key(text: str, path: tuple[str, ...], line: int) -> None:
    tomllib.loads(text)
    assert key_lines(text)[path] == line


def test_nothing_stands_in_an_empty_text() -> None:
    assert key_lines("# only a comment") == {}
    assert key_lines("") == {}


def _paths(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = {path} if path else set()
    if isinstance(value, dict):
        for name, inner in value.items():
            found |= _paths(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found |= _paths(inner, (*path, str(number)))
    return found


_NAMES = st.text(st.sampled_from("ab-_1 .\"'#[]{}=,é"), min_size=1, max_size=4)
_SCALARS = st.one_of(
    st.integers(-9, 9),
    st.booleans(),
    st.text(st.sampled_from("ab #[]{}=,\"'\\\n"), max_size=8),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3)
    ),
    max_leaves=6,
)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, list):
        return "[\n" + ",\n".join(_written(inner) for inner in value) + "\n]"
    if isinstance(value, dict):
        pairs = (f"{_written(name)} = {_written(inner)}" for name, inner in value.items())
        return "{ " + ", ".join(pairs) + " }"
    return str(value)


@given(st.dictionaries(_NAMES, _VALUES, max_size=4))
def test_every_key_that_tomllib_reads_has_a_line(data: dict[str, Any]) -> None:
    text = "".join(f"{_written(name)} = {_written(value)}\n" for name, value in data.items())
    read = tomllib.loads(text)
    lines = key_lines(text)
    assert set(lines) == _paths(read)
    for name in data:
        assert text.splitlines()[lines[(name,)] - 1].startswith(_written(name))
