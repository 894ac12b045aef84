"""The theme that a person chose stays, until the settings name another."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agentco_tui.system.state_folder import Remembered
from tests.config.test_theme_file import RIGHT
from tests.screens.harness import Staging

OWN = {"mine": dict(line.replace('"', "").split(" = ") for line in RIGHT.splitlines())}


async def test_a_theme_is_chosen_by_its_name_and_remembered(on: Staging) -> None:
    async with on(themes=OWN) as s:
        await s.press("colon", *"theme mine", "enter")
        await s.wait_until(lambda: s.app.theme == "mine")
        kept = s.main.remembered()
        assert (kept.theme, kept.theme_over) == ("mine", None)
    async with on(themes=OWN, remembered=kept) as s:
        assert s.app.theme == "mine"
        assert s.main.remembered().theme == "mine"
    async with on(remembered=kept) as s:
        assert s.app.theme == "agentco-dark", "its file is gone"
        await s.sees("the theme mine cannot be read")


async def test_a_file_that_is_wrong_is_told_of_the_theme_in_use_only(on: Staging) -> None:
    async with on(themes={**OWN, "other": OWN["mine"]}) as s:
        await s.press("colon", *"theme mine", "enter")
        await s.wait_until(lambda: s.app.theme == "mine")
        now = s.workspace.settings
        s.app.take_settings(replace(now, themes=OWN))
        await s.settle()
        assert "cannot be read" not in s.text
        s.app.take_settings(replace(now, themes={}))
        await s.sees("the theme mine cannot be read")
        assert s.app.theme == "mine", "that of before stays"


@pytest.mark.parametrize(
    ("over", "chosen", "shown"),
    [
        ("nord", {"theme": "nord"}, "dracula"),
        ("nord", {"theme": "monokai"}, "monokai"),
        (None, {"theme": "monokai"}, "monokai"),
        ("nord", {"theme": "nord", "sources": {"theme": "--theme"}}, "nord"),
    ],
)
async def test_a_setting_changed_since_beats_it_and_so_does_a_flag(
    on: Staging, over: str | None, chosen: dict[str, object], shown: str
) -> None:
    remembered = Remembered(theme="dracula", theme_over=over)
    async with on(remembered=remembered, wait=False, **chosen) as s:
        assert s.app.theme == shown


async def test_the_environment_counts_as_a_setting(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXTUAL_THEME", "nord")
    async with on(remembered=Remembered(theme="dracula"), wait=False) as s:
        assert s.main.remembered().theme_over is None
        assert s.app.theme != "dracula"
