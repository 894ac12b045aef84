"""The screens that are a list and its detail: the companies, the agents, what the agents do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec.structs import replace
from textual import on

from agentco_tui import format as fmt
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import LEVEL_WORDS, SEVERITY_LEVELS, in_scope
from agentco_tui.live.outlook import Day
from agentco_tui.live.sentences import Fold, deed, doer, folded, sentence
from agentco_tui.live.store import Change, Collection
from agentco_tui.model import Activity, Agent, Company, Ref
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.detail_pane import beyond
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.pages import agent_page, company_page
from agentco_tui.screens.trends import TrendView, trend_column
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

ROOMIEST = 180  # columns from which on a page stands beside its list


class CompaniesView(TrendView[Company]):
    place = "companies"
    sort = ("level", True)
    empty = "no companies"
    beside_page = ROOMIEST
    lists = (FeedName.COMPANIES,)
    figures_from = (FeedName.COMPANY_BUDGETS,)
    BINDINGS = bindings_of("companies")

    def columns(self) -> list[Column[Company]]:
        look, store, names = self.look, self.look.store, self.look.names
        budget_of = look.budget_of

        @lru_cache(maxsize=2)
        def owners(records: Collection[Any], *_versions: object) -> Counter[str | None]:
            return Counter(ref.id for ref in map(names.company_of, records) if ref)

        def ours(records: Collection[Any], company: Company) -> int | None:
            """How many are the company's, counted here where they are read."""
            scope = self.session.poller.query.company
            if not len(records) or scope not in (None, company.id):
                return None
            found = owners(records, records.version, store.agents.version)[company.id]
            return found if found or records.listing.whole else None

        def counted(
            key: str, sent: Callable[[Company], int | None], records: Collection[Any]
        ) -> Column[Company]:
            def number(company: Company) -> int | None:
                return ours(records, company) if (own := sent(company)) is None else own

            def cell(company: Company) -> Cell:
                found = number(company)
                if found is None or sent(company) is not None:
                    return cells.text_cell(fmt.count(found))
                return Cell(plain(f"{signs.derived}{fmt.count(found)}"))

            title, widths = key.upper(), (7, 6)
            return cells.number_column(key, title, widths, cell, number, ticks=True, sort_key=None)

        # fmt: off
        return [
            cells.level_column(lambda c: look.level_of(budget_of(c)), ticks=True,
                sort_key=lambda c: look.badness(budget_of(c)), descending_first=True),
            cells.text_column("name", "COMPANY", (16, 12), lambda c: c.name or safe(c.id), grow=1,
                aliases=("company",)),
            cells.text_column("status", "STATUS", (9, 6), lambda c: c.status, priority=3),
            counted("agents", lambda c: c.agent_count, store.agents),
            counted("waiting", lambda c: c.pending_count, store.pending),
            cells.money_column("spent", "SPENT", (10, 9),
                lambda c: b.spent if (b := budget_of(c)) else None, priority=1, ticks=True,
                sort_key=None),
            cells.gauge_column(look, "used", (31, 15), budget_of, no_limit="no limit",
                ticks=True, aliases=("share",)),
            trend_column(self.spent_in_day, priority=2),
            cells.text_column("mission", "MISSION", (20, 20), lambda c: c.mission, Tone.DIM,
                priority=5, grow=3, sort_key=None),
            *cells.told_columns(id=lambda c: safe(c.id), template=lambda c: c.template),
        ]
        # fmt: on

    def nothing(self) -> SafeText:
        return plain(self.empty)

    def read_one(self, row_id: str) -> Awaitable[Company]:
        return self.session.client.company(row_id)

    def detail_items(self, record: Company) -> list[Item]:
        return [*company_page(record, self.session), *beyond(record, raw=self._raw)]


class AgentsView(TrendView[Agent]):
    place = "agents"
    sort = ("level", True)
    empty = "no agents"
    beside_page = ROOMIEST
    lists = (FeedName.AGENTS,)
    figures_from = (FeedName.AGENT_BUDGETS,)
    BINDINGS = bindings_of("agents")

    def columns(self) -> list[Column[Agent]]:
        look, names, budget_of = self.look, self.look.names, self.look.budget_of

        def day(agent: Agent) -> Day:
            return (
                self.spent_in_day(agent) or self.session.outlook.of_agent(agent.id).entries_by_hour
            )

        # fmt: off
        return [
            cells.level_column(lambda a: look.agent_badness(a)[0], ticks=True,
                sort_key=look.agent_badness, descending_first=True),
            cells.text_column("name", "AGENT", (14, 10), lambda a: a.name or safe(a.id), grow=2,
                aliases=("agent",)),
            cells.text_column("role", "ROLE", (12, 8), lambda a: a.role, priority=5, grow=1),
            cells.text_column("company", "COMPANY", (15, 9), lambda a: names.company(a.company),
                priority=2, grow=1),
            cells.column("status", "  STATUS", (17, 17), cells.agent_status_cell,
                grow=1, sort_key=lambda a: a.status or ""),
            cells.number_column("trust", "TRUST", (5, 5),
                lambda a: cells.text_cell(a.trust_word or fmt.number(a.trust)), lambda a: a.trust,
                priority=4, descending_first=True),
            cells.gauge_column(look, "used", (24, 11), budget_of, percent=False, priority=2,
                ticks=True),
            cells.money_column("left", "LEFT", (10, 8),
                lambda a: cells.left_of(a, budget_of(a)), cell=look.left_cell, ticks=True,
                aliases=("remaining", "budget")),
            cells.number_column("done", "DONE", (6, 5),
                lambda a: cells.text_cell(fmt.count(a.tasks_completed)),
                lambda a: a.tasks_completed, priority=5, descending_first=True),
            trend_column(day, priority=3),
            *cells.told_columns(id=lambda a: safe(a.id), model=lambda a: a.model),
        ]
        # fmt: on

    def wanted(self, record: Agent) -> bool:
        return in_scope(record.company, self.session.poller.query.company)

    def read_one(self, row_id: str) -> Awaitable[Agent]:
        return self.session.client.agent(row_id)

    def detail_items(self, record: Agent) -> list[Item]:
        return [*agent_page(record, self.session), *beyond(record, raw=self._raw)]


class ActivityView(ListView[Activity]):
    """Follows the newest entry, until it is paused or the cursor leaves the top; what is alike is
    one line.
    """

    place = "activity"
    sort = ("time", True)
    empty = "nothing happened yet"
    lists = (FeedName.ACTIVITY,)
    calm = False  # A feed is followed or paused; what is new belongs on top
    BINDINGS = bindings_of("activity")
    following = True
    _new = 0  # entries that came while it is paused
    _folds: Mapping[str, Fold] = {}  # by the id of the entry that stands for all of it

    def columns(self) -> list[Column[Activity]]:
        look, names = self.look, self.look.names

        def at(entry: Activity) -> float | None:
            return entry.at.at if entry.at else None

        def tone(entry: Activity) -> Tone:
            return TONES[SEVERITY_LEVELS[entry.severity]]

        def what(entry: Activity) -> SafeText:
            fold = self._folds.get(entry.id)
            return joined((fold.count if fold else plain(""), deed(entry, names)))

        # fmt: off
        return [
            cells.column("level", " ", (2, 2), cells.severity_cell, aliases=("severity",),
                filter_value=lambda e: str(e.severity), rank=LEVEL_WORDS.get, stays=True),
            cells.age_column(look, "time", f"TIME {fmt.zone(look.clock.now())}", at, sort_key=at,
                cell=lambda e: Cell(fmt.clock(e.at, look.clock.now()), Tone.DIM), widths=(10, 9),
                align="left", descending_first=True, aliases=("age",)),
            cells.text_column("who", "WHO", (11, 6),
                lambda e: plain("") if is_gap(e) else doer(e, names), aliases=("agent",)),
            cells.text_column("what", "WHAT HAPPENED", (40, 32), what, tone, grow=4,
                aliases=("text",)),
            cells.text_column("company", "COMPANY", (12, 8),
                lambda e: plain("") if is_gap(e) else names.company(names.company_of(e)),
                Tone.DIM, priority=2),
            *cells.told_columns(id=lambda e: safe(e.id), verb=lambda e: e.verb),
        ]
        # fmt: on

    def search_text(self, record: Activity) -> str:
        names, fold = self.session.names, self._folds.get(record.id)
        words = [sentence(each, names) for each in (fold.entries if fold else (record,))]
        return "\n".join((*words, record.verb or "", names.company(record.company)))

    def wanted(self, record: Activity) -> bool:
        return record.id in self._folds

    def _fold(self) -> list[str]:
        """Fold what is alike anew; returns the ids of those whose folds have another length."""
        before, newest_first = self._folds, reversed(self.session.store.activity)
        folds = folded(newest_first, self.session.names)
        now = self._folds = {fold.entries[0].id: fold for fold in folds}
        lengths = [{i: len(fold.entries) for i, fold in each.items()} for each in (before, now)]
        return [i for i in {**before, **now} if lengths[0].get(i) != lengths[1].get(i)]

    def detail_items(self, record: Activity) -> list[Item]:
        items, fold = super().detail_items(record), self._folds.get(record.id)
        if fold is None or len(fold.entries) < 2:
            return items
        now, names = self.look.clock.now(), self.session.names
        lines = (f"{fmt.clock(each.at, now)}  {deed(each, names)}" for each in fold.entries)
        return [*items, Gap(), Heading(fold.times()), *(Text(plain(line)) for line in lines)]

    def take(self, change: Change) -> None:
        """While paused the list stands still and what came is counted."""
        ours = change.feed is FeedName.ACTIVITY
        if ours and not self.following:
            self._new += len(change.added)
            self.show_head()
            return
        if ours:
            change = replace(change, changed=(*change.changed, *self._fold()))
        super().take(change)
        if ours:
            self._to_newest()

    def _to_newest(self) -> None:
        if self.following and self.table.sort == self.sort:
            self.table.action_first()

    def reload(self) -> None:
        self._new = 0
        self._fold()
        super().reload()
        self._to_newest()

    @on(RecordTable.CursorMoved)
    def _leaves_the_top(self) -> None:
        # Where the cursor is by now: the line it stood on may have been folded into the newest.
        shown, cursor = self.table.rows.shown, self.table.view.cursor
        if self.table.has_focus and self.following and shown and cursor != shown[0]:
            self.action_follow()

    def action_follow(self) -> None:
        self.following = not self.following
        if self.following:
            self.reload()
        self.show_head()

    def offers(self) -> dict[str, str]:
        return {**super().offers(), "activity.follow": "pause" if self.following else "follow"}

    def asked(self) -> list[SafeText]:
        """What the log is asked for, beside the company in scope."""
        chosen, names = self.session.poller.query.activity, self.session.names
        parts = {
            "company": chosen.company and names.company(Ref(chosen.company)),
            "agent": chosen.agent and names.agent(Ref(chosen.agent)),
            "from": chosen.from_date,
            "to": chosen.to_date,
            "limit": chosen.limit,
        }
        return [plain(f"{name} {value}") for name, value in parts.items() if value]

    def narrowing(self) -> list[SafeText]:
        """What the list is narrowed by, in words; empty if it leaves nothing out."""
        company = self.session.poller.query.company
        scope = [] if company is None else [self.session.names.scope(company)]
        words = [safe(f"/{self.filter_text}", 40)] if self.filter_text else []
        return [*self.asked(), *scope, *words]

    def entries(self) -> list[Activity]:
        """All that stand behind the lines that the filter lets through."""
        folds = filter(None, map(self._folds.get, self.table.rows.shown))
        return [entry for fold in folds for entry in fold.entries if not is_gap(entry)]

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        left, right = super().title(*self.asked())
        waits = f", {fmt.count(self._new)} new" if self._new else ""
        says, tone = f"  {signs.warning} paused{waits}", Tone.WARNING
        if self.following:
            says, tone = f"  {signs.arrow} following", Tone.PLAIN
        alike = sum(len(fold.entries) - 1 for fold in self._folds.values())
        lines = f" lines of {fmt.count(len(self.table.rows.records) + alike)} entries"
        if alike:
            left.append(Cell(plain(lines), Tone.DIM))
        left.append(Cell(plain(says), tone))
        for words in self.session.poller.behind.reader.told():
            left.append(Cell(plain(f"  {signs.warning} {words}"), Tone.WARNING))
        return left, right
