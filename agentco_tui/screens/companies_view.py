"""The companies: enter scopes every screen to one."""

from __future__ import annotations

from typing import Any

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Collection
from agentco_tui.model import Company
from agentco_tui.screens.columns.company_columns import company_columns
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.widgets.table.layout import Column


class CompaniesView(ListView[Company]):
    """All companies, whatever is in scope."""

    place = "companies"
    heading = "COMPANIES"
    sort = ("name", False)
    empty = "no companies"

    BINDINGS = bindings_of("companies")

    @property
    def collection(self) -> Collection[Any]:
        return self.session.store.companies

    def columns(self) -> list[Column[Company]]:
        return company_columns(self.look)

    def search_text(self, record: Company) -> str:
        words = (record.name, record.status, record.template, record.mission, record.id)
        return "\n".join(word for word in words if word)

    def take(self, change: Change) -> None:
        """Take a change; the names are in the records, so no reload for those."""
        self._names_seen = self._names()
        super().take(change)

    def take_figures(self, change: Change) -> None:
        """What a company has spent comes with its budget, the rest may have to be counted."""
        if change.feed is FeedName.COMPANY_BUDGETS:
            self.read_again((*change.added, *change.changed, *change.removed))
        elif change.feed in (FeedName.AGENTS, FeedName.PENDING):
            self.read_again(self.table.rows.shown)
        else:
            super().take_figures(change)

    def open(self, row_id: str) -> None:
        """Scope everything to the company and read its own record."""
        self.main.set_scope(row_id)
        self.main.read_record(self.feed, row_id)
