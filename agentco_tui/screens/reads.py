"""What the frame reads by itself, beside the feeds: traces, single records, and the key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.worker import Worker

from agentco_tui.api.errors import ApiError, KeyRejected
from agentco_tui.live.feeds import FeedName
from agentco_tui.model.records import Agent, Company, Task
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.session import Session
from agentco_tui.screens.view import View
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import Dialogs
    from agentco_tui.screens.reload_key import KeyRenewal

Ask = Callable[[], Awaitable[Agent | Company]]


class Reads:
    """Traces, single records and the key for the frame, which is the widget."""

    session: Session
    app: App[Any]
    run_worker: Callable[..., Worker[Any]]

    @property
    def view(self) -> View:
        """The screen shown."""
        raise NotImplementedError

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a short message."""
        raise NotImplementedError

    @property
    def dialogs(self) -> Dialogs:
        """All that comes over the frame."""
        raise NotImplementedError

    @cached_property
    def key_renewal(self) -> KeyRenewal:
        """Reads the key again; imported here, and only here, when that is first wanted."""
        from agentco_tui.screens.reload_key import KeyRenewal  # noqa: PLC0415

        return KeyRenewal(self.session, self.say)

    def read_key_again(self) -> None:
        """The person polls by hand: another key may be there by now."""
        start_worker(self, self.key_renewal.asked, "read the key again")

    def look_for_key(self, feed: FeedName) -> None:
        """A feed answered or failed: if it was refused, another key may be in its file by now."""
        place = self.session.settings.key_place
        refused = isinstance(self.session.store.freshness[feed].failure, KeyRejected)
        if refused and place is not None and place.is_file:
            start_worker(self, self.key_renewal.refused, "look for another key")

    def show_trace(self, task: Task) -> None:
        """Open a task's trace; from there one key goes on to the question."""
        self.dialogs.trace(task, self.view.look)

    def read_agent(self, agent_id: str) -> None:
        """Read an agent's own record; the list may leave fields out that it has."""
        client = self.session.client
        self._read(lambda: client.agent(agent_id), FeedName.AGENTS)

    def read_company(self, company_id: str) -> None:
        """Read a company's own record."""
        client = self.session.client
        self._read(lambda: client.company(company_id), FeedName.COMPANIES)

    def _read(self, ask: Ask, feed: FeedName) -> None:
        name = f"read {feed}"
        start_worker(self, partial(self._read_one, ask, feed), name, group=name)

    async def _read_one(self, ask: Ask, feed: FeedName) -> None:
        try:
            record = await ask()
        except ApiError as error:
            self.say(str(error), bad=True)
            return
        self.show_read(record, feed)

    def show_read(self, record: Agent | Company, feed: FeedName) -> None:
        """Show a record that was read by itself in the detail pane, if it is still the one."""
        view = self.view
        if isinstance(view, ListView) and view.feed is feed and view.table.cursor_id == record.id:
            view.show_whole(record)
