"""What comes to the outermost terminal of copies and links: bare, in tmux, in GNU screen."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.terminal.dashboard import command, dashboard, ready, show
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import PtySession

ID = re.compile(rb"\x1b\]52;c?;([A-Za-z0-9+/=]+)\x07")


def with_links(platform: PlatformProcess, folder: Path) -> Path:
    """A config file by which the title of a detail is a link."""
    config = folder / "config.toml"
    config.write_text(
        f'[profiles.prod]\nbase_url = "{platform.base_url}"\napi_key_env = "PROD_KEY"\n'
        'web_url = "https://web.example/{kind}/{id}"\n'
    )
    return config


def copied(session: PtySession, words: str) -> str:
    """Copy the id of the first task; what has come to the terminal. Its title in the detail is a
    link, or the words of one: nothing of the sequence stands on the screen.
    """
    ready(session)
    show(session, 4)
    session.wait_for("Description")
    assert "]8;" not in session.text
    assert "web.example" not in session.text
    mark = session.mark()
    session.press("y")
    session.wait_for(lambda screen: words in " ".join(screen.split()))
    session.catch_up()
    found = ID.findall(session.since(mark))
    return base64.b64decode(found[-1]).decode() if found else ""


@contextmanager
def in_tmux(
    platform: PlatformProcess, folder: Path, option: str, **env: str
) -> Iterator[PtySession]:
    """The dashboard in a tmux of its own, whose client is the terminal that is looked at."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    (folder / "tmux.conf").write_text(
        f"set -g set-clipboard {option}\nset -g default-terminal tmux-256color\n"
    )
    tmux = ["tmux", "-S", str(folder / "tmux"), "-f", str(folder / "tmux.conf")]
    links = {"AGENTCO_CONFIG": str(with_links(platform, folder))}
    environment = {**settings(platform, folder), **links, "TMUX_TMPDIR": str(folder), **env}
    try:
        with PtySession([*tmux, "new-session", *command()], size=(120, 40), env=environment) as one:
            yield one
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True, check=False)


def test_a_bare_terminal_is_asked(platform: PlatformProcess, tmp_path: Path) -> None:
    with dashboard(platform, tmp_path, env={"SSH_TTY": "/dev/pts/9", "DISPLAY": ":9"}) as session:
        assert copied(session, "sent to the terminal (OSC 52): tsk_").startswith("tsk_")


def test_the_title_is_a_link_that_is_not_written_again(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    config = with_links(platform, tmp_path)
    env = {"PROD_KEY": platform.full_key, "AGENTCO_BASE_URL": None, "AGENTCO_API_KEY": None}
    with dashboard(platform, tmp_path, "--config", str(config), env=env) as session:
        ready(session)
        show(session, 4)
        link = re.compile(
            rb"\x1b\]8;;https://web\.example/task/(tsk_\w+)\x1b\\(?:\x1b\[[\d;]*m)*[^\x1b]+\x1b"
        )
        session.wait_raw(b"\x1b]8;;h")
        session.wait_quiet()
        first = link.findall(session.raw)[-1]
        mark = session.mark()
        session.press("j")
        session.wait_raw(b"\x1b]8;;h", mark=mark)
        mark = session.wait_quiet()
        assert link.findall(session.raw)[-1] != first
        session.press("r")
        session.wait_quiet()
        assert b"\x1b]8;" not in session.since(mark)
        assert session.raw.count(b"\x1b]8;;h") == session.raw.count(b"\x1b]8;;\x1b\\")


@pytest.mark.parametrize("option", ["external", "on"])
def test_through_tmux_whatever_it_is_set_to(
    option: str, platform: PlatformProcess, tmp_path: Path
) -> None:
    with in_tmux(platform, tmp_path, option) as session:
        words = "in tmux's buffer"
        assert copied(session, words).startswith("tsk_")


def test_past_screen_in_a_string_for_its_terminal(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    if shutil.which("screen") is None:
        pytest.skip("GNU screen is not installed")
    sockets = tmp_path / "screen"
    sockets.mkdir(mode=0o700)
    links = {"AGENTCO_CONFIG": str(with_links(platform, tmp_path))}
    env = {**settings(platform, tmp_path), **links, "SCREENDIR": str(sockets)}
    argv = ["screen", "-c", "/dev/null", "-U", *command()]
    with PtySession(argv, size=(120, 40), env=env) as session:
        assert copied(session, "sent to the terminal (OSC 52): tsk_").startswith("tsk_")
        session.press("q")
        session.wait_gone()
