"""What a person is called for: once for each cause, and nothing in the hours of quiet."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentco_tui.api.errors import ApiError, NotAllowed, PlatformFailed, TimedOut, Unreachable
from agentco_tui.attention import critical_command
from agentco_tui.attention.critical_command import LOG_FILE, RETRIES, CriticalCommand
from agentco_tui.attention.needs import Need, NeedKind, RankReason
from agentco_tui.attention.needs_model import MOST_SHOWN, NeedsModel
from agentco_tui.attention.notification_event import LONGEST, NotificationEvent, words_of_events
from agentco_tui.attention.notified import Notified, NotifiedFile
from agentco_tui.attention.notifier import FLAPS, Notifier
from agentco_tui.attention.snooze import Snooze, Snoozes
from agentco_tui.config import Notify
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import Clock, FeedName, Freshness
from agentco_tui.live.insight import Level
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Listing, Moment, Ref, Task
from agentco_tui.model.period import HOUR
from agentco_tui.system.state_folder import create_state_folder
from agentco_tui.text import mark_safe
from tests.text.payloads import PAYLOADS

ACME = Ref("acme", mark_safe("Acme"))
MINUTE = 60.0
ALL_NIGHT = ((0, 1_440),)


class Hand(Clock):
    """A clock that a test moves."""

    def __init__(self) -> None:
        super().__init__(machine=lambda: 1_790_000_000.0 + self.at)
        self.at = 0.0

    def monotonic(self) -> float:
        return self.at


class Watch:
    """A notifier whose first look has been, unless it is to call at the start."""

    def __init__(
        self,
        *,
        at_start: bool = False,
        begin: bool = True,
        remembered: Notified | None = None,
        **settings: object,
    ) -> None:
        self.clock, self.store = Hand(), Store()
        self.answered_at = 0.0
        outlook = ForecastService(self.store, None, self.clock)
        notify = Notify(**settings)  # type: ignore[arg-type]
        self.notifier = Notifier(outlook, notify, at_start=at_start, remembered=remembered)
        if begin:
            self.look()

    def look(
        self,
        *needs: Need,
        failures: Iterable[tuple[FeedName, ApiError]] = (),
        is_here: bool = False,
        known: Freshness | None = None,
        asked_since: dict[FeedName, float] | None = None,
        is_complete: bool | None = None,
        critical_tasks: Iterable[Need] = (),
    ) -> list[NotificationEvent]:
        feeds = {feed: known or Freshness(answered_at=self.answered_at) for feed in FeedName}
        for feed, failure in failures:
            feeds[feed] = replace(feeds[feed], failure=failure)
        return self.notifier.find_events(
            needs,
            feeds,
            critical_tasks=critical_tasks,
            is_here=is_here,
            asked_since=asked_since,
            is_complete=is_complete,
        )

    def wait(self, *tasks: Task) -> None:
        self.store.take(FeedName.PENDING, Listing(records=tasks))


def critical(name: str, level: Level = Level.CRITICAL, snooze: Snooze | None = None) -> Need:
    agent = Agent(id=name, name=mark_safe(name.title()), company=ACME)
    handle = f"agent:{name}"
    return Need(level, NeedKind.AGENT, agent, RankReason.ONE, own_key=handle, snooze=snooze)


def task(name: str, priority: str | None = "high") -> Task:
    agent = Ref("ada", mark_safe("Ada"))
    return Task(
        id=name,
        title=mark_safe(f"do {name}"),
        priority=None if priority is None else mark_safe(priority),
        agent=agent,
        company=ACME,
    )


def ids(causes: Iterable[NotificationEvent]) -> list[str]:
    return [cause.id for cause in causes]


def waiting_long(number: int) -> Task:
    """A task that is critical, because it waits for days."""
    about = task(f"t{number:03}", "urgent")
    return replace(about, created=Moment(1_790_000_000.0 - 9 * 86_400.0 + number))


async def test_critical_tasks_behind_those_that_are_listed_are_called_for_once() -> None:
    watch = Watch(at_start=True, begin=False)
    tasks = [waiting_long(number) for number in range(MOST_SHOWN + 20)]
    outlook = ForecastService(watch.store, None, watch.clock)
    needs = NeedsModel(outlook, Snoozes(None, "here"), lambda: None)

    async def look(*left: Task) -> list[NotificationEvent]:
        watch.wait(*left)
        await needs.refresh()
        assert len(needs.ranked(MOST_SHOWN)) <= MOST_SHOWN
        return watch.look(*needs.ranked(MOST_SHOWN), critical_tasks=needs.critical_tasks())

    first = await look(*tasks)
    assert sorted(ids(first)) == [each.id for each in tasks]
    assert sum(f"longest of Ada's {len(tasks)}" in event.text for event in first) == 1
    assert await look(*tasks[15:]) == [], "what moves up was called for"
    assert ids(await look(*tasks[15:], waiting_long(999))) == ["t999"]


names = st.sampled_from(["ada", "bo", "cy"])
looks = st.lists(st.tuples(st.sets(names), st.floats(1.0, 3 * HOUR)), min_size=1, max_size=40)


@given(looks)
def test_a_cause_is_called_once_until_it_was_gone_for_long(
    looks: list[tuple[set[str], float]],
) -> None:
    watch, stood = Watch(), dict[str, float]()
    for there, later in looks:
        watch.clock.at += later
        called = ids(watch.look(*map(critical, sorted(there))))
        now = watch.clock.at
        assert called == [n for n in sorted(there) if now - stood.get(n, -FLAPS - 1) > FLAPS]
        stood |= dict.fromkeys(there, now)


@given(looks)
def test_nothing_calls_in_quiet_hours_and_what_still_stands_calls_after_them(
    looks: list[tuple[set[str], float]],
) -> None:
    watch = Watch(quiet=ALL_NIGHT)
    last = set[str]()
    for last, later in looks:
        watch.clock.at += later
        assert watch.look(*map(critical, last)) == []
    watch.notifier.notify = Notify()
    assert set(ids(watch.look(*map(critical, last)))) == last


def test_hours_of_quiet_pass_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        watch = Watch(quiet=((22 * 60, 6 * 60 + 30),))  # it is 19:43 there
        for hours, quiet in ((0, False), (2, False), (3, True), (10, True), (11, False)):
            watch.clock.at = hours * HOUR
            # private: whether it is quiet shows only in what a later event sends.
            assert watch.notifier._is_quiet() is quiet
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_stands_at_the_start_calls_only_where_nobody_sees_it() -> None:
    for at_start in (False, True):
        watch = Watch(at_start=at_start, begin=False)
        assert watch.look(critical("ada"), known=Freshness()) == []  # not all asked yet
        assert ids(watch.look(critical("ada"))) == ["ada"] * at_start
        assert watch.look(critical("ada")) == []
        assert ids(watch.look(critical("ada"), critical("bo"))) == ["bo"]


def test_a_person_who_is_there_has_seen_it_also_in_hours_of_quiet() -> None:
    watch = Watch(quiet=ALL_NIGHT)
    watch.look(critical("ada"), is_here=True)
    watch.notifier.notify = Notify()
    assert watch.look(critical("ada")) == []


def test_only_what_is_critical_and_not_snoozed_calls() -> None:
    watch, put_off = Watch(), Snooze(Level.CRITICAL)
    assert watch.look(critical("ada", Level.WARNING), critical("bo", snooze=put_off)) == []
    assert ids(watch.look(critical("ada"), critical("bo"))) == ["ada", "bo"]


def test_a_task_of_the_priority_that_newly_waits_calls() -> None:
    watch = Watch(priority="high", begin=False)
    watch.wait(task("old"))
    watch.look()
    watch.wait(task("old"), task("new"), task("low", "low"), task("unknown", None))
    assert [(c.level, c.id, c.company, c.agent) for c in watch.look()] == [
        ("waiting", "new", "Acme", "Ada")
    ]
    watch.wait(task("old"))
    watch.wait(task("old"), task("new"))
    assert watch.look() == []
    watch.wait(task("now"))
    late = Need(Level.CRITICAL, NeedKind.TASK, task("now"), RankReason.WAIT)
    assert [cause.level for cause in watch.look(late)] == ["critical"]
    silent = Watch()
    silent.wait(task("new", "urgent"))
    assert silent.look() == []


def test_all_of_one_cause_is_one_call() -> None:
    watch = Watch(priority="high")
    blocked, recovery = (replace(task(name), cause="GLO-7") for name in ("blocked", "recovery"))
    other = replace(task("other"), cause="GLO-7", company=Ref("globex"))
    watch.wait(blocked, recovery, other)
    assert ids(watch.look()) == ["blocked", "other"]
    late = replace(task("late"), cause="GLO-7")
    watch.clock.at = 2 * FLAPS
    watch.wait(recovery, late)
    assert watch.look() == []
    watch.wait()
    watch.wait(blocked)  # within the time for which something must have been over
    assert watch.look() == []
    worst = Need(Level.CRITICAL, NeedKind.TASK, blocked, RankReason.WAIT, own_key="task:blocked")
    assert ids(watch.look(worst)) == ["blocked"]
    following = replace(worst, record=recovery, own_key="task:recovery")
    assert watch.look(following, critical_tasks=[worst]) == []


def test_what_arrives_is_no_call_of_its_own_where_its_cause_is_critical() -> None:
    watch = Watch(priority="high")
    agent = replace(critical("ada"), record=Agent(id="ada", company=ACME, cause="ada"))
    watch.wait(replace(task("override"), cause="ada"))
    assert ids(watch.look(agent)) == ["ada"]


def test_a_cause_is_remembered_across_restarts_whichever_task_tells_it() -> None:
    first = Watch(at_start=True, begin=False, priority="high")
    blocked, recovery = (replace(task(name), cause="GLO-7") for name in ("blocked", "recovery"))
    first.wait(blocked, recovery)
    assert ids(first.look()) == ["blocked"]
    first.clock.at = FLAPS - MINUTE
    remembered = first.notifier.remembered()
    second = Watch(at_start=True, begin=False, remembered=remembered, priority="high")
    second.wait(recovery, task("new"))
    assert ids(second.look()) == ["new"]


def test_feeds_that_fail_for_long_are_one_call() -> None:
    watch, down = Watch(outage=5 * MINUTE), Unreachable(mark_safe("cannot reach it"), path="")
    refused = NotAllowed(mark_safe("this key may not"), path="")
    failures = [(FeedName.AGENTS, down), (FeedName.ALERTS, down)]
    watch.clock.at = 10.0
    assert watch.look(failures=failures) == []
    watch.clock.at = 4 * MINUTE
    assert watch.look() == []  # it answered in between
    assert watch.look(failures=failures) == []
    watch.clock.at = 9 * MINUTE
    (cause,) = watch.look(failures=failures)
    assert words_of_events([cause]) == "outage: alerts: no answer for 5 m: cannot reach it"
    watch.clock.at = 60 * MINUTE
    assert watch.look(failures=[*failures, (FeedName.BUDGET, down)]) == []
    never = Freshness()
    later = Watch(outage=1.0)
    for later.clock.at in (1.0, 10.0):
        assert later.look(failures=[(FeedName.BUDGET, refused)], known=never) == []


def test_in_a_crowd_each_new_cause_calls_once() -> None:
    watch = Watch()
    crowd = [
        Need(Level.CRITICAL, NeedKind.TASK, task(f"t{n}"), RankReason.WAIT) for n in range(600)
    ]
    assert len(watch.look(*crowd[1:])) == 599
    assert ids(watch.look(*crowd)) == ["t0"]
    assert ids(watch.look(critical("ada"), *crowd)) == ["ada"]
    assert watch.look(critical("ada"), *crowd) == []


def test_a_feed_that_never_answers_is_an_outage_from_when_it_was_asked() -> None:
    watch = Watch(outage=5 * MINUTE)
    watch.clock.at = 10 * MINUTE
    asked = {FeedName.TASKS: 6 * MINUTE}
    assert watch.look(asked_since=asked) == []
    watch.clock.at = 11 * MINUTE
    (cause,) = watch.look(asked_since=asked)
    assert cause.level == "outage"
    assert cause.text == "tasks: no answer for 5 m: the platform was asked and has not answered"
    down = TimedOut(mark_safe("no answer in time"), path="")
    watch.clock.at = 12 * MINUTE
    assert watch.look(failures=[(FeedName.TASKS, down)]) == [], "the same outage"
    watch.clock.at = 13 * MINUTE
    watch.answered_at = 13 * MINUTE
    (cause,) = watch.look()
    assert (cause.level, cause.text) == ("restored", "tasks answers again, back after 7 m")
    assert watch.look() == []


def test_a_slow_answer_that_comes_in_time_is_none() -> None:
    watch = Watch(outage=5 * MINUTE)
    for minute in range(1, 60):
        watch.clock.at = minute * MINUTE
        watch.answered_at = watch.clock.at - 50.0
        assert watch.look(asked_since={FeedName.TASKS: watch.clock.at - 40.0}) == []


def test_the_end_of_an_outage_calls_and_so_does_the_next_outage() -> None:
    watch, down = Watch(outage=MINUTE), Unreachable(mark_safe("cannot reach it"), path="")
    levels = list[str]()
    for minute in range(60):
        watch.clock.at = minute * MINUTE
        is_down = minute % 20 in range(5, 12)
        failures = [(feed, down) for feed in (FeedName.AGENTS, FeedName.ALERTS) if is_down]
        if not is_down:
            watch.answered_at = watch.clock.at
        levels += [cause.level for cause in watch.look(failures=failures)]
    assert levels == ["outage", "restored"] * 3


def test_one_feed_of_an_outage_that_answers_is_not_its_end() -> None:
    watch, down = Watch(outage=MINUTE), Unreachable(mark_safe("cannot reach it"), path="")
    other = PlatformFailed(mark_safe("it failed"), path="", status=503)
    both = [(FeedName.AGENTS, down), (FeedName.ALERTS, down)]
    watch.look(failures=both)
    watch.clock.at = 2 * MINUTE
    assert [cause.level for cause in watch.look(failures=both)] == ["outage"]
    watch.clock.at = 3 * MINUTE
    assert watch.look(failures=both[1:]) == []
    # Another failure of the same feed is no answer either.
    assert [cause.level for cause in watch.look(failures=[(FeedName.ALERTS, other)])] == ["outage"]
    watch.clock.at = 9 * MINUTE
    (cause,) = watch.look()
    assert cause.text == "alerts answers again, back after 9 m"


def test_a_feed_that_is_polled_no_more_ends_no_outage() -> None:
    watch, down = Watch(outage=MINUTE), Unreachable(mark_safe("cannot reach it"), path="")
    for watch.clock.at in (0.0, 2 * MINUTE):
        watch.look(failures=[(FeedName.AGENTS, down)])
    others = {FeedName.TASKS: Freshness(answered_at=watch.clock.at)}
    assert watch.notifier.find_events([], others) == []
    watch.clock.at = 3 * MINUTE
    assert [cause.level for cause in watch.look()] == ["restored"]


def test_the_end_of_an_outage_in_quiet_hours_is_told_after_them_with_its_length() -> None:
    watch, down = Watch(outage=MINUTE), Unreachable(mark_safe("cannot reach it"), path="")
    for watch.clock.at in (0.0, 2 * MINUTE):
        watch.look(failures=[(FeedName.AGENTS, down)])
    watch.notifier.notify = Notify(outage=MINUTE, quiet=ALL_NIGHT)
    watch.clock.at = 10 * MINUTE
    assert watch.look() == []
    watch.clock.at = 100 * MINUTE
    watch.notifier.notify = Notify(outage=MINUTE)
    (cause,) = watch.look()
    assert cause.text == "agents answers again, back after 10 m"


def test_what_was_notified_is_remembered_across_restarts() -> None:
    first = Watch(at_start=True, begin=False, priority="high", outage=MINUTE)
    first.wait(task("old"))
    down = Unreachable(mark_safe("cannot reach it"), path="")
    first.look(critical("ada"))
    first.look(critical("ada"), failures=[(FeedName.ALERTS, down)])
    first.clock.at = 3 * HOUR
    (outage,) = first.look(critical("ada"), failures=[(FeedName.ALERTS, down)])
    assert outage.level == "outage"
    remembered = first.notifier.remembered()
    remembered = msgspec.json.decode(msgspec.json.encode(remembered), type=Notified)
    second = Watch(at_start=True, begin=False, remembered=remembered, priority="high")
    second.wait(task("old"), task("new"))
    causes = second.look(critical("ada"), critical("bo"))
    assert [(each.level, each.id) for each in causes] == [
        ("critical", "bo"),
        ("waiting", "new"),
        ("restored", ""),
    ]
    assert "alerts answers again, back after" in causes[-1].text
    # A restart much later calls for what still is so: nobody saw that it was so all the time.
    late = msgspec.structs.replace(remembered)
    late.last_seen = {key: at - 8 * HOUR for key, at in remembered.last_seen.items()}
    third = Watch(at_start=True, begin=False, remembered=late)
    assert "ada" in ids(third.look(critical("ada")))


def test_what_stands_at_the_start_waits_until_all_of_it_is_known() -> None:
    watch = Watch(at_start=True, begin=False)
    assert watch.look(critical("ada"), is_complete=False) == []
    assert ids(watch.look(critical("ada"), critical("bo"), is_complete=True)) == ["ada", "bo"]


@given(st.lists(st.sampled_from(sorted(PAYLOADS.values())), min_size=1, max_size=4))
def test_words_are_short_safe_and_name_company_agent_and_what(texts: list[str]) -> None:
    causes = [
        NotificationEvent("critical", "task", mark_safe("x")),
        *(NotificationEvent("waiting", "task", "y") for _ in texts),
    ]
    assert words_of_events(causes) == f"1 critical, {len(texts)} waiting: x"
    for text in texts:
        told = words_of_events([NotificationEvent("critical", "task", text * 40)])
        assert len(told) <= LONGEST
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in told)
    (cause,) = Watch().look(critical("ada"))
    assert "Ada" in words_of_events([cause])
    assert "Acme" in words_of_events([cause])


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


class Command(CriticalCommand):
    """Gives what went wrong."""

    async def said(self, command: tuple[str, ...], *causes: NotificationEvent) -> str:
        told: list[str] = []
        self.on_trouble = told.append
        await self.run(command, causes)
        return "".join(told)


async def test_the_command_gets_the_cause_and_not_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    seen = tmp_path / "seen"
    env = {**os.environ, "AGENTCO_API_KEY": "ag_of_before", "OTHER": "x ag_secret", "KEPT": "1"}
    code = f"import os; open({str(seen)!r}, 'a').write(repr(dict(os.environ)) + '\\n')"
    command = Command(env, lambda text: text.replace("ag_secret", "****"))
    hostile = "$(touch x); `y`"
    about = NotificationEvent("critical", "task", hostile, "Acme", "Ada", "t1")
    assert await command.said(python(code), NotificationEvent("waiting", "task", "no"), about) == ""
    (line,) = seen.read_text().splitlines()
    got = eval(line)
    assert got["AGENTCO_NEED_TEXT"] == hostile
    names = ("LEVEL", "KIND", "COMPANY", "AGENT", "ID")
    told = [got[f"AGENTCO_NEED_{name}"] for name in names]
    assert told == ["critical", "task", "Acme", "Ada", "t1"]
    assert ("ag_" in line, got["KEPT"]) == (False, "1")
    assert await command.said((), about) == ""
    log = create_state_folder() / LOG_FILE
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "ended with exit code 0: $(touch x); `y`" in log.read_text()


async def test_the_command_is_limited_and_its_failures_are_told_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(critical_command, "LONGEST_RUN", 0.3)
    cause = NotificationEvent("critical", "agent", "x")
    failing = Command({}, lambda text: text.upper())
    failed = await failing.said(python("raise SystemExit('no ag_secret')"), cause)
    assert failed == "on_critical ENDED WITH EXIT CODE 1: NO AG_SECRET"
    usual = Command(os.environ, str)
    hung = await usual.said(("sleep", "60"), cause)
    assert hung == "on_critical gave no answer within 0.3 seconds"
    assert "was not found" in await usual.said(("no-such-program",), cause)
    log = create_state_folder() / LOG_FILE
    assert len(log.read_text().splitlines()) == 3
    monkeypatch.setattr(critical_command, "LONGEST_RUN", 30.0)
    monkeypatch.setattr(critical_command, "LONGEST_RUN", 30.0)
    monkeypatch.setattr(critical_command, "LOG_BYTES", 10)
    await usual.said(("true",), cause)
    assert len(log.read_text().splitlines()) == 1
    assert log.with_suffix(".log.1").exists()


class Runs(CriticalCommand):
    """Notes the causes that it would run a command for, at times that a test sets."""

    def _log(self, what: str, cause: NotificationEvent) -> str:
        return ""

    def __init__(self) -> None:
        super().__init__({}, str, clock=lambda: self.at)
        self.at = 0.0
        self.failure = ""
        self.causes = list[NotificationEvent]()

    def _run(self, command: Sequence[str], cause: NotificationEvent) -> str:
        self.causes.append(cause)
        return self.failure

    async def call(self, *names: str, as_one: bool = False) -> list[str]:
        """The texts of the runs that a call makes."""
        before = len(self.causes)
        causes = [NotificationEvent("critical", "agent", f"<{name}>", id=name) for name in names]
        await self.run(("page",), causes, as_one=as_one)
        return [cause.text for cause in self.causes[before:]]


async def test_beyond_ten_an_hour_the_rest_is_one_summary() -> None:
    runs = Runs()
    told = await runs.call(*(f"a{n}" for n in range(14)))
    assert told[:10] == [f"<a{n}>" for n in range(10)]
    assert told[10:] == ["4 critical (4 agent): <a10>"]
    runs.at = HOUR / 2
    assert await runs.call("b0") == []
    assert await runs.call("b1", "b2") == []
    runs.at = HOUR - 1
    assert await runs.call() == []
    runs.at = HOUR
    assert await runs.call("b3") == ["4 critical (4 agent): <b0>"]
    assert await runs.call("c0") == ["<c0>"]
    assert runs.waiting == []


async def test_what_waits_at_the_end_is_sent_then() -> None:
    runs = Runs()
    await runs.call(*(f"a{n}" for n in range(11)))
    assert await runs.call("b0", "b1") == []
    await runs.close(("page",))
    assert runs.causes[-1].text == "2 critical (2 agent): <b0>"
    before = len(runs.causes)
    await runs.close(("page",))
    assert len(runs.causes) == before


async def test_what_a_run_failed_for_is_run_for_again() -> None:
    runs = Runs()
    runs.failure = "ended with exit code 3"
    assert await runs.call("a") == ["<a>"]
    assert await runs.call("b") == ["<b>"]
    assert [cause.text for cause in runs.unsent] == ["<a>", "<b>"]
    runs.failure = ""
    assert await runs.call() == [], "at once it would fail for the same reason"
    runs.at = RETRIES[1]
    assert await runs.call("c") == ["2 critical (2 agent): <a>", "<c>"]
    assert runs.unsent == []


async def test_a_run_that_always_fails_is_given_up() -> None:
    runs = Runs()
    runs.failure = "was not found"
    await runs.call("a")
    for _ in range(10):
        runs.at += HOUR
        await runs.call()
    assert len(runs.causes) == 1 + len(RETRIES)
    assert runs.unsent == []


async def test_what_failed_is_run_for_once_more_at_the_end_and_else_remembered() -> None:
    runs = Runs()
    runs.failure = "ended with exit code 3"
    await runs.call("a")
    await runs.close(("page",))
    assert [cause.text for cause in runs.causes] == ["<a>", "<a>"]
    assert [cause.text for cause in runs.unsent] == ["<a>"]


async def test_what_stands_at_the_start_is_one_run() -> None:
    runs = Runs()
    assert await runs.call("a", "b", "c", as_one=True) == ["3 critical (3 agent): <a>"]
    assert await runs.call(as_one=True) == []
    assert await Runs().call("a", as_one=True) == ["<a>"]


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0.0, 2 * HOUR)), max_size=30))
def test_every_cause_is_in_exactly_one_run(batches: list[tuple[int, float]]) -> None:
    async def call_all() -> None:
        runs, number = Runs(), 0
        for size, later in batches:
            runs.at += later
            await runs.call(*(f"{number + n}" for n in range(size)))
            number += size
        await runs.close(("page",))
        told = [
            int(re.match(r"\d+", each.text)[0]) if each.kind == "summary" else 1  # type: ignore[index]
            for each in runs.causes
        ]
        assert sum(told) == number
        assert runs.waiting == []

    asyncio.run(call_all())


def test_the_file_holds_one_entry_for_each_platform_and_command(tmp_path: Path) -> None:
    path = tmp_path / "notified.json"
    mine = NotifiedFile(path, "https://a", "", "page")
    mine.save(
        Notified(saved_at=1.0, last_seen={"x": 1.0}, unsent=[("critical", "k", "t", "", "", "")])
    )
    assert NotifiedFile(path, "https://a", "", "page").load().last_seen == {"x": 1.0}
    for other in (("https://b", "", "page"), ("https://a", "acme", "page"), ("https://a", "")):
        assert NotifiedFile(path, *other).load() == Notified()
    NotifiedFile(path, "https://b").save(Notified(saved_at=2.0, last_seen={"y": 1.0}))
    assert mine.load().last_seen == {"x": 1.0}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "page" not in path.read_text()
    NotifiedFile(path, "https://b").save(Notified(saved_at=99 * 86_400.0))
    assert mine.load() == Notified(), "unused for a month"
    path.write_text("{ not json")
    assert mine.load() == Notified()
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    (folder / "notified.json").mkdir()
    broken = NotifiedFile(folder / "notified.json", "https://a")
    broken.save(Notified())
    assert "is not remembered" in str(broken.trouble)
