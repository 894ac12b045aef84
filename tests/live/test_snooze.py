"""What a person has put off: how long it holds, and how dashboards share it."""

from __future__ import annotations

import stat
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.insight import Level
from agentco_tui.live.snooze import DAY, MOST, Snooze, Snoozes, next_time

NOW = 1_790_000_000.0


def kept(folder: Path) -> Snoozes:
    snoozes = Snoozes(folder / "snoozed.json", "prod https://p.example:443")
    snoozes.sync(NOW)
    return snoozes


def test_it_holds_until_its_time_or_until_it_is_worse() -> None:
    timed = Snooze(NOW, Level.WARNING, NOW + 60, "call Ada")
    assert timed.holds(Level.WARNING, NOW + 59)
    assert not timed.holds(Level.WARNING, NOW + 60)
    assert not timed.holds(Level.CRITICAL, NOW)
    assert timed.back(NOW) == f"back {datetime.fromtimestamp(NOW + 60):%H:%M}"
    open_end = Snooze(NOW, Level.WARNING)
    assert open_end.holds(Level.OK, NOW + 300 * DAY)
    assert not open_end.holds(Level.CRITICAL, NOW)
    assert open_end.back(NOW) == "until worse"


@given(st.integers(0, 23), st.integers(0, 59), st.floats(1.5e9, 2.5e9))
def test_a_time_of_day_is_the_next(hour: int, minute: int, now: float) -> None:
    at = next_time(f"{hour}:{minute:02d}", now)
    assert at is not None
    assert 0 < at - now <= DAY + 3_600  # the day on which clocks are put back has 25 hours
    assert datetime.fromtimestamp(at).strftime("%H:%M") == f"{hour:02d}:{minute:02d}"


@pytest.mark.parametrize("words", ["", "24:00", "8", "08:60", "soon", "１２:００x"])
def test_what_is_no_time_of_day_is_none(words: str) -> None:
    assert next_time(words, NOW) is None


def test_two_dashboards_share_the_file(tmp_path: Path) -> None:
    one, two = kept(tmp_path), kept(tmp_path)
    one.set(["task:a"], Snooze(NOW, 2, NOW + 60))
    two.set(["task:b"], Snooze(NOW, 2, None, "look at the log"))
    for each in (one, two, one):
        each.sync(NOW)
    assert set(one.all) == set(two.all) == {"task:a", "task:b"} == set(kept(tmp_path).all)
    two.set(["task:a"], None)
    two.sync(NOW)
    assert one.sync(NOW), "what another has taken off is taken up"
    assert set(one.all) == {"task:b"}
    assert not one.sync(NOW)
    path = tmp_path / "snoozed.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other = Snoozes(path, "prod https://other.example:443")
    other.set(["task:b"], Snooze(NOW, 3))
    other.sync(NOW)
    assert one.sync(NOW) is False, "each platform has its own"
    assert one.all["task:b"].note == "look at the log"


def test_what_is_over_is_dropped_and_there_is_a_most(tmp_path: Path) -> None:
    snoozes = kept(tmp_path)
    snoozes.set(["task:old"], Snooze(NOW, 2, NOW + 60))
    snoozes.sync(NOW)
    for number in range(MOST + 5):
        snoozes.set([f"task:{number}"], Snooze(NOW + number, 2))
    snoozes.sync(NOW + 61)
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
    snoozes.sync(NOW)
    assert len(caplog.records) <= 1, "told once, and not each second"
    snoozes.set(["task:a"], Snooze(NOW, 2))
    snoozes.sync(NOW)
    assert set(kept(tmp_path).all) == {"task:a"}


def test_what_cannot_be_written_holds_for_this_run_and_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    snoozes = Snoozes(blocked / "snoozed.json", "prod")
    snoozes.sync(NOW)
    snoozes.set(["task:a"], Snooze(NOW, 2))
    snoozes.sync(NOW)
    assert snoozes.trouble is not None
    assert "for this run only" in snoozes.trouble
    assert "task:a" in snoozes.all
    blocked.unlink()
    snoozes.sync(NOW)
    assert not snoozes.trouble
    again = Snoozes(blocked / "snoozed.json", "prod")
    again.sync(NOW)
    assert set(again.all) == {"task:a"}


def test_the_demo_keeps_it_in_memory_only(tmp_path: Path) -> None:
    snoozes = Snoozes(None, "demo")
    snoozes.set(["task:a"], Snooze(NOW, 2))
    assert not snoozes.sync(NOW)
    assert set(snoozes.all) == {"task:a"}
    assert list(tmp_path.iterdir()) == []


def test_a_note_is_cleaned_where_it_is_shown() -> None:
    assert "\x1b" not in Snooze(NOW, 2, None, "\x1b[31mred\u202e").said
