"""The lines above a list: its title, and notices about feeds that fail or filters that mislead.

A feed is one list of records that is polled from the platform, the remote service that is watched;
its `Phase` is LOADING, LIVE, STALE (old, after a failure) or FAILED (no data yet). Rows are dimmed
while they are old, and an empty table says why it is empty. `ListHooks` is the list that the lines
are about: `lists` are the feeds of its rows, `side_feeds` other feeds that it shows, `shown_as` the
settings of its view (the filter that the user defined for it). The scope is the company that the
dashboard is limited to. The frame is the main screen, the workspace what is known of the platform
in memory.
"""

from __future__ import annotations

from typing import Any

from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.screens.header_footer import misleads, notice, without_lines, worst
from agentco_tui.screens.list_hooks import ListHooks
from agentco_tui.screens.navigation import breadcrumbs
from agentco_tui.text import mark_safe
from agentco_tui.widgets.status_line import GAP, StatusLine
from agentco_tui.widgets.text_pane import Notice
from agentco_tui.widgets.tones import Cell, Tone, dim_if_stale, total_width


class ListHead:
    """The title and the notice of one list, and how fresh its rows look."""

    def __init__(self, hooks: ListHooks[Any]) -> None:
        self._hooks = hooks
        self._workspace = hooks.workspace
        self.title_line = StatusLine(classes="view--title")
        self.notice = Notice()

    def show(self, phase: Phase | None = None) -> None:
        """Show the title and the notice, and dim the rows and the detail if they are old.

        `phase` is the state of the rows; by default the worst of the feeds listed that were
        answered.
        """
        self._show_notice()
        is_old = self._show_row_state(phase) is Phase.STALE
        self._hooks.detail.set_stale(is_old)
        self._show_title(is_old)

    def _show_notice(self) -> None:
        """Report the feed in the worst state, and a filter that the user may have forgotten."""
        hooks = self._hooks
        workspace = self._workspace
        freshness_by_feed = {
            feed: hooks.freshness_of(feed) for feed in (*hooks.lists, *hooks.side_feeds)
        }
        freshness = worst(freshness_by_feed.values())
        failing = [
            feed for feed, each in freshness_by_feed.items() if each.phase is freshness.phase
        ]
        is_about_all = len(failing) == len(freshness_by_feed)
        about = "" if is_about_all else f"{', '.join(failing)}: "
        failure = notice(freshness, workspace.clock.monotonic(), about, workspace.settings)
        filtered_at = hooks.filtered_at
        if hooks.filter_text == hooks.shown_as.filter:
            filtered_at = workspace.clock.now()  # the view's own filter does not grow old
        filter_or_error = misleads(
            workspace, hooks.error(), hooks.table.model, filtered_at, hooks.recalled
        )
        self.notice.show([*filter_or_error, *failure])

    def _show_row_state(self, phase: Phase | None) -> Phase:
        """Dim the rows if they are old, or say why there are none; return their phase."""
        hooks = self._hooks
        scope = self._workspace.scope
        listed = [hooks.freshness_of(feed) for feed in hooks.lists]
        answered = [freshness for freshness in listed if freshness.answered_at is not None]
        phase = phase or worst(answered or listed).phase
        words = without_lines(phase, hooks.nothing())
        if FeedName.COMPANIES not in hooks.lists and not scope.allows_counts():
            # It is not known whether the company in scope exists: "no tasks" may not be said.
            phase = scope.phase()
            words = hooks.nothing() if phase is Phase.FAILED else without_lines(phase, words)
        if not any(freshness.is_offered for freshness in listed):
            words = mark_safe("not offered")
        hooks.table.viewport.thin = hooks.dashboard.thin
        hooks.table.set_state(words, stale=phase in (Phase.STALE, Phase.FAILED))
        return phase

    def _show_title(self, is_old: bool) -> None:
        hooks = self._hooks
        (name, *about), right = hooks.title()
        if hooks.reading:
            name = Cell(mark_safe(f" {hooks.breadcrumb()}"), Tone.STRONG)
            about = []
            if hooks.has_class("-narrow"):
                right = []  # the list is hidden, and so is how it is sorted
        width = GAP + total_width([name, *about, *right])
        behind = hooks.frame.navigation.behind  # where `esc` goes back to
        crumbs = breadcrumbs(behind, hooks.size.width - width) if behind else []
        self.title_line.show(
            [*crumbs, name, *dim_if_stale(about, is_old)], dim_if_stale(right, is_old)
        )
