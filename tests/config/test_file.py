"""The config file: every mistake is reported with its line; and the check of single values."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.theme import BUILTIN_THEMES

from agentco_tui.config import validators
from agentco_tui.config.file import ConfigFile
from agentco_tui.config.toml_file import MAX_BYTES, key_lines
from agentco_tui.config.validators import WrongError
from agentco_tui.widgets.themes import THEMES
from tests.config.conftest import Write

GOOD = """
profile = "prod"
theme = "nord"

[profiles.prod]
base_url = "https://platform.example.com"
api_key_command = ["pass", "show", "agentco"]
read_only = true
refresh = 2.5
ca_file = "ca.pem"

[keys]
"tasks.approve" = "A"

[alerts]
warn_percent = 75
waiting_critical = "2h"
"""


def test_a_good_file_has_no_problems(write: Write) -> None:
    path = write(GOOD)
    read = ConfigFile(path)
    assert read.problems == []
    assert read.checked["theme"] == "nord"
    assert read.profiles["prod"]["refresh"] == 2.5
    assert read.problem("profiles.prod.refresh", "x").line == 9
    assert read.keys == {"tasks.approve": "A"}
    assert read.checked["alerts"]["waiting_critical"] == 7200
    assert path.read_text() == GOOD


@pytest.mark.parametrize(
    ("text", "line", "setting", "words"),
    [
        ("thme = 'x'", 1, "thme", "nearest valid name: theme"),
        ("theme = 'nrod'", 1, "theme", "nearest valid name: nord"),
        ("refresh = 5", 1, "refresh", "under [profiles.NAME]"),
        ("warn_percent = 5", 1, "warn_percent", "under [alerts]"),
        ("keys = []", 1, "keys", "must be a table, [keys], is a list"),
        ("[profiles]\nprod = 'x'", 2, "profiles.prod", "[profiles.prod]"),
        ("[profiles.p]\nread_onyl = 1", 2, "profiles.p.read_onyl", "read_only"),
        ("[profiles.p]\nrefresh = 0.1", 2, "profiles.p.refresh", "from 0.5"),
        ("[profiles]\np = { refresh = true }", 2, "profiles.p.refresh", "is true"),
        ("profiles.p.read_only = 'x'", 1, "profiles.p.read_only", "true or false"),
        (
            "[profiles]\np.keyring = true\np.api_key_env = 'K'",
            3,
            "profiles.p.api_key_env",
            "exactly",
        ),
        ("[profiles.p]\napi_key = 'ag_1'", 2, "profiles.p.api_key", "must not be in this file"),
        ("[alerts]\nwaiting_warning = '2h'", 2, "alerts.waiting_warning", "must not be more"),
        ("[alerts]\n\nwarn = 5", 3, "alerts.warn", "warn_percent"),
        ("[keys]\n'app.qiut' = 'q'", 2, "keys.app.qiut", "app.quit"),
        ("[keys]\n'tasks.approve' = 'ctrl+c'", 2, "keys.tasks.approve", "always leaves"),
    ],
)
def test_a_problem_names_file_line_setting_and_what_to_do(
    write: Write, text: str, line: int, setting: str, words: str
) -> None:
    path = write(text)
    (problem,) = ConfigFile(path).problems
    assert (problem.file, problem.line, problem.setting) == (path, line, setting)
    assert words in problem.text
    assert str(problem).startswith(f"{path}:{line}: {setting}: ")


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"a = 1\nb = \n", 2),
        (b"a = 1\na = 2\n", 2),
        (b'a = "x\n', 1),
        (b"[t]\n[t]\n", 2),
        (b"a = [\n1,\n", 2),
        (b"a = 1\n# \xff\n", 2),
    ],
)
def test_invalid_toml_is_reported_with_its_line(tmp_path: Path, raw: bytes, line: int) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(raw)
    read = ConfigFile(path)
    assert [problem.line for problem in read.problems] == [line]
    assert not read.readable


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"a = " + b"[" * 100_000, "TOML"),
        (b"a = " + b"9" * 5_000, "TOML"),
        (b"#" * (MAX_BYTES + 1), "KiB"),
        (b"\xef\xbb\xbftheme = 'nord'\r\n", None),
    ],
)
def test_absurd_files_are_refused_with_a_reason(
    tmp_path: Path, raw: bytes, words: str | None
) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(raw)
    reasons = [problem.text for problem in ConfigFile(path).problems]
    assert len(reasons) == (words is not None)
    assert all(words in text for text in reasons if words)


def test_a_missing_file_counts_as_empty_unless_it_was_named(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert ConfigFile(path).problems == []
    (problem,) = ConfigFile(path, must_exist=True).problems
    assert "does not exist" in problem.text
    (problem,) = ConfigFile(tmp_path).problems
    assert "folder" in problem.text


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("a = 1\nb = 2\n", "b", 2),
        ("\n\n[t]\n# k = 0\nk = 1", "t.k", 5),
        ("[t]\nk = 1", "t", 1),
        ("[a.b]\nc.d = 1\nc.e = 2", "a.b.c.e", 3),
        ("[a.b]\nc.d = 1\nc.e = 2", "a.b.c", 2),
        ('[profiles."my prod"]\n\n"base_url" = "x"', "profiles.my prod.base_url", 3),
        ('"quo\\"te" = 1', 'quo"te', 1),
        ('a = """\nb = 1\n"""\nb = 2', "b", 4),
        ("a = '''\nb = 1\n[t]'''\nb = 2", "b", 4),
        ('a = """x\\\\"""\nb = 2', "b", 2),
        ('a = """"quoted""""\nb = 2', "b", 2),
        ('a = """"""\nb = 2', "b", 2),
        ('a = "# no comment [x]"\nb = 2', "b", 2),
        ('# it\'s """ no text\nb = 2', "b", 2),
        ("a = [\n 1, # one, ]\n 2,\n]\nb = 2", "b", 5),
        ("a = { x = 1, y = '}' }\nb = 1", "b", 2),
        ("[[t]]\nk = 1\n[[t]]\nj = 2", "t.j", 4),
        ("a = 1979-05-27T07:32:00Z\r\nb = 1", "b", 2),
        ("[ a . 'b' ]\n c  =  1", "a.b.c", 2),
    ],
)
def test_the_line_of_a_key(text: str, name: str, line: int) -> None:
    tomllib.loads(text)
    assert key_lines(text)[name] == line


# ---- single values


Validator = Callable[[object], object]


@pytest.mark.parametrize(
    ("validator", "value", "meant"),
    [
        (validators.refresh, 0.5, 0.5),
        (validators.refresh, 7, 7.0),
        (validators.boolean_word, " Yes ", True),
        (validators.boolean_word, "off", False),
        (validators.percent, 82.5, Decimal("82.5")),
        (validators.duration, "90s", 90.0),
        (validators.duration, "1h30m", 5400.0),
        (validators.duration, "1.5h", 5400.0),
        (validators.command, "pass show 'my key'", ("pass", "show", "my key")),
        (validators.command, ["sh", "-c", "a | b"], ("sh", "-c", "a | b")),
        (validators.text, "  x ", "x"),
        (validators.screen, "tasks", "tasks"),
    ],
)
def test_what_a_value_means(validator: Validator, value: object, meant: object) -> None:
    assert validator(value) == meant


@pytest.mark.parametrize(
    ("validator", "value", "words"),
    [
        (validators.refresh, 0.4, "from 0.5"),
        (validators.refresh, True, "is true"),
        (validators.refresh, "5", "is a text"),
        (validators.boolean, "true", "true or false, is a text"),
        (validators.boolean_word, "maybe", "yes"),
        (validators.percent, 0, "from 0.001 to 1000"),
        (validators.percent, float("nan"), "from 0.001 to 1000"),
        (validators.duration, 15, '"15m"'),
        (validators.duration, "15", '"15m"'),
        (validators.duration, "15 minutes", '"15m"'),
        (validators.duration, "0m", "more than nothing"),
        (validators.duration, "9999d", "at most a year"),
        (validators.command, "", "empty"),
        (validators.command, "a 'b", "quote"),
        (validators.command, [], "command"),
        (validators.command, [""], "command"),
        (validators.text, "a\x1b[0m", "control characters"),
        (validators.text, {}, "is a table"),
        (validators.screen, "task", "nearest valid name: tasks"),
        (validators.variable, "$KEY", "without a $"),
        (validators.path, "~no-such-user-here/x", "home folder"),
    ],
)
def test_what_is_refused(validator: Validator, value: object, words: str) -> None:
    with pytest.raises(WrongError) as refused:
        validator(value)
    assert words in str(refused.value)


def test_a_key_put_in_the_wrong_place_is_not_repeated() -> None:
    for name in ("boolean", "variable", "refresh", "percent"):
        with pytest.raises(WrongError) as refused:
            getattr(validators, name)("ag_secret-0123456789")
        assert "secret" not in str(refused.value)


def test_the_themes_are_those_that_textual_has() -> None:
    ours = {theme.name for theme in THEMES}
    assert set(validators.THEMES) <= set(BUILTIN_THEMES) | ours
    assert ours <= set(validators.THEMES)


@given(st.integers(1, 366 * 86_400))
def test_a_duration_can_be_written_and_read_again(seconds: int) -> None:
    assert validators.duration(validators.format_duration(seconds)) == seconds
