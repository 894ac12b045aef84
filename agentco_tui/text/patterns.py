"""Regular expressions that are compiled when they are first used.

Compiling those that look for hostile characters, for dates and for sums takes longer than reading
a first list; most runs need few of them before there is something to see.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast


def lazy_pattern(text: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, of a text or of what gives it; a mistake in it is told at the first use."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """Has the methods of a compiled pattern: each is looked up once, and is its own from then."""

    def __init__(self, text: str | Callable[[], str], flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        text = self._text if isinstance(self._text, str) else self._text()
        found = getattr(re.compile(text, self._flags), name)
        setattr(self, name, found)
        return found
