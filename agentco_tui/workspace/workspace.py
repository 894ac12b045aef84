"""One platform in memory: its client, the current records, and everything derived from them.

The platform is the service whose companies of AI agents are watched. The dashboard and every
command use the same `Workspace`. Several may run in one event loop, and none of them prints. It
consists of objects that each do one thing: `Poller` reads the feeds (lists of records, such as the
tasks that wait) into the `Store`; `NeedsModel` ranks the needs, which are what the user should look
at; `ForecastService` (called the outlook) forecasts budgets and counts the last 24 hours; `History`
writes what was polled into a database; `Snoozes` are needs that the user put off, in a file that
several programs share. The scope is the company that the user has limited everything to, if any.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentco_tui.api.credentials import ApiKey
from agentco_tui.api.errors import ApiError, KeyRejected
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.config import Settings
from agentco_tui.keys.verb_commands import verb_command
from agentco_tui.live.feeds import Clock, FeedName, Pace, Phase, Query
from agentco_tui.live.names import Names, of_company, records_named
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, Task
from agentco_tui.system.background import sleep_unless
from agentco_tui.system.child_process import without_key
from agentco_tui.workspace.company_scope import CompanyScope
from agentco_tui.workspace.key_renewal import KeyRenewal
from agentco_tui.workspace.named_records import company_id_or_words
from agentco_tui.workspace.trace_cache import TraceCache

if TYPE_CHECKING:
    from agentco_tui.actions.services import Permissions, Services, Timing
    from agentco_tui.api.platform import Platform
    from agentco_tui.attention.needs import Need
    from agentco_tui.attention.needs_model import NeedsModel
    from agentco_tui.history.forecast_service import ForecastService
    from agentco_tui.history.history import History

FEEDS: Final = sorted(set(FeedName) - {FeedName.TASKS})
"""The feeds that needs, figures and metrics come from: all but the list of all tasks, as the tasks
that wait for the user are a feed of their own."""
FIRST_ANSWERS: Final = 25.0
"""Seconds that a command waits for the first answers before it prints anything."""
FORECASTS: Final = 10.0
"""Seconds that a command waits for the first forecasts."""
ROLE_WITHIN: Final = 5.0
"""Seconds that the platform has to say what the key may do."""
LONGEST_PAUSE: Final = 10.0
"""Seconds between two refreshes of the needs at most: waits grow although nothing changes."""
GATHER: Final = 0.2
"""Seconds for which changes are gathered into one refresh."""
CLOSING: Final = 10.0
"""Seconds in which a command that ends writes the rest of its history."""


class Workspace:
    """Everything known of one platform, from its client to what needs the user.

    Close it with `aclose` in the event loop, which ends requests, and then with `close`, which
    writes its files.
    """

    def __init__(
        self,
        settings: Settings,
        client: Platform,
        *,
        snoozes: Snoozes,
        history: History | None = None,
        clock: Clock | None = None,
        poller_class: type[Poller] = Poller,
    ) -> None:
        """`history` is None if nothing is remembered.

        A replay passes a `clock` and a `poller_class` that follow a recording.
        """
        self.settings = settings
        self.client = client
        self.key = client.transport.key
        self.origin = str(settings.base_url)
        """The address of the platform."""
        self.profile = settings.profile
        """The user's name for the platform, its key and the settings for it."""
        self.store = Store()
        self.names = Names(self.store)
        """Looks up the names of companies and agents by their ids."""
        # The skew is the difference between the platform's clock and ours, in seconds.
        self.clock = clock or Clock(lambda: client.transport.measured.clock_skew)
        self.poller = poller_class(
            client,
            self.store,
            self.clock,
            refresh=settings.refresh,
            query=Query(company=settings.company),
        )
        self.history = history
        self.snoozes = snoozes
        self.scope = CompanyScope(
            self.store, self.names, lambda: self.poller.query.company, lambda: self.settings
        )
        """The company that everything is shown of, if there is one."""
        self.traces = TraceCache(client)
        """The traces read last: the steps in which an agent worked on a task."""
        self.decided_tasks: Callable[[], list[Task]] = list
        """Returns the tasks that the user approved here and whose outcome is not known yet. They
        are not among the needs. A dashboard sets it; without a screen there are none.
        """
        self.verb_commands = {
            command.id: command
            for command in (
                verb_command(verb.name, verb.key, verb.label, verb.kind, client.name)
                for verb in client.capabilities.verbs
            )
        }
        """The commands for what only this platform offers, by their ids."""
        self.ranked_needs: list[Need] = []
        """The needs as of the last `refresh_needs`: the worst first, with those snoozed."""
        self.key_renewal = KeyRenewal(
            self.key, lambda: self.settings.key_location, self._key_was_renewed
        )
        self.on_key_renewed: Callable[[], object] | None = None
        """Called after the key was replaced."""
        self.on_company_found: Callable[[str], object] = self.set_company
        """Called with the id of the company in scope, if the settings have it by its name."""
        self._changed = asyncio.Event()
        """Set if a feed was answered or has failed since the needs were refreshed."""
        self._services: Services | None = None
        self._key_of_role: ApiKey | None = None
        """The key whose role was asked for last."""
        self._role_is_due = asyncio.Event()
        self.store.follow_freshness(self._freshness_changed)

    # Commands that only read records, such as `get`, neither make these two nor import what they
    # need. All others make them before the first answer, because they follow the store.

    @cached_property
    def outlook(self) -> ForecastService:
        """Forecasts budgets, and counts the last 24 hours."""
        from agentco_tui.history.forecast_service import ForecastService  # noqa: PLC0415

        return ForecastService(self.store, self.history, self.clock, self.settings.alerts)

    @cached_property
    def needs(self) -> NeedsModel:
        """Ranks what needs the user."""
        from agentco_tui.attention.needs_model import NeedsModel  # noqa: PLC0415

        return NeedsModel(
            self.outlook,
            self.snoozes,
            lambda: self.poller.query.company,
            self._tasks_decided_here,
        )

    # ---- running

    async def run(self, *, remembers: bool = True, history_after: float = 0.0) -> None:
        """Poll, renew the key and work out forecasts until cancelled.

        With `remembers` what is polled is also written to the history. The history is first used
        after `history_after` seconds, so that the first picture does not wait for its file.
        """
        self._follow_store()
        async with asyncio.TaskGroup() as work:
            work.create_task(self.poller.run())
            work.create_task(self.key_renewal.run())
            work.create_task(self._follow_role())
            if self.history is not None:
                work.create_task(self._use_history(self.history, history_after, remembers))

    def _follow_store(self) -> NeedsModel:
        """Make the outlook and the needs, unless that was done; both follow the store then."""
        return self.needs

    async def _follow_role(self) -> None:
        """Read the role of each key that the platform has answered, until cancelled."""
        while True:
            await self._role_is_due.wait()
            self._role_is_due.clear()
            await self.read_role()

    async def read_role(self) -> None:
        """Learn from the platform whether the key may change anything, if it says so."""
        self._key_of_role = self.key.key
        if self._services is None:
            return
        # If it can't be learned, the platform itself refuses what the role may not do.
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(ROLE_WITHIN):
                self._services.permissions.note_role(await self.client.why_read_only())

    async def _use_history(self, history: History, after: float, remembers: bool) -> None:
        from agentco_tui.history.history_keeper import (  # noqa: PLC0415 (once, off the start)
            HistoryKeeper,
        )

        await asyncio.sleep(after)
        async with asyncio.TaskGroup() as work:
            if remembers:
                # It writes what is polled, and what the tracker counts of the waiting tasks; `run`
                # reads what became of tasks that no longer wait.
                keeper = HistoryKeeper(history, self.poller, self.needs.tracker)
                await keeper.start()
                work.create_task(keeper.run(), name="departures")
            await self.outlook.run()

    def open_services(
        self, journal_path: Path, permissions: Permissions, timing: Timing | None = None
    ) -> Services:
        """Open the journal, and return what every write needs; to be called once.

        The journal is the file in which each change is noted before it is sent. `permissions` say
        what may be changed; `timing` has the waiting times of writes, by default the usual ones.
        """
        # Commands that only read do not import what writes.
        from agentco_tui.actions.journal import Journal  # noqa: PLC0415
        from agentco_tui.actions.services import Services  # noqa: PLC0415

        self._services = Services(
            self.client,
            self.poller,
            Journal(journal_path, self.key.redact),
            origin=self.origin,
            profile=self.profile,
            permissions=permissions,
            timing=timing,
        )
        return self._services

    async def aclose(self) -> None:
        """End the reads of writes that are under way; they must not outlive the client."""
        if self._services is not None:
            await self._services.close()

    def close(self, patience: float = 0.5) -> None:
        """Write what is not written yet, and close the files; `patience` in seconds.

        May be called from any thread, and more than once.
        """
        self.snoozes.sync()  # writes new ones to the file
        if self._services is not None:
            self._services.journal.close()
        if self.history is not None:
            self.history.close(patience)

    # ---- without a screen

    async def run_without_screen(self, *, remembers: bool = True) -> None:
        """Run as `run` does, and poll every feed that needs, figures and metrics come from.

        With a screen, the screen chooses the feeds and how often each is polled (its pace).
        """
        self.outlook.on_change = self._changed.set
        self.poller.set_paces(dict.fromkeys(FEEDS, Pace.REFRESH))
        await self.run(remembers=remembers)

    async def next_refresh(self, within: float = LONGEST_PAUSE) -> None:
        """Refresh the needs after the next change, and after `within` seconds at the latest."""
        await sleep_unless(self._changed, within, asyncio.sleep)
        await asyncio.sleep(GATHER)
        self._changed.clear()
        await self.refresh_needs()

    async def refresh_needs(self) -> None:
        """Bring the needs up to date, also with what other programs have snoozed."""
        from agentco_tui.attention.needs_model import MOST_SHOWN  # noqa: PLC0415

        await asyncio.to_thread(self.snoozes.sync)
        await self.needs.refresh()
        self.ranked_needs = self.needs.ranked(MOST_SHOWN)

    def _tasks_decided_here(self) -> list[Task]:
        return self.decided_tasks()

    def refresh_soon(self) -> None:
        """End the wait of `next_refresh`."""
        self._changed.set()

    async def first_answers(
        self, until: float | None = None, feeds: Iterable[FeedName] = FEEDS
    ) -> None:
        """Wait until each feed has been answered or has failed, then work out the forecasts.

        Waits for answers until `until`, a time of the event loop, at the latest.
        """
        from agentco_tui.history.observations import HistoryError  # noqa: PLC0415

        self._follow_store()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await asyncio.gather(*map(self.poller.read_again, feeds))
        with suppress(HistoryError, TimeoutError):
            async with asyncio.timeout(FORECASTS):
                await self.outlook.work_out(self.budgets())

    def budgets(self) -> list[Budget]:
        """Return the budgets in scope: the total, those of companies, then those of agents.

        Among companies and among agents, the one with the largest spent share comes first.
        """
        # The query names the company in scope, None for all; `of_company` returns a predicate.
        is_in_scope = of_company(self.store, self.poller.query.company)
        budgets: list[Budget] = []
        for collection in self.store.budgets.values():
            in_scope = filter(is_in_scope, collection)
            budgets += sorted(in_scope, key=lambda budget: -(budget.share or 0))
        return budgets

    # ---- the company in scope

    async def find_company(self) -> None:
        """Read the id of the company that the settings name, and poll only that company.

        Keeps the name if the id can't be read within `FIRST_ANSWERS` seconds. Raises SettingsError
        if there is no such company, or several.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_ANSWERS):
                self.set_company(await company_id_or_words(self.settings, self.client))

    def set_company(self, company_id: str | None) -> None:
        """Poll the records of one company, or with None of all companies."""
        if company_id != self.poller.query.company:
            self.poller.set_query(Query(company=company_id))

    # ---- settings and key

    def take_settings(self, settings: Settings) -> None:
        """Use other settings of the same platform from now on."""
        self.settings = settings
        self.outlook.limits = settings.alerts
        self.poller.refresh = settings.refresh

    def child_environment(self, **variables: str) -> dict[str, str]:
        """Return the environment for a command of the user: ours without the API key.

        `variables` are added, with the profile, the address and the interface of the platform.
        """
        variables["AGENTCO_PROFILE"] = self.profile
        variables["AGENTCO_BASE_URL"] = self.origin
        environment = {**os.environ, **variables}
        environment.pop("AGENTCO_PLATFORM", None)  # that of the start may be another profile's
        if self.settings.platform is not None:
            environment["AGENTCO_PLATFORM"] = self.settings.platform
        return without_key(environment, self.key.redact)

    def _freshness_changed(self, feed: FeedName) -> None:
        """Called when a feed was answered or has failed.

        A refused key is read again. The role of a key is asked for once the picture is there. If
        the settings name the company in scope by its name, its id is used from the first list of
        companies on that has it.
        """
        self._changed.set()
        if isinstance(self.store.freshness[feed].failure, KeyRejected):
            self.key_renewal.note_refusal()
        if self._key_of_role is not self.key.key and self._is_picture_there(feed):
            self._role_is_due.set()
        company = self.poller.query.company
        if feed is FeedName.COMPANIES and company is not None:
            matches = records_named(company, self.store.companies)
            if len(matches) == 1 and matches[0].id != company:
                self.on_company_found(matches[0].id)

    def _is_picture_there(self, answered: FeedName) -> bool:
        """Whether a feed was answered, and none that is shown waits for its first answer."""
        freshness = self.store.freshness
        shown = [feed for feed in FeedName if self.poller.pace(feed) is Pace.REFRESH]
        is_answered = freshness[answered].phase is Phase.LIVE
        return is_answered and not any(freshness[feed].awaited for feed in shown)

    def _key_was_renewed(self) -> None:
        if self._services is not None:
            self._services.permissions.key_changed()  # the new key may be allowed more
        self.poller.poll_now()
        if self.on_key_renewed is not None:
            self.on_key_renewed()
