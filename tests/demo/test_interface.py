"""Every operation of the interface over HTTP, in the plain shape."""

from __future__ import annotations

import csv
import io
from email.utils import parsedate_to_datetime

import httpx
import pytest

from agentco_tui.demo.http_messages import OPERATIONS
from tests.demo.conftest import NOW
from tests.demo.wire import ask
from tests.platform import EmbeddedPlatform, decide_elsewhere


def test_lists_filter(platform: EmbeddedPlatform, client: httpx.Client) -> None:
    companies = client.get("/api/companies").json()
    names = [company["name"] for company in companies]
    assert names == ["Acme Robotics", "Globex", "Initech Content"]
    acme = companies[0]["id"]
    assert client.get(f"/api/companies/{acme}").json() == companies[0]
    for path in ("/api/agents", "/api/tasks", "/api/activity", "/api/budget/agents"):
        rows = client.get(path, params={"company_id": acme}).json()
        assert {row["company_id"] for row in rows} == {acme}
        assert client.get(path, params={"company_id": "cmp_none"}).json() == []
    both = client.get("/api/tasks", params={"company_id": acme, "status": "pending"}).json()
    assert {row["status"] for row in both} == {"pending"}
    assert len(both) == len(platform.world.tasks(acme, "pending"))
    assert client.get("/api/tasks?status=nonsense").json() == []


def test_the_export_is_whole_and_guarded(platform: EmbeddedPlatform, client: httpx.Client) -> None:
    agent = platform.world.agents()[2]
    formula = '=HYPERLINK("http://evil.example")'
    platform.world.create_task(agent.company.id, formula, agent.id, "low")
    reply = client.get("/api/activity/export?format=csv")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in reply.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(reply.text, newline="")))
    assert len(rows) == len(platform.world.activity())
    assert rows[0]["task"] == "'" + formula
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    mine = client.get(f"/api/activity/export?format=csv&agent_id={agent.id}").text
    assert {row["agent"] for row in csv.DictReader(io.StringIO(mine))} == {agent.name}
    assert client.get("/api/activity/export?format=xlsx").status_code == 400


def test_budgets_add_up(client: httpx.Client) -> None:
    whole = client.get("/api/budget").json()
    companies = client.get("/api/budget/companies").json()
    agents = client.get("/api/budget/agents").json()
    assert whole["spent"] == pytest.approx(sum(row["spent"] for row in companies))
    assert whole["spent"] == pytest.approx(sum(row["spent"] for row in agents))
    assert whole["monthly_limit"] == sum(row["monthly_limit"] for row in companies)
    for row in (whole, *companies, *agents):
        if row["monthly_limit"] is None:
            assert row["remaining"] is row["percent_used"] is None
        else:
            assert row["remaining"] == pytest.approx(max(0, row["monthly_limit"] - row["spent"]))
            assert row["percent_used"] == pytest.approx(
                100 * row["spent"] / row["monthly_limit"], abs=0.01
            )
        assert row["forecast"] >= row["spent"]
    alerts = client.get("/api/budget/alerts").json()
    assert {row["severity"] for row in alerts} == {"warning", "critical"}
    assert whole["open_alerts"] == len([row for row in alerts if row["status"] == "open"])


def test_keys_are_revoked_and_replaced(platform: EmbeddedPlatform, client: httpx.Client) -> None:
    assert client.get("/api/budget").status_code == 200
    platform.keys.revoke("full")
    assert client.get("/api/budget").status_code == 401
    assert ask(platform, "/api/budget", key=platform.read_key).status == 200
    platform.keys.restore("full")
    assert client.get("/api/budget").status_code == 200
    with pytest.raises(KeyError):
        platform.keys.revoke("other")
    before = platform.full_key
    replacing = {"replace": {"which": "full", "key": "ag_tomorrow"}}
    assert client.post("/_demo/world", json=replacing).status_code == 200
    assert [ask(platform, "/api/budget", key=key).status for key in ("ag_tomorrow", before)] == [
        200, 401,
    ]  # fmt: skip
    assert client.get("/_demo/world").status_code == 200, "the control path stays open"


def test_answers_follow_the_world(platform: EmbeddedPlatform, client: httpx.Client) -> None:
    before = client.get("/api/activity").content
    assert client.get("/api/activity").content == before
    platform.world.advance(30)
    answer = client.get("/api/activity")
    assert answer.content != before
    assert parsedate_to_datetime(answer.headers["date"]).timestamp() == NOW + 30
    task = client.get("/api/tasks?status=pending").json()[0]["id"]
    decide_elsewhere(platform.world, task, "approve", "Theo")
    after = client.get("/api/tasks?status=pending").json()
    assert task not in {row["id"] for row in after}
    reply = client.post(f"/api/tasks/{task}/approve")
    assert reply.status_code == 409
    assert "Theo" in reply.json()["error"]
    assert "2026-09-21T14:13:50Z" in reply.json()["error"]


@pytest.mark.parametrize(
    ("path", "content", "status", "says"),
    [
        ("companies", b"not json", 400, "no valid JSON"),
        ("companies", b"[" * 100_000, 400, "no valid JSON"),
        ("companies", b'["name"]', 422, "must be a JSON object"),
        ("companies", b'{"name": 3, "template": "retail"}', 422, "must be a string"),
        ("budget/agents/{}", b"{}", 422, "is required"),
        ("budget/agents/{}", b'{"monthly_limit":true}', 422, "must be a number"),
        ("budget/agents/{}", b'{"monthly_limit":-0.01}', 422, "from 0"),
        ("budget/agents/{}", b'{"monthly_limit":NaN}', 422, "from 0"),
    ],
)
def test_bodies_are_checked(
    platform: EmbeddedPlatform,
    client: httpx.Client,
    path: str,
    content: bytes,
    status: int,
    says: str,
) -> None:
    agent = platform.world.agents()[0]
    before = agent.limit
    reply = client.post(f"/api/{path.format(agent.id)}", content=content)
    assert (reply.status_code, agent.limit) == (status, before)
    assert says in reply.text


def test_all_operations_have_their_gate(platform: EmbeddedPlatform, client: httpx.Client) -> None:
    for operation in OPERATIONS:
        path = operation.path.replace("{id}", "x")
        for header in ("", "Basic x", "Bearer ag_wrong"):
            reply = client.request(operation.method, path, headers={"Authorization": header})
            assert reply.status_code == 401
            assert platform.requests[-1].authorised is False
        read = {"Authorization": f"Bearer {platform.read_key}"}
        reply = client.request(operation.method, path, headers=read)
        assert (reply.status_code == 403) == operation.writes
        assert platform.requests[-1].authorised is True


def test_the_control_path(platform: EmbeddedPlatform, client: httpx.Client) -> None:
    read = {"Authorization": f"Bearer {platform.read_key}"}
    for path in ("/_demo/world", "/_demo/requests", "/_demo/nothing"):
        assert client.get(path, headers=read).status_code in (401, 404)
    assert client.post("/_demo/world", json={"advance": 60, "revoke": "full"}).status_code == 200
    assert platform.world.now == NOW + 60
    assert client.get("/api/budget").status_code == 401
    assert client.post("/_demo/world", json={"restore": "full"}).status_code == 200
    for bad in ({"advance": -1}, {"jump": 3}, {"revoke": "other"}, [1]):
        assert client.post("/_demo/world", json=bad).status_code == 422
    assert client.get("/_demo/world").json()["tasks"]["pending"] == 42
    assert [row["path"] for row in client.get("/_demo/requests").json()["requests"]] == [
        "/api/budget"
    ]
    assert client.delete("/_demo/requests").json() == {"count": 0, "requests": []}
    told = client.post("/_demo/faults", json={"specs": ["tasks:status=503", "agents:hang"]})
    assert told.json() == {"faults": 2}
    assert client.get("/api/tasks").status_code == 503
    assert client.delete("/_demo/faults").json() == {"faults": 0}
    assert client.get("/api/tasks").status_code == 200
    refused = client.post("/_demo/faults", json={"specs": ["tasks:explode"]})
    assert (refused.status_code, "can't read" in refused.json()["error"]) == (422, True)
