"""Drives the real actions against a real server through every fault, and judges what they claim.

Whatever is ordered here, four things must hold: a decision sends at most once; a task is approved
at most once; what is claimed is what the platform holds; no line of the journal is lost or torn.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agentco_tui.actions.batch import BatchApproval
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Step
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.api.limits import Limits
from agentco_tui.demo.world_state import RefusedError
from agentco_tui.model import Task
from tests.actions.user import User, journal_entries, open_services
from tests.platform import EmbeddedPlatform, decide_elsewhere

Result = TypeVar("Result")

IMPATIENT = Limits(connect=2.0, read=0.08, write=2.0, pool=5.0, total=0.15)

FAULTS = (
    "", "", "",
    "drop_before", "drop_after", "cut", "hang", "hang,applied=after", "hang_body",
    "status=500", "status=502,applied=after", "status=503", "status=504,applied=after",
    "status=408", "status=499,applied=after", "bad_json", "status=200,body=html",
    "status=200,body=html,applied=after", "redirect", "redirect=http://127.0.0.1:9/",
    "status=400", "status=401", "status=404", "status=409", "status=422", "status=429",
    "status=200,body=empty,applied=after", "status=204,applied=after",
    "status=200,body=null,applied=after", "latency=5ms", "odd_rows", "hostile",
)  # fmt: skip
"""What may strike an approval: before it is applied, while it is, after, and in the answer."""

LIES = ("status=200,body=empty", "status=204", "status=200,body=null")
"""A yes to what was not done."""

READ_FAULTS = (
    "", "", "",
    "status=503", "drop_before", "cut", "hang", "bad_json", "status=200,body=html", "status=429",
    "status=200,body=empty",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What goes wrong, and when, while one task is approved."""

    fault: str = ""
    read_fault: str = ""
    read_fault_at: Step = Step.SENDING
    read_times: int = 1
    interferer: str = ""
    """Somebody else: approve, reject or retitle."""
    interferes_at: Step = Step.SENDING
    killed_after: float | None = None
    """Seconds after which the process is gone."""


class ChaosHarness:
    """A platform, one or two dashboards with one journal, and a memory of what was decided."""

    def __init__(self, folder: Path, shape: str = "plain") -> None:
        self.platform = EmbeddedPlatform(
            seed=11, companies=1, agents=3, tasks=40, speed=0.0, shape=shape
        )
        self.path = folder / "state" / "journal.jsonl"
        self.loop = asyncio.Runner()
        self.decisions: Counter[str] = Counter()
        self.attempts_written = 0
        self.here: User
        self.there: User
        self._open = AsyncExitStack()
        self.shown: dict[str, Task] = {}

    def start(self) -> None:
        """Open everything."""
        self.platform.start()
        self.loop.run(self._open_desks())
        self.loop.run(self._look())

    def end(self) -> None:
        """Settle what is open, judge the whole, and close everything."""
        try:
            self.platform.faults.clear()
            self.restart()
            self._judge_the_whole()
        finally:
            self.loop.run(self._open.aclose())
            self.loop.close()
            self.platform.stop()

    def look(self) -> None:
        """The person looks at the list."""
        self.platform.faults.clear()
        self.loop.run(self._look())

    def interfere(self, task_id: str, how: str) -> None:
        """Somebody else acts."""
        world = self.platform.world
        with contextlib.suppress(RefusedError):
            if how == "retitle":
                with world.locked() as state:
                    task = state.tasks[task_id]
                    task.title += "!"
                    state.changed_task(task, task.updated)
            else:
                decide_elsewhere(world, task_id, how)

    def restart(self) -> None:
        """The dashboards end and start again, and take up what was left behind."""
        self.platform.faults.clear()
        self.loop.run(self._restart())

    # --- inside the loop --------------------------------------------------------------------

    async def _open_desks(self) -> None:
        self._open = AsyncExitStack()
        self.here, self.there = [
            await self._open.enter_async_context(
                open_services(self.platform, self.path, limits=IMPATIENT)
            )
            for _ in range(2)
        ]

    async def _look(self) -> None:
        # The machine may be busy: a person looks again until there is something to see.
        while True:
            with contextlib.suppress(Exception):
                self.shown = {task.id: task for task in await self.here.pending()}
                return

    async def _restart(self) -> None:
        await self._open.aclose()
        await self._open_desks()
        for left in await self.here.left_behind():
            found = await self.here.recover(left)
            self._judge(found, sent=False)
        assert await self.here.left_behind() == []
        self._judge_journal()

    async def approve(self, task_id: str, scene: Scene) -> None:
        """One decision about one task as it was last seen."""
        before = self.platform.world.attempts[task_id]
        work = self.here.approve(self.shown[task_id], self._stage(task_id, scene))
        found = await self._decided([task_id], work, scene)
        if found is not None:
            sent = self.platform.world.attempts[task_id] > before
            self._judge(found, sent=sent)

    async def both(self, task_id: str, scene: Scene) -> None:
        """Two dashboards decide about the same task at the same time."""
        task = self.shown[task_id]
        stage = self._stage(task_id, scene)
        self.decisions[task_id] += 1

        async def work() -> list[Outcome]:
            return list(
                await asyncio.gather(self.here.approve(task, stage), self.there.approve(task))
            )

        for found in await self._decided([task_id], work(), scene) or ():
            self._judge(found, sent=None)

    async def approve_set(
        self, task_ids: list[str], scene: Scene, chance: float, seed: int
    ) -> None:
        """One decision about many tasks, in which each request may be struck."""
        batch = BatchApproval(self.here.services, [self.shown[one] for one in task_ids])
        if scene.fault:
            self._order(f"approve:{scene.fault},p={chance},seed={seed}")
        if scene.read_fault:
            self._order(f"tasks:{scene.read_fault},p={chance},seed={seed}")
        calm = asyncio.get_running_loop().call_later(0.6, self.platform.faults.clear)
        if await self._decided(task_ids, batch.run(), scene) is not None:
            for item in batch.items:
                assert item.outcome is not None
                self._judge(item.outcome, sent=None)
        calm.cancel()
        self.platform.faults.clear()

    async def _decided(
        self, task_ids: list[str], work: Awaitable[Result], scene: Scene
    ) -> Result | None:
        """Let a decision be carried out, or kill it in the middle."""
        self.decisions.update(task_ids)
        working = asyncio.ensure_future(work)
        done, _ = await asyncio.wait({working}, timeout=scene.killed_after)
        if done:
            return working.result()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        self.platform.faults.clear()
        await self._restart()
        return None

    def _stage(self, task_id: str, scene: Scene) -> Callable[[Step], None]:
        """Orders what goes wrong, each at its step and once."""
        if scene.fault:
            self._order(f"/api/tasks/{task_id}/approve:{scene.fault},times=1")
        acted: set[str] = set()

        def on(step: Step) -> None:
            if scene.read_fault and step is scene.read_fault_at and "r" not in acted:
                acted.add("r")
                self._order(f"tasks:{scene.read_fault},times={scene.read_times}")
            if scene.interferer and step is scene.interferes_at and "m" not in acted:
                acted.add("m")
                self.interfere(task_id, scene.interferer)

        return on

    def _order(self, fault: str) -> None:
        self.platform.faults.add(fault)

    # --- judging ----------------------------------------------------------------------------

    def _judge(self, found: Outcome, *, sent: bool | None) -> None:
        """Compare a claim with what the platform holds."""
        world = self.platform.world
        task = world.task(found.subject)
        pending = task.status == "pending"
        applied = world.applied[found.subject]
        match found.kind:
            case OutcomeKind.APPROVED_HERE if found.known_by is KnownBy.READ:
                true = not pending and task.status != "rejected"
            case OutcomeKind.APPROVED_HERE:
                true = True  # claimed from the platform's own word alone, and said to be so
            case OutcomeKind.APPROVED:
                true = not pending and task.status != "rejected"
            case OutcomeKind.DECIDED_ELSEWHERE | OutcomeKind.GONE:
                true = not pending
            case OutcomeKind.NOT_DONE | OutcomeKind.STILL_PENDING:
                true = pending and applied == 0
            case OutcomeKind.REFUSED:
                true = applied == 0 or not pending
            case OutcomeKind.NOT_SENT | OutcomeKind.CHANGED:
                true = not sent
            case OutcomeKind.KEY_REJECTED | OutcomeKind.NOT_ALLOWED:
                # A no to this attempt; of two that decide the other's yes may have come after it.
                true = applied == 0 or sent is None
            case _:
                true = applied == 0
        says = re.search(r"\bapproved\b", outcome_sentence(found).replace("not approved", ""))
        if says and found.kind in (
            OutcomeKind.APPROVED,
            OutcomeKind.APPROVED_HERE,
            OutcomeKind.DECIDED_ELSEWHERE,
        ):
            true = true and (found.known_by is KnownBy.ANSWER or task.status == "approved")
        assert true, (found, task.status, applied)
        assert world.applied[found.subject] <= 1

    def _judge_journal(self) -> None:
        """Every line is whole, and none that was there is gone."""
        entries = journal_entries(self.path)
        attempts = [entry for entry in entries if isinstance(entry, Attempt)]
        assert len(attempts) >= self.attempts_written
        self.attempts_written = len(attempts)
        # Written again only by who takes it up, such as a dashboard that is about to end itself.
        assert len({(entry.attempt, entry.writer) for entry in attempts}) == len(attempts)
        known: set[str] = set()
        for entry in entries:
            if isinstance(entry, Attempt):
                known.add(entry.attempt)
            else:
                assert entry.attempt in known, "an outcome before its attempt"

    def _judge_the_whole(self) -> None:
        world = self.platform.world
        entries = journal_entries(self.path)
        attempts = {entry.attempt: entry for entry in entries if isinstance(entry, Attempt)}
        settled = [entry for entry in entries if isinstance(entry, Settled)]
        assert {entry.attempt for entry in settled} == set(attempts), "every attempt is settled"
        keys = Counter(dict(seen.headers)["idempotency-key"] for seen in self.here.sends())
        assert set(keys) <= set(attempts), "nothing was sent that was not written down"
        repeated = sum(count - 1 for count in keys.values())
        for task_id, applied in world.applied.items():
            assert applied <= 1
            if applied:
                repeated += world.attempts[task_id] - 1
        assert repeated == 0
        per_task = Counter(attempts[key].task for key in keys)
        for task, count in per_task.items():
            assert count <= self.decisions[task or ""], "at most one sending a decision"
