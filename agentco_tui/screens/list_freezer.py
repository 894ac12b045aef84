"""Keeps the rows of a list still while the user works with it, and brings them up to date later.

A row that moves while the user presses a key would have the key act on another record. So the table
is frozen from the first key or click on: rows keep their places, new ones wait, and a row whose
record went away stays as a tombstone, a line that says what became of it. `ListHooks` is the list
whose rows they are. A feed is one list of records that is polled from the platform, the remote
service that is watched; an answer is what it sends to a poll. Marked rows are those chosen to be
acted upon together. Idle (`table.idle`) is a table that has no sorting or filtering left to do. The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final

from agentco_tui.live.feeds import Freshness
from agentco_tui.screens.key_app import ListTable
from agentco_tui.screens.list_hooks import ListHooks

IDLE_TIMEOUT: Final = 10.0
"""Seconds without a key or click after which the user is not working with a list any more."""


class FreezeState(Enum):
    """What happens to the rows of a list when an answer comes."""

    OPENING = "opening"
    """They are sorted in, and the cursor stays on the first one: the user has not moved yet."""
    LIVE = "live"
    """They are sorted in, and the cursor moves with its record."""
    FREEZING = "freezing"
    """As LIVE; as soon as the table has sorted what it has, the list freezes."""
    FROZEN = "frozen"
    """They keep their places: new ones wait, those that went away leave a tombstone."""
    CHANGING_SCOPE = "changing scope"
    """Another company is about to be shown (the scope): nothing waits, and nothing leaves a
    tombstone.
    """


class ListFreezer:
    """Freezes, releases and reloads the rows of one list.

    Freezing begins with an interaction, once all rows have come, or while rows are marked. It ends
    `IDLE_TIMEOUT` seconds after the last interaction, on request, and with another sort order,
    filter or company. A reload that is requested meanwhile is done at the end.
    """

    def __init__(
        self,
        hooks: ListHooks[Any],
        *,
        reload: Callable[[], object],
        on_released: Callable[[], object],
    ) -> None:
        """`reload` loads all rows again; `on_released` is called after each release."""
        self._hooks = hooks
        self._clock = hooks.workspace.clock
        self._reload = reload
        self._on_released = on_released
        self.reload_due = False
        """Whether the rows are to be loaded again at the end of the freeze."""
        self._is_freeze_due = False
        self._is_changing_scope = False
        self._interacted_at = 0.0
        self._opened_at = 0.0
        self.open()

    @property
    def table(self) -> ListTable[Any]:
        """The table of the list, which may be replaced by another one."""
        return self._hooks.table

    @property
    def state(self) -> FreezeState:
        if self._is_changing_scope:
            return FreezeState.CHANGING_SCOPE
        if self.table.model.frozen:
            return FreezeState.FROZEN
        if self._is_freeze_due:
            return FreezeState.FREEZING
        return FreezeState.OPENING if self.table.viewport.is_opening else FreezeState.LIVE

    @property
    def is_frozen(self) -> bool:
        return self.table.model.frozen

    # ---- opening

    def open(self) -> None:
        """Keep the cursor on the first row until every answer asked for after now has come."""
        self.table.viewport.is_opening = True
        self._interacted_at = 0.0
        self._opened_at = self._clock.monotonic()

    def end_opening(self) -> None:
        """Let the cursor move with its record from now on."""
        self.table.viewport.is_opening = False

    def end_opening_if_complete(self, freshnesses: Iterable[Freshness]) -> None:
        """End the opening if these feeds were answered since, and the table has sorted the rows.

        A feed that failed is not waited for.
        """
        if not self.table.viewport.is_opening:
            return
        is_awaited = any(
            freshness.awaited or (freshness.answered_at or 0.0) < self._opened_at
            for freshness in freshnesses
            if freshness.failure is None
        )
        if not is_awaited and self.table.idle.is_set():
            self.end_opening()

    # ---- freezing

    def on_interaction(self) -> None:
        """Freeze the list, because the user works with it.

        Not while the first answers come in and the user has not moved or marked anything: no row
        was chosen yet.
        """
        has_chosen = bool(self.table.marked) or self.table.viewport.user_has_moved
        if self._hooks.incomplete and not has_chosen:
            return
        self._interacted_at = self._clock.monotonic()
        self.end_opening()
        self._freeze()

    def _freeze(self) -> None:
        """Freeze now, or when the table is done: freezing would end its sorting in one go."""
        self._is_freeze_due = not self.table.idle.is_set()
        is_possible = (
            self._hooks.can_freeze and not self._is_freeze_due and bool(self.table.model.shown)
        )
        if is_possible and not self.is_frozen:
            self.table.freeze()

    def continue_freezing(self) -> None:
        """Freeze if that is due and the table has finished its work."""
        if self._is_freeze_due:
            self._freeze()

    # ---- releasing

    def let_first_answer_in(self) -> None:
        """Sort the rows of a feed's first answer in, also while frozen: the user awaits them.

        The cursor stays with its record and on its line, and the list freezes again afterwards.
        """
        if self.is_frozen:
            self.table.release()
            self._is_freeze_due = True

    def release(self) -> None:
        """End the freeze: bring the rows up to date, and load them again if that is due."""
        self.table.release()
        if self.reload_due:
            self._reload()
        self._on_released()

    def request_reload(self) -> None:
        """Load the rows again, now or at the end of the freeze."""
        if self.is_frozen:
            self.reload_due = True
        else:
            self._reload()

    def begin_scope_change(self) -> None:
        self._is_changing_scope = True
        self.table.release()

    def end_scope_change(self) -> None:
        self._is_changing_scope = False

    def tick(self, *, is_covered: bool) -> None:
        """Freeze or release the rows as time passes; called once a second.

        `is_covered` says whether a dialog is open: while it is, the user counts as active.
        """
        if self.table.marked and not self.is_frozen:
            self.on_interaction()  # what is marked is about to be acted on
        if not self.is_frozen:
            return
        if is_covered:
            self.on_interaction()
            return
        is_idle = self._clock.monotonic() - self._interacted_at >= IDLE_TIMEOUT
        if is_idle and not self.table.marked:
            self.release()
