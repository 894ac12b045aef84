"""The scripted platform and the console do what they promise to the other tests."""

from __future__ import annotations

from pathlib import Path

from tests.outside.console import Console
from tests.outside.platform import Platform, Request, approves, pending
from tests.terminal.dashboard import ready


def test_a_decision_from_the_key_to_the_record(tmp_path: Path) -> None:
    """One yes, held at the request, released: applied once, to the content that was read."""
    with Platform() as platform:
        platform.task("t1", "Pay ACME")
        platform.task(7, "Pay Bolt", agent_id="ag_linus")
        platform.task("a/b ü", "Pay Cog")
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            for task_id, title in ((7, "Pay Bolt"), ("a/b ü", "Pay Cog")):
                was = platform.record(task_id)
                held = platform.hold(approves(task_id), applied=True)
                console.ask(title)
                assert platform.posts(task_id) == []
                console.yes()
                request = held.arrived()
                held.release()
                console.line_shows(title, "approved here")
                assert platform.posts(task_id) == [request]
                assert [(a.request, a.was) for a in platform.approvals][-1] == (request, was)
                assert platform.record(task_id)["status"] == "approved"
            console.to("Pay ACME")
            assert console.outcomes(7) == ["approved here"]
            assert console.outcomes("a/b ü") == ["approved here"]


def test_answers_that_are_spoiled(tmp_path: Path) -> None:
    """Dropped, broken, doubled, late, changed at the very request: the program is served so."""
    with Platform() as platform:
        platform.task("t1", "Pay ACME")
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            changed_at: list[Request] = []

            def change(request: Request) -> None:
                platform.change("t1", title="Pay Bolt")
                changed_at.append(request)

            platform.at(pending, change, between=True)
            console.line_shows("Pay Bolt", "Ada")
            assert [task["title"] for task in changed_at[0].served] == ["Pay ACME"]
            for spoil in (platform.drop, platform.reset, platform.double):
                spoil(pending)
                platform.wait_more(pending)
            platform.answer(pending, 500, {"error": "no"})
            platform.wait_more(pending, 2)
            ready(console)
            console.press("j")  # a hand on the list: what leaves it stays as a line that says why
            platform.decide("t1", "rejected")
            console.line_shows("Pay Bolt", "rejected|left|gone")
            assert platform.posts() == []
