"""The keys of a screen, with a sentence for each; made from the one table of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from agentco_tui.keys import COMMANDS, Place, keys_of
from agentco_tui.screens.dialogs.base import Dialog, key_cells
from agentco_tui.screens.header_footer import shown_key
from agentco_tui.text import plain, signs
from agentco_tui.widgets.text_pane import FieldLine, Gap, Heading, Item, Text, TextPane
from agentco_tui.widgets.tones import Cell, Tone

FILTER_HELP = "words: all of them must occur · agent:linus · !word · waits>2h · used>80% · trust<50"


class HelpScreen(Dialog[None]):
    """Opens over any screen; escape or `?` closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark", "dismiss", "Back", show=False)
    ]

    DEFAULT_CSS = """
    HelpScreen TextPane { height: auto; max-height: 80vh; }
    """

    def __init__(self, place: Place, rebound: Mapping[str, str], denied: Mapping[str, str]) -> None:
        super().__init__(
            [Cell(plain("Keys on "), Tone.DIM), Cell(plain(place.title()), Tone.STRONG)]
        )
        self.place = place
        self.rebound = rebound
        self.denied = denied
        self.pane = TextPane()

    def on_mount(self) -> None:
        self.pane.show(self._items())
        self.pane.focus()
        self.keys_line.show(key_cells({"esc": " back"}))

    def _items(self) -> Iterable[Item]:
        groups = {
            "This screen": [key for key in COMMANDS if self.place in (key.where, *key.also)],
            "Every list": [key for key in COMMANDS if key.where == "table"],
            "Everywhere": [key for key in COMMANDS if key.where == "every"],
        }
        for heading, keys in groups.items():
            yield Heading(plain(heading))
            for key in keys:
                why = self.denied.get(key.id)
                words = f"{key.tooltip} Not now: {why}" if why else key.tooltip
                tone = Tone.DIM if why else Tone.PLAIN
                shown = " ".join(map(shown_key, keys_of(key.id, self.rebound))) or "none"
                yield FieldLine(plain(shown), plain(words), tone)
            yield Gap()
        yield Heading(plain("Filters"))
        yield Text(plain(FILTER_HELP.replace("·", signs.separator)))
        yield Gap()
        yield Heading(plain("Signs"))
        yield Text(
            plain(
                f"{signs.critical} critical  {signs.warning} warning  {signs.good} good  "
                f"{signs.waiting} waits for a person  {signs.unknown} old or unknown  "
                f"{signs.derived} worked out here  {signs.missing} not sent"
            )
        )
