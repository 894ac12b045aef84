"""A platform that dies and comes back, and keys that don't open: what the person reads of it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.terminal.dashboard import LIVE, back, dashboard, leave, ready, say_yes, show, shows
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

TITLE = "Refund 214 customers"
"""A task of the first screen."""
AGE = re.compile(r"\d+ s old")
AGAIN = re.compile(r"again (in \d+ s|now)")
FAST = ("--refresh", "0.5")


def check_lost(screen: str, reason: str) -> None:
    """The data stays, with its age, the reason in words, and when it is asked again."""
    assert TITLE in screen
    assert "Acme Robotics" in screen
    assert AGE.search(screen)
    assert AGAIN.search(screen)
    assert reason in screen
    assert not LIVE.search(screen)


def test_the_platform_that_was_not_there_comes_dies_and_comes_back(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    platform.kill()
    with dashboard(platform, tmp_path, *FAST) as session:
        screen = session.wait_for("no data yet")
        assert "NEEDS YOU" in screen
        session.wait_for("nothing answers at 127.0.0.1")
        platform.start()
        session.wait_for(lambda screen: TITLE in screen)
        ready(session)
        platform.kill()
        shows(session, lambda screen: check_lost(screen, "nothing answers at 127.0.0.1"))
        assert "unreachable" in session.text.split("\n")[0]
        show_stale(session, 4, TITLE)
        show_stale(session, 1, TITLE)
        platform.start()
        back = session.wait_for(lambda screen: bool(LIVE.search(screen)))
        assert TITLE in back
        screen = session.wait_for(lambda screen: not AGE.search(screen) and TITLE in screen)
        assert "unreachable" not in screen
        leave(session)


def show_stale(session: PtySession, number: int, words: str) -> None:
    """Another screen, while nothing answers, shows its last data too."""
    session.press(str(number))
    session.wait_for(lambda screen: f"▌{number} " in screen and words in screen)


def test_a_wrong_key_at_the_start(platform: PlatformProcess, tmp_path: Path) -> None:
    with dashboard(platform, tmp_path, key="ag_wrong_key_of_nobody", size=(100, 30)) as session:
        screen = session.wait_for("the key is missing or invalid")
        assert "AGENTCO_API_KEY" in screen
        assert "no data yet" in screen
        assert "key rejected" in screen
        for number, name in ((4, "TASKS"), (5, "BUDGET"), (6, "ACTIVITY"), (2, "COMPANIES")):
            session.press(str(number))
            session.wait_for(re.compile(f"key rejected.*\n.*\n {name}"))
        leave(session)


def test_a_key_revoked_in_the_middle_and_given_back(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path, *FAST) as session:
        ready(session)
        platform.change(revoke="full")
        shows(session, lambda screen: check_lost(screen, "the key is missing or invalid"))
        assert "AGENTCO_API_KEY" in session.text
        platform.change(restore="full")
        session.wait_for(lambda screen: bool(LIVE.search(screen)))
        session.wait_for(lambda screen: not AGE.search(screen))
        leave(session)


def test_an_approval_with_a_key_revoked_meanwhile(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path, "--screen", "tasks", "--refresh", "60") as session:
        session.wait_for(TITLE)
        session.press("a")
        session.wait_for("APPROVE 1 task")
        platform.change(revoke="full")
        say_yes(session, "APPROVE 1 task")
        session.wait_for("key is missing or invalid")
        assert platform.world()["applied"] == {}
        leave(session)


def test_read_only_and_thin_are_shown_and_writing_is_refused(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    env: dict[str, str | None] = {"AGENTCO_READ_ONLY": "1"}
    with dashboard(platform, tmp_path, "--thin", env=env) as session:
        ready(session)
        assert "read-only" in session.text.split("\n")[0]
        assert " thin" in session.text.split("\n")[0]
        for number, keys in ((4, "an"), (2, "nc"), (3, "l")):
            show(session, number)
            for key in keys:
                session.press(key)
                screen = session.wait_for("writing is off")
                assert not re.search("APPROVE|CREATE|CLONE|SET LIMIT", screen)
        session.press("?")
        session.wait_for("Keys on Agents")
        assert "writing is off" in session.text
        back(session, "Keys on")
        assert {seen["method"] for seen in platform.requests()} == {"GET"}
        leave(session)
