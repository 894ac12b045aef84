"""What the header, the tabs and the footer show, and the notices above a list.

The functions return cells (texts with a tone), which `MainScreen` and the lists show.

The platform is the remote service with AI agents that is watched; a profile is the user's name for
its address and API key. A feed is one list of records that is polled, and its `Freshness` says when
it was last answered and how it fails: its `Phase` is LOADING, LIVE, STALE (old, after a failure) or
FAILED (no data yet). A need is one thing that requires the operator, such as a task to approve; the
queue is the list of tasks that wait. The scope is the company that the dashboard is limited to. A
tab is a screen, or a view: a list with a filter of its own that the settings define. The workspace
is what is known of the platform in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any, Final

from agentco_tui.api.errors import (
    KeyRejected,
    NotAllowed,
    NotOffered,
    RateLimited,
    TimedOut,
    Unreachable,
)
from agentco_tui.config import DEFAULT_PROFILE, Settings
from agentco_tui.keys.commands import COMMANDS_BY_ID, FOOTER_EVERYWHERE, shown_key
from agentco_tui.keys.places import SCREENS
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.insight import Level
from agentco_tui.model import Listing, Moment
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.text_pane import CellLine, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Pressable, Tone, dim_if_stale, total_width
from agentco_tui.workspace.workspace import Workspace


def header_cells(
    dashboard: DashboardContext, feeds: Iterable[FeedName], width: int
) -> tuple[list[Cell], list[Cell]]:
    """Return the cells left and right in the header.

    Left the program, the profile and the company in scope; right how fresh these feeds are, and
    how many needs there are. On a narrow screen the program and the latency are left out.
    """
    workspace = dashboard.workspace
    is_narrow = width < NARROW
    left = _place_cells(dashboard)
    latency = workspace.client.transport.measured.steady_latency
    freshness = worst(workspace.store.freshness[feed] for feed in feeds)
    health = health_cells(
        freshness,
        None if is_narrow else latency,
        workspace.clock.monotonic(),
        refresh=workspace.settings.refresh,
    )
    right: list[Cell] = []
    unfocused_interval = (
        workspace.poller.unfocused_interval
    )  # seconds between polls while the terminal has no focus
    if unfocused_interval is not None:
        # On the right, which is never cut for lack of room.
        words = f"{signs.warning} no focus: {fmt.age(unfocused_interval)}  "
        right.append(Cell(mark_safe(words), Tone.WARNING))
    right += [*health, *_need_cells(workspace), Cell(mark_safe(" "))]
    return (left[1:] if is_narrow else left), right


def _place_cells(dashboard: DashboardContext) -> list[Cell]:
    """Return the program, the profile and the scope, with what is unusual marked."""
    workspace = dashboard.workspace
    settings = workspace.settings
    company_id = workspace.poller.query.company
    scope = workspace.names.scope(company_id)
    scope_cell = Cell(scope, Tone.PLAIN if company_id is None else Tone.ACCENT)
    if workspace.scope.phase() is Phase.FAILED:
        scope_cell = Cell(mark_safe(f"{signs.critical} {scope}"), Tone.CRITICAL)
    cells = [
        Cell(mark_safe(" agentco "), Tone.STRONG),
        environment(settings),
        Cell(mark_safe(f" {signs.vertical} ")),
        scope_cell,
    ]
    if settings.read_only:
        cells.append(Cell(mark_safe("  read-only"), Tone.ACCENT))
    elif dashboard.permissions.off is not None:
        cells.append(Cell(mark_safe(f"  {signs.warning} writing off"), Tone.WARNING))
    if dashboard.thin:  # less is painted, because the line to the terminal is slow
        cells.append(Cell(mark_safe("  thin"), Tone.ACCENT))
    return cells


def _need_cells(workspace: Workspace) -> list[Cell]:
    """Return how many needs are critical and how many are warnings, dim if that may be old."""
    critical = workspace.needs.levels[Level.CRITICAL]
    warning = workspace.needs.levels[Level.WARNING]
    cells: list[Cell] = []
    if critical:
        cells.append(Cell(mark_safe("  ")))
        cells.append(Cell(mark_safe(f" {signs.critical} {fmt.count(critical)} "), Tone.ALARM))
    if warning:
        cells.append(Cell(mark_safe(f"  {signs.warning} {fmt.count(warning)}"), Tone.WARNING))
    feeds = (FeedName.PENDING, FeedName.ALERTS)
    is_old = any(workspace.store.freshness[feed].phase is Phase.STALE for feed in feeds)
    return dim_if_stale(cells, is_old)


NARROW: Final = 60
"""Columns below which the header leaves out the program and the latency."""
PRODUCTION: Final = re.compile(r"(?i)\b(prod(uction)?|live)\b")
"""Words in a platform's name that mean it is a production platform."""


class Environment(Cell, frozen=True):
    """The platform's label or its profile's name, in a colour: shows which one is acted upon."""

    filled: Tone | None = None
    """The colour in which whole lines are filled, because it is production; None otherwise."""


def profile_name(settings: Settings) -> str:
    """Return the profile's name; without a profile the host."""
    unnamed = settings.profile == DEFAULT_PROFILE
    return settings.base_url.host if unnamed else settings.profile


def environment(settings: Settings) -> Environment:
    """Return the platform's name in the colour chosen for it.

    A platform is production if `danger` says so, or else by its names.
    """
    name = profile_name(settings)
    words = settings.label or name
    is_production = settings.danger
    if is_production is None:
        is_production = PRODUCTION.search(f"{words} {name}".replace("_", " ")) is not None
    default = Tone.MAGENTA if is_production else Tone.ACCENT
    tone = Tone(settings.colour or default)
    return Environment(
        mark_safe(f" {clean_line(words, 24)} "), tone, filled=tone if is_production else None
    )


def tab_cells(
    workspace: Workspace, at: str, view_counts: Mapping[str, Cell], width: int
) -> list[Cell]:
    """Return the tabs of the screens and views, each with its key and, if known, its count.

    `at` is the tab shown; `view_counts` has the counts of the views, by tab.
    """
    names = {str(screen): mark_safe(screen.title()) for screen in SCREENS}
    for view in workspace.settings.views:
        names[view.tab] = clean_line(view.name, 24)
    counts = {**_screen_counts(workspace), **view_counts}
    keys = tab_keys(workspace.settings)
    for longest in TAB_LENGTHS:
        cells: list[Cell] = []
        for tab, name in names.items():
            title = name if tab == at else name[:longest]
            key = keys.get(tab)
            cells += _tab_cells(tab, key, title, counts.get(tab), is_shown=tab == at)
        if sum(len(cell.text) for cell in cells) <= width:
            break
    return cells


def _tab_cells(
    tab: str, key: str | None, title: str, count: Cell | None, *, is_shown: bool
) -> list[Cell]:
    # A `Pressable` is a cell that can be clicked; its key names what was clicked.
    words = "".join(f"{part} " for part in (key, title) if part)
    cells: list[Cell] = [
        Pressable(signs.cursor if is_shown else mark_safe(" "), Tone.ACCENT, key=tab),
        Pressable(mark_safe(words), Tone.STRONG if is_shown else Tone.DIM, key=tab),
    ]
    if count is not None:
        cells.append(Pressable(mark_safe(f"{count.text} "), count.tone, key=tab))
    return cells


def _screen_counts(workspace: Workspace) -> dict[str, Cell]:
    """Return the counts of the screens that are known, by tab; dim if they may be old."""
    store = workspace.store
    counts: dict[str, Cell] = {}
    lengths = {"companies": len(store.companies), "agents": len(store.agents)}
    for tab, length in lengths.items():
        if length:
            counts[tab] = Cell(fmt.count(length), Tone.DIM)
    is_queue_read = store.freshness[FeedName.PENDING].answered_at is not None
    if is_queue_read and workspace.scope.allows_counts():
        waiting = workspace.needs.queue.count
        counts["tasks"] = Cell(fmt.count(waiting), Tone.ACCENT if waiting else Tone.DIM)
    critical = workspace.needs.money_levels[Level.CRITICAL]
    warning = workspace.needs.money_levels[Level.WARNING]
    if critical:
        counts["budget"] = Cell(mark_safe(f"{signs.critical}{critical}"), Tone.CRITICAL)
    elif warning:
        counts["budget"] = Cell(mark_safe(f"{signs.warning}{warning}"), Tone.WARNING)
    for tab, feed in (("tasks", FeedName.PENDING), ("budget", FeedName.ALERTS)):
        if tab in counts and store.freshness[feed].phase is Phase.STALE:
            counts[tab] = Cell(counts[tab].text, Tone.DIM)
    return counts


TAB_LENGTHS: Final = (None, 4, 3, 0)
"""Letters to which the names of other tabs are cut, until all tabs fit; None for whole names."""


def tab_keys(settings: Settings) -> dict[str, str]:
    """Return the key of each tab that has one, as it is bound now."""
    bindings = {str(screen): f"screen.{screen}" for screen in SCREENS}
    for number, view in enumerate(settings.views, start=1):
        if f"view.{number}" in COMMANDS_BY_ID:
            bindings[view.tab] = f"view.{number}"
    keys = {tab: shown_key(binding, settings.keys) for tab, binding in bindings.items()}
    return {tab: key for tab, key in keys.items() if key}


NOT_WHILE_OPEN: Final = ("list.open", "companies.scope", "budget.alerts", "app.back")
"""Commands of a list that the footer does not show once more while a record is open: they are there
already, or act on the list."""
LONGEST_REASON: Final = 30
"""Columns of the reason why a command is refused."""
MOST_WHILE_OPEN: Final = 3
"""Commands of the list that the footer shows while a record is open."""


def footer_cells(
    offers: Mapping[str, str],
    keys: Mapping[str, str],
    denied: Mapping[str, str],
    *,
    reading: bool,
    width: int,
) -> list[Cell]:
    """Return the keys of some commands with their words, and why some are refused.

    `offers` has the commands, the most useful first, with words that replace their labels; `keys`
    is `Settings.keys`; `denied` has reasons by command. While a record is open (`reading`), only
    the first of them are shown. If not all fit, those before help and quit are left out, the last
    ones first.
    """
    ids = [*offers, *FOOTER_EVERYWHERE]
    if reading:
        first = [each for each in [*offers][:MOST_WHILE_OPEN] if each not in NOT_WHILE_OPEN]
        ids = ["app.back", "list.open", *first, "list.raw", "list.copy_id", "app.help", "app.quit"]
        offers = {**offers, "app.back": ""}
    groups: list[list[Cell]] = []
    reasons: set[str] = set()
    for command_id in ids:
        reason = denied.get(command_id)
        key = shown_key(command_id, keys)
        if key:
            label = offers.get(command_id) or COMMANDS_BY_ID[command_id].label.lower()
            key_tone = Tone.ACCENT if reason is None else Tone.DIM
            tone = Tone.PLAIN if reason is None else Tone.DIM
            groups.append(
                [
                    Pressable(mark_safe(key), key_tone, key=command_id),
                    Pressable(mark_safe(f" {label}  "), tone, key=command_id),
                ]
            )
        if reason is not None and reason not in reasons:
            reasons.add(reason)
            groups.append([Cell(mark_safe(f"{clean_line(reason, LONGEST_REASON)}  "), Tone.DIM)])
    while len(groups) > 2 and sum(map(total_width, groups)) > width - 1:
        groups.pop(-3)
    return [Cell(mark_safe(" ")), *(cell for group in groups for cell in group)]


def key_advice(settings: Settings) -> SafeText | None:
    """Return what to do when the API key is refused; None if nothing can be done."""
    place = settings.key_location
    if place is not None and place.can_change:
        return mark_safe(f"{shown_key('app.refresh', settings.keys)} reads the key again")
    return None if place is None else mark_safe("start again with another key")


def without_lines(phase: Phase, none: SafeText) -> SafeText:
    """Return the words of an empty list: `none` only if it was read and is empty."""
    words = {Phase.LOADING: "loading…", Phase.FAILED: "nothing could be read yet"}
    return mark_safe(words.get(phase, none))


def without_records(freshness: Freshness, none: SafeText) -> SafeText:
    """Return the words for a feed without records: `none` only if it was read and has none."""
    return freshness.why_not_offered or without_lines(freshness.phase, none)


OLD_FILTER: Final = 3_600.0
"""Seconds after which a list says since when it is filtered."""


def misleads(
    workspace: Workspace,
    error: str | None,
    rows: TableModel[Any],
    since: float,
    recalled: bool,
) -> Iterator[PaneItem]:
    """Yield what a list must say so that it does not mislead.

    That what was asked for does not exist (`error`), and that a filter hides rows which was set
    long ago, at the time `since` (seconds since 1970, 0 if unknown), or in an earlier run
    (`recalled`).
    """
    now = workspace.clock.now()
    if error is not None:
        yield Paragraph(mark_safe(f"{signs.critical} {error}"), Tone.CRITICAL)
    is_old = recalled or now - since >= OLD_FILTER
    if not rows.filter or not is_old:
        return
    when = f"of {fmt.clock(Moment(since), now)}" if since else "of an earlier run"
    number = f"{fmt.count(len(rows.shown))} of {fmt.count(len(rows.records))}"
    words = f"{signs.warning} filter {when}: {number}"
    key = shown_key("app.back", workspace.settings.keys)
    if key:
        words += f" {signs.separator} {key}"
    yield Paragraph(mark_safe(words), Tone.WARNING)


def told_cells(listing: Listing[Any], shown: int) -> list[Cell]:
    """Return that records of a list could not be read, or that there are more than `shown`."""
    warnings: list[str] = []
    if listing.unread:
        warnings.append(f"{fmt.count(listing.unread)} could not be read")
    if listing.capped:
        warnings.append(f"only the first {fmt.count(shown)} were fetched")
    cells = [Cell(mark_safe(f" {signs.warning} {words}"), Tone.WARNING) for words in warnings]
    if listing.more and not listing.capped:
        cells.append(Cell(mark_safe(" and more"), Tone.DIM))
    return cells


WORST_FIRST: Final = (Phase.FAILED, Phase.STALE, Phase.LOADING, Phase.LIVE)


def worst(freshnesses: Iterable[Freshness]) -> Freshness:
    """Return the worst: failed before stale before loading before live, then the oldest.

    What the platform does not offer is no failure, and counts only if there is nothing else.
    """
    known = list(freshnesses) or [Freshness()]
    known = [each for each in known if each.is_offered] or known
    return min(known, key=lambda each: (WORST_FIRST.index(each.phase), each.answered_at or 0.0))


REASONS: Final = {
    KeyRejected: "key rejected",
    NotOffered: "not offered",
    NotAllowed: "not allowed",
    RateLimited: "asked to wait",
    TimedOut: "no answer",
    Unreachable: "unreachable",
}
"""The header's words for a failure; the notice has the whole sentence."""


def health_cells(
    freshness: Freshness, latency: float | None, monotonic: float, *, refresh: float
) -> list[Cell]:
    """Return how fresh the data are; times are in seconds, `monotonic` is now."""
    age = _age_limit(freshness.age(monotonic), refresh)
    match freshness.phase:
        case Phase.LOADING if freshness.late:
            return [Cell(mark_safe(f"{signs.unknown} no answer yet"), Tone.WARNING)]
        case Phase.LOADING:
            return [Cell(mark_safe(f"{signs.unknown} connecting"), Tone.DIM)]
        case Phase.LIVE:
            state = Cell(mark_safe(f"{signs.good} live "), Tone.GOOD)
            if freshness.slow_answers:
                state = Cell(mark_safe(f"{signs.warning} slow "), Tone.WARNING)
            took = "" if latency is None else f" {signs.separator} {fmt.duration(latency)}"
            return [state, Cell(mark_safe(f"{age}{took}"), Tone.DIM)]
        case Phase.STALE:
            return [Cell(mark_safe(f"{signs.unknown} {_reason(freshness)} {age}"), Tone.WARNING)]
        case Phase.FAILED if not freshness.is_offered:
            return [Cell(mark_safe(f"{signs.missing} {_reason(freshness)}"), Tone.DIM)]
        case Phase.FAILED:
            return [Cell(mark_safe(f"{signs.critical} {_reason(freshness)}"), Tone.CRITICAL)]


def _age_limit(age: float | None, refresh: float) -> SafeText:
    """Return what the age is below between two polls: "<6s", in whole units.

    An age that counts from 0 to 5 again and again would cost more on a slow line than all else.
    """
    if age is None:
        return signs.missing
    step = ceil(refresh * 1.1 + 0.5)  # seconds between two polls, with their jitter
    most = max(1, ceil(age / step)) * step
    unit = next((unit for unit in (86_400, 3_600, 60) if most >= unit), 1)
    return mark_safe(f"<{fmt.age(ceil(most / unit) * unit)}")


def _reason(freshness: Freshness) -> str:
    """Return why a feed fails, in two words."""
    for kind, words in REASONS.items():
        if isinstance(freshness.failure, kind):
            return words
    return "failing" if freshness.failure else "no answer"


def notice(
    freshness: Freshness, monotonic: float, about: str = "", settings: Settings | None = None
) -> list[PaneItem]:
    """Return what is said of a feed that fails: its age, the next try, and why.

    `about` names what fails; `settings` are for advice about a refused key.
    """
    failure = freshness.failure
    if failure is None:
        return _late_notice(freshness, monotonic, about)
    if not freshness.is_offered:
        return [Paragraph(mark_safe(f"{signs.missing} {about}{failure}"), Tone.DIM)]
    wait = freshness.wait(monotonic)
    next_try = ""
    if wait is not None:
        when = "asking again now" if wait <= 0 else f"again in {fmt.age(wait)}"
        next_try = f" {signs.separator} {when}"
    if freshness.phase is Phase.STALE:
        age = fmt.age(freshness.age(monotonic))
        head = Cell(mark_safe(f"{signs.unknown} {about}{age} old{next_try}"), Tone.WARNING)
    else:
        head = Cell(mark_safe(f"{signs.critical} {about}no data yet{next_try}"), Tone.CRITICAL)
    words = str(failure)
    if isinstance(failure, KeyRejected) and settings is not None:
        advice = key_advice(settings)
        if advice is not None:
            words += f"; {advice}"
    return [CellLine((head,)), Paragraph(mark_safe(words), head.tone)]


def _late_notice(freshness: Freshness, monotonic: float, about: str) -> list[PaneItem]:
    """Return that an answer is late; nothing if it is not."""
    if not freshness.late:
        return []
    words = "asked, and no answer yet"
    if freshness.phase is Phase.STALE:
        words = f"{fmt.age(freshness.age(monotonic))} old {signs.separator} {words}"
    return [CellLine((Cell(mark_safe(f"{signs.unknown} {about}{words}"), Tone.WARNING),))]
