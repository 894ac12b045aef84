"""What the client makes of bodies as platforms send them: nothing wrong, no less than before."""

from __future__ import annotations

import pytest

from tests.reading import golden

UNREAD: dict[str, set[str]] = {
    "agent_budgets--lithic": {"count"},
    "agent_budgets--micros": {"count"},
    "budget--account-balance": {"whole"},
    "companies--k8s-crd": {"0.mission", "0.template", "0.agent_count"},
    "company_budgets--csv-like-table": {"count", "records"},
    "tasks--k8s-jobs": {"0.state", "1.state", "2.state"},
}
"""Values that no table leads to: owners that are not named, manifests, tables with columns."""


@pytest.mark.parametrize("name", golden.names())
async def test_nothing_is_read_wrong_and_nothing_else_is_unread(name: str) -> None:
    judged = await golden.judge(name)
    assert [each for each in judged if each.verdict == "wrong"] == []
    assert {each.field for each in judged if each.verdict == "unread"} == UNREAD.get(name, set())
