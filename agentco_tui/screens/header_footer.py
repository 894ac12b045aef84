"""The header, the tabs and the footer: which cells they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from agentco_tui import format as fmt
from agentco_tui.api.errors import KeyRejected, NotAllowed, RateLimited, TimedOut, Unreachable
from agentco_tui.config import Settings
from agentco_tui.keys import COMMANDS_BY_ID, FOOTER, FOOTER_EVERYWHERE, SCREENS, Place, keys_of
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import Cells, Item, Text
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width


def header_cells(session: Session, feeds: Iterable[FeedName]) -> tuple[list[Cell], list[Cell]]:
    """Left program, profile and company scope, where what is not as usual stands out; right how
    fresh these feeds are, and the alerts.
    """
    settings, scope = session.settings, session.names.scope(session.poller.query.company)
    left = [
        Cell(plain(" agentco "), Tone.STRONG),
        Cell(plain(f" {safe(settings.profile, 24)} "), Tone.ACCENT),
        Cell(plain(f"{signs.vertical} ")),
        Cell(scope, Tone.PLAIN if session.poller.query.company is None else Tone.WARNING),
    ]
    if settings.read_only:
        left.append(Cell(plain("  read-only"), Tone.WARNING))
    elif session.permissions.off is not None:
        left.append(Cell(plain("  writing off"), Tone.WARNING))
    if session.thin:
        left.append(Cell(plain("  thin"), Tone.WARNING))
    freshness = worst(session.store.freshness[feed] for feed in feeds)
    latency, now = session.client.transport.measured.steady_latency, session.clock.monotonic()
    right = health_cells(freshness, latency, now, refresh=settings.refresh)
    critical, warning = session.waiting.open_alerts(session.poller.query.company)
    if critical:
        right.append(Cell(plain(f"  {signs.critical} {fmt.count(critical)}"), Tone.CRITICAL))
    if warning:
        right.append(Cell(plain(f"  {signs.warning} {fmt.count(warning)}"), Tone.WARNING))
    return left, [*right, Cell(plain(" "))]


def tab_cells(session: Session, place: Place, width: int) -> list[Cell]:
    """The six tabs with their counts; names are shortened where the line is narrow."""
    store, scope = session.store, session.poller.query.company
    lengths = {"companies": len(store.companies), "agents": len(store.agents)}
    counts = {tab: Cell(fmt.count(each), Tone.DIM) for tab, each in lengths.items() if each}
    if store.freshness[FeedName.PENDING].answered_at is not None:
        waiting = session.waiting.of(scope).count
        counts["tasks"] = Cell(fmt.count(waiting), Tone.ACCENT if waiting else Tone.DIM)
    critical, warning = session.waiting.open_alerts(scope)
    if critical:
        counts["budget"] = Cell(plain(f"{signs.critical}{critical}"), Tone.CRITICAL)
    elif warning:
        counts["budget"] = Cell(plain(f"{signs.warning}{warning}"), Tone.WARNING)
    cells: list[Cell] = []
    for longest in (None, 4):
        cells = []
        for at, tab in enumerate(SCREENS, start=1):
            here, count = tab == place, counts.get(tab)
            title = tab.title() if here else tab.title()[:longest]
            cells += [
                Pressable(signs.cursor if here else plain(" "), Tone.ACCENT, key=tab),
                Pressable(plain(f"{at} {title} "), Tone.STRONG if here else Tone.DIM, key=tab),
            ]
            if count is not None:
                cells.append(Pressable(plain(f"{count.text} "), count.tone, key=tab))
        if sum(len(cell.text) for cell in cells) <= width:
            break
    return cells


OPEN_DETAIL = ("list.open", "companies.scope", "budget.alerts")


def footer_cells(
    place: Place, keys: Mapping[str, str], denied: Mapping[str, str], *, reading: bool, width: int
) -> list[Cell]:
    """The screen's keys; where not all fit, those before help and quit give way from the right."""
    ids = [*FOOTER[place], *FOOTER_EVERYWHERE]
    if reading:
        first = [id_ for id_ in FOOTER[place][:3] if id_ not in OPEN_DETAIL]
        ids = ["app.back", *first, "list.raw", "list.copy_id", "app.help", "app.quit"]
    groups: list[list[Cell]] = []
    for id_ in ids:
        tones = (Tone.DIM, Tone.DIM) if id_ in denied else (Tone.ACCENT, Tone.PLAIN)
        words = f" {COMMANDS_BY_ID[id_].label.lower()}  "
        if bound := keys_of(id_, keys):
            parts = zip((shown_key(bound[0]), words), tones, strict=True)
            groups.append([Pressable(plain(part), tone, key=id_) for part, tone in parts])
    while len(groups) > 2 and sum(map(total_width, groups)) > width - 1:
        groups.pop(-3)
    return [Cell(plain(" ")), *(cell for group in groups for cell in group)]


SHOWN_KEYS = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "asterisk": "*",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def shown_key(name: str) -> str:
    return SHOWN_KEYS.get(name, name)


def refresh_key(settings: Settings) -> SafeText:
    keys = keys_of("app.refresh", settings.keys)
    return plain(shown_key(keys[0]) if keys else "Refresh in the palette")


def key_advice(settings: Settings) -> SafeText | None:
    """What to do when the API key is refused, after the words that tell of it; None for nothing."""
    place = settings.key_place
    if place is not None and place.can_change:
        return plain(f"{refresh_key(settings)} reads the key again")
    return None if place is None else plain("start again with another key")


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
    reason = next(found, "failing")
    match freshness.phase:
        case Phase.LOADING:
            return [Cell(plain(f"{signs.unknown} connecting"), Tone.DIM)]
        case Phase.LIVE:
            word = "slow" if freshness.slowed else "live"
            tone = Tone.WARNING if freshness.slowed else Tone.GOOD
            sign = signs.warning if freshness.slowed else signs.good
            return [Cell(plain(f"{sign} {word} "), tone), Cell(plain(f"{age}{took}"), Tone.DIM)]
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
        return []
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
