"""Verbs whatever the server does: five things hold (see `check`)."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import Outcome, OutcomeKind, Reason
from tests.actions.declared_user import DeclaredUser, open_declared
from tests.actions.user import journal_entries
from tests.platforms.recorded_paperclip import Fault, RecordedPaperclip
from tests.platforms.verb_truth import ROW

RECORDS = {
    "reject": ROW["waiting"],
    "decline": ROW["question"],
    "comment": ROW["question"],
    "pause": ROW["maya"],
}
WORDS = {"reject": "rejected", "decline": "rejected", "pause": "paused"}
"""The status that each verb leads to."""
OTHER_WORDS = {"reject": "approved", "decline": "accepted", "pause": "error", "comment": "accepted"}
"""What somebody else may do instead."""
UNSENT = {OutcomeKind.NOT_SENT, OutcomeKind.CHANGED, OutcomeKind.GONE}


class Scene(NamedTuple):
    """One verb, and what happens to it."""

    name: str
    fault: Fault | None
    """How the server takes the write."""
    others: str
    """What somebody else does: "" for nothing, "same" or "other"."""
    others_at: str
    """When: "read", as the record is read first; "write", as the write arrives; or "after"."""
    failing_reads: int
    """How many reads fail once the write has arrived."""
    read_fault: Fault


SCENES = st.builds(
    Scene,
    name=st.sampled_from(sorted(RECORDS)),
    fault=st.sampled_from([None, "lost", "unheard", "pretended", 401, 403, 409, 422, 500, 503]),
    others=st.sampled_from(["", "", "same", "other"]),
    others_at=st.sampled_from(["read", "write", "after"]),
    failing_reads=st.integers(0, 4),
    read_fault=st.sampled_from([503, "unheard"]),
)


class Stage:
    """A server on which a scene takes place."""

    def __init__(self, scene: Scene, server: RecordedPaperclip, journal: Path) -> None:
        self.scene = scene
        self.server = server
        self.journal = journal
        self.record_id = RECORDS[scene.name]
        self.open_at_write: list[int] = []
        """How many attempts were open in the journal as each write arrived."""
        self._failed_reads = 0

    def fault(self, method: str, path: str) -> Fault | None:
        scene = self.scene
        self._others_act(method)
        if method != "GET":
            self.open_at_write.append(len(open_attempts(self.journal)))
            return scene.fault
        if self.open_at_write and self._failed_reads < scene.failing_reads:
            self._failed_reads += 1
            return scene.read_fault
        return None

    def _others_act(self, method: str) -> None:
        scene = self.scene
        moment = "read" if not self.open_at_write else "after"
        if method != "GET":
            moment = "write"
        if not scene.others or moment != scene.others_at:
            return
        words = WORDS if scene.others == "same" and scene.name in WORDS else OTHER_WORDS
        self.server.decided.setdefault(self.record_id, words[scene.name])

    @property
    def is_done(self) -> bool:
        """Whether the server has it now."""
        if scene_word := WORDS.get(self.scene.name):
            return self.server.decided.get(self.record_id) == scene_word
        return bool(self.server.comments)


def open_attempts(path: Path) -> set[str]:
    entries = journal_entries(path)
    settled = {entry.attempt for entry in entries if isinstance(entry, Settled)}
    return {entry.attempt for entry in entries if isinstance(entry, Attempt)} - settled


def check(stage: Stage, user: DeclaredUser, found: Outcome) -> None:
    assert len(user.sent) <= 1, "it is sent once"
    is_unsent = found.kind in UNSENT or found.reason is Reason.ALREADY_DONE
    assert not (is_unsent and user.sent), "and never against what was read"
    if found.kind is OutcomeKind.DONE:
        assert stage.is_done, "done is only what the server has"
    if found.kind is OutcomeKind.NOT_DONE:
        assert not stage.is_done
    assert stage.open_at_write in ([], [1]), "it is in the journal before it arrives"
    assert open_attempts(stage.journal) == set(), "and settled at the end"


async def play(scene: Scene, folder: Path) -> None:
    journal = folder / "journal.jsonl"
    with RecordedPaperclip(most_issues=3) as server:
        stage = Stage(scene, server, journal)
        async with open_declared(server, journal) as user:
            shown = (await user.look())[stage.record_id]
            server.fault = stage.fault
            note = "a word" if scene.name != "pause" else None
            check(stage, user, await user.do(scene.name, shown, note))


@given(scene=SCENES)
@settings(
    max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)  # fmt: skip
def test_a_verb_claims_no_more_than_was_read(scene: Scene) -> None:
    with tempfile.TemporaryDirectory(prefix="agentco-verbs-") as folder:
        asyncio.run(play(scene, Path(folder)))
