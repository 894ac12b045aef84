"""A person's own theme: every colour has a role, and what is wrong has a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.config.file import ConfigFile
from agentco_tui.config.theme_file import ROLES, THEME, ThemeFile
from agentco_tui.widgets.themes import make_theme

RIGHT = """\
background = "#121212"
surface = "#1c1c1c"
panel = "#262626"
text = "#d0d0d0"
muted = "#a8a8a8"
faint = "#949494"
accent = "#87d7ff"
good = "#87d787"
warning = "#ffd75f"
critical = "#ff5f5f"
cursor = "#005f87"
cursor_text = "#ffffff"
blurred = "#303030"
"""


def theme_file(folder: Path, text: str, name: str = "mine") -> Path:
    path = folder / "themes" / f"{name}.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_the_roles_are_those_that_a_theme_is_made_of(tmp_path: Path) -> None:
    assert {*ROLES, "dark"} == {*THEME}
    for role in ROLES:
        with pytest.raises(KeyError, match=role):
            make_theme("mine", dark=True, **{each: "#000000" for each in ROLES if each != role})
    read = ThemeFile(theme_file(tmp_path, RIGHT))
    assert read.problems == []
    assert make_theme("mine", **read.colours).variables["text-error"] == "#ff5f5f"


@pytest.mark.parametrize(
    ("text", "problem_text"),
    [
        (RIGHT.replace('"#87d787"', '"green"'), ":8: good: must be a colour such as"),
        (f"{RIGHT}red = 1\n", ":14: red: unknown setting (nearest valid name:"),
        (f"{RIGHT}dark = 1\n", ":14: dark: must be true or false"),
        (RIGHT.replace("muted", "# muted"), ": needs muted"),
        ("text = ", ":1: is not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_theme_has_its_line(
    tmp_path: Path, text: str, problem_text: str
) -> None:
    path = theme_file(tmp_path, text)
    (problem, *_) = ThemeFile(path).problems
    assert str(problem).startswith(f"{path}{problem_text}")
    config = tmp_path / "config.toml"
    config.write_text('\ntheme = "mine"\n')
    (problem,) = ConfigFile(config).problems
    assert str(problem).startswith(f"{config}:2: theme: cannot be used: {path}{problem_text}")


def test_a_theme_of_ones_own_is_one_of_those_that_can_be_named(tmp_path: Path) -> None:
    theme_file(tmp_path, RIGHT)
    config = tmp_path / "config.toml"
    config.write_text('theme = "mine"\n')
    assert ConfigFile(config).checked == {"theme": "mine"}
    config.write_text('theme = "../mine"\n')
    (problem,) = ConfigFile(config).problems
    assert "is not a theme" in problem.text
    assert problem.text.endswith(", mine)")
