"""Detail and trace in a pager that has the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.terminal.dashboard import back, dashboard, leave, ready, show
from tests.terminal.platform_process import PlatformProcess

ROW = re.compile(r" (?:low|medium|high|urgent) +\S+ \S+")


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    """Shows what it is given, notes it with its environment, and ends at a key."""
    script = tmp_path / "pager"
    script.write_text(
        f'#!/bin/sh\nfor last; do :; done\ncp "$last" {tmp_path}/paged\nenv > {tmp_path}/env\n'
        'cat "$last"\necho PAGED\nread answer\n[ "$answer" != fail ]\n'
    )
    script.chmod(0o755)
    return script


def test_detail_and_trace_and_back_whole(
    pager: Path, platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path, env={"PAGER": f"{pager} --option"}) as session:
        ready(session)
        show(session, 4)
        session.press("o")
        session.wait_for("PAGED")
        paged = (tmp_path / "paged").read_text()
        assert re.search(r"^id +tsk_", paged, re.MULTILINE)
        assert "Description" in paged
        assert platform.full_key not in (tmp_path / "env").read_text()
        session.press("enter")
        session.wait_for("TASKS")
        session.wait_for(lambda screen: len(ROW.findall(screen)) > 30 and "q quit" in screen)
        session.press("t")
        session.wait_for("TRACE")
        session.wait_for("again")
        session.wait_for(lambda screen: "reading the trace" not in screen)
        mark = session.mark()
        session.press("o")
        session.wait_raw(b"PAGED", mark=mark)
        assert (tmp_path / "paged").read_text().startswith("  1  ")
        assert len((tmp_path / "paged").read_text().split("\n")) > 20, "all of it, unfolded"
        session.press("fail", "enter")
        session.wait_for("ended with exit code 1")
        session.press("enter")
        session.wait_for("TRACE")
        back(session, "TRACE")
        leave(session)


def test_less_stays_and_without_any_it_is_said(platform: PlatformProcess, tmp_path: Path) -> None:
    with dashboard(platform, tmp_path, env={"PAGER": "less", "LESS": "-FX"}) as session:
        ready(session)
        show(session, 4)
        session.press("o")
        session.wait_for("(END)")
        session.press("q")
        session.wait_for("TASKS")
        leave(session)
    with dashboard(platform, tmp_path, env={"PAGER": "none-such"}) as session:
        ready(session)
        show(session, 4)
        session.press("o")
        session.wait_for("the pager none-such was not found")
        leave(session)
