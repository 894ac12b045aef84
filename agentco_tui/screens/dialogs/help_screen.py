"""The help: the keys of a screen as they are bound now, with what they do.

Each line also has the id by which `[keys]` in the settings binds the command. Below are how often
the screen polls, how filters are written, and what the signs mean. `/` narrows the lines to those
with some words. A place is a screen or a part of one, such as "tasks" or "table" (any list);
`command.where` and `command.also` are the places in which a command works. A feed is one list that
is polled from the remote service (the platform), and a pace how often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, TypeAlias

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agentco_tui.config import Settings
from agentco_tui.keys.commands import COMMANDS, SHOWN_KEYS, Command, keys_of
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import Pace, paces_of_screen, poll_interval
from agentco_tui.model import format as fmt
from agentco_tui.screens.dialogs.base import SearchableDialog
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.widgets.text_pane import BlankLine, FieldLine, Heading, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Tone

FILTER_HELP: Final = (
    'words: all of them must occur · "two words" · !word · one|other · agent:ada|linus'
    " · waits>2h · used>=80% · trust<50 · priority>=high"
)

Line: TypeAlias = FieldLine | Paragraph
"""A line of the help."""


class HelpScreen(SearchableDialog[None]):
    """The help of one screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark", "leave", "Back", show=False)
    ]
    DEFAULT_CSS = "HelpScreen TextPane { height: auto; max-height: 80vh; }"
    key_hints: Mapping[str, str] = {"/": " search   ", "esc": " back"}

    def __init__(
        self,
        place: Place,
        settings: Settings,
        denied: Mapping[str, str],
        other_places: tuple[Place, ...] = (),
        *,
        verbs: Mapping[str, Command] = {},
        platform: SafeText | None = None,
    ) -> None:
        """`place` is the screen that the help is about, `other_places` those whose keys also work.

        `denied` says of commands that would be refused now, by their ids, why. `verbs` are the
        commands for what the platform of this name offers beside the others, by their ids.
        """
        title = [Cell(mark_safe("Keys on "), Tone.DIM), Cell(mark_safe(place.title()), Tone.STRONG)]
        super().__init__(title)
        self.place = place
        self.other_places = other_places
        self.denied = denied
        self._settings = settings
        self._verbs = verbs
        self._platform = platform

    def on_mount(self) -> None:
        self.pane.show(self._items())

    @on(Input.Changed)
    def _search_changed(self) -> None:
        self.pane.show(self._items(), top=True)

    def _items(self) -> Iterable[PaneItem]:
        """Yield the sections with the lines that have all words of the search."""
        words = self.search_input.value.casefold().split()
        is_empty = True
        for heading, lines in self._sections().items():
            matching = [line for line in lines if _has_words(words, heading, line)]
            if not matching:
                continue
            if not is_empty:
                yield BlankLine()
            is_empty = False
            yield Heading(mark_safe(heading))
            yield from matching
        if is_empty:
            yield Paragraph(mark_safe("no line has these words"), Tone.DIM)

    def _sections(self) -> dict[str, list[Line]]:
        """Return the lines of the help by heading."""
        commands: dict[str, list[Command]] = {
            "This screen": [one for one in COMMANDS if self.place in (one.where, *one.also)]
        }
        for place in self.other_places:
            commands[place.title()] = [one for one in COMMANDS if one.where == place]
        commands[f"Offered by {self._platform}"] = [
            one for one in self._verbs.values() if self.place in one.places
        ]
        own_commands = [one.command for one in self._settings.commands]
        commands["Your commands"] = [one for one in own_commands if self.place in one.places]
        commands["Every list"] = [one for one in COMMANDS if one.where == "table"]
        commands["Everywhere"] = [one for one in COMMANDS if one.where == "every"]
        sections: dict[str, list[Line]] = {
            heading: [self._command_line(one) for one in group]
            for heading, group in commands.items()
        }
        sections["Refresh"] = self._refresh_lines()
        sections["Filters"] = [Paragraph(mark_safe(FILTER_HELP.replace("·", signs.separator)))]
        sections["Signs"] = [Paragraph(mark_safe(_signs_in_words()))]
        return sections

    def _refresh_lines(self) -> list[Line]:
        """Return how often each list of the platform that the screen needs is read."""
        pace_by_feed = paces_of_screen(self.place)
        lines: list[Line] = []
        for pace in (Pace.REFRESH, Pace.SLOW):
            feeds = [feed for feed, pace_of_feed in pace_by_feed.items() if pace_of_feed is pace]
            seconds = poll_interval(pace, self._settings.refresh)
            lines.append(
                FieldLine(mark_safe(f"every {fmt.age(seconds)}"), mark_safe(", ".join(feeds)))
            )
        return lines

    def _command_line(self, command: Command) -> Line:
        """Return the keys of a command and what it does; dim, with the reason, if it is denied."""
        if command.id in self._verbs:
            keys = tuple(command.keys.split(","))
            own_name = ""
        else:
            keys = keys_of(command.id, self._settings.keys)
            own_name = f" ({command.id})"  # by which the settings can give it other keys
        shown_keys = " ".join(SHOWN_KEYS.get(key, key) for key in keys) or "none"
        words = command.tooltip
        tone = Tone.PLAIN
        reason = self.denied.get(command.id)
        if reason:
            words += f" Not now: {reason}"
            tone = Tone.DIM
        return FieldLine(mark_safe(shown_keys), mark_safe(f"{words}{own_name}"), tone)


def _signs_in_words() -> str:
    meanings = [
        (signs.critical, "critical"),
        (signs.warning, "warning"),
        (signs.good, "good"),
        (signs.waiting, "waits for a decision"),
        (signs.unknown, "old or unknown"),
        (signs.derived, "calculated here"),
        (signs.missing, "not sent"),
        (signs.mark, "marked"),
        (signs.cursor, "cursor"),
        (signs.arrow, "follows"),
    ]
    return "  ".join(f"{sign} {meaning}" for sign, meaning in meanings)


def _has_words(words: Iterable[str], heading: str, line: Line) -> bool:
    """Whether a line or its heading has all of some case-folded words."""
    text = line.text if isinstance(line, Paragraph) else f"{line.label} {line.value}"
    searched = f"{heading} {text}".casefold()
    return all(word in searched for word in words)
