"""The screens that are a list and its detail: the companies, the agents, what the agents do."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on

from agentco_tui import format as fmt
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import in_scope
from agentco_tui.live.store import Change
from agentco_tui.model import Activity, Agent, Company, Ref
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone, bar

BAR_WIDTH = 12


class CompaniesView(ListView[Company]):
    """Enter scopes every screen to one."""

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
        budget_of = look.budget_of

        def counted(sent: int | None, owners: Iterable[Ref | None], company: Company) -> Cell:
            refs = [] if sent is not None else list(owners)
            if not refs:
                return cells.number_cell(sent)
            here = sum(1 for ref in refs if ref is not None and ref.id == company.id)
            return Cell(plain(f"{signs.derived}{fmt.count(here)}"))

        def used(company: Company) -> Cell:
            known = budget_of(company)
            if known is None or known.share is None or known.unlimited:
                return Cell(signs.missing, Tone.DIM)
            words = f"{bar(known.share, BAR_WIDTH)} {fmt.percent(known.share):>5}"
            return Cell(plain(words), TONES[look.level_of(known)])

        # fmt: off
        return [
            cells.level_column(lambda c: look.level_of(budget_of(c)), ticks=True),
            cells.text_column("name", "COMPANY", (16, 12),
                lambda c: c.name or names.company(Ref(id=c.id)), Tone.STRONG, grow=1,
                aliases=("company",)),
            cells.text_column("status", "STATUS", (9, 6), lambda c: c.status, priority=3),
            cells.column("agents", "AGENTS", (6, 6), align="right", ticks=True,
                cell=lambda c: counted(c.agent_count, (a.company for a in store.agents), c)),
            cells.column("waiting", "WAITING", (7, 7), align="right", ticks=True,
                cell=lambda c: counted(c.pending_count, map(names.company_of, store.pending), c)),
            cells.column("spent", "SPENT", (12, 9), priority=1, align="right", ticks=True,
                cell=lambda c: cells.money_cell(b.spent if (b := budget_of(c)) else None)),
            cells.number_column("used", "OF LIMIT", (BAR_WIDTH + 6, BAR_WIDTH + 6), used,
                lambda c: b.share if (b := budget_of(c)) else None, align="left", ticks=True,
                kind=ColumnKind.SHARE, descending_first=True, aliases=("share",)),
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


class AgentsView(ListView[Agent]):
    place = "agents"
    sort = ("name", False)
    empty = "no agents"
    lists = (FeedName.AGENTS,)
    names_from = frozenset({FeedName.COMPANIES})
    figures_from = frozenset({FeedName.AGENT_BUDGETS})
    BINDINGS = bindings_of("agents")

    def columns(self) -> list[Column[Agent]]:
        look, names, budget_of = self.look, self.look.names, self.look.budget_of

        # fmt: off
        return [
            cells.level_column(lambda a: look.level_of(budget_of(a)), ticks=True),
            cells.text_column("name", "AGENT", (14, 10),
                lambda a: a.name or names.agent(Ref(id=a.id)), Tone.STRONG, grow=2,
                aliases=("agent",)),
            cells.text_column("role", "ROLE", (12, 8), lambda a: a.role, priority=3, grow=1),
            cells.text_column("company", "COMPANY", (15, 8), lambda a: names.company(a.company),
                priority=2),
            cells.column("status", "  STATUS", (17, 10), cells.agent_status_cell,
                sort_key=lambda a: a.status or ""),
            cells.number_column("trust", "TRUST", (5, 5),
                lambda a: cells.trust_cell(a.trust, a.trust_word), lambda a: a.trust, priority=1,
                descending_first=True),
            cells.money_column("left", "LEFT", (11, 8),
                lambda a: cells.left_of(a, budget_of(a)),
                lambda a: TONES[look.level_of(budget_of(a))], ticks=True,
                aliases=("remaining", "budget")),
            cells.number_column("done", "DONE", (6, 5),
                lambda a: cells.number_cell(a.tasks_completed), lambda a: a.tasks_completed,
                priority=4, descending_first=True),
            cells.text_column("model", "MODEL", (16, 8), lambda a: a.model, Tone.DIM, priority=5),
        ]
        # fmt: on

    def search_text(self, record: Agent) -> str:
        company = self.session.names.company(record.company)
        words = (record.name, record.role, company, record.status, record.model)
        return "\n".join(filter(None, words))

    def wanted(self, record: Agent) -> bool:
        return in_scope(record.company, self.session.poller.query.company)

    def open(self, row_id: str) -> None:
        super().open(row_id)
        self.read_whole(self.session.client.agent, row_id)


class ActivityView(ListView[Activity]):
    """Follows the newest entry, until it is paused or the cursor leaves the top."""

    place = "activity"
    sort = ("age", True)
    empty = "nothing happened yet"
    lists = (FeedName.ACTIVITY,)
    calm = False  # A feed is followed or paused; what is new belongs on top
    BINDINGS = bindings_of("activity")
    following = True
    _new = 0  # entries that came while it is paused

    def columns(self) -> list[Column[Activity]]:
        look, names = self.look, self.look.names

        def at(entry: Activity) -> float | None:
            return entry.at.at if entry.at else None

        def company(entry: Activity) -> SafeText:
            agent = names.agent_of(entry.agent)
            return names.company(entry.company or (agent.company if agent else None))

        def tone(entry: Activity) -> Tone:
            return TONES[cells.SEVERITY_LEVELS[entry.severity]]

        # fmt: off
        return [
            cells.level_column(lambda e: cells.SEVERITY_LEVELS[e.severity]),
            cells.age_column(look, "age", "AGE", at, sort_key=at, descending_first=True),
            cells.text_column("agent", "AGENT", (11, 6),
                lambda e: plain("") if is_gap(e) else names.agent(e.agent or e.actor), Tone.ACCENT,
                aliases=("who",)),
            cells.text_column("what", "WHAT HAPPENED", (40, 38), lambda e: e.text, tone, grow=4,
                aliases=("text",)),
            cells.text_column("company", "COMPANY", (15, 8),
                lambda e: plain("") if is_gap(e) else company(e), Tone.DIM, priority=2),
        ]
        # fmt: on

    def search_text(self, record: Activity) -> str:
        names = self.session.names
        who, company = names.agent(record.agent or record.actor), names.company(record.company)
        return "\n".join((record.text, who, record.verb or "", company))

    def take(self, change: Change) -> None:
        """While paused the list stands still and what came is counted."""
        ours = change.feed is FeedName.ACTIVITY
        if ours and not self.following:
            self._new += len(change.added)
            self.show_head()
            return
        super().take(change)
        if ours:
            self._to_newest()

    def _to_newest(self) -> None:
        if self.following and self.table.sort == self.sort:
            self.table.action_first()

    def reload(self) -> None:
        self._new = 0
        super().reload()
        self._to_newest()

    @on(RecordTable.CursorMoved)
    def _leaves_the_top(self, message: RecordTable.CursorMoved) -> None:
        shown = self.table.rows.shown
        if self.table.has_focus and self.following and shown and message.row_id != shown[0]:
            self.action_follow()

    def action_follow(self) -> None:
        self.following = not self.following
        if self.following:
            self.reload()
        self.show_head()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        chosen, names = self.session.poller.query.activity, self.session.names
        parts = {
            "company": chosen.company and names.company(Ref(chosen.company)),
            "agent": chosen.agent and names.agent(Ref(chosen.agent)),
            "from": chosen.from_date,
            "to": chosen.to_date,
            "limit": chosen.limit,
        }
        told = (plain(f"{name} {value}") for name, value in parts.items() if value)
        left, right = super().title(*told)
        waits = f", {fmt.count(self._new)} new" if self._new else ""
        says, tone = f"  {signs.warning} paused{waits}", Tone.WARNING
        if self.following:
            says, tone = f"  {signs.good} following", Tone.GOOD
        return [*left, Cell(plain(says), tone)], right
