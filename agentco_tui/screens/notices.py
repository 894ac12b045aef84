"""Notices in the corner: one that says the same as another that still shows is not added."""

from __future__ import annotations

from textual.app import App
from textual.notifications import Notification, Notify


def same(one: Notification, other: Notification) -> bool:
    """Whether two notices say the same, as loudly."""
    return (one.title, one.message, one.severity) == (other.title, other.message, other.severity)


class NoticeApp(App[None]):
    """An app that says a thing once, however often it has to be said while it can be read."""

    def on_notify(self, event: Notify) -> None:
        """Leave out what stands there already."""
        if any(same(event.notification, shown) for shown in self._notifications):
            event.prevent_default()
