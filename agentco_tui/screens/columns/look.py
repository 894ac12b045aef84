"""What cells need besides their record."""

from __future__ import annotations

from dataclasses import dataclass

from agentco_tui import format as fmt
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Limits
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.text import SafeText, plain, signs


@dataclass(frozen=True, slots=True)
class Look:
    """Names, time and limits."""

    store: Store
    names: Names
    clock: Clock
    limits: Limits

    def age(self, at: float | None) -> SafeText:
        """How long ago that was."""
        return signs.missing if at is None else fmt.age(self.clock.now() - at)


def label(title: str) -> SafeText:
    """A column's title."""
    return plain(title)
