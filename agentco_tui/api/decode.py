"""What the client asks of the room that reads: the kinds, and how an answer becomes records."""

from __future__ import annotations

from typing import Final, TypeVar

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
from agentco_tui.model import Receipt, Record, Trace
from agentco_tui.reading.budget_overview import read_overview as decode_overview
from agentco_tui.reading.decode import Page, RefusedBody, Unshaped
from agentco_tui.reading.decode import read_one as decode_one
from agentco_tui.reading.decode import read_page as decode_page
from agentco_tui.reading.kinds.budget import WHOLE_ID
from agentco_tui.reading.schema import Json
from agentco_tui.reading.write_response import read_write_response

R = TypeVar("R", bound=Record)

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


_ID_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "tasks": ("taskid", "id", "uuid", "approvalid"),
    "companies": ("companyid", "id", "uuid"),
    "agents": ("agentid", "id", "uuid"),
    "agent_budgets": ("agentid", "scopeid", "id"),
    "company_budgets": ("companyid", "scopeid", "id"),
}


def decode_receipt(kind: Kind[R], body: Json, http_status: int) -> Receipt[R]:
    """The receipt in a 2xx answer to a write; never raises, whatever the body."""

    def read_one(body: Json) -> R | None:
        try:
            return decode_one(kind, body)
        except Unshaped:
            return None

    return read_write_response(body, http_status, read_one, _ID_NAMES.get(kind.name, ("id",)))


def decode_trace(body: Json) -> Trace:
    """The steps of a trace in order; what else stood in the answer is in `extra`.

    Raises Unshaped if the body is no object, list or text, and RefusedBody if it says that the
    call failed.
    """
    # A quarter of a megabyte that most hours of a day need nothing of.
    from agentco_tui.reading.trace_tree import read_trace  # noqa: PLC0415

    return read_trace(body)
