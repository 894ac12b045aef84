"""Refreshes the needs of a dashboard: at once if that is quick, else in slices.

A need is one item of "needs you", the list of what the user should look at; `NeedsModel` works them
out and ranks them, and `snooze`s, which put a need off, end there. A decision is an approval of a
task that was started here; the task is then no need. A slice is a few milliseconds of work between
two turns of the event loop. A level says how much a need matters (WARNING, CRITICAL).
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from textual.dom import DOMNode

from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.live.insight import Level
from agentco_tui.system.background import at_once, in_slices
from agentco_tui.widgets.workers import start_worker

MOST_AT_ONCE = 500
"""Changed records and log entries above which a refresh is done in slices, not at once."""


def _ignore() -> None:
    pass


class NeedsRefresh:
    """The dashboard's refreshes of its `NeedsModel`; at most one runs in slices at a time."""

    def __init__(self, model: NeedsModel) -> None:
        self._model = model
        self.on_refreshed: Callable[[], object] = _ignore
        """Called after each refresh that `start` began."""
        self._is_running = False
        self._is_due_again = False

    def start(self, node: DOMNode) -> None:
        """Refresh the needs; if that takes several slices, they end when `node` is removed."""
        if self._is_running:
            self._is_due_again = True
        elif self._model.is_much_to_do(MOST_AT_ONCE):
            start_worker(node, self._run_in_slices, "finding what needs you")
        else:
            at_once(self._steps())
            self.on_refreshed()

    def take_decisions(self, node: DOMNode) -> None:
        """Refresh the needs if other decisions are open than at the last refresh."""
        if self._model.has_other_decisions():
            self.start(node)

    async def levels_by_key(self) -> dict[str, Level]:
        """Refresh, and return the level of each need shown; tasks that are alike count each."""
        await in_slices(self._steps())
        return {key: need.level for need in self._model.shown for key in need.keys}

    async def _run_in_slices(self) -> None:
        self._is_running = True
        self._is_due_again = True
        try:
            while self._is_due_again:
                self._is_due_again = False
                await in_slices(self._steps())
                self.on_refreshed()
        finally:
            self._is_running = False

    def _steps(self) -> Generator[None, None, None]:
        yield from self._model.refresh_steps()
        self._model.end_snoozes()
        yield from self._model.critical_task_steps()  # for the notifications
