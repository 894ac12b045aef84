"""What is remembered between two runs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agentco_tui.system.state_folder import (
    MOST_PROFILES,
    ListMemory,
    Remembered,
    read_remembered,
    remember,
)


def test_each_profile_is_remembered_by_itself(tmp_path: Path) -> None:
    memory = tmp_path / "state" / "remembered.json"
    prod = Remembered("tasks", {"tasks": ListMemory("priority", True, "agent:linus")})
    remember(memory, "prod", prod)
    remember(memory, "demo", Remembered("budget"))
    assert read_remembered(memory)["prod"] == prod
    assert read_remembered(memory)["demo"].screen == "budget"
    assert "other" not in read_remembered(memory)


def test_the_profile_left_the_longest_time_ago_gives_way(tmp_path: Path) -> None:
    memory = tmp_path / "remembered.json"
    remember(memory, "daily", Remembered("tasks"))
    for number in range(MOST_PROFILES + 10):
        remember(memory, f"seldom-{number}", Remembered("agents"))
        assert read_remembered(memory)["daily"].screen == "tasks"
        remember(memory, "daily", Remembered("tasks"))
    known = read_remembered(memory)
    assert len(known) == MOST_PROFILES
    assert known["daily"].screen == "tasks"
    assert "seldom-0" not in known
    assert f"seldom-{MOST_PROFILES + 9}" in known


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    memory = tmp_path / "state" / "remembered.json"
    remember(memory, "prod", Remembered("tasks"))
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600
    assert stat.S_IMODE(memory.parent.stat().st_mode) == 0o700
    assert [path.name for path in memory.parent.iterdir()] == ["remembered.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"prod": 3}', b"\xff\xfe"])
def test_a_file_that_makes_no_sense_is_as_good_as_none(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    memory = tmp_path / "remembered.json"
    memory.write_bytes(content)
    assert read_remembered(memory) == {}
    assert "can't be recalled" in caplog.text
    remember(memory, "prod", Remembered("tasks"))
    assert read_remembered(memory)["prod"].screen == "tasks"


def test_a_folder_that_cannot_be_written_is_told_and_nothing_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    remember(blocked / "remembered.json", "prod", Remembered("tasks"))
    assert "can't be remembered" in caplog.text
