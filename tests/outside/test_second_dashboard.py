"""What one dashboard of a machine has on its way is seen in another, too."""

from __future__ import annotations

from pathlib import Path

from tests.outside.console import NO_HOLD, Console
from tests.outside.platform import Platform, approves
from tests.outside.test_in_flight import seen_in_flight


def test_a_second_dashboard_of_the_machine_sees_it_too(tmp_path: Path) -> None:
    """From the journal; it neither asks nor sends anything of its own."""
    with Platform() as platform:
        platform.task("t1", "Case1")
        platform.task("t2", "Case2")
        arguments = ("--screen", "tasks")
        with (
            Console(platform, tmp_path, *arguments, config=NO_HOLD) as console,
            Console(platform, tmp_path, *arguments, config=NO_HOLD) as other,
        ):
            held = platform.hold(approves("t1"))
            console.ask("Case1")
            console.yes()
            held.arrived()
            seen_in_flight(other, "sending|in flight|another dashboard")
            held.release()
            other.line_shows("Case1", "approved")
            assert len(platform.posts()) == len(platform.approvals) == 1
