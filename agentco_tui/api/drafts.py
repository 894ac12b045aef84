"""Records read in two halves, because what one row says may depend on all the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from agentco_tui.api.context import Context
from agentco_tui.reading.schema import Json

D = TypeVar("D")

Row = tuple[Mapping[str, Json], Context, str | None]
"""An object, the answer round it, and its id where only a key told it."""

_KEPT: Final = 5_000


def drafted(
    rows: Sequence[Row], draft: Callable[[Mapping[str, Json], Context], D]
) -> tuple[Iterable[D], Iterable[D]]:
    """The first half of each row, to go through twice.

    Of a long list it is made twice: a first half takes more memory than the record.
    """
    if len(rows) <= _KEPT:
        kept = [draft(obj, context) for obj, context, _ in rows]
        return kept, kept

    def each() -> Iterable[D]:
        return (draft(obj, context) for obj, context, _ in rows)

    return each(), each()
