"""How the next page is asked for, and when it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.pagination import PageRequest, next_page
from agentco_tui.reading import json_body

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


PAGE_INFO = {"hasNextPage": True, "endCursor": "c1"}
CURSORS: list[tuple[Any, dict[str, str] | None]] = [
    ({"data": ROWS, "nextCursor": "eyJ+/="}, {"cursor": "eyJ+/="}),
    ({"data": ROWS, "response_metadata": {"next_cursor": "c2"}}, {"cursor": "c2"}),
    ({"data": ROWS, "pagination": {"nextCursor": "c2", "hasMore": True}}, {"cursor": "c2"}),
    ({"executions": ROWS, "nextPageToken": "a+b/c="},
     {"nextPageToken": "a+b/c=", "pageToken": "a+b/c="}),
    ({"Tasks": ROWS, "NextToken": "x"}, {"NextToken": "x"}),
    ({"data": ROWS, "meta": {"next_token": "abc"}}, {"next_token": "abc"}),
    ({"data": ROWS, "next_page_token": "abc"}, {"page_token": "abc"}),
    ({"object": "list", "data": ROWS, "first_id": "t1", "last_id": "t2", "has_more": True},
     {"after": "t2"}),
    ({"object": "list", "data": ROWS, "has_more": True}, {"starting_after": "t2"}),
    ({"items": ROWS, "hasMore": True}, {"after": "t2"}),
    ({"results": ROWS, "paging": {"next": {"after": "50", "link": "x"}}}, {"after": "50"}),
    ({"data": {"tasks": {"nodes": ROWS, "pageInfo": PAGE_INFO}}}, {"after": "c1"}),
    ({"entries": ROWS, "marker": "m2", "has_more": True}, {"marker": "m2"}),
    ({"entries": ROWS, "next_marker": "m2"}, {"marker": "m2"}),
    ({"items": ROWS, "continuationToken": "x"}, {"continuationToken": "x"}),
    ({"items": ROWS, "metadata": {"continue": "abc"}}, {"continue": "abc"}),
    ({"docs": ROWS, "bookmark": "g1A", "has_more": True}, {"bookmark": "g1A"}),
    ({"records": ROWS, "offset": "itr/rec"}, {"offset": "itr/rec"}),
    ({"data": ROWS, "next_page": {"offset": "abc", "uri": "https://elsewhere/x"}},
     {"offset": "abc"}),
    ({"data": ROWS, "has_more": True, "next_page": "p2"}, {"page": "p2"}),
    ({"data": ROWS, "nextCursor": None}, None), ({"data": ROWS, "nextPageToken": ""}, None),
    ({"data": ROWS, "nextCursor": "c2", "hasMore": False}, None),
    ({"data": ROWS, "has_more": False, "last_id": "t2"}, None),
    ({"data": ROWS, "has_more": False, "next_page": None}, None),
    ({"results": ROWS, "paging": {}}, None), ({"items": ROWS, "metadata": {"continue": ""}}, None),
    ({"data": {"tasks": {"nodes": ROWS, "pageInfo": {**PAGE_INFO, "hasNextPage": False}}}}, None),
]  # fmt: skip
NUMBERS: list[tuple[Any, dict[str, str] | None]] = [
    ({"data": ROWS, "meta": {"page": 1, "limit": 2, "totalItems": 5, "totalPages": 3}},
     {"page": "2"}),
    ({"data": ROWS, "meta": {"current_page": 1, "last_page": 2, "per_page": 2}}, {"page": "2"}),
    ({"items": ROWS, "total": 5, "page": 1, "size": 2, "pages": 3}, {"page": "2"}),
    ({"items": ROWS, "total": 5, "page": 0, "size": 2}, {"page": "1"}),
    ({"content": ROWS, "totalPages": 3, "number": 0, "size": 2, "last": False}, {"page": "1"}),
    ({"data": {"records": ROWS, "current": 1, "size": 2, "pages": 3}}, {"page": "2"}),
    ({"list": ROWS, "pageNum": 1, "pageSize": 2, "pages": 3, "nextPage": 2}, {"page": "2"}),
    ({"data": ROWS, "next_page": 2}, {"page": "2"}),
    ({"success": True, "result": ROWS,
      "result_info": {"page": 1, "per_page": 2, "total_count": 5}}, {"page": "2"}),
    ({"tasks": ROWS, "total": 5, "offset": 0, "limit": 2}, {"offset": "2"}),
    ({"tasks": ROWS, "total": 5, "offset": 0, "limit": None}, {"offset": "2"}),
    ({"tasks": ROWS, "total": 5, "limit": 2}, {"offset": "2"}),
    ({"tasks": ROWS, "total": 5, "skip": 0}, {"skip": "2"}),
    ({"issues": ROWS, "startAt": 0, "maxResults": 2, "total": 5}, {"startAt": "2"}),
    ({"values": ROWS, "startAt": 2, "isLast": False}, {"startAt": "4"}),
    ({"response": {"numFound": 5, "start": 0, "docs": ROWS}}, {"start": "2"}),
    ({"Resources": ROWS, "startIndex": 1, "totalResults": 3}, {"startIndex": "3"}),
    ({"content": ROWS, "number": 2, "totalPages": 3, "last": True}, None),
    ({"tasks": ROWS, "total": 2, "offset": 0, "limit": 50}, None),
    ({"tasks": [], "total": 5, "offset": 50, "limit": 50}, None),
    ({"items": ROWS, "page": 3, "pages": 3}, None), ({"items": ROWS, "page": 1}, None),
    ({"items": ROWS, "total": 2, "page": 1, "size": 50}, None),
    ({"values": ROWS, "startAt": 2, "isLast": True}, None),
    ({"Resources": ROWS, "startIndex": 1, "totalResults": 2}, None),
]  # fmt: skip
LINKS: list[tuple[Any, dict[str, str] | None]] = [
    ({"items": ROWS, "links": [{"rel": "self", "href": "/"}, {"rel": "next", "href": "?page=2"}]},
     {"page": "2"}),
    ({"results": ROWS, "next": f"{ORIGIN}/api/tasks/?page=2&status=pending"}, {"page": "2"}),
    ({"data": ROWS, "links": {"next": "/api/tasks?cursor=a%2Bb"}}, {"cursor": "a+b"}),
    ({"data": ROWS, "links": {"next": {"href": "/api/tasks?page=2"}}}, {"page": "2"}),
    ({"_embedded": {"tasks": ROWS}, "_links": {"next": {"href": "?page=2"}}}, {"page": "2"}),
    ({"value": ROWS, "@odata.nextLink": f"{ORIGIN}/api/tasks?$skip=2"}, {"$skip": "2"}),
    ({"data": ROWS, "next_page_url": "/api/tasks?page=2"}, {"page": "2"}),
    ({"d": {"results": ROWS, "__next": "/api/tasks?$skiptoken=2"}}, {"$skiptoken": "2"}),
    ({"entities": ROWS, "links": [{"rel": ["next"], "href": "/api/tasks?page=2"}]}, {"page": "2"}),
    ({"member": ROWS, "hydra:view": {"hydra:next": "/api/tasks?page=2"}}, {"page": "2"}),
    ({"collection": {"items": ROWS, "links": [{"rel": "next", "href": "?page=2"}]}}, {"page": "2"}),
    ({"results": ROWS, "next": None}, None), ({"data": ROWS, "links": {"next": None}}, None),
    ({"data": ROWS, "meta": {"links": [{"url": "/api/tasks?page=2", "label": "2"}]}}, None),
    (ROWS, None), ({"tasks": ROWS, "total": 1042}, None), (None, None), ("x", None), (5, None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "params"), [*CURSORS, *NUMBERS, *LINKS])
def test_the_next_page(body: Any, params: dict[str, str] | None) -> None:
    count = 0 if isinstance(body, dict) and body.get("tasks") == [] else 2
    assert following(body, count=count) == params


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/api/tasks?page=2", "http://platform.example/api/tasks?page=2",
     "https://platform.example:8443/api/tasks?page=2", "//evil.example/api/tasks?page=2",
     "https://user:pw@platform.example/api/tasks?page=2", "/api/other?page=2", "/admin?page=2",
     "https://platform.example/api/tasks/../keys?page=2", "/api/tasks", "/api/tasks/t1?page=2",
     "/api/tasks?status=pending", "https://platform.example@evil.example/api/tasks?page=2",
     "http://[bad/api/tasks?page=2"],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("headers", "params"),
    [
        ({"link": f'<{ORIGIN}/api/tasks?page=2>; rel="next", </api/tasks?page=9>; rel="last"'},
         {"page": "2"}),
        ({"link": f'<{ORIGIN}/api/tasks?page=1>; rel="prev", </api/tasks?page=3>; rel=next'},
         {"page": "3"}),
        ({"link": '</api/tasks?cursor=x>; title="a, b"; rel="next last"'}, {"cursor": "x"}),
        ({"x-next-page": "2"}, {"page": "2"}), ({"x-next-cursor": "c"}, {"cursor": "c"}),
        ({"link": '<http://inner:80/api/tasks?page=2>; rel="next"', "x-next-page": "2"},
         {"page": "2"}),
        ({"x-pagination": '{"CurrentPage":1,"TotalPages":3}'}, {"page": "2"}),
        ({"x-page": "1", "x-total-pages": "3"}, {"page": "2"}),
        ({"x-page": "1", "x-per-page": "2", "x-total-count": "5"}, {"page": "2"}),
        ({"x-pagination": '{"CurrentPage":3,"TotalPages":3}'}, None), ({"x-next-page": ""}, None),
        ({"x-pagination": "{no json"}, None), ({"x-total-count": "5"}, None), ({}, None),
        ({"link": '<x>; rel="prev"'}, None), ({"link": "nonsense"}, None),
        ({"link": "<" * 10_000}, None),
    ],
)  # fmt: skip
def test_headers_for_bare_lists(headers: dict[str, str], params: dict[str, str] | None) -> None:
    assert following(ROWS, headers) == params


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


@pytest.mark.parametrize(
    ("body", "count", "params", "more"),
    [
        ({"entries": ROWS, "total": 1042}, 2, (), True),
        ({"tasks": ROWS, "total": 2}, 2, (), False),
        (ROWS, 2, (("limit", "2"),), True),
        (ROWS, 2, (("limit", "50"),), False),
        (ROWS, 2, (), False),
        ({"data": ["a", "b"], "has_more": True}, 2, (), True),
        ({"data": ROWS, "limit": 2}, 2, (), True),
        ({"tasks": [], "total": 0}, 0, (), False),
        (None, 0, (), False),
        ({"data": ROWS, "truncated": False}, 2, (), False),
    ],
)
def test_more_is_suspected(
    body: Any, count: int, params: tuple[tuple[str, str], ...], more: bool
) -> None:
    parsed = json_body.parse_json(json.dumps(body).encode())
    assert next_page(parsed, {}, PageRequest("/api/activity", params, ORIGIN), count)[1] is more


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
    assert next_page(ROWS, headers, FIRST, 2, before=3) == (None, False, 5)


@pytest.mark.parametrize(
    ("extra", "total"),
    [
        ({"total": 7}, 7), ({"count": 7}, 7), ({"totalCount": "7"}, 7), ({"total_entries": 7}, 7),
        ({"meta": {"total_count": 7}}, 7), ({"pagination": {"total": 7}}, 7), ({}, None),
        ({"result_info": {"total_count": 7, "count": 2}}, 7), ({"page": {"totalElements": 7}}, 7),
        ({"hits": {"total": {"value": 7}}}, 7), ({"total": -1}, None), ({"total": "many"}, None),
    ],
)  # fmt: skip
def test_the_total_is_a_hint_from_many_places(extra: dict[str, Any], total: int | None) -> None:
    assert next_page({"tasks": ROWS, **extra}, {}, FIRST, 2).total == total
