"""What can be written to the recorded Paperclip, and how its rows look afterwards.

A write that the real server would refuse is refused, with its words where they were recorded; and
so is one that it would not understand as it was meant, such as one with a field that it ignores.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.platforms.recorded_answers import body_of, companies_of

Answer: TypeAlias = tuple[int, Any]
"""An HTTP status and a body."""
REFUSED: Answer = (400, {"error": "Validation error"})
ISSUE_STATUSES = ("backlog", "todo", "in_progress", "in_review", "done", "blocked", "cancelled")
DECISIONS = {"approve": "approved", "reject": "rejected", "request-revision": "revision_requested"}
RESOLUTIONS = {"accept": "accepted", "reject": "rejected", "skip": "cancelled"}
"""The status of an interaction after each of its writes."""


def _is_optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_sum(value: Any) -> bool:
    return type(value) is int and value >= 0


Fields: TypeAlias = dict[str, Callable[[Any], bool]]
_NOTE: Fields = {"decisionNote": _is_optional_text}
_REASON: Fields = {"reason": lambda value: isinstance(value, (str, type(None)))}


class RecordedWrites:
    """The writes that were made, and the rows as they are since then."""

    def __init__(self) -> None:
        self.decided: dict[str, str] = {}
        """Status words that were written here, by the id of what has them."""
        self.changed: dict[str, dict[str, Any]] = {}
        """Fields that somebody else has changed, by the id of their row."""
        self.comments: dict[str, list[Any]] = {}
        """Comments that were written here, by the id of their issue or approval."""
        self.amounts: dict[str, int] = {}
        """Limits in cents that were written here, by the id of whose they are."""
        self.runs: list[Any] = []
        """Runs that were started here."""
        self.answers_with: str | None = None
        """The status with which a write is answered, instead of the new one."""
        self.companies: list[Any] = []

    def forget(self) -> None:
        """Let everything be as it was recorded."""
        self.restore(({}, {}, {}, {}, []))

    def copied(self) -> Any:
        """All that was written and changed until now."""
        return copy.deepcopy((self.decided, self.changed, self.comments, self.amounts, self.runs))

    def restore(self, copied: Any) -> None:
        self.decided, self.changed, self.comments, self.amounts, self.runs = copied

    # ---- rows as they are now

    def now(self, row: Any) -> Any:
        status = self.decided.get(row["id"], row["status"])
        return {**row, "status": status, **self.changed.get(row["id"], {})}

    def policy_now(self, row: Any) -> Any:
        """A budget; it stops nothing if its limit is above what is spent."""
        amount = self.amounts.get(row["scopeId"])
        if amount is not None:
            is_over = amount <= row["observedAmount"]
            status = "hard_stop" if is_over else "ok"
            row = {**row, "amount": amount, "status": status, "paused": is_over}
        return {**row, **self.changed.get(row["scopeId"], {})}

    def company_now(self, row: Any) -> Any:
        amount = self.amounts.get(row["id"], row["budgetMonthlyCents"])
        return {**self.now(row), "budgetMonthlyCents": amount}

    def item_now(self, item: Any) -> Any:
        """An item of the attention list."""
        return {**item, **self.changed.get(item["id"], {})}

    def is_open(self, item: Any) -> bool:
        """Whether what an item of the attention list is about still needs a person."""
        about = [item["subject"]["id"]]
        if item["sourceKind"] in ("blocker_attention", "recovery_action"):
            about.append(item["relatedIssue"]["id"])
        return not any(each in self.decided for each in about)

    def issue(self, issue_id: str) -> Any:
        """An issue as it is now; None if there is none with this id."""
        statuses = {row["id"]: row["status"] for row in companies_of("issues")}
        for item in companies_of("attention", "items"):
            if item["relatedIssue"] is not None:
                of_issue = item["relatedIssue"]
                statuses.setdefault(of_issue["id"], of_issue["status"])
        if issue_id not in statuses:
            return None
        return self.now({**body_of("issue"), "id": issue_id, "status": statuses[issue_id]})

    def interactions(self, issue_id: str) -> list[Any]:
        """What agents ask about an issue."""
        return [
            self.now({**body_of("issue-interactions")[0], "id": item["subject"]["id"]})
            for item in companies_of("attention", "items")
            if item["sourceKind"] == "issue_thread_interaction"
            and item["relatedIssue"]["id"] == issue_id
        ]

    def run(self, run_id: str) -> Any:
        for row in companies_of("live-runs"):
            if row["id"] == run_id:
                return self.now({**body_of("write-run-cancel"), "id": run_id, "status": "running"})
        return None

    def runs_of(self, agent_id: str) -> list[Any]:
        """The runs of an agent: one of the past that it was told to make, and those since."""
        past = {**body_of("write-agent-invoke"), "id": "earlier", "agentId": agent_id}
        return [past, *(run for run in self.runs if run["agentId"] == agent_id)]

    # ---- writes

    def write(self, method: str, path: str, sent: Any) -> Answer:
        for known_method, pattern, fields, handle in self._routes():
            match = re.fullmatch(pattern, path)
            if known_method == method and match is not None:
                if not isinstance(sent, dict) or not sent.keys() <= fields.keys():
                    return REFUSED
                if not all(fields[name](value) for name, value in sent.items()):
                    return REFUSED
                return self._answered(handle(sent, *match.groups()))
        return 404, {"error": f"API route not found: {method} {path}"}

    def _answered(self, answer: Answer) -> Answer:
        status, body = answer
        if status < 300 and self.answers_with is not None:
            return status, {**body, "status": self.answers_with}
        return answer

    def _routes(self) -> list[tuple[str, str, Fields, Callable[..., Answer]]]:
        an_id = "([^/]+)"
        cents: Fields = {"budgetMonthlyCents": _is_sum}
        text: Fields = {"body": _is_text}
        return [
            ("POST", "/api/companies", {"name": _is_text, "description": _is_optional_text},
             self._create_company),
            ("PATCH", f"/api/companies/{an_id}", {"status": ("active", "paused").__contains__},
             self._set_company),
            ("PATCH", f"/api/companies/{an_id}/budgets", cents, self._set_company_budget),
            ("POST", f"/api/companies/{an_id}/issues",
             {"title": _is_text, "assigneeAgentId": _is_text, "priority": _is_text},
             self._create_issue),
            ("POST", f"/api/companies/{an_id}/budgets/policies",
             {"scopeType": ("company", "agent", "project").__contains__, "scopeId": _is_text,
              "amount": _is_sum, "warnPercent": _is_sum}, self._set_policy),
            ("POST", f"/api/companies/{an_id}/budget-incidents/{an_id}/resolve",
             {"action": ("keep_paused", "raise_budget_and_resume").__contains__,
              "amount": _is_sum, **_NOTE}, self._resolve_incident),
            ("PATCH", f"/api/agents/{an_id}/budgets", cents, self._set_agent_budget),
            ("POST", f"/api/agents/{an_id}/(pause|resume|clear-error)", {}, self._set_agent),
            ("POST", f"/api/agents/{an_id}/heartbeat/invoke", {}, self._invoke),
            ("POST", f"/api/heartbeat-runs/{an_id}/cancel", {}, self._cancel_run),
            ("POST", f"/api/approvals/{an_id}/({'|'.join(DECISIONS)})", _NOTE, self._decide),
            ("POST", f"/api/approvals/{an_id}/comments", text, self._comment_on_approval),
            ("PATCH", f"/api/issues/{an_id}",
             {"status": ISSUE_STATUSES.__contains__, "comment": _is_text}, self._set_issue),
            ("POST", f"/api/issues/{an_id}/comments", text, self._comment_on_issue),
            ("POST", f"/api/issues/{an_id}/interactions/{an_id}/({'|'.join(RESOLUTIONS)})",
             _REASON, self._resolve_interaction),
            ("POST", f"/api/issues/{an_id}/recovery-actions/resolve",
             {"outcome": ("restored",).__contains__,
              "sourceIssueStatus": ("todo", "done", "in_review").__contains__,
              "resolutionNote": _is_optional_text}, self._resolve_recovery),
        ]  # fmt: skip

    def _create_company(self, sent: Any) -> Answer:
        if "name" not in sent:
            return REFUSED
        return 201, {**body_of("company"), "id": "new-company", **sent}

    def _set_company(self, sent: Any, company: str) -> Answer:
        self.decided[company] = sent["status"]
        return 200, {**body_of("write-company-pause"), "id": company, "status": sent["status"]}

    def _set_company_budget(self, sent: Any, company: str) -> Answer:
        self.amounts[company] = sent["budgetMonthlyCents"]
        return 200, {**body_of("write-company-budget"), "id": company, **sent}

    def _create_issue(self, sent: Any, company: str) -> Answer:
        if len(sent) < 3:
            return REFUSED
        status = {"id": "new-issue", "status": "backlog", "companyId": company}
        return 201, {**body_of("issue"), **status, **sent}

    def _set_policy(self, sent: Any, company: str) -> Answer:
        """Without a percentage, the one that the operator has chosen would be lost."""
        if len(sent) < 4:
            return REFUSED
        for row in companies_of("budgets/overview", "policies"):
            if (row["scopeType"], row["scopeId"]) == (sent["scopeType"], sent["scopeId"]):
                self.amounts[row["scopeId"]] = sent["amount"]
                body = {**body_of("write-budget-policy"), **self.policy_now(row)}
                return 200, {**body, "warnPercent": sent["warnPercent"]}
        return 422, {"error": "Budget scope does not belong to company"}

    def _resolve_incident(self, sent: Any, company: str, incident: str) -> Answer:
        for row in companies_of("budgets/overview", "activeIncidents"):
            if (row["companyId"], row["id"]) != (company, incident):
                continue
            is_raised = sent["action"] == "raise_budget_and_resume"
            if is_raised and "amount" not in sent:
                return REFUSED
            if is_raised and sent["amount"] <= row["amountObserved"]:
                return 422, body_of("error-422-incident")
            if is_raised:
                self.amounts[row["scopeId"]] = sent["amount"]
            self.decided[incident] = "resolved" if is_raised else "dismissed"
            if row["approvalId"] is not None:
                self.decided[row["approvalId"]] = "approved" if is_raised else "rejected"
            return 200, self.now(row)
        return 404, {"error": "Budget incident not found"}

    def _set_agent_budget(self, sent: Any, agent: str) -> Answer:
        return 200, {**body_of("write-agent-budget"), "id": agent, **sent}

    def _set_agent(self, sent: Any, agent: str, verb: str) -> Answer:
        rows = {row["id"]: self.now(row) for row in companies_of("agents")}
        if agent not in rows:
            return 404, {"error": "Agent not found"}
        if verb == "clear-error" and rows[agent]["status"] != "error":
            return 409, body_of("error-409-clear-error")
        self.decided[agent] = "paused" if verb == "pause" else "idle"
        return 200, {**body_of(f"write-agent-{verb}"), "id": agent}

    def _invoke(self, sent: Any, agent: str) -> Answer:
        if self.answers_with == "skipped":
            return 202, {}
        started = {"id": f"run-{len(self.runs)}", "agentId": agent}
        self.runs.append({**body_of("write-agent-invoke"), **started})
        return 202, self.runs[-1]

    def _cancel_run(self, sent: Any, run: str) -> Answer:
        if self.run(run) is None:
            return 404, {"error": "Heartbeat run not found"}
        self.decided[run] = "cancelled"
        return 200, self.run(run)

    def _decide(self, sent: Any, approval: str, verb: str) -> Answer:
        status = DECISIONS[verb]
        for row in companies_of("approvals"):
            if row["id"] != approval:
                continue
            before = self.now(row)["status"]
            if verb == "request-revision" and before != "pending":
                return 422, body_of("error-422-revise")
            if before not in ("pending", "revision_requested", status):
                return 422, body_of("error-422-approve-rejected")
            self.decided[approval] = status
            return 200, {**self.now(row), **sent}
        return 404, {"error": "Approval not found"}

    def _comment_on_approval(self, sent: Any, approval: str) -> Answer:
        if approval not in {row["id"] for row in companies_of("approvals")}:
            return 404, {"error": "Approval not found"}
        return self._comment("write-approval-comment", approval, sent["body"])

    def _comment_on_issue(self, sent: Any, issue: str) -> Answer:
        if self.issue(issue) is None:
            return 404, {"error": "Issue not found"}
        return self._comment("write-issue-comment", issue, sent["body"])

    def _comment(self, answer: str, about: str, body: str) -> Answer:
        comments = self.comments.setdefault(about, [])
        comments.append({**body_of(answer), "id": f"comment-{len(comments)}", "body": body})
        return 201, comments[-1]

    def _set_issue(self, sent: Any, issue: str) -> Answer:
        if self.issue(issue) is None or "status" not in sent:
            return 404, {"error": "Issue not found"}
        self.decided[issue] = sent["status"]
        if "comment" in sent:
            self._comment("write-issue-comment", issue, sent["comment"])
        return 200, {**body_of("write-issue-patch-done"), "id": issue, "status": sent["status"]}

    def _resolve_interaction(self, sent: Any, issue: str, asked: str, verb: str) -> Answer:
        for row in self.interactions(issue):
            if row["id"] != asked:
                continue
            if row["status"] != "pending":
                return 409, body_of("error-409-interaction")
            self.decided[asked] = RESOLUTIONS[verb]
            return 200, {**body_of(f"write-interaction-{verb}"), "id": asked}
        return 404, {"error": "Interaction not found"}

    def _resolve_recovery(self, sent: Any, issue: str) -> Answer:
        for item in companies_of("attention", "items"):
            is_of_issue = (item["relatedIssue"] or {}).get("id") == issue
            if item["sourceKind"] == "recovery_action" and is_of_issue and self.is_open(item):
                self.decided[issue] = sent["sourceIssueStatus"]
                body = body_of("write-recovery-resolve")
                return 200, {**body, "issue": {**body["issue"], "id": issue}}
        return 404, {"error": "Active recovery action not found"}
