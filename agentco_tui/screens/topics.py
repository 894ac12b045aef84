"""One topic for each kind of news, which lists subscribe to while they are mounted.

`NewsPublisher` and the frame (the dashboard's main screen) publish. Subscribers are called at once,
in the order in which they subscribed, and paint only the cells that look different now. The store
holds the records as last read from the platform, the remote service that is watched. A feed is one
list of records that is polled from it; a decision is an approval of a task that was started here.

Textual's `Signal` does the same, except that it logs and ignores the errors of its subscribers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from textual.widget import Widget

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change

T = TypeVar("T")


class Topic(Generic[T]):
    """News that widgets subscribe to while they are mounted."""

    def __init__(self) -> None:
        self._subscribers: list[tuple[Widget, Callable[[T], object]]] = []

    def subscribe(self, widget: Widget, callback: Callable[[T], object]) -> None:
        """Call `callback` with everything published, until the widget is removed.

        The widget must be mounted already.
        """
        self._subscribers.append((widget, callback))

    def publish(self, news: T) -> None:
        """Call the subscribers, in the order in which they subscribed. Raises what they raise."""
        self._subscribers = [each for each in self._subscribers if each[0].is_attached]
        for _, callback in self._subscribers:
            callback(news)


class Topics:
    """The topics of one frame."""

    def __init__(self) -> None:
        self.changes = Topic[Change]()
        """A change of the store."""
        self.decisions = Topic[Collection[str]]()
        """The ids of tasks whose decisions have changed."""
        self.needs = Topic[None]()
        """The needs, the list of what the user should look at, were refreshed."""
        self.forecasts = Topic[None]()
        """Forecasts, or figures of the past, have changed."""
        self.freshness = Topic[FeedName]()
        """How fresh a feed is has changed."""
        self.seconds = Topic[None]()
        """A second has passed; on a slow line ten."""
        self.scope_leaving = Topic[None]()
        """Another company is about to be shown: records that go now are not news."""
        self.scope_entered = Topic[None]()
        """The records of another company, or of all, are shown from now on."""
        self.appearance = Topic[None]()
        """The settings, or the speed of the line, have changed how things are painted."""
