"""The questions whether to approve: one task, with its substance and the end of its trace, or many,
every one of which is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from agentco_tui import format as fmt
from agentco_tui.actions.batch import BatchApproval
from agentco_tui.actions.batch_summary import Listed, Standing
from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.outcome import Verb
from agentco_tui.actions.services import age_of
from agentco_tui.background import start_worker
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.store import Change
from agentco_tui.model import Task
from agentco_tui.screens.cells import priority_cell, spent_text
from agentco_tui.screens.decision_notes import READ_AFTER, decision_items, line_note
from agentco_tui.screens.detail_pane import budget_fields
from agentco_tui.screens.dialogs.base import Question, title_of
from agentco_tui.screens.dialogs.substance import substance, sums_told, whole_title
from agentco_tui.screens.dialogs.trace_dialog import TraceRead, TraceScreen, summary_items
from agentco_tui.screens.key_app import REPEAT
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import FieldLine, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

TRACE_LINES = 4
"""Steps of the trace that the question about one task shows."""
MOST_SHARES = 6
"""Names in a line; what is beyond is counted."""
MOST_SUMS = 4
"""Sums of a task in its line; what is beyond is counted."""
MOST_DIGITS = 9
HEADINGS = {
    Standing.CHANGED: f"{signs.warning} {{}} changed since you read them",
    Standing.UNREAD: f"{signs.warning} {{}} you have not read",
    Standing.READ: "{} you have read",
}


def warning(words: str, indent: int = 0) -> Text:
    return Text(plain(words), Tone.WARNING, indent)


class TaskQuestion(Question):
    """A question about tasks as they are when it opens.

    If one of them changes or is decided while it stands, it says so, and its yes is off until it
    is opened again.
    """

    def __init__(self, session: Session, tasks: Iterable[Task], what: SafeText, yes: str) -> None:
        super().__init__(title_of(session.settings.profile, "APPROVE", what), (), yes)
        self.session = session
        self._tasks = {task.id: task for task in tasks}
        self.ended: dict[str, list[str]] = {}
        """What has happened to tasks since the question opened, by id; a line each field."""
        self._unsubscribe: list[Callable[[], None]] = []

    def on_mount(self) -> None:
        self._unsubscribe = [
            self.session.store.subscribe(self._take),
            self.session.decisions.subscribe(self._decided),
        ]

    def on_unmount(self) -> None:
        self.unfollow()

    def unfollow(self) -> None:
        """It is answered, or gone: what happens to the tasks is told elsewhere."""
        while self._unsubscribe:
            self._unsubscribe.pop()()

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

    def _decided(self, task_ids: Iterable[str]) -> None:
        for task_id in task_ids:
            decision = self.session.decisions.of(task_id)
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
        """Switch `y` off."""
        raise NotImplementedError


class ApproveQuestion(TaskQuestion):
    """Whether to approve one task; `note` stands above it."""

    def __init__(self, session: Session, task: Task, note: SafeText | None = None) -> None:
        super().__init__(session, [task], plain("1 task"), "approve")
        self.look = session.look
        self.subject = task
        self.trace = TraceRead(session, task)
        self._note = note
        self._reason = ""

    def on_mount(self) -> None:
        if self.subject.cut is not None:
            self.switch_off(plain(f"not all of it can be shown: {self.subject.cut}"))
        start_worker(self, self._read_trace, "read the trace")
        self.set_timer(READ_AFTER, self._count_as_read, name="read")

    def _count_as_read(self) -> None:
        if self.app.screen is self and not self.hidden and not self.ended:
            self.session.count_as_read(self.subject)

    async def _read_trace(self) -> None:
        await self.trace.read()
        self.show_items()

    def accept(self) -> None:
        self.unfollow()
        super().accept()

    def happened(self, reason: str) -> None:
        self._reason = reason
        self.switch_off(plain(reason))

    def items(self) -> list[Item]:
        task, names = self.subject, self.session.names
        agent = names.agent_of(task.agent)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        trust = self.look.trust_of(task)
        facts = [
            names.company(names.company_of(task)),
            plain(f"{names.agent(task.agent)}{role}"),
            plain(priority_cell(task.priority).text.strip()),
            plain(f"waits {self.look.age(waiting_since(task))}"),
        ]
        if trust is not None:
            facts.append(plain(f"trust {fmt.number(trust)}"))
        items = [*self._ended(), *self._before()]
        items += substance(task, self.look, [Text(joined(facts, f" {signs.separator} "))])
        budget = self.session.store.agent_budgets.get(task.agent.id) if task.agent else None
        if budget is not None:
            items += [Gap(), *budget_fields(budget, self.look)[:1]]
            items.append(FieldLine(plain("budget"), spent_text(budget)))
        items.append(Gap())
        if self.trace.failure is not None:
            items.append(warning(f"{signs.unknown} trace: {self.trace.failure}"))
        elif self.trace.found is None:
            items.append(Text(plain("reading the trace"), Tone.DIM))
        else:
            items += summary_items(self.trace.found, self.look, TRACE_LINES)
        return items

    def _ended(self) -> list[Item]:
        items: list[Item] = []
        for lines in self.ended.values():
            if self._reason.startswith("it changed"):
                told = [warning(f"{signs.warning} it changed while you read:")]
                items += [*told, *(warning(line, 2) for line in lines), Gap()]
            else:
                items += [warning(f"{signs.warning} {self._reason}"), Gap()]
        return items

    def _before(self) -> list[Item]:
        """The note, and what was sent for this task before, from here or by an earlier run."""
        note = f"{signs.warning} {self._note}"
        items: list[Item] = [] if self._note is None else [warning(note), Gap()]
        decision = self.session.decisions.of(self.subject.id)
        if decision is not None:
            return [*items, *decision_items(self.session, decision)]
        earlier = self.session.earlier(Verb.APPROVE, self.subject.id)
        if earlier is None or earlier.settled is None:
            return items
        age = age_of(earlier.attempt.time)
        when = f"sent before, {fmt.ago(age)}" if age is not None else "sent before"
        words = f"{signs.warning} {when}: {earlier.settled.outcome}"
        return [*items, warning(words), Gap()]

    def action_more(self) -> None:
        """Read the whole trace; from there one comes back to this question."""
        self.app.push_screen(TraceScreen(self.session, self.subject))


class BatchQuestion(TaskQuestion):
    """Whether to approve a set; over ten, its number must be typed before `y` counts."""

    BESIDE_BODY = 7

    DEFAULT_CSS = """
    BatchQuestion .dialog--number { height: 1; margin-top: 1; }
    """

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        tasks = [item.task for item in batch.items]
        yes = f"approve all {fmt.count(len(tasks))}"
        super().__init__(session, tasks, tasks_of(batch), yes)
        self.decision = batch
        self.typed = ""
        self.number_line = StatusLine(classes="dialog--number")
        self._label = labels([*tasks, *(left.task for left in batch.aside)])
        self._early: dict[str, float] = {}
        """When digits came last that were pressed before they could be meant."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield self.pane
            if self.decision.number_to_type is not None:
                yield self.number_line
            yield self.keys_line

    def on_mount(self) -> None:
        self._show_number()

    # ---- what it says

    def items(self) -> Iterable[Item]:
        summary, aside = self.decision.summary, self.decision.aside
        yield from self._ended()
        hidden = Counter(str(listed.hidden) for listed in summary.listed if listed.hidden)
        if aside:
            hidden["marked, but not in this set: see the end"] = len(aside)
        for words, count in hidden.items():
            yield warning(f"{signs.warning} {fmt.count(count)} {words}")
        yield FieldLine(plain("costs"), self._costs())
        yield FieldLine(plain("companies"), shares(summary.by_company))
        yield FieldLine(plain("agents"), shares(summary.by_agent))
        yield FieldLine(plain("priority"), shares(summary.by_priority))
        if summary.oldest is not None:
            age = self.session.look.age(waiting_since(summary.oldest))
            yield FieldLine(plain("oldest"), plain(f"{age}  {summary.oldest.title}"))
        # Every task: those the person knows least first, then those that are not in the set.
        for standing, words in HEADINGS.items():
            if listed := summary.standing(standing):
                yield from (Gap(), Heading(plain(words.format(fmt.count(len(listed))))))
                for one in listed:
                    yield from self._lines(one)
        if aside:
            heading = f"{signs.warning} {fmt.count(len(aside))} not in this set"
            yield from (Gap(), Heading(plain(heading)))
            for left in aside:
                yield from (Text(self._label[left.task.id]), warning(left.reason, 2))

    def _costs(self) -> SafeText:
        summary = self.decision.summary
        sums = " + ".join(fmt.money(cost) for cost in summary.costs)
        unknown = summary.cost_unknown
        if not unknown:
            return plain(sums)
        return plain(f"{sums or signs.missing}, and {fmt.count(unknown)} of unknown cost")

    def _lines(self, listed: Listed) -> Iterable[Item]:
        task, names = listed.task, self.session.names
        yield Text(self._label[task.id])
        cost = "unknown" if task.cost is None else fmt.money(task.cost)
        sums = [("cost", cost), *sums_told(task)]
        more = [f"and {len(sums) - MOST_SUMS} more sums"] if len(sums) > MOST_SUMS else []
        parts = (
            *(names.company(names.company_of(task)), names.agent(task.agent)),
            *(f"{name} {value}" for name, value in sums[:MOST_SUMS]),
            *more,
        )
        yield Text(plain(f" {signs.separator} ".join(parts)), Tone.DIM, 2)
        odd = [*listed.odd, listed.hidden, tried_before(self.session, task)]
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

    # ---- the answer

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
        """Digits are the number that must be typed."""
        if self.decision.number_to_type is None or self.hidden or self._off is not None:
            return
        if event.character is not None and event.character in "0123456789":
            if self._is_typed(event.character):
                self.typed = (self.typed + event.character)[-MOST_DIGITS:]
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        else:
            return
        event.stop()
        self._show_number()

    def _is_typed(self, digit: str) -> bool:
        """Whether a digit was pressed after the question could be read, and does not come from a
        key that has been down since before.
        """
        at = self.presses.at
        before = self._arms_at is None or at < self._arms_at
        if before or at - self._early.get(digit, float("-inf")) < REPEAT:
            self._early[digit] = at
            return False
        return True

    def accept(self) -> None:
        if self.decision.confirm(self.typed):
            self.unfollow()
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


def tried_before(session: Session, task: Task) -> SafeText | None:
    """What came of an attempt to approve the task, from here or by an earlier run."""
    decision = session.decisions.of(task.id)
    if decision is not None:
        return plain(f"tried before: {line_note(session, decision).text}")
    earlier = session.earlier(Verb.APPROVE, task.id)
    if earlier is None or earlier.settled is None:
        return None
    return plain(f"tried before: {earlier.settled.outcome}")


def labels(tasks: Sequence[Task]) -> dict[str, SafeText]:
    """The titles by id, whole; with the id where several have the same title."""
    titles = {task.id: whole_title(task) for task in tasks}
    count = Counter(titles.values())
    return {
        task.id: plain(f"{titles[task.id]} ({safe(task.sent_id, 60)})")
        if count[titles[task.id]] > 1
        else titles[task.id]
        for task in tasks
    }


def shares(found: Counter[SafeText]) -> SafeText:
    """Names with their counts, the largest first."""
    listed = found.most_common()
    words = [f"{name} {fmt.count(count)}" for name, count in listed[:MOST_SHARES]]
    if len(listed) > MOST_SHARES:
        words.append(f"and {fmt.count(len(listed) - MOST_SHARES)} more")
    return plain(", ".join(words))
