"""Reads until a thing that was to come about is seen, or is seen to be missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from agentco_tui.actions.waits import Waits
from agentco_tui.api.errors import ApiError
from agentco_tui.model.records import Record
from agentco_tui.text import SafeText

R = TypeVar("R", bound=Record)


class Found(StrEnum):
    """What one look shows."""

    THERE = "there"
    """What was wanted is so."""
    MISSING = "missing"
    """All is as it was before."""
    OTHERWISE = "otherwise"
    """It is neither as it was nor as was wanted."""
    BLIND = "blind"
    """The read failed, or shows too little to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked(Generic[R]):
    """What one look shows, and by which record."""

    found: Found
    began: float
    """Steady clock: when the read began."""
    record: R | None = None
    error: ApiError | None = None
    why: SafeText | None = None


Look = Callable[[], Awaitable[Looked[R]]]


async def watch(
    look: Look[R],
    waits: Waits,
    *,
    patience: float,
    blind_patience: float | None,
    report: Callable[[int, SafeText | None], None],
) -> Looked[R]:
    """The first look that shows it there; else the last, after looks over `patience` seconds that
    showed the same, or over `blind_patience` seconds that showed nothing (None: look for ever).

    `report` is told before each look how many there were, and what kept the last from seeing.
    """
    since: dict[Found, float] = {}
    why: SafeText | None = None
    for tries, pause in enumerate(waits.pauses()):
        report(tries, why)
        looked = await look()
        found = looked.found
        if found is Found.THERE:
            return looked
        if found is not Found.BLIND:
            # What was seen counts as long as nothing else is seen; a failed read changes nothing.
            since = {known: at for known, at in since.items() if known is found}
        began = since.setdefault(found, looked.began)
        limit = blind_patience if found is Found.BLIND else patience
        if limit is not None and looked.began - began >= limit:
            return looked
        why = looked.why
        await waits.sleep(pause)
    raise AssertionError("the pauses have no end")
