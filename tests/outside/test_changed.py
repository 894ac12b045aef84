"""What is approved is what stood in the question: every field that counts, to the last sign."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.outside.console import AT_ONCE, NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, approves, pending

LONG = "word " * 200
"""Longer than any line or box is wide."""

PAYLOAD = {"amount": 4000, "currency": "EUR", "to": {"name": "ACME", "iban": "DE02 1203"}}
PLAN = {"steps": [{"do": "wait"}, {"do": "pay", "usd": 40}]}
DEARER = {"steps": [{"do": "wait"}, {"do": "pay", "usd": 90_000}]}

CHANGES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("title", {"title": "Case0 to EVIL Corp"}, "Case0", "EVIL Corp"),
    ("description", {"description": "Pay $90,000"}, "What Case1", r"\$90,000"),
    ("payload", {"payload": {**PAYLOAD, "amount": 9999}}, "4.?000", "9.?999"),
    ("plan.steps.2.usd", {"plan": DEARER}, "40", "90.?000"),
    ("estimated.cost", {"estimated_cost": 90000}, r"2\.5", "90.?000"),
    ("agent", {"agent_id": "ag_linus", "agent_name": "Linus"}, "Ada", "Linus"),
    ("beneficiary", {"beneficiary": "EVIL Corp"}, "", "EVIL Corp"),
    ("created", {"created_at": "2020-02-02T02:02:02Z"}, "", "2020-02-02"),
    ("description", {"description": LONG + "EVIL"}, "", "EVIL"),
    ("description", {"description": "What Case9\u200b is about."}, "", ""),
    ("comments", {"comments": [{"text": "don't: fraud"}]}, "", "fraud"),
    ("last_seen", {"last_seen": "Pay EVIL Corp"}, "", "EVIL"),
)
"""The field as it is named, what changes, and what of old and new must be read."""


@contextmanager
def due(folder: Path) -> Iterator[tuple[Platform, Console]]:
    """A task for each change, by their numbers, and a dashboard that sends at once."""
    with Platform() as platform:
        for n in range(len(CHANGES)):
            text = LONG + "good" if n == 8 else f"What Case{n:x} is about."
            platform.task(f"t{n:x}", f"Case{n:x}", payload=PAYLOAD, plan=PLAN, description=text)
        with Console(platform, folder, "--screen", "tasks", config=NO_HOLD) as console:
            yield platform, console


def test_a_record_that_changes_while_its_question_stands(tmp_path: Path) -> None:
    """The question says so at once, field by field, and its `y` is dead until opened again."""
    with due(tmp_path) as (platform, console):
        for n, (name, fields, was, is_) in enumerate(CHANGES):
            console.ask(f"Case{n:x}")
            platform.change(f"t{n:x}", **fields)
            platform.wait_more(pending, 2)
            for _ in range(2):
                console.press("y")
                console.pause()
            assert platform.posts() == [], name
            console.box_shows(rf"(?is)changed.*{name}.*{was}.*{is_}")
            assert console.box(), "the question stands until the person closes it"
            console.no()
        # Opened again it shows what it is now, and that can be approved.
        was_served = platform.record("t1")
        assert "Pay $90,000" in console.ask("Case1")
        console.yes()
        platform.wait_for(approves("t1"))
        assert [applied.was for applied in platform.approvals] == [was_served]
        assert len(platform.posts()) == 1


def test_a_change_at_the_read_before_it_is_sent(tmp_path: Path) -> None:
    """Between the yes and the request nothing may change either; what may is a short list."""
    stamp = "2026-11-11T00:00:00Z"
    ada = {"id": "ag_ada", "name": "Ada", "status": "running", "tasks_completed": 7}
    by_itself = {"last_seen_at": stamp, "updated_at": stamp, "age_seconds": 9, "view_count": 2,
                 "etag": 'W/"2"', "agent": {**ada, "last_seen": stamp}}  # fmt: skip
    before = {"last_seen_at": None, "updated_at": None, "age_seconds": 1, "view_count": 1,
              "etag": 'W/"1"', "agent": {**ada, "status": "idle", "last_seen": None}}  # fmt: skip
    with due(tmp_path) as (platform, console):
        platform.task("same", "Same", **before)
        for task_id, title, fields, shows in (
            *((f"t{n:x}", f"Case{n:x}", fields, rf"(?i)changed: .*{name.split('.')[0]}")
              for n, (name, fields, *_) in enumerate(CHANGES)),
            ("same", "Same", by_itself, "approved here"),
        ):  # fmt: skip
            assert platform.posts() == []
            console.approve_held(title, pending, times=None)
            platform.change(task_id, **fields)
            platform.clear()
            console.line_shows(title, shows)
        assert len(platform.posts("same")) == len(platform.posts()) == 1


def test_another_decides_while_the_question_stands(tmp_path: Path) -> None:
    """Decided, gone, or another task under the same id: said in the question, and `y` is dead."""
    with scene(tmp_path, cases(3), config=NO_HOLD) as (platform, console):
        console.ask("Case0")
        platform.decide("t0", "rejected")
        console.box_shows("(?i)rejected|no longer|not wait|decided|left")
        dead(console, platform)
        console.ask("Case1")
        platform.remove("t1")
        console.box_shows("(?i)no longer|not wait|gone|left|decided")
        dead(console, platform)
        console.ask("Case2")
        platform.remove("t2")
        platform.task("t2", "Case2", created_at="2026-11-01T00:00:00Z")
        console.box_shows("(?i)changed|no longer|another|left")
        dead(console, platform)


def test_two_tasks_with_one_id_are_shown_and_neither_can_be_approved(tmp_path: Path) -> None:
    with Platform() as platform:
        for task_id, title in (("t1", "Pay ACME"), ("t1", "Pay EVIL"), (7, "Hire Ada"),
                               ("7", "Hire Mallory"), ("t3", "Buy paper")):  # fmt: skip
            platform.task(task_id, title)
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
            console.press("esc")
            console.until(lambda: "marked" not in console.screen[2], "no marks")
            # Another one comes while the question of the first stands.
            console.ask("Buy paper")
            platform.task("t3", "Sell the company")
            console.box_shows("(?i)changed")
            dead(console, platform)
            console.line_shows("Buy paper", "2 tasks with this id")


def dead(console: Console, platform: Platform) -> None:
    """`y` does nothing, however often it is pressed."""
    for _ in range(2):
        console.press("y")
        console.pause(0.9)
    assert platform.posts() == []
    assert console.box()
    console.no()


def test_the_question_shows_all_of_it(tmp_path: Path) -> None:
    """Description and payload whole, to be scrolled to the end; the newest record there is."""
    lines = [f"paragraph {n} of it" for n in range(60)]
    with Platform() as platform:
        platform.task("t1", "Case1", description="\n".join(lines), payload=PAYLOAD)
        platform.task("t2", "Twin")
        platform.task("t3", "Twin")
        for size in ((120, 40), (60, 16)):
            folder = tmp_path / f"{size[0]}"
            folder.mkdir()
            with Console(platform, folder, "--screen", "tasks", size=size, env=AT_ONCE) as console:
                console.ask("Case1")
                console.box_shows(r"\d+ more below")
                seen = page = console.box()
                while "more below" in page:
                    console.press("pagedown")
                    console.until(lambda: console.box() != page, "the next page")  # noqa: B023
                    console.wait_quiet(0.1)
                    seen += "\n" + (page := console.box())
                for line in lines:
                    assert line in seen
                assert re.search("(?i)amount +.*4.?000", seen), "a table, not raw JSON"
                assert re.search("(?i)iban +.*DE02 1203", seen)
                for fact in ("t1", "2.5", "Acme Robotics", "Ada", "y  approve", "n, esc"):
                    assert fact in seen
                assert re.search(r"(?i)created +.*\d{4}-\d\d-\d\d", seen)
                assert '{"' not in seen
                console.no()
                if size[0] == 120:
                    # Two that are alike are told apart by their ids.
                    console.to("Twin")
                    console.press("a")
                    first = console.box_shows(r"\bt[23]\b")
                    console.no()
                    console.press("j", "a")
                    second = console.box_shows(r"\bt[23]\b")
                    assert ("t2" in first) != ("t2" in second)
                    console.no()
        assert platform.posts() == []


def test_read_is_what_stood_on_the_screen(tmp_path: Path) -> None:
    """For a second, with just these contents; new contents are unread again."""
    # No detail stands beside a list of this width: only a question can have been read.
    with scene(tmp_path, cases(10), size=(100, 40)) as (platform, console):
        console.ask("Case0")
        console.pause(1.2)
        console.no()
        for n in range(1, 9):
            began = time.monotonic()
            console.write("ja")
            console.box_shows(f"Case{n}")
            console.write("\x1b")
            console.no_box()
            if time.monotonic() - began < 1.0:  # a busy machine may leave it there for longer
                break
        glimpsed, last = f"Case{n}", f"Case{n + 1}"
        console.mark_tasks(glimpsed, last, "Case0")
        assert unread(console) == {glimpsed, last}
        platform.change("t0", description="Something else")
        platform.wait_more(pending, 2)
        assert unread(console) == {"Case0", glimpsed, last}
        assert platform.posts() == []


def unread(console: Console) -> set[str]:
    """The titles that the question about what is marked names as not read, or changed since."""
    console.press("a")
    told = console.box_shows(r"APPROVE 3 tasks[\s\S]*not read[\s\S]*esc no")
    console.no()
    names: set[str] = set()
    under = False
    for row in told.split("\n"):
        under = bool(re.search("not read|changed since", row)) or (under and row.strip() != "")
        names |= set(re.findall(r"Case\d", row)) if under else set()
    return names
