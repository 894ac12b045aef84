"""Many tasks by one decision: the question, in which every one of them stands, and what becomes
of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
from agentco_tui.actions.batch_summary import Listed, Standing
from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.outcome import GOOD, OutcomeKind, Step, Verb
from agentco_tui.live.insight import waiting_since
from agentco_tui.model import Task
from agentco_tui.screens.decision_notes import line_note, told
from agentco_tui.screens.dialogs.base import Dialog, TaskQuestion, Why, key_cells, title_of
from agentco_tui.screens.dialogs.substance import sums_told, whole_title
from agentco_tui.screens.key_app import REPEAT, KeyApp
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Cells, FieldLine, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone, bar

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


class BatchQuestion(TaskQuestion):
    """Whether to approve a set; over ten, its number must be typed before `y` counts."""

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        self.decision = batch
        self.typed = ""
        self.number_line = StatusLine(classes="dialog--number")
        tasks = [item.task for item in batch.items]
        self._label = labels([*tasks, *(left.task for left in batch.aside)])
        self._told: dict[str, list[Item]] = {}
        """What has happened to tasks since the question opened, by id."""
        self._early: dict[str, float] = {}
        """When digits came last that were pressed before they could be meant."""
        yes = f"approve all {fmt.count(len(tasks))}"
        super().__init__(session, tasks, ("APPROVE", tasks_of(batch)), yes)

    BESIDE_BODY = 7

    DEFAULT_CSS = """
    BatchQuestion .dialog--number { height: 1; margin-top: 1; }
    """

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

    def question(self) -> Iterable[Item]:
        return (*self._facts(), *self._listing())

    def _facts(self) -> list[Item]:
        summary, aside = self.decision.summary, len(self.decision.aside)
        hidden = Counter(listed.hidden for listed in summary.listed if listed.hidden)
        told = [(count, str(why)) for why, count in hidden.items()]
        told += [(aside, "marked, but not in this set: see the end")] if aside else []
        items: list[Item] = [
            Text(plain(f"{signs.warning} {fmt.count(count)} {words}"), Tone.WARNING)
            for count, words in told
        ]
        items += [
            FieldLine(plain("costs"), self._costs()),
            FieldLine(plain("companies"), shares(summary.by_company)),
            FieldLine(plain("agents"), shares(summary.by_agent)),
            FieldLine(plain("priority"), shares(summary.by_priority)),
        ]
        if summary.oldest is not None:
            age = self.session.look.age(waiting_since(summary.oldest))
            items.append(FieldLine(plain("oldest"), plain(f"{age}  {summary.oldest.title}")))
        return items

    def _costs(self) -> SafeText:
        summary = self.decision.summary
        sums = " + ".join(fmt.money(cost) for cost in summary.costs)
        unknown = summary.cost_unknown
        if not unknown:
            return plain(sums)
        return plain(f"{sums or signs.missing}, and {fmt.count(unknown)} of unknown cost")

    def _listing(self) -> Iterable[Item]:
        """Every task: those the person knows least first, then those that are not in the set."""
        for standing, words in HEADINGS.items():
            listed = self.decision.summary.standing(standing)
            if listed:
                yield Gap()
                yield Heading(plain(words.format(fmt.count(len(listed)))))
                for one in listed:
                    yield from self._lines(one)
        if self.decision.aside:
            count = fmt.count(len(self.decision.aside))
            yield Gap()
            yield Heading(plain(f"{signs.warning} {count} not in this set"))
            for left in self.decision.aside:
                yield Text(self._label[left.task.id])
                yield Text(left.reason, Tone.WARNING, 2)

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
        before = tried_before(self.session, task)
        odd = [*listed.odd, *(words for words in (listed.hidden, before) if words)]
        if odd:
            yield Text(plain("; ".join(odd)), Tone.WARNING, 2)

    def happened(self, task: Task, lines: Sequence[SafeText], *, why: Why) -> None:
        label = plain(f"{signs.warning} {self._label[task.id]}")
        self._told[task.id] = [
            Text(label, Tone.WARNING),
            *(Text(line, Tone.WARNING, 2) for line in lines),
        ]
        count = len(self._told)
        which = "1 task has changed" if count == 1 else f"{fmt.count(count)} tasks have changed"
        head: list[Item] = [Text(plain(f"{which} while you read:"), Tone.WARNING)]
        told_items = (item for each in self._told.values() for item in each)
        items = (*head, *told_items, Gap(), *self.question())
        self.show_end(items, plain("changed: ask again"))
        self._show_number()

    # ---- the answer

    def _show_number(self) -> None:
        wanted = self.decision.number_to_type
        if wanted is None:
            return
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
        app: object = self.app
        assert isinstance(app, KeyApp), "a question needs to know when keys were pressed"
        at = app.presses.at
        before = self._arms_at is None or at < self._arms_at
        if before or at - self._early.get(digit, float("-inf")) < REPEAT:
            self._early[digit] = at
            return False
        return True

    def accept(self) -> None:
        """Yes only with the right number."""
        if self.decision.confirm(self.typed):
            self.dismiss(True)
            return
        wanted = self.decision.number_to_type
        self._show_keys(f"not {self.typed}" if self.typed else f"type {wanted} first")
        self.typed = ""
        self._show_number()

    def action_more(self) -> None:
        """There is no single trace to read for a set."""


def tasks_of(batch: BatchApproval) -> SafeText:
    """How many tasks a set has."""
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


BAR = 24
LEAST_LINES = 3
LAST = (OutcomeKind.DECIDED_ELSEWHERE, OutcomeKind.NOT_SENT)
"""Outcomes that are no errors, and so stand behind all others."""


class BatchProgress(Dialog[bool]):
    """The hold, the bar, and the result of each; `True` asks for what was not applied again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "take_back", "Take back", show=False),
        Binding("escape", "stop", "Stop", show=False),
        Binding("f", "again", "Failures again", show=False),
    ]

    DEFAULT_CSS = """
    BatchProgress .dialog--body { height: auto; min-height: 3; }
    """

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        super().__init__(title_of(session.settings.profile, "APPROVING", tasks_of(batch)))
        self.decision = batch
        self._label = labels([item.task for item in batch.items])
        self._unsubscribe: Callable[[], None] | None = None
        self._due = False
        self._tallest = LEAST_LINES
        self._leaving = False
        """Whether the person has asked to leave the program."""

    def on_mount(self) -> None:
        """Follow the set."""
        self.pane.focus()
        self._unsubscribe = self.decision.subscribe(self._changed)
        self.set_interval(0.5, self._tick, name="seconds")
        self.watch(self.pane, "scroll_y", self._show_keys, init=False)
        self._show()

    def on_unmount(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()

    def _tick(self) -> None:
        if self.decision.phase in (BatchPhase.HELD, BatchPhase.RUNNING):
            self._show()

    def _changed(self) -> None:
        # Two hundred tasks change some six times each; one picture for all that came together.
        if not self._due:
            self._due = True
            self.set_timer(0.25, self._show)

    # ---- what it says

    def _show(self) -> None:
        self._due = False
        self.pane.show(self._items())
        # The box doesn't shrink before the end: it stands still, and a picture costs what differs.
        is_over = self.decision.phase in (BatchPhase.ENDED, BatchPhase.TAKEN_BACK)
        self._tallest = (
            LEAST_LINES if is_over else max(self._tallest, self.pane.virtual_size.height)
        )
        most = self.pane.styles.max_height
        least = self._tallest if most is None else min(self._tallest, int(most.value))
        if self.pane.styles.min_height != Scalar.from_number(least):
            self.pane.styles.min_height = least
        self._show_keys()

    def _show_keys(self) -> None:
        below = self.pane.below
        more = [Cell(plain(f"{below} {signs.down} "), Tone.WARNING)] if below else []
        self.keys_line.show(
            key_cells({key: f" {words}   " for key, words in self._keys().items()}), more
        )

    def _keys(self) -> dict[str, str]:
        batch = self.decision
        leave = {"q": "leave"} if self._leaving else {}
        if batch.can_take_back:
            return {"u, esc": "take it back"}
        if batch.phase is BatchPhase.RUNNING and batch.can_stop:
            return {"esc": "stop what is not yet sent"}
        if batch.phase is BatchPhase.RUNNING:
            return {"esc": "close, it is read on", **leave}
        again = len(batch.to_ask_again) if batch.phase is BatchPhase.ENDED else 0
        return {"esc": "close", **({"f": f"ask again: {again}"} if again else {}), **leave}

    def _items(self) -> list[Item]:
        batch = self.decision
        if batch.phase is BatchPhase.TAKEN_BACK:
            return [Text(plain("taken back: nothing was sent"), Tone.GOOD)]
        if batch.can_take_back or batch.phase is BatchPhase.ASKING:
            words = "the tasks are being read again"
            if batch.phase is not BatchPhase.RUNNING:
                words = f"it begins in {ceil(batch.hold_left())} s"
            return [Text(plain(f"nothing is sent yet: {words}"), Tone.WARNING)]
        total = len(batch.items)
        settled = batch.results.total()
        share = fraction(settled, total)
        words = f" {fmt.count(settled)} of {fmt.count(total)}  {fmt.percent(share)}"
        items: list[Item] = [
            Cells((Cell(bar(share, BAR)), Cell(plain(words)))),
            Text(batch.sentence, Tone.STRONG),
        ]
        if batch.stop_reason is not None:
            items.append(Text(plain(f"{signs.warning} {batch.stop_reason}"), Tone.WARNING))
        if (pause := batch.pause_left()) > 0:
            words = f"the platform asked for a pause (429): it goes on in {ceil(pause)} s"
            items.append(Text(plain(f"{signs.warning} {words}"), Tone.WARNING))
        return [*items, *self._results()]

    def _results(self) -> Iterable[Item]:
        """What is not known stands first, then what did not come out as wanted, then what is on
        its way; the rest is counted.
        """
        items = self.decision.items
        unknown = [item for item in items if item.outcome is None and item.step is Step.UNKNOWN]
        yield from self._group(f"{signs.unknown} {len(unknown)} {OutcomeKind.UNKNOWN}", unknown)
        bad = [item for item in items if item.outcome and item.outcome.kind not in GOOD]
        for kind, of_kind in groupby(sorted(bad, key=_rank), key=_kind):
            found = list(of_kind)
            # That somebody else was first is no error.
            sign = signs.arrow if kind is OutcomeKind.DECIDED_ELSEWHERE else signs.warning
            yield from self._group(f"{sign} {len(found)} {kind}", found)
        going = [
            item
            for item in items
            if item.outcome is None and item.step not in (Step.WAITING, Step.UNKNOWN)
        ]
        yield from self._group(f"{signs.arrow} {len(going)} on their way", going)

    def _group(self, heading: str, items: list[Decision]) -> Iterable[Item]:
        if not items:
            return
        yield Gap()
        yield Heading(plain(heading))
        for words, alike in groupby(items, key=_words):
            for item in alike:
                yield Text(self._label[item.task.id])
            yield Text(words, Tone.DIM, 2)

    # ---- what can be done

    def action_take_back(self) -> None:
        """Undo the yes, while nothing has been sent."""
        self.decision.take_back()
        self._show()

    def action_stop(self) -> None:
        """Take it back or stop what is not yet sent; once nothing is left to stop, close.

        What is being read then may take as long as the platform is away.
        """
        if self.decision.can_take_back:
            self.decision.take_back()
        elif self.decision.can_stop:
            self.decision.stop()
        else:
            self.dismiss(False)
            return
        self._show()

    def leave_first(self) -> bool:
        """The person wants to leave the program: what is not yet sent is stopped, and shown.

        False if that has been done.
        """
        if self._leaving:
            return False
        if self.decision.phase not in (BatchPhase.HELD, BatchPhase.RUNNING):
            self.dismiss(False)
            return True
        self._leaving = True
        if not self.decision.take_back():
            self.decision.stop()
        self._show()
        return True

    def action_again(self) -> None:
        """Ask anew about what was not applied."""
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
    """What is said of one task."""
    if item.outcome is not None:
        return told(item.outcome)
    return item.sentence or plain(item.step)


def fraction(part: int, whole: int) -> Decimal:
    """A share of a count."""
    return Decimal(part) / Decimal(whole) if whole else Decimal(1)
