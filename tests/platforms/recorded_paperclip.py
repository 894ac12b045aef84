"""A server that answers as Paperclip did when its answers were recorded.

Reads are answered with the recorded bodies, with ETags and 304, filtered by `status` and paged by
`cursor` and `offset` as the real server does; a company of which nothing was recorded has nothing.
A request that the real server would not understand as it was meant is refused: an unknown
parameter, a field of a body that it does not know, a sum that is no whole number.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("paperclip_answers.json").read_text(encoding="utf-8")
)
GLOBEX = "f5565349-f117-4acc-8633-7db6663efee0"
ACME = "1608627d-944a-4635-9e54-aaf6be093647"
INITECH = "a2e5ed35-24f2-4680-95f4-0d7156caa2ae"
UMBRELLA = "e5ce0088-0897-4ef2-bf0d-580071fff39b"
"""A company without a limit, which is none of those that the server has at first."""
KEY = "pcp_board_recorded"
VIEWER_KEY = "pcp_board_viewer"
AGENT_KEY = "pcp_agent_recorded"
OTHER_USERS = {
    VIEWER_KEY: "cli-auth-me-viewer",
    "pcp_board_viewer_and_operator": "cli-auth-me-viewer-and-operator",
    "pcp_board_viewer_and_admin": "cli-auth-me-viewer-and-admin",
}
"""By key of another user than that of `KEY`, the recorded answer that says who it is."""

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
        UMBRELLA: "budgets-overview-unlimited",
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

    error = attention["agent_error_alert"]
    issue = attention["recovery_action"]["relatedIssue"]
    blocker = attention["blocker_attention"]
    asks = {**question["subject"]["metadata"], "kind": "ask_user_questions"}
    which = {"kind": "questions", "questionCount": 1, "firstQuestionText": "Which colour?"}
    run = {"agentId": "an-agent", "agentName": "Bea", "issueId": None, "error": "exit 3"}
    of_issue = {**run, "issueId": issue["id"]}
    from_issue = {"originIssueId": issue["id"], "originAgentId": "an-agent"}
    items = [
        changed(error, "run", {"status": "failed", "metadata": run}, sourceKind="failed_run"),
        changed(
            error,
            "run-of-issue",
            {"status": "timed_out", "metadata": of_issue},
            sourceKind="failed_run",
            relatedIssue=issue,
        ),
        changed(error, "unexplained", {"metadata": {"role": "qa"}}),
        changed(attention["recovery_action"], "escalated", {"status": "escalated"}),
        changed(question, "asks", {"metadata": asks}, detail=which),
        changed(question, "asks-nothing", {"metadata": asks}),
        changed(question, "no-prompt", {}, detail={"kind": "plan_approval"}),
        changed(
            error,
            "decision",
            {"title": "Two depots", "status": "open", "metadata": from_issue},
            sourceKind="decision",
            relatedIssue=issue,
        ),
        changed(error, "joins", {"status": "pending_approval"}, sourceKind="join_request"),
        *(
            changed(blocker, f"blocks-{status}", {"status": status})
            for status in ("in_progress", "todo", "backlog")
        ),
    ]
    hire = next(each for each in body_of("approvals") if each["type"] == "hire_agent")
    hires = {
        "untitled": {"name": "Uma"},
        "unlimited": {"name": "Uma", "title": "Clerk", "budgetMonthlyCents": 0},
        "limited": {"name": "Uma", "budgetMonthlyCents": 75050},
    }
    approvals = [
        *body_of("approvals-with-company-budget-override"),
        *(
            {**hire, "id": name, "companyId": INITECH, "payload": payload}
            for name, payload in hires.items()
        ),
    ]
    issue = next(each for each in body_of("issues-compact") if each["status"] == "backlog")
    # More than one page of them.
    issues = [{**issue, "id": f"issue-{n}", "companyId": INITECH} for n in range(501)]
    policies = body_of("budgets-overview")["policies"]
    policy = next(each for each in policies if each["scopeType"] == "company")
    # What is left of a limit that was taken away.
    ended = {"amount": 0, "remainingAmount": 0, "isActive": False}
    unlimited = {**policy, **ended, "companyId": UMBRELLA, "scopeId": UMBRELLA}
    return {
        "attention-of-other-sorts": {
            **body_of("attention"),
            "items": items,
            "totalCount": len(items),
        },
        "approvals-of-other-sorts": approvals,
        "two-pages-of-issues": issues,
        "budgets-overview-unlimited": {"policies": [unlimited], "activeIncidents": []},
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

    def __init__(self, *, needs_key: bool = True) -> None:
        self.requests: list[Seen] = []
        self.needs_key = needs_key
        """Whether it runs in the mode in which every user logs in; the other one trusts all."""
        self.users = {
            f"Bearer {KEY}": "cli-auth-me",
            **{f"Bearer {key}": answer for key, answer in OTHER_USERS.items()},
            f"Bearer {AGENT_KEY}": "cli-auth-me-agent",
        }
        """By key, the recorded answer that says who its user is."""
        self.companies: list[Any] = [
            each for each in body_of("companies") if each["id"] in (GLOBEX, ACME, INITECH)
        ]
        self.decided: dict[str, str] = {}
        """Status words of approvals, issues and interactions that were written here, by id."""
        self.approvals: list[Any] = []
        """Approvals of Globex beside those that were recorded."""
        self.answers_with: str | None = None
        """The status with which an approval is answered, instead of the new one."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

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
        refusal = self._refusal(handler.command, parts.path, authorization)
        if refusal is not None:
            status, body = refusal
        elif handler.command == "GET":
            status, body = self._read(parts.path, query, authorization)
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
        if path == "/api/cli-auth/me" and not query:
            name = "cli-auth-me" if authorization is None else self.users[authorization]
            return RECORDED[name]["status"], body_of(name)
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
            body = [self._now(row) for row in (*body, *self.approvals * (company == GLOBEX))]
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
