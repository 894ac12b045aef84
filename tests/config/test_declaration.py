"""The declarations of the settings: each has what the manual and a first config file need."""

from __future__ import annotations

import tomllib

import pytest
from msgspec.structs import fields

from agentco_tui.config import Settings
from agentco_tui.config.declaration import DeclaredSetting, TakesEffect
from agentco_tui.config.settings import DECLARED

LONGEST_HELP = 80
DERIVED = {
    *("key", "key_source", "themes", "profiles", "config_path", "sources"),
}
"""Fields of `Settings` that are no settings: the program finds them by itself."""

every_setting = pytest.mark.parametrize("declared", DECLARED, ids=lambda each: each.full_name)


def test_no_two_settings_have_one_name() -> None:
    names = [declared.full_name for declared in DECLARED]
    assert len(names) == len(set(names))


def test_every_field_is_a_setting_unless_it_is_derived() -> None:
    declared = {declared.field for declared in DECLARED}
    assert {field.name for field in fields(Settings)} - declared == DERIVED


@every_setting
def test_the_help_is_one_sentence(declared: DeclaredSetting) -> None:
    help_ = declared.setting.help
    assert help_.endswith(".")
    assert "\n" not in help_
    assert "|" not in help_, "it stands in a table"
    assert len(help_) <= LONGEST_HELP


@every_setting
def test_what_a_first_file_shows_is_valid(declared: DeclaredSetting) -> None:
    check = declared.setting.check
    if callable(check) and declared.tables:
        value = tomllib.loads(f"value = {declared.example}")["value"]
        meaning = check(value)
        if not declared.setting.example:
            assert meaning == declared.default


@every_setting
def test_it_is_of_the_file_or_of_the_command_line(declared: DeclaredSetting) -> None:
    assert declared.tables or declared.setting.flag
    if not declared.tables:
        assert declared.setting.takes_effect is TakesEffect.NEXT_START
