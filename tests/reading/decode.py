"""What the tests of reading ask of the room, under one name."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from agentco_tui.model import Moment, Money, Ref
from agentco_tui.reading import json_body
from agentco_tui.reading.decode import Page, RefusedBody, UnexpectedShape
from agentco_tui.reading.decode import read_one as decode_one
from agentco_tui.reading.decode import read_page as decode_page
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.reading.kinds.agent import AGENTS
from agentco_tui.reading.kinds.alert import ALERTS
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS, WHOLE_ID
from agentco_tui.reading.kinds.budget_overview import read_overview as decode_overview
from agentco_tui.reading.kinds.company import COMPANIES
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.trace_layout import read_trace as decode_trace
from agentco_tui.reading.write_response import read_write_response as decode_receipt

__all__ = [
    "ACTIVITY", "AGENTS", "AGENT_BUDGETS", "ALERTS", "COMPANIES", "COMPANY_BUDGETS", "TASKS",
    "WHOLE_ID", "Kind", "Page", "RefusedBody", "UnexpectedShape", "decode_one", "decode_overview",
    "decode_page", "decode_receipt", "decode_trace", "parsed", "plain", "record",
]  # fmt: skip


def parsed(body: Any) -> Any:
    """A body as it comes from the wire."""
    return json_body.parse_json(json.dumps(body).encode())


def record(kind: Kind[Any], row: Any) -> Any:
    """The record of one row in a list."""
    page = decode_page(kind, parsed([row]))
    assert page.unread == 0, page.unread_reasons
    return page.records[0]


def plain(value: Any) -> Any:
    """A value as a table of a test writes it: sums and decimals as texts, times as numbers."""
    if isinstance(value, Money):
        return f"{value.amount.normalize():f}" + (" derived" if value.derived else "")
    if isinstance(value, Moment):
        return value.at
    if isinstance(value, Ref):
        return value.id, value.name
    return str(value) if isinstance(value, Decimal) else value
