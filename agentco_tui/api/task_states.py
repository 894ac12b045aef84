"""The state of a task from all that a record says about it (SHAPES F "Traps")."""

from __future__ import annotations

from typing import Final

from agentco_tui.api.names import fold, word_set
from agentco_tui.api.plans import Values
from agentco_tui.model.records import TaskState
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.status import task_state
from agentco_tui.reading.values.text import word
from agentco_tui.text import SafeText

_ENDED: Final = frozenset(
    (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED, TaskState.APPROVED)
)


def worded(left: dict[str, Json]) -> SafeText | None:
    """The word beside a status that is a number: `status: 0, status_name: "Pending"`."""
    for name, raw in left.items():
        if fold(name) in _STATUS_WORDS and type(raw) is str and type(found := word(raw)) is str:
            del left[name]
            return SafeText(found)
    return None


_STATUS_WORDS: Final = word_set(
    "statusname statuslabel statustext statusdescription statename state statuscode statusdisplay"
)


def decided_state(values: Values, state: TaskState | None) -> tuple[TaskState | None, bool | None]:
    """State and approval flag where the record carries more than a status (SHAPES F "Traps")."""
    waits: bool | None = values.get("waits")
    if waits is None and values.get("is_pending") is True and state is None:
        waits = True
    requires: bool | None = values.get("requires")
    word_of_approval: SafeText | None = values.get("approval")
    needs = waits
    if word_of_approval is not None:
        verdict = task_state(word_of_approval)
        undecided = state in (None, TaskState.PENDING, TaskState.QUEUED, TaskState.OTHER)
        if verdict is TaskState.PENDING:
            state, needs = TaskState.PENDING, True
        elif verdict in (TaskState.APPROVED, TaskState.DONE):
            needs = False
            state = TaskState.APPROVED if state in (None, TaskState.PENDING) else state
        elif verdict in (TaskState.REJECTED, TaskState.CANCELLED):
            needs = False
            state = verdict if undecided else state
        elif state is None:
            state = verdict
    if values.get("approved") is True:
        needs = False
        state = TaskState.APPROVED if state in (None, TaskState.PENDING) else state
    if values.get("done") is True and state is None:
        state = TaskState.DONE
    if needs is None and requires is not None:
        # that a task of this kind requires an approval says nothing once it has ended
        needs = requires and state not in _ENDED and state is not TaskState.RUNNING
    if needs and state in (None, TaskState.QUEUED, TaskState.OTHER):
        state = TaskState.PENDING
    return state, needs
