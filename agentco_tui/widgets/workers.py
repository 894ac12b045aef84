"""Work that runs for as long as a widget or screen is there."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from textual.dom import DOMNode
from textual.worker import Worker

Work: TypeAlias = Callable[[], Coroutine[None, None, Any]]
"""An async function without parameters; `functools.partial` makes one of any other."""


def start_worker(node: DOMNode, work: Work, description: str, **options: Any) -> Worker[Any]:
    """Run `work` beside the event loop for as long as `node` is there; `options` are Textual's own.

    It takes the function and not its coroutine: where the program ends first, Python would write to
    the terminal that a coroutine was never awaited.
    """
    return node.run_worker(work, description=description, **options)
