"""Normal ends, errors in the program, and what is left of them: reports without locals or keys."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NoReturn

import pytest
from textual.worker import WorkerFailed

from agentco_tui.terminal import crash
from tests.terminal.calm import assert_no_key, assert_restored, calm, ends, gone_after, ready
from tests.terminal.picture import modes_left_on

PIXELS = {b"\x1b[?2048$p": b"\x1b[?2048;2$y", b"\x1b[?2026$p": b"\x1b[?2026;2$y"}
"""What a terminal answers that knows in-band resize: Textual turns pixel reports on then, and
leaves them on by itself."""


def test_the_harness_knows_which_modes_were_left_on() -> None:
    on = b"\x1b[?1049h\x1b[?1003;1006h\x1b[>25u\x1b[?25l\x1b[31mx"
    left = {"alternate screen", "mode 1003", "mode 1006", "kitty keyboard protocol"}
    assert modes_left_on(on) == left | {"cursor hidden", "colours"}
    off = b"\x1b[0m\x1b[<u\x1b[?1003l\x1b[?1006l\x1b[?1049l\x1b[?25h"
    assert modes_left_on(on + off) == set()
    assert modes_left_on(b"\x1b[?2004l\x1b[?2004h") == {"bracketed paste"}


@pytest.mark.parametrize(
    ("what", "key", "code"), [("", "q", 0), ("", "7", 7), ("system-exit", "x", 3)]
)
def test_a_normal_end(what: str, key: str, code: int, tmp_path: Path) -> None:
    session = ends(tmp_path, what, keys=key, code=code, replies=PIXELS)
    assert b"\x1b[?1016h" in session.raw
    assert session.after_screen() == ""
    assert not (tmp_path / "state").exists()


def test_a_normal_end_with_a_thread_that_cannot_be_stopped(tmp_path: Path) -> None:
    with calm(tmp_path, "thread") as session:
        ready(session)
        assert gone_after(session, lambda: session.press("q")) == 0
        assert_restored(session)
    assert (tmp_path / "ended").read_text() == "once\n"


@pytest.mark.parametrize(
    "where", ["handler", "worker", "thread-worker", "timer", "mount", "unmount", "panic", "writer"]
)
def test_an_error_in_the_program(where: str, tmp_path: Path) -> None:
    keys = {"mount": "", "unmount": "q"}.get(where, "x")
    session = ends(tmp_path, where, keys=keys, code=1)
    assert_no_key(session, tmp_path)
    told = session.after_screen().splitlines()
    (report,) = (tmp_path / "state").iterdir()
    assert len(told) == 2
    assert told[0].startswith("agentco-tui: stopped by an error: ")
    assert str(report) in "".join(told)
    text = report.read_text()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert stat.S_IMODE(report.parent.stat().st_mode) == 0o700
    assert "\x1b" not in text
    assert "textual " in text
    if where not in {"panic", "writer"}:
        assert "RuntimeError in calm.py, line " in told[0]
        assert "RuntimeError: a fault with" in text
        assert "****" in text
        assert "break_down" in text


def test_an_error_when_no_report_can_be_written_and_errors_go_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    ends(tmp_path, "handler", keys="x", code=1, stderr=tmp_path / "errors")
    told = (tmp_path / "errors").read_text().splitlines()
    assert len(told) == 2
    assert told[0].startswith("agentco-tui: stopped by an error: RuntimeError")
    assert told[1] == "no report could be written: File exists"


def test_a_task_that_nobody_waits_for_is_logged_and_does_not_print(tmp_path: Path) -> None:
    session = ends(tmp_path, "task", keys="xkq", code=0)
    assert session.after_screen() == ""
    assert_no_key(session, tmp_path)
    log = (tmp_path / "log").read_text()
    assert "Task exception was never retrieved" in log
    assert "RuntimeError: a fault with" in log


# ---- crash reports


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
    text = crash.Crash((error,), message="x\x9b31m").report(str)
    assert CANARY not in text
    assert "****" in text
    assert "ValueError" in text
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text)


def test_the_cause_within_a_workers_failure_is_told() -> None:
    found = crash.Crash((WorkerFailed(raised("within")),))
    assert found.summary().startswith("ValueError in test_ends.py, line ")
    assert "within" not in found.summary()
    assert "in raised" in found.report(str)
    assert crash.Crash((KeyError(CANARY),)).summary() == "KeyError"
    assert crash.Crash((), "words").summary() == "an error in the program"


def test_the_file_is_its_owners_only_and_old_ones_go(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "state"
    paths = [crash.write_report(crash.Crash((), f"number {n}"), folder, str) for n in range(23)]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(folder.iterdir()) == paths[-crash.MOST_REPORTS :]
    (folder / "journal.jsonl").write_text("{}")
    crash.write_report(crash.Crash((), "again"), folder, str)
    assert (folder / "journal.jsonl").read_text() == "{}", "other files stay"
    assert stat.S_IMODE(paths[-1].stat().st_mode) == 0o600
    assert "number 22" in paths[-1].read_text()
