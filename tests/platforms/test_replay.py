"""A recording of a platform with a file: it replays to the same records, as the file reads them."""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.recorder import Recorder
from agentco_tui.api.recording import Recording
from agentco_tui.api.recording_format import About, Recorded, encode_block
from agentco_tui.cli.replay_dashboard import ReplayApp, replay_app
from agentco_tui.commands.doctor_bundle import Bundle
from agentco_tui.commands.doctor_reads import examine_reads
from agentco_tui.commands.replay_command import replay_settings, start_recording
from agentco_tui.config import Settings, SettingsError
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.replay_poller import ReplayPoller
from agentco_tui.model import Record
from agentco_tui.platforms import declared_platform
from agentco_tui.reading.kinds.budget import WHOLE_ID
from agentco_tui.workspace.opening import client_for, snoozes_for
from agentco_tui.workspace.workspace import Workspace
from tests.platforms import recorded_paperclip
from tests.platforms.recorded_answers import INITECH, logged
from tests.platforms.recorded_paperclip import RecordedPaperclip

IN_ONE_ANSWER = (FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS, FeedName.ALERTS)
"""Lists that Paperclip sends in one body, for which a live client asks once."""
BEGIN = 1_800_000_000.0


class Hands:
    """A clock that stands where it is put."""

    now = BEGIN

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Hands:
    """The recorder's clock, by which the live platform also knows what is of one moment."""
    hands = Hands()
    monkeypatch.setattr(declared_platform, "monotonic", hands)
    return hands


@pytest.fixture
def server() -> Iterator[RecordedPaperclip]:
    with RecordedPaperclip(needs_key=False) as running:
        yield running


def settings_of(server: RecordedPaperclip) -> Settings:
    return Settings(
        profile="work",
        base_url=BaseUrl.parse(server.base),
        key=ApiKey(recorded_paperclip.KEY),
        platform="paperclip",
    )


@asynccontextmanager
async def recorded(server: RecordedPaperclip, path: Path, clock: Hands) -> AsyncIterator[Workspace]:
    """A workspace on the server whose answers are recorded."""
    settings = settings_of(server)
    recorder: Recorder = start_recording(str(path), settings, None)
    # private: the command has no parameter for the clock of its recorder.
    recorder._clock = clock
    client = client_for(settings, attempts=1, recorder=recorder)
    workspace = Workspace(settings, client, snoozes=snoozes_for(settings, None))
    try:
        yield workspace
    finally:
        await workspace.aclose()
        await client.aclose()
        recorder.close(30)


@asynccontextmanager
async def replayed(path: Path) -> AsyncIterator[ReplayApp]:
    """Its replay, which stands still at the beginning; nothing of it is shown."""
    recording = Recording(path)
    app = replay_app(replay_settings(recording.about, {}, {}), recording, path.parent / "replay")
    poller_of(app).set(paused=True)
    poller_of(app).set_paces(dict.fromkeys(FeedName, Pace.REFRESH))
    yield app
    await app.workspace.aclose()
    app.workspace.close()
    await app.workspace.client.aclose()


def poller_of(app: ReplayApp) -> ReplayPoller:
    assert isinstance(app.workspace.poller, ReplayPoller)
    return app.workspace.poller


async def read_all(workspace: Workspace) -> None:
    await asyncio.gather(*map(workspace.poller.read_again, FeedName))


def records_of(workspace: Workspace) -> dict[Any, tuple[Record, ...]]:
    store = workspace.store
    found: dict[Any, tuple[Record, ...]] = {
        feed: tuple(collection) for feed, collection in store.collections.items()
    }
    return {**found, FeedName.ACTIVITY: tuple(store.activity)}


async def test_it_replays_to_the_same_records_without_a_request(
    server: RecordedPaperclip, clock: Hands, tmp_path: Path
) -> None:
    path = tmp_path / "a.rec"
    async with recorded(server, path, clock) as workspace:
        await read_all(workspace)
        first = records_of(workspace)
        clock.now += 60
        server.companies.pop()
        approval = next(task.id for task in workspace.store.pending if task.title_from == "says")
        server.decided[approval] = "approved"
        await read_all(workspace)
        second = records_of(workspace)
    assert first != second
    assert all(first.values())
    before = len(server.requests)
    async with replayed(path) as app:
        for at, then in ((BEGIN, first), (BEGIN + 60, second), (BEGIN, first)):
            poller_of(app).set(at=at)
            await poller_of(app).poll_all()
            assert records_of(app.workspace) == then, at
        assert app.workspace.client.name == "Paperclip"
        assert app.workspace.settings.read_only
    assert len(server.requests) == before


async def test_each_of_the_lists_in_one_answer_is_as_old_and_as_broken_as_it_was(
    server: RecordedPaperclip, clock: Hands, tmp_path: Path
) -> None:
    path = tmp_path / "a.rec"
    async with recorded(server, path, clock) as workspace:
        await read_all(workspace)
        clock.now += 10
        await workspace.poller.read_again(FeedName.COMPANIES)
        clock.now += 10
        server.users.clear()
        await workspace.poller.read_again(FeedName.ALERTS)
        sentence = str(workspace.store.freshness[FeedName.ALERTS].failure)
    async with replayed(path) as app:
        known, steady = app.workspace.store.freshness, app.workspace.clock.monotonic
        poller_of(app).set(at=BEGIN + 10)
        await poller_of(app).poll_all()
        # The budgets of companies are in the list of companies, too, which was read again.
        ages = {feed: known[feed].age(steady()) for feed in IN_ONE_ANSWER}
        assert ages == {**dict.fromkeys(IN_ONE_ANSWER, 10), FeedName.COMPANY_BUDGETS: 0}
        assert known[FeedName.COMPANIES].age(steady()) == 0
        poller_of(app).set(at=BEGIN + 20)
        await poller_of(app).poll_all()
        assert [str(known[feed].failure) for feed in IN_ONE_ANSWER] == [sentence] * 3


async def test_lists_that_came_at_the_same_time_are_not_slower_than_the_slowest(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.rec"
    came = [
        ("/api/companies", 7.0, 1.0, [{"id": "a"}, {"id": "b"}]),
        ("/api/companies/a/budgets/overview", 10.0, 3.0, {"activeIncidents": []}),
        ("/api/companies/b/budgets/overview", 10.5, 3.0, {"activeIncidents": []}),
        ("/api/companies", 30.0, 0.5, [{"id": "a"}, {"id": "b"}]),
    ]
    blocks = [encode_block(about("paperclip"))]
    for target, at, took, body in came:
        answer = Recorded(BEGIN + at, f"GET {target}", took, status=200)
        blocks.append(encode_block(answer, zlib.compress(msgspec.json.encode(body))))
    path.write_bytes(b"".join(blocks))
    async with replayed(path) as app:
        poller_of(app).set(at=BEGIN + 30)
        await poller_of(app).poll_all()
        assert app.workspace.store.freshness[FeedName.ALERTS].took == pytest.approx(0.5 + 3.5)


async def test_a_gap_of_the_log_is_filled_by_what_was_read_for_it(
    server: RecordedPaperclip,
    clock: Hands,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    entry = logged()[0]
    begin = datetime(2026, 11, 22, tzinfo=UTC)
    entries = [
        {**entry, "id": f"at-{n}", "createdAt": (begin + timedelta(minutes=n)).isoformat()}
        for n in range(700, 0, -1)
    ]
    path = tmp_path / "a.rec"
    async with recorded(server, path, clock) as workspace:
        for known in (entries[400:], entries):
            monkeypatch.setattr(recorded_paperclip, "logged", partial(list, known))
            await workspace.poller.read_again(FeedName.ACTIVITY)
            clock.now += 5
        await workspace.poller.backfill.fill_gaps()
        clock.now += 5
        await workspace.poller.read_again(FeedName.COMPANIES)
        assert len(workspace.store.activity) == 600
    async with replayed(path) as app:
        for at in (BEGIN, clock.now):
            poller_of(app).set(at=at)
            await poller_of(app).poll_all()
        assert len(app.workspace.store.activity) == 600


async def test_a_recording_of_a_platform_without_a_file_names_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    answer = Recorded(BEGIN, "GET /api/companies", 0.1, status=200)
    path.write_bytes(encode_block(about("paperclp")) + encode_block(answer, zlib.compress(b"[]")))
    with pytest.raises(SettingsError, match=r'no platform "paperclp" .*: paperclip'):
        async with replayed(path):
            pass


def about(platform: str) -> About:
    return About(program="1", base_url="https://platform.example", profile="p", platform=platform)


async def test_a_bundle_names_nobody_and_replays_to_as_many_records(
    server: RecordedPaperclip, clock: Hands, tmp_path: Path
) -> None:
    path = tmp_path / "bundle.rec"
    # The rows of the third are made up, with ids that no platform has.
    server.companies = [company for company in server.companies if company["id"] != INITECH]
    settings = settings_of(server)
    bundle = Bundle(str(path), settings)
    await examine_reads(settings, bundle.recorder, as_lines=False)
    bundle.finish()
    async with recorded(server, tmp_path / "a.rec", clock) as workspace:
        await read_all(workspace)
        then = counted(workspace)
        names = {
            str(getattr(record, field))
            for records in records_of(workspace).values()
            for record in records
            for field in ("id", "name", "title", "description", "mission")
            if len(str(getattr(record, field, "")).split(" ")) > 1 or field == "id"
        }
    recording = Recording(path)
    # private: a recording has no public list of all its answers.
    found = [each for answers in recording._by_target.values() for each in answers]
    whole = b"".join([path.read_bytes(), *map(recording.body, found)]).decode("utf-8", "replace")
    assert len(names) > 100
    names |= {"GLO-", "ACM-"}  # keys of issues begin so
    assert [name for name in names - {WHOLE_ID} if name in whole] == []
    async with replayed(path) as app:
        poller_of(app).set(at=recording.ends)
        await poller_of(app).poll_all()
        assert counted(app.workspace) == then


def counted(workspace: Workspace) -> dict[Any, Counter[object]]:
    """Of each feed, how many records there are in each state, and with which sums."""
    return {
        feed: Counter(
            tuple(getattr(record, field, None) for field in ("state", "severity", "limit", "spent"))
            for record in records
        )
        for feed, records in records_of(workspace).items()
    }
