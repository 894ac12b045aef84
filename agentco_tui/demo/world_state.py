"""The records of the embedded world, and the state that holds them.

The embedded world is the simulated companies, AI agents and tasks of demos and tests. A task
follows a story: templates for its steps and texts, with particulars (names, amounts) drawn from its
number.

Money is an integer of micro-dollars, times are seconds since 1970-01-01 UTC. Records are mutable;
`version` counts the changes, so that what was rendered from a record can be cached.
"""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from agentco_tui.demo.stories import Particulars, Story, draw_particulars

DOLLAR = 1_000_000
CENT = 10_000
DAY = 86_400.0
WARN_AT = 0.8
"""Share of a limit at or above which there is an alert."""
STOP_AT = 1.0
"""Share of a limit at or above which an agent is stopped."""
_KEPT_ENTRIES = 50_000
"""Entries of the activity log that are kept, the newest ones."""
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class RefusedError(Exception):
    """A refusal by the demo's REST API: status, code, message, and the reason for each field."""

    def __init__(
        self, status: int, code: str, message: str, fields: Sequence[tuple[str, str]] = ()
    ) -> None:
        reasons = [f"{name}: {reason}" for name, reason in fields]
        super().__init__("; ".join(reasons) or message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = tuple(fields)


def check(*rules: tuple[bool, str, str]) -> None:
    """Raise RefusedError for the fields whose rules are broken: (is broken, field, reason)."""
    broken = [(name, reason) for is_broken, name, reason in rules if is_broken]
    if broken:
        raise RefusedError(422, "validation_failed", "Validation error", broken)


def iso(at: float) -> str:
    """A time as ISO 8601 in UTC, with milliseconds only if there are any."""
    when = datetime.fromtimestamp(int(at * 1000) / 1000, UTC).replace(tzinfo=None)
    return when.isoformat(timespec="milliseconds" if when.microsecond else "seconds") + "Z"


class Budgeted(msgspec.Struct, eq=False, kw_only=True):
    """A budget; `limit` is None if there is no limit."""

    limit: int | None = None
    spent: int = 0
    version: int = 0

    @property
    def remaining(self) -> int | None:
        return None if self.limit is None else self.limit - self.spent

    @property
    def used(self) -> float | None:
        return self.spent / self.limit if self.limit else None

    @property
    def reached(self) -> float:
        """The highest threshold that was reached: 0, WARN_AT or STOP_AT."""
        if not self.limit or self.spent * 5 < self.limit * 4:
            return 0.0
        return STOP_AT if self.spent >= self.limit else WARN_AT


class DemoCompany(Budgeted, eq=False):
    """A company; `agents`, `tasks` and `pending` are counts."""

    id: str
    name: str
    template: str
    mission: str
    created: float
    agents: int = 0
    tasks: int = 0
    pending: int = 0
    status: str = "active"


class DemoAgent(Budgeted, eq=False):
    """An agent; `status` is active or paused."""

    id: str
    name: str
    role: str
    company: DemoCompany
    model: str
    trust: int
    created: float
    last_seen: float
    completed: int = 0
    status: str = "active"
    pause_reason: str | None = None


class DemoTask(msgspec.Struct, eq=False):
    """A task, from pending over approved and running to completed, failed or rejected."""

    id: str
    number: int
    story: Story
    title: str
    description: str
    priority: str
    agent: DemoAgent
    created: float
    updated: float
    estimate: int
    status: str = "pending"
    cost: int = 0
    decided: float | None = None
    decided_by: str | None = None
    finished: float | None = None
    progress: int = 0  # how many steps of `story.carry_out` are done
    fixed_particulars: Particulars | None = None  # particulars that replace drawn ones
    version: int = 0

    @property
    def name(self) -> str:
        return self.title


class Entry(msgspec.Struct, frozen=True, eq=False):
    """An entry of the activity log; `actor` is set if it was not the agent itself."""

    id: str
    at: float
    level: str
    action: str
    message: str
    company: DemoCompany | None = None
    agent: DemoAgent | None = None
    task: DemoTask | None = None
    actor: str | None = None
    cost: int | None = None


class DemoAlert(Budgeted, eq=False):
    """A threshold that was crossed by an agent or a company; `resolved` once it is over."""

    id: str
    severity: str
    message: str
    threshold: float
    company: DemoCompany
    agent: DemoAgent | None
    created: float
    resolved: float | None = None
    type: str = "budget_threshold"

    @property
    def status(self) -> str:
        return "open" if self.resolved is None else "resolved"


class WorldState:
    """All records of a world, in the order in which they were created."""

    def __init__(self, seed: int, start: float) -> None:
        midnight = start - start % DAY
        self.seed = seed
        self.start = start
        self.now = start  # the moment the world has reached
        self.period_start = midnight - 19 * DAY
        self.resets = midnight + 11 * DAY
        self.pace = 30 * DAY / (start // 3_600 * 3_600 - self.period_start)
        """The length of the period, divided by the part of it that had passed at the start."""
        self.companies: dict[str, DemoCompany] = {}
        self.agents: dict[str, DemoAgent] = {}
        self.tasks: dict[str, DemoTask] = {}
        self.pending: dict[str, DemoTask] = {}
        self.alerts: dict[str, DemoAlert] = {}
        self.entries: deque[Entry] = deque(maxlen=_KEPT_ENTRIES)
        self.revisions: Counter[type] = Counter()
        """For each kind of record, how often one was added or changed."""
        self.numbers: Counter[str] = Counter()
        """Counters: for ids by their prefix, for log entries, and for tasks."""

    def particulars(self, task: DemoTask) -> Particulars:
        """The particulars of a task: drawn from its number, or fixed."""
        return {**draw_particulars(self.seed, task.number), **(task.fixed_particulars or {})}

    def new_id(self, prefix: str) -> str:
        """The next id with this prefix; it looks random, and never repeats."""
        number = self.next_scattered_number(prefix)
        letters = []
        for _ in range(8):
            number, digit = divmod(number, 32)
            letters.append(_ALPHABET[digit])
        return f"{prefix}_{''.join(letters)}"

    def next_scattered_number(self, prefix: str) -> int:
        """The next number below 32**8 for ids with this prefix; it never repeats."""
        self.numbers[prefix] += 1
        offset = self.seed * 7_919 + zlib.crc32(prefix.encode())
        return (self.numbers[prefix] * 739_853_412_191 + offset) % 32**8

    def log(
        self,
        at: float,
        level: str,
        action: str,
        message: str,
        *,
        company: DemoCompany | None = None,
        agent: DemoAgent | None = None,
        task: DemoTask | None = None,
        actor: str | None = None,
        cost: int = 0,
    ) -> Entry:
        """Append to the activity log; agent and company follow from the task if not given."""
        agent = agent or (task.agent if task else None)
        company = company or (agent.company if agent else None)
        self.numbers["entry"] += 1
        entry_id = f"evt_{self.numbers['entry']:07d}"
        entry = Entry(
            entry_id,
            at,
            level,
            action,
            message,
            company=company,
            agent=agent,
            task=task,
            actor=actor,
            cost=cost or None,
        )
        self.entries.append(entry)
        self.revisions[Entry] += 1
        if agent is not None and actor is None:
            agent.last_seen = max(agent.last_seen, at)
            self.changed(agent)
        return entry

    def changed(self, *records: DemoCompany | DemoAgent | DemoTask | DemoAlert) -> None:
        """Note that records were added or changed."""
        for record in records:
            record.version += 1
            self.revisions[type(record)] += 1

    def changed_task(self, task: DemoTask, at: float) -> None:
        """Note that a task changed at a time."""
        task.updated = max(task.updated, at)
        self.changed(task)

    def add_agent(self, agent: DemoAgent) -> None:
        """Add a new agent, and count it."""
        self.agents[agent.id] = agent
        agent.company.agents += 1
        agent.company.spent += agent.spent
        self.changed(agent, agent.company)

    def add_task(self, task: DemoTask) -> None:
        """Add a new task, and count it."""
        self.tasks[task.id] = task
        company = task.agent.company
        company.tasks += 1
        if task.status == "pending":
            self.pending[task.id] = task
            company.pending += 1
        self.changed(task, company)

    def ask(self, task: DemoTask, at: float) -> None:
        """Log that an agent asks for approval of a task."""
        message = f"Asks for approval: {task.title}"
        self.log(at, "info", "approval.requested", message, task=task, cost=task.cost)
