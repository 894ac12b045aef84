"""What a task or a step of a trace cost."""

from __future__ import annotations

from typing import Final

from agentco_tui.model import Money
from agentco_tui.reading.schema import Around, Values
from agentco_tui.reading.values.money import UNIT_FIELDS, Sum, money_field, to_money, told_unit
from agentco_tui.reading.values.unit import NO_UNIT

COST: Final = (
    money_field(
        "cost",
        """
        actual_cost
        cost                             # OpenFang (cost_usd), paperclip cost events (costCents)
        total_cost                       # LiteLLM, LangSmith, Langfuse
        calculated_total_cost            # Langfuse observations
        cost.total cost_details.total costs.total  # Langfuse
        usage.{cost,cost_usd,total_cost,total_cost_usd}  # OpenRouter, paperclip runs
        payload.{cost_usd,total_cost_usd}  # paperclip run events
        response_cost spend              # LiteLLM
        estimated_cost expected_cost cost_estimate
        estimate.{cost,cost_usd,cost_cents}
        """,
    ),
    *UNIT_FIELDS,
)


def cost_of(values: Values, around: Around) -> Money | None:
    """The cost in the unit that its name, its siblings or the answer tell."""
    found: Sum | None = values.get("cost")
    if found is None:
        return None
    told = found.unit.power is not None and found.unit.currency is not None
    return to_money(found, NO_UNIT if told else told_unit(values, around.unit))
