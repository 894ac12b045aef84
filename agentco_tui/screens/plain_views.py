"""The Companies, Agents and Activity screens: each a list, with the detail of the record under
the cursor.

`ListView` filters and sorts the rows, and keeps them still (frozen) while the user works with them;
`TrendView` adds the last 24 hours of spending. The classes here declare the columns and the detail.
`ActivityView` also follows the newest entry of the log, folds entries that are alike into one line,
and can read a filtered part of the log from the platform (`FilteredLog`), the remote service whose
companies of AI agents are watched. A feed is one list of records polled from it.
`poller.query.company` is the id of the company in scope, i.e. the only one shown; None for all. A
gap is an entry that marks a time of which entries are missing. The frame is the main screen, the
workspace what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

from msgspec.structs import replace
from textual import on
from textual.worker import Worker

from agentco_tui.history.forecast_service import Day
from agentco_tui.live.activity_window import ActivityWindow, is_gap
from agentco_tui.live.feeds import NO_LOG_FILTER, ActivityFilter, FeedName, Freshness, Pace
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.live.insight import LEVEL_WORDS, SEVERITY_LEVELS, in_scope
from agentco_tui.live.sentences import Fold, action_words, actor_words, fold_repeats, sentence
from agentco_tui.live.store import Change, Collection
from agentco_tui.model import Activity, Agent, BudgetScope, Company, Money, Ref
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.detail_pane import unknown_fields
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.navigation import NavigationEntry
from agentco_tui.screens.pages import agent_page, company_page
from agentco_tui.screens.trends import TrendView, trend_column
from agentco_tui.text import SafeText, clean_line, joined, mark_safe, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import BlankLine, Heading, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

ROOMIEST = 180
"""Columns of a terminal at or above which a page is beside its list, not in front of it."""


class CompaniesView(TrendView[Company]):
    """The companies with their agents, waiting tasks and spending."""

    place = "companies"
    sort = ("level", True)  # the column that it is sorted by, the highest first
    empty = "no companies"
    beside_page = ROOMIEST
    lists = (FeedName.COMPANIES,)  # the feeds whose records are its rows
    figures_from = (FeedName.COMPANY_BUDGETS,)  # a feed by whose figures rows are sorted
    BINDINGS = bindings_of("companies")

    def columns(self) -> list[Column[Company]]:
        context = self.cell_context
        store = context.store
        budget_of = context.budget_of
        needs = self.workspace.needs

        def agents_of(company: Company) -> int:
            return needs.agents.by_company[company.id]

        def waiting_of(company: Company) -> int:
            return needs.queue.waiting_by_owner[BudgetScope.COMPANY, company.id]

        def counted(
            key: str,
            sent: Callable[[Company], int | None],
            records: Collection[Any],
            count_of: Callable[[Company], int],
        ) -> Column[Company]:
            """Return a column of the number that was sent, else of those among the `records`.

            Counted numbers are marked as derived. They are shown only if the records were read for
            this company, and a count of 0 only if all of them were read.
            """

            def number(company: Company) -> int | None:
                sent_number = sent(company)
                if sent_number is not None:
                    return sent_number
                scope = self.workspace.poller.query.company
                if not len(records) or scope not in (None, company.id):
                    return None
                count = count_of(company)
                return count if count or records.listing.whole else None

            def cell(company: Company) -> Cell:
                count = number(company)
                is_derived = count is not None and sent(company) is None
                if is_derived:
                    return Cell(mark_safe(f"{signs.derived}{fmt.count(count)}"))
                return cells.text_cell(fmt.count(count))

            return cells.number_column(
                key, key.upper(), (7, 6), cell, number, uses_clock=True, sort_key=None
            )

        def spent(company: Company) -> Money | None:
            budget = budget_of(company)
            return None if budget is None else budget.spent

        # A pair of numbers is the wanted and the least width; `grow` is the share of free width.
        # Columns of the highest `priority` are hidden first. Filters know the `aliases`, too.
        # (20, 10): the wanted and the least width in cells.
        # priority: the highest is hidden first, 0 never.
        # fmt: off
        return [
            cells.level_column(lambda c: context.level_of(budget_of(c)), uses_clock=True,
                sort_key=lambda c: context.badness(budget_of(c)), descending_first=True),
            cells.column("name", "COMPANY", (16, 12),
                lambda c: cells.name_cell(c, c.name or clean_line(c.sent_id)), grow=1,
                sort_key=lambda c: (c.name or c.sent_id).casefold(), aliases=("company",)),
            cells.column("status", "STATUS", (9, 8), context.company_status, priority=3, grow=1,
                cell_for_width=context.company_status,
                sort_key=lambda c: (c.status or "").casefold() or None),
            counted("agents", lambda c: c.agent_count, store.agents, agents_of),
            counted("waiting", lambda c: c.pending_count, store.pending, waiting_of),
            cells.money_column("spent", "SPENT", (10, 9), spent, priority=1, uses_clock=True,
                sort_key=None),
            cells.gauge_column(context, "used", (31, 15), budget_of, no_limit="no limit",
                uses_clock=True, aliases=("share",)),
            trend_column(self.spent_in_day, priority=2),
            cells.text_column("mission", "MISSION", (20, 20), lambda c: c.mission, Tone.DIM,
                priority=5, grow=3, sort_key=None),
            *cells.filter_only_columns(
                id=lambda c: clean_line(c.id), template=lambda c: c.template),
        ]
        # fmt: on

    def nothing(self) -> SafeText:
        return mark_safe(self.empty)

    def reload(self) -> None:
        super().reload()
        self._need_status()

    def show_change(self, change: Change) -> None:
        super().show_change(change)
        if change.feed in (FeedName.COMPANIES, FeedName.COMPANY_BUDGETS):
            self._need_status()

    def _need_status(self) -> None:
        """Show the status at every width as long as a company does not work."""
        is_one_idle = bool(self.workspace.names.idle_companies())
        self.table.need_columns({"status"} if is_one_idle else ())

    def read_one(self, row_id: str) -> Awaitable[Company]:
        return self.workspace.client.company(row_id)

    def detail_items(self, record: Company) -> list[PaneItem]:
        return [
            *company_page(record, self.dashboard),
            *unknown_fields(record, raw=self.detail.is_raw),
        ]


class AgentsView(TrendView[Agent]):
    """The agents with their status, trust and budgets."""

    place = "agents"
    sort = ("level", True)
    empty = "no agents"
    beside_page = ROOMIEST
    lists = (FeedName.AGENTS,)
    figures_from = (FeedName.AGENT_BUDGETS,)
    BINDINGS = bindings_of("agents")

    def columns(self) -> list[Column[Agent]]:
        context = self.cell_context
        names = context.names
        budget_of = context.budget_of

        def day(agent: Agent) -> Day:
            """Return what an agent spent in each hour, else how many log entries it made."""
            spent = self.spent_in_day(agent)
            if spent:
                return spent
            return self.workspace.outlook.of_agent(agent.id).entries_by_hour

        # fmt: off
        return [
            cells.level_column(lambda a: context.agent_badness(a)[0], uses_clock=True,
                sort_key=context.agent_badness, descending_first=True),
            cells.column("name", "AGENT", (14, 10),
                lambda a: cells.name_cell(a, a.name or clean_line(a.sent_id)), grow=2,
                sort_key=lambda a: (a.name or a.sent_id).casefold(), aliases=("agent",)),
            cells.text_column("role", "ROLE", (12, 8), lambda a: a.role, priority=5, grow=1),
            cells.text_column("company", "COMPANY", (15, 9), lambda a: names.company(a.company),
                priority=2, grow=1),
            cells.column("status", "  STATUS", (17, 17), context.agent_status,
                cell_for_width=context.agent_status,
                grow=1, sort_key=lambda a: a.status or ""),
            cells.number_column("trust", "TRUST", (5, 5),
                lambda a: cells.text_cell(a.trust_word or fmt.number(a.trust)), lambda a: a.trust,
                priority=4, descending_first=True),
            cells.gauge_column(context, "used", (24, 11), budget_of, percent=False, priority=2,
                uses_clock=True),
            cells.money_column("left", "LEFT", (10, 8),
                lambda a: cells.remaining_money(a, budget_of(a)),
                cell=context.remaining_cell, uses_clock=True, aliases=("remaining", "budget")),
            cells.number_column("done", "DONE", (6, 5),
                lambda a: cells.text_cell(fmt.count(a.tasks_completed)),
                lambda a: a.tasks_completed, priority=5, descending_first=True),
            trend_column(day, priority=3),
            *cells.filter_only_columns(id=lambda a: clean_line(a.id), model=lambda a: a.model),
        ]
        # fmt: on

    def wanted(self, record: Agent) -> bool:
        return in_scope(record.company, self.workspace.poller.query.company)

    def read_one(self, row_id: str) -> Awaitable[Agent]:
        return self.workspace.client.agent(row_id)

    def detail_items(self, record: Agent) -> list[PaneItem]:
        return [
            *agent_page(record, self.dashboard),
            *unknown_fields(record, raw=self.detail.is_raw),
        ]


def days_between(first: date | None, last: date | None) -> str:
    """Return a span of days in words: "2026-11-01 to 2026-11-07", "since 2026-11-01"."""
    if first is None:
        return f"until {last}"
    if last is None:
        return f"since {first}"
    return f"{first}" if first == last else f"{first} to {last}"


class ActivityView(ListView[Activity]):
    """The activity log, newest first, with entries that are alike folded into one line.

    The cursor follows the newest entry until the list is paused or the cursor leaves the top.
    """

    place = "activity"
    sort = ("time", True)
    empty = "nothing happened yet"
    lists = (FeedName.ACTIVITY,)
    can_freeze = False  # a log is followed or paused; new entries belong on top
    BINDINGS = bindings_of("activity")
    following = True
    """Whether new entries are shown as they come; False while paused."""
    _new = 0
    """Entries that came while it is paused."""
    _folds: Mapping[str, Fold] = {}
    """The lines, by the id of the newest entry of each."""
    _filter = NO_LOG_FILTER
    _filtered_log: FilteredLog | None = None
    """The part of the log that the filter selects; None while all of the log is shown."""
    _reading: Worker[None] | None = None
    """The worker that polls the filtered log."""

    @property
    def log_filter(self) -> ActivityFilter:
        """The parameters with which the log is requested; the list's own filter is another one."""
        return self._filter

    @property
    def shown_log(self) -> ActivityWindow | FilteredLog:
        """The entries that this screen shows; no other screen has its filtered log."""
        if self._filtered_log is None:
            return self.workspace.store.activity
        return self._filtered_log

    def filter_log(self, wanted: ActivityFilter) -> None:
        """Show this part of the log on this screen; `NO_LOG_FILTER` shows all of it again."""
        if wanted == self._filter:
            return
        self._filter = wanted
        self.following = True
        self._open_log()
        self.table.release()
        self.table.action_first()
        self.freezer.open()
        self.reload()

    def _open_log(self) -> None:
        """Start reading the part of the log that the filter selects.

        What was read for the filter before is dropped, and its requests are cancelled.
        """
        if self._reading is not None:
            self._reading.cancel()
        self._reading = None
        self._filtered_log = None
        workspace = self.workspace
        if self._filter != NO_LOG_FILTER:
            company = self._filter.company or workspace.poller.query.company
            filtered_log = FilteredLog(
                workspace.client,
                workspace.clock,
                replace(self._filter, company=company),
                workspace.names,
                on_change=self._take_filtered,
                on_freshness=self._show_filtered,
            )
            work = partial(filtered_log.run, self._pace, lambda: workspace.poller.refresh)
            self._reading = start_worker(self, work, "read a filtered log")
            self._filtered_log = filtered_log
        self.collections[FeedName.ACTIVITY] = self.shown_log

    def _pace(self) -> Pace:
        """Return how often to read the filtered log: never while another screen is shown."""
        return self.workspace.poller.pace(FeedName.ACTIVITY) if self.display else Pace.OFF

    def _take_filtered(self, change: Change) -> None:
        with self.app.batch_update():
            self._take_entries(change)
            self.frame.restore_awaited()
            self.frame.lines.show()

    def _show_filtered(self) -> None:
        if not self.is_attached:
            return
        self.frame.restore_awaited()
        self.show_head()

    def freshness_of(self, feed: FeedName) -> Freshness:
        if feed is FeedName.ACTIVITY and self._filtered_log is not None:
            return self._filtered_log.freshness
        return super().freshness_of(feed)

    def poll_now(self) -> None:
        if self._filtered_log is not None:
            self._filtered_log.poll_now()

    def arrive(self) -> None:
        self.poll_now()
        super().arrive()

    def end_scope_change(self) -> None:
        self.following = True  # another company's log is shown from its newest entries
        if self._filtered_log is not None:
            self._open_log()
        super().end_scope_change()

    def restore(self, entry: NavigationEntry) -> bool:
        if entry.log is not None:
            self.filter_log(entry.log)
        elif entry.row in self.workspace.store.activity and entry.row not in self.shown_log:
            # A row of the whole log, which the filter would hide.
            self.filter_log(NO_LOG_FILTER)
        return super().restore(entry)

    def leave(self) -> bool:
        """Leave the filter of the list first, then that of the log."""
        if super().leave():
            return True
        if self.reading or self._filter == NO_LOG_FILTER:
            return False
        self.frame.navigation.awaited = None
        self.filter_log(NO_LOG_FILTER)
        return True

    def columns(self) -> list[Column[Activity]]:
        context = self.cell_context
        names = context.names

        def at(entry: Activity) -> float | None:
            return entry.at.at if entry.at else None

        def tone(entry: Activity) -> Tone:
            return TONES[SEVERITY_LEVELS[entry.severity]]

        def what(entry: Activity) -> SafeText:
            words = cells.marked_name(entry, action_words(entry, names))
            fold = self._folds.get(entry.id)
            if fold is None:
                return words
            return joined((fold.count, words))

        # fmt: off
        return [
            cells.column("level", " ", (2, 2), cells.severity_cell, aliases=("severity",),
                filter_value=lambda e: str(e.severity), rank=LEVEL_WORDS.get, always_shown=True),
            cells.age_column(context, "time", f"TIME {fmt.zone(context.clock.now())}", at,
                sort_key=at, cell=lambda e: Cell(fmt.clock(e.at, context.clock.now()), Tone.DIM),
                widths=(10, 9), align="left", descending_first=True, aliases=("age",)),
            cells.text_column("who", "WHO", (11, 6),
                lambda e: mark_safe("") if is_gap(e) else actor_words(e, names),
                aliases=("agent",)),
            cells.text_column("what", "WHAT HAPPENED", (40, 32), what, tone, grow=4,
                aliases=("text",)),
            cells.text_column("company", "COMPANY", (12, 8),
                lambda e: mark_safe("") if is_gap(e) else names.company(names.company_of(e)),
                Tone.DIM, priority=2),
            *cells.filter_only_columns(id=lambda e: clean_line(e.sent_id), verb=lambda e: e.verb),
        ]
        # fmt: on

    def search_text(self, record: Activity) -> str:
        names = self.workspace.names
        fold = self._folds.get(record.id)
        entries = (record,) if fold is None else fold.entries
        sentences = [sentence(entry, names) for entry in entries]
        return "\n".join((*sentences, record.verb or "", names.company(record.company)))

    def wanted(self, record: Activity) -> bool:
        return record.id in self._folds

    # Entries and lines: a line is a fold, one or more entries that are alike.

    def _fold(self) -> list[str]:
        """Fold entries that are alike again; return the ids whose folds have another length."""
        before = {entry_id: len(fold.entries) for entry_id, fold in self._folds.items()}
        folds = fold_repeats(reversed(self.shown_log), self.workspace.names)
        self._folds = {fold.entries[0].id: fold for fold in folds}
        after = {entry_id: len(fold.entries) for entry_id, fold in self._folds.items()}
        return [each for each in {**before, **after} if before.get(each) != after.get(each)]

    def detail_items(self, record: Activity) -> list[PaneItem]:
        items = super().detail_items(record)
        fold = self._folds.get(record.id)
        if fold is None or len(fold.entries) < 2:
            return items
        now = self.cell_context.clock.now()
        names = self.workspace.names
        lines = (f"{fmt.clock(each.at, now)}  {action_words(each, names)}" for each in fold.entries)
        return [
            *items,
            BlankLine(),
            Heading(fold.count_and_span()),
            *(Paragraph(mark_safe(line)) for line in lines),
        ]

    def show_change(self, change: Change) -> None:
        if change.feed is not FeedName.ACTIVITY:
            super().show_change(change)
        elif self._filtered_log is None:
            self._take_entries(change)
        elif self.workspace.store.freshness[FeedName.ACTIVITY] == Freshness():
            # The store's log was dropped because another time of a recording is shown.
            self._open_log()
            self.reload()

    def _take_entries(self, change: Change) -> None:
        """Show new entries; while paused only count them."""
        if not self.following:
            self._new += len(change.added)
            self.show_head()
            return
        super().show_change(replace(change, changed=(*change.changed, *self._fold())))
        self._to_newest()

    def _to_newest(self) -> None:
        if self.following and self.table.sort == self.sort:
            self.table.action_first()

    def reload(self) -> None:
        self._new = 0
        if self._filtered_log is not None:
            # Names that were read meanwhile may show that further entries match.
            self._filtered_log.choose_again()
        self._fold()
        super().reload()
        self._to_newest()

    @on(RecordTable.CursorMoved)
    def _leaves_the_top(self) -> None:
        # The message may be old: its line may have been folded into the newest since.
        shown = self.table.model.shown
        is_at_top = not shown or self.table.viewport.cursor == shown[0]
        if self.table.has_focus and self.following and not is_at_top:
            self.action_follow()

    def action_follow(self) -> None:
        self.following = not self.following
        if self.following:
            self.reload()
        self.show_head()

    def footer_actions(self) -> dict[str, str]:
        actions = super().footer_actions()
        actions["activity.follow"] = "pause" if self.following else "follow"
        if self._filter != NO_LOG_FILTER and not self.filter_text:
            actions["app.back"] = "whole log"
        return actions

    def asked(self) -> list[SafeText]:
        """Return the conditions of the log's filter, in words."""
        chosen = self._filter
        names = self.workspace.names
        words: list[str] = []
        if chosen.company is not None:
            words.append(f"company {names.company(Ref(chosen.company))}")
        if chosen.agent is not None:
            words.append(f"agent {names.agent(Ref(chosen.agent))}")
        if chosen.from_date is not None or chosen.to_date is not None:
            words.append(days_between(chosen.from_date, chosen.to_date))
        if chosen.limit is not None:
            words.append(f"limit {chosen.limit}")
        return [mark_safe(each) for each in words]

    def nothing(self) -> SafeText:
        """Return the text for an empty list."""
        if self._filtered_log is None:
            return super().nothing()
        searched = len(self._filtered_log.window)
        words = joined(self.asked(), ", ")
        if searched:
            return mark_safe(f"none among {fmt.count(searched)} entries for {words}")
        return mark_safe(f"no entries for {words}")

    def narrowing(self) -> list[SafeText]:
        """Return the filters and the scope that leave entries out, in words."""
        words = self.asked()
        company = self.workspace.poller.query.company
        if company is not None:
            words.append(self.workspace.names.scope(company))
        if self.filter_text:
            words.append(clean_line(f"/{self.filter_text}", 40))
        return words

    def entries(self) -> list[Activity]:
        """Return all entries of the lines that the filter lets through."""
        folds = filter(None, map(self._folds.get, self.table.model.shown))
        return [entry for fold in folds for entry in fold.entries if not is_gap(entry)]

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        left, right = super().title(*self.asked())
        folded_away = sum(len(fold.entries) - 1 for fold in self._folds.values())
        if folded_away:
            entries = fmt.count(len(self.table.model.records) + folded_away)
            left.append(Cell(mark_safe(f" lines of {entries} entries"), Tone.DIM))
        if not self.freshness_of(FeedName.ACTIVITY).is_offered:
            pass
        elif self.following:
            left.append(Cell(mark_safe(f"  {signs.arrow} following"), Tone.PLAIN))
        else:
            new = f", {fmt.count(self._new)} new" if self._new else ""
            left.append(Cell(mark_safe(f"  {signs.warning} paused{new}"), Tone.WARNING))
        if self._filtered_log is None:
            limitations = self.workspace.poller.backfill.reader.limitations()
        else:
            limitations = self._filtered_log.limitations()  # such as "100 entries at most"
        for words in limitations:
            left.append(Cell(mark_safe(f"  {signs.warning} {words}"), Tone.WARNING))
        return left, right
