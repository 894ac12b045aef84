"""Views, columns and themes as they are found again; light or dark by what the terminal answers."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.terminal.dashboard import assert_restored, dashboard, ready
from tests.terminal.platform_process import PlatformProcess

ASKS = b"\x1b]11;?\x07\x1b[c"
KIND = b"\x1b[?62;22c"
LIGHT, DARK = b"48;5;231", b"48;5;233"  # the grounds of lists
UNKNOWN: dict[str, str | None] = {"COLORFGBG": None}

CONFIG = """
[views.mine]
screen = "tasks"
filter = "priority>=high"
columns = ["task", "id"]
"""


def test_a_view_has_a_key_and_columns_and_theme_are_found_again(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    named = ("--config", str(config))
    with dashboard(platform, tmp_path, *named, replies={ASKS: KIND}, env=UNKNOWN) as session:
        ready(session)
        session.wait_for("7 mine")
        session.press("7")
        session.wait_for("/priority>=high")
        assert "AGENT" not in session.text
        session.press("4")
        session.wait_for("WAITS")
        session.press("C")
        session.wait_for("[x] WAITS")
        session.press("space", "esc")
        session.wait_for(lambda screen: "WAITS" not in screen)
        session.press(":theme agentco-light", "enter")
        session.wait_for(lambda _: LIGHT in session.raw)
        session.press("q")
        assert session.wait_gone() == 0
        assert ASKS in session.raw
        assert_restored(session)
    with dashboard(platform, tmp_path, *named, env=UNKNOWN) as session:
        session.wait_for("PRIORITY")
        assert "WAITS" not in session.text
        assert LIGHT in session.raw
        assert ASKS not in session.raw, "a theme is known"


@pytest.mark.parametrize(
    ("ground", "painted"),
    [(b"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\", LIGHT), (b"\x1b]11;rgb:1e/1e/1e\x07", DARK)],
)
def test_it_is_light_or_dark_as_the_terminal_answers_and_keys_typed_meanwhile_arrive(
    platform: PlatformProcess, tmp_path: Path, ground: bytes, painted: bytes
) -> None:
    # The keys are on their way between the two answers, as on a slow line.
    replies = {ASKS: b"4" + ground + b"jj" + KIND}
    with dashboard(platform, tmp_path, replies=replies, env=UNKNOWN) as session:
        session.wait_for("TASKS ▌pending")
        session.wait_for(lambda _: painted in session.raw)
        third = session.wait_for(lambda screen: screen.split("\n")[6][:1] == "▌").split("\n")[6]
        assert third
        session.press("q")
        assert session.wait_gone() == 0
        assert_restored(session)
        assert b"]11;rgb" not in session.raw, "no answer is echoed"


def test_a_terminal_that_never_answers_is_dark_and_what_it_says_late_is_no_key(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path, env=UNKNOWN) as session:
        ready(session)
        assert DARK in session.raw
        session.write(b"\x1b]11;rgb:ffff/ffff/ffff\x07" + KIND)
        session.press("?")
        session.wait_for("Keys on Overview")
        assert LIGHT not in session.raw


def test_ended_while_it_asks_the_terminal_echoes_again(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path, env=UNKNOWN) as session:
        session.wait_raw(ASKS)
        session.signal(signal.SIGTERM)
        assert session.wait_gone() == 128 + signal.SIGTERM
        assert_restored(session)
