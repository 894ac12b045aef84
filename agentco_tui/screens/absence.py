"""When a person was away, so that what happened meanwhile can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentco_tui import format as fmt
from agentco_tui.keys import shown_key
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.need_words import words_of
from agentco_tui.live.needs import Need, NeedKind
from agentco_tui.model import Budget
from agentco_tui.screens.session import Session
from agentco_tui.screens.trail import PLACE_OF
from agentco_tui.state_folder import MOST_LEFT
from agentco_tui.text import SafeText, joined, plain

LEAST: Final = 2 * 3_600.0  # seconds without a sign of a person, from which on one was away
SHIFT: Final = 8 * 3_600.0  # seconds of a shift whose beginning isn't known
TOLD_FOR: Final = 20.0  # seconds that the notice stands


class Absence:
    """The last one, and since when the shift goes; times by the platform's clock."""

    def __init__(self, session: Session, left_at: float | None, left: Mapping[str, str]) -> None:
        """How the dashboard was left the last time: when, and the needs that there were."""
        self._session, self._left_at, self._left = session, left_at, left
        self._sign: float | None = None  # when there was the last sign of a person
        self._needs_then: Sequence[Need] = ()
        self.since: float | None = None
        self.away_since: float | None = None
        self.left_needs: Mapping[str, str] = {}  # as they were then, by their keys

    @property
    def shift_since(self) -> float:
        """Since when things are told: since the last absence began, or what was chosen."""
        return self.since or self._session.clock.now() - SHIFT

    def look(self, *, is_here: bool = True) -> SafeText | None:
        """What to say to a person who was away for long: as soon as the platform's time is known
        after the start, and at a key, or when the terminal's focus comes or goes.
        """
        if self._session.store.freshness[FeedName.PENDING].answered_at is None:
            return None
        if (left_at := self._left_at) is not None:
            self._left_at = None
            return self._back(left_at, self._left)
        now, at, then = self._session.clock.now(), self._sign, self._needs_then
        if is_here or at is None:
            self._sign, self._needs_then = now, self._session.needs.shown
        if not is_here or at is None or now - at < LEAST:
            return None
        return self._back(at, {need.key: self._words(need) for need in _others(then)})

    def left(self) -> tuple[float | None, dict[str, str]]:
        """How the dashboard is left now: at the last sign, if anything was seen in this run."""
        if self._sign is None:
            return self._left_at, {**self._left}
        return self._sign, {need.key: self._words(need) for need in _others(self._needs_then)}

    def other_needs(self) -> dict[str, tuple[SafeText, str]]:
        """The needs of now that are no tasks, by their keys: the name, and the row it leads to."""
        shown = _others(self._session.needs.shown)
        return {need.key: (self._words(need), row_of(need)) for need in shown}

    def _words(self, need: Need) -> SafeText:
        session = self._session
        words = words_of(need, session.names, session.outlook, session.clock.now())
        return joined([words.what, words.why], ", ")

    def _back(self, at: float, left: Mapping[str, str]) -> SafeText | None:
        away = self._session.clock.now() - at
        if away < LEAST:
            return None
        self.away_since = self.since = at
        self.left_needs = left
        key = shown_key("app.since", self._session.settings.keys)
        shows = f": {key} shows what happened" if key else ""
        return plain(f"{fmt.duration(away)} since you left{shows}")


def _others(needs: Sequence[Need]) -> list[Need]:
    return [need for need in needs if need.kind is not NeedKind.TASK][:MOST_LEFT]


def row_of(need: Need) -> str:
    """The screen and the row of its record."""
    record = need.record
    scope = f"{record.scope}:" if isinstance(record, Budget) else ""
    return f"{PLACE_OF[type(record).__name__.lower()]}:{scope}{record.id}"
