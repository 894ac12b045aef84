"""Tables of what is read of what, beyond the golden bodies: a name, a unit, a word, an envelope.

`cases/TOPIC.json` holds groups; each names its reader (one of READERS), the fields of what is read
that are looked at, and in a row each what was sent and what these fields are then.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.reading import json_body
from agentco_tui.reading.error_body import read_error
from agentco_tui.reading.field_names import is_secret
from agentco_tui.reading.reader_result import EMPTY
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.values.reference import looks_like_id, to_id
from agentco_tui.reading.values.scalar import to_count, to_decimal
from agentco_tui.reading.values.status_word import agent_state, alert_open, severity, task_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from tests.reading import decode, golden
from tests.reading.decode import decode_page, plain

CASES = Path(__file__).parent / "cases"
KINDS: tuple[Kind[Any], ...] = (
    decode.TASKS, decode.AGENTS, decode.COMPANIES, decode.ACTIVITY, decode.AGENT_BUDGETS,
    decode.ALERTS, decode.COMPANY_BUDGETS,
)  # fmt: skip


def _row(kind: Kind[Any], row: Any) -> Any:
    return decode_page(kind, [row]).records[0]


def _receipt(kind: Kind[Any], sent: Any) -> Any:
    return decode.decode_receipt(kind, *sent)


READERS: dict[str, Callable[..., Any]] = {
    **{f"a row of {kind.name}": partial(_row, kind) for kind in KINDS},
    **{f"an answer to a write of {kind.name}": partial(_receipt, kind) for kind in KINDS},
    **{f"a list of {kind.name}": partial(decode_page, kind) for kind in KINDS},
    "one task": lambda body: decode.decode_one(decode.TASKS, body, "t1"),
    "the first agent's budget": lambda body: decode_page(decode.AGENT_BUDGETS, body).records[0],
    "the budget of the whole": lambda body: decode.decode_overview(body).whole,
    "an overview of budgets": decode.decode_overview,
    "a trace": decode.decode_trace,
    "the first step": lambda body: decode.decode_trace(body).steps[0],
    "an error": lambda body: read_error(json.dumps(body, default=float).encode()),
    **{
        reader.__name__: reader
        for reader in (to_decimal, to_count, to_id, to_moment, to_seconds, task_state, agent_state,
                       severity, alert_open)
    },
}  # fmt: skip


def _cases() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.json")):
        for group, table in json_body.parse_json(path.read_bytes()).items():
            reader, names = table["reader"], table["fields"].split()
            for number, (sent, told) in enumerate(table["cases"]):
                found.append(pytest.param(reader, names, sent, told, id=f"{group} {number}"))
    return found


def outcome(reader: str, names: list[str], sent: Any) -> Any:
    """The fields of what is read; without names all of it. An exception in words."""
    try:
        found = READERS[reader](sent)
    except decode.UnexpectedShape as error:
        return f"{type(error).__name__}: {error}"
    return [_plain(_part(found, name.split("."))) for name in names] if names else _plain(found)


def _part(found: Any, path: list[str]) -> Any:
    """`records.id`: the ids of all records."""
    for name in path:
        is_many = isinstance(found, (tuple, list))
        found = [getattr(x, name) for x in found] if is_many else getattr(found, name, None)
    return found


def _plain(value: Any) -> Any:
    if value is EMPTY:
        return "EMPTY"
    value = value.decode() if isinstance(value, bytes) else plain(value)
    return list(map(_plain, value)) if isinstance(value, (tuple, list)) else value


def _same(told: Any, found: Any) -> bool:
    if isinstance(told, list) and isinstance(found, list):
        return len(told) == len(found) and all(map(_same, told, found))
    if isinstance(told, Decimal):
        return isinstance(found, (int, float)) and found == pytest.approx(float(told))
    return type(told is True) is type(found is True) and told == found


@pytest.mark.parametrize(("reader", "names", "sent", "told"), _cases())
def test_what_is_read(reader: str, names: list[str], sent: Any, told: Any) -> None:
    found = outcome(reader, names, sent)
    assert _same(told, found), (told, found)


# --- names, numbers, money, times and status words, as platforms write them ---

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


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=2
    )
)
def test_a_number_and_its_text_are_one(value: Decimal) -> None:
    assert to_decimal(f"{value:f}") == to_decimal(f"{value:,f}") == value


def test_a_number_of_another_unit_in_seconds() -> None:
    assert to_seconds(812, 0.001) == pytest.approx(0.812)


@pytest.mark.parametrize(
    ("texts", "is_id"),
    [(["ag_7f", "a1", "12", "018f3ad3-2ed7-7c4c-8000-0123456789ab", "ACT-1778", "agent_x"], True),
     (["Scout", "Ada Lovelace", "sales bot", "", "Quill!", "ops"], False)],
)  # fmt: skip
def test_what_looks_like_an_id(texts: list[str], is_id: bool) -> None:
    assert {looks_like_id(text) for text in texts} == {is_id}


# --- bodies as platforms send them: nothing wrong, no less than before ---

UNREAD: dict[str, set[str]] = {
    "agent_budgets--lithic": {"count"},
    "agent_budgets--micros": {"count"},
    "agents--jenkins-computers": {"count", "records"},
    "agents--vertex-engines": {"count", "records"},
    "budget--account-balance": {"whole"},
    "budget--deepseek-balance": {"whole"},
    "budget--litellm-daily": {"whole"},
    "budget--xai-prepaid": {"whole"},
    "companies--k8s-crd": {"0.mission", "0.template", "0.agent_count"},
    "company_budgets--csv-like-table": {"count", "records"},
    "tasks--k8s-jobs": {"0.state", "1.state", "2.state"},
}
"""Values that no table leads to: owners that are not named, manifests, tables with columns,
balances (what is left of no limit), daily results that would have to be added up, agents whose
only id is a name."""


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.names())
async def test_nothing_is_read_wrong_and_nothing_else_is_unread(name: str) -> None:
    judged = await golden.judge(name)
    assert [each for each in judged if each.verdict == "wrong"] == []
    assert {each.field for each in judged if each.verdict == "unread"} == UNREAD.get(name, set())
