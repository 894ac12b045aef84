"""Reads the trace of a task, and keeps the traces read last.

A trace is the steps in which an AI agent worked on one task, as the platform (the remote service)
recorded them. The Overview shows the end of it, the dialogs all of it, so the same trace is often
wanted twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentco_tui.api.errors import ApiError, Unwritable
from agentco_tui.model import Task, Trace
from agentco_tui.text import mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

MOST_KEPT: Final = 20
"""Traces that are kept; of more, the one that was read first is dropped."""


class TraceCache:
    """The traces that were read last, or why they could not be read."""

    def __init__(self, client: Platform) -> None:
        self._client = client
        self._traces: dict[str, Trace | ApiError] = {}
        """By the id of the task, the one read last at the end."""

    def get(self, task_id: str) -> Trace | ApiError | None:
        """Return the trace as it was read last, or the error instead; None if it was not read."""
        return self._traces.get(task_id)

    async def read(self, task: Task) -> Trace | ApiError:
        """Read the trace of a task now; return the error if that fails.

        If the platform sent several tasks with the same id (`sharers` of them), nothing is read:
        whose trace it is would be unknown.
        """
        if task.shared_id:
            words = f"{task.sharers} tasks with this id: whose trace it would be is not known"
            # The error of every request that was refused here because an id is ambiguous.
            return Unwritable(mark_safe(words))
        try:
            trace: Trace | ApiError = await self._client.task_trace(task.id)
        except ApiError as error:
            trace = error
        self._traces.pop(task.id, None)
        self._traces[task.id] = trace
        while len(self._traces) > MOST_KEPT:
            oldest = next(iter(self._traces))
            del self._traces[oldest]
        return trace
