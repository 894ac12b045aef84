"""What `doctor` says of which platform it is, and every command where only the key is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands.conftest import Command, Ran
from tests.platform import EmbeddedPlatform
from tests.platforms.recorded_answers import body_of
from tests.platforms.recorded_paperclip import AGENT_KEY, KEY, VIEWER_KEY, RecordedPaperclip

AGENT = body_of("agents-globex")[0]["id"]
VERSION = "Paperclip 2026.916.1"
CHOOSE = (
    'put platform = "paperclip" into the profile, or start with --platform paperclip;'
    " `agentco-tui login` writes a profile"
)
GENERIC = re.compile(r"/api/(tasks|agents|budget|activity)\b(?!/\{)")
"""Paths of the generic interface that Paperclip does not have."""


def on(command: Command, base: str, key: str | None, platform: str | None = "paperclip") -> Path:
    """Give the command a profile of the server; returns the config file."""
    path = command.home / "c.toml"
    lines = ["[profiles.pc]", f'base_url = "{base}"']
    if platform is not None:
        lines.append(f'platform = "{platform}"')
    if key is not None:
        lines.append('api_key_env = "PC_KEY"')
        command.env["PC_KEY"] = key
    path.write_text("\n".join(lines), encoding="utf-8")
    command.env["AGENTCO_CONFIG"] = str(path)
    return path


def health_asked(server: RecordedPaperclip) -> list[str | None]:
    """The keys of the requests by which it is recognised."""
    return [seen.authorization for seen in server.requests if seen.path == "/api/health"]


def said_of_platform(ran: Ran) -> list[str]:
    return [line for line in ran.lines if "server says" in line or "this is " in line]


@pytest.mark.parametrize("words", [("doctor",), ("doctor", "--fields")])
def test_the_server_agrees_with_the_file(command: Command, words: tuple[str, ...]) -> None:
    with RecordedPaperclip(needs_key=False) as server:
        config = on(command, server.base, None)
        ran = command(*words)
        assert health_asked(server) == [None]
    assert ran.code == 0
    assert said_of_platform(ran) == [
        f'the server says that it is {VERSION}, as platform = "paperclip" has it'
    ]
    assert GENERIC.search(ran.out) is None
    assert "the key" not in ran.out
    if words == ("doctor",):
        assert f'interface   platform = "paperclip" (profile pc, {config}:3)' in ran.lines
        assert "key         none (profile pc, which has no key)" in ran.lines
        assert "no key is needed for anything that was requested" in ran.lines


def test_scripts_are_told_the_same(command: Command) -> None:
    with RecordedPaperclip() as server:
        on(command, server.base, KEY)
        told = json.loads(command("doctor", "--json").out)
    assert told["platform"] == {
        "file": "paperclip",
        "recognised": {"file": "paperclip", "title": "Paperclip", "needs_key": True},
    }
    with EmbeddedPlatform(speed=0) as platform:
        on(command, platform.base_url, platform.full_key, None)
        told = json.loads(command("doctor", "--json").out)
    assert told["platform"] == {"file": None, "recognised": None}


@pytest.mark.parametrize("words", [("doctor",), ("doctor", "--fields")])
@pytest.mark.parametrize("needs_key", [True, False])
def test_a_profile_without_a_platform_is_told_the_line(
    command: Command, words: tuple[str, ...], needs_key: bool
) -> None:
    with RecordedPaperclip(needs_key=needs_key) as server:
        on(command, server.base, KEY if needs_key else "ag_of_nobody", None)
        ran = command(*words)
        assert health_asked(server) == [None]
    assert ran.code == 3
    title = "Paperclip" if needs_key else f"{VERSION}, which needs no key"
    assert said_of_platform(ran) == [f"▲ this is {title}: {CHOOSE}"]


@pytest.mark.parametrize("words", [("doctor",), ("doctor", "--fields")])
def test_the_generic_interface_is_asked_for_nothing_else(
    command: Command, words: tuple[str, ...]
) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        on(command, platform.base_url, platform.full_key, None)
        ran = command(*words)
        assert (ran.code, said_of_platform(ran)) == (0, [])
        assert [seen.path for seen in platform.requests if seen.operation is None] == []
        # A read that fails may have another reason.
        platform.faults.add("alerts:status=404")
        assert said_of_platform(command(*words)) == []
        unknown = [seen for seen in platform.requests if seen.operation is None]
        assert [(seen.path, seen.authorised) for seen in unknown] == [("/api/health", False)]


def test_a_server_that_says_nothing_of_the_sort_is_doubted(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        on(command, platform.base_url, platform.full_key)
        ran = command("doctor")
    assert said_of_platform(ran) == [
        '▲ nothing that the server says without a key shows that platform = "paperclip" fits'
    ]
    assert GENERIC.search(ran.out) is None


def test_where_a_key_is_needed_or_is_not_it_says_so(command: Command) -> None:
    says = 'the server says that it is Paperclip, as platform = "paperclip" has it'
    with RecordedPaperclip() as server:
        on(command, server.base, None)
        ran = command("doctor")
        assert said_of_platform(ran) == [f"{says}, and that it needs a key"]
        assert "✖ a key is needed" in ran.lines
        assert len([line for line in ran.lines if line.startswith("✖ GET")]) == 1
    with RecordedPaperclip(needs_key=False) as server:
        on(command, server.base, "ag_of_nobody")
        (line,) = said_of_platform(command("doctor"))
        assert line.endswith("has it, and that it needs no key")


def test_an_agents_key_may_not_list_and_is_told_which_may(command: Command) -> None:
    with RecordedPaperclip() as server:
        on(command, server.base, AGENT_KEY)
        out = command("doctor").out
    assert "use one that may read it (a board key, which" in out
    assert "the platform's Settings" not in out
    (denied,) = re.findall(r"the key may not: (.*)", out)
    assert sorted(set(denied.split(", "))) == sorted(denied.split(", "))


@pytest.mark.parametrize("words", [("doctor",), ("get", "tasks"), ("watch",), ("status",)])
def test_where_only_the_key_is_missing_a_known_platform_is_named(
    command: Command, words: tuple[str, ...]
) -> None:
    with RecordedPaperclip(needs_key=False) as server:
        command.env["AGENTCO_BASE_URL"] = server.base
        ran = command(*words)
        assert [seen.line for seen in server.requests] == ["GET /api/health"]
        assert ran.code == (3 if words == ("status",) else 2)
        told = ran.out + ran.err
        assert "no API key: set AGENTCO_API_KEY" in told
        assert f"this is {VERSION}, which needs no key: {CHOOSE}" in told
        # So it works.
        assert "GLO-7" in command("get", "tasks", "--platform", "paperclip").out
        command.env["AGENTCO_PLATFORM"] = "paperclip"
        assert "GLO-7" in command("get", "tasks").out


def test_where_only_the_key_is_missing_another_platform_is_not_named(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        command.env["AGENTCO_BASE_URL"] = platform.base_url
        ran = command("doctor")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)


def test_a_viewer_is_told_so_and_sends_nothing(command: Command) -> None:
    why = "your role there is viewer: it may not change anything"
    with RecordedPaperclip() as server:
        on(command, server.base, VIEWER_KEY)
        assert f"▲ {why}" in command("doctor").lines
        assert json.loads(command("doctor", "--json").out)["why_read_only"] == why
        ran = command("set-limit", AGENT, "20")
        assert (ran.code, ran.out.strip().endswith(why)) == (2, True)
        assert {seen.method for seen in server.requests} == {"GET"}
        on(command, server.base, KEY)
        assert why not in command("doctor").out
        server.requests.clear()
        assert command("set-limit", AGENT, "20", "--wait", "1").code != 2
        lines = [seen.line for seen in server.requests]
        assert lines.count("GET /api/cli-auth/me") == 1
        assert f"PATCH /api/agents/{AGENT}/budgets" in lines
