"""Profiles switched while the dashboard runs, as a person sees it at a real terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.dashboard import command, leave, rows_with, shows
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY, PtySession

COUNTED = str(Path(__file__).parent / "apps" / "counted.py")
TITLE = "Refund 214 customers"
LAST = "Post the Nimbus Airlines"
"""The need that comes last, far down on the Overview."""
SIDES = ("shop", "prod")
"""Profiles of two platforms, of which the second has nothing yet and is production."""


@pytest.fixture(scope="module")
def empty() -> Iterator[PlatformProcess]:
    with PlatformProcess("--companies", "1", "--agents", "0", "--tasks", "0") as platform:
        yield platform


def _config(folder: Path, platform: PlatformProcess, empty: PlatformProcess, more: str = "") -> str:
    for name, key in zip(SIDES, (platform.full_key, empty.read_key), strict=True):
        (folder / name).touch(0o600)
        (folder / name).write_text(key)
    path = folder / "config.toml"
    path.write_text(
        f"""
        [profiles.shop]
        base_url = "{platform.base_url}"
        api_key_file = "{folder}/shop"
        [profiles.prod]
        base_url = "{empty.base_url}"
        api_key_command = ["cat", "{folder}/prod"]
        label = "The real one"
        {more}
        """
    )
    return str(path)


def _start(
    platform: PlatformProcess,
    folder: Path,
    config: str,
    *arguments: str,
    counts: Path | None = None,
) -> PtySession:
    """The dashboard of the first profile; into `counts` goes how many were there before each."""
    env = {**settings(platform, folder), "AGENTCO_API_KEY": None, "AGENTCO_BASE_URL": None}
    program = command() if counts is None else [sys.executable, COUNTED, str(counts)]
    arguments = ("--config", config, "--profile", "shop", "--refresh", "0.5", *arguments)
    env["PYTHONPATH"] = str(REPOSITORY)
    return PtySession([*program, *arguments], env=env, size=(120, 40))


def _switch(session: PtySession, profile: str) -> None:
    session.press(":")
    session.wait_for("any command, or a name")
    session.press(*f"profile {profile}")
    session.wait_for(f"profile  {profile}")
    session.press("enter")


def _see(session: PtySession, profile: str) -> str:
    """Wait until a profile's own records are there, and none of the other's."""
    is_shop = profile == "shop"

    def its(screen: str) -> None:
        assert (" The real one " in screen) is not is_shop
        assert bool(rows_with(screen, TITLE)) is is_shop
        assert is_shop or "nothing needs you" in screen

    return shows(session, its)


def _holds(session: PtySession) -> tuple[int, int]:
    """How many open files and threads the program has."""
    files, threads = (Path(f"/proc/{session.pid}/{what}") for what in ("fd", "task"))
    return len(list(files.iterdir())), len(list(threads.iterdir()))


def test_nothing_of_a_profile_is_left_once_another_is_shown(
    platform: PlatformProcess, empty: PlatformProcess, tmp_path: Path
) -> None:
    counts = tmp_path / "counts"
    with _start(platform, tmp_path, _config(tmp_path, platform, empty), counts=counts) as session:
        _see(session, "shop")
        held = []
        for turn in range(1, 6):
            other = platform if turn % 2 else empty
            _switch(session, SIDES[turn % 2])
            _see(session, SIDES[turn % 2])
            if turn == 2:
                other.forget_requests()
                session.wait_quiet(1.0)
                assert not other.requests(), "who was left is asked nothing"
            held.append(_holds(session))
        assert max(held[2:]) <= max(held[:2]), f"open files and threads grow: {held}"
        assert counts.read_text() == "0 " * 6, "in memory, too"
        for each in (platform, empty):
            assert all(seen["authorised"] for seen in each.requests()), "each with its own key"
        leave(session)


def test_textual_still_needs_its_caches_emptied(
    platform: PlatformProcess, empty: PlatformProcess, tmp_path: Path
) -> None:
    """Otherwise `textual_patches/memo_caches.py` may go."""
    counts = tmp_path / "counts-without-forgetting"
    with _start(platform, tmp_path, _config(tmp_path, platform, empty), counts=counts) as session:
        _see(session, "shop")
        for side in (SIDES[1], SIDES[0]):
            _switch(session, side)
            _see(session, side)
        assert counts.read_text() == "0 1 2 "


def test_a_profile_that_cannot_be_used_brings_the_one_before_back_and_says_why(
    platform: PlatformProcess, empty: PlatformProcess, tmp_path: Path
) -> None:
    more = f'[profiles.off]\nbase_url = "{empty.base_url}"\napi_key_command = ["false"]'
    with _start(platform, tmp_path, _config(tmp_path, platform, empty, more)) as session:
        _see(session, "shop")
        _switch(session, "off")
        session.wait_for("off can't be used")
        assert "api_key_command" in _see(session, "shop")
        leave(session)


def test_a_profile_names_the_variable_that_overrides_the_key_of_the_start(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        f"""
        [profiles.first]
        base_url = "{platform.base_url}"
        api_key_env = "FIRST_KEY"
        [profiles.second]
        base_url = "{platform.base_url}"
        api_key_env = "AGENTCO_API_KEY"
        """
    )
    env = {**settings(platform, tmp_path), "AGENTCO_BASE_URL": None}
    words = command("--config", str(config), "--profile", "first", "--refresh", "0.5")
    with PtySession(words, env=env, size=(120, 40)) as session:
        session.wait_for(re.compile(r" first .*● live"))
        _switch(session, "second")
        session.wait_for(re.compile(r" second .*● live"))
        assert "can't be used" not in session.text
        leave(session)


def test_a_recording_is_of_one_profile(
    platform: PlatformProcess, empty: PlatformProcess, tmp_path: Path
) -> None:
    record = ("--record", str(tmp_path / "recording"))
    with _start(platform, tmp_path, _config(tmp_path, platform, empty), *record) as session:
        _see(session, "shop")
        _switch(session, "prod")
        session.wait_for("a recording is of one profile")
        assert rows_with(session.text, TITLE)
        leave(session)


def test_what_is_saved_is_shown_and_what_is_wrong_told_with_its_line(
    platform: PlatformProcess, empty: PlatformProcess, tmp_path: Path
) -> None:
    config = Path(_config(tmp_path, platform, empty))
    right = config.read_text()
    with _start(platform, tmp_path, str(config)) as session:
        _see(session, "shop")
        config.write_text(right.replace("[profiles.prod]", 'label = "Our shop"\n[profiles.prod]'))
        session.wait_for(" Our shop ")
        session.wait_for("the settings were read again")
        config.write_text(right.replace("[profiles.prod]", 'colour = "pink"\n[profiles.prod]'))
        session.wait_for("config.toml:5")
        assert " Our shop " in session.text
        leave(session)


def test_the_overview_of_all_leads_to_a_need_and_can_be_come_back_to(
    platform: PlatformProcess, empty: PlatformProcess, tmp_path: Path
) -> None:
    config = _config(tmp_path, platform, empty)
    with _start(platform, tmp_path, config, "--all-profiles", "--profile", "prod") as session:
        session.wait_for(re.compile(r" The real one +● live"))
        session.wait_for(re.compile(r" shop +● live"))
        session.wait_for("decide there")
        session.press("G")
        session.wait_for(re.compile(rf"▌.* shop .*{LAST}"))
        session.press("enter")
        screen = session.wait_for(lambda text: "NEEDS YOU" in text and "decide there" not in text)
        assert " shop " in screen.split("\n")[0]
        session.wait_for(re.compile(rf"▌.*{LAST}"))
        _switch(session, "all")
        session.wait_for(re.compile(r" The real one +● live"))
        session.press("esc")
        session.wait_for("NEEDS YOU")
        leave(session)
