"""Textual's workers, started so that nothing is said of those that never come to run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

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
