"""What stands over the frame: screens that hide where the terminal is too small, boxes with a
title that says where and what, questions, and the command palette.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import ClassVar, Literal, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from agentco_tui.actions.fingerprint import differences
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change
from agentco_tui.model import Task
from agentco_tui.screens.decision_notes import line_note
from agentco_tui.screens.key_app import REPEAT, KeyApp, bindings_of
from agentco_tui.screens.session import Session
from agentco_tui.screens.sized_screen import SizedScreen
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

SHARE = 0.94
"""Of the terminal's height, for a box at its largest."""

ARMING = 0.3
"""Seconds a question must have stood on the screen before a key can answer it."""
ALONE = 0.12
"""Seconds after a yes in which no other may come: what comes in a burst, from a key that is held
down on a line that stalls, answers nothing."""


class Overlay(SizedScreen[T], ModalScreen[T]):
    """A screen over the frame. What is asked must be seen whole, so nothing is to be answered while
    it is `hidden`.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("dialog", "app.quit")

    ASKS: ClassVar[bool] = False
    """Whether a single key here says yes to something."""

    def leave_first(self) -> bool:
        """Leaving was asked for: leave this, without an answer. False to leave the program."""
        self.dismiss(None)
        return True

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, unless that has been done, or something stands over it: Textual would close
        what lies beneath instead, or fail.

        Two keys typed at once both reach a dialog before the first has closed it.
        """
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class Palette(CommandPalette):
    """Opens over the frame only: in a dialog there is nothing to choose."""

    def leave_first(self) -> bool:
        """Leaving was asked for: leave the palette."""
        self.dismiss()
        return True

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close it, unless that has been done: Textual would close what lies beneath instead."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Page through the list only once it has a place (before, KeyError in Textual 8.2.8)."""
        if action == "command_list" and parameters[0] in {"page_up", "page_down"}:
            return bool(self.query_one(CommandList).scrollable_content_region)
        return super().check_action(action, parameters)


class Dialog(Overlay[T]):
    """A box with a title line, a body and a line of keys."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: transparent; }
    Dialog > Vertical {
        width: 90%; max-width: 84; height: auto; max-height: 94%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Dialog .dialog--title { height: 1; }
    Dialog .dialog--keys { height: 1; margin-top: 1; }
    """

    BESIDE_BODY: ClassVar[int] = 5
    """Lines of the box beside its body: border, title, a blank and the keys."""

    def __init__(self, title: Sequence[Cell]) -> None:
        super().__init__()
        self.title_line = StatusLine(classes="dialog--title")
        self.pane = TextPane(classes="dialog--body")
        self.keys_line = StatusLine(classes="dialog--keys")
        self._title_cells = list(title)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield self.pane
            yield self.keys_line

    def on_mount(self) -> None:
        self.title_line.show(self._title_cells)

    def on_resize(self, event: events.Resize) -> None:
        """Let the body scroll rather than push the keys out of the box."""
        for body in self.query(".dialog--body"):
            body.styles.max_height = max(1, int(event.size.height * SHARE) - self.BESIDE_BODY)


def key_cells(keys: Mapping[str, str]) -> list[Cell]:
    """Keys, each with what it does and the blanks behind that."""
    pairs = ((Cell(plain(key), Tone.ACCENT), Cell(plain(words))) for key, words in keys.items())
    return [cell for pair in pairs for cell in pair]


def title_of(profile: str, verb: str, what: SafeText) -> list[Cell]:
    """Profile, verb and what it acts on, as every question has it."""
    return [
        Cell(plain(f"{profile} "), Tone.ACCENT),
        Cell(plain(f"{verb} "), Tone.STRONG),
        Cell(what),
    ]


class Question(Dialog[bool]):
    """Yes or no. Only `y` does it; enter does nothing, nor does a key typed too early.

    A key that was on its way while the question appeared was not meant for it, so keys count only
    once the question has been on the screen for `ARMING` seconds.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog", "dialog.yes", "dialog.no"),
        Binding("t", "more", "Read more", show=False),
    ]

    ASKS = True

    def __init__(self, title: Sequence[Cell], items: Iterable[Item], yes: str = "yes") -> None:
        super().__init__(title)
        self._items = tuple(items)
        self._yes = yes
        self._arms_at: float | None = None
        self._answering: Timer | None = None
        self._off: SafeText | None = None
        """Why `y` does nothing any more, until the question is opened again."""

    DEFAULT_CSS = """
    Question .dialog--body {
        height: auto; min-height: 3; scrollbar-size-horizontal: 0;
    }
    """

    def on_mount(self) -> None:
        self.pane.focus()
        self.show_items(self._items)
        self._show_keys()
        self.watch(self.pane, "scroll_y", self._scrolled, init=False)
        self.watch(self.pane, "virtual_size", self._scrolled, init=False)

    def on_screen_resume(self) -> None:
        """On the screen, for the first time or again: it can be answered a moment later."""
        self._arms_at = None
        self.call_after_refresh(self._start_arming)

    def on_screen_suspend(self) -> None:
        """Something came over it: a yes that was not taken yet is none."""
        if self._answering is not None:
            self._answering.stop()
            self._answering = None

    def _start_arming(self) -> None:
        self._arms_at = monotonic() + ARMING

    @property
    def armed(self) -> bool:
        """Whether a `y` pressed now counts."""
        return self._arms_at is not None and monotonic() >= self._arms_at

    def show_items(self, items: Iterable[Item]) -> None:
        """Show or renew what the question is about."""
        self._items = tuple(items)
        self.pane.show(self._items)

    def _show_keys(self, warning: str = "") -> None:
        below = self.pane.below
        more = [Cell(plain(f"{below} more below {signs.down} "), Tone.WARNING)] if below else []
        if warning or self._off is not None:
            words = plain(f"  {signs.warning} {warning or self._off}")
            self.keys_line.show([*key_cells({"n, esc": " no"}), Cell(words, Tone.WARNING)], more)
        else:
            self.keys_line.show(key_cells({"y": f" {self._yes}     ", "n, esc": " no"}), more)

    def _scrolled(self) -> None:
        if self._answering is None:
            self.call_after_refresh(self._show_keys)

    @property
    def is_off(self) -> bool:
        """Whether `y` does nothing here any more."""
        return self._off is not None

    def switch_off(self, reason: SafeText) -> None:
        """Let `y` do nothing from now on, and say why."""
        self._off = reason
        self._show_keys()

    def action_answer(self, yes: bool) -> None:
        """Take the answer; a yes that comes too early, or from a key held down, is dropped."""
        if not yes:
            self.dismiss(False)
        elif self._answering is not None:
            self._answering.stop()
            self._answering = None
            self._too_soon("that came in a burst")
        elif self._off is not None:
            self._show_keys(f"y is off: {self._off}")
        elif self.is_meant():
            self._answering = self.set_timer(ALONE, self._answered, name="answer")

    def _answered(self) -> None:
        self._answering = None
        if self._off is None and not self.hidden:
            self.accept()

    def accept(self) -> None:
        """The person has said yes."""
        self.dismiss(True)

    def is_meant(self) -> bool:
        """Whether the `y` that has just come was pressed as an answer to what stands here.

        One that was pressed before the question could be read was not, whenever its turn comes;
        nor are those that the keyboard goes on sending while the same key is held down, which may
        have answered another question before.
        """
        if self.hidden:
            return False
        app: object = self.app
        assert isinstance(app, KeyApp), "a question needs to know when keys were pressed"
        presses = app.presses
        if self._arms_at is not None and presses.at >= self._arms_at and not presses.held_down:
            return True
        self._too_soon("that came too soon")
        return False

    def _too_soon(self, why: str) -> None:
        self._show_keys(f"{why}: wait {REPEAT:g} s, then y")
        self.set_timer(REPEAT, self._show_keys, name="keys")


Why = Literal["changed", "left", "decided"]
"""What has happened to a task that a question is about."""


class TaskQuestion(Question):
    """A question about tasks as they are when it opens.

    If one of them changes or is decided while it stands, it says so, and its yes is off until it
    is opened again.
    """

    def __init__(
        self,
        session: Session,
        tasks: Iterable[Task],
        title: tuple[str, SafeText],
        yes: str,
    ) -> None:
        self.session = session
        self._tasks = {task.id: task for task in tasks}
        self._ended: dict[str, list[SafeText]] = {}
        """What has happened to tasks since the question opened, by id."""
        self._unsubscribe: list[Callable[[], None]] = []
        super().__init__(title_of(session.settings.profile, *title), (), yes)

    def question(self) -> Iterable[Item]:
        """What the question says."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self._items = tuple(self.question())
        self._unsubscribe = [
            self.session.store.subscribe(self._take),
            self.session.decisions.subscribe(self._decided),
        ]

    def on_unmount(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    def happened(self, task: Task, lines: Sequence[SafeText], *, why: Why) -> None:
        """Something has happened to a task, told in lines; if it has changed, a line a field."""
        raise NotImplementedError

    def show_end(self, items: Iterable[Item], reason: SafeText) -> None:
        """Show the question with what has happened above it; its yes is off for that."""
        self.show_items(items)
        self.pane.scroll_home(animate=False, immediate=True)
        self.switch_off(reason)

    def _take(self, change: Change) -> None:
        store = self.session.store
        if change.feed not in (FeedName.PENDING, FeedName.TASKS):
            return
        for task_id, task in self._tasks.items():
            now = store.pending.get(task_id)
            if now is None and change.feed is FeedName.TASKS:
                now = store.tasks.get(task_id)
            if now is None and task_id in change.removed:
                self._tell(task, [plain("it left the list of pending tasks")], why="left")
            elif now is not None and now is not task and (found := differences(task, now)):
                lines = [plain(f"{d.field}: “{d.was}” {signs.arrow} “{d.is_}”") for d in found]
                self._tell(task, lines, why="changed")

    def _decided(self, task_ids: Iterable[str]) -> None:
        for task_id in task_ids:
            task, decision = self._tasks.get(task_id), self.session.decisions.of(task_id)
            if task is not None and decision is not None and not decision.seen:
                self._tell(task, [line_note(self.session, decision).text], why="decided")

    def _tell(self, task: Task, lines: list[SafeText], *, why: Why) -> None:
        if self._ended.get(task.id) != lines:
            self._ended[task.id] = lines
            self.happened(task, lines, why=why)
