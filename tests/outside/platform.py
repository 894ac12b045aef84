"""A scripted platform: a real HTTP server on loopback whose every answer a test can hold and spoil.

    with Platform() as platform:
        platform.task("t1", title="Pay $40 to ACME")     # a pending task; any field can be given
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            ...
            held = platform.hold(approves("t1"))         # the next such request waits
            console.yes()
            held.arrived()                               # until it has come
            platform.change("t1", title="Pay $90")       # another operator, just now
            held.release()                               # it is dealt with and answered
        assert len(platform.posts("t1")) == 1            # the judge

It runs in a thread of the test, so scripts are plain functions. **The world** is plain records in
`companies`, `agents`, `tasks`, `budget`, `company_budgets`, `agent_budgets`, `activity`:
change them as you like inside `with platform.lock:` (lists of dicts, in the order served; two
records may have one id, an id may be a number). `task`, `change`, `decide`, `remove`, `record` do
the usual things under the lock. Approving applies only to what is pending, else it answers 409;
there are no other writes.

**Which requests**: a match is a function of a `Request`; `approves(id)`, `pending`, `every`,
`tasks_read`, `traces(id)`, `reads`, `writes` are there. **What happens at them**, each for the next
matching request (`times=None`: for all, `after=n`: not for the first n):

- `hold(match)`: it waits before it is dealt with (`applied=True`: afterwards, before the answer).
  The `Hold` has `arrived()` to wait for it and then one of `release()`, `answer(status, body)` and
  `drop()` (closed without an answer).
- `at(match, change)`: `change(request)` runs before it is dealt with, under the lock.
- `answer(match, status, body)`: answered so, nothing is applied; `body` is JSON, or raw bytes of
  the whole answer. `drop(match)`: closed; `applied=True` for after it was dealt with.
- `double(match, body)`: after the answer a second one that nobody asked for, in the same packet,
  or `later` seconds after it. Without `body` the same once more.
- `pause(match, after)`: the answer stops after so many bytes until the event that it gives is set.
- `clear()`: no more of all that; what is held goes on.

**The judge**: `requests` (all so far, each with `time`, `connection`, `method`, `path`, `query`,
`body`, `status`, `served`, `ended`), `posts(id)` (approve requests for a task, sent to it in any
spelling), `approvals` (what was applied: request, time, the whole record as it was before),
`wait_for(match, count)` until so many have come. Times are of `time.monotonic()`.
"""

from __future__ import annotations

import asyncio
import copy
import json
import socket
import struct
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import parse_qs, unquote

from tests.outside.script import (
    PATIENCE,
    SAME,
    Fate,
    Hold,
    Json,
    Match,
    Request,
    Script,
    approves,
    every,
    pending,
    reads,
    tasks_read,
    traces,
    writes,
)

__all__ = [
    "Applied", "Hold", "Match", "Platform", "Request", "approves", "every", "pending", "reads",
    "tasks_read", "traces", "writes",
]  # fmt: skip

KEY = "ag_outside_0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Applied:
    """An approval that took effect."""

    request: Request
    time: float
    was: Json
    """The whole record as it stood when it was approved."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A place in an answer at which the server waits."""

    match: Match
    after: int  # bytes
    over: threading.Event


class Platform(Script):
    """The server and its world; a context manager. Every write is under `lock`."""

    def __init__(self, key: str = KEY) -> None:
        super().__init__()
        self.full_key = key
        self.began = datetime.now(UTC)
        self.companies: list[Json] = [
            {"id": each, "name": name, "status": "active"}
            for each, name in (("cmp_acme", "Acme Robotics"), ("cmp_globex", "Globex"))
        ]
        same = {"trust_score": 70, "budget_remaining": 50, "status": "active", "model": "m-1",
                "role": "engineer", "tasks_completed": 3}  # fmt: skip
        self.agents: list[Json] = [
            {"id": "ag_ada", "name": "Ada", "company_id": "cmp_acme", **same},
            {"id": "ag_linus", "name": "Linus", "company_id": "cmp_globex", **same},
        ]
        self.tasks: list[Json] = []
        self.budget: Json = {"monthly_limit": 1000, "spent": 100.0, "currency": "USD"}
        self.company_budgets: list[Json] = [
            {
                "company_id": one["id"],
                "company_name": one["name"],
                "monthly_limit": 500,
                "spent": 50,
            }
            for one in self.companies
        ]
        self.agent_budgets: list[Json] = [
            {"agent_id": one["id"], "agent_name": one["name"], "monthly_limit": 100, "spent": 50}
            for one in self.agents
        ]
        self.activity: list[Json] = []
        """The log, newest first."""
        self.obeys_log_filters = True
        self._pauses: list[Pause] = []
        self.requests: list[Request] = []
        self.approvals: list[Applied] = []
        self.port = 0
        self._came = threading.Condition(self.lock)
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scripted platform", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(PATIENCE):
            raise AssertionError("the scripted platform did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    # ---- the world

    def task(self, task_id: Any, title: str, **fields: Any) -> Json:
        """Add a task, pending if `fields` don't say otherwise; each waits less than those before.

        A field given as `...` is left out of the record.
        """
        agent = next(a for a in self.agents if a["id"] == fields.get("agent_id", "ag_ada"))
        company = next(
            c for c in self.companies if c["id"] == fields.get("company_id", agent["company_id"])
        )
        with self.lock:
            since = self.began - timedelta(hours=3) + timedelta(seconds=20 * len(self.tasks))
            record = {
                **{"id": task_id, "title": title, "description": f"What {title} is about."},
                **{"status": "pending", "priority": "medium"},
                **{"company_id": company["id"], "company_name": company["name"]},
                **{"agent_id": agent["id"], "agent_name": agent["name"]},
                **{"estimated_cost": 2.5, "cost": 0.5},
                **{"created_at": _iso(since), "updated_at": _iso(since)},
                **{"decided_at": None, "decided_by": None, **fields},
            }
            self.tasks.append({k: v for k, v in record.items() if v is not ...})
            return self.tasks[-1]

    def happened(self, agent_id: str, text: str, ago: timedelta) -> Json:
        """Add an entry to the log, that long before the platform began; the newest comes last."""
        agent = next(each for each in self.agents if each["id"] == agent_id)
        with self.lock:
            entry = {
                "id": f"ev_{len(self.activity)}",
                "timestamp": _iso(self.began - ago),
                "agent_id": agent_id,
                "company_id": agent["company_id"],
                "type": "note",
                "message": text,
                "severity": "info",
            }
            self.activity.insert(0, entry)
            return entry

    def record(self, task_id: Any) -> Json:
        """A task as it stands, as a copy."""
        with self.lock:
            return copy.deepcopy(self._found(task_id))

    def add_all(self, titles: Mapping[str, str], **fields: Any) -> None:
        """Add tasks with these ids and titles, all with the same fields."""
        for task_id, title in titles.items():
            self.task(task_id, title, **fields)

    def change(self, task_id: Any, **fields: Any) -> None:
        """Change fields of a task; `...` takes one away."""
        with self.lock:
            record = self._found(task_id)
            record.update({"updated_at": _iso(datetime.now(UTC)), **fields})
            for name in [name for name, value in fields.items() if value is ...]:
                del record[name]

    def decide(self, task_id: Any, status: str = "approved", by: str = "Mallory") -> None:
        """Another operator decides."""
        now = _iso(datetime.now(UTC))
        self.change(task_id, status=status, decided_by=by, decided_at=now)

    def remove(self, task_id: Any) -> None:
        """The task is in no list any more."""
        with self.lock:
            self.tasks.remove(self._found(task_id))

    def _found(self, task_id: Any) -> Json:
        return next(t for t in self.tasks if str(t["id"]) == str(task_id))

    def pause(self, match: Match, after: int) -> threading.Event:
        """The next matching answer stops after so many bytes, until the event is set."""
        pause = Pause(match, after, threading.Event())
        with self.lock:
            self._pauses.append(pause)
        return pause.over

    # ---- the judge

    def seen(self, match: Match) -> list[Request]:
        """The requests so far that match, the oldest first."""
        with self.lock:
            return [request for request in self.requests if match(request)]

    def posts(self, task_id: object = None) -> list[Request]:
        """The approve requests for a task, or for all."""
        return self.seen(approves(task_id))

    def wait_for(self, match: Match, count: int = 1, timeout: float = PATIENCE) -> list[Request]:
        """Wait until so many matching requests have come, since the beginning."""
        end = time.monotonic() + timeout
        with self._came:
            while len(found := [r for r in self.requests if match(r)]) < count:
                if not self._came.wait(end - time.monotonic()) and time.monotonic() >= end:
                    raise AssertionError(f"{len(found)} requests of {count} in {timeout:g} s")
            return found

    def wait_more(self, match: Match, count: int = 1, timeout: float = PATIENCE) -> list[Request]:
        """Wait until so many more matching requests have come and had their end, from now on."""
        known, end = len(self.seen(match)), time.monotonic() + timeout
        found = self.wait_for(match, known + count, timeout)[known:]
        while any(request.ended is None for request in found):
            if time.monotonic() > end:
                raise AssertionError(f"not ended in {timeout:g} s: {found}")
            time.sleep(0.005)
        return found

    # ---- the server

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._connected, "127.0.0.1", 0)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with self.lock:
            self._connections += 1
            connection = self._connections
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one(connection, reader, writer):
                pass
        with suppress(OSError, RuntimeError):
            writer.close()

    async def _one(
        self, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """One request and its answer; False if the connection is at its end."""
        request = await self._read(connection, reader)
        fate, rules = await self.before(request)
        if fate.how == "answer":
            status, body = (fate.status, fate.body) if fate.status else self._dealt_with(request)
            late = await self.play(rules, request)
            fate = fate if late == Fate() else late
            if fate.how == "answer":
                if fate.status is not None:
                    status, body = fate.status, fate.body
                first, second = _packet(status, body), b""
                if fate.second is not None:
                    second = first if fate.second is SAME else _packet(200, fate.second)
                with self.lock:
                    request.status, request.served = status, body
                    request.ended = time.monotonic()
                await self._write(
                    request, writer, first if fate.later is not None else first + second
                )
                await writer.drain()
                if second and fate.later is not None:
                    await asyncio.sleep(fate.later)
                    writer.write(second)
                    await writer.drain()
                return True
        request.ended = time.monotonic()
        if fate.how == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        return False

    async def _write(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        """Send an answer, with a pause where the test wants one."""
        with self.lock:
            pause = next((one for one in self._pauses if one.match(request)), None)
            if pause is not None:
                self._pauses.remove(pause)
        if pause is not None:
            writer.write(answer[: pause.after])
            answer = answer[pause.after :]
            await asyncio.to_thread(pause.over.wait, PATIENCE)
        writer.write(answer)

    async def _read(self, connection: int, reader: asyncio.StreamReader) -> Request:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        path, _, query = target.partition("?")
        segments = tuple(unquote(part) for part in path.removeprefix("/api/").split("/"))
        values = {name: found[-1] for name, found in parse_qs(query).items()}
        with self._came:
            request = Request(
                *(len(self.requests) + 1, connection, time.monotonic(), method, target),
                *(headers, body, segments, values),
            )
            self.requests.append(request)
            self._came.notify_all()
        return request

    def _dealt_with(self, request: Request) -> tuple[int, Any]:
        """Apply it to the world; gives status and body of the answer."""
        if request.headers.get("authorization") != f"Bearer {self.full_key}":
            return 401, {"error": "invalid API key"}
        with self.lock:
            status, answer = self._operation(request, request.path, request.query)
            return status, copy.deepcopy(answer)

    def _operation(
        self, request: Request, path: tuple[str, ...], query: dict[str, str]
    ) -> tuple[int, Any]:
        def those(records: list[Json], *names: str) -> list[Json]:
            wanted = {name: query[name] for name in names if name in query}
            return [r for r in records if all(str(r.get(n)) == v for n, v in wanted.items())]

        def one(records: list[Json], name: str = "id") -> tuple[int, Any]:
            found = [r for r in records if str(r[name]) == path[1]]
            return (200, found[0]) if found else (404, {"error": "not found"})

        if request.method == "POST":
            return (
                self.apply_approval(request, "/".join(path[1:-1]))
                if approves()(request)
                else (422, {"error": "only approvals are taken here"})
            )
        match path:
            case ("companies",):
                return 200, self.companies
            case ("companies", _):
                return one(self.companies)
            case ("agents",):
                return 200, those(self.agents, "company_id")
            case ("agents", _):
                return one(self.agents)
            case ("tasks",):
                return 200, those(self.tasks, "company_id", "status")
            case ("tasks", *parts, "trace"):
                return 200, {"task_id": "/".join(parts), "steps": []}
            case ("budget",):
                return 200, self.budget
            case ("budget", "companies"):
                return 200, self.company_budgets
            case ("budget", "agents"):
                ids = {a["id"] for a in those(self.agents, "company_id")}
                return 200, [r for r in self.agent_budgets if r["agent_id"] in ids]
            case ("activity",):
                filters = ("company_id", "agent_id") if self.obeys_log_filters else ()
                return 200, those(self.activity, *filters)[: int(query.get("limit", "100"))]
            case ("budget", "alerts"):
                return 200, []
        return 404, {"error": "no such path"}

    def apply_approval(self, request: Request, task_id: str) -> tuple[int, Any]:
        found = [t for t in self.tasks if str(t["id"]) == task_id]
        if not found:
            return 404, {"error": "no such task"}
        record = found[0]
        if record["status"] != "pending":
            return 409, {"error": f"only pending tasks can be approved, this is {record['status']}"}
        self.approvals.append(Applied(request, time.monotonic(), copy.deepcopy(record)))
        now = _iso(datetime.now(UTC))
        record.update(status="approved", updated_at=now, decided_at=now, decided_by="this key")
        return 200, record


def _packet(status: int, body: Any) -> bytes:
    """An answer's bytes; what is given as bytes is the whole answer already."""
    if isinstance(body, bytes):
        return body
    content = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n"
        f"date: {formatdate(usegmt=True)}\r\n\r\n"
    )
    return head.encode() + content


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
