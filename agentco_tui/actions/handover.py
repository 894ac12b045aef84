"""What a shift hands over, in Markdown: state, open needs, what was promised, what happened.

The platform's text can't become anything but text in it, whoever renders it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from agentco_tui import format as fmt
from agentco_tui.actions.journal import platform_of
from agentco_tui.actions.journal_file import seconds_of, stories
from agentco_tui.actions.outcome import GOOD, Verb
from agentco_tui.live.insight import Level
from agentco_tui.live.since import Happened, Happening
from agentco_tui.live.snooze import Snooze
from agentco_tui.model import Moment
from agentco_tui.text import SafeText, clip, joined, plain, safe, signs

MOST_LINES = 25  # of one part; further ones are counted
LONGEST = 240  # cells of one text
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~&#!]|\$(?!\d)")
_AT_START = re.compile(r"[-+=:]|\d+(?=[.)])")
_LINK = re.compile(r"@|://|[^\W\d_]\.\w|www\.", re.IGNORECASE)
"""What some renderers make links or mentions of, however it is escaped: it stands as code."""


class OpenNeed(msgspec.Struct, frozen=True):
    level: Level
    text: SafeText
    snooze: Snooze | None = None


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    made: float
    title: SafeText  # of which profile and company
    platform: SafeText  # its address
    state: Sequence[SafeText]
    needs: Sequence[OpenNeed]  # the worst first, those snoozed last
    happened: Happened


def escaped_markdown(text: str) -> str:
    """A line of text that no reader of Markdown takes for anything else.

    >>> escaped_markdown("# Pay *Bob* <b>now</b> at www.evil.example")
    '\\\\# Pay \\\\*Bob\\\\* \\\\<b\\\\>now\\\\</b\\\\> at `www.evil.example`'
    """
    words = [
        f"`{word.replace('`', chr(39))}`" if _LINK.search(word) else _SPECIAL.sub(r"\\\g<0>", word)
        for word in clip(safe(text, LONGEST), LONGEST).split()
    ]
    line = " ".join(words)
    if (start := _AT_START.match(line)) is not None:
        end = start.end()
        line = f"{line[:end]}\\{line[end:]}" if line[0].isdigit() else f"\\{line}"
    return line


def since_words(at: float, now: float) -> SafeText:
    """A moment to the minute: "22:14", "Wed 22:14", "19 Nov"."""
    words = fmt.clock(Moment(at), now)
    return plain(words[:5]) if words.count(":") == 2 else words


def said(each: Happening, now: float) -> tuple[SafeText, SafeText]:
    """When and by or of whom; and what, with how often."""
    when = [since_words(each.at, now)] if each.at is not None else []
    times = f" ×{fmt.count(each.times)}" if each.times > 1 else ""
    return joined([*when, each.who]), plain(f"{each.text}{times}")


def not_known(happened: Happened) -> list[SafeText]:
    """Of which times nothing is known, and why no more is."""
    now = happened.until
    gaps = (
        plain(f"nothing is known from {since_words(first, now)} to {since_words(last, now)}")
        for first, last in happened.gaps
    )
    return [*gaps, *filter(None, [happened.why])]


def markdown(shift: Handover) -> str:
    """The whole of it, with a line break at its end; of bounded length."""
    happened, now = shift.happened, shift.made
    snoozed = [need for need in shift.needs if need.snooze is not None]
    lines = [
        f"# Hand-over: {escaped_markdown(shift.title)}",
        "",
        f"{fmt.moment(Moment(now), full=True)}, of {escaped_markdown(shift.platform)}; the shift "
        f"since {fmt.moment(Moment(happened.since))} ({fmt.duration(now - happened.since)})",
        *_section("State", map(escaped_markdown, shift.state), ""),
        *_section("Open", (_need(need, now) for need in shift.needs if not need.snooze), "nothing"),
        *_section("Promised", (_need(need, now) for need in snoozed), "nothing"),
    ]
    for part in happened.chapters:
        lines += _section(part.name, (_line(each, now) for each in part.happenings), part.none)
    if unknown := not_known(happened):
        lines += _section("Not known", map(escaped_markdown, unknown), "")
    return "\n".join(lines) + "\n"


def _section(name: str, lines: Iterable[str], none: str) -> Iterator[str]:
    found = list(lines)
    yield from ("", f"## {name}", "")
    yield from (f"- {line}" for line in found[:MOST_LINES] or [none])
    if (more := len(found) - MOST_LINES) > 0:
        yield f"- and {fmt.count(more)} more"


def _sign(level: Level) -> str:
    known = {Level.CRITICAL: f"{signs.critical} ", Level.WARNING: f"{signs.warning} "}
    return known.get(level, "")


def _need(need: OpenNeed, now: float) -> str:
    words = escaped_markdown(need.text)
    if need.snooze is None:
        return f"{_sign(need.level)}{words}"
    promise = f": {escaped_markdown(need.snooze.said)}" if need.snooze.note else ""
    return f"{need.snooze.back(now)}{promise} ({words})"


def _line(each: Happening, now: float) -> str:
    who, what = map(escaped_markdown, said(each, now))
    return f"{_sign(each.level)}{who}: {what}" if who else f"{_sign(each.level)}{what}"


def decided_here(path: Path, origin: str, since: float, skew: float) -> list[tuple[str, Happening]]:
    """What was sent from this machine since then, by the task's id, else the attempt's; `skew` is
    how far the platform's clock is ahead. Nothing where the journal can't be read.
    """
    found, platform = list[tuple[str, Happening]](), platform_of(origin)
    try:
        with path.open("rb") as file:
            for attempt, outcomes in stories(file):
                at = seconds_of(attempt.time)
                if at is None or at + skew < since or platform_of(attempt.origin) != platform:
                    continue
                last = outcomes[-1].outcome if outcomes else "not known yet"
                verb, title = safe(attempt.verb, 40), safe(attempt.title, LONGEST)
                did = plain("approved") if attempt.verb == Verb.APPROVE else verb
                level, words = Level.OK, joined([did, title])
                if last not in GOOD:
                    level, words = Level.WARNING, plain(f"{title}: {verb}, {safe(last, 40)}")
                happening = Happening(at + skew, words, plain("from here"), level)
                found.append((attempt.task or attempt.attempt, happening))
    except OSError:
        return []
    return found
