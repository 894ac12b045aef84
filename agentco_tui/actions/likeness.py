"""Finding a record that was to be created, where the answer to the create was lost."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from agentco_tui.actions.answer import Answer
from agentco_tui.actions.watch import Found, Looked
from agentco_tui.api.errors import ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.model.records import Company, Listing, Moment, Task
from agentco_tui.text import SafeText, plain, safe

T = TypeVar("T", Task, Company)

CLOCKS_DIFFER = 5.0
"""Seconds by which a record may seem older than the attempt that made it."""
KEPT = 50
"""Ids of records alike that are kept with an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What was there alike before the attempt; `ids` is None if that could not be read."""

    ids: tuple[str, ...] | None
    at: float
    """The platform's time of the attempt, seconds since 1970."""

    def details(self) -> dict[str, object]:
        """For the journal."""
        kept = None if self.ids is None or len(self.ids) > KEPT else list(self.ids)
        return {"before": kept, "platform_time": self.at}

    @classmethod
    def from_details(cls, details: dict[str, object], otherwise: float) -> Before:
        """What stands in the journal; `otherwise` is the time where none does."""
        ids, at = details.get("before"), details.get("platform_time")
        known = tuple(str(value) for value in ids) if isinstance(ids, list) else None
        return cls(ids=known, at=float(at) if isinstance(at, int | float) else otherwise)

    def is_new(self, record_id: str, created: Moment | None) -> bool:
        """Whether a record alike can be the one that was to be created."""
        if self.ids is not None:
            return record_id not in self.ids
        return created is not None and created.at >= self.at - CLOCKS_DIFFER


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen(Generic[T]):
    """What one read brought: the records alike, or why there are none."""

    alike: tuple[T, ...]
    began: float
    whole: bool = True
    error: ApiError | None = None

    @property
    def stops(self) -> bool:
        """Whether the read failed in a way that speaks against writing now."""
        if self.error is None:
            return False
        return self.error.sent is not Sent.NO or isinstance(self.error, KeyRejected | NotAllowed)


def seen_in(listing: Listing[T], alike: Callable[[T], bool], began: float) -> Seen[T]:
    """The records alike in a listing."""
    whole = not (listing.capped or listing.more or listing.unread)
    return Seen(
        alike=tuple(record for record in listing.records if alike(record)),
        began=began,
        whole=whole,
    )


def looked(seen: Seen[T], before: Before, answer: Answer[T] | None) -> Looked[T]:
    """Whether the new record is there: by the id in the answer, else as one that wasn't before."""
    if seen.error is not None:
        return Looked(
            found=Found.BLIND, began=seen.began, error=seen.error, why=seen.error.sentence
        )
    told = None if answer is None or answer.receipt is None else answer.receipt.record_id
    candidates = [
        record
        for record in seen.alike
        if before.is_new(record.id, record.created) or (before.ids is None and record.id == told)
    ]
    candidates.sort(key=lambda record: record.id != told)
    if candidates:
        return Looked(found=Found.THERE, began=seen.began, record=candidates[0])
    if before.ids is None and seen.alike:
        return Looked(found=Found.OTHERWISE, began=seen.began, record=seen.alike[0])
    if not seen.whole:
        why = plain("the list came only in part, and it isn't in that part")
        return Looked(found=Found.BLIND, began=seen.began, why=why)
    return Looked(found=Found.MISSING, began=seen.began)


def otherwise(record: Task | Company | None) -> SafeText:
    """The sentence for one alike of which it can't be told if it is the new one."""
    which = "" if record is None else f" ({safe(record.id)})"
    return plain(f"there is one alike{which}, which may be the new one or an older one: look at it")


def subject_of(parts: Sequence[str]) -> str:
    """A short digest of what is to be created: two attempts at the same have the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"new:{digest.hexdigest()[:24]}"


def ids(records: Collection[T]) -> tuple[str, ...]:
    """Their ids."""
    return tuple(record.id for record in records)
