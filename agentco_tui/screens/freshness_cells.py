"""How fresh the figures on the screen are, in words (law 1)."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from agentco_tui import format as fmt
from agentco_tui.api.errors import KeyRejected, NotAllowed, RateLimited, TimedOut, Unreachable
from agentco_tui.live.freshness import Freshness, Phase
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.text_pane import Cells, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

WORST_FIRST = (Phase.FAILED, Phase.STALE, Phase.LOADING, Phase.LIVE)


def worst(freshnesses: Iterable[Freshness]) -> Freshness:
    """The one to tell of: failed before stale before loading before live, then the oldest."""
    return min(
        freshnesses,
        key=lambda freshness: (
            WORST_FIRST.index(freshness.phase),
            freshness.answered_at or 0.0,
        ),
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


def short_reason(freshness: Freshness) -> SafeText:
    """Two words for the header; the notice says it in full."""
    match freshness.failure:
        case KeyRejected():
            return plain("key rejected")
        case NotAllowed():
            return plain("not allowed")
        case RateLimited():
            return plain("asked to wait")
        case TimedOut():
            return plain("no answer")
        case Unreachable():
            return plain("unreachable")
        case _:
            return plain("failing")


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
    wait = freshness.wait(monotonic)
    if wait is None:
        again = ""
    elif wait <= 0:
        again = f" {signs.separator} asking again now"
    else:
        again = f" {signs.separator} again in {fmt.age(wait)}"
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
