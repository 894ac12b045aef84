"""The workspace of a dashboard: with what its screens need besides the picture of the platform."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.services import Permissions, Timing
from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Unwritable
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.config import Settings, off_by
from agentco_tui.history.history import History
from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import Clock, FeedName, Phase
from agentco_tui.live.names import named
from agentco_tui.live.poller import Poller
from agentco_tui.model import Agent, Budget, Record, Task, Trace
from agentco_tui.screens.cells import CellContext
from agentco_tui.screens.needs_refresh import NeedsRefresh
from agentco_tui.system.child_process import without_key
from agentco_tui.system.state_folder import why_not_writable
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.workspace.workspace import Workspace

TRACES_KEPT: Final = 20


def write_permissions(settings: Settings, folder: Path) -> Permissions:
    """What may be written: nothing in read-only, or if the journal's folder can't be written."""
    off = off_by(settings)
    if off is None:
        why = why_not_writable(folder)
        if why is not None:
            off = plain(
                f"writing is off: the state folder {safe(str(folder), 200)} can't be written "
                f"({why}), and nothing is sent without the journal; mend that and start again"
            )
    return Permissions(off)


class DashboardWorkspace(Workspace):
    """A workspace with a journal, for the screens of one dashboard."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        journal_path: Path,
        *,
        snoozes: Snoozes,
        history: History | None = None,
        clock: Clock | None = None,
        poller_class: type[Poller] = Poller,
        permissions: Permissions | None = None,
        timing: Timing | None = None,
    ) -> None:
        """`permissions` and `timing` are those of the writes."""
        super().__init__(
            settings,
            client,
            snoozes=snoozes,
            history=history,
            clock=clock,
            poller_class=poller_class,
        )
        self.permissions = permissions or Permissions()
        timing = timing or Timing(hold_one=settings.hold)
        self.services = self.open_services(journal_path, self.permissions, timing)
        self.decisions = Decisions(self.services)
        self.cell_context = CellContext(self.store, self.names, self.clock, settings.alerts)
        self.thin = settings.thin  # whether less is painted, as also while the terminal is slow
        self.snoozes.sync()
        self.needs_refresh = NeedsRefresh(self.needs)
        self.traces: dict[str, Trace | ApiError] = {}  # the last ones read, by their tasks' ids
        self.read: dict[str, bytes] = {}
        """The digests of the tasks that were open long enough to be read, by their ids."""

    def decided_tasks(self) -> list[Task]:
        return [decision.task for decision in self.decisions.open]

    def take_settings(self, settings: Settings) -> None:
        """Use other settings of the same platform; what can't be written stays so."""
        super().take_settings(settings)
        self.cell_context.limits = settings.alerts
        self.services.timing = replace(self.services.timing, hold_one=settings.hold)
        self.permissions.off = self.permissions.off or off_by(settings)

    def child_environment(self, **about: str) -> dict[str, str]:
        """The environment of the user's own commands, with the variables `about` and no key."""
        about |= {"AGENTCO_PROFILE": self.profile, "AGENTCO_BASE_URL": self.origin}
        return without_key({**os.environ, **about}, self.key.redact)

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
