"""Setting an agent's monthly limit: compared with what was shown, and read afterwards."""

from __future__ import annotations

from collections.abc import Awaitable
from decimal import Decimal, InvalidOperation

from agentco_tui.actions.answer import Answer
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.form_checks import check_limit
from agentco_tui.actions.journal import Attempt
from agentco_tui.actions.outcome import Kind, KnownBy, Outcome
from agentco_tui.actions.pen import Draft
from agentco_tui.actions.verbs import Verb
from agentco_tui.actions.watch import Found, Look, Looked
from agentco_tui.actions.write import OnProgress, Plan, Write
from agentco_tui.api.errors import ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.format import money
from agentco_tui.live.fetch import of_all_companies
from agentco_tui.model.records import Budget, Receipt, Ref
from agentco_tui.text import SafeText, plain, safe, signs

FIELDS = ("monthly_limit",)


class LimitSetter:
    """Sets limits of agents."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._write: Write[Budget] = Write(desk, Verb.SET_LIMIT)

    async def set(
        self,
        agent: Ref,
        typed: str,
        *,
        shown: Budget | None,
        company: Ref | None = None,
        on_progress: OnProgress | None = None,
    ) -> Outcome:
        """Set the limit of the agent `agent.id` to what was typed.

        `shown` is the budget that the person saw, None if none was known; if the limit is another
        by now, nothing is sent. `company` narrows the reading. A message for the form stands under
        "monthly_limit". Raises nothing but cancellation.
        """
        agent_id = agent.id or ""
        title = agent.name or safe(agent_id)
        wanted = check_limit(typed)
        if isinstance(wanted, str):
            return self._write.refused_form(title, agent_id, {"monthly_limit": wanted})

        async def prepare() -> Plan[Budget] | Outcome:
            now, error = await self._read(agent_id, company)
            if error is not None and _stops(error):
                return self._write.unread(title, agent_id, error.sentence)
            if now is not None and shown is not None and not _same(shown, now):
                return self._changed(title, shown, now)
            if now is not None and _is(now, wanted):
                return self._already(title, now)
            return self._plan(agent, company, wanted, _told(now))

        return await self._write.carry_out(title, agent_id, prepare, self.take_up, on_progress)

    async def take_up(self, attempt: Attempt) -> Outcome:
        """Find out what became of a limit that was left behind; nothing is sent."""
        name = None if attempt.agent_name is None else safe(attempt.agent_name)
        agent = Ref(id=attempt.agent or attempt.subject, name=name)
        company = None if attempt.company is None else Ref(id=attempt.company)
        wanted = _decimal(attempt.details.get("limit"))
        before = attempt.details.get("old")
        plan = self._plan(
            agent, company, wanted or Decimal(0), before if isinstance(before, str) else None
        )
        return await self._write.settle_earlier(plan, attempt)

    def _plan(
        self, agent: Ref, company: Ref | None, wanted: Decimal, before: str | None
    ) -> Plan[Budget]:
        agent_id = agent.id or ""
        store = self._desk.store

        def send(attempt_id: str) -> Awaitable[Receipt[Budget]]:
            return self._desk.client.set_agent_limit(agent_id, wanted, attempt_id=attempt_id)

        def look(_: Answer[Budget] | None) -> Look[Budget]:
            async def one() -> Looked[Budget]:
                return await self._look(agent_id, company, wanted, before)

            return one

        return Plan(
            draft=Draft(
                verb=Verb.SET_LIMIT,
                subject=agent_id,
                title=agent.name or safe(agent_id),
                agent=agent,
                company=company,
                details={"limit": str(wanted), "old": before},
            ),
            send=send,
            look=look,
            fields=FIELDS,
            done=lambda _: plain(f"the monthly limit is {wanted:f} now"),
            otherwise=lambda now: plain(
                f"the platform shows {_words(now)} where {wanted:f} was sent"
            ),
            take=lambda record: store.publish(store.agent_budgets.put(record)),
        )

    async def _look(
        self, agent_id: str, company: Ref | None, wanted: Decimal, before: str | None
    ) -> Looked[Budget]:
        began = self._desk.clock.monotonic()
        now, error = await self._read(agent_id, company)
        if error is not None:
            return Looked(found=Found.BLIND, began=began, error=error, why=error.sentence)
        if now is None:
            why = plain("the platform lists no budget for this agent")
            return Looked(found=Found.BLIND, began=began, why=why)
        if _is(now, wanted):
            return Looked(found=Found.THERE, began=began, record=now)
        found = Found.MISSING if _told(now) == before else Found.OTHERWISE
        return Looked(found=found, began=began, record=now)

    async def _read(
        self, agent_id: str, company: Ref | None
    ) -> tuple[Budget | None, ApiError | None]:
        scope = None if company is None else company.id
        try:
            listing = await of_all_companies(
                self._desk.client.agent_budgets, self._desk.store, scope
            )
        except ApiError as error:
            return None, error
        return next((found for found in listing.records if found.id == agent_id), None), None

    def _changed(self, title: SafeText, shown: Budget, now: Budget) -> Outcome:
        store = self._desk.store
        store.publish(store.agent_budgets.put(now))
        difference = Difference("limit", _words(shown), _words(now))
        return Outcome(
            verb=Verb.SET_LIMIT,
            kind=Kind.CHANGED,
            subject=now.id,
            title=title,
            sentence=plain(
                f"nothing was sent, because it changed since you saw it: {difference.sentence}"
            ),
            known_by=KnownBy.HERE,
            differences=(difference,),
            record=now,
        )

    def _already(self, title: SafeText, now: Budget) -> Outcome:
        return Outcome(
            verb=Verb.SET_LIMIT,
            kind=Kind.DONE,
            subject=now.id,
            title=title,
            sentence=plain(f"the limit is {_words(now)} already: nothing was sent"),
            known_by=KnownBy.READ,
            record=now,
        )


def _stops(error: ApiError) -> bool:
    """Whether a failed read speaks against writing; a list that isn't given does not."""
    return error.sent is not Sent.NO or isinstance(error, KeyRejected | NotAllowed)


def _told(budget: Budget | None) -> str | None:
    """The limit in a form that can be compared and stored; None if it isn't known."""
    if budget is None:
        return None
    if budget.unlimited:
        return "none"
    return None if budget.limit is None else f"{budget.limit.amount.normalize():f}"


def _same(shown: Budget, now: Budget) -> bool:
    return _told(shown) == _told(now)


def _is(budget: Budget, wanted: Decimal) -> bool:
    """Whether the limit is the one wanted; some platforms take 0 for none (SHAPES D)."""
    if budget.unlimited:
        return wanted == 0
    return budget.limit is not None and budget.limit.amount == wanted


def _words(budget: Budget | None) -> SafeText:
    if budget is None:
        return signs.missing
    return plain("no limit") if budget.unlimited else money(budget.limit)


def _decimal(value: object) -> Decimal | None:
    try:
        return Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
