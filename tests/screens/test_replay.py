"""The dashboard on a recording: the same pictures, at any time, and nothing is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agentco_tui.api.recorder import Recorder
from agentco_tui.api.recording import Recording
from agentco_tui.cli.replay_dashboard import replay_app
from agentco_tui.commands.replay_command import replay_settings, start_recording
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.replay_poller import ReplayPoller
from agentco_tui.screens.replay_screen import MOVING, ReplayScreen
from tests.platform import EmbeddedPlatform
from tests.screens import harness
from tests.screens.harness import (
    NOW,
    PLACES,
    Stage,
    SteadyLatency,
    stage,
)


@asynccontextmanager
async def recording(
    platform: EmbeddedPlatform, folder: Path, **options: object
) -> AsyncIterator[tuple[Stage, Recorder]]:
    """A dashboard that records, with everything that a replay's header and footer say, too."""
    settings = harness.settings_for(platform, read_only=True, sources={"read_only": "a replay"})
    recorder = start_recording(str(folder / "a.rec"), settings, None)
    # private: the command has no parameter for the clock of its recorder.
    recorder._clock = platform.world.time
    async with stage(
        platform,
        folder,
        settings=settings,
        recorder=recorder,
        **options,  # type: ignore[arg-type]
    ) as s:
        try:
            yield s, recorder
        finally:
            recorder.close(30)


@asynccontextmanager
async def replay(platform: EmbeddedPlatform, folder: Path) -> AsyncIterator[Stage]:
    """Its replay, standing still at the beginning."""
    opened = Recording(folder / "a.rec")
    app = replay_app(replay_settings(opened.about, {}, {}), opened, folder / "replay")
    app.workspace.client.transport.measured = SteadyLatency()
    poller_of(app.workspace.poller).set(paused=True)
    async with app.run_test(size=(120, 41), notifications=True) as pilot:
        yield Stage(platform, app.dashboard, app, pilot)
    await app.workspace.aclose()
    app.workspace.close()
    await app.workspace.client.aclose()


def poller_of(poller: object) -> ReplayPoller:
    assert isinstance(poller, ReplayPoller)
    return poller


def frame(s: Stage) -> ReplayScreen:
    assert isinstance(s.main, ReplayScreen)
    return s.main


async def pictures(s: Stage, places: tuple[Place, ...] = PLACES) -> dict[Place, list[str]]:
    """What these screens show, with the cursor at the top and nothing held back."""
    found: dict[Place, list[str]] = {}
    for place in places:
        await s.go(place)
        await s.poll()
        s.dashboard.needs_refresh.start(
            s.main
        )  # as every ten seconds, by which the log has a say in it
        await s.press("r", "g")
        s.app.clear_notifications()
        await s.at_rest()
        found[place] = s.lines[:40]
    return found


async def test_a_recording_replays_to_the_same_pictures(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    moments, then = list[float](), list[dict[Place, list[str]]]()
    async with recording(platform, tmp_path, size=(120, 40)) as (s, _):
        for _moment in range(2):
            moments.append(platform.world.time())
            await s.poll()
            await s.wait_until(
                lambda: not s.workspace.store.activity.untried_gaps(), "all of the log"
            )
            then.append(await pictures(s))
            platform.world.advance(900)
    assert then[0] != then[1]
    before = len(platform.requests)
    async with replay(platform, tmp_path) as s:
        for at, places in ((0, PLACES), (1, PLACES), (0, PLACES[:1])):
            frame(s).jump(moments[at])
            await s.settle()
            await s.wait_until(
                lambda: not s.workspace.store.activity.untried_gaps(), "all of the log"
            )
            for place, shown in (await pictures(s, places)).items():
                assert shown == then[at][place], (at, place)
    assert len(platform.requests) == before


async def test_the_time_line_of_a_narrow_terminal_leaves_out_its_keys(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with recording(platform, tmp_path) as (s, _):
        await s.poll()
    async with replay(platform, tmp_path) as s:
        await s.pilot.resize_terminal(30, 20)
        await s.sees("needs 40x12")
        await s.pilot.resize_terminal(40, 20)
        await s.sees("REPLAY")


async def test_time_stands_still_runs_faster_and_goes_where_it_is_told(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with recording(platform, tmp_path) as (s, _):
        for _moment in range(3):
            platform.world.advance(300)
            await s.poll()
    async with replay(platform, tmp_path) as s:
        clock, beneath = frame(s).clock, frame(s).lines.timeline
        start = clock.recording.begins
        assert "REPLAY" in s.lines[40]
        assert "x1 paused" in s.lines[40]
        assert "P pause  < slower  > faster  [ back  ] on  N next need  @ time" in s.lines[40]
        await s.press("[")
        assert clock.time() == start  # that was the beginning
        await s.press("]", "]", "[", "]")
        await s.wait_until(lambda: clock.time() == start + 120, "two minutes on")
        await s.wait_until(lambda: "14:15:20" in s.lines[40], "the time")
        await s.press(">", ">", ">", ">", ">", ">", ">")
        assert clock.speed == 600
        await s.press("<")
        assert "x60 paused" in s.lines[40]
        waiting = len(s.workspace.store.pending)
        await s.press(">", "P")
        await s.wait_until(lambda: "at the end" in s.lines[40], "the end")
        assert clock.time() == clock.recording.ends == start + 900
        await s.wait_until(lambda: len(s.workspace.store.pending) != waiting, "what came last")
        await s.press("P")
        await s.press("@", *"14:20", "enter")
        await s.wait_until(lambda: clock.time() == NOW + 400, "that time")
        await s.press("@", *"-1m", "enter")
        await s.wait_until(lambda: clock.time() == NOW + 340, "a minute earlier")
        await s.press("@", *"tea", "enter")
        await s.sees("tea is no time of the recording")
        await s.press("escape", "?")
        await s.sees("replay.need", "To where a need appears")
        await s.press("escape")
        assert clock.time() == NOW + 340
        assert beneath.region.y == 40


async def test_the_next_need_is_found_by_reading_on(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with recording(platform, tmp_path) as (s, _):
        await s.poll()
        for _moment in range(3):
            platform.world.advance(120)
            await s.poll()
    async with replay(platform, tmp_path) as s:
        await s.loaded()

        def worst() -> dict[str, int]:
            needs = s.workspace.needs.shown
            return {need.key: need.level for need in needs}

        before, clock = worst(), frame(s).clock
        await s.press("N")
        await s.wait_until(lambda: clock.time() > NOW, "a jump")
        await s.wait_until(lambda: worst() != before, "another need")
        assert any(level > before.get(key, 0) for key, level in worst().items())
        frame(s).jump(clock.recording.ends)
        await s.press("N")
        await s.sees("no need appears or grows worse")
        # Going elsewhere ends the look.
        await s.press("N")
        frame(s).jump(NOW)
        await s.wait_until(lambda: not [w for w in s.main.workers if w.group == MOVING], "an end")
        assert clock.time() == NOW


async def test_it_holds_no_key_and_nothing_is_written_from_it(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with recording(platform, tmp_path, place="tasks") as (s, _):
        with platform.world.locked() as state:
            next(iter(state.tasks.values())).title = f"rotate {platform.full_key} now"
        await s.poll()
    sent = len(platform.requests)
    data = (tmp_path / "a.rec").read_bytes()
    opened = Recording(tmp_path / "a.rec")
    # private: a recording has no public list of all its answers.
    bodies = b"".join(opened.body(each) for found in opened._by_target.values() for each in found)
    assert b"rotate" in bodies
    key = platform.full_key.encode()
    for part in (key, key[3:], key[:-4], b"uthorization"):
        assert part not in data + bodies
    async with replay(platform, tmp_path) as s:
        await s.go("tasks")
        await s.sees("Refund 214 customers")
        assert "read-only" in s.lines[0]
        await s.press("a")
        await s.sees("writing is off (a replay)")
        # What was not asked then is told, and nothing is asked for now.
        await s.press("escape", "t")
        await s.sees("not in the recording")
    assert len(platform.requests) == sent
    assert not (tmp_path / "replay").exists()


async def test_a_feed_is_as_fresh_and_as_broken_as_it_was(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with recording(platform, tmp_path) as (s, _):
        await s.poll()
        platform.world.advance(100)
        platform.faults.add("tasks:status=503,body=html")
        platform.faults.add("alerts:drop_before")
        await s.poll()
        words = [str(s.workspace.store.freshness[feed].failure) for feed in FAILING]
    async with replay(platform, tmp_path) as s:
        known = s.workspace.store.freshness
        await s.loaded()
        assert {known[feed].phase for feed in FAILING} == {Phase.LIVE}
        frame(s).jump(NOW + 100)
        await s.wait_until(lambda: all(known[feed].failure for feed in FAILING), "failures")
        assert [str(known[feed].failure) for feed in FAILING] == words
        clock = s.workspace.clock
        assert [known[feed].age(clock.monotonic()) for feed in FAILING] == [100, 100]
        assert known[FeedName.AGENTS].age(clock.monotonic()) == 0
        assert len(s.workspace.store.pending) == 40
        # From nothing, too: what had come before stands beneath the failure.
        frame(s).jump(NOW)
        await s.wait_until(lambda: not any(known[feed].failure for feed in FAILING), "answers")
        s.workspace.store.forget_feed(FeedName.PENDING)
        frame(s).jump(NOW + 100)
        await s.wait_until(lambda: len(s.workspace.store.pending) == 40, "what came before")
        assert known[FeedName.PENDING].phase is Phase.STALE


FAILING = (FeedName.PENDING, FeedName.ALERTS)


async def test_what_was_not_asked_for_long_is_told_as_old(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with recording(platform, tmp_path) as (s, _):
        await s.poll()
        platform.world.advance(3_600)
        await s.poll(FeedName.PENDING)
    async with replay(platform, tmp_path) as s:
        frame(s).jump(NOW + 3_600)
        known = s.workspace.store.freshness
        await s.wait_until(lambda: known[FeedName.AGENTS].failure is not None, "old agents")
        assert known[FeedName.AGENTS].phase is Phase.STALE
        assert known[FeedName.PENDING].phase is Phase.LIVE
        await s.go("agents")
        await s.sees("the recording has nothing newer", "1 h old")


def test_its_keys_are_those_of_no_other_command() -> None:
    own, others = (
        {key for one in COMMANDS if (one.where == "replay") is ours for key in one.keys.split(",")}
        for ours in (True, False)
    )
    assert len(own) == len([one for one in COMMANDS if one.where == "replay"])
    assert not own & others
