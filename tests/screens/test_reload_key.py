"""A key that is refused, and another that takes its place while the dashboard runs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.app import DashboardApp
from agentco_tui.config.resolve import load
from agentco_tui.live.feeds import FeedName, Phase
from tests.platform import EmbeddedPlatform
from tests.screens.harness import WIDE, Stage, Staging

NEW = "ag_canary_of_today_9c31"
REFUSED = "the key is missing or invalid"
AGAIN = "the key was read again: another one is used from now on"
STILL = "the key is still the one that was refused"
IN_FILE = 'api_key_file = "the-key"'

NOTICES: list[str] = []
"""What was said in the corner; there it is gone after seconds, however slow the machine is."""


@pytest.fixture(autouse=True)
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    notify = DashboardApp.notify

    def hear(app: DashboardApp, message: str, **how: Any) -> None:
        NOTICES.append(message)
        notify(app, message, **how)

    monkeypatch.setattr(DashboardApp, "notify", hear)
    yield
    NOTICES.clear()


@pytest.fixture
def key_file(tmp_path: Path, platform: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the key is kept, in the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "the-key", platform.full_key)
    return tmp_path / "the-key"


@pytest.fixture
def kept(on: Staging, platform: EmbeddedPlatform, key_file: Path) -> Staging:
    """A dashboard of a profile whose key is kept as a line says."""

    def start(line: str, keys: str = "", env: str = "", place: str = "tasks") -> Any:
        path = key_file.with_name("config.toml")
        path.write_text(
            f'[profiles.prod]\nbase_url = "{BaseUrl.parse(platform.base_url)}"\nrefresh = 60.0\n'
            f"{line}\n[approve]\nhold = 0\n[keys]\n{keys}\n"
        )
        environ = {"PATH": os.environ["PATH"], **({env: platform.full_key} if env else {})}
        settings = load({"config": str(path)}, environ)
        return on(place=place, settings=settings, size=WIDE)

    return start


def by_command(script: str) -> str:
    return f'api_key_command = ["sh", "-c", "{script}"]'


async def refused(s: Stage) -> None:
    await s.poll(FeedName.PENDING)
    await s.wait_until(lambda: REFUSED in flat(s), "the refusal")


def flat(s: Stage) -> str:
    """The words on the screen, wherever the lines were broken."""
    return " ".join(s.text.split())


async def told(s: Stage, *words: str) -> None:
    """Wait for a notice with these words, and forget those that were said by then."""

    def found() -> bool:
        return any(all(word in notice for word in words) for notice in NOTICES)

    await s.wait_until(found, repr(words))
    NOTICES.clear()


def put(path: Path, key: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{key}\n")


# -- a file


async def test_a_file_that_cannot_be_used_is_told_to_who_asks_only(
    kept: Staging, key_file: Path
) -> None:
    async with kept(IN_FILE) as s:
        s.platform.keys["full"] = NEW
        os.unlink(key_file)  # noqa: PTH108
        await refused(s)
        assert "does not exist" not in s.text
        await s.press("r")
        await told(s, "api_key_file of profile prod: the key file does not exist")
        put(key_file, NEW)
        await s.press("r")
        await s.sees("live")
        await told(s, AGAIN)


async def test_the_same_key_is_said_calmly(kept: Staging) -> None:
    async with kept(IN_FILE, keys='"app.refresh" = "f5"') as s:
        s.platform.keys.revoke("full")
        await refused(s)
        await s.wait_until(lambda: "f5 reads the key again" in flat(s), "the key that does it")
        await s.press("f5")
        await told(s, f"{STILL}: put another into api_key_file of profile prod, then press f5")
        assert s.platform.full_key not in s.text


# -- a command


async def test_a_command_that_hangs_holds_up_nothing(kept: Staging, key_file: Path) -> None:
    go = key_file.with_name("go")
    os.mkfifo(go)
    script = f"if test -e hangs; then cat {shlex.quote(str(go))}; fi; cat the-key"
    async with kept(by_command(script)) as s:
        old = s.platform.full_key
        s.platform.keys["full"] = NEW
        key_file.with_name("hangs").touch()
        await refused(s)
        await s.press("r")
        await told(s, "reading the key again: api_key_command of profile prod")
        await s.go("budget")
        await s.press("r", "r")
        assert s.workspace.client.transport.key.key.reveal() == old
        put(key_file, NEW)
        with go.open("w"):
            pass
        await s.sees("live")
        await told(s, AGAIN)


async def test_a_command_whose_words_hold_the_key_shows_none(kept: Staging, key_file: Path) -> None:
    script = "if test -e fails; then cat the-key >&2; exit 4; fi; cat the-key"
    async with kept(by_command(script)) as s:
        s.platform.keys.revoke("full")
        key_file.with_name("fails").touch()
        await refused(s)
        await s.press("r")
        await told(s, "ended with exit code 4: ag_****")
        assert s.platform.full_key not in s.text


# -- where it cannot change


@pytest.mark.parametrize(
    ("line", "env", "words"),
    [
        ("keyring = true", "AGENTCO_API_KEY", "AGENTCO_API_KEY"),
        ('api_key_env = "PROD_KEY"', "PROD_KEY", "api_key_env of profile prod"),
    ],
)
async def test_the_environment_cannot_change_and_that_is_said(
    kept: Staging, line: str, env: str, words: str
) -> None:
    async with kept(line, env=env) as s:
        s.platform.keys.revoke("full")
        await refused(s)
        await s.wait_until(lambda: "; start again with another key" in flat(s), "what to do")
        assert "reads the key again" not in flat(s)
        await s.press("r")
        await told(s, f"{words} can't change while this runs: start again with another key")


# -- a screen that was left while it was refused


async def test_what_was_refused_on_another_screen_is_asked_at_once_when_it_is_visited(
    kept: Staging, key_file: Path
) -> None:
    async with kept(IN_FILE, place="budget") as s:
        s.platform.keys["full"] = NEW
        await s.poll()
        await s.go("tasks")
        put(key_file, NEW)
        await s.press("r")
        await s.sees("live")
        await told(s, AGAIN)
        await s.go("budget")
        fresh = s.workspace.store.freshness
        await s.wait_until(
            lambda: all(fresh[feed].phase is Phase.LIVE for feed in s.view.lists), "answers"
        )
        await s.sees_no(REFUSED)
