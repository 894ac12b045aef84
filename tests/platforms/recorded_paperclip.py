"""A server that answers as Paperclip did when its answers were recorded.

Reads are answered with the recorded bodies, with ETags and 304, filtered by `status` and paged by
`cursor` and `offset` as the real server does; a company of which nothing was recorded has nothing.
A request that the real server would not understand as it was meant is refused: an unknown
parameter, a field of a body that it does not know, a sum that is no whole number. What is written
(`recorded_writes`) shows in what is read afterwards. What changes is told by web socket when a
test says so (`news`), to those to whom the real server tells it.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.platforms.news_sockets import NewsSockets
from tests.platforms.recorded_answers import (
    ACME,
    EMPTY,
    GLOBEX,
    INITECH,
    LISTS,
    RECORDED,
    body_of,
    companies_of,
    logged,
)
from tests.platforms.recorded_writes import RecordedWrites
from tests.platforms.seen import Seen

KEY = "pcp_board_recorded"
VIEWER_KEY = "pcp_board_viewer"
AGENT_KEY = "pcp_agent_recorded"
OTHER_USERS = {
    VIEWER_KEY: "cli-auth-me-viewer",
    "pcp_board_viewer_and_operator": "cli-auth-me-viewer-and-operator",
    "pcp_board_viewer_and_admin": "cli-auth-me-viewer-and-admin",
}
"""By key of another user than that of `KEY`, the recorded answer that says who it is."""
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
_RUN_LOG = re.compile(r"/api/heartbeat-runs/[^/]+/log")
_LOG_PART = 700
"""Characters of a log in one answer, which may end within a line."""


def run_log(offset: int) -> Any:
    """A part of the recorded log of a run; what follows it has an offset of its own."""
    log = body_of("heartbeat-run-log")
    content = log["content"][offset : offset + _LOG_PART]
    after = {"nextOffset": offset + _LOG_PART} if content else {}
    return {**log, "content": content, "nextOffset": None, **after}


Fault: TypeAlias = int | Literal["lost", "unheard", "pretended"]
"""An HTTP status of a failure, after which nothing was done; no answer, to a request that was
carried out or to one that was not; or the usual answer to one that was not carried out."""


def no_fault(method: str, path: str) -> Fault | None:
    return None


class RecordedPaperclip(RecordedWrites):
    """The server; use it with `with`."""

    def __init__(
        self, *, needs_key: bool = True, most_issues: int | None = None, port: int = 0
    ) -> None:
        """`most_issues` of each company are listed; with all of them, one has more than a page."""
        super().__init__()
        self.most_issues = most_issues
        self.requests: list[Seen] = []
        self.needs_key = needs_key
        """Whether it runs in the mode in which every user logs in; the other one trusts all."""
        self.users = {
            f"Bearer {KEY}": "cli-auth-me",
            **{f"Bearer {key}": answer for key, answer in OTHER_USERS.items()},
            f"Bearer {AGENT_KEY}": "cli-auth-me-agent",
        }
        """By key, the recorded answer that says who its user is."""
        self.approvals: list[Any] = []
        """Approvals beside those that were recorded."""
        self.companies = [
            each for each in body_of("companies") if each["id"] in (GLOBEX, ACME, INITECH)
        ]
        self.times_attended = 0
        """How often the list of what needs a person was sent: its items move each time."""
        self.moved: dict[str, Any] = {}
        """What is different in the runs since they were recorded."""
        self.fault: Callable[[str, str], Fault | None] = no_fault
        """Called with the method and the path of each request: how it fails."""
        self.news = NewsSockets()
        self.arrived: list[str] = []
        """The path of each request, before it is answered."""
        self.connections: list[socket.socket] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body leave together: else each answer takes 40 ms longer

            def setup(self) -> None:
                super().setup()
                outer.connections.append(self.connection)

            def handle_any(self) -> None:
                outer.answer(self)

            do_GET = do_POST = do_PATCH = handle_any  # noqa: N815 - names of the base class

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_approval(self, approval_id: str, title: str, company: str = GLOBEX) -> None:
        """Have an agent ask for something, and tell it to all who follow the company."""
        row = next(each for each in companies_of("approvals") if each["status"] == "pending")
        payload = {"title": title}
        own = {
            "id": approval_id,
            "companyId": company,
            "payload": payload,
            "requestedByAgentId": None,
        }
        self.approvals.append({**row, **own, "type": "request_board_approval"})
        self.news.tell(company, body_of("live-events-ws")[0])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.may_answer.set()
        self.news.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        sent = json.loads(handler.rfile.read(length)) if length else None
        parts = urlsplit(handler.path)
        query = dict(parse_qsl(parts.query))
        authorization = handler.headers.get("Authorization")
        self.arrived.append(parts.path)
        self.may_answer.wait()
        if "Upgrade" in handler.headers:
            self._answer_upgrade(handler, authorization)
            return
        fault = self.fault(handler.command, parts.path)
        body: Any
        refusal = self._refusal(handler.command, parts.path, authorization)
        if refusal is not None:
            status, body = refusal
        elif isinstance(fault, int):
            status, body = fault, {"error": f"failed with {fault}"}
        elif fault == "unheard":
            status, body = 0, None
        elif handler.command == "GET":
            status, body = self._read(parts.path, query, authorization)
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

    def _answer_upgrade(self, handler: BaseHTTPRequestHandler, authorization: str | None) -> None:
        match = _COMPANY.fullmatch(handler.path)
        if match is None or match[2] != "events/ws":
            handler.close_connection = True  # the real server says nothing either
            return
        company = unquote(match[1])
        is_agent = authorization == f"Bearer {AGENT_KEY}" and company == ACME
        is_allowed = is_agent or (authorization is None and not self.needs_key)
        status = 101 if is_allowed else 403
        self.requests.append(Seen("GET", handler.path, {}, None, authorization, status))
        if is_allowed:
            self.news.serve(handler, company)
            return
        handler.wfile.write(
            b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
            b"forbidden"
        )
        handler.close_connection = True

    def _refusal(self, method: str, path: str, authorization: str | None) -> tuple[int, Any] | None:
        """What is answered to a request without the right key; None if it is let through."""
        if authorization == f"Bearer {AGENT_KEY}" and path == "/api/companies":
            return 403, body_of("error-403-agent-key")
        if authorization == f"Bearer {VIEWER_KEY}" and method != "GET":
            return 403, body_of("error-403-viewer")
        if authorization is not None:
            return None if authorization in self.users else (401, body_of("error-401"))
        if not self.needs_key:
            return None
        if path == "/api/health":
            return 200, body_of("health-authenticated")
        if path == "/api/companies":
            return 403, body_of("error-403-no-key")
        return 401, {"error": "Unauthorized"}

    def _read(self, path: str, query: dict[str, str], authorization: str | None) -> tuple[int, Any]:
        match = _COMPANY.fullmatch(path)
        if match is not None:
            return self._of_company(unquote(match[1]), match[2], query)
        if path == "/api/health":
            return 200, body_of("health")
        if path == "/api/cli-auth/me" and not query:
            name = "cli-auth-me" if authorization is None else self.users[authorization]
            return RECORDED[name]["status"], body_of(name)
        match = _RUN_LOG.fullmatch(path)
        if match is not None:
            return 200, run_log(int(query.get("offset", 0)))
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
        body = body_of(recorded)
        if name == "approvals":
            body = [*body, *(row for row in self.approvals if row["companyId"] == company)]
        return 200, self._list_now(name, body, query)

    def _list_now(self, name: str, body: Any, query: dict[str, str]) -> Any:
        """A recorded list as it is since what was written."""
        match name:
            case "attention":
                items = [self.item_now(item) for item in body["items"] if self.is_open(item)]
                self.times_attended += 1
                moved = {
                    "activityAt": f"2026-11-22T03:00:00.{self.times_attended:03}Z",
                    "retentionVersion": self.times_attended,
                }
                items = [{**item, **moved, "rank": rank} for rank, item in enumerate(items, 1)]
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
