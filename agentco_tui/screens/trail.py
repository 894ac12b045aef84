"""Where one is in the dashboard, and the way that led there, which `esc` goes back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agentco_tui import model
from agentco_tui.keys.commands import Place
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.live.names import Names
from agentco_tui.live.sentences import sentence
from agentco_tui.text import SafeText, cell_width, fit, plain, safe, signs
from agentco_tui.widgets.tones import Cell, Tone

MOST_BEHIND = 20  # spots that one can go back to
LONGEST_CRUMB = 28
AGENT_LOG = "agent_log"
"""Of a line that leads to an agent's part of the activity log: `agent_log:ID`."""


class Spot(msgspec.Struct, frozen=True):
    """A screen, the company in scope, and the line that the cursor is on or that stands open."""

    place: Place
    scope: str | None = None
    row: str | None = None  # None: wherever the cursor is
    is_open: bool = False
    filter: str | None = None  # None: whatever it is
    log: ActivityFilter | None = None  # the part of the activity log; None: whatever it is
    view: str = ""  # the name of the view of that screen that it is; "" for the screen's own list
    name: SafeText = SafeText("")
    since: str | None = None  # where the page of what happened stood over it: the line opened there

    @property
    def tab(self) -> str:
        return f"{self.place}:{self.view}" if self.view else self.place


def name_of(record: model.Record, names: Names) -> SafeText:
    match record:
        case model.Task(title=title):
            return title
        case model.Alert(text=text):
            return text
        case model.Activity():
            return sentence(record, names)
        case model.Budget():
            return names.budget(record)
        case model.Agent(name=name) | model.Company(name=name) if name:
            return name
    return safe(record.id)


def crumbs(behind: Sequence[Spot], width: int) -> list[Cell]:
    """The names of the spots behind, cut from the left to so many columns."""
    names = [fit(spot.name, min(LONGEST_CRUMB, cell_width(spot.name))) for spot in behind]
    for start in range(len(names) + 1 if names else 0):
        shown = [signs.ellipsis, *names[start:]] if start else names
        way = "".join(f" {name} {signs.inward}" for name in shown)
        if cell_width(plain(way)) <= width:
            return [Cell(plain(way), Tone.DIM)]
    return []
