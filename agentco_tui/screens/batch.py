"""Many tasks by one decision: the question, the hold in which it can be taken back, the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentco_tui import format as fmt
from agentco_tui.actions.batch import BatchApproval, Phase, State
from agentco_tui.actions.batch_summary import Share
from agentco_tui.actions.outcome import GOOD, Kind
from agentco_tui.live.insight import waiting_since
from agentco_tui.screens.columns.look import Look
from agentco_tui.screens.dialog import Dialog, Question, title_of
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.gauge import bar
from agentco_tui.widgets.pane_content import Cells, Field, Gap, Heading, Item, Text
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import TextPane
from agentco_tui.widgets.tones import Cell, Tone

MOST_SHARES = 6
"""Names in a line; what is beyond is counted."""
LEAST_LISTED, MOST_LISTED = 2, 8
"""Tasks listed of a group, by how much room there is; what is beyond is counted."""
BESIDE_GROUPS = 15
"""Lines of the terminal that everything but the two groups of tasks takes."""
BAR = 40


def look_of(session: Session) -> Look:
    """What cells need, from the session."""
    return Look(session.store, session.names, session.clock, session.settings.alerts)


class BatchQuestion(Question):
    """Whether to approve a set; over ten, its number must be typed before `y` counts."""

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        self.session = session
        self.decision = batch
        self.typed = ""
        self.number_line = StatusLine(classes="dialog--number")
        count = tasks_of(batch)
        title = title_of(session.settings.profile, "APPROVE", count)
        super().__init__(title, (), f"approve all {fmt.count(batch.summary.count)}")

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
        """Show the question."""
        super().on_mount()
        self._show_number()

    def on_resize(self, event: events.Resize) -> None:
        """List as many tasks as there is room for."""
        super().on_resize(event)
        self.show_items(self._question(event.size.height))

    def _question(self, height: int) -> list[Item]:
        summary = self.decision.summary
        look = look_of(self.session)
        groups = sum(1 for group in (summary.unlike, summary.not_read) if group) or 1
        most = max(LEAST_LISTED, min(MOST_LISTED, (height - BESIDE_GROUPS) // groups - 2))
        items: list[Item] = [
            Field(plain("companies"), shares(summary.by_company)),
            Field(plain("agents"), shares(summary.by_agent)),
            Field(plain("priority"), shares(summary.by_priority)),
        ]
        if summary.oldest is not None:
            oldest = summary.oldest
            words = f"{look.age(waiting_since(oldest))}  {oldest.title}"
            items.append(Field(plain("oldest"), plain(words)))
        if summary.unlike:
            words = f"{signs.warning} {fmt.count(len(summary.unlike))} unlike the rest"
            items += [Heading(plain(words))]
            for unlike in summary.unlike[:most]:
                items.append(
                    Cells(
                        (
                            Cell(plain(f"  {'; '.join(unlike.reasons)}: "), Tone.WARNING),
                            Cell(unlike.task.title),
                        )
                    )
                )
            items += beyond(len(summary.unlike), most)
        if summary.not_read:
            words = f"{signs.warning} {fmt.count(len(summary.not_read))} of them you have not read"
            items += [Heading(plain(words))]
            items += [Cells((Cell(plain(f"  {task.title}")),)) for task in summary.not_read[:most]]
            items += beyond(len(summary.not_read), most)
        return items

    def _show_number(self) -> None:
        wanted = self.decision.number_to_type
        if wanted is None:
            return
        done = self.typed == str(wanted)
        then = "press y to approve them" if done else "then press y"
        words = f"type {wanted}, {then}:  {self.typed or signs.missing}"
        self.number_line.show([Cell(plain(words), Tone.GOOD if done else Tone.WARNING)])

    def on_key(self, event: events.Key) -> None:
        """Digits are the number that must be typed."""
        if self.decision.number_to_type is None or not self.armed or self.hidden:
            return
        if event.character is not None and event.character in "0123456789":
            self.typed = (self.typed + event.character)[-9:]
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        else:
            return
        event.stop()
        self._show_number()

    def action_answer(self, yes: bool) -> None:
        """Yes only with the right number."""
        if not yes:
            self.dismiss(False)
        elif self.is_meant():
            if self.decision.confirm(self.typed):
                self.dismiss(True)
            else:
                wanted = self.decision.number_to_type
                self._show_keys(f"not {self.typed}" if self.typed else f"type {wanted} first")
                self.typed = ""
                self._show_number()

    def action_more(self) -> None:
        """There is no single trace to read for a set."""


def tasks_of(batch: BatchApproval) -> SafeText:
    """How many tasks a set has."""
    count = batch.summary.count
    return plain("1 task" if count == 1 else f"{fmt.count(count)} tasks")


def shares(found: Iterable[Share]) -> SafeText:
    """Names with their counts, the largest first."""
    listed = list(found)
    words = [f"{share.name} {fmt.count(share.count)}" for share in listed[:MOST_SHARES]]
    if len(listed) > MOST_SHARES:
        words.append(f"and {fmt.count(len(listed) - MOST_SHARES)} more")
    return plain(", ".join(words))


def beyond(count: int, most: int) -> list[Item]:
    """How many of a group are not listed."""
    if count <= most:
        return []
    return [Text(plain(f"and {fmt.count(count - most)} more"), Tone.DIM, 2)]


class BatchProgress(Dialog[bool]):
    """The hold, the bar, and the result of each; `True` asks for the clear failures again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "take_back", "Take back", show=False),
        Binding("escape", "stop", "Stop", show=False),
        Binding("f", "again", "Failures again", show=False),
    ]

    DEFAULT_CSS = """
    BatchProgress .dialog--body { height: auto; min-height: 3; }
    """

    def __init__(self, session: Session, batch: BatchApproval) -> None:
        count = tasks_of(batch)
        super().__init__(title_of(session.settings.profile, "APPROVING", count))
        self.decision = batch
        self.pane = TextPane(classes="dialog--body")
        self._unsubscribe: Callable[[], None] | None = None
        self._due = False

    def compose(self) -> ComposeResult:
        """Title, bar and results, keys."""
        with Vertical():
            yield self.title_line
            yield self.pane
            yield self.keys_line

    def on_mount(self) -> None:
        """Follow the set."""
        super().on_mount()
        self.pane.focus()
        self._unsubscribe = self.decision.subscribe(self._changed)
        self.set_interval(0.5, self._tick, name="hold")
        self._show()

    def on_unmount(self) -> None:
        """The set goes on without being watched."""
        if self._unsubscribe is not None:
            self._unsubscribe()

    def _tick(self) -> None:
        if self.decision.phase is Phase.HELD:
            self._show()

    def _changed(self) -> None:
        # Two hundred tasks change some six times each; one picture for all that came together.
        if not self._due:
            self._due = True
            self.set_timer(0.1, self._show)

    def _show(self) -> None:
        self._due = False
        self.pane.show(self._items())
        self.keys_line.show(self._keys())

    def _keys(self) -> list[Cell]:
        match self.decision.phase:
            case Phase.HELD:
                words = (("u", "take it back"),)
            case Phase.RUNNING if self.can_stop:
                words = (("esc", "stop what is not yet sent"),)
            case Phase.RUNNING:
                words = (("esc", "leave; it goes on being read, and is told"),)
            case _:
                failed = len(self.decision.clear_failures)
                again = (("f", f"ask again about the {failed} that failed"),) if failed else ()
                words = (("esc", "close"), *again)
        return [
            cell
            for key, word in words
            for cell in (Cell(plain(key), Tone.ACCENT), Cell(plain(f" {word}   ")))
        ]

    @property
    def can_stop(self) -> bool:
        """Whether there is something that has not been sent, and would be."""
        batch = self.decision
        waiting = any(item.state is State.WAITING for item in batch.items)
        return batch.stop_reason is None and waiting

    def _items(self) -> list[Item]:
        batch = self.decision
        total = len(batch.items)
        match batch.phase:
            case Phase.TAKEN_BACK:
                return [Text(plain("taken back: nothing was sent"), Tone.GOOD)]
            case Phase.ASKING | Phase.HELD:
                left = fmt.duration(float(round(batch.hold_left())))
                return [
                    Text(plain(f"nothing is sent yet: it begins in {left}"), Tone.WARNING),
                    Text(plain("u takes it back"), Tone.DIM),
                ]
            case _:
                share = fmt.percent(fraction(batch.settled, total))
                words = f" {fmt.count(batch.settled)} of {fmt.count(total)}  {share}"
                items: list[Item] = [
                    Cells((Cell(bar(fraction(batch.settled, total), BAR)), Cell(plain(words)))),
                    Text(batch.sentence, Tone.STRONG),
                ]
                if batch.stop_reason is not None:
                    items.append(Text(plain(f"{signs.warning} {batch.stop_reason}"), Tone.WARNING))
                return [*items, Gap(), *self._results()]

    def _results(self) -> Iterable[Item]:
        """What did not come out as wanted, and what is on its way; the rest is counted."""
        for item in self.decision.items:
            found = item.outcome
            if found is not None and found.kind not in GOOD:
                words = f"{found.sentence}" + (f" (platform: {found.words})" if found.words else "")
                # That somebody else was first is no error.
                others = found.kind is Kind.DECIDED_ELSEWHERE
                sign = signs.arrow if others else signs.warning
                tone = Tone.DIM if others else Tone.WARNING
                yield Text(plain(f"{sign} {item.task.title}"), tone)
                yield Text(plain(words), Tone.DIM, 2)
        for item in self.decision.items:
            if item.outcome is None and item.state is not State.WAITING:
                words = item.sentence or plain(item.state)
                yield Cells(
                    (Cell(plain(f"{signs.arrow} {item.task.title}  ")), Cell(words, Tone.DIM))
                )

    def action_take_back(self) -> None:
        """Undo the yes, while nothing has been sent."""
        self.decision.take_back()
        self._show()

    def action_stop(self) -> None:
        """Stop what is not yet sent; once nothing is left to stop, close.

        What is being read then may take as long as the platform is away.
        """
        match self.decision.phase:
            case Phase.RUNNING if self.can_stop:
                self.decision.stop()
            case Phase.RUNNING | Phase.ENDED | Phase.TAKEN_BACK:
                self.dismiss(False)
            case _:
                self.decision.take_back()
        if self.is_current:
            self._show()

    def leave_first(self) -> bool:
        """Stop what is not yet sent, and only then leave."""
        self.action_stop()
        return True

    def action_again(self) -> None:
        """Ask anew about the clear failures."""
        if self.decision.phase is Phase.ENDED and self.decision.clear_failures:
            self.dismiss(True)


def fraction(part: int, whole: int) -> Decimal:
    """A share of a count."""
    return Decimal(part) / Decimal(whole) if whole else Decimal(1)
