"""Many tasks by one decision: the question, in which every one of them stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from agentco_tui import format as fmt
from agentco_tui.actions.batch import BatchApproval
from agentco_tui.actions.batch_summary import Listed, Share, Standing
from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.outcome import Verb
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.store import Change
from agentco_tui.model.records import Task
from agentco_tui.screens.columns.cells import Look
from agentco_tui.screens.decision_notes import line_note
from agentco_tui.screens.dialogs.base import Question, title_of
from agentco_tui.screens.dialogs.substance import sums_told, whole_title
from agentco_tui.screens.key_queue import REPEAT, KeyApp
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Field, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

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


class BatchQuestion(Question):
    """Whether to approve a set; over ten, its number must be typed before `y` counts.

    It belongs to the tasks as they are when it opens. If one of them changes or is decided while
    the question stands, it says so, and its yes is off until it is opened again.
    """

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        self.session = session
        self.decision = batch
        self.typed = ""
        self.number_line = StatusLine(classes="dialog--number")
        self._tasks = {item.task.id: item.task for item in batch.items}
        self._label = labels([*self._tasks.values(), *(left.task for left in batch.aside)])
        self._told: dict[str, list[Item]] = {}
        """What has happened to tasks since the question opened, by id."""
        self._early: dict[str, float] = {}
        """When digits came last that were pressed before they could be meant."""
        self._unsubscribe: list[Callable[[], None]] = []
        title = title_of(session.settings.profile, "APPROVE", tasks_of(batch))
        yes = f"approve all {fmt.count(batch.summary.count)}"
        super().__init__(title, (*self._facts(), *self._listing()), yes)

    BESIDE_BODY = 7

    DEFAULT_CSS = """
    BatchQuestion .dialog--number { height: 1; margin-top: 1; }
    """

    def compose(self) -> ComposeResult:
        """Title, what it is about, the number, which is in sight wherever the pane stands, keys."""
        with Vertical():
            yield self.title_line
            yield self.pane
            if self.decision.number_to_type is not None:
                yield self.number_line
            yield self.keys_line

    def on_mount(self) -> None:
        """Show the question, and follow its tasks."""
        super().on_mount()
        self._unsubscribe = [
            self.session.store.subscribe(self._take),
            self.session.decisions.subscribe(self._decided),
        ]
        self._show_number()

    def on_unmount(self) -> None:
        """Follow the tasks no longer."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    # ---- what it says

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
            Field(plain("costs"), self._costs()),
            Field(plain("companies"), shares(summary.by_company)),
            Field(plain("agents"), shares(summary.by_agent)),
            Field(plain("priority"), shares(summary.by_priority)),
        ]
        if summary.oldest is not None:
            age = look_of(self.session).age(waiting_since(summary.oldest))
            items.append(Field(plain("oldest"), plain(f"{age}  {summary.oldest.title}")))
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

    # ---- what happens meanwhile

    def _take(self, change: Change) -> None:
        """A list has changed, and perhaps tasks of the set with it."""
        store, before = self.session.store, len(self._told)
        if change.feed not in (FeedName.PENDING, FeedName.TASKS):
            return
        collection = store.pending if change.feed is FeedName.PENDING else store.tasks
        for task_id in (*change.added, *change.changed, *change.removed):
            listed, now = self._tasks.get(task_id), collection.get(task_id)
            if listed is None or (collection is store.tasks and store.pending.get(task_id)):
                continue
            if now is None:
                if collection is store.pending:
                    self._tell(listed, [plain("it left the list of pending tasks")])
                continue
            changed = differences(listed, now)
            if changed:
                self._tell(
                    listed,
                    [plain(f"{d.field}: “{d.was}” {signs.arrow} “{d.is_}”") for d in changed],
                )
        if len(self._told) > before:
            self._show_end()

    def _decided(self, task_ids: Iterable[str]) -> None:
        """Somebody on this machine decides a task of the set."""
        before = len(self._told)
        for task_id in task_ids:
            listed, decision = self._tasks.get(task_id), self.session.decisions.of(task_id)
            if listed is not None and decision is not None and not decision.seen:
                self._tell(listed, [line_note(self.session, decision).text])
        if len(self._told) > before:
            self._show_end()

    def _tell(self, task: Task, words: Sequence[SafeText]) -> None:
        label = plain(f"{signs.warning} {self._label[task.id]}")
        self._told[task.id] = [
            Text(label, Tone.WARNING),
            *(Text(line, Tone.WARNING, 2) for line in words),
        ]

    def _show_end(self) -> None:
        count = len(self._told)
        which = "1 task has changed" if count == 1 else f"{fmt.count(count)} tasks have changed"
        head: list[Item] = [Text(plain(f"{which} while you read:"), Tone.WARNING)]
        for told in self._told.values():
            head += told
        self.show_items((*head, Gap(), *self._facts(), *self._listing()))
        self.pane.scroll_home(animate=False, immediate=True)
        self.switch_off(plain("changed: ask again"))
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


def look_of(session: Session) -> Look:
    """What cells need, from the session."""
    return Look(session.store, session.names, session.clock, session.settings.alerts)


def tasks_of(batch: BatchApproval) -> SafeText:
    """How many tasks a set has."""
    count = batch.summary.count
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


def shares(found: Iterable[Share]) -> SafeText:
    """Names with their counts, the largest first."""
    listed = list(found)
    words = [f"{share.name} {fmt.count(share.count)}" for share in listed[:MOST_SHARES]]
    if len(listed) > MOST_SHARES:
        words.append(f"and {fmt.count(len(listed) - MOST_SHARES)} more")
    return plain(", ".join(words))
