"""The companies: enter scopes every screen to one."""

from __future__ import annotations

from typing import ClassVar

from agentco_tui.live.feeds import FeedName
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
    lists = (FeedName.COMPANIES,)
    names_from = frozenset[FeedName]()
    figures_from: ClassVar = {
        FeedName.COMPANY_BUDGETS: "same id",
        # What the platform doesn't count is counted here.
        FeedName.AGENTS: "any",
        FeedName.PENDING: "any",
    }

    BINDINGS = bindings_of("companies")

    def columns(self) -> list[Column[Company]]:
        return company_columns(self.look)

    def search_text(self, record: Company) -> str:
        words = (record.name, record.status, record.template, record.mission, record.id)
        return "\n".join(word for word in words if word)

    def open(self, row_id: str) -> None:
        """Scope everything to the company and read its own record."""
        self.main.set_scope(row_id)
        self.main.read_record(FeedName.COMPANIES, row_id)
