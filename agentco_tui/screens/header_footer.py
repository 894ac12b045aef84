"""The header, the tabs, the footer, and what a list says of itself: their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any

from agentco_tui.api.errors import KeyRejected, NotAllowed, RateLimited, TimedOut, Unreachable
from agentco_tui.config import DEFAULT_PROFILE, Settings
from agentco_tui.keys.commands import COMMANDS_BY_ID, FOOTER_EVERYWHERE, SCREENS, shown_key
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.insight import Level
from agentco_tui.model import Listing, Moment
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.text_pane import Cells, Item, Text
from agentco_tui.widgets.tones import Cell, Pressable, Tone, faded, total_width


def header_cells(
    session: DashboardWorkspace, feeds: Iterable[FeedName], width: int
) -> tuple[list[Cell], list[Cell]]:
    """Left program, profile and company scope, where what is not as usual stands out; right how
    fresh these feeds are, and how much needs a person. Where it is narrow the profile comes first.
    """
    settings, scope = session.settings, session.names.scope(session.poller.query.company)
    left = [
        Cell(plain(" agentco "), Tone.STRONG),
        environment(settings),
        Cell(plain(f" {signs.vertical} ")),
        Cell(scope, Tone.PLAIN if session.poller.query.company is None else Tone.ACCENT),
    ]
    if session.scope_phase() is Phase.FAILED:
        left[-1] = Cell(plain(f"{signs.critical} {scope}"), Tone.CRITICAL)
    if settings.read_only:
        left.append(Cell(plain("  read-only"), Tone.ACCENT))
    elif session.permissions.off is not None:
        left.append(Cell(plain(f"  {signs.warning} writing off"), Tone.WARNING))
    if session.thin:
        left.append(Cell(plain("  thin"), Tone.ACCENT))
    freshness = worst(session.store.freshness[feed] for feed in feeds)
    latency, now = session.client.transport.measured.steady_latency, session.clock.monotonic()
    if width < NARROW:
        left, latency = left[1:], None
    right = health_cells(freshness, latency, now, refresh=settings.refresh)
    slowed_to = session.poller.slowed_to
    if slowed_to is not None:
        # On the right, which is never cut for lack of room.
        words = f"{signs.warning} no focus: {fmt.age(slowed_to)}  "
        right.insert(0, Cell(plain(words), Tone.WARNING))
    levels, needs = session.needs.levels, list[Cell]()
    if critical := levels[Level.CRITICAL]:
        needs.append(Cell(plain("  ")))
        needs.append(Cell(plain(f" {signs.critical} {fmt.count(critical)} "), Tone.ALARM))
    if warning := levels[Level.WARNING]:
        needs.append(Cell(plain(f"  {signs.warning} {fmt.count(warning)}"), Tone.WARNING))
    phases = [session.store.freshness[feed].phase for feed in (FeedName.PENDING, FeedName.ALERTS)]
    return left, [*right, *faded(needs, Phase.STALE in phases), Cell(plain(" "))]


NARROW = 60  # columns


PRODUCTION = re.compile(r"(?i)\b(prod(uction)?|live)\b")


class Environment(Cell, frozen=True):
    """Which platform it is; `filled` is the colour of all that must say so, None if nothing."""

    filled: Tone | None = None


def profile_name(settings: Settings) -> str:
    """The profile's name; without a profile the host."""
    unnamed = settings.profile == DEFAULT_PROFILE
    return settings.base_url.host if unnamed else settings.profile


def environment(settings: Settings) -> Environment:
    """What a person calls the platform, in the colour chosen for it; all is filled with that where
    it is production, by `danger` or by what it is called.
    """
    name, danger = profile_name(settings), settings.danger
    words = settings.label or name
    if danger is None:
        danger = PRODUCTION.search(f"{words} {name}".replace("_", " ")) is not None
    tone = Tone(settings.colour or (Tone.MAGENTA if danger else Tone.ACCENT))
    return Environment(plain(f" {safe(words, 24)} "), tone, filled=tone if danger else None)


def tab_cells(
    session: DashboardWorkspace, at: str, view_counts: Mapping[str, Cell], width: int
) -> list[Cell]:
    """Return the tabs of the screens and views, each with its key and, if known, its count.

    `at` is the tab shown; `view_counts` has the counts of the views, by tab.
    """
    store = session.store
    keys = tab_keys(session.settings)
    lengths = {"companies": len(store.companies), "agents": len(store.agents)}
    counts = {tab: Cell(fmt.count(each), Tone.DIM) for tab, each in lengths.items() if each}
    if store.freshness[FeedName.PENDING].answered_at is not None and session.is_scope_shown():
        waiting = session.needs.queue.count
        counts["tasks"] = Cell(fmt.count(waiting), Tone.ACCENT if waiting else Tone.DIM)
    money = session.needs.money_levels
    if critical := money[Level.CRITICAL]:
        counts["budget"] = Cell(plain(f"{signs.critical}{critical}"), Tone.CRITICAL)
    elif warning := money[Level.WARNING]:
        counts["budget"] = Cell(plain(f"{signs.warning}{warning}"), Tone.WARNING)
    for tab, feed in (("tasks", FeedName.PENDING), ("budget", FeedName.ALERTS)):
        if tab in counts and store.freshness[feed].phase is Phase.STALE:
            counts[tab] = Cell(counts[tab].text, Tone.DIM)
    names = {str(tab): plain(tab.title()) for tab in SCREENS}
    for view in session.settings.views:
        names[view.tab] = safe(view.name, 24)
        if view.tab in view_counts:
            counts[view.tab] = view_counts[view.tab]
    cells: list[Cell] = []
    for longest in (None, 4, 3, 0):
        cells = []
        for tab, name in names.items():
            here, count = tab == at, counts.get(tab)
            title = name if here else name[:longest]
            words = "".join(f"{part} " for part in (keys.get(tab), title) if part)
            cells += [
                Pressable(signs.cursor if here else plain(" "), Tone.ACCENT, key=tab),
                Pressable(plain(words), Tone.STRONG if here else Tone.DIM, key=tab),
            ]
            if count is not None:
                cells.append(Pressable(plain(f"{count.text} "), count.tone, key=tab))
        if sum(len(cell.text) for cell in cells) <= width:
            break
    return cells


def tab_keys(settings: Settings) -> dict[str, str]:
    """The key of each screen's and each view's tab, as it is bound now; none for one without."""
    bindings = {str(screen): f"screen.{screen}" for screen in SCREENS}
    for number, view in enumerate(settings.views, start=1):
        if f"view.{number}" in COMMANDS_BY_ID:
            bindings[view.tab] = f"view.{number}"
    keys = {tab: shown_key(binding, settings.keys) for tab, binding in bindings.items()}
    return {tab: key for tab, key in keys.items() if key}


OPEN_DETAIL = ("list.open", "companies.scope", "budget.alerts")
LONGEST_REASON = 30


def footer_cells(
    offers: Mapping[str, str],
    keys: Mapping[str, str],
    denied: Mapping[str, str],
    *,
    reading: bool,
    width: int,
) -> list[Cell]:
    """The keys of what is offered, with other words than their labels where it has some, and why
    not; where not all fit, those before help and quit give way from the right.
    """
    ids, reasons = [*offers, *FOOTER_EVERYWHERE], set[str]()
    if reading:
        first = [id_ for id_ in [*offers][:3] if id_ not in (*OPEN_DETAIL, "app.back")]
        ids = ["app.back", "list.open", *first, "list.raw", "list.copy_id", "app.help", "app.quit"]
        offers = {**offers, "app.back": ""}
    groups: list[list[Cell]] = []
    for id_ in ids:
        tones = (Tone.DIM, Tone.DIM) if id_ in denied else (Tone.ACCENT, Tone.PLAIN)
        words = f" {offers.get(id_) or COMMANDS_BY_ID[id_].label.lower()}  "
        if key := shown_key(id_, keys):
            parts = zip((key, words), tones, strict=True)
            groups.append([Pressable(plain(part), tone, key=id_) for part, tone in parts])
        if (reason := denied.get(id_)) is not None and reason not in reasons:
            reasons.add(reason)
            groups.append([Cell(plain(f"{safe(reason, LONGEST_REASON)}  "), Tone.DIM)])
    while len(groups) > 2 and sum(map(total_width, groups)) > width - 1:
        groups.pop(-3)
    return [Cell(plain(" ")), *(cell for group in groups for cell in group)]


def key_advice(settings: Settings) -> SafeText | None:
    """What to do when the API key is refused, after the words that tell of it; None for nothing."""
    place = settings.key_location
    if place is not None and place.can_change:
        return plain(f"{shown_key('app.refresh', settings.keys)} reads the key again")
    return None if place is None else plain("start again with another key")


def without_lines(phase: Phase, none: SafeText) -> SafeText:
    """What stands where there are no lines: nothing there is not the same as nothing read."""
    words = {Phase.LOADING: "loading…", Phase.FAILED: "nothing could be read yet"}
    return plain(words.get(phase, none))


OLD_FILTER = 3_600.0  # seconds


def misleads(
    session: DashboardWorkspace,
    error: str | None,
    rows: TableModel[Any],
    since: float,
    recalled: bool,
) -> Iterator[Item]:
    """What a list must say, lest it misleads: that what was asked for does not exist, and that a
    filter of an earlier time hides something.
    """
    now = session.clock.now()
    if error is not None:
        yield Text(plain(f"{signs.critical} {error}"), Tone.CRITICAL)
    if not rows.filter or not (recalled or now - since >= OLD_FILTER):
        return
    when = f"of {fmt.clock(Moment(since), now)}" if since else "of an earlier run"
    number = f"{fmt.count(len(rows.shown))} of {fmt.count(len(rows.records))}"
    parts = f"filter {when}: {number}", shown_key("app.back", session.settings.keys)
    words = f" {signs.separator} ".join(filter(None, parts))
    yield Text(plain(f"{signs.warning} {words}"), Tone.WARNING)


def told_cells(told: Listing[Any], shown: int) -> list[Cell]:
    """What a list says of itself: records that couldn't be read, and that more exist."""
    words = []
    if told.unread:
        words.append(f"{fmt.count(told.unread)} could not be read")
    if told.capped:
        words.append(f"only the first {fmt.count(shown)} were fetched")
    cells = [Cell(plain(f" {signs.warning} {each}"), Tone.WARNING) for each in words]
    if told.more and not told.capped:
        cells.append(Cell(plain(" and more"), Tone.DIM))
    return cells


WORST_FIRST = (Phase.FAILED, Phase.STALE, Phase.LOADING, Phase.LIVE)


def worst(freshnesses: Iterable[Freshness]) -> Freshness:
    """The one to tell of: failed before stale before loading before live, then the oldest."""
    known = list(freshnesses) or [Freshness()]
    ranks = [(WORST_FIRST.index(each.phase), each.answered_at or 0.0) for each in known]
    return known[ranks.index(min(ranks))]


# Two words for the header; the notice says it in full.
REASONS = {
    KeyRejected: "key rejected",
    NotAllowed: "not allowed",
    RateLimited: "asked to wait",
    TimedOut: "no answer",
    Unreachable: "unreachable",
}


def health_cells(
    freshness: Freshness, latency: float | None, monotonic: float, *, refresh: float
) -> list[Cell]:
    took = f" {signs.separator} {fmt.duration(latency)}" if latency is not None else ""
    # What the age is below between two polls, with their jitter, in whole units upwards: a header
    # that counts from 0 to 5 and back would cost more on a thin line than all else.
    age, known = signs.missing, freshness.age(monotonic)
    if known is not None:
        step = ceil(refresh * 1.1 + 0.5)
        most = max(1, ceil(known / step)) * step
        unit = next((unit for unit in (86_400, 3_600, 60) if most >= unit), 1)
        age = plain(f"<{fmt.age(ceil(most / unit) * unit)}")
    found = (words for kind, words in REASONS.items() if isinstance(freshness.failure, kind))
    reason = next(found, "failing" if freshness.failure else "no answer")
    match freshness.phase:
        case Phase.LOADING:
            if freshness.late:
                return [Cell(plain(f"{signs.unknown} no answer yet"), Tone.WARNING)]
            return [Cell(plain(f"{signs.unknown} connecting"), Tone.DIM)]
        case Phase.LIVE:
            state = Cell(plain(f"{signs.good} live "), Tone.GOOD)
            if freshness.slowed:
                state = Cell(plain(f"{signs.warning} slow "), Tone.WARNING)
            return [state, Cell(plain(f"{age}{took}"), Tone.DIM)]
        case Phase.STALE:
            return [Cell(plain(f"{signs.unknown} {reason} {age}"), Tone.WARNING)]
        case Phase.FAILED:
            return [Cell(plain(f"{signs.critical} {reason}"), Tone.CRITICAL)]


def notice(
    freshness: Freshness, monotonic: float, about: str = "", settings: Settings | None = None
) -> list[Item]:
    """What is said of a feed that fails: age, next try, and why; `about` names what fails."""
    failure = freshness.failure
    if failure is None:
        words = "asked, and no answer yet"
        if freshness.phase is Phase.STALE:
            words = f"{fmt.age(freshness.age(monotonic))} old {signs.separator} {words}"
        late = Cell(plain(f"{signs.unknown} {about}{words}"), Tone.WARNING)
        return [Cells((late,))] if freshness.late else []
    wait, again = freshness.wait(monotonic), ""
    if wait is not None:
        again = "asking again now" if wait <= 0 else f"again in {fmt.age(wait)}"
        again = f" {signs.separator} {again}"
    if freshness.phase is Phase.STALE:
        age = fmt.age(freshness.age(monotonic))
        head = Cell(plain(f"{signs.unknown} {about}{age} old{again}"), Tone.WARNING)
    else:
        head = Cell(plain(f"{signs.critical} {about}no data yet{again}"), Tone.CRITICAL)
    words, refused = str(failure), isinstance(failure, KeyRejected)
    if refused and settings is not None and (advice := key_advice(settings)) is not None:
        words += f"; {advice}"
    return [Cells((head,)), Text(plain(words), head.tone)]
