"""What must be true of the records that a platform's file brings: the recorded fields themselves.

`check_reads` and `check_writes` compare everything. The expectations are written here once more,
from the answers and not from the file, so that a file which reads anything else fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.api import errors
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.model import AgentState, Money, Record, TaskState, Verdict
from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from tests.platforms.recorded_answers import ACME, GLOBEX, UMBRELLA, body_of, companies_of, logged
from tests.platforms.recorded_paperclip import AGENT_KEY, MOVED, OTHER_USERS, RecordedPaperclip

REVIEW = "f0690a38-3bb4-4801-bb12-4b0eecd50ac2"
QUESTION = "55d3feb9-1f2c-4c37-a2ac-dcda8a64aecb"
ISSUE = "12223f62-bb2b-463f-8d16-dc739fcacf67"
CHIEF = "ea120b73-70c6-4325-9d03-52ed82ff591a"
WHY_NOT = {
    "approval": "approving this only hides it and leaves the agent stopped:"
    " raise its limit above what is spent (b)",
    "blocker_attention": "unblock or reassign it in Paperclip: there is nothing to approve",
    "recovery_action": "choose its outcome in Paperclip: there is nothing to approve",
    "agent_error_alert": "look at the agent's last run in Paperclip: there is nothing to approve",
    "issue_thread_interaction": "answer this in Paperclip: it is no plain confirmation",
    "failed_run": "decide this in Paperclip: it can't be approved from here",
    "decision": "decide this in Paperclip: it can't be approved from here",
    "join_request": "decide this in Paperclip: it can't be approved from here",
}
LEASES = ("environment.lease_acquired", "environment.lease_released")


def cents(money: Money | None) -> Decimal | None:
    """A sum in cents; that it is in dollars, and known to be, is checked."""
    if money is None:
        return None
    assert money.currency == "USD"
    assert not money.unit_assumed
    return money.amount * 100


def seconds(written: str | None) -> float | None:
    return None if written is None else datetime.fromisoformat(written).timestamp()


def by_id(records: Iterable[Record]) -> dict[str, Any]:
    records = tuple(records)
    found = {record.id: record for record in records}
    assert len(found) == len(records)
    return found


def same(records: Iterable[Record], rows: Iterable[Any], *pairs: Any, id_of: str = "id") -> None:
    """Each record is one of the rows, and each pair of functions brings the same of both."""
    found = by_id(records)
    wanted = {row[id_of]: row for row in rows}
    assert found.keys() == wanted.keys()
    for record_id, record in found.items():
        for of_record, of_row in pairs:
            assert of_record(record) == of_row(wanted[record_id]), (record_id, of_row)


def in_dollars(amount: int) -> str:
    """A sum in cents as it is shown: without the cents if there are none."""
    whole, cents_left = divmod(amount, 100)
    return f"${whole:,}" + (f".{cents_left:02d}" if cents_left else "")


def cause_in(row: Any) -> str | None:
    """Which cause a row reports: the issue that it is about, else the agent, else whose budget."""
    if "payload" in row:
        scope: str | None = row["payload"].get("scopeId")
        return scope
    subject, metadata = row["subject"], row["subject"]["metadata"]
    cause: str = subject["id"]
    match row["sourceKind"]:
        case "recovery_action":
            cause = metadata["sourceIssueId"]
        case "issue_thread_interaction":
            cause = metadata["issueId"]
        case "failed_run":
            cause = metadata["issueId"] or metadata["agentId"]
        case "decision":
            cause = metadata["originIssueId"]
    return cause


def ref(record: Any, name: str) -> str | None:
    value = getattr(record, name)
    return None if value is None else value.id


def company_of(record: Any) -> str | None:
    return ref(record, "company")


def agent_of(record: Any) -> str | None:
    return ref(record, "agent")


def needs() -> dict[str, tuple[str, Any, Callable[[Any], str | None], bool]]:
    """By id: the title that is due, its row, whose it is, and whether it can be approved."""
    found: dict[str, Any] = {}
    for row in companies_of("approvals"):
        payload = row["payload"]
        limit = payload.get("budgetMonthlyCents")
        limit_words = f"{in_dollars(limit)}/month" if limit else None
        hire = (f"Hire {payload.get('name')}", payload.get("title"), limit_words)
        titles = {
            "hire_agent": ", ".join(filter(None, hire)),
            "approve_ceo_strategy": f"Strategy: {payload.get('title')}",
            "budget_override_required": f"Raise the budget of {payload.get('scopeName')},"
            " or leave it stopped",
        }
        if row["status"] == "pending":
            title = titles.get(row["type"], payload.get("title"))
            is_approvable = row["type"] != "budget_override_required"
            found[row["id"]] = (title, row, lambda each: each["requestedByAgentId"], is_approvable)
    for row in companies_of("attention", "items"):
        subject, issue = row["subject"], row["relatedIssue"] or {}
        metadata = subject["metadata"]

        def of_issue(each: Any) -> str | None:
            related = each["relatedIssue"] or {"metadata": {"assigneeAgentId": None}}
            assignee: str | None = related["metadata"]["assigneeAgentId"]
            return assignee

        match row["sourceKind"]:
            case "review":
                title = f"Review {subject['identifier']}: {subject['title']}"
                found[subject["id"]] = (
                    title,
                    row,
                    lambda each: each["subject"]["metadata"]["assigneeAgentId"],
                    True,
                )
            case "issue_thread_interaction":
                is_confirmation = metadata["kind"] == "request_confirmation"
                detail = row["detail"]
                asked = "promptExcerpt" if is_confirmation else "firstQuestionText"
                title = f"Answer {issue['identifier']}: {detail.get(asked) or issue['title']}"
                found[subject["id"]] = (title, row, of_issue, is_confirmation)
            case "blocker_attention":
                title = f"Unblock {subject['identifier']}: {subject['title']}"
                found[row["id"]] = (title, row, of_issue, False)
            case "recovery_action":
                title = f"Recover {issue['identifier']}: {issue['title']}"
                found[row["id"]] = (title, row, of_issue, False)
            case "agent_error_alert":
                reason = metadata.get("errorReason")
                title = f"{subject['title']} failed" + (f": {reason}" if reason else "")
                found[row["id"]] = (title, row, of_issue, False)
            case "failed_run":
                title = f"{metadata['agentName']} failed: {metadata['error']}"
                if issue:
                    title = f"Retry {issue['identifier']}: {issue['title']}"
                found[row["id"]] = (title, row, of_issue, False)
            case "decision":
                found[row["id"]] = (f"Decide: {subject['title']}", row, of_issue, False)
            case "join_request":
                found[row["id"]] = (f"Let {subject['title']} join", row, of_issue, False)
    return found


async def check_reads(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    """Every list, each single record, and the trace of each sort of task."""
    companies = await platform.companies()
    same(
        companies.records,
        server.companies,
        (lambda r: r.name, lambda row: row["name"]),
        (lambda r: r.mission, lambda row: row["description"]),
        (lambda r: r.status, lambda row: row["status"]),
        (lambda r: r.created.at, lambda row: seconds(row["createdAt"])),
    )
    assert (await platform.company(GLOBEX)).name == "Globex Logistics"
    await check_agents(platform)
    await check_needs(platform)
    await check_all_tasks(platform, server)
    await check_activity(platform, server)
    await check_budgets(platform, server)
    await check_traces(platform)


async def check_agents(platform: DeclaredPlatform) -> None:
    agents = await platform.agents()
    assert agents.whole
    same(
        agents.records,
        companies_of("agents"),
        (lambda r: r.name, lambda row: row["name"]),
        (lambda r: r.role, lambda row: row["role"]),
        (lambda r: r.status, lambda row: row["status"]),
        (lambda r: r.pause_reason, lambda row: row["pauseReason"]),
        (lambda r: r.cause, lambda row: row["id"]),
        (lambda r: r.error_reason, lambda row: row["errorReason"]),
        (lambda r: ref(r, "reports_to"), lambda row: row["reportsTo"]),
        (company_of, lambda row: row["companyId"]),
    )
    assert {agent.error_reason for agent in agents.records} == {None, "Process exited with code 3"}
    assert {ref(agent, "reports_to") for agent in agents.records} == {None, CHIEF}
    states = {str(agent.status): agent.state for agent in agents.records}
    assert states["paused"] is AgentState.PAUSED
    assert states["pending_approval"] is AgentState.PENDING
    only_acme = await platform.agents(ACME)
    assert {company_of(agent) for agent in only_acme.records} == {ACME}
    first = agents.records[0]
    assert (await platform.agent(first.id)).name == first.name


MOST_BODIES_A_MINUTE = 2
"""How often a list may be asked for in a minute while nothing happens, if it never answers 304."""


async def check_needs(platform: DeclaredPlatform) -> None:
    listing = await platform.tasks(status="pending")
    assert listing.whole
    assert listing.unread == 0
    due = needs()
    found = by_id(listing.records)
    assert found.keys() == due.keys()
    for task_id, task in found.items():
        title, row, agent_in, is_approvable = due[task_id]
        assert task.title == title
        assert task.state is TaskState.PENDING
        assert agent_of(task) == agent_in(row)
        assert company_of(task) == row["companyId"]
        assert task.created.at == seconds(row["createdAt"])
        assert (task.unwritable is None) == is_approvable
        subject = row.get("subject", row)
        assert task.status == subject["status"]
        assert task.cause == cause_in(row)
        if row.get("sourceKind") == "issue_thread_interaction":
            assert task.description == row["relatedIssue"]["title"]
        elif "subject" in row:
            assert task.description == row["whyNow"]
        about = {"review": subject, "issue_thread_interaction": row.get("relatedIssue")}
        of = about.get(row.get("sourceKind"))
        if of is not None:
            assert task.priority == of["metadata"]["priority"]
        elif "severity" in row:
            assert task.priority == row["severity"]
        if task.unwritable is not None:
            assert task.unwritable == WHY_NOT[row.get("sourceKind", "approval")]
        assert (task.kind, task.key) == kind_and_key(row)
    assert {task.kind for task in listing.records} == KINDS
    of_attention = [each for each in platform.file.tasks.values() if "attention" in each.get]
    assert {60 / each.rests <= MOST_BODIES_A_MINUTE for each in of_attention} == {True}


KINDS = {
    *("hire_agent", "approve_ceo_strategy", "budget_override_required", "request_board_approval"),
    *("review", "request_confirmation", "ask_user_questions"),
    *("blocker_attention", "recovery_action", "agent_error_alert", "failed_run"),
    *("decision", "join_request"),
}


def kind_and_key(row: Any) -> tuple[str, str | None]:
    """The kind and the key of what waits, by its row."""
    subject = row.get("subject")
    if subject is None:
        return row["type"], None
    if row["sourceKind"] == "review":
        return "review", subject["identifier"]
    key = None if row["relatedIssue"] is None else row["relatedIssue"]["identifier"]
    if row["sourceKind"] == "issue_thread_interaction":
        return subject["metadata"]["kind"], key
    return row["sourceKind"], key


async def check_all_tasks(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    tasks = await platform.tasks()
    assert tasks.whole
    issues = companies_of("issues")
    same(
        [task for task in tasks.records if task.id in {row["id"] for row in issues}],
        issues,
        (lambda r: r.title, lambda row: row["title"]),
        (lambda r: r.key, lambda row: row["identifier"]),
        (lambda r: r.kind, lambda row: row["originKind"]),
        (lambda r: r.status, lambda row: row["status"]),
        (lambda r: r.priority, lambda row: row["priority"]),
        (agent_of, lambda row: row["assigneeAgentId"]),
        (company_of, lambda row: row["companyId"]),
        (lambda r: r.unwritable, lambda row: None),
    )
    runs = companies_of("live-runs")
    same(
        [task for task in tasks.records if task.id in {row["id"] for row in runs}],
        runs,
        (lambda r: r.title, lambda row: f"Run of {row['agentName']}, by {row['invocationSource']}"),
        (lambda r: r.status, lambda row: row["status"]),
        (lambda r: r.description, lambda row: row["currentStatusMessage"]),
        (lambda r: r.updated and r.updated.at, lambda row: seconds(row["lastOutputAt"])),
        (agent_of, lambda row: row["agentId"]),
        (company_of, lambda row: row["companyId"]),
    )
    # A run that goes on working is no other run.
    for field, value in MOVED.items():
        server.moved = {field: value}
        now = by_id((await platform.tasks(ACME)).records)
        for run in runs:
            before = next(task for task in tasks.records if task.id == run["id"])
            assert now[run["id"]].content == before.content, field
    server.moved = {}
    rows = [*issues, *runs, *companies_of("approvals")]
    assert {task.id for task in tasks.records} == {row["id"] for row in rows}
    states = {row["status"]: {t.state for t in tasks.records if t.id == row["id"]} for row in rows}
    assert states == {
        "pending": {TaskState.PENDING},
        "approved": {TaskState.APPROVED},
        "rejected": {TaskState.REJECTED},
        "revision_requested": {TaskState.OTHER},
        "in_review": {TaskState.OTHER},
        "blocked": {TaskState.OTHER},
        "backlog": {TaskState.QUEUED},
        "done": {TaskState.DONE},
        "cancelled": {TaskState.CANCELLED},
        "running": {TaskState.RUNNING},
    }
    done = await platform.tasks(status="done")
    assert {task.id for task in done.records} == {r["id"] for r in rows if r["status"] == "done"}


async def check_activity(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    wanted = [entry for entry in logged() if entry["action"] not in LEASES]
    log = await platform.activity()
    assert log.whole
    same(
        log.records,
        wanted,
        (lambda r: r.verb, lambda row: row["action"]),
        (lambda r: r.at.at, lambda row: seconds(row["createdAt"])),
        (company_of, lambda row: row["companyId"]),
    )
    newest = await platform.activity(limit=3)
    assert [entry.id for entry in newest.records][:3] == [entry["id"] for entry in wanted[:3]]
    await platform.activity(limit=500)
    asked = [seen.query for seen in server.requests if seen.path.endswith("/agent-actions")]
    assert asked[-1]["limit"] == "200"
    about_issue = by_id(log.records)["about-an-issue"]
    assert about_issue.task.name == "The title of the issue"
    days = sorted({entry["createdAt"][:10] for entry in wanted})
    for day in (date.fromisoformat(days[0]), date.fromisoformat(days[0]) + timedelta(1)):
        for first, last in ((day, None), (None, day)):
            some = await platform.activity(from_date=first, to_date=last)
            expected = {
                entry["id"]
                for entry in wanted
                if (first is None or first.isoformat() <= entry["createdAt"][:10])
                and (last is None or entry["createdAt"][:10] <= last.isoformat())
            }
            assert {entry.id for entry in some.records} == expected
    agent = next(entry["agentId"] for entry in wanted if entry["agentId"])
    of_agent = await platform.activity(agent_id=agent)
    expected = {entry["id"] for entry in wanted if entry["agentId"] == agent}
    assert {entry.id for entry in of_agent.records} == expected


async def check_budgets(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    policies = [row for row in companies_of("budgets/overview", "policies") if row["isActive"]]
    figures = [
        (lambda r: cents(r.limit), lambda row: row["amount"]),
        (lambda r: cents(r.spent), lambda row: row["observedAmount"]),
        (lambda r: cents(r.remaining), lambda row: row["remainingAmount"]),
        (lambda r: r.name, lambda row: row["scopeName"]),
        (lambda r: r.status, lambda row: row["status"]),
        (lambda r: r.paused, lambda row: row["paused"]),
        (lambda r: r.warn_at * 100, lambda row: row["warnPercent"]),
        (lambda r: r.resets.at, lambda row: seconds(row["windowEnd"])),
        (lambda r: r.cause, lambda row: row["scopeId"]),
    ]
    for read, scope in (
        (platform.company_budgets, "company"),
        (platform.agent_budgets, "agent"),
    ):
        listing = await read()
        assert listing.whole
        rows = [row for row in policies if row["scopeType"] == scope]
        same(listing.records, rows, *figures, id_of="scopeId")
    alerts = await platform.budget_alerts()
    same(
        alerts.records,
        companies_of("budgets/overview", "activeIncidents"),
        (lambda r: cents(r.limit), lambda row: row["amountLimit"]),
        (lambda r: cents(r.spent), lambda row: row["amountObserved"]),
        (lambda r: r.open, lambda row: row["resolvedAt"] is None),
        (lambda r: r.text, spent_in_words),
        (lambda r: r.cause, lambda row: row["scopeId"]),
        (company_of, lambda row: row["companyId"]),
    )
    whole = (await platform.budget()).whole
    assert cents(whole.spent) == sum(row["spentMonthlyCents"] for row in server.companies)
    assert cents(whole.limit) == sum(row["budgetMonthlyCents"] for row in server.companies)
    await check_unlimited(platform, server)


async def check_unlimited(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    """A company without a limit has a budget, too: what it spends."""
    row = next(each for each in body_of("companies") if each["id"] == UMBRELLA)
    row = {**row, "spentMonthlyCents": 4500}
    server.companies.append(row)
    listing = await platform.for_decisions().company_budgets()
    server.companies.remove(row)
    budget = by_id(listing.records)[UMBRELLA]
    assert budget.unlimited
    assert cents(budget.spent) == 4500
    assert budget.name == row["name"]
    assert budget.cause == UMBRELLA


def spent_in_words(incident: Any) -> str:
    spent, limit = (incident[name] / 100 for name in ("amountObserved", "amountLimit"))
    return f"{incident['scopeName']} has spent ${spent:.2f} of ${limit:.0f}"


async def check_traces(platform: DeclaredPlatform) -> None:
    """The steps of every answer about the task, in one line of time."""
    steps = {
        *(row["id"] for row in body_of("issue-comments")),
        *(row["id"] for row in body_of("issue-activity")),
        *(row["runId"] for row in body_of("issue-runs")),
    }
    of_all_sorts = ("asks", "blocker_attention:", "recovery_action:", REVIEW, ISSUE, QUESTION)
    known = by_id((await platform.tasks(status="pending")).records).keys()
    sorts = [next((each for each in known if each.startswith(sort)), sort) for sort in of_all_sorts]
    for task_id in sorts:
        trace = await platform.task_trace(task_id)
        assert {step.id for step in trace.steps} == steps
        times = [step.at.at for step in trace.steps if step.at is not None]
        assert times == sorted(times)
        words = {step.id: (step.kind, step.name) for step in trace.steps}
        for row in body_of("issue-comments"):
            assert words[row["id"]] == ("comment", row["authorType"])
        for row in body_of("issue-runs"):
            assert words[row["runId"]] == ("run", row["invocationSource"])
        for row in body_of("issue-activity"):
            assert words[row["id"]][0] == "log"
    run = companies_of("live-runs")[0]["id"]
    trace = await platform.task_trace(run)
    events = {str(row["id"]) for row in body_of("run-events")}
    assert events <= {step.id for step in trace.steps}
    # The log comes in several answers, which end within a line; its last line was cut.
    *lines, _ = body_of("heartbeat-run-log")["content"].splitlines()
    printed = [step for step in trace.steps if step.kind == "stdout"]
    assert [step.text for step in printed] == [json.loads(line)["chunk"] for line in lines]
    times = [step.at.at for step in printed if step.at is not None]
    assert times == [seconds(json.loads(line)["ts"]) for line in lines]
    kinds = {step.kind for step in trace.steps} - {"stdout"}
    assert kinds == {"lifecycle", "adapter.invoke", None}
    approval = body_of("approval-comments")[0]["approvalId"]
    trace = await platform.task_trace(approval)
    assert [step.id for step in trace.steps] == [row["id"] for row in body_of("approval-comments")]
    assert {step.kind for step in trace.steps} == {"comment"}


async def check_news(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    """Only what lists show counts of what the server told, and nothing of what a run printed."""
    told = body_of("live-events-ws")
    counting = ("activity.logged", "agent.status")
    expected = [message for message in told if message["type"] in counting]
    assert len(expected) == 4 < len(told)
    with pytest.raises(errors.NotAllowed):
        await anext(platform.news_of(ACME))  # it has the key of a board
    base = BaseUrl.parse(server.base)
    async with open_platform(platform.file, base, ApiKey(AGENT_KEY)) as of_agent:
        news = of_agent.news_of(ACME)
        await anext(news)  # it is open
        server.news.tell(ACME, *told)
        server.news.close()
        for _ in expected:
            await anext(news)
        with pytest.raises(errors.Broken, match="closed the web socket"):
            await anext(news)
    last = server.requests[-1]
    assert last.path == f"/api/companies/{ACME}/events/ws"
    assert last.authorization == f"Bearer {AGENT_KEY}"


async def check_writes(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    """Each write arrives as the server wants it, and its answer says that it was done."""
    listed = by_id((await platform.tasks(status="pending")).records)
    approval = next(row["id"] for row in body_of("approvals") if row["status"] == "pending")
    for task_id in (approval, REVIEW, QUESTION):
        receipt = await platform.approve_task(task_id)
        assert receipt.verdict is Verdict.YES, receipt
        # The server ranks what still waits anew: that is no change of it.
        for task in (await platform.tasks(status="pending")).records:
            assert task.content == listed[task.id].content
            assert b'"rank"' not in task.extra
    assert server.decided == {approval: "approved", REVIEW: "done", QUESTION: "accepted"}
    assert [(seen.line, seen.body) for seen in server.requests if seen.method != "GET"] == [
        (f"POST /api/approvals/{approval}/approve", {}),
        (f"PATCH /api/issues/{REVIEW}", {"status": "done"}),
        (f"POST /api/issues/{ISSUE}/interactions/{QUESTION}/accept", {}),
    ]
    waiting = by_id((await platform.tasks(status="pending")).records)
    assert waiting.keys().isdisjoint(server.decided)
    every = by_id((await platform.tasks()).records)
    assert every[approval].state is TaskState.APPROVED
    assert every[REVIEW].state is TaskState.DONE
    # An answer that says something else is no yes, whatever the status of HTTP.
    other = next(r["id"] for r in body_of("approvals-acme") if r["status"] == "pending")
    server.answers_with = "pending"
    receipt = await platform.approve_task(other)
    assert receipt.verdict is Verdict.NO
    server.answers_with = None
    await check_creations(platform, server)
    await check_limits(platform, server)


async def check_creations(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    warnings = {"create_task": "its agent starts to work on it at once"}
    assert platform.capabilities.warnings == warnings
    company = await platform.create_company("New", mission="Try")
    assert company.record is not None
    assert company.record.mission == "Try"
    assert server.requests[-1].body == {"name": "New", "description": "Try"}
    agent = body_of("agents-globex")[0]["id"]
    task = await platform.create_task(GLOBEX, "Look at it", agent, "high")
    assert task.record is not None
    assert (task.record.title, agent_of(task.record)) == ("Look at it", agent)
    assert server.requests[-1].line == f"POST /api/companies/{GLOBEX}/issues"
    body = {"title": "Look at it", "assigneeAgentId": agent, "priority": "high"}
    assert server.requests[-1].body == body


async def check_limits(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    agent = body_of("agents-globex")[0]["id"]
    for amount, sent in ((Decimal("200.5"), 20050), (200, 20000), (Decimal("0.01"), 1)):
        receipt = await platform.set_agent_limit(agent, amount)
        assert receipt.verdict is Verdict.YES
        assert receipt.record is not None
        assert cents(receipt.record.limit) == sent
        assert server.requests[-1].line == f"PATCH /api/agents/{agent}/budgets"
        assert server.requests[-1].body == {"budgetMonthlyCents": sent}
        assert type(server.requests[-1].body["budgetMonthlyCents"]) is int
    before = len(server.requests)
    with pytest.raises(errors.NotSent, match="whole cents"):
        await platform.set_agent_limit(agent, Decimal("200.555"))
    assert len(server.requests) == before


async def check_roles(platform: DeclaredPlatform, server: RecordedPaperclip) -> None:
    """Only a user whose every role is that of a viewer, and who is no administrator, is limited."""
    key_in_use = platform.transport.key.key
    assert await platform.why_read_only() is None
    for key, answer in OTHER_USERS.items():
        platform.transport.key.replace(ApiKey(key))
        why = "your role there is viewer: it may not change anything"
        told = await platform.why_read_only()
        assert told == (why if answer == "cli-auth-me-viewer" else None), answer
        assert server.requests[-1].line == "GET /api/cli-auth/me"
    platform.transport.key.replace(key_in_use)
