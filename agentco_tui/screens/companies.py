"""The companies: enter scopes every screen to one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import BindingType

from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Collection
from agentco_tui.model.records import Company
from agentco_tui.screens.columns.companies import company_columns
from agentco_tui.screens.list_view import CollectionView
from agentco_tui.screens.view import bindings_of
from agentco_tui.widgets.table.layout import Column


class CompaniesView(CollectionView[Company]):
    """All companies, whatever is in scope."""

    place: ClassVar[Place] = "companies"
    heading = "COMPANIES"
    sort = ("name", False)
    empty = "no companies"

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(
        "companies", {"companies.new": "new_company", "companies.clone": "clone_company"}
    )

    @property
    def collection(self) -> Collection[Any]:
        """The companies."""
        return self.session.store.companies

    def feeds(self) -> Iterable[FeedName]:
        """The companies' own feed."""
        return (FeedName.COMPANIES,)

    def columns(self) -> list[Column[Company]]:
        """The companies' columns."""
        return company_columns(self.look)

    def search_text(self, record: Company) -> str:
        """Name, status, template and mission."""
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
            self.read_again(self.table.shown_ids)
        else:
            super().take_figures(change)

    def open(self, row_id: str) -> None:
        """Scope everything to the company and read its own record."""
        self.main.set_scope(row_id)
        self.main.read_company(row_id)

    def action_new_company(self) -> None:
        """Ask for a new company's fields."""
        self.main.new_company()

    def action_clone_company(self) -> None:
        """Ask for the clone's fields."""
        company = self.selected()
        if company is not None:
            self.main.clone_company(company)
