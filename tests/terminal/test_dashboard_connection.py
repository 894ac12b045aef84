"""A platform that dies and comes back, and keys that don't open: what the person reads of it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.terminal.dashboard import LIVE, back, dashboard, leave, ready, show, shows
from tests.terminal.platform_process import PlatformProcess

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


def test_the_platform_comes_dies_and_comes_back_and_so_does_the_key(
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
        for number in (4, 1):  # another screen, while nothing answers, shows its last data too
            session.press(str(number))
            session.wait_for(lambda screen: f"▌{number} " in screen and TITLE in screen)  # noqa: B023
        platform.start()
        back = session.wait_for(lambda screen: bool(LIVE.search(screen)))
        assert TITLE in back
        screen = session.wait_for(lambda screen: not AGE.search(screen) and TITLE in screen)
        assert "unreachable" not in screen
        platform.change(revoke="full")
        shows(session, lambda screen: check_lost(screen, "the key is missing or invalid"))
        assert "AGENTCO_API_KEY" in session.text
        platform.change(restore="full")
        session.wait_for(lambda screen: bool(LIVE.search(screen)) and not AGE.search(screen))
        leave(session)


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
                assert not re.search("APPROVE|Create a|CLONE|SET LIMIT", screen)
        session.press("?")
        session.wait_for("Keys on Agents")
        assert "writing is off" in session.text
        back(session, "Keys on")
        assert {seen["method"] for seen in platform.requests()} == {"GET"}
        leave(session)
