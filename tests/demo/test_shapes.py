"""Every shape: refusals, approvals, traces and writes as its description says.

That its lists and pages are read whole is for the client's tests, which ask every shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx
import pytest

from tests.demo.conftest import NOW
from tests.platform import EmbeddedPlatform, decide_elsewhere
from tests.platform.shapes import SHAPE_NAMES


class Shaped(NamedTuple):
    """A platform in one shape, and a client with its full key."""

    name: str
    platform: EmbeddedPlatform
    http: httpx.Client


@contextmanager
def shaped_as(name: str, **options: Any) -> Iterator[Shaped]:
    with EmbeddedPlatform(speed=0, now=NOW, shape=name, **options) as platform:
        headers = {"Authorization": f"Bearer {platform.full_key}"}
        with httpx.Client(base_url=platform.base_url, headers=headers, trust_env=False) as http:
            yield Shaped(name, platform, http)


@pytest.fixture(params=sorted(SHAPE_NAMES))
def shaped(request: pytest.FixtureRequest) -> Iterator[Shaped]:
    with shaped_as(request.param) as running:
        yield running


def test_refusals_have_the_shape(shaped: Shaped) -> None:
    name, platform, http = shaped
    assert len(SHAPE_NAMES) == 12
    reply = http.get("/api/agents/ag_nobody")
    assert reply.status_code == (200 if name == "envelope_ok" else 404)
    assert "agent not found" in reply.text
    assert http.get("/api/agents", headers={"Authorization": "Bearer ag_no"}).status_code == 401
    read = {"Authorization": f"Bearer {platform.read_key}"}
    assert http.post("/api/tasks", headers=read, json={}).status_code == 403
    reply = http.post("/api/tasks", json={"title": "x", "agent_id": "y", "priority": "high"})
    assert reply.status_code in ({200} if name == "envelope_ok" else {400, 422})
    assert "company_id" in reply.text
    assert not any(task.title == "x" for task in platform.world.tasks())


def test_answers_have_the_shape(shaped: Shaped) -> None:
    _, platform, http = shaped
    agent = platform.world.agents()[0]
    for path in (
        "companies", f"companies/{agent.company.id}", "agents", f"agents/{agent.id}", "tasks",
        "activity?limit=10", "budget", "budget/companies", "budget/agents", "budget/alerts",
    ):  # fmt: skip
        reply = http.get(f"/api/{path}")
        assert reply.status_code == 200
        assert "json" in reply.headers["content-type"]
        assert reply.json()
    task = next(t for t in platform.world.tasks() if t.title == "Refund 214 customers")
    reply = http.get(f"/api/tasks/{task.id}/trace")
    assert reply.status_code == 200
    told = json.dumps(reply.json(), ensure_ascii=False)
    for words in ("Ready to refund 214 customers, 18,240.00 in all", "payments.refund", "18240.0"):
        assert words in told
    body = {"name": "Vandelay Imports", "template": "retail", "mission": "Latex, mostly."}
    created = http.post("/api/companies", json=body)
    assert created.status_code == 201
    assert "Vandelay Imports" in created.text
    changed = http.post(f"/api/budget/agents/{agent.id}", json={"monthly_limit": 251.5})
    assert changed.status_code == 200
    assert agent.limit == 251_500_000
    assert re.search(r"251\.50?\b|25150\b", changed.text)


def test_an_approve_is_applied_once_and_the_second_refused(shaped: Shaped) -> None:
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


def test_ids_may_be_numbers() -> None:
    with shaped_as("nextlink") as (_, platform, http):
        task = http.get("/api/tasks?status=pending").json()["results"][0]
        assert isinstance(task["id"], int)
        mine = http.get("/api/tasks", params={"company_id": task["company_id"]}).json()
        assert {row["company_id"] for row in mine["results"]} == {task["company_id"]}
        assert http.post(f"/api/tasks/{task['id']}/approve").json()["id"] == task["id"]
        assert platform.world.applied == {str(task["id"]): 1}


def test_a_bad_cursor_and_bad_numbers_are_refused() -> None:
    with shaped_as("cursor") as running:
        for query, status in (("cursor=%00nonsense", 400), ("limit=-1", 422), ("limit=9e9", 422)):
            assert running.http.get(f"/api/tasks?{query}").status_code == status


def test_a_page_goes_on_after_its_last_row_although_rows_left_meanwhile() -> None:
    with shaped_as("cursor") as (_, platform, http):
        first = http.get("/api/tasks?status=pending").json()
        decide_elsewhere(platform.world, first["items"][0]["id"], "approve")
        rest = http.get(
            "/api/tasks", params={"status": "pending", "cursor": first["nextCursor"]}
        ).json()
    seen = [row["id"] for row in first["items"] + rest["items"]]
    assert len(seen) == len(set(seen)) == 40
