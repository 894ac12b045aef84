"""What is approved is what was read, to the last field; and nothing but an id of its own is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.outside.console import Console
from tests.outside.platform import Platform, pending, tasks_read

LONG = "Pay ACME " + "for services rendered " * 30
REVISED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "payload": (
        {"payload": {"to": "ACME", "amount_cents": 4_000}},
        {"payload": {"to": "EVIL Corp", "amount_cents": 9_000_000}},
        "payload.to",
    ),
    "deep": (
        {"plan": {"steps": [{"do": "wait"}, {"do": "pay", "usd": 40}]}},
        {"plan": {"steps": [{"do": "wait"}, {"do": "pay", "usd": 90_000}]}},
        "plan.steps.2.usd",
    ),
    "description": ({}, {"description": "Pay $90,000 to EVIL Corp"}, "description"),
    "cost": ({"estimated_cost": 40}, {"estimated_cost": 90_000}, "estimated_cost|cost"),
    "comments": ({"comments": []}, {"comments": [{"text": "don't: fraud"}]}, "comments"),
    "unknown": ({"beneficiary": "ACME"}, {"beneficiary": "EVIL Corp"}, "beneficiary"),
    "harmless": ({"last_seen": None}, {"last_seen": "Pay EVIL Corp"}, "last_seen"),
    # A fixed wait, so that it stays where it stands in the list.
    "created": (
        {"requested_at": "2026-11-21T00:00:00Z"},
        {"created_at": "2026-01-01T00:00:00Z"},
        "created",
    ),
    "hidden": ({"memo": "low"}, {"memo": "low\u200b"}, "memo"),
    "long": ({"title": f"long {LONG} $40"}, {"title": f"long {LONG} $90,000"}, "title"),
}
"""By a word of its title: fields of a task, what they become under its question, what is named."""


def answered_too_late(console: Console, title: str, revise: Callable[[], None], told: str) -> None:
    """Open a task's question, have it revised, say yes: the screen must name what changed."""
    console.ask(title)
    console.pause()
    revise()
    console.press("y")
    looked = False

    def is_told() -> bool:
        nonlocal looked
        if "a to look" in console.line(title) and not looked and not console.box():
            console.to(title)
            console.press("a")
            looked = True
        said = f"{console.box()}\n{console.line(title)}\n{console.notices()}".replace("\n", " ")
        return any(word in said for word in told.split("|")) and (
            "changed" in said or "this id" in said
        )

    console.until(is_told, f"{told} as what changed in {title}")
    if looked:
        console.until(console.box, f"the look at {title} that was asked for")
    while console.box():
        console.no()
        console.pause()  # else the esc and the next key are one


def test_no_field_can_be_revised_under_an_open_question(tmp_path: Path) -> None:
    with Platform() as platform:
        for word, (fields, _, _) in REVISED.items():
            platform.task(word, **{"title": f"Task {word} of ACME", **fields})
        with Console(platform, tmp_path, "--screen", "tasks", size=(160, 50)) as console:
            for word, (_, revised, told) in REVISED.items():
                title = "long Pay ACME" if word == "long" else f"Task {word} of"

                def revise(word: str = word, revised: dict[str, Any] = revised) -> None:
                    platform.change(word, **revised)

                answered_too_late(console, title, revise, told)
                assert platform.posts() == [], f"{word} was approved"
            platform.wait_more(pending, 2)
            assert platform.posts() == []


def test_what_changes_by_itself_keeps_nobody_from_approving(tmp_path: Path) -> None:
    with Platform() as platform:
        for number in range(3):
            agent = {"id": "ag_ada", "name": "Ada", "status": "idle", "last_seen": None}
            platform.task(f"t{number}", f"Pay bill {number}", agent=agent)
        asked = 0

        def go_on(_: object) -> None:
            nonlocal asked
            asked += 1
            for task in platform.tasks:
                task.update(age_seconds=asked, view_count=asked, etag=f'W/"{asked}"')
                task["updated_at"] = task["last_activity_at"] = 1_795_000_000 + asked
                task["agent"].update(
                    status=("idle", "running")[asked % 2],
                    last_seen=1_795_000_000 + asked,
                    tasks_completed=asked,
                )

        platform.at(tasks_read, go_on, times=None)
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            for number in range(3):
                console.ask(f"Pay bill {number}")
                console.yes()
                console.line_shows(f"Pay bill {number}", "approved here")
        assert [len(platform.posts(f"t{number}")) for number in range(3)] == [1, 1, 1]


def test_two_tasks_with_one_id_are_shown_and_neither_can_be_approved(tmp_path: Path) -> None:
    with Platform() as platform:
        platform.task("t1", "Pay ACME")
        platform.task("t1", "Pay EVIL")
        platform.task(7, "Hire Ada")
        platform.task("7", "Hire Mallory")
        platform.task("t3", "Buy paper")
        with Console(platform, tmp_path, "--screen", "tasks", size=(160, 40)) as console:
            for title in ("Pay ACME", "Pay EVIL", "Hire Ada", "Hire Mallory"):
                console.line_shows(title, "2 tasks with this id")
                console.to(title)
                console.press("a")
                console.notice("nothing can be done to them")
                assert not console.box()
                console.press("space")
                console.notice("not marked")
            console.press("*")
            console.until(lambda: "1 marked" in console.screen[2], "one of five marked")
        with Console(platform, tmp_path / "again", "--screen", "tasks", size=(160, 40)) as console:
            # another one comes while the question of the first stands

            def double() -> None:
                platform.task("t3", "Sell the company")

            answered_too_late(console, "Buy paper", double, "2 tasks with this id")
            platform.wait_more(pending, 2)
        assert platform.posts() == []
