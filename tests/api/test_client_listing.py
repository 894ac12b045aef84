"""Pages followed to their end or to a cap that is told; what is unchanged is not read again."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Sequence
from itertools import count
from urllib.parse import parse_qs, urlsplit

import pytest

from agentco_tui.api import errors, page_walk, transport
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.generic import first_request
from agentco_tui.api.limits import Limits
from agentco_tui.api.prefetch import Prefetch
from agentco_tui.model import Task
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.row_cache import RowDecoder
from agentco_tui.reading.schema import DecodeContext, Row
from tests.api.canary import CANARY, client_of, failure
from tests.api.wire_server import Answer, Exchange, WireServer, answering, http
from tests.platform import EmbeddedPlatform
from tests.platform.shapes import SHAPE_NAMES

Query = dict[str, str]


def tasks(first: int, last: int) -> list[dict[str, str]]:
    return [{"id": f"t{number}", "title": f"Task {number}"} for number in range(first, last)]


def saying(answer: Callable[[Query], object]) -> Answer:
    """A server's answer as a function of the query it was asked with."""

    async def send(exchange: Exchange) -> None:
        target = exchange.server.heads[-1].split(" ")[1]
        query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        await exchange.send(http(json.dumps(answer(query)).encode()))

    return send


def ids(listing: object) -> list[str]:
    return [record.id for record in listing.records]  # type: ignore[attr-defined]


async def test_cursors_are_followed_and_carried_as_they_came() -> None:
    cursor = "eyJ+/=&?#%20"

    def answer(query: Query) -> object:
        if query.get("cursor") == cursor:
            return {"tasks": tasks(2, 4), "nextCursor": None}
        return {"tasks": tasks(0, 2), "nextCursor": cursor}

    async with answering(saying(answer), keep=True) as server, client_of(server) as client:
        listing = await client.tasks(status="pending")
    assert ids(listing) == ["t0", "t1", "t2", "t3"]
    assert (listing.pages, listing.capped, listing.more) == (2, False, False)
    assert "tasks" in listing.shape
    assert server.heads[1].startswith("GET /api/tasks?status=pending&cursor=eyJ%2B%2F%3D%26%3F")
    assert server.connections == 1


async def test_equal_values_of_all_pages_are_one_object() -> None:
    def answer(query: Query) -> object:
        number = int(query.get("cursor", "0"))
        task = {"id": f"t{number}", "agent_id": "ag_1", "agent_name": "Ada", "status": "Unusual"}
        return {"tasks": [task], "nextCursor": str(number + 1) if number < 2 else None}

    async with answering(saying(answer), keep=True) as server, client_of(server) as client:
        first, second, third = (await client.tasks()).records
    assert first.agent is second.agent is third.agent
    assert first.status is second.status is third.status


@pytest.mark.parametrize(
    ("answer", "pages", "more"),
    [
        (lambda q: {"tasks": tasks(0, 2), "next_cursor": "same"}, 2, True),
        (lambda q: {"tasks": tasks(0, 2), "next_cursor": f"{q.get('cursor', '')}x"}, 2, True),
        (
            lambda q: {
                "tasks": tasks(0, 2) if "cursor" not in q else tasks(2, 4),
                "next_cursor": {"": "a", "a": "b", "b": "a"}[q.get("cursor", "")],
            },
            3,
            True,
        ),
        (lambda q: {"tasks": [], "next_cursor": ""}, 1, False),
    ],
    ids=["same-cursor", "same-records", "cursor-in-a-ring", "empty-cursor"],
)
async def test_endless_pages_end(answer: Callable[[Query], object], pages: int, more: bool) -> None:
    async with answering(saying(answer)) as server, client_of(server) as client:
        listing = await client.tasks()
    assert listing.pages == len(server.requests) == pages
    assert listing.more is more
    assert not listing.capped
    assert len(set(ids(listing))) == len(ids(listing))


def endless(query: Query) -> object:
    start = int(query.get("cursor", "0"))
    return {"tasks": tasks(start, start + 10), "next_cursor": str(start + 10)}


async def test_an_endless_list_ends_at_a_cap_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(saying(endless), keep=True) as server:
        async with client_of(server, page_cap=7) as client:
            by_pages = await client.tasks()
        async with client_of(server, record_cap=25) as client:
            by_records = await client.tasks()
        async with client_of(server, limits=Limits(body=1500)) as client:
            by_bytes = await client.tasks()
        clock = count(step=25)
        monkeypatch.setattr(page_walk, "monotonic", lambda: float(next(clock)))
        async with client_of(server) as client:
            by_time = await client.tasks()
    assert (by_pages.capped, by_pages.pages, len(by_pages.records)) == (True, 7, 70)
    assert (by_records.capped, by_records.pages, len(by_records.records)) == (True, 3, 25)
    assert by_bytes.capped
    assert 1 < by_bytes.pages < 5
    assert (by_time.capped, by_time.pages) == (True, 3)


async def test_no_page_is_followed_past_the_limit_that_was_asked_for() -> None:
    def answer(query: Query) -> object:
        start = int(query.get("cursor", "0"))
        entries = [{"id": f"e{start + place}", "message": "x"} for place in range(10)]
        return {"entries": entries, "next_cursor": str(start + 10)}

    async with answering(saying(answer), keep=True) as server, client_of(server) as client:
        listing = await client.activity(limit=25)
        whole = await client.activity(limit=10)
    assert (len(listing.records), listing.pages, listing.capped) == (30, 3, True)
    assert (len(whole.records), whole.pages, whole.capped) == (10, 1, True)


async def test_a_page_that_fails_fails_the_list() -> None:
    first = http(json.dumps({"tasks": tasks(0, 2), "next_cursor": "a"}).encode())
    async with answering(first, http(b"", 500)) as server, client_of(server) as client:
        error = await failure(client.tasks())
    assert isinstance(error, errors.PlatformFailed)


async def test_a_next_link_is_followed_within_the_origin_only() -> None:
    async with answering(http(b"[]")) as other:

        def answer(query: Query) -> object:
            link = f"{other.base}/api/tasks?page=2"
            return {"count": 4, "next": link, "previous": None, "results": tasks(0, 2)}

        async with answering(saying(answer)) as server, client_of(server) as client:
            listing = await client.tasks()
    assert other.connections == 0
    assert len(server.requests) <= 2
    assert listing.more

    async def linked(exchange: Exchange) -> None:
        last = "page=2" in exchange.server.heads[-1]
        link = f'<{exchange.server.base}/api/tasks?page=2>; rel="next"'
        body = json.dumps(tasks(2, 4) if last else tasks(0, 2)).encode()
        await exchange.send(http(body, headers={} if last else {"Link": link}))

    async with answering(linked) as server, client_of(server) as client:
        listing = await client.tasks()
    assert ids(listing) == ["t0", "t1", "t2", "t3"]
    assert not listing.more


async def test_of_a_record_on_two_pages_the_later_counts_once() -> None:
    def answer(query: Query) -> object:
        if "cursor" in query:
            moved = {**tasks(1, 2)[0], "updated_at": "2026-11-21T11:18:43Z"}
            return {"tasks": [moved, *tasks(2, 3)]}
        return {"tasks": tasks(0, 2), "next_cursor": "a"}

    async with answering(saying(answer)) as server, client_of(server) as client:
        listing = await client.tasks()
    assert ids(listing) == ["t0", "t1", "t2"]
    assert listing.records[1].updated is not None
    assert not any(task.shared_id for task in listing.records)


async def test_two_tasks_with_one_id_on_two_pages_are_both_shown_and_marked() -> None:
    def answer(query: Query) -> object:
        if "cursor" in query:
            return {"tasks": [{"id": "t1", "title": "Another"}, *tasks(2, 3)]}
        return {"tasks": tasks(0, 2), "next_cursor": "a"}

    async with answering(saying(answer)) as server, client_of(server) as client:
        listing = await client.tasks()
    assert [(task.sent_id, task.title, task.shared_id) for task in listing.records] == [
        ("t0", "Task 0", False),
        ("t1", "Task 1", True),
        ("t1", "Another", True),
        ("t2", "Task 2", False),
    ]
    assert len(set(ids(listing))) == 4


async def test_an_unchanged_list_is_the_same_and_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[object] = []
    real = RowDecoder.read_page

    def spy(decoder: RowDecoder[Task], body: object) -> object:
        decoded.append(body)
        return real(decoder, body)

    monkeypatch.setattr(RowDecoder, "read_page", spy)
    version = 0

    def answer(query: Query) -> object:
        if "cursor" in query:
            return {"tasks": [{"id": "t9", "title": f"Version {version}"}]}
        return {"tasks": tasks(0, 2), "next_cursor": "a"}

    async with answering(saying(answer), keep=True) as server, client_of(server) as client:
        first = await client.tasks()
        assert await client.tasks() is first
        assert len(decoded) == 2
        other = await client.tasks(status="pending")
        assert other is not first
        assert other.digest == first.digest
        assert len(decoded) == 4
        assert await client.tasks() is first
        version = 1
        changed = await client.tasks()
        assert changed is not first
        assert changed.digest != first.digest
        assert changed.records[0] is first.records[0]
        assert len(decoded) == 5


async def test_a_poll_that_brings_one_new_row_decodes_one_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[object] = []
    build = TASKS.build

    def build_and_count(row: Row, context: DecodeContext) -> Task:
        built.append(row.obj["id"])
        return build(row, context)

    monkeypatch.setattr(TASKS, "build", build_and_count)
    rows = tasks(0, 500)
    platform = saying(lambda _: {"tasks": rows})
    async with answering(platform, keep=True) as server, client_of(server) as client:
        first = await client.tasks()
        assert len(built) == 500
        built.clear()
        rows = [{"id": "new", "title": "New"}, *rows]
        second = await client.tasks()
    assert built == ["new"]
    assert all(one is other for one, other in zip(first.records, second.records[1:], strict=True))


async def test_the_memory_of_lists_is_bounded() -> None:
    async with answering(http(b"[]"), keep=True) as server, client_of(server) as client:
        for number in range(100):
            await client.tasks(company_id=f"c{number}")
        # private: no public way shows how many lists are kept in memory.
        assert len(client._cache) == 12


async def test_an_etag_is_sent_back_and_a_304_is_the_same_list() -> None:
    body = json.dumps({"tasks": tasks(0, 2)}).encode()
    tagged = http(body, headers={"ETag": 'W/"v1"'})
    hostile = http(body, headers={"ETag": 'v1" , "x'})
    answers = (tagged, http(b"", 304), hostile, hostile)
    async with answering(*answers, keep=True) as server, client_of(server) as client:
        first = await client.tasks()
        assert await client.tasks() is first
        assert await client.tasks() is first
        assert await client.tasks() is first
    sent = [b'If-None-Match: W/"v1"' in request for request in server.requests]
    assert sent == [False, True, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(SHAPE_NAMES))
async def test_every_shape_of_the_embedded_platform_gives_the_same_records(shape: str) -> None:
    with EmbeddedPlatform(seed=7, speed=0.0, shape=shape) as platform:
        agents = {agent.id: agent.company.id for agent in platform.world.agents()}
        async with client_of(platform) as client:
            companies, tasks = await client.companies(), await client.tasks()
            told = await client.agents()
            assert set(ids(companies)) == set(agents.values())
            assert set(ids(told)) == set(agents)
            assert set(ids(tasks)) == {task.id for task in platform.world.tasks()}
            for listing in (companies, told, tasks):
                assert (listing.capped, listing.more) == (False, False)
                assert listing.unread == 0
            assert (await client.budget()).whole
            assert (await client.agent_budgets()).records
            assert (await client.company_budgets()).records
            assert 0 < len((await client.activity(limit=30)).records) < 60
            await client.budget_alerts()
            await client.task_trace(ids(tasks)[0])
            assert (await client.company(ids(companies)[0])).id == ids(companies)[0]
            assert (await client.agent(ids(told)[0])).id == ids(told)[0]


# --- the first request is sent early, and its answer handed over once ---


def begun(server: WireServer) -> Prefetch:
    early = Prefetch.begin(first_request(None), BaseUrl.parse(server.base), ApiKey(CANARY))
    assert early is not None
    return early


def sent(count: int) -> bytes:
    return json.dumps(
        [{"id": f"t{at}", "title": f"Pay invoice {at}"} for at in range(count)]
    ).encode()


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte is too long to be read as a whole."""
    monkeypatch.setattr(transport, "LONGEST_IN_MEMORY", 1024 * 1024)


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 30_000], ids=["short", "long"])
async def test_the_answer_is_taken_over_once(count: int) -> None:
    body = sent(count)
    assert (len(body) > transport.LONGEST_IN_MEMORY) == (count > 3)
    async with answering(http(body), keep=True) as server, client_of(server) as client:
        client.prefetch = begun(server)
        first = await client.tasks(status="pending")
        assert len(first.records) == count
        assert len(server.requests) == 1
        assert await client.tasks(status="pending") is first
        assert len(server.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize("early", [True, False], ids=["sent early", "asked for"])
async def test_the_first_rows_of_a_long_list_are_told_before_the_rest(early: bool) -> None:
    told: list[Sequence[Task]] = []
    async with answering(http(sent(30_000)), keep=True) as server, client_of(server) as client:
        if early:
            client.prefetch = begun(server)
        whole = await client.tasks(status="pending", begins=told.append)
        assert 0 < len(told[0]) < 3_000
        assert told == [whole.records[: len(told[0])]]
        await client.tasks(status="pending", begins=told.append)
        assert len(told) == 1, "of a list that is known the whole is at hand"


async def test_of_a_short_list_nothing_is_told_first() -> None:
    told: list[Sequence[Task]] = []
    async with answering(http(sent(3))) as server, client_of(server) as client:
        assert len((await client.tasks(begins=told.append)).records) == 3
        assert told == []


async def test_another_question_is_asked_by_itself() -> None:
    async with answering(http(sent(3)), keep=True) as server, client_of(server) as client:
        client.prefetch = begun(server)
        assert len((await client.tasks()).records) == 3
        assert len((await client.tasks(status="pending")).records) == 3


async def test_a_failure_is_that_of_the_request_itself() -> None:
    async with answering(http(b"", 403)) as server, client_of(server) as client:
        client.prefetch = begun(server)
        assert (await failure(client.tasks(status="pending"))).status == 403
        assert len(server.requests) == 1


async def test_what_was_handed_over_is_let_go() -> None:
    async with answering(http(sent(30_000))) as server:
        early = begun(server)
        reply = await early.take("/api/tasks", (("status", "pending"),))
        assert reply is not None
        assert reply.body == b""
        assert reply.streamed is not None
        assert len(reply.streamed.records) == 30_000
        assert reply not in gc.get_referents(early, *vars(early).values())
        assert await early.take("/api/tasks", (("status", "pending"),)) is None
