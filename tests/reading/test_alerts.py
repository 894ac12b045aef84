"""Budget alerts beyond the golden bodies."""

from __future__ import annotations

from typing import Any

import pytest

from agentco_tui.model import Alert, Severity, extra_fields
from tests.reading import decode
from tests.reading.decode import parsed, plain, record


def alert(**fields: Any) -> Alert:
    found: Alert = record(decode.ALERTS, fields)
    return found


def test_an_incident() -> None:
    found = alert(
        id="i1", thresholdType="soft", status="open", scopeType="agent", scopeId="a1",
        scopeName="Scout",
        amountLimit=5000, amountObserved=4500, metric="billed_cents",
        createdAt="2026-11-21T09:00:00Z",
        approvalId="p1", resolvedAt=None,
    )  # fmt: skip
    assert found.severity is Severity.WARNING
    assert (found.open, found.status) == (True, "open")
    assert found.agent is not None
    assert (found.agent.id, found.agent.name) == ("a1", "Scout")
    assert [plain(each) for each in (found.limit, found.spent, found.share)] == ["50", "45", "0.9"]
    assert found.text == "Scout: soft: 90 % of the budget used (45.00 of 50.00)"
    assert extra_fields(found.extra)["approvalId"] == "p1"


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({"severity": "CRITICAL"}, "critical"), ({"level": "warning"}, "warning"),
        ({"level": "info"}, "info"),
        ({"type": "budget_exceeded"}, "critical"), ({"kind": "budget_warning"}, "warning"),
        ({"threshold_type": "hard"}, "critical"), ({"isOverBudget": True}, "critical"),
        ({"limit": 10, "spent": 12}, "unknown"), ({"status": "exceeded"}, "critical"),
        ({"message": "x"}, "unknown"), ({"limit": 10, "spent": 1}, "unknown"),
    ],
)  # fmt: skip
def test_alert_severity(fields: dict[str, Any], severity: str) -> None:
    assert alert(id="x", **fields).severity == severity


@pytest.mark.parametrize(
    ("fields", "still"),
    [
        ({"status": "resolved"}, False), ({"acknowledged": True}, False),
        ({"acknowledged": False}, True),
        ({"resolved_at": "2026-11-21T09:00:00Z"}, False), ({"resolvedAt": None}, True),
        ({"dismissed": True}, False),
        ({"active": True}, True), ({"is_active": False}, False), ({}, None),
        ({"read": True}, None),
    ],
)  # fmt: skip
def test_alert_open(fields: dict[str, Any], still: bool | None) -> None:
    assert alert(id="x", message="over", **fields).open is still


def test_a_rule_is_no_event() -> None:
    found = alert(id="r1", agent_name="Scout", threshold=0.8, enabled=True)
    assert found.open is False
    assert found.severity is Severity.UNKNOWN
    assert found.text == "rule, not an event: Scout: warning at 80 %"


def test_an_alert_without_an_id_gets_a_stable_one() -> None:
    one, other = alert(message="over", level="warning"), alert(level="warning", message="over")
    assert one.id == other.id
    assert one.id != alert(message="under", level="warning").id


def test_an_alert_of_which_nothing_is_known_is_unparsed() -> None:
    page = decode.decode_page(decode.ALERTS, parsed([{"zzz": 1}, {"message": "x"}]))
    assert (len(page.records), page.unread) == (1, 1)
