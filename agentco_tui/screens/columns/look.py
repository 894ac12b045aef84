"""What cells need besides their record."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import msgspec

from agentco_tui import format as fmt
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Limits
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.text import SafeText, plain, signs

R = TypeVar("R")


class Look(msgspec.Struct, frozen=True):
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


def read_once(
    shared: Callable[[R], Hashable], read: Callable[[R], Any]
) -> Callable[[], Callable[[R], Any]]:
    """A column's `sort_reader` that reads once for all records that have `shared` in common."""

    def make() -> Callable[[R], Any]:
        known: dict[Hashable, Any] = {}

        def reader(record: R) -> Any:
            what = shared(record)
            try:
                return known[what]
            except KeyError:
                found = known[what] = read(record)
                return found

        return reader

    return make
