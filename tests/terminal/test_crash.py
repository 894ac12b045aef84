"""Crash reports: complete, without locals, without keys, readable by their owner only."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NoReturn

import pytest
from textual.worker import WorkerFailed

from agentco_tui.terminal import crash

CANARY = "sk_canary_0123456789"


def raised(message: str) -> BaseException:
    def fail() -> NoReturn:
        secret = {"Authorization": f"Bearer {CANARY}"}
        assert secret
        raise ValueError(message)

    try:
        fail()
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    "message",
    [
        f"Authorization: Bearer {CANARY}",
        f"{{'authorization': 'Bearer {CANARY}'}}",
        f'"Authorization": "Basic {CANARY}"',
        f"api_key={CANARY}",
        f"{{'api-key': '{CANARY}'}}",
    ],
)
def test_what_looks_like_a_key_is_masked_and_there_are_no_locals(message: str) -> None:
    error = raised(f"{message} \x1b[31mred\x07 \u202e word")
    text = crash.Crash((error,), words="x\x9b31m").report(str)
    assert CANARY not in text
    assert "****" in text
    assert "ValueError" in text
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text)


def test_the_cause_within_a_workers_failure_is_told() -> None:
    found = crash.Crash((WorkerFailed(raised("within")),))
    assert found.told().startswith("ValueError in test_crash.py, line ")
    assert "within" not in found.told()
    assert "in raised" in found.report(str)
    assert crash.Crash((KeyError(CANARY),)).told() == "KeyError"
    assert crash.Crash((), "words").told() == "an error in the program"


def test_the_file_is_its_owners_only_and_old_ones_go(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "state"
    paths = [crash.write(crash.Crash((), f"number {n}"), folder, str) for n in range(23)]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(folder.iterdir()) == paths[-crash.KEPT :]
    (folder / "journal.jsonl").write_text("{}")
    crash.write(crash.Crash((), "again"), folder, str)
    assert (folder / "journal.jsonl").read_text() == "{}", "other files stay"
    assert stat.S_IMODE(paths[-1].stat().st_mode) == 0o600
    assert "number 22" in paths[-1].read_text()
