"""Looks up names for the ids that records carry, as far as the store has the records.

The store is what is known of the platform, the remote service that runs AI agents, whose records
often carry only ids.

A `Ref` is a reference to another record: an id, a name, or both, as it was sent. `Names` is made
for a store by whoever shows records; `records_named` finds the record that the user means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from agentco_tui.live.insight import Idleness, idleness, in_scope
from agentco_tui.live.ownership import company_of
from agentco_tui.live.store import Collection, Store
from agentco_tui.model import Activity, Agent, Alert, Budget, BudgetScope, Company, Ref, Task
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import SafeText, clean_line, joined, signs

Known = TypeVar("Known", Agent, Company)

UNNAMED_BUDGET: Final = SafeText("unnamed budget")
"""The name of a budget that the platform sent as the total, though it can't be the total."""
PERSONS: Final = ("user", "human", "person", "operator", "member")
"""The words by which platforms call actors that are not agents."""


class Names:
    """Looks up references in the store. An unknown id is shown as itself, no id as missing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def agent(self, ref: Ref | None) -> SafeText:
        return _name_or_id(ref, self._store.agents)

    def company(self, ref: Ref | None) -> SafeText:
        return _name_or_id(ref, self._store.companies)

    def company_of(self, record: Task | Agent | Budget | Alert | Activity) -> Ref | None:
        """The company of a record: its own, otherwise that of its agent."""
        return company_of(record, self._store.agents.records)

    def agent_of(self, ref: Ref | None) -> Agent | None:
        """The agent that is referred to; None if it is not in the store."""
        if ref is None:
            return None
        return self._store.agents.get(ref.id)

    def idleness(self, company: Ref | None) -> Idleness | None:
        """That a company does not work; None if it does, or if that is not known."""
        if company is None:
            return None
        budget = self._store.company_budgets.get(company.id)
        return idleness(self._store.companies.get(company.id), budget)

    def idle_companies(self, scope: str | None = None) -> list[tuple[SafeText, Idleness]]:
        """The names of the companies in a scope that do not work, and that they do not."""
        found: list[tuple[SafeText, Idleness]] = []
        budgets = self._store.company_budgets
        for company in self._store.companies:
            idle = idleness(company, budgets.get(company.id))
            ref = Ref(company.id, company.name)
            if idle is not None and in_scope(ref, scope):
                found.append((self.company(ref), idle))
        return found

    def idle_company_of(self, record: Task | Agent) -> SafeText | None:
        """That the company of a record does not work: "Globex is paused"; None if it does."""
        ref = self.company_of(record)
        idle = self.idleness(ref)
        if idle is None:
            return None
        return joined((self.company(ref), idle.status), " is ")

    def known_name(self, ref: Ref | None, kind: str = "") -> SafeText | None:
        """The name of the record that is referred to; None if it is not known.

        Records of different kinds may have the same id. If `kind` is none of "agent", "company"
        and "task", the name is known only if exactly one kind has a record of that id, and never
        if `kind` is a word for a person.
        """
        if ref is None:
            return None
        if ref.name or ref.id is None:
            return ref.name
        names_by_kind: dict[str, SafeText] = {}
        task = self._task(ref)
        if task is not None:
            names_by_kind["task"] = task.title
        agent = self._store.agents.get(ref.id)
        if agent is not None and agent.name:
            names_by_kind["agent"] = agent.name
        company = self._store.companies.get(ref.id)
        if company is not None and company.name:
            names_by_kind["company"] = company.name
        if kind in ("agent", "company", "task"):
            return names_by_kind.get(kind)
        if kind in PERSONS or len(names_by_kind) != 1:
            return None
        [name] = names_by_kind.values()
        return name

    def task_key(self, ref: Ref) -> SafeText | None:
        """What users call a task beside its title; None if that is not known."""
        task = self._task(ref)
        return None if task is None else task.key

    def _task(self, ref: Ref) -> Task | None:
        return self._store.pending.get(ref.id) or self._store.tasks.get(ref.id)

    def of_entry(self, entry: Activity, slot: str) -> SafeText | None:
        """The name of an entry's `actor`, `target`, or another reference field of that name."""
        kinds = {"actor": entry.actor_type, "target": entry.target_type}
        return self.known_name(getattr(entry, slot), phrase(kinds.get(slot, slot) or ""))

    def budget(self, budget: Budget) -> SafeText:
        """The name of the owner of a budget, "all" for the total."""
        if budget.scope is BudgetScope.ALL:
            if self._store.is_less_than_companies(budget):
                return UNNAMED_BUDGET
            return budget.name or SafeText("all")
        owner = Ref(id=budget.id, name=budget.name)
        if budget.scope is BudgetScope.AGENT:
            return self.agent(owner)
        return self.company(owner)

    def budget_owner(self, budget: Budget) -> SafeText:
        """The name of a budget's owner for a sentence: "all companies" for the total."""
        name = self.budget(budget)
        if budget.scope is BudgetScope.ALL and name != UNNAMED_BUDGET:
            return SafeText("all companies")
        return name

    def scope(self, company_id: str | None) -> SafeText:
        """The name of the company in scope, or "all companies" for None."""
        if company_id is None:
            return SafeText("all companies")
        return self.company(Ref(id=company_id))


def of_company(
    store: Store, company: str | None
) -> Callable[[Task | Agent | Budget | Alert | Activity], bool]:
    """A test whether a record belongs to a company by its id; with None every record does.

    A record that names no company belongs to each, except the money of all companies, and alerts
    about agents that are not among those of the company.
    """
    names = Names(store)

    def is_ours(record: Task | Agent | Budget | Alert | Activity) -> bool:
        if company is None:
            return True
        if isinstance(record, Budget) and record.scope is BudgetScope.ALL:
            return False
        owner = names.company_of(record)
        if owner is None and isinstance(record, Alert) and record.agent and len(store.agents):
            return names.agent_of(record.agent) is not None
        return in_scope(owner, company)

    return is_ours


def records_named(words: str, records: Iterable[Known]) -> list[Known]:
    """The record whose id is `words`, otherwise all with that name, in any case."""
    candidates = list(records)
    by_id = [record for record in candidates if record.id == words]
    if by_id:
        return by_id
    name = words.strip().casefold()
    return [record for record in candidates if record.name and record.name.casefold() == name]


def _name_or_id(ref: Ref | None, collection: Collection[Agent] | Collection[Company]) -> SafeText:
    if ref is None:
        return signs.missing
    if ref.name:
        return ref.name
    record = collection.get(ref.id)
    if record is not None and record.name:
        return record.name
    if ref.id is None:
        return signs.missing
    return clean_line(ref.id)
