"""Long work beside a person's keys: taken in slices, and put off for a moment after each key.

What follows a key passes through several turns of the event loop before it is painted. A slice of
other work in each of them would make milliseconds into tens of them, so after a key all work in
slices waits for `QUIET`. It never waits longer than that for one slice: a key that is held down
slows the work, and does not stop it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, Final, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

SLICE: Final = 0.004
"""Seconds of work after which other things get their turn."""
QUIET: Final = 0.03
"""Seconds after a key for which there is none."""


@dataclass(slots=True)
class _Person:
    """The one person at the one terminal of the process."""

    acted_at: float = -inf


_person = _Person()


def person_acts() -> None:
    """A key or a click has come; may be called from any thread."""
    _person.acted_at = perf_counter()


def _quiet_for() -> float:
    return _person.acted_at + QUIET - perf_counter()


async def turn() -> None:
    """Give everything else its turn; to be awaited between two slices."""
    await asyncio.sleep(0)
    if (wait := _quiet_for()) > 0:
        await asyncio.sleep(wait)


def turn_of_thread() -> None:
    """The same for work in a thread, which shares the processor with the event loop."""
    if (wait := _quiet_for()) > 0:
        time.sleep(wait)


async def in_slices(steps: Generator[None, None, T]) -> T:
    """Run a generator of short steps to its end, in slices; what it returns."""
    while True:
        await turn()
        until = perf_counter() + SLICE
        while perf_counter() < until:
            try:
                next(steps)
            except StopIteration as end:
                result: T = end.value
                return result


Work: TypeAlias = Callable[[], Coroutine[Any, Any, object]]
"""An async function without parameters; `functools.partial` makes one of any other."""


class Runs(Protocol):
    """A widget, a screen or an app."""

    @property
    def run_worker(self) -> Callable[..., object]:
        """Textual's own."""


def start_worker(
    node: Runs,
    work: Work,
    description: str,
    *,
    name: str = "",
    group: str = "default",
    exclusive: bool = False,
) -> None:
    """Run `work` beside the event loop for as long as `node` is there.

    It takes the function and not its coroutine: where the program ends first, Python would write to
    the terminal that a coroutine was never awaited.
    """
    node.run_worker(
        work,
        name=name,
        group=group,
        description=description,
        exclusive=exclusive,
    )
