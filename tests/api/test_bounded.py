"""Work that is bounded whatever comes: what was left out of it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentco_tui.model import extra_fields
from agentco_tui.reading.unknown_fields import CUT, as_extra
from tests.reading import decode


def test_fields_beyond_those_looked_at_are_told() -> None:
    extra = extra_fields(as_extra({f"field{number}": number for number in range(50_000)}))
    assert extra["field0"] == 0
    assert extra[CUT] == f"{50_000 - len(extra) + 1:,} values missing"


@pytest.mark.parametrize("kind", [decode.ALERTS, decode.ACTIVITY])
def test_after_much_noise_only_what_names_something_is_read(kind: decode.Kind[Any]) -> None:
    noise: list[Mapping[str, Any]] = [{f"x{number}": 1} for number in range(5_000)]
    rows = [*noise, {"id": "1", "message": "the budget is used up"}]
    page = decode.decode_page(kind, rows)
    assert [record.id for record in page.records] == ["1"]
    assert page.unread == 5_000
