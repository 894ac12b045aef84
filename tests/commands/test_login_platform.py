"""`agentco-tui login` on a platform that it recognises, and the profile that it writes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import Command, Ran
from tests.platform import EmbeddedPlatform
from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.platforms.test_recognition import OWN, VERSION, put


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """The command runs in this process, and what it does to a signal lasts."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def config(command: Command) -> Path:
    """The config file that the command uses, which does not exist."""
    return command.home / ".config" / "agentco-tui" / "config.toml"


def log_in(command: Command, base: str, *words: str, key: str = "") -> Ran:
    return command("login", "--base-url", base, *words, env={"AGENTCO_API_KEY": key})


def test_a_platform_that_needs_no_key_is_asked_for_none(command: Command, config: Path) -> None:
    with RecordedPaperclip(needs_key=False) as server:
        ran = log_in(command, server.base, "--profile", "pc", key="ag_of_another_platform")
        assert (ran.code, ran.err) == (0, "")
        assert f"This is {VERSION}. It needs no key." in ran.lines
        assert "11 of 11 reads answered" in ran.out
        profile = f'[profiles.pc]\nbase_url = "{server.base}"\nplatform = "paperclip"\n'
        assert f"\n{profile}\nAdd these lines to {config}" in ran.out
        assert "api_key" not in ran.out
        assert {seen.authorization for seen in server.requests} == {None}
        # The profile works without a key, and login has nothing to add to it.
        config.parent.mkdir(parents=True)
        config.write_text(profile, encoding="utf-8")
        assert "GLO-7" in command("get", "tasks").out
        ran = command("login")
        assert (ran.code, "[profiles." in ran.out) == (0, False)
        assert {seen.authorization for seen in server.requests} == {None}


def test_a_platform_that_needs_a_key_gets_it_after_it_is_known(command: Command) -> None:
    with RecordedPaperclip() as server:
        ran = log_in(command, server.base, key=KEY)
        assert ran.code == 1, "there is no terminal to agree where the key is stored"
        assert (
            "This is Paperclip. It needs a board key, which `paperclipai token board create`"
            " makes, not an agent's." in ran.lines
        )
        assert f'base_url = "{server.base}"\nplatform = "paperclip"\n# one of these' in ran.out
        first, *later = server.requests
        assert (first.line, first.authorization) == ("GET /api/health", None)
        assert {seen.authorization for seen in later} == {f"Bearer {KEY}"}


def test_the_platform_of_the_profile_is_taken_even_if_nothing_says_so(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        words = ("--platform", "paperclip")
        ran = log_in(command, platform.base_url, *words, key=platform.full_key)
        assert (
            f"{platform.base_url} does not say that it is what the profile says:"
            ' platform = "paperclip"' in ran.err
        )
        assert "/api/companies/{company}/approvals" in ran.out
        assert 'platform = "paperclip"' in ran.lines


def test_what_is_wrong_with_another_file_is_told(command: Command, config: Path) -> None:
    put(config, "broken", OWN.replace("teams", "{teams"))
    with RecordedPaperclip(needs_key=False) as server:
        ran = log_in(command, server.base)
    assert ran.code == 0
    assert "broken.toml:6: companies.all.get: has a { without its }" in ran.err


def test_where_no_platform_is_recognised_nothing_is_said_of_one(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        ran = log_in(command, platform.base_url, key=platform.full_key)
        assert "This is" not in ran.out
        assert "platform =" not in ran.out
        asked = [seen for seen in platform.requests if not seen.authorised]
        assert [(seen.method, seen.path) for seen in asked] == [("GET", "/api/health")]
        assert platform.requests[0] == asked[0]
