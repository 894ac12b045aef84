"""How the next page is asked for, and when it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.pagination import PageRequest, next_page
from agentco_tui.reading import json_body
from tests.api.canary import client_of
from tests.api.wire_server import Exchange, answering, http

ORIGIN = "https://platform.example"
FIRST = PageRequest("/api/tasks", (("status", "pending"),), ORIGIN)
ROWS = [{"id": "t1"}, {"id": "t2"}]


def following(
    body: Any, headers: dict[str, str] | None = None, request: PageRequest = FIRST, count: int = 2
) -> dict[str, str] | None:
    parsed = json_body.parse_json(json.dumps(body).encode())
    found, *_ = next_page(parsed, headers or {}, request, count)
    if found is None:
        return None
    assert found.path == request.path
    params = dict(found.params)
    assert params.pop("status") == "pending"
    return params


PAGES = json.loads((Path(__file__).parent / "pages.json").read_text())


@pytest.mark.parametrize(("body", "headers", "params"), PAGES["next page"])
def test_the_next_page(body: Any, headers: dict[str, str], params: dict[str, str] | None) -> None:
    count = 0 if isinstance(body, dict) and body.get("tasks") == [] else 2
    assert following(body, headers, count=count) == params


@pytest.mark.parametrize("address", PAGES["elsewhere"])
def test_a_link_elsewhere_is_never_followed(address: str) -> None:
    assert following({"results": ROWS, "next": address}) is None
    assert following(ROWS, {"link": f'<{address}>; rel="next"'}) is None


def test_a_link_that_is_not_followed_is_told_as_more() -> None:
    body = {"results": ROWS, "next": "http://inner:8000/api/tasks?page=2"}
    assert next_page(body, {}, FIRST, 2) == (None, True, None)
    assert next_page({"results": ROWS, "next": None}, {}, FIRST, 2) == (None, False, None)


def test_a_base_path_is_part_of_the_place() -> None:
    behind = PageRequest("/api/tasks", (("status", "pending"),), f"{ORIGIN}/tenant/9")
    body = {"results": ROWS, "next": f"{ORIGIN}/tenant/9/api/tasks?page=2"}
    assert following(body, request=behind) == {"page": "2"}


def _hal_page(number: int, pages: int, size: int = 25) -> dict[str, object]:
    """A page of HAL's, without `totalPages`; only the last one has no link to the next."""
    first, total = number * size, pages * size - 5
    rows = [{"id": f"t{each}", "title": "x"} for each in range(first, min(first + size, total))]
    links = {"self": {"href": f"/api/tasks?page={number}"}}
    if number + 1 < pages:
        links["next"] = {"href": f"/api/tasks?page={number + 1}"}
    page = {"size": size, "totalElements": total, "number": number}
    body: dict[str, object] = {"_links": links, "page": page}
    return {**body, "_embedded": {"tasks": rows}} if rows else body


@pytest.mark.parametrize(("pages", "requests"), [(1, 1), (3, 3)])
async def test_pages_of_hal_end_without_a_request_too_many(pages: int, requests: int) -> None:
    async def send(exchange: Exchange) -> None:
        number = re.search(r"[?&]page=(\d+)", exchange.server.heads[-1])
        body = _hal_page(int(number[1]) if number else 0, pages)
        await exchange.send(http(json.dumps(body).encode()))

    async with answering(send) as server, client_of(server) as client:
        listing = await client.tasks()
        assert (len(listing.records), len(server.heads)) == (pages * 25 - 5, requests)
        await client.tasks()
        assert len(server.heads) == 2 * requests


async def test_an_empty_list_of_hal_has_no_embedded() -> None:
    body = {"_links": {"self": {"href": "/api/tasks"}},
            "page": {"size": 20, "totalElements": 0, "totalPages": 0, "number": 0}}  # fmt: skip
    async with answering(http(json.dumps(body).encode())) as server, client_of(server) as client:
        listing = await client.tasks()
        assert (listing.records, listing.more, len(server.heads)) == ((), False, 1)


@pytest.mark.parametrize(
    ("page", "links", "goes_on"),
    [
        ({"totalElements": 60, "size": 2, "number": 0}, None, True),
        ({"totalElements": 2, "size": 2, "number": 0}, None, False),
        ({"totalElements": 60, "size": 2, "number": 0}, {"self": {"href": "/x"}}, False),
        ({"totalElements": 60, "totalPages": 30, "number": 0}, {"self": {"href": "/x"}}, True),
        ({"totalElements": 2, "number": 0, "last": False}, None, True),
    ],
)
def test_numbers_are_followed_unless_rows_or_links_say_that_this_is_the_end(
    page: dict[str, Any], links: dict[str, Any] | None, goes_on: bool
) -> None:
    body = {"content": ROWS, "page": page} | ({} if links is None else {"_links": links})
    assert following(body) == ({"page": "1"} if goes_on else None)


def test_the_same_cursor_twice_stops() -> None:
    again = PageRequest("/api/tasks", (("status", "pending"), ("cursor", "c2")), ORIGIN)
    assert following({"data": ROWS, "nextCursor": "c2"}, request=again) is None
    assert following({"data": ROWS, "nextCursor": "c3"}, request=again) == {"cursor": "c3"}


def test_pages_that_begin_at_zero_are_counted_on_from_there() -> None:
    request: PageRequest | None = FIRST
    asked = []
    for number in range(3):
        body = {"items": ROWS, "page": number, "size": 2, "total": 6}
        assert request is not None
        asked.append(request.get("page"))
        request, *_ = next_page(json_body.parse_json(json.dumps(body).encode()), {}, request, 2)
    assert (asked, request) == ([None, "1", "2"], None)


@pytest.mark.parametrize(("body", "count", "params", "more"), PAGES["more"])
def test_more_is_suspected(body: Any, count: int, params: list[list[str]], more: bool) -> None:
    parsed = json_body.parse_json(json.dumps(body).encode())
    request = PageRequest("/api/activity", tuple((name, value) for name, value in params), ORIGIN)
    assert next_page(parsed, {}, request, count)[1] is more


KEYS = [
    "next", "data", "meta", "links", "page", "total", "offset", "limit", "cursor", "nextCursor",
    "has_more", "last_id", "pageInfo", "endCursor", "paging", "href", "after",
]  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(json_values, st.text(max_size=60), st.integers(0, 5))
def test_any_body_and_header_leaves_origin_and_path_alone(body: Any, link: str, count: int) -> None:
    found, *_ = next_page(body, {"link": link, "x-next-page": link}, FIRST, count)
    if found is not None:
        assert (found.path, found.origin) == (FIRST.path, FIRST.origin)
        assert found != FIRST


def test_a_total_tells_of_more() -> None:
    headers = {"x-total-count": "5"}
    assert next_page(ROWS, headers, FIRST, 2) == (None, True, 5)
    assert next_page(ROWS, headers, FIRST, 2, rows_before=3) == (None, False, 5)


@pytest.mark.parametrize(("body", "total"), PAGES["total"])
def test_the_total_is_a_hint_from_many_places(body: Any, total: int | None) -> None:
    assert next_page(body, {}, FIRST, 2).total == total
