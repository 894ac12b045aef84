"""The header, the tabs and the footer: which cells they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Protocol

from agentco_tui import format as fmt
from agentco_tui.api.errors import KeyRejected, NotAllowed, RateLimited, TimedOut, Unreachable
from agentco_tui.config import Settings
from agentco_tui.keys import (
    COMMANDS_BY_ID,
    FOOTER,
    FOOTER_EVERYWHERE,
    SCREENS,
    Command,
    Place,
    keys_of,
)
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.text_pane import Cells, Item, Text
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width


class Say(Protocol):
    """Shows a short message; `bad` for one that should be seen."""

    def __call__(self, words: str, *, bad: bool = False) -> None: ...


def header_left(session: Session) -> list[Cell]:
    """Program, profile and company scope; what is not as usual stands out."""
    settings = session.settings
    cells = [
        Cell(plain(" agentco "), Tone.STRONG),
        Cell(plain(f" {safe(settings.profile, 24)} "), Tone.ACCENT),
        Cell(plain(f"{signs.vertical} ")),
    ]
    scope = session.names.scope(session.company)
    cells.append(Cell(scope, Tone.PLAIN if session.company is None else Tone.WARNING))
    if settings.read_only:
        cells.append(Cell(plain("  read-only"), Tone.WARNING))
    elif session.permissions.off is not None:
        cells.append(Cell(plain("  writing off"), Tone.WARNING))
    if session.thin.on:
        cells.append(Cell(plain("  thin"), Tone.WARNING))
    return cells


def header_right(session: Session, feeds: Iterable[FeedName]) -> list[Cell]:
    """The connection's health, and how many alerts stand."""
    freshness = worst(session.store.freshness[feed] for feed in feeds)
    latency = session.client.transport.measured.steady_latency
    cells = health_cells(
        freshness, latency, session.clock.monotonic(), refresh=session.settings.refresh
    )
    critical, warning = session.waiting.open_alerts(session.company)
    if critical:
        cells.append(Cell(plain(f"  {signs.critical} {fmt.count(critical)}"), Tone.CRITICAL))
    if warning:
        cells.append(Cell(plain(f"  {signs.warning} {fmt.count(warning)}"), Tone.WARNING))
    return [*cells, Cell(plain(" "))]


def tab_cells(session: Session, place: Place, width: int) -> list[Cell]:
    """The six tabs with their counts; names are shortened where the line is narrow."""
    cells = _tabs(session, place, names=True)
    if sum(len(cell.text) for cell in cells) > width:
        cells = _tabs(session, place, names=False)
    return cells


def _tabs(session: Session, place: Place, *, names: bool) -> list[Cell]:
    cells: list[Cell] = []
    for at, tab in enumerate(SCREENS, start=1):
        here = tab == place
        title = tab.title() if names or here else tab.title()[:4]
        tone = Tone.STRONG if here else Tone.DIM
        lead = signs.cursor if here else plain(" ")
        cells.append(Pressable(plain(f"{lead}"), Tone.ACCENT, key=tab))
        cells.append(Pressable(plain(f"{at} {title} "), tone, key=tab))
        cells += [Pressable(cell.text, cell.tone, key=tab) for cell in _tab_count(session, tab)]
    return cells


def _tab_count(session: Session, tab: Place) -> list[Cell]:
    known, scope = session.store, session.company
    match tab:
        case "companies" | "agents":
            count = len(known.companies if tab == "companies" else known.agents)
            return [Cell(plain(f"{fmt.count(count)} "), Tone.DIM)] if count else []
        case "tasks" if known.freshness[FeedName.PENDING].answered_at is not None:
            waiting = session.waiting.of(scope).count
            return [Cell(plain(f"{fmt.count(waiting)} "), Tone.ACCENT if waiting else Tone.DIM)]
        case "budget":
            critical, warning = session.waiting.open_alerts(scope)
            if critical:
                return [Cell(plain(f"{signs.critical}{critical} "), Tone.CRITICAL)]
            return [Cell(plain(f"{signs.warning}{warning} "), Tone.WARNING)] if warning else []
    return []


def footer_cells(
    place: Place,
    rebound: Mapping[str, str],
    denied: Mapping[str, str],
    *,
    reading: bool,
    width: int,
) -> list[Cell]:
    """The screen's keys; those that may not be used now are dimmed.

    Where not all fit, those before the last two (help and quit) give way from the right.
    """
    ids = [*FOOTER[place], *FOOTER_EVERYWHERE]
    if reading:
        first = [
            key
            for key in FOOTER[place][:3]
            if key not in ("list.open", "companies.scope", "budget.alerts")
        ]
        ids = ["app.back", *first, "list.raw", "list.copy_id", "app.help", "app.quit"]
    groups = [_key_cells(COMMANDS_BY_ID[key], rebound, dimmed=key in denied) for key in ids]
    room = width - 1
    while len(groups) > 2 and sum(total_width(group) for group in groups) > room:
        groups.pop(-3)
    return [Cell(plain(" ")), *(cell for group in groups for cell in group)]


def _key_cells(key: Command, rebound: Mapping[str, str], *, dimmed: bool) -> list[Cell]:
    names = keys_of(key.id, rebound)
    if not names:
        return []
    tone = Tone.DIM if dimmed else Tone.ACCENT
    return [
        Pressable(plain(shown_key(names[0])), tone, key=key.id),
        Pressable(plain(f" {key.label.lower()}  "), Tone.DIM if dimmed else Tone.PLAIN, key=key.id),
    ]


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
    """A key as people write it, from Textual's name of it."""
    return SHOWN_KEYS.get(name, name)


def refresh_key(settings: Settings) -> SafeText:
    """The key, or without one the command, that asks the platform now."""
    keys = keys_of("app.refresh", settings.keys)
    return plain(shown_key(keys[0]) if keys else "Refresh in the palette")


def key_advice(settings: Settings) -> SafeText | None:
    """What to do when the API key is refused, after the words that tell of it; None for nothing."""
    place = settings.key_place
    if place is None:
        return None
    if not place.can_change:
        return plain("start again with another key")
    return plain(f"{refresh_key(settings)} reads the key again")


def key_words(binding_id: str, rebound: Mapping[str, str]) -> SafeText:
    """The keys of a binding for the help, parted by a blank."""
    return plain(" ".join(shown_key(name) for name in keys_of(binding_id, rebound)) or "none")


WORST_FIRST = (Phase.FAILED, Phase.STALE, Phase.LOADING, Phase.LIVE)


def worst(freshnesses: Iterable[Freshness]) -> Freshness:
    """The one to tell of: failed before stale before loading before live, then the oldest."""
    return min(
        freshnesses,
        key=lambda each: (WORST_FIRST.index(each.phase), each.answered_at or 0.0),
        default=Freshness(),
    )


def at_most(age: float | None, refresh: float) -> float | None:
    """An age rounded up to what it can be between two polls, with their jitter.

    While all goes well it then says the same all the time: a header that counts from 0 to 5 and
    back costs more on a thin line than all that it tells of.
    """
    step = ceil(refresh * 1.1 + 0.5)
    return None if age is None else max(1, ceil(age / step)) * step


def bound(age: float | None) -> SafeText:
    """The age that something is younger than: never less than it is, so in whole units upwards."""
    if age is None:
        return signs.missing
    unit = next((unit for unit in (86_400, 3_600, 60) if age >= unit), 1)
    return plain(f"<{fmt.age(ceil(age / unit) * unit)}")


def health_cells(
    freshness: Freshness, latency: float | None, monotonic: float, *, refresh: float
) -> list[Cell]:
    """The connection's health for the header."""
    took = f" {signs.separator} {fmt.duration(latency)}" if latency is not None else ""
    age = bound(at_most(freshness.age(monotonic), refresh))
    match freshness.phase:
        case Phase.LOADING:
            return [Cell(plain(f"{signs.unknown} connecting"), Tone.DIM)]
        case Phase.LIVE:
            word = "slow" if freshness.slowed else "live"
            tone = Tone.WARNING if freshness.slowed else Tone.GOOD
            sign = signs.warning if freshness.slowed else signs.good
            return [Cell(plain(f"{sign} {word} "), tone), Cell(plain(f"{age}{took}"), Tone.DIM)]
        case Phase.STALE:
            return [Cell(plain(f"{signs.unknown} {short_reason(freshness)} {age}"), Tone.WARNING)]
        case Phase.FAILED:
            return [Cell(plain(f"{signs.critical} {short_reason(freshness)}"), Tone.CRITICAL)]


REASONS = {
    KeyRejected: "key rejected",
    NotAllowed: "not allowed",
    RateLimited: "asked to wait",
    TimedOut: "no answer",
    Unreachable: "unreachable",
}


def short_reason(freshness: Freshness) -> SafeText:
    """Two words for the header; the notice says it in full."""
    found = (words for kind, words in REASONS.items() if isinstance(freshness.failure, kind))
    return plain(next(found, "failing"))


def notice(
    freshness: Freshness,
    monotonic: float,
    about: SafeText | None = None,
    key_advice: SafeText | None = None,
) -> list[Item]:
    """What to say above a list whose last poll failed; nothing while it answers.

    `about` names what fails where the screen shows more than that, `key_advice` says what to do
    where it fails for the key.
    """
    failure = freshness.failure
    if failure is None:
        return []
    wait, again = freshness.wait(monotonic), ""
    if wait is not None:
        when = "asking again now" if wait <= 0 else f"again in {fmt.age(wait)}"
        again = f" {signs.separator} {when}"
    whose = "" if about is None else f"{about}: "
    if freshness.phase is Phase.STALE:
        age = fmt.age(freshness.age(monotonic))
        head = Cell(plain(f"{signs.unknown} {whose}{age} old{again}"), Tone.WARNING)
    else:
        head = Cell(plain(f"{signs.critical} {whose}no data yet{again}"), Tone.CRITICAL)
    words = str(failure)
    if isinstance(failure, KeyRejected) and key_advice is not None:
        words += f"; {key_advice}"
    return [Cells((head,)), Text(plain(words), head.tone)]
