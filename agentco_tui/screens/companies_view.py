"""The companies: enter scopes every screen to one."""

from __future__ import annotations

from collections.abc import Iterable

from agentco_tui import format as fmt
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Budget, Company, Ref
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import plain, signs
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone, bar

BAR_WIDTH = 12


class CompaniesView(ListView[Company]):
    place = "companies"
    sort = ("name", False)
    empty = "no companies"
    lists = (FeedName.COMPANIES,)
    names_from = frozenset[FeedName]()
    # What the platform doesn't count is counted here.
    figures_from = frozenset({FeedName.COMPANY_BUDGETS, FeedName.AGENTS, FeedName.PENDING})
    BINDINGS = bindings_of("companies")

    def columns(self) -> list[Column[Company]]:
        look, store, names = self.look, self.look.store, self.look.names

        def budget(company: Company) -> Budget | None:
            return store.company_budgets.get(company.id)

        def counted(sent: int | None, owners: Iterable[Ref | None], company: Company) -> Cell:
            refs = [] if sent is not None else list(owners)
            if not refs:
                return cells.number_cell(sent)
            here = sum(1 for ref in refs if ref is not None and ref.id == company.id)
            return Cell(plain(f"{signs.derived}{fmt.count(here)}"))

        def agents(company: Company) -> Cell:
            return counted(company.agent_count, (agent.company for agent in store.agents), company)

        def waiting(company: Company) -> Cell:
            return counted(company.pending_count, map(names.company_of, store.pending), company)

        def spent(company: Company) -> Cell:
            known = budget(company)
            return cells.money_cell(known.spent if known else None)

        def used(company: Company) -> Cell:
            known = budget(company)
            if known is None or known.share is None or known.unlimited:
                return Cell(signs.missing, Tone.DIM)
            words = f"{bar(known.share, BAR_WIDTH)} {fmt.percent(known.share):>5}"
            return Cell(plain(words), TONES[look.level_of(known)])

        def share(company: Company) -> object:
            known = budget(company)
            return known.share if known else None

        # fmt: off
        return [
            cells.level_column(lambda c: look.level_of(budget(c)), ticks=True),
            cells.text_column("name", "COMPANY", (16, 12),
                lambda c: c.name or names.company(Ref(id=c.id)), Tone.STRONG, grow=1,
                aliases=("company",)),
            cells.text_column("status", "STATUS", (9, 6), lambda c: c.status, priority=3),
            cells.column("agents", "AGENTS", (6, 6), agents, align="right", ticks=True),
            cells.column("waiting", "WAITING", (7, 7), waiting, align="right", ticks=True),
            cells.column("spent", "SPENT", (12, 9), spent, priority=1, align="right", ticks=True),
            cells.number_column("used", "OF LIMIT", (BAR_WIDTH + 6, BAR_WIDTH + 6), used, share,
                align="left", ticks=True, kind=ColumnKind.SHARE, descending_first=True,
                aliases=("share",)),
            cells.text_column("mission", "MISSION", (20, 20), lambda c: c.mission, Tone.DIM,
                priority=5, grow=3, sort_key=None),
        ]
        # fmt: on

    def search_text(self, record: Company) -> str:
        words = (record.name, record.status, record.template, record.mission, record.id)
        return "\n".join(filter(None, words))

    def open(self, row_id: str) -> None:
        self.main.set_scope(row_id)
        self.read_whole(self.session.client.company, row_id)
