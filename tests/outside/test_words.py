"""Each word about what became of a task is said only where a read bears it out."""

from __future__ import annotations

import re
from pathlib import Path

from tests.outside.console import NO_HOLD, cases, scene
from tests.outside.platform import Request, approves, every, pending


def test_an_answer_is_told_as_what_it_says(tmp_path: Path) -> None:
    with scene(tmp_path, cases(6), config=NO_HOLD) as (platform, console):
        # A refusal is said once.
        platform.answer(approves("t0"), 422, {"error": "more than the limit of the vendor"})
        console.approve("Case0")
        assert console.notice("vendor").count("more than the limit of the vendor") == 1
        console.line_shows("Case0", "refused")

        # 200, and in it that it is rejected.
        def reject(_: Request) -> None:
            platform.decide("t1", "rejected")

        rejected = {**platform.record("t1"), "status": "rejected"}
        platform.at(approves("t1"), reject)
        platform.answer(approves("t1"), 200, rejected)
        console.approve("Case1", "rejected")
        assert "approved" not in console.line("Case1")
        assert console.outcomes("t1") != ["approved here"]

        # Carried out by this one request, and answered as if it had been another's.
        held = console.approve_held("Case2", approves("t2"), applied=True)
        held.answer(409, {"error": "only pending tasks can be approved"})
        console.line_shows("Case2", "approved|refused")
        console.pause()
        assert "elsewhere" not in console.line("Case2")
        assert "elsewhere" not in console.notices()
        assert "elsewhere" not in str(console.journal())

        # Lost, and carried out: approved; whose it was can't be told, least of all elsewhere.
        platform.drop(approves("t3"), applied=True)
        console.approve("Case3", "approved")
        assert "elsewhere" not in console.line("Case3")
        assert "elsewhere" not in str(console.journal())

        # Another operator was first: said to be approved, with who it was, and not as ours.
        platform.at(approves("t4"), lambda _: platform.decide("t4", "approved"))
        console.approve("Case4")
        assert "by Mallory" in console.notice("Case4: .*approved")
        assert "approved here" not in console.line_shows("Case4", "approved")
        assert len(platform.posts()) == 5
        assert [applied.was["id"] for applied in platform.approvals] == ["t2", "t3"]

        # The journal names what it is about.
        assert {entry["subject"] for entry in console.journal()} == {f"t{n}" for n in range(5)}
        told = console.run("journal").stdout
        for n in range(5):
            assert re.search(rf"t{n}\b", told)
            assert f"Case{n}" in told
        assert "Ada" in told
        assert "Acme Robotics" in told


def test_restored_and_decided_otherwise(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console):
        console.approve("Case1", "approved here")
        platform.decide("t1", "pending")
        console.press("r")
        console.until(
            lambda: console.line("Case1") and "approved" not in console.line("Case1"),
            "it waits again",
        )
        # A hand on the list, also before: what leaves it then stays as a line that says why.
        console.press("G")
        console.wait_quiet(0.1)
        platform.decide("t1", "rejected")

        def told() -> object:
            console.press("G")
            return re.search("rejected|left|gone|approved", console.line("Case1"))

        console.until(told, "why it left")
        console.pause()
        assert "approved here" not in console.line("Case1")
        console.press("1")
        console.wait_for("NEEDS YOU")
        assert "approved here" not in console.line("Case1")


def test_what_was_approved_here_is_not_elsewhere_for_an_old_list(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console):
        old = [platform.record("t1"), platform.record("t2")]
        console.approve("Case1", "approved here")
        console.press("t")  # the trace says of the task what its line says
        console.wait_for("TRACE Case1")
        console.wait_for("approved here: approved")
        assert "pending" not in console.text
        console.press("esc")
        console.line_shows("Case1", "approved here")
        platform.answer(pending, 200, old, times=None)
        console.until(
            lambda: console.line("Case1") and "approved" not in console.line("Case1"),
            "it seems to wait",
        )
        console.ask("Case1")
        with platform.lock:  # from here on the truth, which only the read before sending brings
            platform.clear()
            poll = platform.hold(pending)
        poll.arrived()
        console.pause()
        console.press("y")
        told = console.notice("this machine had asked for it")
        assert "elsewhere" not in told + console.line("Case1")
        poll.release()
        assert len(platform.posts()) == 1


def test_a_task_of_another_company_is_not_gone(tmp_path: Path) -> None:
    """The lists of one company can't tell of a task that was given to another."""
    with scene(tmp_path, cases(4), "--company", "cmp_acme", config=NO_HOLD) as (platform, console):

        def move(_: Request) -> None:
            platform.change("t1", company_id="cmp_globex", company_name="Globex")

        platform.at(approves("t1"), move)
        platform.drop(approves("t1"))
        console.approve("Case1", "unknown|not done|another company|Globex|unclear|gone")
        console.until(
            lambda: not re.search("reading|sending", console.line("Case1")), "settled", 40
        )
        said = console.line("Case1") + console.notices() + str(console.journal())
        assert not re.search(r"gone|no list|in no list|no longer waits|elsewhere", said), said

        # One that only leaves the scope while nothing is sent.
        console.to("Case2")
        platform.change("t3", company_id="cmp_globex", company_name="Globex")
        platform.wait_more(pending, 3)
        console.pause()
        assert not re.search("gone|elsewhere", console.line("Case3"))
        assert len(platform.posts()) == 1


def test_no_longer_pending_is_not_said_of_what_is_pending(tmp_path: Path) -> None:
    """The list of pending tasks has it no more, and that of all shows it as pending."""
    with scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        platform.answer(pending, 200, [platform.record("t2")], times=None)
        console.pause()
        console.press("y")
        platform.wait_more(pending, 3)
        console.pause()
        said = console.text + str(console.journal())
        assert "no longer pending" not in said or "“pending”" not in said
        assert not re.search(r"gone|no list|elsewhere", said)
        assert platform.seen(every) == [] or "Case1" in str(platform.seen(every)[-1].served)
        assert platform.posts() == []
