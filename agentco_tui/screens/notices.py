"""Which notices are shown in the corner: each once, and none over a question."""

from __future__ import annotations

from collections.abc import Callable

from textual.notifications import Notification


class Notices:
    """Remembers the notices that may still be shown."""

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
    """A function that shows the same notice again."""

    def repeat() -> None:
        notify(notice.message, markup=False, severity=notice.severity, timeout=notice.timeout)

    return repeat
