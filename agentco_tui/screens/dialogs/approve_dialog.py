"""Whether to approve one task, or many, each listed; and what becomes of many: hold, bar, each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from math import ceil
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.css.scalar import Scalar

from agentco_tui import format as fmt
from agentco_tui.actions.batch import DOUBTFUL, BatchApproval, BatchPhase
from agentco_tui.actions.batch_summary import Listed, Standing, costs_of
from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.outcome import GOOD, OutcomeKind, Step, Verb
from agentco_tui.actions.services import age_of
from agentco_tui.api.errors import ApiError
from agentco_tui.background import start_worker
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.store import Change
from agentco_tui.model import Task, Trace
from agentco_tui.screens.cells import priority_cell, spent_text
from agentco_tui.screens.decision_notes import READ_AFTER, decision_items, line_note, told
from agentco_tui.screens.detail_pane import budget_fields, substance, sums_of, warning, whole_title
from agentco_tui.screens.dialogs.base import Dialog, Question, key_cells, title_of
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen, summary_items, trace_of
from agentco_tui.screens.key_app import REPEAT
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Cells, FieldLine, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone, bar

TRACE_LINES = 4
MOST_SHARES = 6
MOST_SUMS = 4
MOST_DIGITS = 9
BAR = 24
LEAST_LINES = 3
LAST = (OutcomeKind.DECIDED_ELSEWHERE, OutcomeKind.NOT_SENT)  # no errors: behind all others
HEADINGS = {
    Standing.CHANGED: f"{signs.warning} {{}} changed since you read them",
    Standing.UNREAD: f"{signs.warning} {{}} you have not read",
    Standing.READ: "{} you have read",
}


class TaskQuestion(Question):
    """Tasks as they are when it opens: if one changes or is decided, it says so, and `y` is off."""

    def __init__(self, session: Session, tasks: Iterable[Task], what: SafeText, yes: str) -> None:
        super().__init__(title_of(session.settings.profile, "APPROVE", what), (), yes)
        self.session = session
        self._tasks = {task.id: task for task in tasks}
        self.ended: dict[str, list[str]] = {}  # what happened since then, by id; a line a field

    def on_mount(self) -> None:
        store, decisions = self.session.store, self.session.decisions
        self.until_closed = [store.subscribe(self._take), decisions.subscribe(self._decided)]

    def _take(self, change: Change) -> None:
        store = self.session.store
        if change.feed not in (FeedName.PENDING, FeedName.TASKS):
            return
        for task_id, task in self._tasks.items():
            now = store.pending.get(task_id)
            if now is None and change.feed is FeedName.TASKS:
                now = store.tasks.get(task_id)
            if now is None and task_id in change.removed:
                left = "it left the list of pending tasks"
                self._end(task_id, [left], f"{left} while you read")
            elif now is not None and now is not task and (found := differences(task, now)):
                lines = [f"{d.field}: “{d.was}” {signs.arrow} “{d.is_}”" for d in found]
                self._end(task_id, lines, "it changed; leave, and open it again")

    def _decided(self, task_id: str) -> None:
        decision = self.session.decisions.by_task.get(task_id)
        if task_id in self._tasks and decision is not None and not decision.seen:
            words = line_note(self.session, decision).text
            self._end(task_id, [words], words)

    def _end(self, task_id: str, lines: list[str], reason: str) -> None:
        if self.ended.get(task_id) != lines:
            self.ended[task_id] = lines
            self.happened(reason)
            self.show_items()
            self.pane.scroll_home(animate=False, immediate=True)

    def happened(self, reason: str) -> None:
        raise NotImplementedError


class ApproveQuestion(TaskQuestion):
    """Whether to approve one task; `note` stands above it."""

    def __init__(self, session: Session, task: Task, note: SafeText | None = None) -> None:
        super().__init__(session, [task], plain("1 task"), "approve")
        self.look, self.subject = session.look, task
        self.trace: Trace | ApiError | None = None
        self._note, self._reason = note, ""

    def on_mount(self) -> None:
        if self.subject.cut is not None:
            self.switch_off(plain(f"not all of it can be shown: {self.subject.cut}"))
        start_worker(self, self._read, "read the trace")
        self.set_timer(READ_AFTER, self._count_as_read, name="read")

    async def _read(self) -> None:
        self.trace = await trace_of(self.session, self.subject)
        self.show_items()

    def _count_as_read(self) -> None:
        if self.app.screen is self and not self.hidden and not self.ended:
            self.session.read[self.subject.id] = self.subject.content

    def happened(self, reason: str) -> None:
        self._reason = reason
        self.switch_off(plain(reason))

    def items(self) -> Iterable[Item]:
        task, names, store = self.subject, self.session.names, self.session.store
        for lines in self.ended.values():
            changed = self._reason.startswith("it changed")
            words = "it changed while you read:" if changed else self._reason
            yield warning(f"{signs.warning} {words}")
            yield from (warning(line, 2) for line in lines if changed)
            yield Gap()
        if self._note is not None:
            yield from (warning(f"{signs.warning} {self._note}"), Gap())
        # What was sent for this task before, from here or by an earlier run.
        decision = self.session.decisions.by_task.get(task.id)
        earlier = self.session.earlier(Verb.APPROVE, task.id)
        if decision is not None:
            yield from decision_items(self.session, decision)
        elif earlier is not None and earlier.settled is not None:
            age = age_of(earlier.attempt.time)
            when = f"sent before, {fmt.ago(age)}" if age is not None else "sent before"
            yield from (warning(f"{signs.warning} {when}: {earlier.settled.outcome}"), Gap())
        agent, trust = names.agent_of(task.agent), self.look.trust_of(task)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        facts = [
            names.company(names.company_of(task)),
            plain(f"{names.agent(task.agent)}{role}"),
            plain(priority_cell(task.priority).text.strip()),
            plain(f"waits {self.look.age(waiting_since(task))}"),
            *([] if trust is None else [plain(f"trust {fmt.number(trust)}")]),
        ]
        yield from substance(task, self.look, [Text(joined(facts, f" {signs.separator} "))])
        budget = store.agent_budgets.get(task.agent.id) if task.agent else None
        if budget is not None:
            yield from (Gap(), *budget_fields(budget, self.look)[:1])
            yield FieldLine(plain("budget"), spent_text(budget))
        yield Gap()
        if isinstance(self.trace, ApiError):
            yield warning(f"{signs.unknown} trace: {self.trace}")
        elif self.trace is None:
            yield Text(plain("reading the trace"), Tone.DIM)
        else:
            yield from summary_items(self.trace, self.look, TRACE_LINES)

    def action_more(self) -> None:
        self.app.push_screen(TraceScreen(self.session, self.subject))


class BatchQuestion(TaskQuestion):
    """Whether to approve a set; over ten, its number must be typed before `y` counts."""

    BESIDE_BODY = 7

    DEFAULT_CSS = "BatchQuestion .dialog--number { height: 1; margin-top: 1; }"

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        tasks = [item.task for item in batch.items]
        yes = f"approve all {fmt.count(len(tasks))}"
        super().__init__(session, tasks, tasks_of(batch), yes)
        self.decision = batch
        self.typed = ""
        self.number_line = StatusLine(classes="dialog--number")
        self._label = labels([*tasks, *(left.task for left in batch.aside)])
        self._early: dict[str, float] = {}  # digits that came too soon to be meant, and when

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield self.pane
            if self.decision.number_to_type is not None:
                yield self.number_line
            yield self.keys_line

    def on_mount(self) -> None:
        self._show_number()

    def items(self) -> Iterable[Item]:
        listed, aside, names = self.decision.listed, self.decision.aside, self.session.names
        tasks = list(self._tasks.values())
        yield from self._ended()
        hidden = Counter(str(one.hidden) for one in listed if one.hidden)
        if aside:
            hidden["marked, but not in this set: see the end"] = len(aside)
        for words, count in hidden.items():
            yield warning(f"{signs.warning} {fmt.count(count)} {words}")
        sums = " + ".join(map(fmt.money, costs_of(tasks)))
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
            age = self.session.look.age(since)
            yield FieldLine(plain("oldest"), plain(f"{age}  {oldest.title}"))
        # Every task: those the person knows least first, then those that are not in the set.
        for standing, words in HEADINGS.items():
            if known := [one for one in listed if one.standing is standing]:
                yield from (Gap(), Heading(plain(words.format(fmt.count(len(known))))))
                for one in known:
                    yield from self._lines(one)
        if aside:
            heading = f"{signs.warning} {fmt.count(len(aside))} not in this set"
            yield from (Gap(), Heading(plain(heading)))
            for left in aside:
                yield from (Text(self._label[left.task.id]), warning(left.reason, 2))

    def _lines(self, listed: Listed) -> Iterable[Item]:
        task, names = listed.task, self.session.names
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
        odd: list[str | None] = [*listed.odd, listed.hidden]
        if (decision := self.session.decisions.by_task.get(task.id)) is not None:
            odd.append(f"tried before: {line_note(self.session, decision).text}")
        elif (earlier := self.session.earlier(Verb.APPROVE, task.id)) and earlier.settled:
            odd.append(f"tried before: {earlier.settled.outcome}")
        if any(odd):
            yield warning("; ".join(words for words in odd if words), 2)

    def _ended(self) -> Iterable[Item]:
        if count := len(self.ended):
            which = "1 task has changed" if count == 1 else f"{fmt.count(count)} tasks have changed"
            yield warning(f"{which} while you read:")
            for task_id, lines in self.ended.items():
                yield warning(f"{signs.warning} {self._label[task_id]}")
                yield from (warning(line, 2) for line in lines)
            yield Gap()

    def happened(self, reason: str) -> None:
        self.switch_off(plain("changed: ask again"))
        self._show_number()

    def _show_number(self) -> None:
        wanted = self.decision.number_to_type
        done = self.typed == str(wanted)
        then = "press y to approve them" if done else "then press y"
        words = f"type {wanted}, {then}:  {self.typed or signs.missing}"
        tone = Tone.GOOD if done else Tone.WARNING
        if self._off is not None:
            words, tone = "nothing can be approved here any more", Tone.DIM
        self.number_line.show([Cell(plain(words), tone)])

    def on_key(self, event: events.Key) -> None:
        if self.decision.number_to_type is None or self.hidden or self._off is not None:
            return
        digit, at = event.character, self.presses.at
        if digit is not None and digit in "0123456789":
            # One that was pressed before the question could be read was not meant, nor are those
            # that come from its key as long as it stays down.
            early = self._arms_at is None or at < self._arms_at
            if early or at - self._early.get(digit, float("-inf")) < REPEAT:
                self._early[digit] = at
            else:
                self.typed = (self.typed + digit)[-MOST_DIGITS:]
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        else:
            return
        event.stop()
        self._show_number()

    def accept(self) -> None:
        if self.decision.confirm(self.typed):
            super().accept()
            return
        wanted = self.decision.number_to_type
        self._show_keys(f"not {self.typed}" if self.typed else f"type {wanted} first")
        self.typed = ""
        self._show_number()

    def action_more(self) -> None:
        """There is no single trace to read for a set."""


def tasks_of(batch: BatchApproval) -> SafeText:
    count = len(batch.items)
    return plain("1 task" if count == 1 else f"{fmt.count(count)} tasks")


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
        Binding("u", "take_back", "Take back", show=False),
        Binding("escape", "stop", "Stop", show=False),
        Binding("f", "again", "Failures again", show=False),
    ]

    DEFAULT_CSS = "BatchProgress .dialog--body { height: auto; min-height: 3; }"

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        super().__init__(title_of(session.settings.profile, "APPROVING", tasks_of(batch)))
        self.decision = batch
        self._label = labels([item.task for item in batch.items])
        self._due = self._leaving = False
        self._tallest = LEAST_LINES

    def on_mount(self) -> None:
        self.pane.focus()
        self.decision.on_change = self._changed
        self.set_interval(0.5, self._tick, name="seconds")
        self.watch(self.pane, "scroll_y", self._show_keys, init=False)
        self._show()

    def on_unmount(self) -> None:
        self.decision.on_change = bool

    def _tick(self) -> None:
        if self.decision.phase in (BatchPhase.HELD, BatchPhase.RUNNING):
            self._show()

    def _changed(self) -> None:
        # Two hundred tasks change some six times each; one picture for all that came together.
        if not self._due:
            self._due = True
            self.set_timer(0.25, self._show)

    def _show(self) -> None:
        self._due = False
        self.pane.show(self._items())
        # The box doesn't shrink before the end: it stands still, and a picture costs what differs.
        is_over = self.decision.phase in (BatchPhase.ENDED, BatchPhase.TAKEN_BACK)
        height, most = self.pane.virtual_size.height, self.pane.styles.max_height
        self._tallest = LEAST_LINES if is_over else max(self._tallest, height)
        least = self._tallest if most is None else min(self._tallest, int(most.value))
        if self.pane.styles.min_height != Scalar.from_number(least):
            self.pane.styles.min_height = least
        self._show_keys()

    def _show_keys(self) -> None:
        below = self.pane.below
        more = [Cell(plain(f"{below} {signs.down} "), Tone.WARNING)] if below else []
        batch = self.decision
        again = len(batch.to_ask_again) if batch.phase is BatchPhase.ENDED else 0
        keys = {"esc": "close", **({"f": f"ask again: {again}"} if again else {})}
        if batch.can_take_back:
            keys = {"u, esc": "take it back"}
        elif batch.phase is BatchPhase.RUNNING:
            words = "stop what is not yet sent" if batch.can_stop else "close, it is read on"
            keys = {"esc": words}
        if self._leaving and not (batch.can_take_back or batch.can_stop):
            keys["q"] = "leave"
        self.keys_line.show(key_cells({key: f" {does}   " for key, does in keys.items()}), more)

    def _items(self) -> Iterable[Item]:
        """How far it is; the unknown, what did not come out as wanted, and what is on its way."""
        batch, items = self.decision, self.decision.items
        if batch.phase is BatchPhase.TAKEN_BACK:
            yield Text(plain("taken back: nothing was sent"), Tone.GOOD)
            return
        if batch.can_take_back or batch.phase is BatchPhase.ASKING:
            words = "the tasks are being read again"
            if batch.phase is not BatchPhase.RUNNING:
                words = f"it begins in {ceil(batch.hold.left())} s"
            yield warning(f"nothing is sent yet: {words}")
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
        unknown = [item for item in open_ if item.step is Step.UNKNOWN]
        yield from self._group(signs.unknown, unknown, Step.UNKNOWN)
        bad = [item for item in items if item.outcome and item.outcome.kind not in GOOD]
        for kind, of_kind in groupby(sorted(bad, key=_rank), key=_kind):
            # That somebody else was first is no error.
            sign = signs.arrow if kind is OutcomeKind.DECIDED_ELSEWHERE else signs.warning
            yield from self._group(sign, list(of_kind), kind)
        going = [item for item in open_ if item.step is not Step.UNKNOWN]
        yield from self._group(signs.arrow, going, "on their way")

    def _group(self, sign: str, items: list[Decision], are: str) -> Iterable[Item]:
        if items:
            yield from (Gap(), Heading(plain(f"{sign} {len(items)} {are}")))
        for words, alike in groupby(items, key=_words):
            yield from (Text(self._label[item.task.id]) for item in alike)
            yield Text(words, Tone.DIM, 2)

    def action_take_back(self) -> None:
        self.decision.take_back()
        self._show()

    def action_stop(self) -> None:
        """Take it back, or stop what is not yet sent; else close, for reading may take long."""
        if self.decision.can_take_back:
            self.decision.take_back()
        elif self.decision.can_stop:
            self.decision.stop()
        else:
            self.dismiss(False)
            return
        self._show()

    def leave_first(self) -> bool:
        """Stop what is not yet sent, and show it; False if that has been done."""
        if self._leaving:
            return False
        if self.decision.phase not in (BatchPhase.HELD, BatchPhase.RUNNING):
            self.dismiss(False)
            return True
        self._leaving = True
        self.decision.take_back()
        self.decision.stop()
        self._show()
        return True

    def action_again(self) -> None:
        if self.decision.phase is BatchPhase.ENDED and self.decision.to_ask_again:
            self.dismiss(True)


def _kind(item: Decision) -> OutcomeKind:
    assert item.outcome is not None
    return item.outcome.kind


def _rank(item: Decision) -> tuple[bool, int, str, str]:
    """What is in doubt first, then by the kind of outcome, and by what is said of it."""
    kind = _kind(item)
    late = LAST.index(kind) + 1 if kind in LAST else 0
    return kind not in DOUBTFUL, late, kind, _words(item)


def _words(item: Decision) -> SafeText:
    if item.outcome is not None:
        return told(item.outcome)
    return item.sentence or plain(item.step)
