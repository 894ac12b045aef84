"""The real dashboard ended while polls hang and an approval is on its way.

`AGENTCO_SIGNAL_RUNS=20` tries each end twenty times and then wants it within one second.
"""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.platform import EmbeddedPlatform
from tests.terminal.calm import RUNS, assert_restored_late, block, gone_after
from tests.terminal.dashboard import approve, dashboard, leave

pytestmark = pytest.mark.timeout(400)

TASKS = ("--screen", "tasks", "--refresh", "0.5")
ENDS = ["SIGHUP", "hang-up ignored", "blocked SIGTERM"]
"""Without an approval on its way, and with every other signal, they are in tests/terminal."""


@pytest.fixture(scope="module")
def platform() -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(seed=7, speed=0, companies=2) as running:
        yield running


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("end", ENDS)
def test_ended_with_an_approval_on_its_way(
    platform: EmbeddedPlatform, end: str, run: int, tmp_path: Path
) -> None:
    platform.faults.clear()
    ignored = [signal.SIGHUP] if "ignored" in end else []
    with dashboard(platform, tmp_path, *TASKS, ignored=ignored) as session:
        session.wait_for("TASKS ▌pending")
        session.wait_for("live")
        session.wait_quiet(0.2)
        hangs = platform.faults.add("approve:hang")
        approve(session)
        session.wait_for(lambda _: hangs.struck == 1)
        polls = platform.faults.add("reads:hang")
        session.press("r")
        session.wait_for(lambda _: polls.struck > 0)
        if end.startswith("hang-up"):
            assert gone_after(session, session.hang_up) == 128 + signal.SIGHUP
        else:
            number = signal.Signals[end.rsplit(maxsplit=1)[-1]]
            if "blocked" in end:
                block(session, "123456" * 7)
            assert gone_after(session, lambda: session.signal(number)) == 128 + number
            assert_restored_late(session)
            assert "Traceback" not in session.after_screen()
    state = tmp_path / "state" / "agentco-tui"
    entries = [json.loads(line) for line in (state / "journal.jsonl").read_bytes().splitlines()]
    assert [entry["kind"] for entry in entries] == ["attempt"], "written before it was sent"
    assert not list(state.glob("crash-*"))


def test_a_state_folder_that_cannot_be_written_is_told_and_costs_no_figure(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    platform.faults.clear()
    # A file where the folder should be: root writes anywhere else.
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "agentco-tui").write_text("in the way")
    before = len(platform.requests.matching("approve"))
    with dashboard(platform, tmp_path, *TASKS) as session:
        session.wait_for("TASKS ▌pending")
        session.wait_for("live")
        seen = session.wait_for("writing is off")
        assert "state folder" in seen
        assert "writing off" in seen.split("\n")[0]
        session.press("a")
        session.press("2")
        seen = session.wait_for("COMPANIES all")
        assert "APPROVE 1 task" not in seen, "keys are taken in turn, so that it would show by now"
        assert "writing is off" in seen
        leave(session)
    assert len(platform.requests.matching("approve")) == before, "nothing without the journal"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_a_full_disk_is_told_and_nothing_is_sent(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    platform.faults.clear()
    before = len(platform.requests.matching("approve"))
    state = tmp_path / "state" / "agentco-tui"
    state.mkdir(parents=True, mode=stat.S_IRWXU)
    with dashboard(platform, tmp_path, *TASKS) as session:
        session.wait_for("TASKS ▌pending")
        session.wait_for("live")
        # No disk can be filled here without harm; a journal that takes no byte is the same to us.
        (state / "journal.jsonl").symlink_to("/dev/full")
        approve(session)
        session.wait_for("nothing is sent")
        session.wait_for("1 to look at")
        session.press("q")
        assert session.wait_gone() == 0
    assert len(platform.requests.matching("approve")) == before
