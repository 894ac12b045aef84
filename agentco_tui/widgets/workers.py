"""`start_worker`: runs an async function for as long as a widget or screen is mounted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from textual.dom import DOMNode
from textual.worker import Worker

Work: TypeAlias = Callable[[], Coroutine[None, None, Any]]
"""An async function without parameters; `functools.partial` makes one of any other."""


def start_worker(node: DOMNode, work: Work, description: str, **options: Any) -> Worker[Any]:
    """Run `work` concurrently, and cancel it when `node` is removed.

    `options` are those of Textual's `run_worker`. It takes the function and not its coroutine: if
    the program ends before the worker starts, Python would write to the terminal that a coroutine
    was never awaited.
    """
    return node.run_worker(work, description=description, **options)
