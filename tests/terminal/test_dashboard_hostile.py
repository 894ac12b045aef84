"""Hostile text from the platform reaches no terminal as it is."""

from __future__ import annotations

import re
from pathlib import Path

from tests.terminal.dashboard import LIVE, TITLES, back, dashboard, leave, shows
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

SEQUENCE = re.compile(rb"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\x00-\x1f\x7f]", re.DOTALL)
POINTER = re.compile(rb"\x1b\]22;[a-z-]*\x07")
"""The shape of the mouse pointer: the one operating system command that Textual itself writes."""
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
INVISIBLE = "\u200b\u2060\ufeff\U000e0041\u2028\u2029"
C1 = "".join(map(chr, range(0x80, 0xA0)))


def walk(platform: PlatformProcess, folder: Path, *, hostile: bool) -> bytes:
    """Every screen, its detail with and without hidden characters, the trace, and the question."""
    with dashboard(platform, folder) as session:
        session.wait_for(LIVE)
        for number, title in enumerate(TITLES, start=1):
            session.press(str(number))
            session.wait_for(title)
            session.wait_for(lambda screen: "loading" not in screen)
            read_details(session, number)
        for number in (1, 4):
            session.press(str(number))
            session.wait_for(TITLES[number - 1])
        session.press("a")
        session.wait_for("APPROVE 1 task")
        session.wait_for("trace  ")
        back(session, "APPROVE 1 task")
        session.press("t")
        session.wait_for("TRACE")
        session.wait_for("a approve  r read again")
        session.wait_for(lambda screen: "reading the trace" not in screen)
        session.press("x")
        if hostile:
            session.wait_for(lambda screen: "\\x1b" in screen or "\\u" in screen)
        back(session, "read again")
        leave(session)
        return POINTER.sub(b"", session.raw)


def read_details(session: PtySession, number: int) -> None:
    """Open the detail of some records, with hidden characters shown too."""
    for _ in range(3):
        session.press("j", "x", "x")
    if number in (3, 4, 5, 6):
        session.press("enter", "x")
        session.wait_for("esc back")
        back(session, "esc back")


def escapes(raw: bytes) -> set[bytes]:
    """The kinds of sequences and control characters written, without their figures."""
    return {re.sub(rb"\d+(;\d+)*", b"#", found) for found in SEQUENCE.findall(raw)} - {b"\n"}


def test_hostile_text_writes_nothing_that_clean_text_does_not(tmp_path: Path) -> None:
    with PlatformProcess() as platform:
        clean = walk(platform, tmp_path / "clean", hostile=False)
    with PlatformProcess("--fault", "*:hostile") as platform:
        dirty = walk(platform, tmp_path / "dirty", hostile=True)
    assert escapes(dirty) <= escapes(clean)
    assert b"\x1b]" not in dirty
    assert b"\x1bP" not in dirty
    assert b"\x1b_" not in dirty
    assert b"\x07" not in dirty
    text = dirty.decode("utf-8")
    assert not set(text) & set(BIDI + INVISIBLE + C1)
    assert "evil.example" in text, "the hostile texts were there to be shown"
    assert not re.search(r"[\ud800-\udfff\ufdd0\ufffe]", text)


def test_the_rows_stay_straight_under_hostile_text(tmp_path: Path) -> None:
    with (
        PlatformProcess("--fault", "*:hostile") as platform,
        dashboard(platform, tmp_path, "--screen", "tasks", size=(100, 30)) as session,
    ):
        shows(session, straight)
        leave(session)


def straight(screen: str) -> None:
    """Columns begin where their titles do, on every row."""
    rows = [row.ljust(100) for row in screen.split("\n")]
    assert rows[0].startswith(" agentco")
    assert rows[-1].startswith(" a approve")
    for name in ("TASK  ", "AGENT", "COMPANY"):
        assert name in rows[3]
        at = rows[3].index(name)
        assert all(row[at - 1] == " " and row[at] != " " for row in rows[4:-1])
