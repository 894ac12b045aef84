"""An agent that burns its limit is named by the real program, on a new installation."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.test_tail import Lines
from tests.outside.platform import Platform
from tests.outside.script import Request
from tests.terminal.apps.hurried import READS
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import REPOSITORY, PtySession, clean_environment

A_READ = 10.0  # dollars, and half a minute: $20 a minute
NAMED = re.compile(r"Ada spends ~\$\d\d/min")
REACHED = re.compile(r"limit reached in ~\d\d min")


def agents_budgets(request: Request) -> bool:
    return request.path == ("budget", "agents")


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "tests.terminal.apps.hurried", "--refresh", "0.5", *words]


@pytest.fixture
def burning() -> Iterator[Platform]:
    """A platform on which Ada's spending goes from $129 to $229 of $600 in five minutes."""
    with Platform() as platform:
        ada = platform.agent_budgets[0]
        ada.update(monthly_limit=600, spent=129.0, currency="USD")

        def spend(_: Request) -> None:
            ada["spent"] += A_READ

        platform.at(agents_budgets, spend, times=READS)
        yield platform


@pytest.mark.parametrize(("screen", "size"), [("overview", (80, 24)), ("tasks", (120, 40))])
def test_she_is_named_on_the_overview(
    burning: Platform, tmp_path: Path, screen: str, size: tuple[int, int]
) -> None:
    """Also where the dashboard was on another screen while it happened."""
    about = settings(burning, tmp_path)
    with PtySession(program("--screen", screen), env=about, size=size) as session:
        burning.wait_for(agents_budgets, READS)
        if screen != "overview":
            session.wait_for("✖ 1")
            session.press("1")
        text = session.wait_for(lambda shown: bool(NAMED.search(shown)))
        [line] = [line for line in text.split("\n") if NAMED.search(line)]
        assert "✖" in line
        assert "burning" in line
        assert re.search(r"limit (reached )?in ~\d\d min", line), "whatever room it has"


def test_watch_notifies_of_her(burning: Platform, tmp_path: Path) -> None:
    environment = clean_environment(settings(burning, tmp_path))
    with subprocess.Popen(
        program("watch"),
        env=environment,
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as child:
        try:
            line = Lines(child.stdout).until("Ada spends")
        finally:
            child.kill()
    assert " critical: " in line
    assert NAMED.search(line)
    assert REACHED.search(line), line
    assert "% of $600.00, Acme Robotics)" in line
