"""Setting an agent's monthly limit: compared with what was shown, and read afterwards."""

from __future__ import annotations

from collections.abc import Awaitable
from decimal import Decimal, InvalidOperation
from typing import Self

from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.journal_file import Attempt
from agentco_tui.actions.outcome import (
    Check,
    Found,
    KnownBy,
    OnProgress,
    Outcome,
    OutcomeKind,
    Verb,
)
from agentco_tui.actions.services import Services
from agentco_tui.actions.validation import check_limit
from agentco_tui.actions.write_flow import Draft, Write, stops
from agentco_tui.api.errors import ApiError
from agentco_tui.format import money
from agentco_tui.live.fetch import of_all_companies
from agentco_tui.model import Budget, Receipt, Ref
from agentco_tui.text import SafeText, plain, safe, signs


async def set_limit(
    services: Services,
    agent: Ref,
    typed: str,
    *,
    shown: Budget | None,
    company: Ref | None = None,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Set the limit of the agent `agent.id` to what was typed.

    `shown` is the budget that the person saw, None if none was known; if the limit is another by
    now, nothing is sent. `company` narrows the reading. A message for the form stands under
    "monthly_limit".
    """
    amount = check_limit(typed)
    write = LimitChange(services, agent, company, on_progress)
    if isinstance(amount, str):
        return write.refused_form({"monthly_limit": amount})
    write.wanted, write.shown = amount, shown
    return await write.run()


class LimitChange(Write[Budget]):
    """POST /api/budget/agents/:id."""

    verb = Verb.SET_LIMIT
    fields = ("monthly_limit",)
    wanted = Decimal(0)
    shown: Budget | None = None
    """The budget that the person saw."""
    before: str | None = None
    """The limit before the attempt, as `_written` writes it."""

    def __init__(
        self,
        services: Services,
        agent: Ref,
        company: Ref | None,
        on_progress: OnProgress | None = None,
    ) -> None:
        agent_id = agent.id or ""
        super().__init__(services, agent_id, agent.name or safe(agent_id), on_progress)
        self.agent = agent
        self.company = company

    @classmethod
    def of_attempt(
        cls, services: Services, attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Self:
        """The change that left this attempt behind."""
        name = None if attempt.agent_name is None else safe(attempt.agent_name)
        agent = Ref(id=attempt.agent or attempt.subject, name=name)
        company = None if attempt.company is None else Ref(id=attempt.company)
        found = cls(services, agent, company, on_progress)
        limit, old = attempt.details.get("limit"), attempt.details.get("old")
        try:
            found.wanted = Decimal(limit if isinstance(limit, str) else 0)
        except InvalidOperation:
            found.wanted = Decimal(0)
        found.before = old if isinstance(old, str) else None
        return found

    async def prepare(self) -> Draft | Outcome:
        """Read the limit, and compare it with what was shown."""
        try:
            now = await self._read()
        except ApiError as error:
            if stops(error):
                return self.unread(error.sentence)
            now = None
        if now is not None and self.shown is not None and _written(self.shown) != _written(now):
            return self._changed(self.shown, now)
        if now is not None and self._is_wanted(now):
            words = f"the limit is {_words(now)} already: nothing was sent"
            return self.outcome(OutcomeKind.DONE, words, known_by=KnownBy.READ, record=now)
        self.before = _written(now)
        return Draft(
            agent=self.agent,
            company=self.company,
            details={"limit": str(self.wanted), "old": self.before},
        )

    def send(self, attempt_id: str) -> Awaitable[Receipt[Budget]]:
        """POST it."""
        client = self.services.decision_client
        return client.set_agent_limit(self.subject, self.wanted, attempt_id=attempt_id)

    async def check(self) -> Check[Budget]:
        """Whether the limit is the one wanted, or still the one from before."""
        began = self.services.clock.monotonic()
        try:
            now = await self._read()
        except ApiError as error:
            return Check(found=Found.FAILED, began=began, error=error, why=error.sentence)
        if now is None:
            why = plain("the platform lists no budget for this agent")
            return Check(found=Found.PARTIAL, began=began, why=why)
        found = Found.BEFORE if _written(now) == self.before else Found.OTHERWISE
        found = Found.DONE if self._is_wanted(now) else found
        return Check(found=found, began=began, record=now)

    def done(self, record: Budget | None) -> SafeText:
        """The sentence for its being set."""
        return plain(f"the monthly limit is {self.wanted:f} now")

    def otherwise(self, record: Budget | None) -> SafeText:
        """The sentence for a limit that is neither."""
        return plain(f"the platform shows {_words(record)} where {self.wanted:f} was sent")

    def take(self, outcome: Outcome) -> None:
        """Into the budgets."""
        if outcome.good and isinstance(outcome.record, Budget):
            store = self.services.store
            store.publish(store.agent_budgets.put(outcome.record))

    async def _read(self) -> Budget | None:
        scope = None if self.company is None else self.company.id
        client = self.services.decision_client
        listing = await of_all_companies(client.agent_budgets, self.services.store, scope)
        return next((found for found in listing.records if found.id == self.subject), None)

    def _changed(self, shown: Budget, now: Budget) -> Outcome:
        store = self.services.store
        store.publish(store.agent_budgets.put(now))
        difference = Difference("limit", _words(shown), _words(now))
        words = f"nothing was sent, because it changed since you saw it: {difference.sentence}"
        return self.outcome(
            OutcomeKind.CHANGED, words, known_by=KnownBy.HERE, record=now, differences=(difference,)
        )

    def _is_wanted(self, budget: Budget) -> bool:
        """Whether the limit is the one wanted; some platforms take 0 for none."""
        if budget.unlimited:
            return self.wanted == 0
        return budget.limit is not None and budget.limit.amount == self.wanted


def _written(budget: Budget | None) -> str | None:
    """The limit in a form that can be compared and stored; None if it isn't known."""
    if budget is None:
        return None
    if budget.unlimited:
        return "none"
    return None if budget.limit is None else f"{budget.limit.amount.normalize():f}"


def _words(budget: Budget | None) -> SafeText:
    if budget is None:
        return signs.missing
    return plain("no limit") if budget.unlimited else money(budget.limit)
