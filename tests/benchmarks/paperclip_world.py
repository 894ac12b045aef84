"""What a live Paperclip answers to plain requests, and what of it waits for a person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from urllib.request import urlopen

from tests.benchmarks.cell_checks import dollars

LOG_LENGTH = 200
"""Entries of the log of a company that a dashboard reads at once, the newest."""


def answer(base: str, path: str) -> Any:
    with urlopen(f"{base}/api{path}", timeout=30) as reply:
        return json.loads(reply.read())


class Company(NamedTuple):
    """All answers about one company, as they are."""

    row: Any
    """Of the list of companies."""
    agents: list[Any]
    approvals: list[Any]
    items: list[Any]
    """Of its attention."""
    issues: list[Any]
    runs: list[Any]
    policies: list[Any]
    incidents: list[Any]
    entries: list[Any]
    """Of its log, the newest first, without environment leases."""
    log_ends: float
    """When the oldest of the newest entries was made that one answer has; 0 if it has all."""

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def name(self) -> str:
        return str(self.row["name"])

    @property
    def idleness(self) -> str | None:
        """Why nothing is done in it, in a word; None if it works."""
        is_stopped = any(each["paused"] for each in self.policies if each["scopeId"] == self.id)
        if self.row["status"] != "active":
            return str(self.row["status"])
        return "paused" if is_stopped else None


class World(NamedTuple):
    """All answers of the server at one moment."""

    companies: list[Company]
    agent_names: dict[str, str]

    def agent(self, agent_id: str | None) -> str | None:
        """The name of an agent; its id if it is not known, None without an id."""
        return self.agent_names.get(agent_id or "", agent_id)


def read_world(base: str) -> World:
    companies = [read_company(base, row) for row in answer(base, "/companies")]
    names = {agent["id"]: agent["name"] for each in companies for agent in each.agents}
    return World(companies, names)


def read_company(base: str, row: Any) -> Company:
    def read(path: str) -> Any:
        return answer(base, f"/companies/{row['id']}/{path}")

    def read_pages(path: str) -> list[Any]:
        rows: list[Any] = []
        cursor = ""
        while True:
            page = read(f"{path}{cursor}")
            rows += page["items"]
            if page["nextCursor"] is None:
                return rows
            cursor = f"&cursor={page['nextCursor']}"

    overview = read("budgets/overview")
    log = read_pages(f"audit/agent-actions?actorScope=all&limit={LOG_LENGTH}")
    newest = log[:LOG_LENGTH] if len(log) > LOG_LENGTH else []
    times = [seconds(each["createdAt"]) for each in newest if not is_lease(each)]
    return Company(
        row,
        read("agents"),
        read("approvals"),
        read_pages("attention?limit=100"),
        read("issues?limit=1000"),
        read("live-runs"),
        [each for each in overview["policies"] if each["scopeType"] in {"company", "agent"}],
        overview["activeIncidents"],
        [each for each in log if not is_lease(each)],
        min((at for at in times if at is not None), default=0.0),
    )


def is_lease(entry: Any) -> bool:
    return bool(entry["action"].startswith("environment.lease_"))


def seconds(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()


# --- what waits for a person ---


class Waiting(NamedTuple):
    """A thing that waits for a decision: a request, or an item of the attention."""

    id: str
    company: Company
    cause: str
    """The id of the issue, agent or budget that it is about, else its own."""
    title: str
    key: str | None
    """The identifier of the issue that it is about."""
    priority: str | None
    agent: str | None
    since: float | None

    @property
    def need(self) -> str:
        """What makes it one with others: its company and its cause."""
        return f"{self.company.id} {self.cause}"

    @property
    def keyed_title(self) -> str:
        is_in_title = self.key is None or re.search(rf"\b{self.key}\b", self.title)
        return self.title if is_in_title else f"{self.key} {self.title}"


def waiting_in(world: World) -> Iterator[Waiting]:
    for company in world.companies:
        for row in company.approvals:
            if row["status"] == "pending":
                yield waiting_request(company, row)
        for item in company.items:
            if item["sourceKind"] not in {"approval", "budget_alert"}:
                yield waiting_item(company, item)


def waiting_request(company: Company, row: Any) -> Waiting:
    return Waiting(
        id=row["id"],
        company=company,
        cause=row["payload"].get("scopeId") or row["id"],
        title=title_of_request(row),
        key=None,
        priority=None,
        agent=row["requestedByAgentId"],
        since=seconds(row["createdAt"]),
    )


def title_of_request(row: Any) -> str:
    """What somebody asks for, with the sum where it hires somebody."""
    payload = row["payload"]
    if row["type"] == "hire_agent":
        cents = payload.get("budgetMonthlyCents")
        sums = [f"{dollars(cents).removesuffix('.00')}/month"] if cents else []
        jobs = [payload["title"]] if payload.get("title") else []
        return f"Hire {', '.join((payload['name'], *jobs, *sums))}"
    if row["type"] == "approve_ceo_strategy":
        return f"Strategy: {payload['title']}"
    if row["type"] == "budget_override_required":
        return f"Raise the budget of {payload['scopeName']}, or leave it stopped"
    return str(payload["title"])


def waiting_item(company: Company, item: Any) -> Waiting:
    subject = item["subject"]
    metadata = subject["metadata"]
    issue = item["relatedIssue"] or {"identifier": None, "metadata": {}}
    kind = item["sourceKind"]
    about = ("sourceIssueId", "issueId", "originIssueId", "agentId")
    cause = next((metadata[name] for name in about if metadata.get(name)), subject["id"])
    if kind == "review":
        issue = {"identifier": subject["identifier"], "metadata": metadata}
        cause = subject["id"]
    asks = kind == "issue_thread_interaction"
    is_own_record = asks or kind == "review"
    return Waiting(
        id=subject["id"] if is_own_record else item["id"],
        company=company,
        cause=metadata["issueId"] if asks else cause,
        title=title_of_item(item),
        key=issue["identifier"],
        priority=issue["metadata"].get("priority") if is_own_record else item["severity"],
        agent=issue["metadata"].get("assigneeAgentId"),
        since=seconds(item["createdAt"]),
    )


def title_of_item(item: Any) -> str:
    """What is asked of a person about an item of the attention."""
    subject = item["subject"]
    metadata = subject["metadata"]
    detail = item["detail"]
    issue = item["relatedIssue"] or subject
    about = f"{issue['identifier']}: {issue['title']}"
    match item["sourceKind"]:
        case "review":
            return f"Review {subject['identifier']}: {subject['title']}"
        case "issue_thread_interaction":
            question = detail.get("promptExcerpt") or detail.get("firstQuestionText")
            return f"Answer {issue['identifier']}: {question or issue['title']}"
        case "blocker_attention":
            return f"Unblock {subject['identifier']}: {subject['title']}"
        case "recovery_action":
            return f"Recover {about}"
        case "agent_error_alert":
            reason = metadata.get("errorReason")
            return f"{subject['title']} failed" + (f": {reason}" if reason else "")
        case "failed_run" if item["relatedIssue"]:
            return f"Retry {about}"
        case "failed_run":
            return f"{metadata.get('agentName')} failed: {metadata.get('error')}"
        case "decision":
            return f"Decide: {subject['title']}"
        case "join_request":
            return f"Let {subject['title']} join"
    return str(subject["title"])
