"""Once: whatever happens to the journal, under whatever name and profile, the server counts one."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.outside.console import Console, scene
from tests.outside.platform import Platform, approves
from tests.terminal.pty_session import NotSeenError

PAY, OTHER = "Pay $40 to ACME", "Pay Bolt"


def file(folder: Path) -> Path:
    """Where the program keeps its journal."""
    return folder / "state" / "agentco-tui" / "journal.jsonl"


def profile(platform: Platform, name: str, host: str) -> tuple[str, dict[str, str | None]]:
    """The text of a config with a profile that calls the platform by a name, and what starts it."""
    config = f"""
[profiles.{name}]
base_url = "http://{host}:{platform.port}"
api_key_env = "OUTSIDE_KEY"
"""
    without = {"AGENTCO_BASE_URL": None, "AGENTCO_API_KEY": None}
    return config, {**without, "AGENTCO_PROFILE": name, "OUTSIDE_KEY": platform.full_key}


def try_it(console: Console, title: str) -> None:
    """Press `a`, and `y` to the question if one opens: a person who won't take no for an answer."""
    console.to(title)
    console.press("a")
    with contextlib.suppress(NotSeenError):
        console.box_shows("APPROVE 1 task", timeout=2.0)
        console.yes()


def killed_in_flight(platform: Platform, console: Console) -> None:
    """The dashboard approves and is killed; the platform does it, and its answer goes nowhere."""
    held = console.approve_held(PAY, approves("t1"), applied=True)
    console.signal(signal.SIGKILL)
    console.wait_gone()
    held.drop()


def replaced_by_older(path: Path) -> None:
    """A backup of before is put in its place."""
    older = path.with_name("older")
    older.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    older.replace(path)


def linked(path: Path) -> None:
    """A copy of it lies elsewhere now."""
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)


MEDDLING: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "cut short": lambda path: os.truncate(path, 0),
    "replaced by another file": replaced_by_older,
    "replaced by a link": linked,
}


@pytest.mark.parametrize("how", MEDDLING)
def test_a_journal_meddled_with_under_an_approval(tmp_path: Path, how: str) -> None:
    with Platform() as platform:
        platform.add_all({"t0": "Pay Cog", "t1": PAY, "t2": OTHER})
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            console.approve("Pay Cog", "approved here")
            held = console.approve_held(PAY, approves("t1"))
            MEDDLING[how](file(tmp_path))
            told = (how.rsplit(maxsplit=1)[-1], "nothing is")
            try_it(console, PAY)
            try_it(console, OTHER)
            console.until(
                lambda: len(platform.posts()) > 2 or all(said in console.text for said in told),
                "what happened to the journal",
            )
            assert [len(platform.posts(task)) for task in ("t1", "t2")] == [1, 0]
            held.release()
            console.line_shows(PAY, "approved here")
            assert [len(platform.posts(task)) for task in ("t1", "t2")] == [1, 0]
            written = "" if how == "replaced by a link" else "approved here"
            assert console.outcomes("t1") == [written]
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            console.approve(OTHER, "approved here")
        assert [applied.was["id"] for applied in platform.approvals] == ["t0", "t1", "t2"]
        assert all(len(platform.posts(task)) == 1 for task in ("t0", "t1", "t2"))


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST"])
def test_two_names_of_one_platform_and_one_task(tmp_path: Path, host: str) -> None:
    with Platform() as platform:
        platform.task("t1", PAY)
        config, env = profile(platform, "two", host)
        with (
            Console(platform, tmp_path, "--screen", "tasks") as one,
            Console(platform, tmp_path, "--screen", "tasks", config=config, env=env) as two,
        ):
            held = platform.hold(approves("t1"), times=None)
            one.ask(PAY)
            two.ask(PAY)
            one.yes()
            held.arrived()
            with contextlib.suppress(NotSeenError):  # it may not be taken any more
                two.yes(tries=2)
            two.until(
                lambda: re.search(r"another\s+dashboard", two.text) or len(platform.posts()) > 1,
                "what the other dashboard does",
            )
            assert len(platform.posts("t1")) == 1
            held.release()
            one.line_shows(PAY, "approved here")
        assert len(platform.posts("t1")) == len(platform.approvals) == 1


def test_an_unknown_of_another_profile_is_taken_up_after_kill_9(tmp_path: Path) -> None:
    with Platform() as platform:
        platform.add_all({"t1": PAY, "t2": OTHER})
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            killed_in_flight(platform, console)
        config, env = profile(platform, "two", "localhost")
        with Console(
            platform, tmp_path, "--screen", "tasks", config=config, env=env, start=False
        ) as two:
            two.wait_for(re.compile(r"1\s+write\s+of\s+an\s+earlier\s+run|left\s+unsettled"))
            two.until(lambda: two.outcomes("t1") == ["approved"], "the outcome in the journal")
        assert len(platform.posts("t1")) == 1


def test_an_unknown_is_taken_up_by_one_of_two(tmp_path: Path) -> None:
    """Three dashboards, of which the one at work is killed: one line of outcome in the journal."""
    with (
        scene(tmp_path, {"t1": PAY, "t2": OTHER}) as (platform, one),
        Console(platform, tmp_path, "--screen", "tasks") as two,
        Console(platform, tmp_path, "--screen", "tasks") as three,
    ):
        killed_in_flight(platform, three)
        one.until(lambda: one.outcomes("t1") == ["approved"], "the outcome in the journal")
        said = re.compile(r"write\s+of\s+an\s+earlier\s+run|left\s+unsettled")
        assert sum(bool(said.search(console.text)) for console in (one, two)) == 1
    lines = file(tmp_path).read_text()
    assert lines.count('"kind":"attempt"') == 2, "as it was sent, and as it was taken up"
    assert lines.count('"kind":"outcome"') == 1
    assert len(platform.posts("t1")) == 1


def test_leaving_with_an_approval_in_flight_says_so(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": PAY}) as (_, console):
        held = console.approve_held(PAY, approves("t1"))
        console.press("ctrl+c")
        console.wait_gone()
        held.drop()
        said = re.sub(r"\s+", " ", console.after_screen())
        words = "1 approval was sent and not yet settled: agentco-tui journal --since 10m"
        assert words in said
        assert f"approve “{PAY}” t1" in said
        shown = console.run("journal", "--since", "10m").stdout
        assert f"“{PAY}” t1" in shown
        assert "unknown: no outcome is written" in shown


def test_an_outcome_that_cannot_be_noted_was_sent_and_says_so(tmp_path: Path) -> None:
    with Platform() as platform:
        platform.add_all({"t1": PAY, "t2": PAY})
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            held = console.approve_held(PAY, approves())
            file(tmp_path).rename(file(tmp_path).with_name("away"))
            file(tmp_path).mkdir()
            held.release()
            missing = "only the note of this is missing"
            console.until(lambda: missing in console.notices(), missing)
            # A notice of its own says, a second later, that nothing more is sent.
            notice = re.search(r"Pay \$40[^▲]*is missing", console.notices())
            assert notice
            assert "nothing is sent" not in notice.group()
            file(tmp_path).rmdir()
            file(tmp_path).with_name("away").rename(file(tmp_path))
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            console.approve(PAY, "approved here")
            lines = file(tmp_path).read_text().splitlines()
            assert all(PAY in line and "Acme Robotics" in line for line in lines)
            said = console.run("journal").stdout
            assert all(f"“{PAY}” {task} (Acme Robotics cmp_acme" in said for task in ("t1", "t2"))
        assert [len(platform.posts(task)) for task in ("t1", "t2")] == [1, 1]
