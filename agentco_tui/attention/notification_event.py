"""The events that the user is notified of, and their words.

Most are needs (items of the "needs you" list, what the user should look at) that have become
critical; others are outages of a feed, that is, of one list that is polled. `Notifier` finds the
events; terminals and desktops show them, and the `on_critical` command gets them. Several events
that come together are one notification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from agentco_tui.text import SafeText, clean_line, mark_safe

LONGEST: Final = 200  # characters of a notification; terminals and desktops show no more
LONGEST_SUMMARY: Final = 1_000  # characters of what a command gets for several events


class NotificationEvent(NamedTuple):
    """One thing that the user is notified of; "" is what is not known."""

    level: str
    """critical or waiting (a need), outage, or restored (the end of an outage)."""
    kind: str  # of the need (`NeedKind`); "feed" for an outage, "summary" for several events
    text: str
    company: str = ""  # its name, as `agent`
    agent: str = ""
    id: str = ""  # of the need's record


def words_of_events(events: Sequence[NotificationEvent]) -> SafeText:
    """One or more events as one line: "2 critical, 1 waiting: stopped 119 % of $100.00: Ada"."""
    counts = Counter(event.level for event in events).items()
    heads = (f"{count} {level}" if len(events) > 1 else level for level, count in counts)
    return mark_safe(clean_line(f"{', '.join(heads)}: {events[0].text}", LONGEST)[:LONGEST])


def summary_of(events: Sequence[NotificationEvent]) -> NotificationEvent:
    """Several events as one, with how many there are of each kind and the text of the first.

    The first is the worst if they came together.
    """
    if len(events) == 1:
        return events[0]
    counts = Counter(event.kind for event in events)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    agents = list(dict.fromkeys(event.agent for event in events if event.agent))
    text = f"{len(events)} {events[0].level} ({kinds}): {events[0].text}"
    if len(agents) > 1:
        text += f"; agents: {', '.join(agents)}"
    return events[0]._replace(kind="summary", text=clean_line(text, LONGEST_SUMMARY))
