"""The keys of a screen as they are bound now, with what they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agentco_tui.config import Settings
from agentco_tui.keys.commands import COMMANDS, SHOWN_KEYS, Command, keys_of
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import Pace, interval, paces
from agentco_tui.model import format as fmt
from agentco_tui.screens.dialogs.base import Searched
from agentco_tui.text import plain, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

FILTER_HELP = (
    'words: all of them must occur · "two words" · !word · one|other · agent:ada|linus'
    " · waits>2h · used>=80% · trust<50 · priority>=high"
)


class HelpScreen(Searched[None]):
    """The keys as they are bound now, by the names that `[keys]` binds; `/` narrows them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark", "leave", "Back", show=False)
    ]
    DEFAULT_CSS = "HelpScreen TextPane { height: auto; max-height: 80vh; }"
    keys: Mapping[str, str] = {"/": " search   ", "esc": " back"}

    def __init__(
        self,
        place: Place,
        settings: Settings,
        denied: Mapping[str, str],
        more: tuple[Place, ...] = (),
    ) -> None:
        here = Cell(plain(place.title()), Tone.STRONG)
        super().__init__([Cell(plain("Keys on "), Tone.DIM), here])
        self.place, self.rebound, self.denied, self.more = place, settings.keys, denied, more
        self.refresh_seconds = settings.refresh
        self.own = [one.command for one in settings.commands if place in one.command.places]

    def on_mount(self) -> None:
        self.pane.show(self._items())

    @on(Input.Changed)
    def _narrow(self) -> None:
        self.pane.show(self._items(), top=True)

    def _items(self) -> Iterable[Item]:
        groups = {
            "This screen": [key for key in COMMANDS if self.place in (key.where, *key.also)],
            **{
                place.title(): [key for key in COMMANDS if key.where == place]
                for place in self.more
            },
            "Your commands": self.own,
            "Every list": [key for key in COMMANDS if key.where == "table"],
            "Everywhere": [key for key in COMMANDS if key.where == "every"],
        }
        parts: dict[str, list[FieldLine | Text]] = {
            heading: list(map(self._line, keys)) for heading, keys in groups.items()
        }
        parts["Refresh"] = self._intervals()
        parts["Filters"] = [Text(plain(FILTER_HELP.replace("·", signs.separator)))]
        words = f"{signs.critical} critical  {signs.warning} warning  {signs.good} good  "
        words += f"{signs.waiting} waits for a person  {signs.unknown} old or unknown  "
        words += f"{signs.derived} worked out here  {signs.missing} not sent  "
        words += f"{signs.mark} marked  {signs.cursor} cursor  {signs.arrow} follows"
        parts["Signs"] = [Text(plain(words))]
        wanted, found = self.words.value.casefold().split(), False
        for heading, lines in parts.items():
            kept = [line for line in lines if all(w in _text_of(heading, line) for w in wanted)]
            if kept:
                yield from [Gap()] if found else []
                yield Heading(plain(heading))
                yield from kept
                found = True
        if not found:
            yield Text(plain("nothing here has these words"), Tone.DIM)

    def _intervals(self) -> list[FieldLine | Text]:
        """How often what this screen shows and counts is polled."""
        feeds_by_pace = {
            pace: [feed for feed, of_feed in paces(self.place).items() if of_feed is pace]
            for pace in (Pace.REFRESH, Pace.SLOW)
        }
        lines: list[FieldLine | Text] = []
        for pace, feeds in feeds_by_pace.items():
            seconds = interval(pace, self.refresh_seconds)
            lines.append(FieldLine(plain(f"every {fmt.age(seconds)}"), plain(", ".join(feeds))))
        return lines

    def _line(self, key: Command) -> FieldLine | Text:
        why = self.denied.get(key.id)
        words = f"{key.tooltip} Not now: {why}" if why else key.tooltip
        shown = " ".join(SHOWN_KEYS.get(k, k) for k in keys_of(key.id, self.rebound)) or "none"
        tone = Tone.DIM if why else Tone.PLAIN
        return FieldLine(plain(shown), plain(f"{words} ({key.id})"), tone)


def _text_of(heading: str, line: FieldLine | Text) -> str:
    words = line.text if isinstance(line, Text) else f"{line.label} {line.value}"
    return f"{heading} {words}".casefold()
