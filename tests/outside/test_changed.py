"""What is approved is what stood in the question: every field that counts, to the last sign."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.outside.console import NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, approves, pending

LONG = "word " * 200
"""Longer than any line or box is wide."""

PAYLOAD = {"amount": 4000, "currency": "EUR", "to": {"name": "ACME", "iban": "DE02 1203"}}

CHANGES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("title", {"title": "Case0 to EVIL Corp"}, "Case0", "EVIL Corp"),
    ("description", {"description": "Pay $90,000"}, "What Case1", r"\$90,000"),
    ("payload", {"payload": {**PAYLOAD, "amount": 9999}}, "4.?000", "9.?999"),
    ("payload", {"payload": {**PAYLOAD, "to": {"name": "ACME", "iban": "GB99"}}}, "DE02", "GB99"),
    ("estimated.cost", {"estimated_cost": 90000}, r"2\.5", "90.?000"),
    ("agent", {"agent_id": "ag_linus", "agent_name": "Linus"}, "Ada", "Linus"),
    ("beneficiary", {"beneficiary": "EVIL Corp"}, "", "EVIL Corp"),
    ("created", {"created_at": "2020-02-02T02:02:02Z"}, "", "2020-02-02"),
    ("description", {"description": LONG + "EVIL"}, "", "EVIL"),
    ("description", {"description": "What Case9\u200b is about."}, "", ""),
)
"""The field as it is named, what changes, and what of old and new must be read."""


def test_a_record_that_changes_while_its_question_stands(tmp_path: Path) -> None:
    """The question says so at once, field by field, and its `y` is dead until opened again."""
    with Platform() as platform:
        for n in range(len(CHANGES)):
            text = LONG + "good" if n == 8 else f"What Case{n} is about."
            platform.task(f"t{n}", f"Case{n}", payload=PAYLOAD, description=text)
        with Console(platform, tmp_path, "--screen", "tasks", config=NO_HOLD) as console:
            for n, (name, fields, was, is_) in enumerate(CHANGES):
                console.ask(f"Case{n}")
                platform.change(f"t{n}", **fields)
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
    with Platform() as platform:
        for n in range(len(CHANGES)):
            text = LONG + "good" if n == 8 else f"What Case{n} is about."
            platform.task(f"t{n}", f"Case{n}", payload=PAYLOAD, description=text)
        platform.task("same", "Same", last_seen_at="2026-01-01T00:00:00Z")
        with Console(platform, tmp_path, "--screen", "tasks", config=NO_HOLD) as console:
            for n, (name, fields, _, _) in enumerate(CHANGES):
                console.ask(f"Case{n}")
                held = platform.hold(pending, times=None)
                console.yes()
                held.arrived()
                platform.change(f"t{n}", **fields)
                platform.clear()
                console.line_shows(f"Case{n}", rf"(?i)changed: .*{name.split('.')[0]}")
                assert platform.posts() == []
            console.ask("Same")
            held = platform.hold(pending, times=None)
            console.yes()
            held.arrived()
            platform.change("same", last_seen_at="2026-11-11T00:00:00Z")
            platform.clear()
            console.line_shows("Same", "approved here")
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
            with Console(platform, folder, "--screen", "tasks", size=size) as console:
                console.ask("Case1")
                console.box_shows(r"\d+ more below")
                seen = console.box()
                for _ in range(60):
                    if "more below" not in console.box():
                        break
                    console.press("pagedown")
                    console.wait_quiet(0.3)  # it glides
                    seen += "\n" + console.box()
                assert "more below" not in console.box()
                for line in lines:
                    assert line in seen
                assert re.search("(?i)amount +.*4.?000", seen), "a table, not raw JSON"
                assert re.search("(?i)iban +.*DE02 1203", seen)
                for fact in ("t1", "2.5", "Acme Robotics", "Ada", "y approve", "n, esc"):
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
    with scene(tmp_path, cases(3), size=(100, 40)) as (platform, console):
        console.ask("Case0")
        console.pause(1.2)
        console.no()
        console.write("ja")
        console.box_shows("Case1")
        console.write("\x1b")
        console.no_box()
        console.mark_tasks("Case1", "Case2", "Case0")
        assert unread(console) == {"Case1", "Case2"}
        platform.change("t0", description="Something else")
        platform.wait_more(pending, 2)
        assert unread(console) == {"Case0", "Case1", "Case2"}
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
