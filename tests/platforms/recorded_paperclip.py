"""A server that answers as Paperclip did when its answers were recorded.

Reads are answered with the recorded bodies, with ETags and 304, filtered by `status` and paged by
`cursor` and `offset` as the real server does; a company of which nothing was recorded has nothing.
A request that the real server would not understand as it was meant is refused: an unknown
parameter, a field of a body that it does not know, a sum that is no whole number. What is written
(`recorded_writes`) shows in what is read afterwards.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple, Self, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.platforms.recorded_answers import (
    ACME,
    EMPTY,
    GLOBEX,
    INITECH,
    LISTS,
    body_of,
    companies_of,
    logged,
)
from tests.platforms.recorded_writes import RecordedWrites

KEY = "pcp_board_recorded"
_QUERIES: dict[str, dict[str, set[str] | None]] = {
    "approvals": {"status": {"pending"}},
    "attention": {"limit": {"100"}},
    "issues": {"view": {"compact"}, "limit": {"500"}, "offset": None},
    "heartbeat-runs": {"agentId": None, "limit": {*map(str, range(1, 1001))}, "summary": {"1"}},
    "audit/agent-actions": {
        "actorScope": {"all"},
        "limit": {*map(str, range(1, 201))},
        "cursor": None,
        "from": None,
        "to": None,
        "agentId": None,
    },
}
"""By the same path, its parameters with the values that are understood; None: any."""
LATER = "2026-11-22T02:13:00.000Z"
MOVED = {
    **dict.fromkeys(("currentStatusUpdatedAt", "lastOutputAt", "lastEventAt"), LATER),
    **dict.fromkeys(("lastOutputSeq", "lastOutputBytes", "logBytes"), 99_999),
    "lastUsefulActionAt": LATER,
    "outputSilence": {"lastOutputAt": LATER, "silenceAgeMs": 1, "level": "ok"},
    "execution": {"phase": "working", "label": "Working", "lastConfirmedActivityAt": LATER},
}
"""What is different in a run whenever it is read."""
_COMPANY = re.compile(r"/api/companies/([^/]+)/(.+)")


class Seen(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    authorization: str | None
    status: int

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


Fault: TypeAlias = int | Literal["lost", "unheard", "pretended"]
"""An HTTP status of a failure, after which nothing was done; no answer, to a request that was
carried out or to one that was not; or the usual answer to one that was not carried out."""


def no_fault(method: str, path: str) -> Fault | None:
    return None


class RecordedPaperclip(RecordedWrites):
    """The server; use it with `with`."""

    def __init__(self, *, needs_key: bool = True, most_issues: int | None = None) -> None:
        """`most_issues` of each company are listed; with all of them, one has more than a page."""
        super().__init__()
        self.most_issues = most_issues
        self.requests: list[Seen] = []
        self.needs_key = needs_key
        self.companies = [
            each for each in body_of("companies") if each["id"] in (GLOBEX, ACME, INITECH)
        ]
        self.moved: dict[str, Any] = {}
        """What is different in the runs since they were recorded."""
        self.fault: Callable[[str, str], Fault | None] = no_fault
        """Called with the method and the path of each request: how it fails."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body leave together: else each answer takes 40 ms longer

            def handle_any(self) -> None:
                outer.answer(self)

            do_GET = do_POST = do_PATCH = handle_any  # noqa: N815 - names of the base class

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        sent = json.loads(handler.rfile.read(length)) if length else None
        parts = urlsplit(handler.path)
        query = dict(parse_qsl(parts.query))
        authorization = handler.headers.get("Authorization")
        fault = self.fault(handler.command, parts.path)
        body: Any
        if self.needs_key and authorization != f"Bearer {KEY}":
            status, body = 401, {"error": "Unauthorized"}
        elif isinstance(fault, int):
            status, body = fault, {"error": f"failed with {fault}"}
        elif fault == "unheard":
            status, body = 0, None
        elif handler.command == "GET":
            status, body = self._read(parts.path, query)
        else:
            before = self.copied()
            status, body = self.write(handler.command, unquote(parts.path), sent)
            if fault == "pretended":
                self.restore(before)
        data = json.dumps(body, ensure_ascii=False).encode()
        etag = f'W/"{hashlib.sha256(data).hexdigest()[:24]}"'
        if status == 200 and handler.headers.get("If-None-Match") == etag:
            status, data = 304, b""
        self.requests.append(Seen(handler.command, parts.path, query, sent, authorization, status))
        if fault in ("lost", "unheard"):
            handler.close_connection = True
            return
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json; charset=utf-8")
        handler.send_header("Content-Length", str(len(data)))
        handler.send_header("ETag", etag)
        handler.end_headers()
        handler.wfile.write(data)

    def _read(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        match = _COMPANY.fullmatch(path)
        if match is not None:
            return self._of_company(unquote(match[1]), match[2], query)
        if path == "/api/health":
            return 200, body_of("health")
        body = None if query else self._single(path.split("/")[2:])
        if body is None:
            return 404, {"error": f"API route not found: {path}"}
        return 200, body

    def _single(self, path: list[str]) -> Any:
        """What a path without parameters leads to, by its parts after "/api"; None if to nothing.

        What hangs on one issue or approval was recorded of one, and is served for all.
        """
        match path:
            case ["companies"]:
                return [self.company_now(each) for each in self.companies]
            case ["companies", one]:
                rows = [self.company_now(each) for each in self.companies]
            case ["agents", one]:
                rows = [self.now(each) for each in companies_of("agents")]
            case ["approvals", one]:
                rows = [self.now(each) for each in companies_of("approvals")]
            case ["approvals", one, "comments"]:
                return [*body_of("approval-comments"), *self.comments.get(one, [])]
            case ["issues", one]:
                return self.issue(one)
            case ["issues", one, "comments"]:
                return [*body_of("issue-comments"), *self.comments.get(one, [])]
            case ["issues", _, "activity" | "runs" as last]:
                return body_of(f"issue-{last}")
            case ["issues", one, "interactions"]:
                return self.interactions(one)
            case ["heartbeat-runs", one]:
                return self.run(one)
            case ["heartbeat-runs", _, "events"]:
                return body_of("run-events")
            case _:
                return None
        return next((row for row in rows if row["id"] == one), None)

    def _of_company(self, company: str, name: str, query: dict[str, str]) -> tuple[int, Any]:
        if company not in {each["id"] for each in self.companies}:
            return 404, {"error": "Company not found"}
        understood = _QUERIES.get(name, {})
        for parameter, value in query.items():
            values = understood.get(parameter, set())
            if values is not None and value not in values:
                return 400, {"error": f"Validation error: {parameter}"}
        for bound in ("from", "to"):
            try:
                datetime.fromisoformat(query.get(bound, "2026-01-01"))
            except ValueError:
                return 400, {"error": f"Validation error: {bound}"}
        if name == "audit/agent-actions":
            return 200, self._logged(company, query)
        if name == "heartbeat-runs":
            return 200, self.runs_of(query["agentId"])
        if name not in LISTS:
            return 404, {"error": f"API route not found: {name}"}
        if name in ("issues", "attention") and understood.keys() - query.keys() - {"offset"}:
            return 400, {"error": "a parameter is missing"}
        recorded = LISTS[name].get(company)
        if recorded is None:
            return 200, EMPTY.get(name, [])
        return 200, self._list_now(name, body_of(recorded), query)

    def _list_now(self, name: str, body: Any, query: dict[str, str]) -> Any:
        """A recorded list as it is since what was written."""
        match name:
            case "attention":
                items = [self.item_now(item) for item in body["items"] if self.is_open(item)]
                items = [{**item, "rank": rank} for rank, item in enumerate(items, 1)]
                return {**body, "items": items, "totalCount": len(items)}
            case "budgets/overview":
                policies = [self.policy_now(row) for row in body["policies"]]
                incidents = [self.now(row) for row in body["activeIncidents"]]
                incidents = [row for row in incidents if row["status"] == "open"]
                return {**body, "policies": policies, "activeIncidents": incidents}
        rows = [self.now(row) for row in body]
        if name == "approvals":
            return [row for row in rows if row["status"] == query.get("status", row["status"])]
        if name == "live-runs":
            return [{**row, **self.moved} for row in rows if row["status"] == "running"]
        if name == "issues":
            start = int(query.get("offset", 0))
            return rows[: self.most_issues][start : start + int(query["limit"])]
        return rows

    def _logged(self, company: str, query: dict[str, str]) -> Any:
        entries = logged() if company == GLOBEX else []
        if query.get("actorScope") != "all":
            entries = [entry for entry in entries if entry["actorType"] == "agent"]
        if "agentId" in query:
            entries = [entry for entry in entries if entry["agentId"] == query["agentId"]]
        first, last = query.get("from", ""), query.get("to", "9")
        entries = [entry for entry in entries if first <= entry["createdAt"] <= last]
        start = int(query.get("cursor", 0))
        end = start + int(query.get("limit", 50))
        cursor = str(end) if end < len(entries) else None
        return {"items": entries[start:end], "nextCursor": cursor, "accessTier": "full"}
