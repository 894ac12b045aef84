"""The front door of the tolerant decoder: parsed answers to records (SHAPES K, DESIGN law 6).

Takes what `bodies.parse_json` gives, in any shape that makes sense. Raises only `Unshaped` (no
sensible shape; a sentence says what was there) and its child `RefusedBody` (a 2xx answer whose
body says that the call failed). What was not understood is in each record's `extra`.
"""

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
from agentco_tui.api.listings import Page, RefusedBody, Unshaped, decode_one, decode_page
from agentco_tui.api.overviews import WHOLE_ID, decode_overview
from agentco_tui.api.receipts import decode_receipt
from agentco_tui.model.records import Trace
from agentco_tui.reading.schema import Json

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
    from agentco_tui.api import traces  # noqa: PLC0415

    return traces.decode_trace(body)
