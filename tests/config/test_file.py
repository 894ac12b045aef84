"""The config file: everything that is wrong with it, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.config.file import MAX_BYTES, read_file
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
    read = read_file(path)
    assert read.problems == ()
    assert read.top["theme"].value == "nord"
    assert read.profiles["prod"]["refresh"].value == 2.5
    assert read.profiles["prod"]["refresh"].line == 9
    assert read.keys == {"tasks.approve": "A"}
    assert read.alerts["waiting_critical"].value == 7200
    assert path.read_text() == GOOD


@pytest.mark.parametrize(
    ("text", "line", "setting", "words"),
    [
        ("thme = 'x'", 1, "thme", "nearest valid name: theme"),
        ("theme = 'nrod'", 1, "theme", "nearest valid name: nord"),
        ("refresh = 5", 1, "refresh", "under [profiles.NAME]"),
        ("warn_percent = 5", 1, "warn_percent", "under [alerts]"),
        ("profiles = 5", 1, "profiles", "must be a table"),
        ("keys = []", 1, "keys", "must be a table, is a list"),
        ("[profiles]\nprod = 'x'", 2, "profiles.prod", "[profiles.prod]"),
        ("[profiles.p]\nread_onyl = 1", 2, "profiles.p.read_onyl", "read_only"),
        ("[profiles.p]\nrefresh = 0.1", 2, "profiles.p.refresh", "from 0.5"),
        ("[profiles]\np = { refresh = true }", 2, "profiles.p.refresh", "is true"),
        ("profiles.p.read_only = 'x'", 1, "profiles.p.read_only", "true or false"),
        (
            "[profiles.p]\nkeyring = true\n\napi_key_env = 'K'",
            4,
            "profiles.p.api_key_env",
            "exactly one",
        ),
        ("[profiles.p]\napi_key = 'ag_1'", 2, "profiles.p.api_key", "never stands in this file"),
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
    (problem,) = read_file(path).problems
    assert (problem.file, problem.line, problem.setting) == (path, line, setting)
    assert words in problem.text
    assert str(problem).startswith(f"{path}:{line}: {setting}: ")


def test_all_problems_are_told_at_once_in_the_order_of_the_file(write: Write) -> None:
    path = write("thme = 1\n[profiles.p]\nrefresh = 'x'\nred_only = 1\n[alerts]\nx = 1\n")
    assert [problem.line for problem in read_file(path).problems] == [1, 3, 4, 6]


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
def test_what_is_no_toml_is_told_with_its_line(tmp_path: Path, raw: bytes, line: int) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(raw)
    read = read_file(path)
    assert [problem.line for problem in read.problems] == [line]
    assert not read.readable


@pytest.mark.parametrize("raw", [b"a = " + b"[" * 100_000, b"a = " + b"9" * 5_000])
def test_absurd_files_are_refused_in_words(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(raw)
    (problem,) = read_file(path).problems
    assert "TOML" in problem.text


def test_a_file_that_is_not_there_is_an_empty_one_unless_it_was_named(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert read_file(path).problems == ()
    (problem,) = read_file(path, must_exist=True).problems
    assert "does not exist" in problem.text


def test_folders_and_huge_files_are_refused(tmp_path: Path) -> None:
    (problem,) = read_file(tmp_path).problems
    assert "folder" in problem.text
    huge = tmp_path / "huge"
    huge.write_bytes(b"#" * (MAX_BYTES + 1))
    (problem,) = read_file(huge).problems
    assert "KiB" in problem.text


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(b"\xef\xbb\xbftheme = 'nord'\r\n")
    assert read_file(path).problems == ()
