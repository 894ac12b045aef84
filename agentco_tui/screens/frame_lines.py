"""The header, the tabs and the footer of the dashboard: when they are painted, and with what.

`FrameLines` gathers what the three lines show: how fresh the feeds of the list are (a feed is one
list of records that is polled from the platform, a remote service), counts in the tabs, decisions
(approvals started here) without an outcome, the commands of the list, and which of them would be
refused (`permissions`). `header_footer` turns that into cells. The frame is the dashboard's main
screen. The frame is the main screen, the workspace what is known of the platform in memory.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from agentco_tui.actions.outcome import Step
from agentco_tui.actions.services import Permissions
from agentco_tui.config import Settings
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.header_footer import environment, footer_cells, header_cells, tab_cells
from agentco_tui.screens.views import count_cells
from agentco_tui.text import mark_safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Cell, Tone, total_width

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Capabilities

STEP_WORDS: Final = {Step.HELD: "held", Step.UNKNOWN: "unknown"}
"""The footer's words for decisions without an outcome; at any other step they are in flight."""
DECISION_WORDS: Final = ("held", "in flight", "unknown", "to look at")
"""The footer's words for decisions, in their order."""


class FrameLines:
    """The header, the tabs and the footer of one frame.

    A line writes nothing to the terminal if it looks the same as before.
    """

    def __init__(self, frame: BaseFrame) -> None:
        self.header = StatusLine(classes="frame--header")
        self.tabs = StatusLine(classes="frame--tabs")
        self.footer = StatusLine(classes="frame--footer")
        self.denied: dict[str, str] = {}
        """Why commands would be refused now, by their ids."""
        self._frame = frame
        self._dashboard = frame.dashboard
        self._workspace = frame.workspace
        self._is_due = False
        """Whether what was reported is about to be painted."""
        self._is_footer_due = False
        """Whether the footer is to be painted with it."""

    # ---- when they are painted

    def show(self) -> None:
        """Paint the header, the tabs and the footer."""
        settings = self._workspace.settings
        filled = environment(settings).filled  # a colour if it is a production platform
        self.header.fill(filled)
        self.footer.fill(filled)
        self.show_status()
        self.denied = denied_commands(
            self._dashboard.permissions, settings, self._workspace.client.capabilities
        )
        for command in self._frame.commands.verbs.commands.values():
            reason = self._dashboard.permissions.why_denied(command.verb or "")
            if reason:
                self.denied[command.id] = reason
        self.footer.show(self._footer_cells(self._frame.size.width))

    def show_status(self) -> None:
        """Paint the header and the tabs: ages and counts."""
        view = self._frame.view
        width = self._frame.size.width
        feeds = (*view.lists, *view.side_feeds)
        self.header.show(*header_cells(self._dashboard, feeds, width))
        counts = count_cells(self._frame.views)
        self.tabs.show(tab_cells(self._workspace, view.tab, counts, width))

    def show_news(self) -> None:
        """Paint the header and the tabs, and the footer if it may show other commands by now."""
        is_footer_due = self._is_footer_due or self._frame.view.has_other_offers
        self._is_due = False
        self._is_footer_due = False
        if is_footer_due:
            self.show()
        else:
            self.show_status()

    def show_news_soon(self, *, with_footer: bool = False) -> None:
        """Call `show_news` once for all that is reported in this turn of the event loop.

        An answer to a poll changes rows, needs and freshness one after the other. `with_footer`
        says that the footer may show other commands.
        """
        self._is_footer_due |= with_footer
        if not self._is_due:
            self._is_due = True
            # Not by way of the frame: while a dialog is open, Textual repaints everything whenever
            # the screen below the dialog has dealt with a message.
            self.header.call_next(self.show_news)

    # ---- what the footer shows

    def _footer_cells(self, width: int) -> list[Cell]:
        counts = self._decision_counts()
        words = "  ".join(f"{counts[word]} {word}" for word in DECISION_WORDS if counts[word])
        decisions: list[Cell] = []
        if words:
            decisions.append(Cell(mark_safe(f" {signs.unknown} {words} "), Tone.WARNING))
        view = self._frame.view
        actions = view.footer_actions()
        # What can be decided about the line comes first.
        approve = {id_: actions.pop(id_) for id_ in ("tasks.approve",) if id_ in actions}
        actions = {**approve, **self._frame.commands.verbs.offers(), **actions}
        if counts["held"]:
            actions = {"approve.take_back": "", **actions}
        keys = footer_cells(
            actions,
            self._frame.commands.verbs.keys,
            self.denied,
            reading=view.reading,
            width=width - total_width(decisions),
        )
        return [*decisions, *keys]

    def _decision_counts(self) -> Counter[str]:
        """Return how many decisions are held back, in flight, unknown, or ended badly."""
        counts = Counter[str]()
        for decision in self._dashboard.decisions.open:
            if decision.outcome is None:
                counts[STEP_WORDS.get(decision.step, "in flight")] += 1
            else:
                counts["to look at"] += 1
        return counts


def denied_commands(
    permissions: Permissions, settings: Settings, capabilities: Capabilities
) -> dict[str, str]:
    """Return the commands that would be refused now, by their ids, each with the reason.

    `capabilities` has what the platform offers: all else is refused, whatever the key may.
    """
    denied: dict[str, str] = {}
    for command in COMMANDS:
        reason = capabilities.why_not(command.operation)
        if reason is None and command.verb:
            reason = permissions.why_denied(command.verb)
        if reason:
            denied[command.id] = reason
    if permissions.off:
        for own in settings.commands:
            if own.writes:
                denied[own.command.id] = permissions.off
    return denied
