"""Every shape read as its description says: pages to the end, sums, refusals, approvals, traces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.demo.shapes import SHAPES
from tests.demo.conftest import NOW
from tests.demo.readers import READERS, Reader

Json = Any


@pytest.fixture(params=sorted(SHAPES))
def shaped(request: pytest.FixtureRequest) -> Iterator[tuple[str, EmbeddedPlatform, httpx.Client]]:
    name: str = request.param
    with EmbeddedPlatform(speed=0, now=NOW, shape=name) as platform:
        headers = {"Authorization": f"Bearer {platform.full_key}"}
        with httpx.Client(base_url=platform.base_url, headers=headers, trust_env=False) as http:
            yield name, platform, http


def crawl(http: httpx.Client, reader: Reader, path: str, kind: str) -> tuple[list[Json], int]:
    """All rows of a list, and how many pages they came in."""
    rows: list[Json] = []
    reply, pages = http.get(path), 0
    while True:
        assert reply.status_code == 200
        pages += 1
        assert pages < 20
        body = reply.json()
        rows += reader.rows(body, kind)
        following = reader.following(reply, body)
        if following is None:
            return rows, pages
        if isinstance(following, str):
            reply = http.get(following)
        else:
            reply = http.get(httpx.URL(path).copy_merge_params(following))


def test_every_shape_has_a_reader() -> None:
    assert set(READERS) == set(SHAPES)
    assert len(SHAPES) == 12


def test_all_pages_hold_all_pending_tasks_in_order(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    name, platform, http = shaped
    reader = READERS[name]
    rows, pages = crawl(http, reader, "/api/tasks?status=pending", "tasks")
    pending = platform.world.tasks(status="pending")
    assert [reader.record_id(row) for row in rows] == [task.id for task in pending]
    assert pages == (1 if name in {"plain", "cents"} else 2)
    assert [reader.title(row) for row in rows] == [task.title for task in pending]


def test_sums_of_agents_are_the_same_in_every_unit(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    name, platform, http = shaped
    reader = READERS[name]
    rows, _ = crawl(http, reader, "/api/budget/agents", "budgets")
    told = {}
    for row in rows:
        try:
            limit, spent = Decimal(str(reader.limit(row))), Decimal(str(reader.spent(row)))
        except (KeyError, TypeError, ArithmeticError):
            continue  # no limit, or a sum the shape leaves out
        if limit > 0:
            told[round(limit / reader.unit, 2), round(spent / reader.unit, 2)] = row
    real = {
        (Decimal(agent.limit) / 1_000_000, round(Decimal(agent.spent) / 1_000_000, 2))
        for agent in platform.world.agents()
        if agent.limit
    }
    assert set(told) == real


def test_an_unknown_agent_is_refused_in_the_shape(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    name, _, http = shaped
    reply = http.get("/api/agents/ag_nobody")
    assert reply.status_code == (200 if name == "envelope_ok" else 404)
    if name == "kebab":
        assert reply.text == "agent not found\n"
    else:
        assert READERS[name].error(reply.json()) == "agent not found"


def test_keys_are_refused_with_401_and_403_in_every_shape(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    _, platform, http = shaped
    assert http.get("/api/agents", headers={"Authorization": "Bearer ag_no"}).status_code == 401
    read = {"Authorization": f"Bearer {platform.read_key}"}
    assert http.post("/api/tasks", headers=read, json={}).status_code == 403


def test_refused_fields_are_named_in_every_shape(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    name, platform, http = shaped
    reply = http.post("/api/tasks", json={"title": "x", "agent_id": "y", "priority": "high"})
    assert reply.status_code in {200, 400, 422}
    assert (reply.status_code == 200) == (name == "envelope_ok")
    assert "company_id" in reply.text
    assert not any(task.title == "x" for task in platform.world.tasks())


def test_an_approve_is_applied_once_and_the_second_refused(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    name, platform, http = shaped
    task = platform.world.tasks(status="pending")[0]
    first = http.post(f"/api/tasks/{task.id}/approve")
    special = {"linkheader": 201, "jsonapi": 202, "kebab": 204}
    assert first.status_code == special.get(name, 200)
    second = http.post(f"/api/tasks/{task.id}/approve")
    refused = {"linkheader": 401, "envelope_ok": 200}
    assert second.status_code == refused.get(name, 409)
    if name == "envelope_ok":
        assert second.json()["ok"] is False
    assert platform.world.applied[task.id] == 1
    assert platform.world.attempts[task.id] == 2
    assert task.status == "approved"


def test_traces_tell_the_story_of_the_task(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    _, platform, http = shaped
    task = next(t for t in platform.world.tasks() if t.title == "Refund 214 customers")
    reply = http.get(f"/api/tasks/{task.id}/trace")
    told = json.dumps(reply.json(), ensure_ascii=False)
    assert reply.status_code == 200
    assert "Ready to refund 214 customers, 18,240.00 in all" in told
    assert "payments.refund" in told
    assert "18240.0" in told


def test_created_companies_and_limits_come_back_in_the_shape(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    _, platform, http = shaped
    body = {"name": "Vandelay Imports", "template": "retail", "mission": "Latex, mostly."}
    created = http.post("/api/companies", json=body)
    assert created.status_code == 201
    assert "Vandelay Imports" in created.text
    agent = platform.world.agents()[0]
    changed = http.post(f"/api/budget/agents/{agent.id}", json={"monthly_limit": 251.5})
    assert changed.status_code == 200
    assert agent.limit == 251_500_000
    assert re.search(r"251\.50?\b|25150\b", changed.text)


def test_every_endpoint_answers_json_of_some_kind(
    shaped: tuple[str, EmbeddedPlatform, httpx.Client],
) -> None:
    _, platform, http = shaped
    agent = platform.world.agents()[0]
    for path in (
        "/api/companies",
        f"/api/companies/{agent.company.id}",
        "/api/agents",
        f"/api/agents/{agent.id}",
        "/api/tasks",
        "/api/activity?limit=10",
        "/api/budget",
        "/api/budget/companies",
        "/api/budget/agents",
        "/api/budget/alerts",
    ):
        reply = http.get(path)
        assert reply.status_code == 200
        assert "json" in reply.headers["content-type"]
        assert reply.json()


def test_ids_may_be_numbers() -> None:
    with EmbeddedPlatform(speed=0, now=NOW, shape="nextlink") as platform:
        headers = {"Authorization": f"Bearer {platform.full_key}"}
        with httpx.Client(base_url=platform.base_url, headers=headers) as http:
            task = http.get("/api/tasks?status=pending").json()["results"][0]
            assert isinstance(task["id"], int)
            mine = http.get("/api/tasks", params={"company_id": task["company_id"]}).json()
            assert {row["company_id"] for row in mine["results"]} == {task["company_id"]}
            assert http.post(f"/api/tasks/{task['id']}/approve").json()["id"] == task["id"]
            assert platform.world.applied == {str(task["id"]): 1}


def test_empty_lists_as_their_platforms_write_them() -> None:
    seen = {}
    for name in ("plain", "offset"):
        with EmbeddedPlatform(companies=0, speed=0, now=NOW, shape=name) as platform:
            headers = {"Authorization": f"Bearer {platform.full_key}"}
            seen[name] = httpx.get(f"{platform.base_url}/api/tasks", headers=headers).json()
    assert seen == {
        "plain": [],
        "offset": {"tasks": [], "total": 0, "offset": 0, "limit": 25},
    }


def test_a_bad_cursor_and_bad_numbers_are_refused() -> None:
    with EmbeddedPlatform(speed=0, now=NOW, shape="cursor") as platform:
        headers = {"Authorization": f"Bearer {platform.full_key}"}
        with httpx.Client(base_url=platform.base_url, headers=headers) as http:
            assert http.get("/api/tasks?cursor=%00nonsense").status_code == 400
            assert http.get("/api/tasks?limit=-1").status_code == 422
            assert http.get("/api/tasks?limit=9999999999999").status_code == 422


def test_a_page_goes_on_after_its_last_row_although_rows_left_meanwhile() -> None:
    with EmbeddedPlatform(speed=0, now=NOW, shape="cursor") as platform:
        headers = {"Authorization": f"Bearer {platform.full_key}"}
        with httpx.Client(base_url=platform.base_url, headers=headers) as http:
            first = http.get("/api/tasks?status=pending").json()
            platform.world.another_operator(first["items"][0]["id"], "approve")
            rest = http.get(
                "/api/tasks", params={"status": "pending", "cursor": first["nextCursor"]}
            ).json()
    seen = [row["id"] for row in first["items"] + rest["items"]]
    assert len(seen) == len(set(seen)) == 40
