"""The base of writes whose effect is looked for in a list, before they are sent and after.

Creating tasks and companies, cloning and setting limits are such writes: the list is read first,
then the request is sent, then the list is read until it shows the effect (`write_flow.Write`). The
platform is the remote service with AI agents that they change; the store is what is known of it in
memory. A `Listing` is one answer with records. The journal notes each attempt before it is sent
(`Attempt`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar, cast

from agentco_tui.actions.evidence import Check, Observation
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import GOOD, Outcome, Reason
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.live.store import Collection
from agentco_tui.model import Listing, Record, Ref
from agentco_tui.text import mark_safe

R = TypeVar("R", bound=Record)


class ListVerdict(NamedTuple):
    """What one listing shows of whether a write came about."""

    observation: Observation
    record: Record | None = None
    why: str = ""  # why the listing does not tell more; our own words


class ListedWrite(Write[R], ABC):
    """A write after which the platform lists a new or changed record."""

    company: Ref | None = None
    agent: Ref | None = None
    collection: Collection[R]
    """Where the store keeps the record."""

    @abstractmethod
    async def read_listing(self) -> Listing[R]:
        """Read the list."""

    @abstractmethod
    def remember_store(self) -> None:
        """Keep what the store has of all that this write is based on, for `why_overtaken`; called
        when a read begins.
        """

    @abstractmethod
    def compare_with_shown(self, listing: Listing[R] | None) -> Mapping[str, Any] | Outcome:
        """Return the details for the journal, or why nothing is to be sent.

        `listing` is None if the platform doesn't give the list. If an attempt is in the journal
        already (`attempt_id`), it is also compared with the read before that.
        """

    @abstractmethod
    def judge_listing(self, listing: Listing[R]) -> ListVerdict:
        """Return what a listing shows of whether it came about."""

    async def prepare(self) -> Attempt | Outcome:
        self.read_began = self.services.clock.monotonic()
        self.remember_store()
        listing: Listing[R] | None = None
        try:
            listing = await self.read_listing()
        except ApiError as error:
            is_list_refused = error.sent is Sent.NO  # the request certainly had no effect
            if not is_list_refused or isinstance(error, KeyRejected | NotAllowed):
                return self.unsent(Reason.UNREAD_BEFORE, cause=error.sentence, error=error)
        details = self.compare_with_shown(listing)
        if isinstance(details, Outcome):
            return details
        return self.new_attempt(company=self.company, agent=self.agent, details=details)

    async def read_effect(self) -> Check[R]:
        began = self.services.clock.monotonic()
        try:
            judgement = self.judge_listing(await self.read_listing())
        except ApiError as error:
            return Check.failed(began, error)
        return Check(
            observation=judgement.observation,
            began=began,
            record=cast("R | None", judgement.record),
            why=mark_safe(judgement.why) if judgement.why else None,
        )

    def update_store(self, outcome: Outcome) -> None:
        if outcome.kind in GOOD and outcome.record is not None:
            self.services.store.publish(self.collection.put(cast(R, outcome.record)))
