"""Names, numbers, money, times and status words, as platforms write them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.model import AgentState, Moment, Severity, TaskState
from agentco_tui.reading.field_names import fold, is_secret
from agentco_tui.reading.schema import NOTHING
from agentco_tui.reading.values.number import to_count, to_decimal
from agentco_tui.reading.values.reference import looks_like_id, to_id
from agentco_tui.reading.values.status_word import agent_state, alert_open, severity, task_state
from agentco_tui.reading.values.time import to_moment, to_seconds

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "name",
    ["budgetMonthlyCents", "budget_monthly_cents", "Budget-Monthly-Cents", "BUDGET_MONTHLY_CENTS",
     "BudgetMonthlyCents", "budget.monthly.cents", "budgetmonthlycents"],
)  # fmt: skip
def test_one_name_in_seven_spellings(name: str) -> None:
    assert fold(name) == "budgetmonthlycents"


SECRET = (
    "api_key apiKey X-API-Key token JWT accessToken password dbPassword client_secret cookie"
    " Authorization credentials awsCredentials proxy_authorization refresh-token private_key"
)
OPEN = (
    "tokens input_tokens nextPageToken max_tokens total_tokens title author monkey tokens_used"
    " prompt_token_count"
)


def test_names_of_secrets() -> None:
    assert [name for name in SECRET.split() if not is_secret(name)] == []
    assert [name for name in OPEN.split() if is_secret(name)] == []


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        (5, "5"), (Decimal("0.85"), "0.85"), ("5", "5"), (" 12.50 ", "12.50"),
        ("1,234.56", "1234.56"),
        ("1.234,56", "1234.56"), ("1 234,5", "1234.5"), ("12,5", "12.5"), ("1,234", "1234"),
        ("1,234,567", "1234567"), ("12,34,567", "1234567"), ("1'234.5", "1234.5"), ("-3", "-3"),
        ("\u22123", "-3"), ("(12.50)", "-12.50"), ("1e3", "1e3"), (".5", ".5"),
        ("1.234.567", "1234567"),
        ({"intValue": "150"}, "150"), ({"doubleValue": Decimal("1.5")}, "1.5"),
        ({"$numberDecimal": "9.99"}, "9.99"), ({"$numberLong": "7"}, "7"),
        (-(2**63), str(-(2**63))),
    ],
)  # fmt: skip
def test_numbers(raw: Any, number: str) -> None:
    assert to_decimal(raw) == Decimal(number)


@pytest.mark.parametrize(
    "raw",
    [None, True, False, "", " ", "abc", "12 apples", "1-2", "1.2.3.4", "0x10", "NaN", "Infinity",
     "1,23,4", [], [1], {}, {"a": 1}, Decimal("1e999"), Decimal("NaN"), 10**70, "9" * 100, "--1"],
)  # fmt: skip
def test_no_numbers(raw: Any) -> None:
    assert to_decimal(raw) is None


@pytest.mark.parametrize(
    ("raw", "count"),
    [(3, 3), ("3", 3), ("1,200", 1200), (Decimal("3.0"), 3), (0, 0), (-1, None), (True, None),
     (Decimal("2.5"), None), ("many", None), (None, None)],
)  # fmt: skip
def test_counts(raw: Any, count: int | None) -> None:
    assert to_count(raw) == count


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=2
    )
)
def test_a_number_and_its_text_are_one(value: Decimal) -> None:
    assert to_decimal(f"{value:f}") == to_decimal(f"{value:,f}") == value


@pytest.mark.parametrize(
    ("raw", "at", "assumed"),
    [
        ("2026-11-21T09:00:00Z", NINE, False),
        ("2026-11-21T09:00:00.000Z", NINE, False),
        ("2026-11-21T09:00:00.123456Z", NINE + 0.123456, False),
        ("2026-11-21T09:00:00.123456789Z", NINE + 0.123456, False),
        ("2026-11-21T10:00:00+01:00", NINE, False),
        ("2026-11-21T14:00:00+0500", NINE, False),
        ("2026-11-21 09:00:00", NINE, True),
        ("2026-11-21T09:00", NINE, True),
        ("2026-11-21 09:00:00 UTC", NINE, False),
        ("2026-11-21 09:00:00.5 +0000 UTC m=+0.01", NINE + 0.5, False),
        ("2026/11/21 09:00:00", NINE, True),
        ("2026-11-21T10:00:00+01:00[Europe/Berlin]", NINE, False),
        ("2026-11-21", NINE - 32400, True),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC).timestamp(), True),
        ("20261121T090000000000Z", NINE, False),
        ("20261121T090000Z", NINE, False),
        ("20261121", NINE - 32400, True),
        (int(NINE), NINE, False),
        (int(NINE) * 1000, NINE, False),
        (int(NINE) * 10**6, NINE, False),
        (int(NINE) * 10**9, NINE, False),
        (str(int(NINE)), NINE, False),
        (f"{int(NINE)}000000000", NINE, False),
        (Decimal(str(NINE)) + Decimal("0.25"), NINE + 0.25, False),
        (f"/Date({int(NINE) * 1000})/", NINE, False),
        (f"/Date({int(NINE) * 1000}+0200)/", NINE, False),
        ("Sat, 21 Nov 2026 09:00:00 GMT", NINE, False),
        ("Saturday, 21-Nov-26 09:00:00 GMT", NINE, False),
        ("Sat Nov 21 09:00:00 2026", NINE, True),
        ({"seconds": str(int(NINE)), "nanos": 0}, NINE, False),
        ({"_seconds": int(NINE), "_nanoseconds": 0}, NINE, False),
        ({"$date": "2026-11-21T09:00:00Z"}, NINE, False),
        ({"$date": {"$numberLong": str(int(NINE) * 1000)}}, NINE, False),
        ({"date": "2026-11-21 09:00:00.000000", "timezone_type": 3, "timezone": "UTC"}, NINE,
         False),
    ],
)  # fmt: skip
def test_times(raw: Any, at: float, assumed: bool) -> None:
    found = to_moment(raw)
    assert isinstance(found, Moment)
    assert found.at == pytest.approx(at, abs=1e-5)
    assert found.zone_assumed is assumed


@pytest.mark.parametrize(
    "raw",
    ["", " ", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00.000Z", "9999-12-31T23:59:59Z",
     "1970-01-01",
     "1970-01-01T00:00:00Z", 0, "0", "0000-00-00", "0000-00-00 00:00:00", -62135596800, "never",
     253402300799, {"$date": "0001-01-01T00:00:00Z"}],
)  # fmt: skip
def test_sentinels_mean_none(raw: Any) -> None:
    assert to_moment(raw) is NOTHING


@pytest.mark.parametrize(
    "raw",
    [None, True, "120", 120, 12, "tomorrow", "3 minutes ago", "2026-13-45", "2026-11-21T99:00:00Z",
     [], [1, 2],
     [2026, 13, 1], {}, {"a": 1}, -5, 10**11, 10**14, 10**30, "9" * 40, "x" * 200, "12:30",
     Decimal("1e50"),
     "Mon, 99 Foo 2026 09:00:00 GMT"],
)  # fmt: skip
def test_no_times(raw: Any) -> None:
    assert to_moment(raw) is None


@pytest.mark.parametrize(
    ("raw", "unit", "seconds"),
    [(812, 0.001, 0.812), ("1.5s", 1, 1.5), ("PT1.5S", 1, 1.5), ("PT1H2M", 1, 3720),
     ("6m0s", 1, 360),
     ("30d", 1, 2592000), ("1mo", 1, 2592000), ("1m", 1, 60), ("00:01:30", 1, 90),
     ("250ms", 1, 0.25),
     (Decimal("2.1"), 1, 2.1), ("P1DT1H", 1, 90000), ("1h30m", 1, 5400)],
)  # fmt: skip
def test_durations(raw: Any, unit: float, seconds: float) -> None:
    assert to_seconds(raw, unit) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "raw", [None, "", "soon", "P", -5, True, [], "5 parsecs", "1x2y", 1e30, "s"]
)
def test_no_durations(raw: Any) -> None:
    assert to_seconds(raw) is None


WORDS: dict[Callable[[str], Any], dict[Any, tuple[str, ...]]] = {
    task_state: {
        TaskState.PENDING: (
            "pending", "PENDING", "TaskStatus.PENDING", "awaiting_human_feedback",
            "input-required", "TASK_STATE_INPUT_REQUIRED", "In Review", "needs-approval",
            "awaitingApproval", "waiting_for_manager_approval", "requires_action", "plan_review",
            "on hold", "interrupted", "approval_required", "pending_user_confirmation",
        ),
        TaskState.QUEUED: ("queued", "todo", "backlog"),
        TaskState.RUNNING: (
            "InProgress", "working", "in-progress", "WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW",
        ),
        TaskState.APPROVED: ("approved", "accepted"),
        TaskState.DONE: ("completed", "Success", "TASK_STATE_COMPLETED"),
        TaskState.FAILED: ("timed_out", "WORKFLOW_EXECUTION_STATUS_TIMED_OUT"),
        TaskState.CANCELLED: ("canceled", "cancelled", "TASK_STATE_CANCELLED"),
        TaskState.REJECTED: ("rejected", "DENIED"),
        TaskState.OTHER: ("frobnicating", "unknown", "not_done", "undone", "5", "x" * 500),
    },
    agent_state: {
        AgentState.ACTIVE: ("active", "Running", "AGENT_STATUS_ACTIVE"),
        AgentState.IDLE: ("idle",), AgentState.PAUSED: ("paused",), AgentState.ERROR: ("error",),
        AgentState.PENDING: ("pending_approval",),
        AgentState.STOPPED: ("terminated", "killed", "offline", "inactive"),
        AgentState.OTHER: ("levitating",),
    },
    severity: {
        Severity.CRITICAL: ("CRITICAL", "SEVERITY_ERROR", "hard_stop", "budget.exceeded"),
        Severity.WARNING: ("warning", "warn", "soft", "budget_warning"),
        Severity.INFO: ("info", "DEFAULT"), Severity.UNKNOWN: ("plaid",),
    },
    alert_open: {
        True: ("open", "Firing"), False: ("resolved", "DISMISSED", "acknowledged"),
        None: ("peculiar",),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "word", "told"),
    [
        (reader, word, told)
        for reader, table in WORDS.items()
        for told, words in table.items()
        for word in words
    ],
)
def test_status_words(reader: Callable[[str], Any], word: str, told: object) -> None:
    assert reader(word) is told


@pytest.mark.parametrize(
    ("raw", "found"),
    [("t1", "t1"), (7, "7"), (2**63 + 1, str(2**63 + 1)), (Decimal("5.0"), "5"),
     ({"$oid": "ff"}, "ff"),
     (" a b ", " a b "),
     ("manual__2019-11-20T08:47:11.232757+00:00", "manual__2019-11-20T08:47:11.232757+00:00"),
     ("", NOTHING), (True, None), ([], None), (Decimal("1.5"), None)],
)  # fmt: skip
def test_ids_are_exact(raw: Any, found: Any) -> None:
    assert to_id(raw) == found


@pytest.mark.parametrize(
    ("texts", "is_id"),
    [(["ag_7f", "a1", "12", "018f3ad3-2ed7-7c4c-8000-0123456789ab", "ACT-1778", "agent_x"], True),
     (["Scout", "Ada Lovelace", "sales bot", "", "Quill!", "ops"], False)],
)  # fmt: skip
def test_what_looks_like_an_id(texts: list[str], is_id: bool) -> None:
    assert {looks_like_id(text) for text in texts} == {is_id}
