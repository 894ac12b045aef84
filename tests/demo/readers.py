"""Readers that know each shape's envelope on purpose, and nothing of the code that writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

Json = Any


@dataclass(frozen=True)
class Reader:
    """How a shape's lists are taken apart, and what asks for the next page (None: the last)."""

    rows: Callable[[Json, str], list[Json]]
    following: Callable[[httpx.Response, Json], dict[str, Any] | str | None] = (
        lambda _reply, _body: None
    )
    title: Callable[[Json], str | None] = lambda row: row["title"]
    record_id: Callable[[Json], str] = lambda row: row["id"]
    limit: Callable[[Json], Json] = lambda row: row["monthly_limit"]
    spent: Callable[[Json], Json] = lambda row: row["spent"]
    unit: int = 1
    error: Callable[[Json], str] = lambda body: body["error"]


def _link(reply: httpx.Response, _body: Json) -> str | None:
    found = re.search(r'<([^>]+)>; rel="next"', reply.headers["link"])
    return found[1] if found else None


READERS = {
    "plain": Reader(lambda body, _: body),
    "data": Reader(
        lambda body, _: body["data"],
        lambda _, body: (
            {"page": body["meta"]["page"] + 1}
            if body["meta"]["page"] < body["meta"]["totalPages"]
            else None
        ),
        title=lambda row: row["name"],
        limit=lambda row: row["limit"],
        spent=lambda row: row["usageMonthly"],
        error=lambda body: body["error"]["message"],
    ),
    "cursor": Reader(
        lambda body, _: body["items"],
        lambda _, body: body["nextCursor"] and {"cursor": body["nextCursor"]},
        limit=lambda row: row["monthlyLimit"],
        spent=lambda row: row["currentSpend"],
        error=lambda body: body["message"],
    ),
    "offset": Reader(
        lambda body, kind: body[kind],
        lambda _, body: (
            {"offset": body["offset"] + body["limit"]}
            if body["offset"] + body["limit"] < body["total"]
            else None
        ),
        spent=lambda row: row["monthly_spend"],
    ),
    "nextlink": Reader(
        lambda body, _: body["results"],
        lambda _, body: body["next"],
        record_id=lambda row: str(row["id"]),
        limit=lambda row: row["budget_limit"],
        spent=lambda row: row["budget_spent"],
        error=lambda body: body["detail"],
    ),
    "linkheader": Reader(
        lambda body, _: body,
        _link,
        limit=lambda row: row["budget"]["max_budget"],
        spent=lambda row: row["spend"],
        error=lambda body: body["message"],
    ),
    "jsonapi": Reader(
        lambda body, _: body["data"],
        lambda _, body: body["links"]["next"],
        title=lambda row: row["attributes"]["title"],
        limit=lambda row: row["attributes"]["monthlyLimit"],
        spent=lambda row: row["attributes"]["spent"],
        error=lambda body: body["errors"][0]["detail"],
    ),
    "graphql": Reader(
        lambda body, kind: [edge["node"] for edge in body["data"][kind]["edges"]],
        lambda _, body: (
            {"after": info["endCursor"]}
            if (info := next(iter(body["data"].values()))["pageInfo"])["hasNextPage"]
            else None
        ),
        limit=lambda row: row["monthlyLimit"],
        error=lambda body: body["errors"][0]["message"],
    ),
    "cents": Reader(
        lambda body, _: body,
        limit=lambda row: row["budgetMonthlyCents"],
        spent=lambda row: row["spentMonthlyCents"],
        unit=100,
    ),
    "epoch": Reader(
        lambda body, _: body["data"],
        lambda _, body: {"after": body["last_id"]} if body["has_more"] else None,
        limit=lambda row: row["monthly_limit"]["value"],
        spent=lambda row: row["spent"]["value"],
        error=lambda body: body["error"]["message"],
    ),
    "kebab": Reader(
        lambda body, _: body["list"],
        lambda _, body: {"offset": body["next-offset"]} if "next-offset" in body else None,
        limit=lambda row: row["monthly-limit"],
    ),
    "envelope_ok": Reader(
        lambda body, kind: body["data"][kind],
        lambda _, body: (
            {"cursor": body["data"]["next_cursor"]} if "next_cursor" in body["data"] else None
        ),
        title=lambda row: row["objective"],
        limit=lambda row: row["limit_usd"],
        spent=lambda row: row["spent_usd"],
    ),
}
