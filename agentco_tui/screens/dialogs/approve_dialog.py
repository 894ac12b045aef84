"""Whether to approve one task, or many, each listed; and what becomes of many: hold, bar, each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import compress, groupby
from math import ceil
from operator import itemgetter, not_
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from agentco_tui.actions.batch import BatchApproval, BatchPhase
from agentco_tui.actions.batch_summary import (
    Excluded,
    Familiarity,
    ListedTask,
    list_for_review,
    total_costs,
)
from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.outcome import GOOD, OutcomeKind, Step, Verb
from agentco_tui.actions.outcome_words import sentence_with_platform_words
from agentco_tui.actions.services import age_of
from agentco_tui.api.errors import ApiError
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.store import Change
from agentco_tui.model import Task, Trace
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import priority_cell
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.decision_facts import DecisionFacts
from agentco_tui.screens.decision_notes import READ_AFTER, line_note, text_of
from agentco_tui.screens.detail_pane import task_in_full, warning, whole_title
from agentco_tui.screens.dialogs.base import Dialog, Question, key_cells, title_of
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen, summary_items
from agentco_tui.screens.header_footer import profile_name
from agentco_tui.screens.key_app import REPEAT
from agentco_tui.screens.sent_fields import sums_of
from agentco_tui.screens.sized_screen import PHONE_WIDTH
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Cells, FieldLine, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone, bar
from agentco_tui.widgets.workers import start_worker

TRACE_LINES = 4
ROOM = 24  # lines of a screen on which money and precedent stand above what is asked for
MOST_SHARES = 6
MOST_SUMS = 4
MOST_DIGITS = 9
TYPED_FROM = 11  # from so many tasks on the number must be typed
BAR = 24
HEADINGS = {
    Familiarity.CHANGED: f"{signs.warning} {{}} changed since you read them",
    Familiarity.UNREAD: f"{signs.warning} {{}} you have not read",
    Familiarity.READ: "{} you have read",
}


class TaskQuestion(Question):
    """Tasks as they are when it opens: if one changes or is decided, it says so, and `y` is off."""

    def __init__(
        self, dashboard: DashboardContext, tasks: Sequence[Task], what: SafeText, yes: str
    ) -> None:
        workspace = dashboard.workspace
        super().__init__(title_of(workspace.settings, "APPROVE", what), (), yes)
        self.dashboard = dashboard
        self.workspace = workspace
        self.ended: dict[str, tuple[str, ...]] = {}  # what happened since then, by id
        self._tasks = {task.id: task for task in tasks}
        self._label = labels(tasks)
        self.facts = DecisionFacts(dashboard, tasks, self.show_items)

    def on_mount(self) -> None:
        start_worker(self, self.facts.read, "read what else a decision rests on")
        store, decisions = self.workspace.store, self.dashboard.decisions
        self.until_closed = [store.subscribe(self._take), decisions.subscribe(self._decided)]

    def _take(self, change: Change) -> None:
        store = self.workspace.store
        if change.feed not in (FeedName.PENDING, FeedName.TASKS):
            return
        for task_id, task in self._tasks.items():
            now = store.pending.get(task_id)
            if now is None and change.feed is FeedName.TASKS:
                now = store.tasks.get(task_id)
            if now is None and task_id in change.removed:
                self._end(task_id, "it left the list of pending tasks")
            elif now is not None and now is not task and (found := differences(task, now)):
                lines = (f"{d.field}: “{d.was}” {signs.arrow} “{d.is_}”" for d in found)
                self._end(task_id, *lines)

    def _decided(self, task_id: str) -> None:
        decision = self.dashboard.decisions.by_task.get(task_id)
        if task_id in self._tasks and decision is not None and not decision.is_acknowledged:
            self._end(task_id, line_note(self.dashboard, decision).text)

    def _end(self, task_id: str, *lines: str) -> None:
        if self.ended.get(task_id) != lines:
            self.ended[task_id] = lines
            self.switch_off(plain("changed: leave, and open it again"))
            self.show_items()
            self.pane.scroll_home(animate=False, immediate=True)

    def ended_items(self) -> Iterable[Item]:
        if self.ended:
            yield warning(f"{signs.warning} changed while you read:")
            for task_id, lines in self.ended.items():
                yield from (warning(line, 2) for line in (self._label[task_id], *lines))
            yield Gap()

    def tried_before(self, task_id: str) -> str | None:
        """What became of what was sent for a task before, from here or by an earlier run."""
        decision = self.dashboard.decisions.by_task.get(task_id)
        earlier = self.dashboard.services.earlier(Verb.APPROVE, task_id)
        if decision is not None:
            return f"tried before: {text_of(self.dashboard, decision)}"
        if earlier is None or earlier.settled is None:
            return None
        return f"tried before, {fmt.ago(age_of(earlier.attempt.time))}: {earlier.settled.outcome}"


class ApproveQuestion(TaskQuestion):
    """Whether to approve one task; `note` stands above it."""

    def __init__(
        self, dashboard: DashboardContext, task: Task, note: SafeText | None = None
    ) -> None:
        super().__init__(dashboard, [task], plain("1 task"), "approve")
        self.cell_context, self.subject = dashboard.cell_context, task
        self.trace: Trace | ApiError | None = None
        self._note = note

    def on_mount(self) -> None:
        if self.subject.cut is not None:
            self.switch_off(plain(f"not all of it can be shown: {self.subject.cut}"))
        start_worker(self, self._read, "read the trace")
        self.set_timer(READ_AFTER, self._count_as_read, name="read")

    async def _read(self) -> None:
        self.trace = await self.workspace.traces.read(self.subject)
        self.show_items()

    def _count_as_read(self) -> None:
        if self.app.screen is self and not self.hidden and not self.ended:
            self.dashboard.read_digests[self.subject.id] = self.subject.content

    def items(self) -> Iterable[Item]:
        task, names = self.subject, self.workspace.names
        yield from self.ended_items()
        for words in filter(None, (self._note, self.tried_before(task.id))):
            yield from (warning(f"{signs.warning} {words}"), Gap())
        agent, trust = names.agent_of(task.agent), self.cell_context.trust_of(task)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        facts = [
            names.company(names.company_of(task)),
            plain(f"{names.agent(task.agent)}{role}"),
            plain(priority_cell(task.priority).text.strip()),
            plain(f"waits {self.cell_context.wait(waiting_since(task))}"),
            *([] if trust is None else [plain(f"trust {fmt.number(trust)}")]),
        ]
        head, beside = Text(joined(facts, f" {signs.separator} ")), [*self.facts.items()]
        width, height = self.app.size
        if width < PHONE_WIDTH or height < ROOM:  # there what is asked for comes first
            is_bad = [getattr(item, "tone", None) is Tone.CRITICAL for item in beside]
            yield from task_in_full(task, self.cell_context, [head, *compress(beside, is_bad)])
            yield from (Gap(), *compress(beside, map(not_, is_bad)), Gap())
        else:
            gap = [Gap()] if height > ROOM else []
            yield from (*task_in_full(task, self.cell_context, [head, *beside]), *gap)
        if isinstance(self.trace, ApiError):
            yield warning(f"{signs.unknown} trace: {self.trace}")
        elif self.trace is None:
            yield Text(plain("reading the trace"), Tone.DIM)
        else:
            yield from summary_items(self.trace, self.cell_context, TRACE_LINES)

    def action_more(self) -> None:
        self.app.push_screen(TraceScreen(self.dashboard, self.subject))


class BatchQuestion(TaskQuestion):
    """Whether to approve a set; over ten its number must be typed before `y` counts, of a protected
    platform in any case the profile's name.
    """

    DEFAULT_CSS = """
    BatchQuestion .dialog--number { dock: bottom; height: 1; margin: 1 0 2 0; }
    BatchQuestion.-phone .dialog--number { margin: 1 0; }
    """

    def __init__(
        self,
        dashboard: DashboardContext,
        tasks: Sequence[Task],
        aside: Sequence[Excluded],
        hidden: Mapping[str, SafeText],
    ) -> None:
        """`hidden` says of some tasks why the list doesn't show them."""
        workspace = dashboard.workspace
        yes = f"approve all {fmt.count(len(tasks))}"
        super().__init__(dashboard, tasks, tasks_of(tasks), yes)
        self.aside, self.hidden_tasks = aside, hidden
        self.typed, self.wanted = "", str(len(tasks)) if len(tasks) >= TYPED_FROM else ""
        self.is_named = workspace.settings.protected
        if self.is_named:
            self.wanted = profile_name(workspace.settings)
        self.number_line = StatusLine(classes="dialog--number")
        self._label = labels([*tasks, *(left.task for left in aside)])
        self._early: dict[str, float] = {}  # characters that came too soon to be meant, and when
        self._digit_at = float("-inf")  # when the last digit came
        self._other_key_at = float("-inf")  # when the last key came that is no digit

    def body(self) -> ComposeResult:
        yield self.pane
        if self.wanted:
            yield self.number_line

    def on_mount(self) -> None:
        self._show_number()

    def items(self) -> Iterable[Item]:
        aside = self.aside
        names = self.workspace.names
        tasks = list(self._tasks.values())
        listed = list_for_review(tasks, names, self.dashboard.read_digests)
        yield from self.ended_items()
        hidden = Counter(why for each, why in self.hidden_tasks.items() if each in self._tasks)
        if aside:
            hidden[plain("marked, but not in this set: see the end")] = len(aside)
        for why, count in hidden.items():
            yield warning(f"{signs.warning} {fmt.count(count)} {why}")
        sums = " + ".join(map(fmt.money, total_costs(tasks)))
        unknown = sum(task.cost is None for task in tasks)
        more = f"{sums or signs.missing}, and {fmt.count(unknown)} of unknown cost"
        yield FieldLine(plain("costs"), plain(more if unknown else sums))
        companies = (names.company(names.company_of(task)) for task in tasks)
        yield FieldLine(plain("companies"), shares(companies))
        yield FieldLine(plain("agents"), shares(names.agent(task.agent) for task in tasks))
        yield FieldLine(plain("priority"), shares(task.priority or signs.missing for task in tasks))
        waiting = [(since, task) for task in tasks if (since := waiting_since(task)) is not None]
        if waiting:
            since, oldest = min(waiting, key=lambda each: each[0])
            age = self.dashboard.cell_context.wait(since)
            yield FieldLine(plain("oldest"), plain(f"{age}  {oldest.title}"))
        yield from self.facts.items()
        # Every task: those the person knows least first, then those that are not in the set.
        for standing, words in HEADINGS.items():
            if known := [one for one in listed if one.familiarity is standing]:
                heading = plain(words.format(fmt.count(len(known))))
                read = standing is Familiarity.READ
                yield from (Gap(), Heading(heading) if read else warning(heading))
                for one in known:
                    yield from self._lines(one)
        if aside:
            yield from (Gap(), warning(f"{signs.warning} {fmt.count(len(aside))} not in this set"))
            for left in aside:
                yield from (
                    Text(self._label[left.task.id]),
                    warning(f"{signs.warning} {left.reason}", 2),
                )

    def _lines(self, listed: ListedTask) -> Iterable[Item]:
        task, names = listed.task, self.workspace.names
        yield Text(self._label[task.id])
        cost = "unknown" if task.cost is None else fmt.money(task.cost)
        sums = [("cost", cost), *sums_of(task)[0]]
        more = [f"and {len(sums) - MOST_SUMS} more sums"] if len(sums) > MOST_SUMS else []
        parts = (
            *(names.company(names.company_of(task)), names.agent(task.agent)),
            *(f"{name} {value}" for name, value in sums[:MOST_SUMS]),
            *more,
        )
        yield Text(plain(f" {signs.separator} ".join(parts)), Tone.DIM, 2)
        odd = [*listed.unusual, self.hidden_tasks.get(task.id), self.tried_before(task.id)]
        if words := "; ".join(filter(None, odd)):
            yield warning(f"{signs.warning} {words}", 2)

    def switch_off(self, reason: SafeText) -> None:
        super().switch_off(reason)
        self._show_number()

    def _show_number(self) -> None:
        done = self.typed == self.wanted
        # Until it stands there, `n` is but a letter of a name.
        self._no = "esc" if self.is_named and not done else "n, esc"
        then = "press y to approve them" if done else "then press y"
        words = f"type {safe(self.wanted, 60)}, {then}:  {self.typed or signs.missing}"
        tone = Tone.STRONG if done else Tone.ACCENT
        if self._off is not None:
            words, tone = "nothing can be approved here any more", Tone.DIM
        self.number_line.show([Cell(plain(words), tone)])

    def on_key(self, event: events.Key) -> None:
        if not self.wanted or self.hidden or self._off is not None:
            return
        typed, at = event.character, self.key_app.presses.at
        is_name = self.is_named and self.typed != self.wanted and event.is_printable
        is_digit = typed is not None and typed in "0123456789"
        if not self.is_named and self._came_mixed(at, is_digit=is_digit, key=event.key):
            self.ignore_burst()
            if is_digit:
                event.stop()
            return
        if typed is not None and (is_name or is_digit):
            # One that was pressed before the question could be read was not meant, nor are those
            # that come from its key as long as it stays down.
            early = self._arms_at is None or at < self._arms_at
            if early or at - self._early.get(typed, float("-inf")) < REPEAT:
                self._early[typed] = at
            else:
                self.typed = (self.typed + typed)[-max(MOST_DIGITS, len(self.wanted)) :]
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        else:
            return
        event.stop()
        self._show_number()
        self._show_keys("")

    def _came_mixed(self, at: float, *, is_digit: bool, key: str) -> bool:
        """Whether a digit and a key that is none came together, the later of them at that time.

        The digits of a number may come together, as from quick fingers or over a slow line; with
        anything else they are part of a text that was not typed here. The `y` comes alone anyway.
        """
        if key == "backspace":
            return False
        arrivals = self.key_app.arrivals
        if is_digit:
            self._digit_at = at
            return arrivals.came_together(self._other_key_at, at)
        self._other_key_at = at
        return arrivals.came_together(self._digit_at, at)

    def ignore_burst(self) -> None:
        """Ignore the number in the burst, too: it must be typed again."""
        super().ignore_burst()
        self.typed = ""
        self._show_number()

    def accept(self) -> None:
        if self.typed == self.wanted:
            super().accept()
            return
        self._show_keys(f"not {self.typed}" if self.typed else f"type {self.wanted} first")
        self.typed = ""
        self._show_number()


def tasks_of(tasks: Sequence[Task]) -> SafeText:
    return plain("1 task" if len(tasks) == 1 else f"{fmt.count(len(tasks))} tasks")


def labels(tasks: Sequence[Task]) -> dict[str, SafeText]:
    titles = {task.id: whole_title(task) for task in tasks}
    count = Counter(titles.values())
    same = {task.id: task.sent_id for task in tasks if count[titles[task.id]] > 1}
    return titles | {i: plain(f"{titles[i]} ({safe(sent, 60)})") for i, sent in same.items()}


def shares(found: Iterable[SafeText]) -> SafeText:
    listed = Counter(found).most_common()
    words = [f"{name} {fmt.count(count)}" for name, count in listed[:MOST_SHARES]]
    if len(listed) > MOST_SHARES:
        words.append(f"and {fmt.count(len(listed) - MOST_SHARES)} more")
    return plain(", ".join(words))


class BatchProgress(Dialog[bool]):
    """`True` asks for what was not applied again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "stop", "Take back", show=False),
        Binding("f", "again", "Failures again", show=False),
    ]

    # The box stands still: what happens in it changes it four times a second.
    DEFAULT_CSS = "BatchProgress .dialog--body { height: 12; }"

    def __init__(self, dashboard: DashboardContext, batch: BatchApproval) -> None:
        workspace = dashboard.workspace
        tasks = [item.task for item in batch.items]
        super().__init__(title_of(workspace.settings, "APPROVING", tasks_of(tasks)))
        self.decision = batch
        titles = labels(tasks)
        titled = workspace.scope.title_with_company
        self._label = {task.id: titled(titles[task.id], task) for task in tasks}

    def on_mount(self) -> None:
        self.pane.focus()
        self._ticks = self.set_interval(0.25, self._show, name="progress")
        self.pane.fitted = self._show_keys
        self.watch(self.pane, "scroll_y", self._show_keys, init=False)
        self._show()

    def _show(self) -> None:
        if self.decision.phase in (BatchPhase.ENDED, BatchPhase.TAKEN_BACK):
            self._ticks.stop()
        self.pane.show(self._items())
        self._show_keys()

    def _show_keys(self) -> None:
        below = self.pane.below
        more = [Cell(plain(f"{below} {signs.down} "), Tone.ACCENT)] if below else []
        batch = self.decision
        again = len(batch.to_ask_again) if batch.phase is BatchPhase.ENDED else 0
        keys = {"esc": "close", **({"f": f"ask again: {again}"} if again else {})}
        if batch.phase is BatchPhase.HELD:
            keys = {"u, esc": "take it back"}
        elif batch.phase is BatchPhase.RUNNING:
            words = "stop what is not yet sent" if batch.can_stop else "close, it is read on"
            keys = {"esc": words}
        self.keys_line.show(key_cells({key: f" {does}   " for key, does in keys.items()}), more)

    def _items(self) -> Iterable[Item]:
        """How far it is; the unknown, what did not come out as wanted, and what is on its way."""
        batch, items = self.decision, self.decision.items
        if batch.phase is BatchPhase.TAKEN_BACK:
            yield Text(plain(f"{signs.good} taken back: nothing was sent"), Tone.GOOD)
            return
        if batch.phase is BatchPhase.HELD:
            words = f"it begins in {ceil(batch.hold.left())} s"
            yield warning(f"{signs.warning} nothing is sent yet: {words}")
            return
        settled = batch.results.total()
        share = Decimal(settled) / len(items)
        words = f" {fmt.count(settled)} of {fmt.count(len(items))}  {fmt.percent(share)}"
        yield Cells((Cell(bar(share, BAR)), Cell(plain(words))))
        yield Text(batch.sentence, Tone.STRONG)
        if batch.stop_reason is not None:
            yield warning(f"{signs.warning} {batch.stop_reason}")
        if (pause := batch.pause_left()) > 0:
            words = f"the platform asked for a pause (429): it goes on in {ceil(pause)} s"
            yield warning(f"{signs.warning} {words}")
        open_ = [item for item in items if item.outcome is None and item.step is not Step.WAITING]
        unknown = [("", item.task) for item in open_ if item.step is Step.UNKNOWN]
        yield from self._group(signs.unknown, "unknown", unknown)
        ended = [(item.outcome, item.task) for item in items if item.outcome]
        for kind in (kind for kind in OutcomeKind if kind not in GOOD):
            # That somebody else was first is no error.
            sign = signs.arrow if kind is OutcomeKind.DECIDED_ELSEWHERE else signs.warning
            of_kind = [
                (sentence_with_platform_words(outcome), task)
                for outcome, task in ended
                if outcome.kind is kind
            ]
            yield from self._group(sign, kind, sorted(of_kind, key=itemgetter(0)))
        going = [("", item.task) for item in open_ if item.step is not Step.UNKNOWN]
        yield from self._group(signs.arrow, "on their way", going)

    def _group(self, sign: str, are: str, tasks: Sequence[tuple[str, Task]]) -> Iterable[Item]:
        """Tasks with what is said of each, once for those of which the same is said."""
        if tasks:
            yield from (Gap(), Heading(plain(f"{sign} {len(tasks)} {are}")))
        for words, alike in groupby(tasks, key=itemgetter(0)):
            yield from (Text(self._label[task.id]) for _, task in alike)
            if words:
                yield Text(plain(words), Tone.DIM, 2)

    def action_stop(self) -> None:
        """Take it back, or stop what is not yet sent."""
        self.decision.stop()
        self._show()

    def leave_first(self) -> bool:
        """Stop it, else close, for reading may take long."""
        if self.decision.can_stop:
            self.action_stop()
            return True
        return super().leave_first()

    def action_again(self) -> None:
        if self.decision.phase is BatchPhase.ENDED and self.decision.to_ask_again:
            self.dismiss(True)
