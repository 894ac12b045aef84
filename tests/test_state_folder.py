"""What is remembered between two runs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agentco_tui.state_folder import ListMemory, Memory, Remembered


def test_each_profile_is_remembered_by_itself(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state" / "remembered.json")
    prod = Remembered("tasks", {"tasks": ListMemory("priority", True, "agent:linus")})
    memory.keep("prod", prod)
    memory.keep("demo", Remembered("budget"))
    assert memory.recall("prod") == prod
    assert memory.recall("demo").screen == "budget"
    assert memory.recall("other") == Remembered()


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state" / "remembered.json")
    memory.keep("prod", Remembered("tasks"))
    assert stat.S_IMODE(memory.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(memory.path.parent.stat().st_mode) == 0o700
    assert [path.name for path in memory.path.parent.iterdir()] == ["remembered.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"prod": 3}', b"\xff\xfe"])
def test_a_file_that_makes_no_sense_is_as_good_as_none(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(tmp_path / "remembered.json")
    memory.path.write_bytes(content)
    assert memory.recall("prod") == Remembered()
    assert "can't be recalled" in caplog.text
    memory.keep("prod", Remembered("tasks"))
    assert memory.recall("prod").screen == "tasks"


def test_a_folder_that_cannot_be_written_is_told_and_nothing_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    Memory(blocked / "remembered.json").keep("prod", Remembered("tasks"))
    assert "can't be remembered" in caplog.text
