"""The detail of the row under the cursor, beside a list or in place of it.

It follows the cursor with a delay, can show hidden characters (control characters, as escapes), and
holds the record that was read alone, by its own request: the platform (the remote service that has
the records) may send more fields for one record than in a list. `DetailPane` shows lines of text,
some of which lead to other records.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import Final

from textual.timer import Timer

from agentco_tui.api.errors import ApiError
from agentco_tui.model import Record
from agentco_tui.screens.key_app import DetailPane

FOLLOW_DELAY: Final = 0.15
"""Seconds from the cursor's last move to its detail: longer than the pause of a repeating key."""


class ListDetail(DetailPane):
    """The pane; what it shows of a record is decided by the list."""

    def __init__(self) -> None:
        super().__init__(classes="list--detail")
        self.is_raw = False
        """Whether hidden characters are shown."""
        self.shown_row: str | None = None
        """The id of the row shown here; only for another row the pane is scrolled to the top."""
        self._whole: Record | None = None
        """The record that was read alone."""
        self._follow_timer: Timer | None = None
        """Runs from the cursor's last move until the detail is shown."""

    # ---- following the cursor

    @property
    def follows(self) -> bool:
        """Whether the cursor has moved and its detail is not shown yet."""
        return self._follow_timer is not None

    def follow(self, show: Callable[[], object]) -> None:
        """Call `show` where the cursor comes to rest; on the way the detail is not drawn."""

        def show_at_rest() -> None:
            self._follow_timer = None
            show()

        if self._follow_timer is None:
            self._follow_timer = self.set_timer(FOLLOW_DELAY, show_at_rest, name="detail")
        else:
            self._follow_timer.reset()

    # ---- the record that was read alone

    def whole(self, record: Record | None) -> Record | None:
        """Return the record as it was read alone, if it was; else the record unchanged."""
        if self._whole is not None and record is not None and self._whole.id == record.id:
            return self._whole
        return record

    async def read_whole(self, reading: Awaitable[Record]) -> Record | ApiError:
        """Wait for the record that is read alone, and keep it; return the error if that fails."""
        try:
            self._whole = await reading
        except ApiError as error:
            return error
        return self._whole

    def forget_whole(self, record_ids: Container[str]) -> None:
        """Drop the record that was read alone, if it is one of these: it has changed since."""
        if self._whole is not None and self._whole.id in record_ids:
            self._whole = None
