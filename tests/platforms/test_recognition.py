"""Which platform answers at an address, which is asked without a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.config import Problem, SettingsError
from agentco_tui.platforms.platform_file import known_platforms, platform_paths
from agentco_tui.platforms.recognition import recognise
from tests.api.wire_server import WireServer
from tests.platform import EmbeddedPlatform
from tests.platforms.recorded_answers import body_of
from tests.platforms.recorded_paperclip import RecordedPaperclip

VERSION = "Paperclip 2026.916.1"
OWN = """
name = "Mine"
found_by = { get = "/own/about", has = "mine", version = "about.release" }
prefix = "/own"
[companies.all]
get = "/own/teams"
"""


KNOWN = len(platform_paths(None))
"""How many files come with the program, each with a request of its own."""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config file that does not exist."""
    return tmp_path / "config.toml"


def put(config: Path, name: str, text: str) -> None:
    """Write a platform's file beside the config file."""
    folder = config.parent / "platforms"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def answer(body: object, head: str = "HTTP/1.1 200 OK") -> bytes:
    data = json.dumps(body).encode()
    lines = f"{head}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return lines.encode() + data


@pytest.mark.parametrize("needs_key", [True, False])
async def test_paperclip_is_recognised_in_both_of_its_modes(needs_key: bool) -> None:
    """Without a key, a server on which users log in does not say its version."""
    with RecordedPaperclip(needs_key=needs_key) as server:
        found, problems = await recognise(BaseUrl.parse(server.base), None)
        assert found is not None
        assert (found.name, found.needs_key) == ("paperclip", needs_key)
        assert found.title == ("Paperclip" if needs_key else VERSION)
        assert problems == []
        assert ("GET /api/health", None) in [
            (seen.line, seen.authorization) for seen in server.requests
        ]
        assert {seen.authorization for seen in server.requests} == {None}


async def test_the_generic_interface_is_no_known_platform() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        found, _ = await recognise(BaseUrl.parse(platform.base_url), None)
        assert found is None
        assert {seen.authorised for seen in platform.requests} == {False}


@pytest.mark.parametrize(
    "sent",
    [
        answer({"status": "ok"}),
        answer([body_of("health")]),
        answer(body_of("health"), "HTTP/1.1 503 Unavailable"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<!doctype",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{]",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ],
    ids=["another", "a list", "an error", "a page", "no JSON", "no HTTP"],
)
async def test_no_other_answer_is_recognised(sent: bytes) -> None:
    async with WireServer(sent) as server:
        found, problems = await recognise(BaseUrl.parse(server.base), None)
    assert (found, problems) == (None, [])


async def test_no_redirect_is_followed() -> None:
    async with WireServer(answer(body_of("health"))) as elsewhere:
        head = f"HTTP/1.1 307 Moved\r\nLocation: {elsewhere.base}/api/health"
        async with WireServer(answer({}, head)) as server:
            found, _ = await recognise(BaseUrl.parse(server.base), None)
            assert (found, elsewhere.requests) == (None, [])
            assert len(server.requests) == KNOWN


async def test_a_file_of_the_users_own_comes_first(config: Path) -> None:
    put(config, "mine", OWN)
    put(config, "broken", OWN.replace("teams", "{teams"))
    put(config, "unfound", OWN.replace("found_by", "# found_by"))
    body = {**body_of("health"), "mine": True, "about": {"release": "7\x1b[2J"}}
    async with WireServer(answer(body), answer(body)) as server:
        found, problems = await recognise(BaseUrl.parse(server.base), config)
        assert found is not None
        assert (found.name, found.title, found.needs_key) == ("mine", "Mine 7␛[2J", True)
        asked = {"GET /api/health HTTP/1.1", "GET /own/about HTTP/1.1"}
        assert asked <= set(server.heads)
        assert {problem.setting for problem in problems} == {"companies.all.get"}
        # With its name only that one is asked for, and nothing is said of the others.
        found, problems = await recognise(BaseUrl.parse(server.base), config, "paperclip")
        assert found is not None
        assert (found.name, problems) == ("paperclip", [])
        with pytest.raises(SettingsError, match=r"has a \{ without its \}"):
            await recognise(BaseUrl.parse(server.base), config, "broken")


def test_its_request_is_checked_as_the_others(config: Path) -> None:
    put(config, "mine", OWN.replace("/own/about", "/about/{id}"))
    known, problems = known_platforms(config)
    assert "mine" not in known
    told = [each.text for each in problems if isinstance(each, Problem)]
    assert told == ["must begin with /own/", "unknown name id (there are none here)"]
