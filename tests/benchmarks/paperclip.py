"""Compares `agentco-tui get` of every kind with a live Paperclip's own answers.

python -m tests.benchmarks.paperclip [http://127.0.0.1:3100]

The server must be one that needs no key (`deploymentMode` local_trusted). Everything is read twice,
before and after the program: a value counts as different only if it is neither the one nor the
other, as agents go on working meanwhile. The last line has the counts; the exit code is 1 if
anything differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

Rows = dict[str, dict[str, Any]]
"""By id: the values of a record by their names."""


def answer(base: str, path: str) -> Any:
    with urlopen(f"{base}/api{path}", timeout=30) as reply:
        return json.loads(reply.read())


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
    found["budget"]["all"] = {
        "spent": dollars(sum(row["spentMonthlyCents"] for row in companies)),
        "limit": dollars(sum(row["budgetMonthlyCents"] for row in companies)),
    }
    for company in companies:
        for kind, rows in answers_of(base, company["id"]).items():
            found[kind].update(rows)
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
        own = item["sourceKind"] in {"review", "issue_thread_interaction"}
        tasks[subject["id"] if own else item["id"]] = {
            "status": subject["status"],
            "description": item["whyNow"],
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
            "limit": dollars(row["amount"]),
            "spent": dollars(row["observedAmount"]),
            "remaining": dollars(row["remainingAmount"]),
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


def printed(config: Path, *words: str) -> Rows:
    """What the program prints, by id."""
    command = [sys.executable, "-m", "agentco_tui", "get", *words, "--json"]
    command += ["--config", str(config), "--profile", "paperclip"]
    output = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout
    return {row["id"]: {name: plain(value) for name, value in row.items()} for row in
            json.loads(output)}  # fmt: skip


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
            f'history = false\n[profiles.paperclip]\nbase_url = "{base}"\nplatform = "paperclip"\n',
            encoding="utf-8",
        )
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
    for text in found:
        say(text)
    values = sum(len(row) for kind in ours for row in before[kind].values())
    records = ", ".join(f"{len(rows)} {kind}" for kind, rows in ours.items())
    say(f"{records}: {values} values compared, {len(found)} different")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main((sys.argv[1:2] or ["http://127.0.0.1:3100"])[0]))
