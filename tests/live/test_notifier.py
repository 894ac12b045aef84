"""What a person is called for: once for each cause, and nothing in the hours of quiet."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentco_tui.api.errors import ApiError, NotAllowed, Unreachable
from agentco_tui.live import notifier as module
from agentco_tui.live.feeds import Clock, FeedName, Freshness
from agentco_tui.live.insight import Level
from agentco_tui.live.needs import Because, Need, NeedKind
from agentco_tui.live.notifier import (
    AN_HOUR,
    CROWD,
    FLAPS,
    LOG_FILE,
    LONGEST,
    Cause,
    CriticalCommand,
    Notifier,
)
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.period import HOUR
from agentco_tui.live.snooze import Snooze
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Listing, Notify, Ref, Task
from agentco_tui.state_folder import made_state_folder
from agentco_tui.text import plain
from tests.text.payloads import PAYLOADS

ACME = Ref("acme", plain("Acme"))
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

    def __init__(self, *, at_start: bool = False, begin: bool = True, **settings: object) -> None:
        self.clock, self.store = Hand(), Store()
        outlook = Outlook(self.store, None, self.clock)
        self.notifier = Notifier(outlook, Notify(**settings), at_start=at_start)  # type: ignore[arg-type]
        if begin:
            self.look()

    def look(
        self,
        *needs: Need,
        failures: Iterable[tuple[FeedName, ApiError]] = (),
        is_here: bool = False,
        known: Freshness | None = None,
    ) -> list[Cause]:
        feeds = {feed: known or Freshness(answered_at=1.0) for feed in FeedName}
        for feed, failure in failures:
            feeds[feed] = replace(feeds[feed], failure=failure)
        return self.notifier.look(needs, feeds, is_here=is_here)

    def wait(self, *tasks: Task) -> None:
        self.store.take(FeedName.PENDING, Listing(records=tasks))


def critical(name: str, level: Level = Level.CRITICAL, snooze: Snooze | None = None) -> Need:
    agent = Agent(id=name, name=plain(name.title()), company=ACME)
    handle = f"agent:{name}"
    return Need(level, NeedKind.AGENT, agent, Because.ONE, handle=handle, snooze=snooze)


def task(name: str, priority: str | None = "high") -> Task:
    agent = Ref("ada", plain("Ada"))
    return Task(id=name, title=plain(f"do {name}"), priority=priority, agent=agent, company=ACME)  # type: ignore[arg-type]


def ids(causes: Iterable[Cause]) -> list[str]:
    return [cause.id for cause in causes]


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
    late = Need(Level.CRITICAL, NeedKind.TASK, task("now"), Because.WAIT)
    assert [cause.level for cause in watch.look(late)] == ["critical"]
    silent = Watch()
    silent.wait(task("new", "urgent"))
    assert silent.look() == []


def test_feeds_that_fail_for_long_are_one_call() -> None:
    watch, down = Watch(outage=5 * MINUTE), Unreachable(plain("cannot reach it"), path="")
    refused = NotAllowed(plain("this key may not"), path="")
    failures = [(FeedName.AGENTS, down), (FeedName.ALERTS, down)]
    watch.clock.at = 10.0
    assert watch.look(failures=failures) == []
    watch.clock.at = 4 * MINUTE
    assert watch.look() == []  # it answered in between
    assert watch.look(failures=failures) == []
    watch.clock.at = 9 * MINUTE
    (cause,) = watch.look(failures=failures)
    assert Notifier.words([cause]) == "outage: alerts: no answer for 5 m: cannot reach it"
    watch.clock.at = 60 * MINUTE
    assert watch.look(failures=[*failures, (FeedName.BUDGET, down)]) == []
    never = Freshness()
    later = Watch(outage=1.0)
    for later.clock.at in (1.0, 10.0):
        assert later.look(failures=[(FeedName.BUDGET, refused)], known=never) == []


def test_in_a_crowd_that_is_not_listed_whole_nothing_is_news() -> None:
    watch = Watch()
    crowd = [Need(Level.CRITICAL, NeedKind.TASK, task(f"t{n}"), Because.WAIT) for n in range(CROWD)]
    assert len(watch.look(*crowd[1:])) == CROWD - 1
    assert watch.look(*crowd) == []


@given(st.lists(st.sampled_from(sorted(PAYLOADS.values())), min_size=1, max_size=4))
def test_words_are_short_safe_and_name_company_agent_and_what(texts: list[str]) -> None:
    causes = [
        Cause("critical", "task", plain("x")),
        *(Cause("waiting", "task", "y") for _ in texts),
    ]
    assert Notifier.words(causes) == f"1 critical, {len(texts)} waiting: x"
    for text in texts:
        told = Notifier.words([Cause("critical", "task", text * 40)])
        assert len(told) <= LONGEST
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in told)
    (cause,) = Watch().look(critical("ada"))
    assert "Ada" in Notifier.words([cause])
    assert "Acme" in Notifier.words([cause])


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


class Command(CriticalCommand):
    """Gives what went wrong."""

    async def said(self, command: tuple[str, ...], *causes: Cause) -> str:
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
    about = Cause("critical", "task", hostile, "Acme", "Ada", "t1")
    assert await command.said(python(code), Cause("waiting", "task", "no"), about) == ""
    (line,) = seen.read_text().splitlines()
    got = eval(line)
    assert got["AGENTCO_NEED_TEXT"] == hostile
    names = ("LEVEL", "KIND", "COMPANY", "AGENT", "ID")
    told = [got[f"AGENTCO_NEED_{name}"] for name in names]
    assert told == ["critical", "task", "Acme", "Ada", "t1"]
    assert ("ag_" in line, got["KEPT"]) == (False, "1")
    assert await command.said((), about) == ""
    log = made_state_folder() / LOG_FILE
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "ended with exit code 0: $(touch x); `y`" in log.read_text()


async def test_the_command_is_limited_and_its_failures_are_told_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(module, "SECONDS", 0.3)
    cause = Cause("critical", "agent", "x")
    failing = Command({}, lambda text: text.upper())
    failed = await failing.said(python("raise SystemExit('no ag_secret')"), cause)
    assert failed == "on_critical ENDED WITH EXIT CODE 1: NO AG_SECRET"
    usual = Command(os.environ, str)
    hung = await usual.said(("sleep", "60"), cause)
    assert hung == "on_critical gave no answer within 0.3 seconds"
    assert "was not found" in await usual.said(("no-such-program",), cause)
    log = made_state_folder() / LOG_FILE
    assert len(log.read_text().splitlines()) == 3
    monkeypatch.setattr(module, "SECONDS", 30.0)
    quick = Command(os.environ, str)
    assert await quick.said(("true",), *[cause] * (AN_HOUR - 1)) == ""
    assert "not run for 2 more" in await quick.said(("true",), *[cause] * 3)
    assert len(log.read_text().splitlines()) == 3 + AN_HOUR
    monkeypatch.setattr(module, "LOG_BYTES", 10)
    await usual.said(("true",), cause)
    assert len(log.read_text().splitlines()) == 1
    assert log.with_suffix(".log.1").exists()
