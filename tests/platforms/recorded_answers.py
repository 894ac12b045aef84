"""The recorded answers of a Paperclip server, and rows of sorts that could not be recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("paperclip_answers.json").read_text(encoding="utf-8")
)
GLOBEX = "f5565349-f117-4acc-8633-7db6663efee0"
ACME = "1608627d-944a-4635-9e54-aaf6be093647"
INITECH = "a2e5ed35-24f2-4680-95f4-0d7156caa2ae"
UMBRELLA = "e5ce0088-0897-4ef2-bf0d-580071fff39b"
"""A company without a limit, which is none of those that the server has at first."""
LISTS = {
    "agents": {ACME: "agents", GLOBEX: "agents-globex", INITECH: "agents-of-other-sorts"},
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
        INITECH: "budgets-of-other-sorts",
        UMBRELLA: "budgets-overview-unlimited",
    },
}
"""By the path below a company, which recorded answer is which company's."""
EMPTY: dict[str, Any] = {
    "attention": {"items": [], "totalCount": 0, "nextCursor": None},
    "budgets/overview": {"policies": [], "activeIncidents": []},
}
"""What a company has of which nothing was recorded; else it has an empty list."""


def body_of(name: str) -> Any:
    """A recorded body."""
    return RECORDED[name]["body"]


def _made_up() -> dict[str, Any]:
    """Bodies with rows of sorts that could not be recorded, made of others."""
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
    agents = body_of("agents-of-paused-company")
    more = [{**agents[0], "id": word, "status": word} for word in ("active", "terminated")]
    overview = body_of("budgets-overview-company-stopped")
    # A warning before the limit is reached: nobody is asked for more.
    soft = {**overview["activeIncidents"][0], "id": "soft", "thresholdType": "soft"}
    incidents = [*overview["activeIncidents"], {**soft, "approvalId": None}]
    policies = body_of("budgets-overview")["policies"]
    policy = next(each for each in policies if each["scopeType"] == "company")
    # What is left of a limit that was taken away.
    ended = {"amount": 0, "remainingAmount": 0, "isActive": False}
    unlimited = {**policy, **ended, "companyId": UMBRELLA, "scopeId": UMBRELLA}
    return {
        "budgets-overview-unlimited": {"policies": [unlimited], "activeIncidents": []},
        "agents-of-other-sorts": [*agents, *more],
        "budgets-of-other-sorts": {**overview, "activeIncidents": incidents},
        "attention-of-other-sorts": {
            **body_of("attention"),
            "items": items,
            "totalCount": len(items),
        },
        "approvals-of-other-sorts": approvals,
        "two-pages-of-issues": issues,
    }


def companies_of(name: str, key: str | None = None) -> list[Any]:
    """The rows of a list of all companies, as they were recorded."""
    found: list[Any] = []
    for answer in LISTS[name].values():
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
