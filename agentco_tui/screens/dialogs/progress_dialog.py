"""Many tasks approved by one decision: the hold, the bar, and what becomes of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import groupby
from math import ceil
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.css.scalar import Scalar

from agentco_tui import format as fmt
from agentco_tui.actions.batch import DOUBTFUL, BatchApproval, BatchPhase
from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.outcome import GOOD, OutcomeKind, Step
from agentco_tui.screens.decision_notes import told
from agentco_tui.screens.dialogs.approve_dialog import labels, tasks_of
from agentco_tui.screens.dialogs.base import Dialog, key_cells, title_of
from agentco_tui.screens.dialogs.substance import warning
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone, bar

BAR = 24
LEAST_LINES = 3
LAST = (OutcomeKind.DECIDED_ELSEWHERE, OutcomeKind.NOT_SENT)  # no errors: behind all others


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
        self._unsubscribe: Callable[[], None] | None = None
        self._due = self._leaving = False
        self._tallest = LEAST_LINES

    def on_mount(self) -> None:
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
        keys = {key: f" {words}   " for key, words in self._keys().items()}
        self.keys_line.show(key_cells(keys), more)

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

    def _items(self) -> Iterable[Item]:
        """How far it is; the unknown, what did not come out as wanted, and what is on its way."""
        batch, items = self.decision, self.decision.items
        if batch.phase is BatchPhase.TAKEN_BACK:
            yield Text(plain("taken back: nothing was sent"), Tone.GOOD)
            return
        if batch.can_take_back or batch.phase is BatchPhase.ASKING:
            words = "the tasks are being read again"
            if batch.phase is not BatchPhase.RUNNING:
                words = f"it begins in {ceil(batch.hold_left())} s"
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
        if not self.decision.take_back():
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
