"""Whatever happens in whatever order: once all is well again, the picture is the platform's."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentco_tui.demo.world_state import DOLLAR
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import ON_SCREEN, FeedName, Pace, Phase, Query
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from agentco_tui.live.poller import AT_ONCE
from tests.live.poller_harness import EVERYTHING, OPERATIONS, Stage, stage
from tests.platform import EmbeddedPlatform, decide_elsewhere

T = TypeVar("T")

# Where time jumps and the platform is killed in any moment, a connection can be lost in the very
# turn of a loop in which it is made: by anyio where its deadline passes, by asyncio's server where
# it is stopped. The collector closes them, and does so within this test.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

KINDS = (
    "status=500", "status=429,retry_after=40", "status=401", "status=422", "drop_before", "cut",
    "hang", "bad_json", "latency=3ms", "drop_after", "redirect",
)  # fmt: skip
targets = st.sampled_from(["*", *sorted(set(OPERATIONS.values()))])
turns = st.integers(0, 1_000_000)


class Dashboard(RuleBasedStateMachine):
    """A person, a platform and a bad line."""

    @initialize(seed=st.integers(0, 3))
    def open(self, seed: int) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.platform = EmbeddedPlatform(
            seed=seed, companies=2, agents=14, tasks=12, speed=0.0, now=1_700_000_000.0
        )
        self.platform.start()
        self.world = self.platform.world
        self.on: Stage = self.run(self.stack.enter_async_context(stage(self.platform, refresh=5.0)))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def soon(self, call: Callable[..., None], *args: object) -> None:
        """Call it where the event loop runs."""
        self.runner.get_loop().call_soon(call, *args)
        self.run(asyncio.sleep(0))

    def turn_over(self) -> None:
        """Let the poller get somewhere, not necessarily to an end."""

        async def some() -> None:
            for _ in range(3):
                await asyncio.sleep(0.001 * self.on.hours.rate)

        self.run(some())

    def teardown(self) -> None:
        if not hasattr(self, "on"):
            return
        try:
            self.run(self.all_is_well())
        finally:
            self.run(self.stack.aclose())
            self.runner.close()
            self.platform.stop()
            gc.collect()

    # --- what happens on the platform -----------------------------------------------------------

    @rule(what=st.sampled_from(["decision", "task", "company", "limit", "log", "time"]), turn=turns)
    def something_happens(self, what: str, turn: int) -> None:
        world = self.world
        agents, pending, known = world.agents(), [*world.state.pending], [*world.state.companies]
        agent = agents[turn % len(agents)]
        match what:
            case "decision" if pending:
                decision = ("approve", "reject")[turn % 2]
                decide_elsewhere(world, pending[turn % len(pending)], decision)
            case "task":
                world.create_task(agent.company.id, f"Task {turn}", agent.id, "high")
            case "company" if len(known) < 5 and turn % 2:
                world.clone_company(known[turn % len(known)], f"Clone {len(known)}", "to clone")
            case "company" if len(known) < 5:
                world.create_company(f"Company {len(known)}", "saas", "to be")
            case "limit":
                world.set_limit(agent.id, turn % 900)
            case "log":
                with world.locked() as state:
                    for number in range((1, 30, 250, 1_100)[turn % 4]):
                        at, by = world.time(), agents[number % len(agents)]
                        state.log(at, "info", "note", f"{number}", agent=by)
            case "time":
                world.advance(1.0 + turn % 600)

    @rule(what=targets, kind=st.sampled_from(KINDS), times=st.sampled_from(["", ",times=2"]))
    def a_fault_begins(self, what: str, kind: str, times: str) -> None:
        self.platform.faults.add(f"{what}:{kind}{times}")

    @rule()
    def the_faults_end(self) -> None:
        self.platform.faults.clear()

    @rule()
    def it_is_restarted(self) -> None:
        self.platform.stop()
        self.turn_over()
        self.platform.start()

    # --- what happens here ----------------------------------------------------------------------

    @rule(seconds=st.floats(0.1, 60))
    def time_goes_by(self, seconds: float) -> None:
        self.on.hours.go_by(seconds)
        self.turn_over()

    @rule(seconds=st.floats(1, 100_000))
    def the_laptop_sleeps(self, seconds: float) -> None:
        self.on.hours.sleep(seconds)
        self.turn_over()

    @rule(screen=st.sampled_from(sorted(ON_SCREEN)), all_tasks=st.booleans())
    def another_screen(self, screen: str, all_tasks: bool) -> None:
        self.on.show(screen, all_tasks=all_tasks)
        self.turn_over()

    @rule(focused=st.booleans())
    def the_focus_changes(self, focused: bool) -> None:
        self.on.poller.set_attention(focused)

    @rule(turn=turns)
    def another_scope(self, turn: int) -> None:
        choices = [None, *self.world.state.companies]
        company = choices[turn % len(choices)]
        self.soon(self.on.poller.set_query, Query(company=company))
        self.turn_over()

    @rule()
    def refresh_now(self) -> None:
        self.soon(self.on.poller.poll_now)

    # --- what is always so ----------------------------------------------------------------------

    @invariant()
    def the_picture_never_lies(self) -> None:
        if not hasattr(self, "on"):
            return
        on = self.on
        assert not on.running.done()
        scope = on.poller.query.company
        if scope is not None:
            for record in (*on.store.agents, *on.store.pending, *on.store.tasks):
                assert record.company is not None
                assert record.company.id == scope
        self.log_without_holes()

    def log_without_holes(self) -> None:
        """Between two entries that stand side by side nothing is missing without a mark."""
        on = self.on
        company = on.poller.query.company
        log = [entry.id for entry in reversed(self.world.activity(company))]
        place = {entry_id: index for index, entry_id in enumerate(log)}
        before: int | None = None
        for entry in on.store.activity:
            if is_gap(entry):
                before = None
                continue
            here = place[entry.id]
            assert before is None or here == before + 1
            before = here

    async def all_is_well(self) -> None:
        on, state, world = self.on, self.world.state, self.world
        self.platform.faults.clear()
        on.poller.set_attention(True)
        on.hours.go_by(60.0)  # what hangs has used up its time
        on.poller.set_paces(EVERYTHING)
        told = await asyncio.gather(*map(on.poller.read_again, FeedName))
        assert [freshness.phase for freshness in told] == [Phase.LIVE] * len(FeedName), told
        store, company = on.store, on.poller.query.company
        tasks = {task.id: task for task in world.tasks(company)}
        agents = {agent.id: agent for agent in world.agents(company)}
        assert set(store.companies.records) == set(state.companies)
        assert {c.id: c.name for c in store.companies} == {
            c.id: c.name for c in state.companies.values()
        }
        assert {a.id: a.name for a in store.agents} == {a.id: a.name for a in agents.values()}
        assert {t.id: t.status for t in store.tasks} == {t.id: t.status for t in tasks.values()}
        assert set(store.pending.records) == {k for k, t in tasks.items() if t.status == "pending"}
        assert set(store.alerts.records) == set(state.alerts)
        limits = {
            budget.id: round(budget.limit.amount * DOLLAR) if budget.limit else None
            for budget in store.agent_budgets
        }
        assert limits == {agent.id: agent.limit for agent in agents.values()}
        assert set(store.company_budgets.records) == set(state.companies)
        [whole] = store.budget
        assert whole.spent is not None
        self.log_without_holes()
        newest = [entry.id for entry in world.activity(on.poller.query.company)]
        asked = ACTIVITY_LIMIT
        shown = [entry.id for entry in store.activity if not is_gap(entry)]
        assert shown[::-1][: min(asked, len(newest))] == newest[:asked]
        assert all(on.poller.pace(feed) is Pace.REFRESH for feed in FeedName)
        assert AT_ONCE == 4


TestDashboard = pytest.mark.slow(Dashboard.TestCase)
TestDashboard.settings = settings(
    max_examples=16, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
