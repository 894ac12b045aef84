"""`agentco-tui --plain` on a terminal that can only print lines, as a screen reader has it."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from tests.terminal.dashboard import command
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import PtySession

PROMPT = "number, a N approve, t N trace, r refresh, q quit> "


def said(session: PtySession, mark: int = 0) -> str:
    """What was written since then, up to the next prompt."""
    session.wait_raw(PROMPT.encode(), mark=mark)
    return session.since(mark).decode().replace("\r\n", "\n")


def test_a_decision_in_plain_lines(tmp_path: Path) -> None:
    with PlatformProcess(speed=0) as platform:
        env = {**settings(platform, tmp_path), "TERM": "dumb"}
        with PtySession(command("--plain"), env=env) as session:
            needs = said(session)
            found = re.search(r"^(\d+)\. \w+: task waits .*Refund 214 customers.*$", needs, re.M)
            assert found is not None, needs
            assert re.search(r"^\d+ need you, \d+ tasks wait$", needs, re.M)
            for typed, words in (
                (found[1], "title            Refund 214 customers"),
                (f"t {found[1]}", "duration_seconds"),
                ("a 9999", "unknown command or number: “a 9999”"),
                ("²", "unknown command or number"),
            ):
                mark = session.mark()
                session.press(f"{typed}\n")
                assert words in said(session, mark), typed
            for answer, words in (("y", ""), ("yes", "approved: the platform said yes")):
                session.press(f"a {found[1]}\n")
                session.wait_raw(b"? type yes: ", mark=mark)
                question = session.since(mark).decode().rpartition("\n")[2]
                assert question.startswith(
                    "your yes is sent at once and can't be taken back; approve"
                )
                mark = session.mark()
                session.press(f"{answer}\n")
                told = said(session, mark)
                assert words in told
                assert ("approved" in told) is bool(words)
            mark = session.mark()
            session.press("r\n")
            assert "Refund 214 customers" not in said(session, mark)
            session.press("q\n")
            assert session.wait_gone() == 0
            assert b"\x1b" not in session.raw
            assert platform.full_key.encode() not in session.raw


def test_a_yes_that_was_pasted_with_the_question_approves_nothing(tmp_path: Path) -> None:
    with PlatformProcess(speed=0) as platform:
        env = {**settings(platform, tmp_path), "TERM": "dumb"}
        with PtySession(command("--plain"), env=env) as session:
            found = re.search(r"^(\d+)\. \w+: task waits .*$", said(session), re.M)
            assert found is not None
            mark = session.mark()
            session.write(f"a {found[1]}\nyes\n")
            session.wait_raw(b"? type yes: ", mark=mark)
            mark = session.mark()
            session.write("\n")
            assert "approved" not in said(session, mark)
            assert [each for each in platform.requests() if each["method"] == "POST"] == []


def test_it_ends_with_its_input_and_at_ctrl_c(tmp_path: Path) -> None:
    with PlatformProcess(speed=0) as platform:
        env = {**settings(platform, tmp_path), "TERM": "dumb"}
        with PtySession(command("--plain"), env=env) as session:
            said(session)
            session.press("ctrl+d")
            assert session.wait_gone() == 0
        with PtySession(command("--plain"), env=env) as session:
            said(session)
            session.press("ctrl+c")
            assert session.wait_gone() == 128 + signal.SIGINT
            assert "Traceback" not in session.text
        with PtySession(command(), env=env) as session:
            assert session.wait_gone() == 2
            assert "--plain` and `status`" in session.text
