"""Sets from outside: what the question says, what is sent, and what is not.

The judge of each is the scripted platform's own list of requests.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.outside.console import AT_ONCE, Console, cases, scene
from tests.outside.platform import Platform, Request, approves, pending
from tests.terminal.dashboard import assert_restored

INVOICE = "Pay invoice {:02}"


def mark_all(console: Console, count: int) -> None:
    """Mark all that the list shows."""
    console.press("*")
    console.until(lambda: f"{count} marked" in console.screen[2], "the marks")


def ask(console: Console, count: int) -> str:
    """Ask about what is marked; gives the box once a person could have read it."""
    console.press("a")
    console.box_shows(rf"APPROVE {count} tasks")
    console.pause()
    return console.box()


def yes(console: Console, count: int) -> None:
    """Answer the question of a set, and wait until its hold has begun."""
    if count > 10:
        console.type_number(str(count))
    console.yes(lambda: "APPROVING" in console.box())


def ended(console: Console) -> str:
    """Wait until all is known of a set; gives what its progress says."""
    return console.box_shows(r"esc close(?!, it)", timeout=40.0)


def read_through(console: Console) -> str:
    """All that a question says, from its top to its end, page by page."""
    pages = [console.box()]
    for _ in range(30):
        if "more below" not in console.box():
            return "\n".join(pages)
        before = console.box()
        console.press("pagedown")
        console.until(lambda: console.box() != before, "the next page")  # noqa: B023
        console.wait_quiet(0.1)
        pages.append(console.box())
    raise AssertionError("the question has no end")


def sum_of(box: str) -> int:
    """What the counts of a progress add up to: its second line, over several rows."""
    told = re.search(r"%\n([\s\S]*?)(?=\n\n|\n▲|\n→|\n◌|\Z)", box)
    assert told, box
    return sum(int(count) for count in re.findall(r"(\d+)\s[a-z]", told[1]))


def change(platform: Platform, task_id: str, **fields: object) -> Callable[[Request], object]:
    """Another operator changes a task at the very request."""
    return lambda _: platform.change(task_id, **fields)


def test_the_question_lists_all_and_what_is_sent_is_what_it_listed(tmp_path: Path) -> None:
    """Every title, what is odd about it, and the sum; another type stays out. One is refused, one
    changes at the first request: `f` asks about both anew, with what they are by then.
    """
    with Platform() as platform:
        platform.add_all(cases(12, INVOICE), type="payment", cost=40, estimated_cost=...)
        platform.change("t1", title="Pay invoice 02")
        platform.change("t3", cost=...)
        platform.change("t5", cost=90_000)
        platform.change("t7", type="hire", title="Hire Bob")
        with Console(
            platform, tmp_path, "--screen", "tasks", size=(80, 24), env=AT_ONCE
        ) as console:
            mark_all(console, 12)
            ask(console, 11)
            told = read_through(console)
            for number in range(12):
                assert platform.record(f"t{number}")["title"] in told
            assert "Pay invoice 02 (t1)" in told, "two alike can be told apart"
            assert "Pay invoice 02 (t2)" in told
            assert re.search(r"costs\s+90,360.00, and 1 of unknown cost", told)
            assert "costs 90,000.00, more than 5 times the usual" in told
            assert re.search(r"1 marked, but not in this set", told)
            assert re.search(r"Hire Bob\n\s*▲ type hire, the set has type payment", told)
            assert told.index("Pay invoice 05") < told.rindex("Pay invoice 00"), "the worst first"

            platform.answer(approves("t0"), 422, {"error": "no money left"})
            platform.at(approves(), change(platform, "t11", title="Pay EVIL Corp"))
            before = platform.record("t11")
            yes(console, 11)
            assert platform.posts() == [], "held back"
            box = ended(console)
            assert not platform.posts("t7"), "another type is not sent with the set"
            assert not platform.posts("t11"), "it changed before its own turn"
            assert len(platform.posts()) == 10
            assert "9 approved here" in box
            assert "1 refused" in box
            assert "1 changed" in box
            assert sum_of(box) == 11
            assert "no money left" not in console.notices(), "a refusal is said once"

            console.press("f")
            console.box_shows(r"APPROVE 2 tasks")
            console.pause()
            told = read_through(console)
            assert "2 you have not read" in told
            assert "Pay EVIL Corp" in told
            changed = f"tried before: .* title was “{before['title']}”, is “Pay EVIL Corp”"
            assert re.search(changed, " ".join(told.split()))
            assert before["title"] not in re.sub(changed, "", " ".join(told.split()))
            yes(console, 2)
            ended(console)
            assert [len(platform.posts(task)) for task in ("t0", "t11", "t7")] == [2, 1, 0]
            assert [a.was["title"] for a in platform.approvals][-2:].count("Pay EVIL Corp") == 1


def test_a_question_whose_tasks_change_or_are_decided_takes_no_yes(tmp_path: Path) -> None:
    with scene(tmp_path, cases(3, INVOICE), size=(80, 24)) as (platform, console):
        mark_all(console, 3)
        ask(console, 3)
        platform.change("t1", cost=90_000, estimated_cost=90_000)
        told = console.box_shows(r"changed while you read")
        assert re.search(r"cost: “.*0\.50.*” → “.*90,?000", told), told
        console.pause()
        console.press("y")
        console.box_shows(r"y is off")
        console.no()
        assert platform.posts() == []

        ask(console, 3)
        platform.decide("t2", "rejected")
        console.box_shows(r"Pay invoice 02\n\s*it left the list")
        console.pause()
        console.press("y")
        console.box_shows(r"y is off")
        console.no()
        assert platform.posts() == []

        ask(console, 2)
        yes(console, 2)
        ended(console)
        assert sorted(request.path[1] for request in platform.posts()) == ["t0", "t1"]


def test_keys_that_were_not_meant_confirm_nothing(tmp_path: Path) -> None:
    """Typed ahead, held down since before, or in a burst."""
    with scene(tmp_path, cases(11, INVOICE), size=(80, 24)) as (platform, console):
        mark_all(console, 11)
        console.write(b"a11y")
        console.box_shows(r"APPROVE 11 tasks")
        console.box_shows(r"type 11, then press y: *–")
        console.no()

        console.press("a")
        for _ in range(40):
            console.write(b"1")
            time.sleep(0.03)
        assert "press y to approve" not in console.box()
        console.write(b"y" * 30)
        for _ in range(40):
            console.write(b"y")
            time.sleep(0.03)
        console.no()

        console.press("a")
        console.box_shows(r"APPROVE 11 tasks")
        console.pause()
        console.type_number("11")
        for _ in range(20):
            console.write(b"yy")
            time.sleep(0.03)
        console.wait_quiet(0.5)
        assert "APPROVE 11" in console.box()
        console.no()
        assert platform.posts() == []


def test_marks_out_of_sight_are_named_and_one_alone_is_asked_in_full(tmp_path: Path) -> None:
    with scene(tmp_path, cases(4, INVOICE), size=(80, 30), env=AT_ONCE) as (platform, console):
        console.mark_tasks("Pay invoice 00")
        console.to("Pay invoice 03")
        console.press("a")
        console.box_shows(
            r"APPROVE 1 task\n[\s\S]*not the one under the cursor \(Pay\s+invoice\s03\)"
            r"[\s\S]*\nPay invoice 00\n"
        )
        console.no()

        console.mark_tasks("Pay invoice 01")
        console.press("/", "0", "3", "enter")
        console.until(lambda: "Pay invoice 01" not in console.text, "the filter")
        ask(console, 2)
        told = read_through(console)
        assert told.count("hidden by the filter") == 3, "on top, and at each"
        console.no()
        console.press("esc")
        console.line_shows("Pay invoice 01", "■")

        console.press("v", "a")
        console.until(lambda: "▌all" in console.screen[2], "all statuses")
        assert "2 marked" in console.screen[2]
        console.to("Pay invoice 02")
        ask(console, 2)
        assert "hidden: the list shows all statuses" in read_through(console)
        console.no()

        assert platform.posts() == []


def test_marks_of_another_scope_are_named_and_read_by_their_company(tmp_path: Path) -> None:
    with Platform() as platform:
        platform.add_all(cases(3, INVOICE))
        platform.task("g1", "Sell the yacht", company_id="cmp_globex", company_name="Globex")
        with Console(
            platform, tmp_path, "--screen", "tasks", size=(80, 24), env=AT_ONCE
        ) as console:
            console.mark_tasks("Pay invoice 00", "Pay invoice 01", "Sell the yacht")
            console.press(*":company Globex", "enter", "4")
            console.until(lambda: "TASKS ▌pending 1 " in console.screen[2], "Globex alone")
            console.line_shows("Sell the yacht", "■")
            assert "3 marked" in console.screen[2]
            ask(console, 3)
            told = read_through(console)
            hidden = "marked, but hidden: of Acme Robotics, and Globex is shown"
            assert " ".join(told.split()).count(hidden) >= 2
            console.no()

            platform.change("t1", status="rejected")
            console.press("0")
            assert "Pay invoice 01" in console.notice("not marked any more, because it left")
            console.line_shows("Pay invoice 00", "■")
            console.press(*":company Globex", "enter", "4")
            console.until(lambda: "TASKS ▌pending 1 " in console.screen[2], "Globex alone")
            ask(console, 2)
            yes(console, 2)
            console.until(lambda: len(platform.posts()) == 2, "both are sent")
            assert {platform.record(each)["status"] for each in ("t0", "g1")} == {"approved"}
            console.box_shows("2 approved")
            console.press("esc")
            console.until(lambda: "marked" not in console.screen[2], "no mark is left")


def test_a_set_waits_as_it_is_told_and_stops_where_that_is_too_long(tmp_path: Path) -> None:
    def too_many(seconds: int) -> bytes:
        head = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\n"
        return f"{head}retry-after: {seconds}\r\ncontent-length: 2\r\n\r\n{{}}".encode()

    with scene(tmp_path, cases(9, INVOICE), size=(80, 24)) as (platform, console):
        mark_all(console, 9)
        ask(console, 9)
        platform.answer(approves(), 429, too_many(4), times=4)
        platform.answer(approves(), 429, too_many(600), times=None)
        yes(console, 9)
        console.box_shows(r"asked for a pause \(429\): it goes on in [1-4] s")
        first = platform.posts()
        assert 1 <= len(first) <= 4
        box = ended(console)
        told = max(request.ended or 0.0 for request in first)
        later = platform.posts()[4:]
        assert 1 <= len(later) <= 4
        assert min(request.time for request in later) >= told + 3.5
        assert re.search(r"stopped: the platform asks for a pause of 10 m", box), box
        assert sum_of(box) == 9
        assert len(platform.posts()) == len(first) + len(later)


def test_ways_out_of_a_hold(tmp_path: Path) -> None:
    """ctrl+c takes it back, the next close and leave; after a stop the hold begins anew."""
    with scene(tmp_path, cases(3, INVOICE), size=(80, 24)) as (platform, console):
        mark_all(console, 3)
        ask(console, 3)
        yes(console, 3)
        console.box_shows(r"begins in [123](\.\d)? s")
        console.signal(signal.SIGSTOP)
        time.sleep(5.0)
        console.signal(signal.SIGCONT)
        console.box_shows(r"begins in [45](\.\d)? s")
        assert platform.posts() == []
        console.press("ctrl+c")
        console.box_shows(r"taken back: nothing was sent")
        console.press("ctrl+c")
        console.no_box()
        console.press("ctrl+c")
        assert console.wait_gone() == 0
        assert_restored(console)
    assert platform.posts() == []


def test_stopped_while_the_list_is_still_being_read(tmp_path: Path) -> None:
    with scene(tmp_path, cases(3, INVOICE), refresh=60.0) as (platform, console):
        for key in ("u", "esc"):
            mark_all(console, 3)
            ask(console, 3)
            yes(console, 3)
            held = platform.hold(pending, times=None)
            console.until(lambda: "begins in" not in console.box(), "the end of the hold")
            held.arrived()
            console.press(key)
            console.box_shows(r"stopped by you")
            held.release()
            platform.clear()
            ended(console)
            console.no()
            console.until(lambda: "marked" not in console.screen[2], "no marks")
        known = len(platform.seen(pending))
        console.press("r")
        platform.wait_for(pending, known + 1)
        assert platform.posts() == []
        assert "approv" not in console.line("Pay invoice 00")


def test_leaving_while_it_is_sent_stops_the_rest_and_says_what_was(tmp_path: Path) -> None:
    with scene(tmp_path, cases(30, INVOICE), size=(60, 16)) as (platform, console):
        mark_all(console, 30)
        ask(console, 30)
        for task in ("t0", "t1", "t2", "t3"):
            platform.answer(approves(task), 422, {"error": "no money left"})
        # Four more are approved; the next four are on their way, and lose their answers.
        held = platform.hold(approves(), after=4, times=None)
        yes(console, 30)
        held.arrived()
        platform.wait_for(approves(), 12)
        console.box_shows(r"waiting")
        assert sum_of(console.box()) == 30
        console.press("q")
        console.box_shows(r"stopped by you")
        held.drop()
        box = console.box_shows(r"unknown \(being read\)")
        assert sum_of(box) == 30, box
        assert re.search(r"%\n(4 )?\d+ unknown", box), "what is not known stands first"
        assert len(platform.posts()) == 12, "what was not sent is not sent"
        console.press("q")
        console.no_box()
        console.press("q")
        assert console.wait_gone() == 0
    assert len(platform.posts()) == 12
