"""What a person has put off: how long it holds, and how dashboards share it."""

from __future__ import annotations

import json
import stat
from datetime import datetime
from pathlib import Path

import pytest

from agentco_tui.attention.snooze import MOST, Snooze, Snoozes
from agentco_tui.live.insight import Level
from agentco_tui.model.period import DAY

NOW = 1_790_000_000.0


def kept(folder: Path) -> Snoozes:
    snoozes = Snoozes(folder / "snoozed.json", "https://p.example:443")
    snoozes.sync()
    return snoozes


def test_it_holds_until_its_time_or_until_it_is_worse() -> None:
    timed = Snooze(Level.WARNING, NOW + 60, "call Ada")
    assert timed.holds(Level.WARNING, NOW + 59)
    assert not timed.holds(Level.WARNING, NOW + 60)
    assert not timed.holds(Level.CRITICAL, NOW)
    assert timed.return_words(NOW) == f"back {datetime.fromtimestamp(NOW + 60):%H:%M}: call Ada"
    assert (
        timed.return_words(NOW - DAY) == f"back {datetime.fromtimestamp(NOW + 60):%d %b}: call Ada"
    )
    open_end = Snooze(Level.WARNING)
    assert open_end.holds(Level.OK, NOW + 300 * DAY)
    assert not open_end.holds(Level.CRITICAL, NOW)
    assert open_end.return_words(NOW) == "until worse"
    assert "\x1b" not in Snooze(Level.OK, None, "\x1b[31mred\u202e").return_words(NOW), (
        "it is cleaned"
    )


def test_two_dashboards_share_the_file(tmp_path: Path) -> None:
    one, two = kept(tmp_path), kept(tmp_path)
    one.set(["task:a"], Snooze(2, NOW + 60))
    two.set(["task:b"], Snooze(2, None, "look at the log"))
    for each in (one, two, one):
        each.sync()
    assert set(one.all) == set(two.all) == {"task:a", "task:b"} == set(kept(tmp_path).all)
    two.set(["task:a"], None)
    two.sync()
    assert one.sync(), "what another has taken off is taken up"
    assert set(one.all) == {"task:b"}
    assert not one.sync()
    path = tmp_path / "snoozed.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other = Snoozes(path, "https://other.example:443")
    other.set(["task:b"], Snooze(3))
    other.sync()
    assert one.sync() is False, "each platform has its own"
    assert one.all["task:b"].note == "look at the log"


def test_there_is_a_most(tmp_path: Path) -> None:
    snoozes = kept(tmp_path)
    for number in range(MOST + 5):
        snoozes.set([f"task:{number}"], Snooze(2))
    snoozes.sync()
    assert set(kept(tmp_path).all) == {f"task:{number}" for number in range(5, MOST + 5)}


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"prod https://p.example:443": {"a": 3}}', b"\xff"]
)
def test_a_file_that_makes_no_sense_is_begun_anew(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "snoozed.json").write_bytes(content)
    snoozes = kept(tmp_path)
    assert snoozes.all == {}
    snoozes.sync()
    assert len(caplog.records) <= 1, "told once, and not each second"
    snoozes.set(["task:a"], Snooze(2))
    snoozes.sync()
    assert set(kept(tmp_path).all) == {"task:a"}


def test_what_cannot_be_written_holds_for_this_run_and_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    snoozes = Snoozes(blocked / "snoozed.json", "prod")
    snoozes.sync()
    snoozes.set(["task:a"], Snooze(2))
    for _ in range(2):
        snoozes.sync()
    assert set(snoozes.all) == {"task:a"}
    assert "for this run only" in snoozes.trouble
    blocked.unlink()
    blocked.mkdir()
    snoozes.set(["task:b"], Snooze(2))
    snoozes.sync()
    assert not snoozes.trouble


def test_the_demo_keeps_it_in_memory_only(tmp_path: Path) -> None:
    snoozes = Snoozes(None, "demo")
    snoozes.set(["task:a"], Snooze(2))
    assert not snoozes.sync()
    assert set(snoozes.all) == {"task:a"}
    assert list(tmp_path.iterdir()) == []


def test_what_profiles_of_one_platform_put_off_is_put_off_for_all(tmp_path: Path) -> None:
    """Earlier versions kept snoozes by profile and platform."""
    path = tmp_path / "snoozed.json"
    by_profile = {
        "prod https://p.example:443": {
            "task:a": {"level": 2, "until": NOW + 60, "note": "short"},
            "task:b": {"level": 2, "until": None, "note": "open"},
        },
        "on call https://p.example:443": {
            "task:a": {"level": 2, "until": NOW + 600, "note": "long"},
            "task:b": {"level": 2, "until": NOW + 600, "note": "timed"},
        },
        "prod https://other.example:443": {"task:c": {"level": 2, "until": None, "note": ""}},
    }
    path.write_text(json.dumps(by_profile))
    snoozes = kept(tmp_path)
    assert {need: snooze.note for need, snooze in snoozes.all.items()} == {
        "task:a": "long",
        "task:b": "open",
    }
    snoozes.set(["task:a"], None)
    snoozes.sync()
    assert set(kept(tmp_path).all) == {"task:b"}, "it does not come back from the old entries"
    assert set(json.loads(path.read_bytes())) == {
        "https://p.example:443",
        "https://other.example:443",
    }
