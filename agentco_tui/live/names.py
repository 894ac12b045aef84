"""Names for the ids that tasks, budgets and entries carry."""

from __future__ import annotations

from agentco_tui.live.store import Collection, Store
from agentco_tui.model import Agent, Alert, Budget, BudgetScope, Company, Ref, Task
from agentco_tui.text import SafeText, safe, signs


class Names:
    """Looks references up in the store; an unknown id is shown as itself, nothing as missing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def agent(self, ref: Ref | None) -> SafeText:
        return _name(ref, self._store.agents)

    def company(self, ref: Ref | None) -> SafeText:
        return _name(ref, self._store.companies)

    def company_of(self, record: Task | Agent | Budget | Alert) -> Ref | None:
        """The company of a record: its own, else that of its agent."""
        if isinstance(record, Budget) and record.scope is BudgetScope.COMPANY:
            return Ref(id=record.id, name=record.name)
        if record.company is not None:
            return record.company
        if isinstance(record, Budget):
            owner = self._store.agents.get(record.id)
        elif isinstance(record, Agent) or record.agent is None:
            owner = None
        else:
            owner = self._store.agents.get(record.agent.id)
        return owner.company if owner else None

    def agent_of(self, ref: Ref | None) -> Agent | None:
        return None if ref is None else self._store.agents.get(ref.id)

    def budget(self, budget: Budget) -> SafeText:
        match budget.scope:
            case BudgetScope.ALL:
                return budget.name or SafeText("all")
            case BudgetScope.COMPANY:
                return self.company(Ref(id=budget.id, name=budget.name))
            case BudgetScope.AGENT:
                return self.agent(Ref(id=budget.id, name=budget.name))

    def scope(self, company_id: str | None) -> SafeText:
        if company_id is None:
            return SafeText("all companies")
        known: Company | None = self._store.companies.get(company_id)
        return (known.name if known else None) or safe(company_id)


def _name(ref: Ref | None, known: Collection[Agent] | Collection[Company]) -> SafeText:
    if ref is None:
        return signs.missing
    record = None if ref.name else known.get(ref.id)
    own = ref.name or (record.name if record else None)
    return own or (signs.missing if ref.id is None else safe(ref.id))
