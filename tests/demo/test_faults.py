"""Every fault, seen on a real socket."""

from __future__ import annotations

import json
import re
from email.utils import formatdate

import pytest

from agentco_tui.demo.faults import Faults, parse
from agentco_tui.demo.http_messages import Request
from tests.demo.conftest import NOW
from tests.demo.wire import Wire, ask
from tests.platform import EmbeddedPlatform
from tests.platform.faults import HOSTILE, KINDS


def date(seconds: float) -> str:
    """As a header has it in lower case, counted from the moment of the world."""
    return formatdate(NOW + seconds, usegmt=True).lower()


def struck(platform: EmbeddedPlatform, spec: str, path: str = "/api/tasks", **how: float) -> Wire:
    armed = platform.faults.add(spec)
    wire = ask(platform, path, silence=how.get("silence", 5.0), most=int(how.get("most", 4e6)))
    assert armed.struck == 1
    return wire


def good(platform: EmbeddedPlatform, path: str = "/api/tasks") -> bytes:
    platform.faults.clear()
    return ask(platform, path).body


@pytest.mark.parametrize(
    ("spec", "status", "begins", "header", "value"),
    [
        ("status=404", 404, b'{"error"', "content-type", "application/json"),
        ("status=500", 500, b'{"error"', "content-type", "application/json"),
        ("status=429,retry_after=1.5", 429, b'{"error"', "retry-after", "1.5"),
        ("status=429,retry_after=in a moment", 429, b'{"error"', "retry-after", "in a moment"),
        ("status=503,retry_after=date+60", 503, b"{", "retry-after", date(60)),
        ("status=502,body=html", 502, b"<html>", "content-type", "text/html; charset=utf-8"),
        ("status=502,body=text", 502, b"upstream", "content-type", "text/plain"),
        ("status=200,body=html", 200, b"<!doctype html>", "retry-after", None),
        ("status=200,body=empty", 200, b"", "content-length", "0"),
        ("status=200,body=null", 200, b"null", "content-length", "4"),
        ("status=204", 204, b"", "content-length", None),
        ("redirect", 302, b"", "location", "/login"),
        ("redirect_307=http://127.0.0.1:9/x", 307, b"", "location", "http://127.0.0.1:9/x"),
        ("clock", 200, b"[", "date", date(86_400)),
        ("clock=-2h", 200, b"[", "date", date(-7_200)),
    ],
)
def test_answers_that_are_others(
    platform: EmbeddedPlatform, spec: str, status: int, begins: bytes, header: str, value: str
) -> None:
    wire = struck(platform, f"GET /api/tasks:{spec}")
    assert (wire.status, wire.body[: len(begins)], wire.header(header)) == (status, begins, value)
    assert bool(wire.body) == bool(begins)
    seen = platform.requests[-1]
    assert (seen.fault, seen.status) == (re.split("[=,]", spec)[0], status)


@pytest.mark.parametrize(("fault", "status", "applied"), [
    ("drop_before", None, 0), ("drop_after", None, 1), ("hang,applied=after", None, 1),
    ("status=504", 504, 0), ("status=504,applied=after", 504, 1),
])  # fmt: skip
def test_is_applied(
    platform: EmbeddedPlatform, fault: str, status: int | None, applied: int
) -> None:
    task = platform.world.tasks(status="pending")[0]
    platform.faults.add(f"approve:{fault},times=1")
    wire = ask(platform, f"/api/tasks/{task.id}/approve", "POST", silence=0.2)
    assert (wire.status if wire.data else None) == status
    assert platform.world.applied[task.id] == applied
    assert task.status == ("approved" if applied else "pending")


@pytest.mark.parametrize(("kind", "end", "has_head"), [
    ("hang", "silence", False), ("hang_body", "silence", True), ("cut", "fin", True),
    ("drop_before", "reset", False), ("drop_after", "reset", False),
])  # fmt: skip
def test_broken_answers(platform: EmbeddedPlatform, kind: str, end: str, has_head: bool) -> None:
    wire = struck(platform, f"tasks:{kind}", silence=0.2 if end == "silence" else 5.0)
    assert (wire.end, bool(wire.data)) == (end, has_head)
    if has_head:
        assert 0 < len(wire.body) < int(wire.header("content-length") or 0)
    assert platform.requests[-1].status == (200 if has_head else 0)


def test_rows_that_are_no_records_among_the_good_ones(platform: EmbeddedPlatform) -> None:
    told = json.loads(struck(platform, "tasks:odd_rows").body)
    honest = json.loads(good(platform))
    records = [row for row in told if isinstance(row, dict) and row]
    assert len(told) == len(honest) + 5
    assert [row["id"] for row in records] == [row["id"] for row in honest]
    odd = sum(row != true for row, true in zip(records, honest, strict=True))
    assert odd == pytest.approx(len(honest) / 7, abs=1)


def test_hostile_text_in_every_string_but_ids(platform: EmbeddedPlatform) -> None:
    told = json.loads(struck(platform, "tasks:hostile").body)
    honest = json.loads(good(platform))
    assert [row["id"] for row in told] == [row["id"] for row in honest]
    assert [row["status"] for row in told] == [row["status"] for row in honest]
    texts = "".join(row["title"] + row["description"] + row["agent_name"] for row in told)
    for payload in HOSTILE:
        assert payload in texts


def test_times_after_and_clear(platform: EmbeddedPlatform) -> None:
    armed = platform.faults.add("tasks:status=503,after=1,times=2")
    told = [ask(platform, "/api/tasks").status for _ in range(5)]
    assert told == [200, 503, 503, 200, 200]
    assert (armed.matched, armed.struck) == (5, 2)
    other = platform.faults.add("tasks:status=500")
    platform.faults.remove(other)
    assert ask(platform, "/api/tasks").status == 200
    platform.faults.clear()
    assert not platform.faults.armed


def test_probability_is_seeded() -> None:
    def draws(seed: int) -> list[bool]:
        asked = Request("GET", "/api/tasks", "", {}, b"")
        faults = Faults([f"*:hang,p=0.5,seed={seed}"])
        return [faults.choose(asked)[1] is not None for _ in range(64)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert 10 < sum(draws(1)) < 54


@pytest.mark.parametrize(
    ("spec", "method", "path", "strikes"),
    [
        ("GET /api/tasks:hang", "GET", "/api/tasks", True),
        ("GET /api/tasks:hang", "POST", "/api/tasks", False),
        ("/api/tasks:hang", "POST", "/api/tasks", True),
        ("/api/tasks/:id/approve:hang", "POST", "/api/tasks/tsk_1/approve", True),
        ("/api/tasks/{id}/trace:hang", "GET", "/api/tasks/a%2Fb/trace", True),
        ("/api/tasks/*:hang", "GET", "/api/tasks/x/trace", False),
        ("/api/**:hang", "GET", "/api/tasks/x/trace", True),
        ("reads:hang", "GET", "/api/budget", True),
        ("reads:hang", "POST", "/api/tasks", False),
        ("writes:hang", "POST", "/api/tasks", True),
        ("company:hang", "GET", "/api/companies/cmp_1", True),
        ("company:hang", "GET", "/api/companies", False),
        ("*:hang", "GET", "/api/nothing", True),
    ],
)
def test_targets(spec: str, method: str, path: str, strikes: bool) -> None:
    assert parse(spec).matches(Request(method, path, "", {}, b"")) is strikes


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("tasks", "can't read the fault"),
        ("tasks:explode", "can't read the fault"),
        ("nobody:hang", "unknown target"),
        ("tasks:status", "from 200 to 599"),
        ("tasks:status=199", "from 200 to 599"),
        ("tasks:latency=soon", "no duration"),
        ("tasks:hang,times=many", "$.times"),
        ("tasks:hang,times", "$.times"),
        ("tasks:hang,colour=red", "unknown field `colour`"),
        ("tasks:status=503,body=xml", "$.body"),
        ("tasks:gzip_bomb=x", "whole number"),
        ("tasks:cut,applied=before", "can't strike before"),
    ],
)
def test_bad_specs_say_what_is_wrong(spec: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse(spec, KINDS)
