"""A shift on the real program: what was left, what is snoozed, what is handed over."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.terminal.dashboard import dashboard, leave, ready
from tests.terminal.platform_process import PlatformProcess


def test_a_shift_from_coming_back_to_handing_over(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path) as session:
        ready(session)
        session.press("z")
        session.wait_for("SNOOZE")
        session.press(*"4h", "enter", *"ask Ada", "enter")
        session.wait_for("1 snoozed")
        leave(session)
    (remembered,) = tmp_path.rglob("remembered.json")
    (snoozed,) = tmp_path.rglob("snoozed.json")
    assert [s["note"] for each in json.loads(snoozed.read_bytes()).values() for s in each.values()]
    known = json.loads(remembered.read_bytes())
    (profile,) = known.values()
    assert abs(profile["left_at"] - time.time()) < 3_600
    profile["left_at"] -= 8 * 3_600
    remembered.write_text(json.dumps(known))
    with dashboard(platform, tmp_path) as session:
        ready(session)
        session.wait_for("since you left: L shows what happened")
        session.wait_for("1 snoozed")
        session.press("L")
        session.wait_for("(8 h 0")
        session.wait_for("Decided")
        session.press("H")
        session.wait_for("HAND OVER")
        session.write(f"\x15{tmp_path}/shift.md\r")
        session.wait_for("was written to")
        text = (tmp_path / "shift.md").read_text()
        assert "# Hand-over: `default" in text
        assert ": ask Ada: " in text
        assert platform.full_key not in text
        session.press("esc")
        session.wait_for("NEEDS YOU")
        leave(session)
