"""Envelopes of lists as real platforms have them (SHAPES A)."""

from __future__ import annotations

from typing import Any

import msgspec

from agentco_tui.demo.shape import LIST_KEY, SINGULAR, Ask, Json, Out, Page, Rows
from agentco_tui.demo.styles import rekey


def bare(_kind: str, rows: Rows, _page: Page, _ask: Ask) -> Out:
    """A1: an array and nothing else."""
    return Out(list(rows))


def numbered(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A8: `data` and `meta` with page numbers from 1."""
    meta = {
        "page": page.number,
        "limit": page.size,
        "totalItems": page.total,
        "totalPages": page.pages,
    }
    return Out({"data": rows, "meta": meta})


def cursor(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A7: `items` and an opaque `nextCursor`, null at the end."""
    return Out({"items": rows, "nextCursor": page.cursor if page.more else None})


def offset(kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A3, and A4 for budgets: named after what it holds, with `total`, `offset`, `limit`."""
    key = "items" if kind.endswith("budgets") else LIST_KEY[kind]
    return Out({key: rows, "total": page.total, "offset": page.start, "limit": page.size})


def next_link(_kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """A17: `results` and the absolute address of the next page."""
    return Out(
        {
            "count": page.total,
            "next": ask.address(page=page.number + 1) if page.more else None,
            "previous": ask.address(page=page.number - 1) if page.start else None,
            "results": rows,
        }
    )


def link_header(_kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """A32: a bare array, with the next page and the totals in headers."""
    links = [f'<{ask.address(page=1)}>; rel="first"']
    if page.more:
        links.insert(0, f'<{ask.address(page=page.number + 1)}>; rel="next"')
    headers = [("Link", ", ".join(links)), ("X-Page", str(page.number))]
    headers.append(("X-Next-Page", str(page.number + 1) if page.more else ""))
    if page.total <= 10_000:
        headers.append(("X-Total", str(page.total)))
    return Out(list(rows), headers=tuple(headers))


def jsonapi(_kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """A25: `data`, `links`, `meta`, and the names of related things in `included`."""
    plain = [msgspec.json.decode(row) for row in rows]
    return Out(
        {
            "data": plain,
            "included": gather_included(plain),
            "links": {
                "self": ask.address(page=page.number),
                "next": ask.address(page=page.number + 1) if page.more else None,
            },
            "meta": {"total": page.total},
        },
        media="application/vnd.api+json",
    )


def gather_included(resources: list[dict[str, Any]]) -> list[Json]:
    """Take the related resources out of each resource; each is told once."""
    found: dict[tuple[str, str], Json] = {}
    for resource in resources:
        for related in resource.pop("included", []):
            found[related["type"], related["id"]] = related
    return list(found.values())


def graphql(kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A28: edges, nodes and pageInfo below `data`."""
    edges = [
        {"cursor": f"c{page.start + turn}", "node": row} for turn, row in enumerate(rows, start=1)
    ]
    info = {"hasNextPage": page.more, "endCursor": page.cursor if rows else None}
    connection = {"edges": edges, "pageInfo": info, "totalCount": page.total}
    return Out({"data": {rekey(LIST_KEY[kind], "camel"): connection}})


def keyed(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A38: a map from id to record; the id stands nowhere else."""
    return Out(dict(zip(page.ids, rows, strict=True)))


def hal(kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """`_embedded` and `_links`, with relative addresses."""
    # Pages count from 0 here, as where `page` comes from (A22).
    links: dict[str, Json] = {"self": {"href": ask.address(absolute=False, page=page.number - 1)}}
    if page.more:
        links["next"] = {"href": ask.address(absolute=False, page=page.number)}
    told = {
        "size": page.size,
        "totalElements": page.total,
        "totalPages": page.pages,
        "number": page.number - 1,
    }
    return Out(
        {"_embedded": {LIST_KEY[kind]: rows}, "_links": links, "page": told},
        media="application/hal+json",
    )


def nested(kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """A29, three deep: `response.payload.tasks`, and `paging.next.after` beside it."""
    payload: dict[str, Json] = {rekey(LIST_KEY[kind], "camel"): rows}
    response: dict[str, Json] = {"payload": payload, "serverTime": 0}
    if page.more:
        link = ask.address(after=page.cursor)
        response["paging"] = {"next": {"after": page.cursor, "link": link}}
    return Out({"response": response})


def token(kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A15: `nextPageToken`, empty at the end; no rows at all come back as `{}`."""
    if not rows and not page.start:
        return Out({})
    return Out({LIST_KEY[kind]: rows, "nextPageToken": page.cursor if page.more else ""})


def has_more(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A10: `has_more`, and the next page comes after `last_id`."""
    return Out(
        {
            "object": "list",
            "data": rows,
            "first_id": page.ids[0] if page.ids else None,
            "last_id": page.ids[-1] if page.ids else None,
            "has_more": page.more,
        }
    )


def kebab(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """`list` with a `next-offset` as long as there is more."""
    body: dict[str, Json] = {"list": rows, "total-count": page.total}
    if page.more:
        body["next-offset"] = page.end
    return Out(body)


def pascal(kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A16: `NextToken` in the body, absent at the end."""
    body: dict[str, Json] = {rekey(LIST_KEY[kind], "pascal"): rows}
    if page.more:
        body["NextToken"] = page.cursor
    return Out(body)


def spring(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A22: `content` and page numbers from 0."""
    return Out(
        {
            "content": rows,
            "pageable": {"pageNumber": page.number - 1, "pageSize": page.size},
            "totalPages": page.pages,
            "totalElements": page.total,
            "number": page.number - 1,
            "size": page.size,
            "numberOfElements": len(rows),
            "first": page.start == 0,
            "last": not page.more,
            "empty": not rows,
        }
    )


def counted_after_cut(kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A2: `total` is the length of the page; an empty list is null."""
    del page
    return Out({LIST_KEY[kind]: rows or None, "total": len(rows)})


def ok(kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A20: two layers, `ok` outside."""
    data: dict[str, Json] = {LIST_KEY[kind]: rows}
    if page.more:
        data["next_cursor"] = page.cursor
    return Out({"ok": True, "data": data})


def laravel(_kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """A27: `links.next`, and in `meta.links` an array of buttons."""
    following = ask.address(page=page.number + 1) if page.more else None
    buttons = [
        {"url": ask.address(page=number), "label": str(number), "active": number == page.number}
        for number in range(1, min(page.pages, 10) + 1)
    ]
    meta = {
        "current_page": page.number,
        "last_page": page.pages,
        "per_page": page.size,
        "total": page.total,
        "links": [*buttons, {"url": following, "label": "Next &raquo;", "active": False}],
    }
    links = {"first": ask.address(page=1), "prev": None, "next": following}
    return Out({"data": rows, "links": links, "meta": meta})


def cloudflare(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A21: `result` and `result_info`; `errors` is there and empty."""
    info = {
        "page": page.number,
        "per_page": page.size,
        "count": len(rows),
        "total_count": page.total,
        "total_pages": page.pages,
    }
    told = {"success": True, "errors": [], "messages": []}
    return Out({**told, "result": rows, "result_info": info})


def fastapi(_kind: str, rows: Rows, page: Page, _ask: Ask) -> Out:
    """A34: `items`, `page`, `size`, `pages`."""
    told = {"total": page.total, "page": page.number, "size": page.size, "pages": page.pages}
    return Out({"items": rows, **told})


def express(_kind: str, rows: Rows, _page: Page, _ask: Ask) -> Out:
    """A18: `results` is a number and `data` the list."""
    return Out({"status": "success", "results": len(rows), "data": rows})


_BROKEN: tuple[Json, ...] = (None, "record lost in migration", 42, [], {})


def mixed(kind: str, rows: Rows, page: Page, ask: Ask) -> Out:
    """Another envelope for each endpoint, and rows among the tasks that are no records."""
    if kind == "tasks":
        whole = list(rows)
        for turn, broken in enumerate(_BROKEN):
            whole.insert(min(len(whole), 2 + turn * 4), broken)
        return numbered(kind, whole, page, ask)
    if kind == "activity":
        return Out({"entries": rows, "total": page.total, "tip_hash": "9f2c"})
    by_kind = {"companies": bare, "alerts": express, "agents": fastapi}
    return by_kind.get(kind, offset)(kind, rows, page, ask)


# --- single records (SHAPES B) ------------------------------------------------------------


def plain_single(_kind: str, record: Json) -> Json:
    """B1: the record itself."""
    return record


def data_single(_kind: str, record: Json) -> Json:
    """B3: below `data`."""
    return {"data": record}


def named_single(kind: str, record: Json) -> Json:
    """B2: below the name of what it is."""
    return {SINGULAR[kind]: record}


def pascal_single(kind: str, record: Json) -> Json:
    """B10: the same in PascalCase."""
    return {rekey(SINGULAR[kind], "pascal"): record}


def ok_single(_kind: str, record: Json) -> Json:
    """B4: `ok` outside."""
    return {"ok": True, "data": record}


def success_single(_kind: str, record: Json) -> Json:
    """A21 for one record."""
    return {"success": True, "errors": [], "messages": [], "result": record}


def graphql_single(kind: str, record: Json) -> Json:
    """A28 for one record."""
    return {"data": {rekey(SINGULAR[kind], "camel"): record}}


def nested_single(kind: str, record: Json) -> Json:
    """Three deep for one record."""
    return {"response": {"payload": {rekey(SINGULAR[kind], "camel"): record}}}


def info_single(kind: str, record: Json) -> Json:
    """B7: the record sits under `info`, beside something else."""
    return {"kind": SINGULAR[kind], "info": record}


def array_single(_kind: str, record: Json) -> Json:
    """B14: an array of one."""
    return record if isinstance(record, list) else [record]


def stamped_single(_kind: str, record: Json) -> Json:
    """B6: every answer carries a `timestamp` of its own, which is not the record's."""
    if not isinstance(record, dict):
        return record
    return {**record, "timestamp": "2026-01-01T00:00:00Z"}


def jsonapi_single(_kind: str, record: Json) -> Json:
    """B9: a resource below `data`, with what it names in `included`."""
    if not isinstance(record, dict):
        return {"data": record}
    resource = dict(record)
    return {"data": resource, "included": gather_included([resource])}


def mixed_single(kind: str, record: Json) -> Json:
    """Another envelope for each endpoint."""
    by_kind = {
        "companies": named_single,
        "agents": data_single,
        "overview": plain_single,
        "trace": plain_single,
        "agent_budgets": ok_single,
    }
    return by_kind.get(kind, plain_single)(kind, record)
