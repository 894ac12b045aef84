"""What the embedded world consists of, and the state that holds it all.

Money is an integer of micro-dollars, moments are seconds since 1970-01-01 UTC. These records
change; `version` counts the changes, so that what was made from a record can be kept.
"""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from agentco_tui.demo.stories import Facts, Story, facts

DOLLAR = 1_000_000
CENT = 10_000
DAY = 86_400.0
WARN_AT, STOP_AT = 0.8, 1.0
"""Shares of a limit: from when on there is an alert, and an agent is stopped."""
_KEPT_ENTRIES = 50_000  # how much of the activity log is kept; the oldest entries go first
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class RefusedError(Exception):
    """What the platform does not do, and says so: status, stable code, words, refused fields."""

    def __init__(
        self, status: int, code: str, message: str, fields: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__("; ".join(f"{name}: {words}" for name, words in fields) or message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = tuple(fields)


def check(*rules: tuple[bool, str, str]) -> None:
    """Raise the refusal that names each field whose rule is broken: (broken, field, words)."""
    if wrong := [(name, words) for broken, name, words in rules if broken]:
        raise RefusedError(422, "validation_failed", "Validation error", wrong)


def iso(at: float) -> str:
    """A moment as ISO 8601 in UTC, milliseconds only where there are any."""
    when = datetime.fromtimestamp(int(at * 1000) / 1000, UTC).replace(tzinfo=None)
    return when.isoformat(timespec="milliseconds" if when.microsecond else "seconds") + "Z"


class Budgeted(msgspec.Struct, eq=False, kw_only=True):
    """What money is spent of; `limit` None means that there is none."""

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
        """The threshold that was reached: 0, 0.8 or 1 of the limit."""
        if not self.limit or self.spent * 5 < self.limit * 4:
            return 0.0
        return STOP_AT if self.spent >= self.limit else WARN_AT


class DemoCompany(Budgeted, eq=False):
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
    progress: int = 0  # how many beats of `story.carry_out` are done
    given: Facts | None = None  # particulars that were fixed from outside instead of drawn
    version: int = 0

    @property
    def name(self) -> str:
        return self.title


class Entry(msgspec.Struct, frozen=True, eq=False):
    """An entry of the activity log; `actor` is set where a person did it."""

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
    """All records of a world, in the order in which they came to be."""

    def __init__(self, seed: int, start: float, *, numeric_ids: bool) -> None:
        midnight = start - start % DAY
        self.seed = seed
        self.start = start
        self.now = start  # the moment the world has reached
        self.period_start = midnight - 19 * DAY
        self.resets = midnight + 11 * DAY
        self.pace = 30 * DAY / (start // 3_600 * 3_600 - self.period_start)
        """How much more a period is than what had passed of it at the start."""
        self._numeric_ids = numeric_ids
        self.companies: dict[str, DemoCompany] = {}
        self.agents: dict[str, DemoAgent] = {}
        self.tasks: dict[str, DemoTask] = {}
        self.pending: dict[str, DemoTask] = {}
        self.alerts: dict[str, DemoAlert] = {}
        self.entries: deque[Entry] = deque(maxlen=_KEPT_ENTRIES)
        self.revisions: Counter[type] = Counter()
        """For each kind of record, how often any of it came or changed."""
        self.numbers: Counter[str] = Counter()
        """How many of each sort there have been: records by the prefix of their ids, and others."""

    def particulars(self, task: DemoTask) -> Facts:
        """What a task is about in detail: drawn from its number, or as it was given."""
        return {**facts(self.seed, task.number), **(task.given or {})}

    def new_id(self, prefix: str) -> str:
        """The next identifier with this prefix: looks random, never repeats."""
        self.numbers[prefix] += 1
        offset = self.seed * 7_919 + zlib.crc32(prefix.encode())
        scattered = (self.numbers[prefix] * 739_853_412_191 + offset) % 32**8
        if self._numeric_ids:
            return str(scattered)
        letters = []
        for _ in range(8):
            scattered, digit = divmod(scattered, 32)
            letters.append(_ALPHABET[digit])
        return f"{prefix}_{''.join(letters)}"

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
        about = (company, agent, task, actor, cost or None)
        entry = Entry(entry_id, at, level, action, message, *about)
        self.entries.append(entry)
        self.revisions[Entry] += 1
        if agent is not None and actor is None:
            agent.last_seen = max(agent.last_seen, at)
            self.changed(agent)
        return entry

    def changed(self, *records: DemoCompany | DemoAgent | DemoTask | DemoAlert) -> None:
        """Note that records came or changed."""
        for record in records:
            record.version += 1
            self.revisions[type(record)] += 1

    def changed_task(self, task: DemoTask, at: float) -> None:
        """Note that a task changed at a moment."""
        task.updated = max(task.updated, at)
        self.changed(task)

    def add_agent(self, agent: DemoAgent) -> None:
        self.agents[agent.id] = agent
        agent.company.agents += 1
        agent.company.spent += agent.spent
        self.changed(agent, agent.company)

    def add_task(self, task: DemoTask) -> None:
        """Put a new task in its place, with all counts."""
        self.tasks[task.id] = task
        company = task.agent.company
        company.tasks += 1
        if task.status == "pending":
            self.pending[task.id] = task
            company.pending += 1
        self.changed(task, company)

    def ask(self, task: DemoTask, at: float) -> None:
        """Log that an agent asks for a yes."""
        words = f"Asks for approval: {task.title}"
        self.log(at, "info", "approval.requested", words, task=task, cost=task.cost)
