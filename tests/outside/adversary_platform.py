"""A scripted platform that is against the person: it spoils what it can, by the throw of a dice."""

from __future__ import annotations

import asyncio
import copy
import random
import re
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.outside.platform import Platform, Request, approves, tasks_read, traces
from tests.outside.script import Fate, Json, Rule

LEAST_WAITING = 9
OPERATOR = "Mallory"
VOLATILE = frozenset({"updated_at", "last_seen_at", "status", "decided_at", "decided_by"})
_UNIQUE = re.compile(r"\b7\d{5}\b|2026-01-\d\d[ T]\d\d:\d\d:\d\d")


def content(record: Json) -> Json:
    """What must be as it was read."""
    return {name: value for name, value in record.items() if name not in VOLATILE}


def company_of(task_id: str) -> str:
    """The company of a task, whatever else is changed: by its number."""
    return "cmp_globex" if int(task_id[3:]) % 3 == 0 else "cmp_acme"


def may_show(read: Request, task_id: str) -> bool:
    """Whether a list of tasks that was asked for can have this one in it."""
    return read.query.get("company_id") in (None, company_of(task_id))


def tokens(text: str) -> frozenset[str]:
    """The unique values in a text."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return frozenset(found.replace("T", " ") for found in _UNIQUE.findall(plain))


class Adversary(Platform):
    """The platform; what it does at a request hangs on the seed and the request's number."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed, self.calm = seed, False
        self.focus: str | None = None
        """The task that a question stands about."""
        self.did: Counter[str] = Counter()
        self.history: dict[str, list[tuple[float, Json | None]]] = {}
        """Each task's records with the times they began; None while it is in no list."""
        self._unique = 700_000
        self._tasks_made = 0

    def refill(self) -> None:
        """Let enough tasks wait."""
        with self.lock:
            while sum(task["status"] == "pending" for task in self.tasks) < LEAST_WAITING:
                self._tasks_made += 1
                self.add(f"tk-{self._tasks_made:03d}")

    def add(self, task_id: str) -> None:
        """A new task, also under an id that was another's."""
        self.task(
            task_id,
            f"{task_id} pay {self.unique()}",
            description=f"Why {self.unique()} is due.",
            payload={"amount": self.unique(), "to": {"iban": f"X{self.unique()}"}},
            estimated_cost=self.unique(),
            beneficiary=f"payee {self.unique()}",
            company_id=company_of(task_id),
            created_at=self.moment(),
        )
        self.note(task_id)

    def unique(self) -> int:
        """A number that occurs nowhere else."""
        self._unique += 1
        return self._unique

    def moment(self) -> str:
        """A time that occurs nowhere else."""
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.unique())
        return at.isoformat().replace("+00:00", "Z")

    def note(self, task_id: str) -> None:
        """Keep how a task stands now."""
        found = [copy.deepcopy(task) for task in self.tasks if task["id"] == task_id]
        self.history.setdefault(task_id, []).append((time.monotonic(), found[0] if found else None))

    def interfere(self, dice: random.Random, request: Request) -> None:
        """Change the world at a request; the task in question more than others."""
        chance = 0.2 if traces()(request) or approves()(request) else 0.06
        if not self.tasks or dice.random() > chance:
            return
        waiting = [task["id"] for task in self.tasks if task["status"] == "pending"]
        task_id = dice.choice([task["id"] for task in self.tasks])
        if waiting and dice.random() < 0.6:
            task_id = self.focus if self.focus in waiting else dice.choice(waiting)
        assert task_id is not None
        record = self._found(task_id)
        what = dice.choices(("change", "volatile", "decide", "restore", "remove", "reuse"),
                            (60, 10, 14, 5, 4, 4))[0]  # fmt: skip
        match what:
            case "change":
                self.change(task_id, **self.other(dice, record))
            case "volatile":
                self.change(task_id, last_seen_at=f"2026-11-11T11:11:{dice.randint(10, 59)}Z")
            case "decide" if record["status"] == "pending":
                self.decide(task_id, dice.choice(("approved", "rejected")), OPERATOR)
            case "restore" if record["status"] != "pending":
                self.change(task_id, status="pending", decided_by=None, decided_at=None)
            case "remove" | "reuse":
                self.remove(task_id)
                self.note(task_id)
                if what == "reuse":
                    self.add(task_id)
            case _:
                return
        self.did[what] += 1
        self.note(task_id)

    def other(self, dice: random.Random, record: Json) -> Json:
        """Another value for one of a task's fields, or a new field, or one less."""
        new = self.unique()
        payload = record.get("payload") or {}
        extra = [name for name in record if name.startswith("extra")]
        options: tuple[Json, ...] = (
            {"title": f"{record['id']} pay {new}"},
            {"description": f"Why {new} is due."},
            {"payload": {**payload, "amount": new}},
            {"payload": {**payload, "to": {"iban": f"X {new}"}}},
            {"estimated_cost": new},
            {"beneficiary": f"payee {new}"},
            {"created_at": self.moment()},
            {"agent_id": "ag_linus", "agent_name": "Linus", "note": f"for {new}"},
            {f"extra{new}": f"more {new}"},
            dict.fromkeys(extra, ...) or {"description": f"All of {new}."},
        )
        return dice.choice(options)

    async def before(self, request: Request) -> tuple[Fate, list[Rule]]:
        """What happens at a request before it is dealt with, and at its answer."""
        dice = random.Random(f"{self.seed} {request.number}")
        if self.calm:
            return Fate(), []
        with self.lock:
            self.interfere(dice, request)
        post, late = approves()(request), []
        if dice.random() < 0.25:
            self.did["held"] += 1
            await asyncio.sleep(dice.choice((0.05, 0.2, 0.6, 1.5, 3.0 if post else 0.3)))

        def between(_: Request) -> None:
            self.interfere(dice, request)

        late.append(Rule(lambda _: True, None, 0, True, change=between))
        how = dice.random() * (0.4 if post else 1.0)
        if how < 0.05:
            self.did["dropped"] += 1
            return Fate(dice.choice(("drop", "reset"))), []
        if how < 0.10:
            self.did["dropped"] += 1
            late.append(Rule(late[0].match, None, 0, True, fate=Fate("drop")))
        elif how < 0.15:
            self.did["doubled"] += 1
            fate = Fate(second=copy.deepcopy(self.tasks), later=dice.choice((None, 0.02, 0.3)))
            late.append(Rule(late[0].match, None, 0, True, fate=fate))
        elif how < 0.18:
            self.did["refused"] += 1
            return Fate(
                status=dice.choice((500, 503, 409 if post else 502)), body={"error": "no"}
            ), []
        return Fate(), late

    def apply_approval(self, request: Request, task_id: str) -> tuple[int, Any]:
        answer = super().apply_approval(request, task_id)
        self.note(task_id)
        return answer

    # ---- what was so

    def since_reads(self, task_id: str) -> float:
        """When the third last read that can show a task, and was answered, began: what is said of
        it may be as old.
        """
        reads = [r for r in self.seen(tasks_read) if r.status == 200]
        read = [r.time for r in reads if may_show(r, task_id)]
        return min([*read[-3:-2], time.monotonic() - 3.0])

    def held(self, task_id: str, since: float, until: float | None = None) -> list[Json | None]:
        """How a task stood at any moment since then; of one in no list, how it stood last, too."""
        with self.lock:
            past = self.history.get(task_id, [])
            last = max((n for n, (at, _) in enumerate(past) if at <= since), default=0)
            while last > 0 and past[last][1] is None:
                last -= 1
            return [record for at, record in past[last:] if until is None or at <= until]

    def applied(self, task_id: str) -> bool:
        """Whether an approve request took effect on it, ever."""
        return any(approval.was["id"] == task_id for approval in self.approvals)
