"""Regular expressions that are compiled when they are first used.

Compiling those that look for hostile characters, for dates and for sums takes longer than reading
a first list; most runs need few of them before there is something to see.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast


def lazy_pattern(text: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled at its first use, which is when an error in it is raised.

    `text` is the regular expression, or a function that returns it. `flags` are those of `re`.
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """Stands in for a compiled pattern; each of its methods is looked up once and then kept."""

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
