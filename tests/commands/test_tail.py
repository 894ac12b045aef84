"""`agentco-tui tail`: the feed as lines, without doubles, over a platform that comes and goes."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
from collections.abc import Iterable
from queue import Empty, Queue
from types import SimpleNamespace
from typing import IO, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey, BaseUrl, KeyInUse
from agentco_tui.api.generic import CAPABILITIES
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.commands.tail import NewEntries
from agentco_tui.config import Settings
from agentco_tui.live.activity_window import MISSING, is_gap
from agentco_tui.model import Activity, Agent, Company, Listing, Moment, Ref
from agentco_tui.text import mark_safe
from agentco_tui.workspace.workspace import Workspace
from tests.commands.conftest import Command
from tests.platform import EmbeddedPlatform


class Lines:
    def __init__(self, stream: IO[str] | None) -> None:
        assert stream is not None
        self._queue: Queue[str] = Queue()
        self.seen: list[str] = []
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._queue.put(line.rstrip("\n"))

    def until(self, words: str) -> str:
        while True:
            try:
                line = self._queue.get(timeout=30)
            except Empty:
                raise AssertionError(f"{words!r} did not come; seen: {self.seen}") from None
            self.seen.append(line)
            if words in line:
                return line

    def rest(self) -> list[str]:
        self._thread.join(timeout=30)
        while not self._queue.empty():
            self.seen.append(self._queue.get())
        return self.seen


def _do_something(platform: EmbeddedPlatform, title: str) -> None:
    agent = platform.world.agents()[0]
    platform.world.create_task(agent.company.id, title, agent.id, "low")


def test_oldest_first_newest_last(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("tail", "--limit", "20")
    assert ran.code == 0
    assert len(ran.lines) == 20
    times = [line[:19] for line in ran.lines]
    assert times == sorted(times)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", times[0])
    newest = still.world.activity()[0]
    assert newest.message in ran.lines[-1]
    still.faults.add("activity:hostile")
    ran = command("tail")
    assert ran.code == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", ran.out)


def test_json_lines(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("tail", "--json", "--limit", "5")
    entries = [json.loads(line) for line in ran.lines]
    assert len(entries) == 5
    assert {"id", "at", "text", "agent", "company", "severity"} <= set(entries[0])
    assert [entry["id"] for entry in reversed(entries)] == [
        entry.id for entry in still.world.activity()[:5]
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entries[0]["at"])


def test_filters_are_sent_by_id_or_name(command: Command, still: EmbeddedPlatform) -> None:
    agent = next(each for each in still.world.agents() if each.name == "Linus")
    for company, of in ((agent.company.id, agent.id), ("globex", "linus")):
        still.requests.clear()
        ran = command.on(still)("tail", "--company", company, "--agent", of, "--json")
        assert (ran.code, ran.err) == (0, "")
        assert ran.lines
        (request,) = still.requests.matching("activity")
        assert set(request.query.split("&")) == {
            f"company_id={agent.company.id}",
            f"agent_id={agent.id}",
            "limit=100",
        }


def test_nobody_of_that_name_is_an_error(command: Command, still: EmbeddedPlatform) -> None:
    command.on(still)
    for words in (("--agent", "Linux"), ("--agent", "linux", "--follow")):
        ran = command("tail", *words)
        assert (ran.code, ran.out) == (2, "")
        assert "--agent: no agent has the name or id" in ran.err
        assert "the nearest is Linus" in ran.err
    ran = command("tail", "--company", "umbrella")
    assert (ran.code, ran.out) == (2, "")
    assert "--company: no company has the name or id umbrella" in ran.err
    # Linus works elsewhere.
    ran = command("tail", "--company", "Initech Content", "--agent", "Linus")
    assert (ran.code, "no agent has" in ran.err) == (2, True)
    still.faults.add("agents:status=403")
    ran = command("tail", "--agent", "Linus")
    assert (ran.code, ran.out) == (0, "")
    assert "names can't be looked up, and are used as ids" in ran.err
    assert "there are no entries of agent Linus" in ran.err


def test_ids_have_names_beside_them(command: Command) -> None:
    with EmbeddedPlatform(speed=0, shape="cents") as platform:
        command.on(platform)
        told = {entry["id"]: entry for entry in map(json.loads, command("tail", "--json").lines)}
        for entry in platform.world.activity()[:100]:
            assert entry.agent is not None
            line = told[entry.id]
            assert line["agent"] == {"id": entry.agent.id, "name": entry.agent.name}
            assert line["company"]["name"] == entry.agent.company.name
            assert "text" in line["derived"]
            assert entry.actor or line["text"].startswith(f"{entry.agent.name} ")
        newest = platform.world.activity()[0]
        assert newest.agent is not None
        assert f" {newest.agent.name} · " in command("tail").lines[-1]
        # Where the lists can't be read, ids stand for the names.
        platform.faults.add("agents:status=403")
        ran = command("tail", "--limit", "1")
        assert (ran.code, ran.err) == (0, "")
        assert f"by {newest.agent.id}" in ran.out


async def test_names_are_asked_for_once() -> None:
    feed = Feed(5)
    feed.log.agent = Ref(id="a3")
    await feed.ask([1])
    await feed.ask([1, 2])
    assert sorted(feed.log.asked) == ["agents", "companies"]
    feed.log.agent = Ref(id="a2")
    await feed.ask([1, 2, 3])
    assert len(feed.log.asked) == 4


def test_errors_exit_3_with_a_sentence(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still, key="ag_wrong-key-0123456789")("tail")
    assert (ran.code, ran.out) == (3, "")
    assert "AGENTCO_API_KEY" in ran.err
    assert command.on(still, key="ag_wrong-key-0123456789")("tail", "--follow").code == 3
    still.stop()
    ran = command("tail")
    assert (ran.code, ran.out) == (3, "")
    still.start()


@pytest.mark.parametrize("name", ["tail", "doctor"])
def test_settings_that_cannot_be_used_exit_2(command: Command, name: str) -> None:
    ran = command(name)
    assert ran.code == 2
    assert "AGENTCO_BASE_URL" in ran.err
    assert "AGENTCO_API_KEY" in ran.err


def test_follow_without_doubles_through_a_restart(
    command: Command, still: EmbeddedPlatform
) -> None:
    child = command.on(still).start("tail", "--follow", "--refresh", "0.5", "--json")
    with child:
        out, err = Lines(child.stdout), Lines(child.stderr)
        newest = still.world.activity()[0]
        out.until(newest.id)
        _do_something(still, "first of all")
        out.until("first of all")
        still.stop()
        err.until("the request is repeated")
        still.start()
        err.until("answers again")
        _do_something(still, "second of all")
        out.until("second of all")
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130
        ids = [json.loads(line)["id"] for line in out.rest()]
        assert len(ids) == len(set(ids))
        assert not any("missing" in line for line in err.rest())


def test_follow_says_when_entries_may_be_missing(command: Command, still: EmbeddedPlatform) -> None:
    words = ("tail", "--follow", "--refresh", "0.5", "--limit", "2")
    child = command.on(still).start(*words)
    with child:
        out, err = Lines(child.stdout), Lines(child.stderr)
        out.until(still.world.activity()[0].message)
        still.stop()
        err.until("the request is repeated")
        for number in range(5):
            _do_something(still, f"number {number}")
        # Questions that reach further back are refused, as by a platform with a low maximum.
        still.faults.add("activity:status=400,after=1,times=7")
        still.start()
        err.until("entries may be missing")
        out.until("number 4")
        child.terminate()
        assert child.wait(timeout=30) == 128 + signal.SIGTERM
        assert not any("number 2" in line for line in out.rest())


def test_follow_ends_when_its_reader_goes(command: Command, still: EmbeddedPlatform) -> None:
    child = command.on(still).start("tail", "--follow", "--refresh", "0.5")
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(timeout=30) == 0
    assert child.stderr.read() == ""
    child.stderr.close()


class Log:
    """A client with nothing but a log, which answers with its newest entries."""

    capabilities = CAPABILITIES

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.newest_first = True
        self.agent: Ref | None = None
        self.asked: list[str] = []
        self.transport = SimpleNamespace(
            key=KeyInUse(ApiKey.parse("ag_unused_0000")), measured=SimpleNamespace(clock_skew=None)
        )

    async def activity(self, *_: Any, limit: int, once: bool = False) -> Listing[Activity]:
        ordered = sorted(self.numbers)[-limit:]
        if self.newest_first:
            ordered.reverse()
        return Listing(
            records=tuple(
                Activity(
                    id=f"e{each}",
                    text=mark_safe(f"entry {each}"),
                    at=Moment(1000.0 + each),
                    agent=self.agent,
                )
                for each in ordered
            )
        )

    async def agents(self, _: str | None) -> Listing[Agent]:
        self.asked.append("agents")
        return Listing(records=())

    async def companies(self) -> Listing[Company]:
        self.asked.append("companies")
        return Listing(records=())


class Feed:
    """A run of the command that polls when it is told to."""

    def __init__(self, limit: int) -> None:
        self.log = Log()
        settings = Settings(base_url=BaseUrl.parse("http://127.0.0.1:1"))
        client = cast("Client", self.log)
        workspace = Workspace(settings, client, snoozes=Snoozes(None, ""))
        self._new_entries = NewEntries(workspace, None, limit)

    def poll(self, numbers: Iterable[int]) -> list[int | str]:
        """The numbers that are told, with "gap" where some may be missing."""
        return asyncio.run(self.ask(numbers))

    async def ask(self, numbers: Iterable[int]) -> list[int | str]:
        self.log.numbers = list(numbers)
        entries = await self._new_entries.poll()
        return ["gap" if is_gap(entry) else int(entry.id[1:]) for entry in entries]


def test_after_an_empty_log(capsys: pytest.CaptureFixture[str]) -> None:
    feed = Feed(3)
    assert feed.poll([]) == []
    assert feed.poll([1]) == [1]
    assert MISSING not in capsys.readouterr().err
    feed = Feed(3)
    feed.poll([])
    feed.poll([1, 2, 3])
    assert MISSING in capsys.readouterr().err


@given(st.lists(st.integers(0, 4), max_size=10), st.integers(1, 5), st.booleans())
def test_every_entry_is_told_once_in_order(
    steps: list[int], limit: int, newest_first: bool
) -> None:
    feed = Feed(limit)
    feed.log.newest_first = newest_first
    newest = limit
    told = feed.poll(range(newest))
    for step in steps:
        newest += step
        told += feed.poll(range(newest))
    assert told == list(range(newest))
