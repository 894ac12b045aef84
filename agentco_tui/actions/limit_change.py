"""Sets an agent's monthly limit, after a comparison with the limit that the user saw.

`LimitChange` is the `Write` for limits (see write_flow.py, which calls its methods in turn): a
request that changes the platform, the remote service that runs the AI agents. The store is what is
known of the platform in memory. `subject` is the agent's id.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from agentco_tui.actions.evidence import Observation
from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.limit_text import check_limit, limit_words
from agentco_tui.actions.listed_write import ListedWrite, ListVerdict
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Reason, Verb
from agentco_tui.actions.services import Services
from agentco_tui.live.fetch import of_all_companies
from agentco_tui.model import Budget, Listing, Receipt, Record, Ref
from agentco_tui.reading.identity import refusal
from agentco_tui.text import SafeText, clean_line, mark_safe


class LimitChange(ListedWrite[Budget]):
    """Sets the limit of the agent `agent.id`.

    `shown` is the budget that the user saw, None if none was known; if the limit differs by now,
    nothing is sent. `company` narrows the reading. `Outcome.fields` has the message for the form
    under "monthly_limit".
    """

    fields = ("monthly_limit",)
    reads_after_conflict: ClassVar[bool] = True
    limit: Decimal

    def __init__(
        self,
        services: Services,
        agent: Ref,
        wanted: Decimal,
        *,
        shown: Budget | None = None,
        company: Ref | None = None,
    ) -> None:
        agent_id = agent.id or ""
        title = agent.name or clean_line(agent_id)
        super().__init__(services, Verb.SET_LIMIT, agent_id, title)
        self.agent = agent
        self.company = company
        self.shown = shown
        self.limit = wanted
        self.collection = services.store.agent_budgets
        self.before: str | None = None
        """The limit before the attempt, as `_comparable_limit` writes it."""
        self._first_read: Budget | None = None
        """The budget as the first read showed it."""
        self._in_store: Budget | None = None
        """The budget as the store had it when the last read began."""

    def restore_attempt(self, attempt: Attempt) -> None:
        wanted = check_limit(str(attempt.details.get("limit")))
        self.limit = Decimal(0)
        if isinstance(wanted, Decimal):
            self.limit = wanted
        before = attempt.details.get("old")
        self.before = None
        if isinstance(before, str):
            self.before = before

    async def read_listing(self) -> Listing[Budget]:
        scope = self.company.id if self.company is not None else None
        client = self.services.decision_client
        listing = await of_all_companies(
            client.agent_budgets, self.services.store, scope, client.companies
        )
        # One budget at most: that of this agent.
        return Listing(records=tuple(one for one in listing.records if one.id == self.subject))

    def named_records(self) -> Iterable[Record | None]:
        store = self.services.store
        return self.shown, store.agent_budgets.get(self.subject), store.agents.get(self.subject)

    def remember_store(self) -> None:
        self._in_store = self.collection.get(self.subject)

    def why_overtaken(self) -> SafeText | None:
        """Compare the limit as the store has it now with what it had when the read began."""
        now = self.collection.get(self.subject)
        if self._in_store is not None and now is None:
            return mark_safe("the agent left the list of budgets")
        if now is not None and _comparable_limit(now) != _comparable_limit(self._in_store):
            return mark_safe("the limit changed in the list of budgets")
        return None

    def compare_with_shown(self, listing: Listing[Budget] | None) -> Mapping[str, Any] | Outcome:
        """Compare with what was shown, else with what was read first."""
        now = listing.records[0] if listing is not None and listing.records else None
        # Why no request may name this id, for instance because several records share it.
        not_writable = refusal((self.subject,), (now,))
        if not_writable is not None:
            return self.unsent(Reason.NOT_WRITABLE, cause=not_writable)
        store = self.services.store
        shown = self.shown
        if self.attempt_id is None:
            self._first_read = now
        elif shown is None:
            shown = self._first_read
        if (
            now is not None
            and shown is not None
            and _comparable_limit(shown) != _comparable_limit(now)
        ):
            store.publish(store.agent_budgets.put(now))
            difference = Difference("limit", limit_words(shown), limit_words(now))
            return self.changed_outcome(now, (difference,))
        if now is not None and self._is_wanted(now):
            return self.outcome(
                OutcomeKind.DONE, Reason.LIMIT_ALREADY_SET, KnownBy.READ, record=now
            )
        self.before = _comparable_limit(now)
        return {"limit": str(self.limit), "old": self.before}

    def send(self, attempt_id: str) -> Awaitable[Receipt[Budget]]:
        client = self.services.decision_client
        return client.set_agent_limit(
            self.subject, self.limit, attempt_id=attempt_id, why_withheld=self.why_withheld
        )

    def judge_listing(self, listing: Listing[Budget]) -> ListVerdict:
        """Return whether the limit is the one wanted, or still the one from before."""
        if not listing.records:
            why = "the platform lists no budget for this agent"
            return ListVerdict(Observation.INCOMPLETE, None, why)
        now = listing.records[0]
        if self._is_wanted(now):
            return ListVerdict(Observation.DONE, now)
        if _comparable_limit(now) == self.before:
            return ListVerdict(Observation.UNCHANGED, now)
        why = f"the platform shows {limit_words(now)} where {self.limit:f} was sent"
        return ListVerdict(Observation.UNEXPECTED, now, why)

    def _is_wanted(self, budget: Budget) -> bool:
        """Whether the limit is the one wanted; some platforms take 0 to mean no limit."""
        if budget.unlimited:
            return self.limit == 0
        return budget.limit is not None and budget.limit.amount == self.limit


def _comparable_limit(budget: Budget | None) -> str | None:
    """Return the limit in a form that can be compared and stored; None if it isn't known."""
    if budget is None:
        return None
    if budget.unlimited:
        return "none"
    if budget.limit is None:
        return None
    return f"{budget.limit.amount.normalize():f}"
