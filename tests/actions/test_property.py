"""Approvals under every fault: whatever happens, four things hold (see `chaos_harness`)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from agentco_tui.actions.outcome import Step
from tests.actions.chaos_harness import FAULTS, LIES, READ_FAULTS, ChaosHarness, Scene
from tests.platform.shapes import SHAPE_NAMES

PLACES = st.integers(0, 1_000)
SCENES = st.builds(
    Scene,
    fault=st.sampled_from(FAULTS),
    read_fault=st.sampled_from(READ_FAULTS),
    read_fault_at=st.sampled_from([Step.READING, Step.SENDING, Step.CONFIRMING, Step.UNKNOWN]),
    read_times=st.integers(1, 3),
    interferer=st.sampled_from(["", "", "", "approve", "reject", "retitle"]),
    interferes_at=st.sampled_from([Step.READING, Step.SENDING, Step.CONFIRMING, Step.UNKNOWN]),
    killed_after=st.none() | st.none() | st.floats(0.0, 0.08),
)


class Approvals(RuleBasedStateMachine):
    """Persons, platforms and processes at their worst."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="agentco-chaos-"))
        self.harness: ChaosHarness | None = None

    @initialize(shape=st.sampled_from(["plain", "plain", *sorted(SHAPE_NAMES)]))
    def begin(self, shape: str) -> None:
        self.harness = ChaosHarness(self.folder, shape)
        self.harness.start()

    @property
    def at(self) -> ChaosHarness:
        assert self.harness is not None
        return self.harness

    def choose(self, place: int) -> str | None:
        """A task of those that show; what shows depends on the platform, so no draw does."""
        shown = list(self.at.shown)
        return shown[place % len(shown)] if shown else None

    @rule(place=PLACES, scene=SCENES)
    def approve(self, place: int, scene: Scene) -> None:
        if (task_id := self.choose(place)) is not None:
            self.at.loop.run(self.at.approve(task_id, scene))

    @rule(place=PLACES, lie=st.sampled_from(LIES))
    def approve_at_a_liar(self, place: int, lie: str) -> None:
        if (task_id := self.choose(place)) is not None:
            self.at.loop.run(self.at.approve(task_id, Scene(fault=lie)))

    @rule(place=PLACES, scene=SCENES)
    def both(self, place: int, scene: Scene) -> None:
        if (task_id := self.choose(place)) is not None:
            self.at.loop.run(self.at.both(task_id, scene))

    @rule(
        place=PLACES,
        scene=SCENES,
        count=st.integers(2, 12),
        chance=st.sampled_from([0.1, 0.3, 1.0]),
        seed=st.integers(0, 1_000),
    )
    def approve_set(self, place: int, scene: Scene, count: int, chance: float, seed: int) -> None:
        shown = list(self.at.shown)
        if shown:
            start = place % len(shown)
            chosen = shown[start : start + count]
            self.at.loop.run(self.at.approve_set(chosen, scene, chance, seed))

    @rule(place=PLACES, how=st.sampled_from(["approve", "reject", "retitle"]))
    def interfere(self, place: int, how: str) -> None:
        if (task_id := self.choose(place)) is not None:
            self.at.interfere(task_id, how)

    @rule()
    def look(self) -> None:
        self.at.look()

    @rule()
    def restart(self) -> None:
        self.at.restart()

    def teardown(self) -> None:
        try:
            if self.harness is not None:
                self.harness.end()
        finally:
            shutil.rmtree(self.folder)


TestApprovals = Approvals.TestCase
TestApprovals.settings = settings(
    max_examples=10,
    stateful_step_count=20,
    deadline=None,
    database=None,
    # A failing example is told as it was found: shrinking it over real sockets takes minutes.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
