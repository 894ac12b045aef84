"""What the words typed into the prompt do: filter the list shown (`/`), or go somewhere (`:`).

The `Prompt` is an input line in place of the footer. It calls the object that opened it, its
`handler`: `text_changed` after each key, `text_entered` with enter, `cancelled` with escape,
`move_choice` for up and down. A `Target` is something to go to or run that has a name: a record, a
screen, a command, a theme, a profile (another platform, that is, remote service, with its API key).
`frame` is the dashboard's main screen, `frame.view` the list that it shows, and `frame.lines` its
header, tabs and footer, with the commands that would be refused now (`denied`). A view may also be
a list that the settings define, with a filter of its own (`shown_as`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from agentco_tui.keys.commands import Command, shown_key
from agentco_tui.keys.places import SCREEN_OF_KIND, Place
from agentco_tui.model import Agent, Company, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens import targets
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.navigation import Destination
from agentco_tui.screens.targets import SearchResult, Target
from agentco_tui.system.background import in_slices
from agentco_tui.text import clean_line, mark_safe, signs
from agentco_tui.text.row_filter import complete_column_name
from agentco_tui.widgets.prompt import WordSuggester
from agentco_tui.widgets.text_pane import CellLine, PaneItem
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker


class FilterWords:
    """Filters the list shown by the words, while they are typed."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        view = frame.view
        self._view = view
        columns = view.table.model.columns
        # The hint names a column of this list, the first one that grows with the screen.
        named = next(column.key for column in columns if column.grow)
        hint = mark_safe(f"words  !not  a|b  {named}:x  level>=warning  {signs.up} earlier")
        suggester = WordSuggester(lambda text: complete_column_name(text, columns))
        frame.lines.footer.display = False
        frame.prompt.ask("/", view.filter_text, hint, suggester, handler=self)

    def text_changed(self, text: str) -> None:
        error = self._view.set_filter(text)
        if error:
            self._frame.prompt.show_error(error)
        else:
            self._frame.prompt.show_hint(mark_safe("enter keeps it, esc drops it"))

    async def text_entered(self, text: str) -> None:
        # Enter may come before the list was filtered by the words that it keeps.
        if text != self._view.filter_text:
            self.text_changed(text)
        if text == self._view.filter_text:
            self._frame.close_prompt()

    def cancelled(self) -> None:
        self._view.set_filter(self._view.shown_as.filter)
        self._frame.close_prompt()

    def move_choice(self, by: int) -> bool:
        return False


class GoToWords:
    """Goes to or runs what the words mean. All targets found are offered, at first every command;
    enter takes the one chosen with up and down, else the only one that fits best.
    """

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._workspace = frame.workspace
        frame.lines.footer.display = False
        suggester = WordSuggester(lambda text: targets.completion(text, self._targets()))
        frame.prompt.ask(":", "", mark_safe("any command, or a name"), suggester, handler=self)
        self._show(self._commands())

    def _targets(self) -> Iterator[Target]:
        return targets.targets(self._workspace, self._frame.place)

    def _commands(self) -> SearchResult:
        """Return what was chosen lately (`frame.recent`), and every command of the screen."""
        latest = {(target.kind, target.id) for target in self._frame.recent}
        own = (target for target in self._targets() if isinstance(target.record, Command))
        rest = (target for target in own if (target.kind, target.id) not in latest)
        return SearchResult("", (*self._frame.recent, *rest))

    def text_changed(self, text: str) -> None:
        work = partial(self._find, text)
        start_worker(self._frame, work, "find what is meant", group="find", exclusive=True)

    async def _find(self, text: str, *, asked: bool = False) -> None:
        """Show the targets that a text may mean; `asked` is true if the user waits for them."""
        found = self._commands()
        if text.strip():
            steps = targets.search(text, self._targets(), self._frame.recent)
            found = await in_slices(steps, asked=asked)
        if self._frame.prompt.handler is self and self._frame.prompt.input.value == text:
            self._show(found)

    def _show(self, found: SearchResult) -> None:
        self._found = found
        self._chosen = -1
        self._paint()

    def _paint(self) -> None:
        found = self._found
        prompt = self._frame.prompt
        start = max(0, self._chosen - prompt.choice_lines + 1)
        lines: list[PaneItem] = []
        for index, target in enumerate(
            found.targets[start : start + prompt.choice_lines], start=start
        ):
            lines.append(self._line(target, is_chosen=index == self._chosen))
        prompt.show_choices(lines)
        if found.total:
            which = f"{self._chosen + 1} of " if self._chosen >= 0 else ""
            prompt.show_hint(
                mark_safe(f"{which}{fmt.count(found.total)}  {signs.up}{signs.down} choose")
            )

    def _line(self, target: Target, *, is_chosen: bool) -> CellLine:
        """Return a line of the list: kind, name, what tells it from others, and its key or id."""
        about = targets.description(target, self._workspace, self._frame.lines.denied)
        left = (
            Cell(signs.cursor if is_chosen else mark_safe(" "), Tone.ACCENT),
            Cell(mark_safe(f"{target.kind:<8} "), Tone.DIM),
            Cell(mark_safe(f"{target.name:<12}  "), Tone.STRONG if is_chosen else Tone.PLAIN),
            Cell(about, Tone.DIM),
        )
        right = Cell(mark_safe(""))
        if isinstance(target.record, Command):
            key = shown_key(target.record.id, self._frame.commands.verbs.keys)
            right = Cell(mark_safe(key), Tone.ACCENT)
        elif isinstance(target.record, Task | Agent | Company):
            right = Cell(clean_line(target.id, 24), Tone.DIM)
        return CellLine(left, (right,) if right.text else ())

    def move_choice(self, by: int) -> bool:
        """Choose the next target; return False for the prompt to recall earlier texts instead."""
        last = len(self._found.targets) - 1
        if last < 0 or (by < 0 and self._chosen < 0):
            return False
        self._chosen = max(0, min(last, self._chosen + by))
        self._paint()
        return True

    async def text_entered(self, text: str) -> None:
        """Go to the target, or say why there is none; the words stay, so that the user corrects
        them.
        """
        frame = self._frame
        if text != self._found.words:
            await self._find(text, asked=True)
        found = self._found
        target = found.targets[self._chosen] if self._chosen >= 0 else found.unambiguous
        target = target or targets.status_not_read_yet(text, self._workspace.store)
        if target is not None:
            frame.close_prompt()
            others = [
                each for each in frame.recent if (each.kind, each.id) != (target.kind, target.id)
            ]
            frame.recent = [target, *others][: targets.MOST]
            await self._go(target)
        elif not text.strip():
            frame.close_prompt()
        elif found.targets:
            words = f"{fmt.count(found.equally_good)} may be meant: {signs.down} chooses"
            frame.prompt.show_error(mark_safe(words))
        else:
            frame.prompt.show_error(targets.not_found_text(text, self._targets()))

    async def _go(self, target: Target) -> None:
        frame = self._frame
        match target.kind:
            case "screen" | "command":
                await frame.commands.run(target.id)
            case "status":
                await frame.action_show("tasks")
                view: Any = frame.view
                view.call_after_refresh(view.show_status, target.id.partition(" ")[2])
            case "view":
                place, _, name = target.id.partition(":")
                await frame.action_show(cast("Place", place), name)
            case "theme":
                frame.app.theme = target.id
                frame.memory.remember_theme(target.id, self._workspace.settings)
            case "profile":
                frame.dialogs.switch_profile(target.id.partition(" ")[2])
            case kind if target.id:
                # With the detail of the record open.
                await frame.go(Destination(SCREEN_OF_KIND[kind], target.id, is_open=True))
            case _:  # the company "all": no longer limited to one
                await frame.go(Destination("companies", scope=None))

    def cancelled(self) -> None:
        self._frame.close_prompt()
