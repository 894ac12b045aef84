"""Each word about what became of a task is borne out by a read; an answer is of its request."""

from __future__ import annotations

import re
from pathlib import Path

from tests.outside.console import NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, Request, approves, every, pending, reads


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
        assert "by Mallory" in console.notice("Case4.*: .*approved")
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
        console.press("r")  # no hand is on the list after that
        console.until(lambda: not console.line("Case1"), "it is gone")
        platform.decide("t1", "pending")
        console.line_shows("Case1", "medium")
        # A hand on the list, also before: what leaves it then stays as a line that says why.
        console.to("Case1")
        console.to("Case2")
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
        console.press("k")  # the cursor has gone on
        console.until(lambda: "Case1" in console.cursor_line(), "the cursor on it again")
        console.press("t")  # the trace says of the task what its line says
        console.wait_for("TRACE Case1")
        console.wait_for("● approved: the platform said yes")
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


# --- an answer belongs to its request, and a decision waits for no other feed ---

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


def test_a_filter_of_an_earlier_run_hides_nothing_unsaid(tmp_path: Path) -> None:
    """The Overview begins without one; another list tells of it in a line of its own."""
    with Platform() as platform:
        platform.add_all(cases(3))
        for place, title in (("tasks", "TASKS"), ("overview", "NEEDS YOU")):
            with Console(platform, tmp_path, "--screen", place) as console:
                console.wait_for("Case2")
                console.press("/", *"case1", "enter")
                console.wait_for("/case1")
                console.until(lambda: "Case2" not in console.text, "the filter")
                console.press("q")
                console.wait_gone()
            with Console(platform, tmp_path, "--screen", place) as console:
                console.wait_for(title)
                if place == "tasks":
                    console.wait_for("1 of 3 · esc")
                    assert "filter of " in console.text
                    console.press("esc")
                console.wait_for("Case2")
                assert "filter of" not in console.text
