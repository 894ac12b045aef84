"""Setting an agent's monthly limit: compared with what was shown, and read afterwards."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from decimal import Decimal, InvalidOperation

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
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import ApiError
from agentco_tui.format import money
from agentco_tui.live.poller import of_all_companies
from agentco_tui.model import Budget, Receipt, Ref
from agentco_tui.text import SafeText, plain, safe, signs

WHOLE_DIGITS = 12
DECIMALS = 6

_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]*))?|\.([0-9]+)")


def check_limit(text: str) -> Decimal | SafeText:
    """The monthly limit that was typed, or what is wrong with it.

    >>> check_limit(" 1250.50 "), check_limit("1,250")
    (Decimal('1250.50'), 'write it without commas, as in 1250.50')
    """
    typed = text.strip()
    if not typed:
        return plain("type an amount, such as 250 or 99.50")
    if "," in typed:
        return plain("write it without commas, as in 1250.50")
    if typed.startswith(("-", "\u2212")):
        return plain("a limit can't be negative")
    match = _NUMBER.fullmatch(typed)
    if match is None:
        return plain("digits and a point only, as in 99.50")
    whole, decimals = match[1] or "0", match[2] or match[3] or ""
    if len(whole.lstrip("0")) > WHOLE_DIGITS:
        return plain(f"no more than {WHOLE_DIGITS} digits")
    if len(decimals.rstrip("0")) > DECIMALS:
        return plain(f"no more than {DECIMALS} digits after the point")
    return Decimal(f"{whole}.{decimals or '0'}" if decimals else whole)


class LimitChange(Write[Budget]):
    """POST /api/budget/agents/:id: sets the limit of the agent `agent.id`.

    `shown` is the budget that the person saw, None if none was known; if the limit is another by
    now, nothing is sent. `company` narrows the reading. A message for the form stands under
    "monthly_limit".
    """

    fields = ("monthly_limit",)

    def __init__(
        self,
        services: Services,
        agent: Ref,
        wanted: Decimal,
        *,
        shown: Budget | None = None,
        company: Ref | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        agent_id, title = agent.id or "", agent.name or safe(agent.id or "")
        super().__init__(services, Verb.SET_LIMIT, agent_id, title, on_progress)
        self.agent = agent
        self.company = company
        self.shown = shown
        self.wanted = wanted
        self.before: str | None = None  # the limit before the attempt, as `_written` writes it

    def recall(self, attempt: Attempt) -> None:
        limit, old = attempt.details.get("limit"), attempt.details.get("old")
        try:
            self.wanted = Decimal(limit if isinstance(limit, str) else 0)
        except InvalidOperation:
            self.wanted = Decimal(0)
        self.before = old if isinstance(old, str) else None

    async def prepare(self) -> Attempt | Outcome:
        """Read the limit, and compare it with what was shown."""
        try:
            now = await self._read()
        except ApiError as error:
            if (unread := self.unread(error)) is not None:
                return unread
            now = None
        shown, store = self.shown, self.services.store
        if now is not None and shown is not None and _written(shown) != _written(now):
            store.publish(store.agent_budgets.put(now))
            difference = Difference("limit", _words(shown), _words(now))
            return self.changed(now, (difference,), difference.sentence)
        if now is not None and self._is_wanted(now):
            words = f"the limit is {_words(now)} already: nothing was sent"
            return self.outcome(OutcomeKind.DONE, words, KnownBy.READ, record=now)
        self.before = _written(now)
        details = {"limit": str(self.wanted), "old": self.before}
        return self.attempt(agent=self.agent, company=self.company, details=details)

    def send(self, attempt_id: str) -> Awaitable[Receipt[Budget]]:
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
        if self._is_wanted(now):
            return Check(found=Found.DONE, began=began, record=now)
        if _written(now) == self.before:
            return Check(found=Found.BEFORE, began=began, record=now)
        why = plain(f"the platform shows {_words(now)} where {self.wanted:f} was sent")
        return Check(found=Found.OTHERWISE, began=began, record=now, why=why)

    def done(self, record: Budget | None) -> str:
        return f"the monthly limit is {self.wanted:f} now"

    def take(self, outcome: Outcome) -> None:
        if outcome.good and isinstance(outcome.record, Budget):
            store = self.services.store
            store.publish(store.agent_budgets.put(outcome.record))

    async def _read(self) -> Budget | None:
        scope = None if self.company is None else self.company.id
        client = self.services.decision_client
        listing = await of_all_companies(client.agent_budgets, self.services.store, scope)
        return next((found for found in listing.records if found.id == self.subject), None)

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
