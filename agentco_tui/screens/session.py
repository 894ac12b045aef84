"""What every screen is given: the services of the actions, settings, and what was read."""

from __future__ import annotations

import os
from typing import Any

from msgspec.structs import replace

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.services import Services
from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Unwritable
from agentco_tui.api.origin import platform_of
from agentco_tui.config import Settings, off_by
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.history import History
from agentco_tui.history.snooze import Snoozes
from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.names import Names, named
from agentco_tui.live.needs_model import NeedsModel
from agentco_tui.live.poller import Poller
from agentco_tui.model import Agent, Budget, Record, Task, Trace
from agentco_tui.screens.cells import Look
from agentco_tui.screens.found_needs import NeedsRefresh
from agentco_tui.system.child_process import without_key
from agentco_tui.system.state_folder import SNOOZED_FILE
from agentco_tui.text import SafeText, plain, safe

TRACES_KEPT = 20


class Session(Services):
    def __init__(
        self,
        settings: Settings,
        client: Client,
        poller: Poller,
        journal: Journal,
        *,
        history: History | None = None,
        **options: Any,
    ) -> None:
        origin, profile = str(settings.base_url), settings.profile
        super().__init__(client, poller, journal, origin=origin, profile=profile, **options)
        self.settings = settings
        self.names = Names(self.store)
        self.history = history  # None where nothing is remembered
        self.outlook = ForecastService(self.store, history, self.clock, settings.alerts)
        self.decisions = Decisions(self)
        self.look = Look(self.store, self.names, self.clock, settings.alerts)
        self.thin = settings.thin  # whether less is painted; also while the terminal is slow
        # The embedded platform begins anew each time.
        kept = None if profile == "demo" else journal.path.parent / SNOOZED_FILE
        self.snoozes = Snoozes(kept, platform_of(origin))
        self.snoozes.sync()
        self.needs = NeedsModel(
            self.outlook,
            self.snoozes,
            lambda: poller.query.company,
            lambda: [decision.task for decision in self.decisions.open],
        )
        self.needs_refresh = NeedsRefresh(self.needs)
        self.traces: dict[str, Trace | ApiError] = {}  # the last ones read, by their tasks' ids
        self.read: dict[str, bytes] = {}  # tasks that stood open long enough, with their digests

    def take_settings(self, settings: Settings) -> None:
        """Use others from now on, of the same platform; what can't be written stays so."""
        self.settings = settings
        self.look.limits = self.outlook.limits = settings.alerts
        self.poller.refresh = settings.refresh
        self.timing = replace(self.timing, hold_one=settings.hold)
        self.permissions.off = self.permissions.off or off_by(settings)

    def child_environment(self, **about: str) -> dict[str, str]:
        """For commands of the person's own, which get `about`, too."""
        about |= {"AGENTCO_PROFILE": self.profile, "AGENTCO_BASE_URL": self.origin}
        return without_key({**os.environ, **about}, self.client.transport.key.redact)

    @property
    def named_theme(self) -> str | None:
        """The one that a flag, the config file or the environment names."""
        return self.settings.theme or os.environ.get("TEXTUAL_THEME")

    async def trace_of(self, task: Task) -> Trace | ApiError:
        """The trace of a task, or why there is none; kept for those looked at last."""
        if task.shared_id:
            words = f"{task.sharers} tasks with this id: whose trace it would be is not known"
            return Unwritable(plain(words))
        try:
            found: Trace | ApiError = await self.client.task_trace(task.id)
        except ApiError as error:
            found = error
        self.traces = {**dict([*self.traces.items()][-TRACES_KEPT:]), task.id: found}
        return found

    def titled(self, title: SafeText, record: Record | None) -> SafeText:
        """A title with the company of what it is about, where more than one company is in view."""
        several = self.poller.query.company is None and len(self.store.companies) > 1
        if several and isinstance(record, Task | Agent | Budget):
            company = self.names.company_of(record)
            return plain(f"{title} ({self.names.company(company)})") if company else title
        return title

    def is_in_scope(self, task: Task) -> bool:
        """Whether the scope's list must have a task that waits: not if its company isn't known."""
        company, scope = self.names.company_of(task), self.poller.query.company
        return scope is None or (company is not None and company.id == scope)

    def scope_phase(self) -> Phase:
        """Whether there is the company that everything is shown of: live if so, failed if not,
        loading until that is known, stale where it can't be told.
        """
        scope, companies = self.poller.query.company, self.store.companies
        phase = self.store.freshness[FeedName.COMPANIES].phase
        if scope is None or scope in companies.records:
            return Phase.LIVE
        if phase is Phase.LOADING or len(named(scope, companies)) == 1:
            return Phase.LOADING
        is_none = phase is not Phase.FAILED and companies.listing.whole
        return Phase.FAILED if is_none else Phase.STALE

    def is_scope_shown(self) -> bool:
        """Whether a count of nothing may be believed."""
        return self.scope_phase() in (Phase.LIVE, Phase.STALE)

    def scope_error(self) -> SafeText | None:
        """That there is no company of the name or id that everything is to be shown of."""
        scope = self.poller.query.company
        if scope is None or self.scope_phase() is not Phase.FAILED:
            return None
        same, shown = len(named(scope, self.store.companies)), safe(scope, 60)
        words = f"no company has the name or id {shown}"
        if same:
            words = f"{same} companies have the name {shown}: say which by its id"
        if scope == self.settings.company:
            words += f" ({self.settings.sources.get('company', '--company').partition(',')[0]})"
        key = shown_key("company.unscope", self.settings.keys)
        return plain(f"{words}; {key} shows all companies" if key else words)

    def none_here(self, words: str) -> SafeText:
        """Words that there is nothing, with the company of which there is nothing."""
        scope = self.poller.query.company
        if scope is None:
            return plain(words)
        if self.scope_phase() is Phase.FAILED:
            return plain("there is no such company")
        unsure = "" if self.scope_phase() is Phase.LIVE else ", if there is such a company"
        return plain(f"{words} in {self.names.scope(scope)}{unsure}")
