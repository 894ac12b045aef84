"""Suppresses repeated notices (Textual's toasts): an equal one is not shown twice at a time.

The app asks `Notices.accept` before it shows a notice. A notice that would cover a question (a
confirmation dialog) is put off until the question is closed, and then shown by the function that
`repeat_of` returns.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.notifications import Notification


class Notices:
    """The notices that may still be on the screen."""

    def __init__(self) -> None:
        self._shown: list[Notification] = []

    def accept(self, new: Notification) -> bool:
        """Whether to show it: False if an equal one is still shown."""
        self._shown = [notice for notice in self._shown if not notice.has_expired]
        if any(_content(notice) == _content(new) for notice in self._shown):
            return False
        self._shown.append(new)
        return True

    def clear(self) -> None:
        self._shown.clear()


def _content(notice: Notification) -> tuple[str, str, str]:
    return notice.title, notice.message, notice.severity


def repeat_of(notice: Notification, notify: Callable[..., None]) -> Callable[[], None]:
    """Return a function that shows the same notice again by calling `notify`."""

    def repeat() -> None:
        notify(notice.message, markup=False, severity=notice.severity, timeout=notice.timeout)

    return repeat
