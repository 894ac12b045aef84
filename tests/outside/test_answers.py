"""An answer belongs to its request, and a decision waits for no other feed."""

from __future__ import annotations

from pathlib import Path

from tests.outside.console import scene
from tests.outside.platform import approves, pending, reads

THREE = {"t1": "Pay $40 to ACME", "t2": "Pay Bolt", "t3": "Pay Cargo"}
FIRST, LATER = "Pay $40 to ACME", "Pay $90,000 to EVIL Corp"


def test_a_second_answer_to_a_poll_answers_no_read_of_a_decision(tmp_path: Path) -> None:
    """The second answer holds the tasks as they were, and then one of them is changed."""
    with scene(tmp_path, {"t1": FIRST}, refresh=3) as (platform, console):
        console.ask(FIRST)
        platform.double(pending, [platform.record("t1")])
        platform.wait_more(pending)
        platform.change("t1", title=LATER)
        console.yes()
        console.wait_for("changed")
        assert platform.posts() == []


def test_a_read_before_a_write_that_is_answered_twice_is_none(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": FIRST}, refresh=60) as (platform, console):
        console.ask(FIRST)
        platform.double(pending, [])
        console.yes()
        console.wait_for("more than one answer")
        assert platform.posts() == []
        assert "approved" not in console.line(FIRST)
        console.approve(FIRST, "approved here")
        assert len(platform.posts("t1")) == len(platform.approvals) == 1


def test_an_approval_answered_twice_is_sent_once_and_settled_by_reading(tmp_path: Path) -> None:
    """The second answer says yes to another task, which the platform refuses."""
    with scene(tmp_path, {"t1": FIRST, "t2": "Pay Bolt"}, refresh=60) as (platform, console):
        yes_to_t2 = {**platform.record("t2"), "status": "approved"}
        platform.double(approves("t1"), yes_to_t2)
        console.approve(FIRST, "approved")
        platform.answer(approves("t2"), 409, {"error": "not before Monday"})
        console.approve("Pay Bolt")
        console.wait_for("not before Monday")
        assert [len(platform.posts(each)) for each in ("t1", "t2")] == [1, 1]
        assert [applied.was["id"] for applied in platform.approvals] == ["t1"]
        assert "approved" not in console.line("Pay Bolt")
        assert platform.record("t2")["status"] == "pending"


def test_a_list_is_no_yes_to_an_approval(tmp_path: Path) -> None:
    """A second answer to a read, come late, is what the approval gets; meanwhile the task goes."""
    with scene(tmp_path, THREE, refresh=60) as (platform, console):
        others = [platform.record("t2"), platform.record("t3")]
        platform.at(approves("t1"), lambda _: platform.remove("t1"))
        platform.answer(approves("t1"), 200, others)
        console.approve(FIRST)
        console.until(lambda: console.outcomes("t1") not in ([], [""]), "an outcome")
        assert console.outcomes("t1") == ["gone"]
        assert "approved" not in console.line(FIRST)
        assert len(platform.posts("t1")) == 1


def test_a_decision_waits_for_no_poll_that_hangs(tmp_path: Path) -> None:
    """Every poll that began before the yes is held, and changes nothing when it comes."""
    with scene(tmp_path, {"t1": FIRST, "t2": "Pay Bolt"}) as (platform, console):
        console.ask(FIRST)
        polls_only = [True]
        held = platform.hold(lambda r: bool(polls_only) and reads(r), applied=True, times=None)
        held.arrived()
        polls = [r for r in platform.wait_for(pending, 2) if r.ended is None]
        polls_only.clear()
        console.yes()
        [post] = platform.wait_for(approves("t1"))
        assert post.time - polls[0].time < 9, "the poll itself gives up after ten seconds"
        assert polls[0].ended is None
        console.line_shows(FIRST, "approved here")
        held.release()
        platform.wait_more(pending, 2)
        assert "approved here" in console.line(FIRST)
        assert len(platform.posts()) == len(platform.approvals) == 1
