"""The task queue: what waits for a person, the longest wait first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter

from textual import events, on
from textual.timer import Timer

from agentco_tui.actions.batch_summary import total_costs
from agentco_tui.actions.outcome import GOOD
from agentco_tui.config import ViewSettings
from agentco_tui.history.precedent import agent_of, alike_of
from agentco_tui.keys.commands import keys_of
from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.model import Task, TaskState
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, Look
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.decision_notes import READ_AFTER, resolution_note
from agentco_tui.screens.key_app import ListTable, bindings_of
from agentco_tui.screens.list_view import MANY
from agentco_tui.screens.task_lines import TaskLines
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.status_line import GAP, StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width
from agentco_tui.widgets.workers import start_worker


def task_columns(look: Look, *, statuses: bool) -> list[Column[Task]]:
    """The queue's columns; with `statuses` for tasks past waiting as well."""
    names = look.names

    def level(task: Task) -> Level:
        return Level.OK if statuses else insight.task_level(task, look.clock.now(), look.limits)

    def levels() -> Callable[[Task], Level]:
        """`level` for many at one moment."""
        now, limits = look.clock.now(), look.limits
        return lambda task: insight.task_level(task, now, limits)

    def waiting(task: Task) -> Cell:
        since = insight.waiting_since(task)
        return Cell(look.wait(since), Tone.DIM if since is None else TONES[level(task)])

    def title(task: Task) -> Cell:
        return cells.title_cell(task, Tone.STRONG if level(task) is Level.CRITICAL else Tone.PLAIN)

    # fmt: off
    return [
        cells.level_column(level, ticks=True, sort_key=level, descending_first=True,
            sort_reader=None if statuses else levels),
        cells.age_column(look, "waiting", "AGE" if statuses else "WAITS", insight.waiting_since,
            cell=waiting, descending_first=True, aliases=("age", "wait", "waits")),
        cells.column("status", "  STATUS", (13, 8), cells.task_status_cell,
            sort_key=lambda task: task.status or "", aliases=("state",), shown=statuses),
        cells.column("priority", "  PRIORITY", (10, 6),
            lambda task: cells.priority_cell(task.priority), priority=1,
            sort_key=lambda task: insight.priority_rank(task.priority),
            filter_value=lambda task: task.priority, rank=insight.rank_of_priority,
            shared=attrgetter("priority")),
        cells.column("task", "TASK", (28, 26), title, grow=8, aliases=("title",),
            sort_key=lambda task: task.title.casefold(), shared=attrgetter("title")),
        # Its name as it came with the task, which many agents share, else by who it is.
        cells.text_column("agent", "AGENT", (10, 6), lambda task: names.agent(task.agent),
            priority=3, shared=lambda task: task.agent and (task.agent.name or task.agent)),
        # Its own, else that of its agent.
        cells.text_column("company", "COMPANY", (15, 8),
            lambda task: names.company(names.company_of(task)), priority=2, grow=1,
            shared=lambda task: task.company or (task.agent,)),
        cells.number_column("trust", "TRUST", (5, 5),
            lambda task: cells.text_cell(fmt.number(look.trust_of(task))), look.trust_of,
            priority=5, ticks=True,
            shared=lambda task: task.agent.id if task.trust is None and task.agent else task.trust),
        cells.money_column("cost", "COST", (8, 8), lambda task: task.cost, shown=False),
        *cells.told_columns(
            id=lambda task: safe(task.sent_id),
            description=lambda task: task.description,
            role=lambda task: agent.role if (agent := names.agent_of(task.agent)) else None),
    ]
    # fmt: on


A_ROW = 8  # statuses that stand beside each other at most
FEW = 200  # marked tasks up to which the footer tells what they cost
OLD = 60.0  # seconds after which counts of a list that isn't asked for any more are not known
PENDING = "pending"
STATUS_NAMED = re.compile(r"\b(status|state)\s*[:=!<>]", re.IGNORECASE)
ALL = "all"


def word_of(status: str | None, state: str | None) -> str:
    return (status or state or "no status").casefold()


class TasksView(TaskLines[Task]):
    place = "tasks"
    sort = ("waiting", True)
    empty = "no task waits for a person"
    lists: tuple[FeedName, ...] = (FeedName.PENDING,)
    BINDINGS = bindings_of("tasks")

    showing = PENDING  # PENDING, ALL, or one of the platform's own status words
    _reading: tuple[Task, Timer] | None = None  # what stands in the detail, until it counts as read
    marks: Mapping[str, Task] = {}  # all marked tasks, also while another list is shown
    _choosing = False  # whether the next key chooses a tab

    def __init__(self, session: DashboardWorkspace, shown_as: ViewSettings | None = None) -> None:
        """A view is of all tasks if its filter names their status, else of those that wait."""
        if shown_as is not None and STATUS_NAMED.search(shown_as.filter):
            self.showing, self.lists = ALL, (FeedName.TASKS,)
        super().__init__(session, shown_as)

    def make_table(self) -> ListTable[Task]:
        table = super().make_table()
        if self.showing != PENDING:
            table.sort_by("waiting", False)
        table.takes = self._choose
        return table

    def columns(self) -> list[Column[Task]]:
        return task_columns(self.look, statuses=self.showing != PENDING)

    def search_text(self, record: Task) -> str:
        names = self.session.names
        agent, company = names.agent(record.agent), names.company(names.company_of(record))
        return "\n".join((record.title, agent, company, record.priority or "", record.status or ""))

    def wanted(self, record: Task) -> bool:
        scope = self.session.poller.query.company
        if scope is not None and not insight.in_scope(self.session.names.company_of(record), scope):
            return False
        if self.showing == PENDING:
            return insight.waits_for_person(record)
        return self.showing in (ALL, word_of(record.status, record.state))

    def nothing(self) -> SafeText:
        session, status = self.session, self.showing
        if status == PENDING:
            return super().nothing()
        words = "no tasks" if status == ALL else f"no task with status {safe(status, 40)}"
        waits, told = session.needs.queue.count, ""
        if session.store.freshness[FeedName.PENDING].answered_at is not None:
            told = f"; {fmt.count(waits)} wait"
        return plain(f"{session.none_here(words)}{told}")

    def error(self) -> SafeText | None:
        """Also a status that no task has, and that is none of those known everywhere."""
        wrong, tasks = super().error(), self.session.store.tasks
        answered = self.session.store.freshness[FeedName.TASKS].answered_at is not None
        known = self.showing in (PENDING, ALL, *TaskState) or bool(self.table.rows.records)
        if wrong is not None or known or not answered or not tasks.listing.whole:
            return wrong
        return self.nothing()

    def tabs(self) -> dict[str, SafeText]:
        """The statuses that can be shown, in their order, each with its count if that is known."""
        session, scope = self.session, self.session.poller.query.company
        tasks, known = session.store.tasks, session.store.freshness
        counts = Counter[str]()
        if scope is None or len(tasks) <= MANY:
            for (status, state), number in session.needs.statuses.counts(scope).items():
                word = PENDING if state is TaskState.PENDING else word_of(status, state)
                counts[word] += number
        counts[ALL] = counts.total()
        age = known[FeedName.TASKS].age(session.clock.monotonic())
        is_old = FeedName.TASKS not in self.lists and (age is None or age > OLD)
        more = "" if tasks.listing.whole else "+"
        found = {word: plain(f"{fmt.count(number)}{more}") for word, number in counts.items()}
        if is_old or known[FeedName.TASKS].awaited or (scope is not None and len(tasks) > MANY):
            found = dict.fromkeys(found, signs.missing)
        waits = known[FeedName.PENDING].answered_at is not None and session.is_scope_shown()
        waiting = fmt.count(session.needs.queue.count) if waits else signs.missing
        others = {*found, self.showing} - {PENDING, ALL}
        # Of more than there is room for, that which is shown is not cut off.
        order = sorted(others, key=lambda i: (len(others) > A_ROW and i != self.showing, i))
        return {PENDING: waiting, **{i: found.get(i, signs.missing) for i in (ALL, *order)}}

    def letters(self, tabs: Sequence[str]) -> dict[str, str]:
        """The tabs by their keys: the first of their letters that no other has."""
        found = dict[str, str]()
        own = keys_of("tasks.statuses", self.session.settings.keys)
        for word in tabs:
            free = (each for each in word if "a" <= each <= "z" and each not in (*found, *own))
            found |= {letter: word for letter in [next(free, "")] if letter}
        return found

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """The statuses as tabs, and how many are marked, which a long filter must not cut off."""
        (name, _, *left), right = super().title()
        marked, statuses = len(self.marks), self.tabs()
        letters = {word: key for key, word in self.letters([*statuses]).items()}
        cells = [Cell(plain(f"{signs.mark} {marked} marked  "), Tone.ACCENT)] if marked else []
        tabs, order = list[Cell](), [cell for cell in right if cell.tone is Tone.DIM]
        right = [*cells, *(cell for cell in right if cell.tone is not Tone.DIM)]
        for longest in (None, 4):
            tabs = []
            for word, count in statuses.items():
                here = word == self.showing
                shown = f"{fmt.count(len(self.table.rows.shown))} of " if self.filter_text else ""
                words = f"{safe(word, 30)[: None if here else longest]} {shown if here else ''}"
                key = f"{letters.get(word, ' ')} " if self._choosing else ""
                tabs += [
                    Pressable(signs.cursor if here else plain(" "), Tone.ACCENT, key=word),
                    Pressable(plain(key), Tone.ACCENT, key=word),
                    Pressable(
                        plain(f"{words}{count} "), Tone.STRONG if here else Tone.DIM, key=word
                    ),
                ]
            room = self.size.width - GAP - total_width([name, *tabs, *left, *right])
            if room >= 0:
                break
        return [name, *tabs, *left], [*right, *(order if total_width(order) <= room else [])]

    @on(StatusLine.Pressed)
    def _tab_pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.title_line:
            self.show_status(event.key)

    def offers(self) -> dict[str, str]:
        """As for every list; with marks, for how many it would be done, and what marks more."""
        offers, marked = super().offers(), self.marks
        if not marked:
            return offers
        words, tasks = f"approve {fmt.count(len(marked))}", self._marked_tasks(islice(marked, FEW))
        costs = total_costs(tasks) if all(task.cost for task in tasks) else []
        if len(marked) <= FEW and len(costs) == 1:
            words += f" (cost {fmt.money(costs[0])})"
        unmark = {} if self.filter_text else {"app.back": "unmark"}
        more = {"tasks.mark_shown": "all shown", "tasks.mark_range": "to here"}
        offers.pop("tasks.approve", None)
        offers.pop("tasks.mark", None)
        return {"tasks.approve": words, **unmark, **more, **offers}

    def go_to(self, row_id: str) -> bool:
        """As for every list; one that isn't there is looked for among those that wait, and all."""
        if super().go_to(row_id):
            return True
        store = self.session.store
        where = PENDING if store.pending.get(row_id) else ALL if store.tasks.get(row_id) else None
        if where in (None, self.showing):
            return False
        self.show_status(where)
        return super().go_to(row_id)

    def action_statuses(self) -> None:
        """The tabs show their keys, for the next one; the same again shows the next status."""
        tabs, read = self.tabs(), self.session.poller.read_again
        if self.reading:
            self.frame.action_back()
        elif self._choosing:
            words = [*tabs]
            self.show_status(words[(words.index(self.showing) + 1) % len(words)])
        elif tabs[ALL] == signs.missing:
            start_worker(self, partial(read, FeedName.TASKS), "read which statuses there are")
        self._choosing = True
        self.show_head()

    def _choose(self, event: events.Key) -> bool:
        """Show the tab whose key it is, right after `v`; whether it was meant for the tabs."""
        keys = self.session.settings.keys
        if not self._choosing or event.key in keys_of("tasks.statuses", keys):
            return False
        self._choosing, word = False, self.letters([*self.tabs()]).get(event.key)
        if word is not None:
            self.show_status(word)
        self.show_head()
        return event.key == "escape" or (len(event.key) == 1 and event.key.isalpha())

    def show_status(self, showing: str) -> None:
        if showing == self.showing:
            return
        before, pending = self.table, showing == PENDING
        is_other_list = pending is not (self.showing == PENDING)
        self.showing = showing
        if is_other_list:
            self.lists = (FeedName.PENDING if pending else FeedName.TASKS,)
            # A table with other columns takes the place of the one there is.
            self.table = self.opened_from = self.make_table()
            self.table.view.columns = before.view.columns
            self.open_anew()
            before.parent.mount(self.table, before=before)  # type: ignore[union-attr]
            before.remove()
            if self.filter_text and self.table.set_filter(self.filter_text) is not None:
                self.filter_text = ""
            if before.has_focus:
                self.table.focus()
            self.frame.set_paces()
        self.rescope()

    def show_detail(self, *, top: bool = False) -> None:
        """The detail of the line; what stands there for a while, unchanged, counts as read."""
        super().show_detail(top=top)
        task = self.subject()
        seen = task is not None and (self.reading or self.has_class("-wide"))
        if self._reading is not None and (not seen or self._reading[0] != task):
            self._reading[1].stop()
            self._reading = None
        if seen and self._reading is None and self.is_attached:
            timer = self.set_timer(READ_AFTER, partial(self._count_as_read, task), name="read")
            self._reading = task, timer

    def _count_as_read(self, task: Task) -> None:
        if self.subject() == task and self.display and self.app.screen is self.screen:
            self.session.read[task.id] = task.content
            self.session.decisions.acknowledge(task.id)

    def _marked_tasks(self, ids: Iterable[str]) -> list[Task]:
        store, rows = self.session.store, self.table.rows
        return [
            rows.record(i) or store.pending.get(i) or store.tasks.get(i) or self.marks[i]
            for i in ids
        ]

    def marked(self) -> dict[str, SafeText | None]:
        """The ids of all marked tasks, each with why its line is not in sight, if so."""
        names, in_list, shown = self.session.names, self.table.view.marks, {*self.table.rows.shown}
        scope = names.scope(self.session.poller.query.company)

        def why(task: Task) -> SafeText:
            if task.id in in_list:
                return plain("marked, but hidden by the filter")
            words = f"the list shows {'all statuses' if self.showing == ALL else self.showing}"
            if not self.session.is_in_scope(task):
                company = names.company_of(task)
                whose = f"of {names.company(company)}" if company else "its company is not known"
                words = f"{whose}, and {scope} is shown"
            return plain(f"marked, but hidden: {words}")

        return {
            row_id: None if row_id in in_list and row_id in shown else why(task)
            for row_id, task in self.marks.items()
        }

    def _lost_marks(self) -> dict[str, Task]:
        """The marked tasks that wait no more, as far as that is known: of those that the list has
        no mark for, so that it costs nothing while all are in it.
        """
        pending, in_list = self.session.store.pending, self.table.view.marks
        live = self.session.store.freshness[FeedName.PENDING].phase is Phase.LIVE
        is_whole = live and pending.listing.whole and not self.leaving
        waits = insight.waits_for_person

        def is_lost(row_id: str, task: Task) -> bool:
            if self.table.rows.ghost_note(row_id):
                return True
            now = pending.get(row_id)
            gone = is_whole and self.session.is_in_scope(task)
            return waits(task) and (gone if now is None else not waits(now))

        out = self.marks.items() if len(self.marks) > len(in_list) else ()
        return {i: task for i, task in out if i not in in_list and is_lost(i, task)}

    def show_head(self, phase: Phase | None = None) -> None:
        """Tell first of marked tasks that wait no more, and mark again what is back in sight."""
        if self.is_attached and (lost := self._lost_marks()):
            self._tell_lost(lost)
            self.unmark(lost)
        if self.showing == PENDING and len(self.marks) > len(self.table.view.marks):
            self.table.mark([i for i in self.marks if i not in self.table.view.marks])
        super().show_head(phase)

    def _tell_lost(self, tasks: Mapping[str, Task]) -> None:
        """What became of marked tasks that wait no more; those approved from here are known."""
        known = self.session.decisions.by_task
        lost = [
            i
            for i in tasks
            if i not in known or ((found := known[i].outcome) and found.kind not in GOOD)
        ]
        if lost:
            more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
            words = f"{tasks[lost[0]].title} ({resolution_note(self.session, lost[0]).text}){more}"
            words = f"{signs.warning} not marked any more, because it left the list: {words}"
            self.frame.say(words, bad=True)

    def unmark(self, task_ids: Iterable[str]) -> None:
        ids = set(task_ids)
        self.marks = {i: task for i, task in self.marks.items() if i not in ids}
        self.table.mark(ids, False)
        self.table.view.marked_last = None
        self.show_head()
        self.frame.show_frame()

    def leave(self) -> bool:
        """As for every list; marks that are hidden with their list go last."""
        if super().leave():
            return True
        marked = self.table.marked or tuple(self.marks)
        if self.reading or not marked:
            return False
        self.unmark(marked)
        return True

    def action_mark(self, change: str) -> None:
        """Let the table mark or unmark; what can't be acted on keeps no mark."""
        self.table.finish()
        before, records = {*self.table.marked}, self.table.rows.records
        if change == "alike":
            self._mark_alike()
        else:
            getattr(self.table, f"action_{change}")()
        marked = {row_id: records[row_id] for row_id in self.table.marked}
        refused = [task for task in marked.values() if task.unwritable is not None]
        if refused:
            self.table.mark([task.id for task in refused], False)
            self.frame.say(f"not marked: {refused[0].unwritable}")
        hidden = {i: task for i, task in self.marks.items() if i not in before}
        self.marks = {**hidden, **{i: marked[i] for i in self.table.marked}}
        self.show_head()
        self.frame.show_frame()

    def _mark_alike(self) -> None:
        """Mark what is shown and waits, and is like the task under the cursor; say how many are."""
        here, rows = self.subject(), self.table.rows
        if not isinstance(here, Task):
            self.frame.say("put the cursor on a task to mark those like it")
            return
        wanted, others = alike_of(here), filter(None, map(rows.record, rows.shown))
        found = [
            task.id
            for task in others
            if agent_of(task) == wanted[0] and alike_of(task) == wanted
            if task.unwritable is None
            if insight.waits_for_person(task)
        ]
        self.table.mark(found)
        many = f"{fmt.count(len(found))} {'task' if len(found) == 1 else 'tasks'}"
        agent = f" of {self.session.names.agent(here.agent)}" if here.agent else ""
        self.frame.say(f"{signs.mark} {many}{agent} like “{wanted[1]}” marked")

    def action_approve(self) -> None:
        """Ask whether to approve what is marked, else the task under the cursor."""
        marked = self.marked()
        tasks = self._marked_tasks(marked)
        here, note = self.subject(), None
        if not tasks:
            super().action_approve()
        elif len(tasks) > 1:
            self.frame.dialogs.approve_many(tasks, {id_: why for id_, why in marked.items() if why})
        else:
            if here is not None and here.id != tasks[0].id:
                note = plain(f"the marked task, not the one under the cursor ({here.title})")
            words = "; ".join(filter(None, (note, marked[tasks[0].id])))
            self.frame.dialogs.approve(tasks[0], plain(words) if words else None)
