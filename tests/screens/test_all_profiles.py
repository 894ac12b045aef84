"""One Overview over all profiles: each for itself, the worst need of all first."""

from __future__ import annotations

import re
from pathlib import Path

from agentco_tui.config import Switch
from agentco_tui.screens.dialogs.all_profiles import AllProfiles
from tests.platform import EmbeddedPlatform
from tests.screens.harness import WIDE, Stage, Staging

PROFILE = """
[profiles.{name}]
base_url = "{url}"
api_key_file = "{key}"
refresh = 0.5
"""


def _profile(folder: Path, name: str, platform: EmbeddedPlatform, key: str | None = None) -> str:
    path = folder / f"key-{name}"
    path.touch(0o600)
    path.write_text(key or platform.full_key)
    return PROFILE.format(name=name, url=platform.base_url, key=path)


def _screen(s: Stage) -> AllProfiles:
    screen = s.app.screen
    assert isinstance(screen, AllProfiles)
    return screen


async def test_one_that_hangs_is_refused_or_is_wrong_holds_up_no_other(
    on: Staging, platform: EmbeddedPlatform, empty_platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    with EmbeddedPlatform(companies=0, agents=0, tasks=0, speed=0) as hanging:
        hanging.faults.add("*:hang")
        config.write_text(
            f"""
            {_profile(tmp_path, "eu", platform)}
            label = "Shop, Europe"
            colour = "blue"
            {_profile(tmp_path, "quiet", empty_platform)}
            {_profile(tmp_path, "hangs", hanging)}
            {_profile(tmp_path, "refused", empty_platform, "ag_0000000000000000000")}
            [profiles.broken]
            base_url = "nonsense"
            api_key_command = "pass"
            [profiles.asks]
            base_url = "{platform.base_url}"
            api_key_command = ["false"]
            """
        )
        names = ("here", "eu", "quiet", "hangs", "refused", "broken", "asks")
        async with on(size=WIDE, profile="here", profiles=names, config_path=config) as s:

            async def says(name: str, words: str) -> None:
                line = re.compile(rf" {name} .*({words})")
                await s.wait_until(lambda: any(map(line.search, s.lines)), f"{name}: {words}")

            s.main.dialogs.switch_profile("")
            await says("Shop, Europe", "✖ 12")
            await says("here", "✖ 12")
            await says("quiet", "live")
            await says("refused", "key rejected")
            await says("broken", "profiles.broken.base_url: the address must begin with https")
            await says("asks", "the command ended with exit code 1")
            await says("hangs", "connecting|no answer")
            rows = _screen(s).table.model
            lines = [line for line in map(rows.record, rows.shown) if line]
            levels = [line.need.level for line in lines]
            assert levels == sorted(levels, reverse=True)
            assert {line.watch.profile for line in lines} == {"here", "eu"}
            masked = s.workspace.client.transport.key.redact("ag_0000000000000000000")
            assert masked == "ag_****", "no key of another may stand in a report"
            await s.press("escape")
            await s.sees("NEEDS YOU")


async def test_enter_leaves_for_the_need_and_nothing_is_decided_there(
    on: Staging, platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(_profile(tmp_path, "eu", platform))
    async with on(size=WIDE, profile="here", profiles=("eu",), config_path=config) as s:
        s.main.dialogs.switch_profile("")
        await s.wait_until(lambda: _screen(s).table.model.shown, "the needs")
        await s.sees("enter decide there")
        await s.press("a", "y", "j")
        cursor = _screen(s).table.viewport.cursor
        line = _screen(s).table.model.record(str(cursor))
        await s.press("enter")
        await s.wait_until(lambda: s.app.switch, "the switch")
        assert line is not None
        assert s.app.switch == Switch("eu", line.need.key)
        assert not s.writes
