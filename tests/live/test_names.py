"""Names for ids, from what the store knows."""

from __future__ import annotations

import pytest

from agentco_tui.live.store import Names, Store
from agentco_tui.model import Agent, Alert, Budget, BudgetScope, Company, Listing, Ref, Task
from agentco_tui.text import plain, signs

ACME = Ref(id="cmp_1")
ADA = Ref(id="ag_1")


@pytest.fixture
def names() -> Names:
    """Ada of Acme is known; so are an agent without a company and a company without a name."""
    store = Store()
    ada = Agent(id="ag_1", name=plain("Ada"), company=ACME)
    nameless = Agent(id="ag_2")
    store.agents.replace(Listing(records=(ada, nameless)))
    acme = Company(id="cmp_1", name=plain("Acme"))
    store.companies.replace(Listing(records=(acme, Company(id="cmp_2"))))
    return Names(store)


def test_an_agent_or_company_is_named_by_the_record_then_the_list_then_the_id(names: Names) -> None:
    assert names.agent(ADA) == "Ada"
    assert names.agent(Ref(id="ag_1", name=plain("Ada Lovelace"))) == "Ada Lovelace"
    assert names.agent(Ref(name=plain("Grace"))) == "Grace"
    assert names.company(ACME) == "Acme"
    assert names.company(Ref(id="cmp_1", name=plain("Acme Ltd"))) == "Acme Ltd"
    for unnamed in ("ag_2", "ag_9"):
        assert names.agent(Ref(id=unnamed)) == unnamed
    for unnamed in ("cmp_2", "cmp_9"):
        assert names.company(Ref(id=unnamed)) == unnamed
    assert names.agent(None) == names.company(None) == signs.missing
    assert names.agent(Ref()) == names.company(Ref()) == signs.missing


def test_ids_and_scopes_are_made_safe(names: Names) -> None:
    """Ids are kept as they were sent, whatever is in them."""
    hostile = "x\x1b]0;owned\x07\u202e"
    ref = Ref(id=hostile)
    for told in (names.agent(ref), names.company(ref), names.scope(hostile)):
        assert not {"\x1b", "\x07", "\u202e"} & set(told)


def test_the_scope_is_a_company_or_all(names: Names) -> None:
    assert names.scope(None) == "all companies"
    assert names.scope("cmp_1") == "Acme"
    assert names.scope("cmp_2") == "cmp_2"
    assert names.scope("cmp_9") == "cmp_9"


def test_a_records_company_is_its_own_else_its_agents(names: Names) -> None:
    other = Ref(id="cmp_2")
    task = Task(id="t", title=plain("t"), agent=ADA)
    assert names.company_of(task) == ACME
    assert names.company_of(Task(id="t", title=plain("t"), agent=ADA, company=other)) == other
    assert names.company_of(Task(id="t", title=plain("t"))) is None
    assert names.company_of(Task(id="t", title=plain("t"), agent=Ref(id="ag_9"))) is None
    assert names.company_of(Alert(id="a", text=plain("a"), agent=ADA)) == ACME
    assert names.company_of(Agent(id="ag_1")) is None
    assert names.company_of(Agent(id="ag_1", company=ACME)) == ACME
    assert names.company_of(Budget(id="ag_1", scope=BudgetScope.AGENT)) == ACME
    assert names.company_of(Budget(id="ag_2", scope=BudgetScope.AGENT)) is None
    own = names.company_of(Budget(id="cmp_2", scope=BudgetScope.COMPANY, name=plain("Two")))
    assert own == Ref(id="cmp_2", name=plain("Two"))


def test_a_budget_is_named_by_what_it_is_for(names: Names) -> None:
    assert names.budget(Budget(id="all", scope=BudgetScope.ALL)) == "all"
    assert names.budget(Budget(id="all", scope=BudgetScope.ALL, name=plain("Org"))) == "Org"
    assert names.budget(Budget(id="cmp_1", scope=BudgetScope.COMPANY)) == "Acme"
    assert names.budget(Budget(id="ag_1", scope=BudgetScope.AGENT)) == "Ada"
    assert names.budget(Budget(id="ag_9", scope=BudgetScope.AGENT)) == "ag_9"


def test_an_agents_record_is_found_by_reference(names: Names) -> None:
    found = names.agent_of(ADA)
    assert found is not None
    assert found.name == "Ada"
    assert names.agent_of(None) is names.agent_of(Ref(id="ag_9")) is names.agent_of(Ref()) is None
