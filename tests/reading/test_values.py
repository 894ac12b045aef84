"""Names, numbers, money, times and status words, as platforms write them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.reading.field_names import is_secret
from agentco_tui.reading.values.reference import looks_like_id
from agentco_tui.reading.values.scalar import to_decimal
from agentco_tui.reading.values.time import to_seconds

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
    ("texts", "is_id"),
    [(["ag_7f", "a1", "12", "018f3ad3-2ed7-7c4c-8000-0123456789ab", "ACT-1778", "agent_x"], True),
     (["Scout", "Ada Lovelace", "sales bot", "", "Quill!", "ops"], False)],
)  # fmt: skip
def test_what_looks_like_an_id(texts: list[str], is_id: bool) -> None:
    assert {looks_like_id(text) for text in texts} == {is_id}
