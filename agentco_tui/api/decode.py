"""What the client asks of the room that reads: the kinds, and how an answer becomes records."""

from __future__ import annotations

from agentco_tui.api.kinds import (
    ACTIVITY,
    AGENT_BUDGETS,
    AGENTS,
    ALERTS,
    COMPANIES,
    COMPANY_BUDGETS,
    TASKS,
    Kind,
)
from agentco_tui.model import Trace
from agentco_tui.reading.budget_overview import read_overview as decode_overview
from agentco_tui.reading.decode import Page, RefusedBody, Unshaped
from agentco_tui.reading.decode import read_one as decode_one
from agentco_tui.reading.decode import read_page as decode_page
from agentco_tui.reading.kinds.budget import WHOLE_ID
from agentco_tui.reading.schema import Json
from agentco_tui.reading.write_response import read_write_response as decode_receipt

__all__ = [
    "ACTIVITY",
    "AGENTS",
    "AGENT_BUDGETS",
    "ALERTS",
    "COMPANIES",
    "COMPANY_BUDGETS",
    "TASKS",
    "WHOLE_ID",
    "Kind",
    "Page",
    "RefusedBody",
    "Unshaped",
    "decode_one",
    "decode_overview",
    "decode_page",
    "decode_receipt",
    "decode_trace",
]


def decode_trace(body: Json) -> Trace:
    """The steps of a trace in order; what else stood in the answer is in `extra`.

    Raises Unshaped if the body is no object, list or text, and RefusedBody if it says that the
    call failed.
    """
    # A quarter of a megabyte that most hours of a day need nothing of.
    from agentco_tui.reading.trace_tree import read_trace  # noqa: PLC0415

    return read_trace(body)
