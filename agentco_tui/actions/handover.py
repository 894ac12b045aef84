"""Writes the hand-over of a shift in Markdown: the present state, and what happened.

A `Section` is a heading with notes and events (`ChangeEvent`); its `none` is what is written if it
has no events. The journal notes what this machine sent to change the platform, the remote service
with AI agents (`Attempt`), and its outcome (`Settled`); `Earlier` is both of one attempt. The
platform's texts are written as Markdown code, so that they stay mere text, whichever program
renders it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_lines import Attempt, seconds_of
from agentco_tui.actions.outcome import GOOD
from agentco_tui.history.changes_since import ChangeEvent, Section
from agentco_tui.live.insight import Level
from agentco_tui.model import format as fmt
from agentco_tui.model import with_key
from agentco_tui.text import SafeText, clean_line, clip, mark_safe, signs

MOST_LINES: Final = 25  # of one section; further ones are counted
LONGEST: Final = 240  # cells of one text


def as_code(text: str) -> str:
    """Return a line of text as Markdown code, so that nothing in it is taken for Markdown.

    >>> as_code("# Pay *Bob* `now` at www.evil.example")
    "`# Pay *Bob* 'now' at www.evil.example`"
    """
    words = " ".join(clip(clean_line(text, LONGEST), LONGEST).replace("`", "'").split())
    return f"`{words}`" if words else ""


def handover_markdown(
    title: SafeText, about: SafeText, sections: Iterable[Section], now: float
) -> str:
    """Return the whole hand-over, of bounded length, with a line break at its end.

    `about` is the line below the title; `now` is in seconds since 1970.
    """
    lines = [f"# Hand-over: {as_code(title)}", "", as_code(about)]
    for section in sections:
        lines += ["", f"## {section.name}", ""]
        lines += [f"- {as_code(note)}" for note in section.notes]
        lines += [f"- {_event_line(event, now)}" for event in section.events[:MOST_LINES]]
        others = len(section.events) - MOST_LINES
        if not section.events:
            lines.append(f"- {section.none}")
        elif others > 0:
            lines.append(f"- and {fmt.count(others)} more")
    return "\n".join(lines) + "\n"


def _event_line(event: ChangeEvent, now: float) -> str:
    who, what = event.words(now)
    words = f"{who}: {what}" if who else what
    text = as_code(words)
    match event.level:
        case Level.CRITICAL:
            return f"{signs.critical} {text}"
        case Level.WARNING:
            return f"{signs.warning} {text}"
        case _:
            return text


def sent_from_here(journal: Iterable[Earlier], since: float, skew: float) -> dict[str, ChangeEvent]:
    """Return what was sent from this machine since then, by task id, else by attempt id.

    `since` is in seconds since 1970 by the platform's clock, which is `skew` seconds ahead of this
    machine's.
    """
    events: dict[str, ChangeEvent] = {}
    for attempt, settled in journal:
        at = (seconds_of(attempt.time) or 0.0) + skew
        if at < since:
            continue
        outcome = settled.outcome if settled is not None else "not known yet"
        verb = clean_line(attempt.verb, 40)
        title = with_key(clean_line(attempt.key) or None, clean_line(attempt.title, LONGEST))
        text = f"{verb} {title}: {clean_line(outcome)}"
        level = Level.OK if outcome in GOOD else Level.WARNING
        event = ChangeEvent(
            at, mark_safe(text), mark_safe("from here"), level, _screen_and_row(attempt)
        )
        events[attempt.task or attempt.attempt] = event
    return events


def _screen_and_row(attempt: Attempt) -> str:
    """Return where an attempt leads on the screen, such as "tasks:tsk_1"; empty if nowhere."""
    if attempt.task:
        return f"tasks:{attempt.task}"
    if attempt.agent:
        return f"agents:{attempt.agent}"
    if attempt.company:
        return f"companies:{attempt.company}"
    return ""
