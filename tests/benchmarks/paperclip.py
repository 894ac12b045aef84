"""Compares `get`, what `status` finds, and all screens with a live Paperclip's own answers.

python -m tests.benchmarks.paperclip [http://127.0.0.1:3100]

The server must be one that needs no key (`deploymentMode` local_trusted). Everything is read twice,
before and after the program: a value counts as different only if it is neither the one nor the
other, as agents go on working meanwhile.

What needs a person is compared with the findings of `status --json`, which are the lines of the
Overview: each item of the server's own attention must be in one finding, and so must each of its
causes. A task is a finding as soon as it waits (`waiting_warning`). A line for each sort of item
says how many there are, and how many of them are shown by another one of their cause.

Then every cell of every screen is compared (`paperclip_screens`). The last lines have the counts;
the exit code is 1 if anything differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks import paperclip_screens
from tests.benchmarks.paperclip_world import answer

Rows = dict[str, dict[str, Any]]
"""By id: the values of a record by their names."""


def dollars(cents: int | None) -> str | None:
    return None if cents is None else f"{Decimal(cents) / 100:.2f}"


def own_answers(base: str) -> dict[str, Rows]:
    """What the server itself says, by kind."""
    companies = answer(base, "/companies")
    found: dict[str, Rows] = {
        "companies": {
            row["id"]: {"name": row["name"], "status": row["status"], "mission": row["description"]}
            for row in companies
        }
    }
    for kind in ("agents", "tasks", "all tasks", "budget", "alerts", "activity"):
        found[kind] = {}
    limits = [row["budgetMonthlyCents"] for row in companies]
    found["budget"]["all"] = {
        "spent": dollars(sum(row["spentMonthlyCents"] for row in companies)),
        # 0 is no limit, and then all together have none.
        "limit": dollars(sum(limits)) if all(limits) else None,
    }
    for company in companies:
        for kind, rows in answers_of(base, company["id"]).items():
            found[kind].update(rows)
        if not company["budgetMonthlyCents"]:
            spent = dollars(company["spentMonthlyCents"])
            unlimited = {"name": company["name"], "limit": None, "spent": spent}
            found["budget"][company["id"]] = unlimited
    return found


def answers_of(base: str, company: str) -> dict[str, Rows]:
    def read(path: str) -> Any:
        return answer(base, f"/companies/{company}/{path}")

    agents = {
        row["id"]: {"name": row["name"], "role": row["role"], "status": row["status"],
                    "pause_reason": row["pauseReason"]}
        for row in read("agents")
    }  # fmt: skip
    approvals = read("approvals")
    tasks = {
        row["id"]: {"status": row["status"], "agent": row["requestedByAgentId"]}
        for row in approvals
        if row["status"] == "pending"
    }
    for item in read("attention?limit=100")["items"]:
        if item["sourceKind"] in {"approval", "budget_alert"}:
            continue
        subject = item["subject"]
        asks = item["sourceKind"] == "issue_thread_interaction"
        own = asks or item["sourceKind"] == "review"
        tasks[subject["id"] if own else item["id"]] = {
            "status": subject["status"],
            "description": item["relatedIssue"]["title"] if asks else item["whyNow"],
        }
    every = {row["id"]: {"status": row["status"]} for row in approvals}
    for row in read("issues?limit=1000"):
        every[row["id"]] = {
            "title": row["title"],
            "status": row["status"],
            "priority": row["priority"],
            "agent": row["assigneeAgentId"],
        }
    overview = read("budgets/overview")
    budget = {
        row["scopeId"]: {
            "name": row["scopeName"],
            "limit": dollars(row["amount"] or None),
            "spent": dollars(row["observedAmount"]),
            "remaining": dollars(row["remainingAmount"] if row["amount"] else None),
            "status": row["status"],
        }
        for row in overview["policies"]
        if row["scopeType"] in {"company", "agent"}
    }
    alerts = {
        row["id"]: {
            "limit": dollars(row["amountLimit"]),
            "spent": dollars(row["amountObserved"]),
            "status": row["status"],
        }
        for row in overview["activeIncidents"]
    }
    activity: Rows = {}
    cursor = ""
    while True:
        page = read(f"audit/agent-actions?actorScope=all&limit=200{cursor}")
        for row in page["items"]:
            if not row["action"].startswith("environment.lease_"):
                # An entry about an agent names it as what was changed.
                changed = row["entityId"] if row["entityType"] == "agent" else None
                agent = row["agentId"] or changed
                activity[row["id"]] = {"verb": row["action"], "agent": agent}
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    return {
        "agents": agents, "tasks": tasks, "all tasks": every, "budget": budget,
        "alerts": alerts, "activity": activity,
    }  # fmt: skip


def output_of(config: Path, *words: str) -> Any:
    """What a command prints as JSON."""
    command = [sys.executable, "-m", "agentco_tui", *words, "--json"]
    command += ["--config", str(config), "--profile", "paperclip"]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=120)
    return json.loads(ran.stdout)


def printed(config: Path, *words: str) -> Rows:
    """What the program prints, by id."""
    return {row["id"]: {name: plain(value) for name, value in row.items()} for row in
            output_of(config, "get", *words)}  # fmt: skip


class Item(NamedTuple):
    """A thing that needs a person, as the server's attention has it."""

    sort: str
    cause: tuple[str, str]
    """The ids of the company, and of the issue, agent or budget that it is about."""
    ids: frozenset[str]
    """Under which of our records it can be found."""
    title: str


def attention(base: str) -> dict[str, Item]:
    """All items of the attention of all companies, by id."""
    found: dict[str, Item] = {}
    for company in answer(base, "/companies"):
        approvals = {
            row["id"]: row["payload"]
            for row in answer(base, f"/companies/{company['id']}/approvals")
        }
        cursor = ""
        while cursor is not None:
            page = answer(base, f"/companies/{company['id']}/attention?limit=100{cursor}")
            for row in page["items"]:
                about = what_it_is_about(row, approvals)
                own = {row["id"], row["subject"]["id"]}
                if row["sourceKind"] == "budget_alert":
                    own.add(about)  # it is a part of the finding about the agent or the company
                cause = (company["id"], about)
                title = row["subject"]["title"]
                found[row["id"]] = Item(row["sourceKind"], cause, frozenset(own), title)
            cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
    return found


def what_it_is_about(row: Any, approvals: dict[str, Any]) -> str:
    """The id of the issue, agent or budget's owner that an item is about, else its own."""
    subject = row["subject"]
    metadata = subject["metadata"]
    payload = approvals.get(subject["id"], {})
    of_issue = metadata.get("sourceIssueId") or metadata.get("issueId")
    if row["sourceKind"] == "approval":
        of_issue = None  # an issue may have several requests, each a decision of its own
    found: str = (
        of_issue
        or metadata.get("originIssueId")
        or metadata.get("scopeId")
        or payload.get("scopeId")
        or subject["id"]
    )
    return found


def mistakes_in_needs(findings: list[Any], items: dict[str, Item]) -> Iterator[str]:
    """The items and causes that are in no finding or in several."""
    lines = [ids_of(finding) for finding in findings]
    lines_by_cause: dict[tuple[str, str], set[int]] = {}
    for item_id, item in items.items():
        own = {number for number, ids in enumerate(lines) if ids & item.ids}
        lines_by_cause.setdefault(item.cause, set()).update(own)
        if len(own) != 1:
            yield f"needs: {item.sort} {item_id} ({item.title}) is in {len(own)} findings"
    for cause, own in lines_by_cause.items():
        if len(own) > 1:
            texts = "; ".join(findings[number]["text"] for number in sorted(own))
            yield f"needs: one cause, {cause[1]}, is in {len(own)} findings: {texts}"


def ids_of(finding: Any) -> set[str]:
    return {str(finding["id"]), *(other["id"] for other in finding.get("also", ()))}


def counts_of_needs(findings: list[Any], items: dict[str, Item]) -> Iterator[str]:
    """For each sort of item, how many there are, and how many are shown by another one."""
    first = {str(finding["id"]) for finding in findings}
    sorts = Counter(item.sort for item in items.values())
    behind = Counter(item.sort for item in items.values() if not item.ids & first)
    for sort, number in sorted(sorts.items()):
        yield f"{sort}: {number}, of these {behind[sort]} shown by another of their cause"


def plain(value: Any) -> Any:
    """A value as the server has it: the amount of a sum, the id of a reference."""
    if isinstance(value, dict) and "amount" in value:
        return f"{Decimal(str(value['amount'])):.2f}"
    if isinstance(value, dict) and "id" in value:
        return value["id"]
    return value


def differences(kind: str, ours: Rows, before: Rows, after: Rows) -> Iterator[str]:
    lost = (before.keys() & after.keys()) - ours.keys()
    made_up = ours.keys() - before.keys() - after.keys()
    yield from (f"{kind}: {each} is missing" for each in sorted(lost))
    yield from (f"{kind}: {each} is not the server's" for each in sorted(made_up))
    for record_id in ours.keys() & (before.keys() | after.keys()):
        known = [rows[record_id] for rows in (before, after) if record_id in rows]
        for name in known[0]:
            values = [row[name] for row in known]
            if ours[record_id].get(name) not in values:
                yield f"{kind}: {record_id}.{name} is {ours[record_id].get(name)}, not {values[0]}"


def main(base: str, say: Callable[[str], object] = print) -> int:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(
            'history = false\n[alerts]\nwaiting_warning = "1s"\n'
            f'[profiles.paperclip]\nbase_url = "{base}"\nplatform = "paperclip"\n',
            encoding="utf-8",
        )
        items = attention(base)
        findings = output_of(config, "status")["findings"]
        items_after = attention(base)
        before = own_answers(base)
        ours = {
            "companies": printed(config, "companies"),
            "agents": printed(config, "agents"),
            "tasks": printed(config, "tasks"),
            "all tasks": printed(config, "tasks", "--status", "all"),
            "budget": printed(config, "budget"),
            "alerts": printed(config, "alerts"),
            "activity": printed(config, "activity", "--limit", "5000"),
        }
        after = own_answers(base)
    found = [
        text for kind in ours for text in differences(kind, ours[kind], before[kind], after[kind])
    ]
    items = {item_id: item for item_id, item in items.items() if item_id in items_after}
    found += mistakes_in_needs(findings, items)
    for text in (*found, *counts_of_needs(findings, items)):
        say(text)
    causes = len({item.cause for item in items.values()})
    say(f"{len(items)} items of the attention, {causes} causes, {len(findings)} findings")
    values = sum(len(row) for kind in ours for row in before[kind].values())
    records = ", ".join(f"{len(rows)} {kind}" for kind, rows in ours.items())
    say(f"{records}: {values} values compared, {len(found)} different")
    return 1 if paperclip_screens.main(base, say=say) or found else 0


if __name__ == "__main__":
    sys.exit(main((sys.argv[1:2] or ["http://127.0.0.1:3100"])[0]))
