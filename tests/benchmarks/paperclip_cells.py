"""Which cells the lists of the screens must have, by what a live Paperclip's answers mean.

For each list there is a table of its columns, and a function that returns the rows that it must
have. What follows from no answer is `is_compared=False`: gauges, trends, and the program's own
judgement of what follows if a need is ignored. The sign of the level, which has no title, is no
cell here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.benchmarks.cell_checks import (
    CUT,
    MISSING,
    Cells,
    Check,
    Clock,
    Matching,
    Names,
    OneOf,
    Repeats,
    Rows,
    Share,
    Since,
    Title,
    Word,
    Words,
    cents,
    dollars,
    number,
)
from tests.benchmarks.paperclip_world import (
    Company,
    World,
    seconds,
    title_of_request,
    waiting_in,
)
from tests.benchmarks.shown_lists import Column, ShownRow

URGENT = ("critical", "urgent", "high")
"""Priorities that are shown as the reason why a task is listed."""
FOLDED = 600.0
"""Seconds within which entries of the log that are alike are one line."""

COMPANIES = (
    Column("COMPANY"), Column("STATUS"), Column("AGENTS", is_right=True),
    Column("WAITING", is_right=True), Column("SPENT", is_right=True), Column("USED"),
    Column("24 H", is_compared=False), Column("MISSION"),
)  # fmt: skip


def companies(world: World) -> Rows:
    waiting = list(waiting_in(world))
    rows: dict[str, list[Cells]] = {}
    for company in world.companies:
        row = company.row
        status = company.idleness or row["status"]
        causes = {each.cause for each in waiting if each.company is company}
        rows[company.id] = [
            {
                "COMPANY": Words(company.name),
                "STATUS": OneOf((Word(status), Word(f"{status} (budget)"))),
                "AGENTS": number(len(company.agents)),
                "WAITING": number(len(causes)),
                "SPENT": cents(row["spentMonthlyCents"]),
                "USED": Share(row["spentMonthlyCents"], row["budgetMonthlyCents"], "no limit"),
                "MISSION": Words(row["description"]),
            }
        ]
    return rows


AGENTS = (
    Column("AGENT"), Column("ROLE"), Column("COMPANY"), Column("STATUS", indent=2),
    Column("TRUST", is_right=True), Column("USED", is_compared=False),
    Column("LEFT", is_right=True), Column("DONE", is_right=True),
    Column("24 H", is_compared=False),
)  # fmt: skip


def agents(world: World) -> Rows:
    rows: dict[str, list[Cells]] = {}
    for company in world.companies:
        for row in company.agents:
            limit = row["budgetMonthlyCents"]
            left = limit - row["spentMonthlyCents"] if limit else None
            rows[row["id"]] = [
                {
                    "AGENT": Words(row["name"]),
                    "ROLE": Words(row["role"]),
                    "COMPANY": Words(company.name),
                    "STATUS": status_of_agent(company, row),
                    "TRUST": Words(MISSING),
                    "LEFT": OneOf((cents(left), cents(left, "no limit"))),
                    "DONE": Words(MISSING),
                }
            ]
    return rows


def status_of_agent(company: Company, row: Any) -> Check:
    """Its status with the reason; where its company does not work, that or both."""
    status = row["status"]
    reason = row["errorReason"] if status == "error" else row["pauseReason"]
    own = Word(f"{status} ({reason})" if reason else status)
    idle = company.idleness
    if idle is None:
        return own
    whole = f"{status}, {company.name} is {idle}"
    return OneOf((own, Word(whole), Word(f"company {idle}"), Word(f"co. {idle}")))


PENDING = (
    Column("WAITS", is_right=True), Column("STATUS", indent=2), Column("PRIORITY", indent=2),
    Column("TASK"), Column("AGENT"), Column("COMPANY"), Column("TRUST", is_right=True),
)  # fmt: skip


def pending(world: World) -> Rows:
    return {
        each.id: [
            {
                "WAITS": Since(each.since),
                "PRIORITY": Word(each.priority),
                "TASK": Title(each.keyed_title),
                "AGENT": Words(world.agent(each.agent)),
                "COMPANY": Words(each.company.name),
                "TRUST": Words(MISSING),
            }
        ]
        for each in waiting_in(world)
    }


ALL_TASKS = (Column("AGE", is_right=True), *PENDING[1:])


def all_tasks(world: World) -> Rows:
    rows: dict[str, list[Cells]] = {}

    def add(company: Company, row: Any, title: str, agent: str | None) -> None:
        rows[row["id"]] = [
            {
                "AGE": Since(seconds(row["createdAt"])),
                "STATUS": Word(row["status"]),
                "PRIORITY": Word(row.get("priority")),
                "TASK": Title(title),
                "AGENT": Words(world.agent(agent)),
                "COMPANY": Words(company.name),
                "TRUST": Words(MISSING),
            }
        ]

    for company in world.companies:
        for row in company.approvals:
            add(company, row, title_of_request(row), row["requestedByAgentId"])
        for row in company.issues:
            add(company, row, f"{row['identifier']} {row['title']}", row["assigneeAgentId"])
        for row in company.runs:
            title = f"Run of {row['agentName']}, by {row['invocationSource']}"
            add(company, row, title, row["agentId"])
    return rows


def statuses(world: World) -> Iterator[str]:
    """The status of each of all tasks."""
    for company in world.companies:
        for row in (*company.approvals, *company.issues, *company.runs):
            yield row["status"]


BUDGET = (
    Column("BUDGET OF"), Column("USED"), Column("SPENT", is_right=True),
    Column("LIMIT", is_right=True), Column("LEFT", is_right=True),
    Column("24 H", is_compared=False),
)  # fmt: skip


def budget(world: World) -> Rows:
    limits = [each.row["budgetMonthlyCents"] for each in world.companies]
    sums = [each.row["spentMonthlyCents"] for each in world.companies]
    # 0 is no limit, and then all together have none.
    limit = sum(limits) if all(limits) else 0
    rows: dict[str, list[Cells]] = {"all": [budget_cells("all", sum(sums), limit, None)]}
    for company in world.companies:
        if not company.row["budgetMonthlyCents"]:
            spent = company.row["spentMonthlyCents"]
            rows[company.id] = [budget_cells(company.name, spent, 0, None)]
        for policy in company.policies:
            left = policy["remainingAmount"] if policy["amount"] else None
            figures = policy["observedAmount"], policy["amount"], left
            rows[policy["scopeId"]] = [budget_cells(policy["scopeName"], *figures)]
    return rows


def budget_cells(name: str, spent: int, limit: int, left: int | None) -> Cells:
    return {
        "BUDGET OF": Words(name),
        "USED": OneOf((Share(spent, limit), Share(spent, limit, ""))),
        "SPENT": cents(spent),
        "LIMIT": OneOf((cents(limit or None), cents(limit or None, "no limit"))),
        "LEFT": OneOf((cents(left), cents(left, ""))),
    }


ALERTS = (Column("AGE", is_right=True), Column("ABOUT"), Column("ALERT"))


def alerts(world: World) -> Rows:
    return {
        row["id"]: [
            {
                "AGE": Since(seconds(row["createdAt"])),
                "ABOUT": Words(row["scopeName"] if is_of_owner(row) else company.name),
                "ALERT": Words(words_of_incident(row)),
            }
        ]
        for company in world.companies
        for row in company.incidents
    }


def is_of_owner(row: Any) -> bool:
    """Whether an incident is an agent's or a company's, and not a project's."""
    return row["scopeType"] in {"agent", "company"}


def words_of_incident(row: Any) -> str:
    """Whose budget it is, which threshold was crossed, and the figures."""
    percent = round(row["amountObserved"] * 100 / row["amountLimit"])
    sums = f"{dollars(row['amountObserved'])} of {dollars(row['amountLimit'])}"
    return f"{row['scopeName']}: {row['thresholdType']}: {percent:,} % of the budget used ({sums})"


ACTIVITY = (Column("TIME UTC"), Column("WHO"), Column("WHAT HAPPENED"), Column("COMPANY"))


class Doing(NamedTuple):
    """What an entry of the log says was done: the words of the action in any order, then of what.

    `sort`: words for the sort of thing, which may be among those of the action. `thing`: its names
    and its id, and who did it.
    """

    action: frozenset[str]
    sort: frozenset[str]
    thing: frozenset[str]

    def agrees(self, shown: str, at: float) -> bool:
        text = re.sub(r"^×\d+ | ×\d+( in \d+ m)?$", "", shown)
        begin, cut, end = re.sub(r"[“”]", "", text).partition(CUT)
        words = begin.split()
        known = self.action | self.sort | self.thing
        if cut and words and not begin.endswith(" "):
            last = words.pop()
            if not any(word.startswith(last) for word in known):
                return False
        names_thing = bool(set(words) - self.action - self.sort - {"of"})
        is_action_there = self.action <= set(words) or (bool(cut) and not names_thing)
        return is_action_there and known >= {*words, *end.split()}

    def __str__(self) -> str:
        return f"{'.'.join(sorted(self.action))} of {' '.join(sorted(self.sort | self.thing))}"


def activity(world: World) -> Rows:
    names = names_of_things(world)
    return {
        row["id"]: [
            {
                "TIME UTC": Clock(seconds(row["createdAt"]) or 0.0),
                "WHO": who_did(world, row),
                "WHAT HAPPENED": what_was_done(row, names),
                "COMPANY": Words(company.name),
            }
        ]
        for company in world.companies
        for row in company.entries
    }


def entries_before_the_log(world: World) -> Iterator[str]:
    """What happened before the log of a company that has more than one answer brings.

    Which of it is known depends on how long a dashboard has been running.
    """
    ends = max(company.log_ends for company in world.companies)
    for company in world.companies:
        for row in company.entries:
            if (seconds(row["createdAt"]) or 0.0) < ends:
                yield row["id"]


def is_gap(row: ShownRow) -> bool:
    """Whether a row is no entry of the log, and says that some may be missing there."""
    return row.cells["WHAT HAPPENED"].startswith("entries may be missing")


def names_of_things(world: World) -> dict[str, str]:
    """By id, what a record is called."""
    names = dict(world.agent_names)
    for company in world.companies:
        names[company.row["id"]] = company.name
        for row in company.approvals:
            names[row["id"]] = title_of_request(row)
        for row in company.issues:
            names[row["id"]] = f"{row['identifier']} {row['title']}"
    return names


def who_did(world: World, row: Any) -> Check:
    if row["actorType"] == "agent":
        return Words(world.agent(row["actorId"]))
    return Words(row["actorType"])


def what_was_done(row: Any, names: dict[str, str]) -> Doing:
    issue = row["entity"]["issue"] or {"identifier": "", "title": ""}
    name = names.get(row["entityId"], "")
    thing = (
        f"of {issue['identifier']} {issue['title']} {name} {row['entityId']} by {row['actorId']}"
    )
    action = re.split(r"[._]", row["action"])
    sort = row["entityType"].split("_")
    return Doing(frozenset(action), frozenset(sort), frozenset(thing.split()))


def repeated_entries(world: World) -> Repeats:
    """Entries of one action and one actor within ten minutes, which are one line."""
    entries = {row["id"]: row for company in world.companies for row in company.entries}

    def count(row: ShownRow) -> int:
        what = row.cells["WHAT HAPPENED"]
        match = re.search(r"^×([\d,]+) | ×([\d,]+)(?: in \d+ m)?$", what)
        return int((match[1] or match[2]).replace(",", "")) if match else 1

    def is_same(first: str, other: str) -> bool:
        names = ("action", "actorType", "actorId", "entityType", "companyId")
        newest, older = entries[first], entries[other]
        is_alike = all(newest[name] == older[name] for name in names)
        is_of_one = newest["entity"]["issue"] == older["entity"]["issue"]
        age = (seconds(newest["createdAt"]) or 0.0) - (seconds(older["createdAt"]) or 0.0)
        return is_alike and is_of_one and 0 <= age <= FOLDED

    return Repeats(count, is_same, lambda _: {})


NEEDS = (
    Column("WHY"), Column("SINCE", is_right=True), Column("WHAT"),
    Column("IF IGNORED", is_compared=False), Column("FIGURE"), Column("AGENT"), Column("COMPANY"),
)  # fmt: skip


def needs(world: World) -> Rows:
    """What needs a person, by its cause, in a version for each record that has the cause."""
    rows: dict[str, list[Cells]] = defaultdict(list)
    for each in waiting_in(world):
        is_urgent = each.priority in URGENT
        rows[each.need].append(
            {
                "WHY": Words(each.priority if is_urgent else "approve"),
                "SINCE": Since(each.since),
                "WHAT": Title(each.keyed_title),
                "FIGURE": Words(MISSING),
                "AGENT": Words(world.agent(each.agent)),
                "COMPANY": Words(each.company.name),
            }
        )
    for company in world.companies:
        for cause, cells in needs_of_money(company):
            rows[f"{company.id} {cause}"].append(cells)
    return rows


def needs_of_money(company: Company) -> Iterator[tuple[str, Cells]]:
    """The agents that do not work, and the budgets that are spent or nearly, by their ids."""
    agents = {row["id"]: row for row in company.agents}
    policies = {row["scopeId"]: row for row in company.policies}
    incidents = {row["scopeId"]: row for row in company.incidents}
    idle = [row["id"] for row in company.agents if row["status"] in {"paused", "error"}]
    spent = [row["scopeId"] for row in company.policies if row["status"] != "ok"]
    for scope in dict.fromkeys((*idle, *spent, *incidents)):
        agent, policy, incident = agents.get(scope), policies.get(scope), incidents.get(scope)
        what = words_of_incident(incident) if incident is not None else ""
        if policy is not None:
            what = policy["scopeName"]
        if agent is not None:
            what = agent["name"]
        cells: dict[str, Check] = {
            "WHY": why_of_money(agent, policy),
            "SINCE": Since(None if incident is None else seconds(incident["createdAt"])),
            "WHAT": Words(what),
            "FIGURE": figure_of_money(policy, incident),
            "AGENT": Words(None if agent is None else what),
            "COMPANY": Words(company.name),
        }
        yield scope, cells


def why_of_money(agent: Any, policy: Any) -> Check:
    is_spent = policy is not None and policy["observedAmount"] >= policy["amount"] > 0
    if agent is not None and agent["status"] == "error":
        return Words("in error")
    if agent is not None and agent["status"] == "paused":
        return Words("stopped" if is_spent else "paused")
    if policy is None:
        return Words("alert")
    return OneOf((Words("spent" if is_spent else "money low"), Words("runaway"), Words("runs out")))


def figure_of_money(policy: Any, incident: Any) -> Check:
    of_rate = Matching(r"[\d,]+× its most.*")
    if policy is not None:
        share = ShareOfLimit(policy["observedAmount"], policy["amount"])
        # It is no reason for an agent that is paused for another one.
        return OneOf((share, of_rate, Words(MISSING if policy["status"] == "ok" else "")))
    if incident is not None:
        observed = dollars(incident["amountObserved"])
        both = f"{observed} of {dollars(incident['amountLimit'])}"
        return OneOf((Words(both), Words(observed), of_rate))
    return OneOf((Words(MISSING), of_rate))


class ShareOfLimit(NamedTuple):
    """Such as "119 % of $100.00", or the first part of it."""

    spent: int
    limit: int

    def agrees(self, shown: str, at: float) -> bool:
        share, _, limit = shown.partition(" of ")
        is_limit = not limit or limit == dollars(self.limit)
        return is_limit and Share(self.spent, self.limit).agrees(share, at)

    def __str__(self) -> str:
        return f"{Share(self.spent, self.limit)} of {dollars(self.limit)}"


def is_judged_by_the_log(row: ShownRow) -> bool:
    """Whether a need is the program's own finding, of failures that repeat or of what is stuck."""
    return row.cells["WHY"] in {"failing", "stuck"}


def needs_beyond_attention(world: World) -> Iterator[str]:
    """The causes that the server lists nowhere: whether they need a person is a judgement."""
    for company in world.companies:
        listed = {row["scopeId"] for row in company.incidents}
        listed |= {each.cause for each in waiting_in(world) if each.company is company}
        for scope, _ in needs_of_money(company):
            if scope not in listed:
                yield f"{company.id} {scope}"


def repeated_needs(world: World) -> Repeats:
    """Tasks with the same title, which are one line."""
    waiting = {each.need: each for each in waiting_in(world)}

    def count(row: ShownRow) -> int:
        match = re.search(r" ×(\d+)$", row.cells["WHAT"])
        return int(match[1]) if match else 1

    def is_same(first: str, other: str) -> bool:
        tasks = waiting.get(first), waiting.get(other)
        return tasks[0] is not None and tasks[1] is not None and tasks[0].title == tasks[1].title

    def joined(ids: Sequence[str]) -> Cells:
        tasks = [waiting[each] for each in ids]
        agents = frozenset(world.agent(each.agent) or MISSING for each in tasks)
        owners = {each.company.name for each in tasks}
        company = owners.pop() if len(owners) == 1 else f"{len(owners)} companies"
        return {"AGENT": Names(agents), "COMPANY": Words(company)}

    return Repeats(count, is_same, joined, ("AGENT", "COMPANY"))


# --- the panels of the Overview, which have no titles ---

SPEND = (Column("OF"), Column("PERCENT"), Column("SUMS"))


def spend(world: World) -> Rows:
    rows = {}
    for row_id, [cells] in budget(world).items():
        spent, limit = cells["SPENT"], cells["LIMIT"]
        rows[row_id] = [
            {"OF": cells["BUDGET OF"], "PERCENT": cells["USED"], "SUMS": SumOfLimit(spent, limit)}
        ]
    return rows


class SumOfLimit(NamedTuple):
    """Such as "$116.99 of $10.00", or "$15.00, no limit"; where there is no room, nothing."""

    spent: Check
    limit: Check

    def agrees(self, shown: str, at: float) -> bool:
        spent, _, limit = shown.replace(", no limit", " of no limit").partition(" of ")
        return not shown or (self.spent.agrees(spent, at) and self.limit.agrees(limit, at))

    def __str__(self) -> str:
        return f"{self.spent} of {self.limit}"


LATEST = (Column("TIME UTC"), Column("WHO AND WHAT"))


def latest(world: World) -> Rows:
    rows = {}
    for row_id, [cells] in activity(world).items():
        done = WhoDid(cells["WHO"], cells["WHAT HAPPENED"])
        rows[row_id] = [{"TIME UTC": cells["TIME UTC"], "WHO AND WHAT": done}]
    return rows


class WhoDid(NamedTuple):
    """Who did something, and what it was, in one text."""

    who: Check
    what: Check

    def agrees(self, shown: str, at: float) -> bool:
        ends = [match.start() for match in re.finditer(" +", shown)]
        return any(
            self.who.agrees(shown[:end], at) and self.what.agrees(shown[end:].strip(), at)
            for end in ends
        )

    def __str__(self) -> str:
        return f"{self.who}: {self.what}"
