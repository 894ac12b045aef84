"""A server that answers as Paperclip did when its answers were recorded.

Reads are answered with the recorded bodies, with ETags and 304, filtered by `status` and paged by
`cursor` and `offset` as the real server does; a company of which nothing was recorded has nothing.
A request that the real server would not understand as it was meant is refused: an unknown
parameter, a field of a body that it does not know, a sum that is no whole number. What changes is
told by web socket when a test says so (`news`), to those to whom the real server tells it.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.platforms.news_sockets import NewsSockets

RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("paperclip_answers.json").read_text(encoding="utf-8")
)
GLOBEX = "f5565349-f117-4acc-8633-7db6663efee0"
ACME = "1608627d-944a-4635-9e54-aaf6be093647"
INITECH = "a2e5ed35-24f2-4680-95f4-0d7156caa2ae"
KEY = "pcp_board_recorded"
AGENT_KEY = "pcp_recorded_agent"
"""The key of an agent of Acme: it may follow what changes there, and list no companies."""

_LISTS = {
    "agents": {ACME: "agents", GLOBEX: "agents-globex", INITECH: "agents-of-paused-company"},
    "approvals": {
        GLOBEX: "approvals",
        ACME: "approvals-acme",
        INITECH: "approvals-of-other-sorts",
    },
    "attention": {
        ACME: "attention",
        GLOBEX: "attention-globex",
        INITECH: "attention-of-other-sorts",
    },
    "issues": {GLOBEX: "issues-compact", INITECH: "two-pages-of-issues"},
    "live-runs": {ACME: "live-runs"},
    "budgets/overview": {
        ACME: "budgets-overview",
        GLOBEX: "budgets-overview-globex",
        INITECH: "budgets-overview-company-stopped",
    },
}
"""By the path below a company, which recorded answer is which company's."""
_EMPTY: dict[str, Any] = {
    "attention": {"items": [], "totalCount": 0, "nextCursor": None},
    "budgets/overview": {"policies": [], "activeIncidents": []},
}
_QUERIES: dict[str, dict[str, set[str] | None]] = {
    "approvals": {"status": {"pending"}},
    "attention": {"limit": {"100"}},
    "issues": {"view": {"compact"}, "limit": {"500"}, "offset": None},
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
BODIES = {
    ("POST", "/api/companies"): {"name", "description"},
    ("POST", "issues"): {"title", "assigneeAgentId", "priority"},
    ("PATCH", "budgets"): {"budgetMonthlyCents"},
    ("PATCH", "/api/issues"): {"status"},
}
_COMPANY = re.compile(r"/api/companies/([^/]+)/(.+)")


def body_of(name: str) -> Any:
    """A recorded body."""
    return RECORDED[name]["body"]


def _made_up() -> dict[str, Any]:
    """Bodies with rows of sorts that were not there to be recorded, made of rows that were."""
    attention = {each["sourceKind"]: each for each in body_of("attention")["items"]}
    question = next(
        each
        for each in body_of("attention-globex")["items"]
        if each["sourceKind"] == "issue_thread_interaction"
    )

    def changed(row: Any, new_id: str, subject: Any, **fields: Any) -> Any:
        subject = {**row["subject"], **subject, "id": f"{new_id}-subject", "companyId": INITECH}
        return {**row, **fields, "id": new_id, "companyId": INITECH, "subject": subject}

    items = [
        changed(attention["agent_error_alert"], "run", {}, sourceKind="failed_run"),
        changed(attention["agent_error_alert"], "unexplained", {"metadata": {"role": "qa"}}),
        changed(attention["recovery_action"], "escalated", {"status": "escalated"}),
        changed(
            question,
            "asks",
            {"metadata": {**question["subject"]["metadata"], "kind": "ask_user_questions"}},
        ),
    ]
    hire = next(each for each in body_of("approvals") if each["type"] == "hire_agent")
    approvals = [
        *body_of("approvals-with-company-budget-override"),
        {**hire, "id": "untitled", "companyId": INITECH, "payload": {"name": "Uma"}},
    ]
    issue = next(each for each in body_of("issues-compact") if each["status"] == "backlog")
    # More than one page of them.
    issues = [{**issue, "id": f"issue-{n}", "companyId": INITECH} for n in range(501)]
    return {
        "attention-of-other-sorts": {**body_of("attention"), "items": items, "totalCount": 4},
        "approvals-of-other-sorts": approvals,
        "two-pages-of-issues": issues,
    }


def companies_of(name: str, key: str | None = None) -> list[Any]:
    """The rows of a list of all companies, as they were recorded."""
    found: list[Any] = []
    for answer in _LISTS[name].values():
        body = body_of(answer)
        found += body if key is None else body[key]
    return found


def logged() -> list[Any]:
    """The audit log of Globex: what was recorded of it, and below it the longer activity."""
    audited = body_of("audit-agent-actions")["items"]
    known = {entry["id"] for entry in audited}
    issue = {"id": "issue-0", "identifier": "INI-1", "title": "The title of the issue"}
    of_issue = {"entityType": "issue", "entityId": "issue-0", "entity": {"issue": issue}}
    audited = [*audited, {**audited[-1], **of_issue, "id": "about-an-issue"}]
    return [*audited, *(entry for entry in body_of("activity") if entry["id"] not in known)]


for _name, _body in _made_up().items():
    RECORDED[_name] = {"body": _body}


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


class RecordedPaperclip:
    """The server; use it with `with`."""

    def __init__(self, *, needs_key: bool = True, port: int = 0) -> None:
        self.requests: list[Seen] = []
        self.needs_key = needs_key
        self.companies: list[Any] = [
            each for each in body_of("companies") if each["id"] in (GLOBEX, ACME, INITECH)
        ]
        self.decided: dict[str, str] = {}
        """Status words of approvals, issues and interactions that were written here, by id."""
        self.answers_with: str | None = None
        """The status with which an approval is answered, instead of the new one."""
        self.new_approvals: list[Any] = []
        """Approvals that came after the others, of any company."""
        self.news = NewsSockets()
        self.arrived: list[str] = []
        """The path of each request, before it is answered."""
        self.connections: list[socket.socket] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

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
        self.new_approvals.append({**row, **own, "type": "request_board_approval"})
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
        if self.needs_key and authorization not in (f"Bearer {KEY}", f"Bearer {AGENT_KEY}"):
            status, body = 401, {"error": "Unauthorized"}
        elif authorization == f"Bearer {AGENT_KEY}" and parts.path == "/api/companies":
            status, body = 403, {"error": "Board access required"}
        elif handler.command == "GET":
            status, body = self._read(parts.path, query)
        else:
            status, body = self._written(handler.command, parts.path, sent)
        data = json.dumps(body, ensure_ascii=False).encode()
        etag = f'W/"{hashlib.sha256(data).hexdigest()[:24]}"'
        if status == 200 and handler.headers.get("If-None-Match") == etag:
            status, data = 304, b""
        self.requests.append(Seen(handler.command, parts.path, query, sent, authorization, status))
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

    def _read(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == "/api/companies" and not query:
            return 200, self.companies
        for each in self.companies:
            if path == f"/api/companies/{each['id']}" and not query:
                return 200, each
        match = _COMPANY.fullmatch(path)
        if match is not None:
            return self._of_company(unquote(match[1]), match[2], query)
        for name in ("approval-comments", "issue-comments", "issue-activity", "issue-runs"):
            # What hangs on one issue or approval was recorded of one, and is served for all.
            *before, _, last = RECORDED[name]["path"].split("/")
            if path.split("/")[:3] == before and path.split("/")[4:] == [last] and not query:
                return 200, body_of(name)
        for agent in companies_of("agents"):
            if path == f"/api/agents/{agent['id']}" and not query:
                return 200, agent
        if path == "/api/health":
            return 200, body_of("health")
        return 404, {"error": f"API route not found: {path}"}

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
        if name not in _LISTS:
            return 404, {"error": f"API route not found: {name}"}
        if name in ("issues", "attention") and understood.keys() - query.keys() - {"offset"}:
            return 400, {"error": "a parameter is missing"}
        recorded = _LISTS[name].get(company)
        if recorded is None:
            return 200, _EMPTY.get(name, [])
        body = body_of(recorded)
        if name == "approvals":
            new = [row for row in self.new_approvals if row["companyId"] == company]
            body = [self._now(row) for row in [*body, *new]]
            body = [row for row in body if row["status"] == query.get("status", row["status"])]
        if name == "issues":
            start = int(query.get("offset", 0))
            body = [self._now(row) for row in body][start : start + int(query["limit"])]
        if name == "attention":
            items = [row for row in body["items"] if row["subject"]["id"] not in self.decided]
            items = [{**row, "rank": rank} for rank, row in enumerate(items, 1)]
            body = {**body, "items": items, "totalCount": len(items)}
        return 200, body

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

    def _now(self, row: Any) -> Any:
        return {**row, "status": self.decided.get(row["id"], row["status"])}

    def _written(self, method: str, path: str, sent: Any) -> tuple[int, Any]:
        last = path.rpartition("/")[2]
        route = path.rpartition("/")[0] if method == "PATCH" and last != "budgets" else last
        if path == "/api/companies":
            route = path
        known = BODIES.get((method, route), {"decisionNote"})
        if sent is None or not set(sent) <= known:
            return 400, {"error": "Validation error"}
        answer = self._write(method, path, last, sent)
        return answer or (404, {"error": f"API route not found: {method} {path}"})

    def _write(self, method: str, path: str, last: str, sent: Any) -> tuple[int, Any] | None:
        if method == "POST" and path == "/api/companies" and sent.get("name"):
            return 201, {**body_of("company"), "id": "new-company", **sent}
        match = _COMPANY.fullmatch(path)
        if method == "POST" and match is not None and match[2] == "issues":
            if not {"title", "assigneeAgentId", "priority"} <= sent.keys():
                return 400, {"error": "Validation error"}
            status = {"id": "new-issue", "status": "backlog", "companyId": match[1]}
            return 201, {**body_of("issue"), **status, **sent}
        if method == "PATCH" and re.fullmatch(r"/api/agents/[^/]+/budgets", path):
            if type(sent.get("budgetMonthlyCents")) is not int:
                return 400, {"error": "Validation error: expected int"}
            return 200, {**body_of("write-agent-budget"), "id": path.split("/")[3], **sent}
        if method == "POST" and re.fullmatch(r"/api/agents/[^/]+/(pause|resume)", path):
            return 200, {**body_of(f"write-agent-{last}"), "id": path.split("/")[3]}
        if re.fullmatch(r"/api/approvals/[^/]+/(approve|reject|request-revision)", path):
            return self._decide(path.split("/")[3], last)
        if method == "PATCH" and re.fullmatch(r"/api/issues/[^/]+", path):
            self.decided[last] = sent["status"]
            return 200, {**body_of("write-issue-patch-done"), "id": last, **sent}
        if method == "POST" and re.fullmatch(r"/api/issues/[^/]+/interactions/[^/]+/accept", path):
            known = [item["subject"] for item in companies_of("attention", "items")]
            issue, subject = path.split("/")[3], path.split("/")[5]
            if any((s["id"], s["metadata"].get("issueId")) == (subject, issue) for s in known):
                self.decided[subject] = "accepted"
                return 200, {**body_of("write-interaction-accept"), "id": subject}
        return None

    def _decide(self, approval_id: str, verb: str) -> tuple[int, Any]:
        words = ("approved", "rejected", "revision_requested")
        status = dict(zip(("approve", "reject", "request-revision"), words, strict=True))[verb]
        for row in companies_of("approvals"):
            if row["id"] == approval_id:
                if self._now(row)["status"] not in ("pending", "revision_requested", status):
                    return 422, body_of("error-422-approve-rejected")
                self.decided[approval_id] = status
                return 200, {**row, "status": self.answers_with or status}
        return 404, {"error": "Approval not found"}
