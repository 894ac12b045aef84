"""Empties the memoization caches of Textual and Rich when one dashboard follows another.

That happens in one process, when the user switches to another profile (another remote service). The
caches would keep the previous app in memory, with everything that it has read.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from agentco_tui.textual_patches.registry import MEMO_CACHES

_CACHED = type(lru_cache(len))
_LIBRARIES = ("textual", "rich")


def forget_what_textual_remembers() -> None:
    """Empty the memoized functions of Textual and Rich, in modules and in their classes."""
    if not MEMO_CACHES.fits(lambda: bool(_memoized_functions())):
        return
    for cached in _memoized_functions():
        cached.cache_clear()


def _memoized_functions() -> list[Any]:
    functions: list[Any] = []
    for name, module in tuple(sys.modules.items()):
        if name.partition(".")[0] not in _LIBRARIES:
            continue
        for member in tuple(vars(module).values()):
            candidates = vars(member).values() if isinstance(member, type) else (member,)
            for candidate in tuple(candidates):
                function = getattr(candidate, "__func__", candidate)  # of a classmethod
                if isinstance(function, _CACHED):
                    functions.append(function)
    return functions
