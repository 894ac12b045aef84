"""Long work beside a person's keys: taken in slices, and put off for a moment after each key.

What follows a key passes through several turns of the event loop before it is painted. A slice of
other work in each of them would make milliseconds into tens of them, so after a key all work in
slices waits for `QUIET`. It never waits longer than that for one slice: a key that is held down
slows the work, and does not stop it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from textual.dom import DOMNode

T = TypeVar("T")

SLICE: Final = 0.004  # seconds of work after which other things get their turn
QUIET: Final = 0.03  # seconds after a key for which there is none
AT_ONCE: Final = 20  # steps (of about a millisecond) that are always taken at once
ASKED_SLICE: Final = 0.016  # seconds of work in one go while a person waits for it


_quiet_until: Final = [-inf]  # when a person acted last, and `QUIET` on top


def person_acts() -> None:
    """A key or a click has come; may be called from any thread."""
    _quiet_until[0] = perf_counter() + QUIET


async def turn() -> None:
    """Give everything else its turn; to be awaited between two slices."""
    await asyncio.sleep(0)
    if (wait := _quiet_until[0] - perf_counter()) > 0:
        await asyncio.sleep(wait)


def turn_of_thread() -> None:
    """The same for work in a thread, which shares the processor with the event loop."""
    if (wait := _quiet_until[0] - perf_counter()) > 0:
        time.sleep(wait)


_thread: Final = ThreadPoolExecutor(1, thread_name_prefix="reading")


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Begin `work` in the one thread that reads, beside the event loop; in the order of calls."""
    return asyncio.get_running_loop().run_in_executor(_thread, work)


async def in_slices(steps: Generator[None, None, T]) -> T:
    """Run a generator of short steps to its end, in slices; what it returns."""
    while True:
        await turn()
        until = perf_counter() + SLICE
        try:
            next(steps)
            while perf_counter() < until:
                next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


def at_once(steps: Generator[None, None, T]) -> T:
    """Run a generator of steps to its end in one go; what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


Work: TypeAlias = Callable[[], Coroutine[None, None, Any]]
"""An async function without parameters; `functools.partial` makes one of any other."""


def start_worker(node: DOMNode, work: Work, description: str, **options: Any) -> None:
    """Run `work` beside the event loop for as long as `node` is there; `options` are Textual's own.

    It takes the function and not its coroutine: where the program ends first, Python would write to
    the terminal that a coroutine was never awaited.
    """
    node.run_worker(work, description=description, **options)


class SlicedWork:
    """Work for a widget that may be long: few steps are taken at once, the others in slices."""

    def __init__(self, node: DOMNode, description: str) -> None:
        self.idle = asyncio.Event()  # set while nothing is being done in slices
        self.idle.set()
        self._node = node
        self._description = description
        self._steps: Iterator[None] | None = None
        self._done: Callable[[bool], object] = bool

    @property
    def busy(self) -> bool:
        return self._steps is not None

    def start(
        self, steps: Iterator[None], done: Callable[[bool], object], *, asked: bool = False
    ) -> None:
        """Take the steps, then call `done` with whether it took slices. What a person has `asked`
        for doesn't wait until no key comes.
        """
        self._steps, self._done = steps, done
        for taken, _ in enumerate(steps):
            if taken >= AT_ONCE and self._node.is_running:
                self.idle.clear()
                start_worker(self._node, partial(self._go_on, steps, asked), self._description)
                return
        self._end()

    def finish(self) -> None:
        """Take at once what steps are left: something else is about to happen."""
        if self._steps is not None:
            deque(self._steps, maxlen=0)
            self._end()

    async def _go_on(self, steps: Iterator[None], asked: bool) -> None:
        while self._steps is steps:
            await (asyncio.sleep(0) if asked else turn())
            until = perf_counter() + (ASKED_SLICE if asked else SLICE)
            while self._steps is steps and perf_counter() < until:
                if next(steps, self) is self:
                    self._end()

    def _end(self) -> None:
        in_slices = not self.idle.is_set()
        self._steps = None
        self.idle.set()
        self._done(in_slices)
