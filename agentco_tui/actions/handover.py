"""What a shift hands over, in Markdown: the chapters of what is and of what happened.

The platform's text can't become anything but text in it, whoever renders it.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_lines import seconds_of
from agentco_tui.actions.outcome import GOOD
from agentco_tui.history.changes_since import ChangeEvent, Section
from agentco_tui.live.insight import Level
from agentco_tui.model import format as fmt
from agentco_tui.text import SafeText, clip, plain, safe, signs

MOST_LINES = 25  # of one chapter; further ones are counted
LONGEST = 240  # cells of one text


def as_code(text: str) -> str:
    """A line of text that no reader of Markdown takes for anything else.

    >>> as_code("# Pay *Bob* `now` at www.evil.example")
    "`# Pay *Bob* 'now' at www.evil.example`"
    """
    words = " ".join(clip(safe(text, LONGEST), LONGEST).replace("`", "'").split())
    return f"`{words}`" if words else ""


def markdown(title: SafeText, about: SafeText, chapters: Iterable[Section], now: float) -> str:
    """The whole of it, with a line break at its end; of bounded length."""
    lines = [f"# Hand-over: {as_code(title)}", "", as_code(about)]
    for chapter in chapters:
        told = chapter.happenings
        lines += ["", f"## {chapter.name}", ""]
        lines += (f"- {as_code(note)}" for note in chapter.notes)
        lines += (f"- {_line(each, now)}" for each in told[:MOST_LINES])
        if not told:
            lines.append(f"- {chapter.none}")
        elif (more := len(told) - MOST_LINES) > 0:
            lines.append(f"- and {fmt.count(more)} more")
    return "\n".join(lines) + "\n"


def _line(each: ChangeEvent, now: float) -> str:
    who, what = each.said(now)
    known = {Level.CRITICAL: f"{signs.critical} ", Level.WARNING: f"{signs.warning} "}
    return known.get(each.level, "") + as_code(f"{who}: {what}" if who else what)


def sent_from_here(journal: Iterable[Earlier], since: float, skew: float) -> dict[str, ChangeEvent]:
    """What was sent from this machine since then, by the task's id, else the attempt's; `skew` is
    how far the platform's clock is ahead, in seconds.
    """
    found = dict[str, ChangeEvent]()
    for attempt, settled in journal:
        at = (seconds_of(attempt.time) or 0.0) + skew
        if at >= since:
            outcome = settled.outcome if settled else "not known yet"
            text = plain(
                f"{safe(attempt.verb, 40)} {safe(attempt.title, LONGEST)}: {safe(outcome)}"
            )
            subject = {"tasks": attempt.task, "agents": attempt.agent, "companies": attempt.company}
            way = next((f"{place}:{of}" for place, of in subject.items() if of), "")
            level = Level.OK if outcome in GOOD else Level.WARNING
            happening = ChangeEvent(at, text, plain("from here"), level, way)
            found[attempt.task or attempt.attempt] = happening
    return found
