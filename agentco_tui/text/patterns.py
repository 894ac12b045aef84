"""`lazy_pattern`: a regular expression that is compiled when it is first used.

Compiling those for hostile characters, dates and amounts of money takes longer than reading the
first list from the platform (the remote service), and few are needed before the dashboard is first
painted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast


def lazy_pattern(text: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled at its first use, which raises any error in it.

    `text` is the regular expression, or a function that returns it. `flags` are those of `re`.
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """A substitute for a compiled pattern: the first use of each method compiles and caches it."""

    def __init__(self, text: str | Callable[[], str], flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        text = self._text
        if not isinstance(text, str):
            text = text()
        method = getattr(re.compile(text, self._flags), name)
        setattr(self, name, method)
        return method
