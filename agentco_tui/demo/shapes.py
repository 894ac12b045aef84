"""The response shapes by name: `--shape NAME` answers everything in one of them."""

from __future__ import annotations

from agentco_tui.demo import approvals, envelopes, refusals, traces
from agentco_tui.demo.shape import Shape

ALL: dict[str, Shape] = {
    "plain": Shape(
        about="bare arrays and objects, snake_case, dollars, {error}",
        listing=envelopes.bare,
        single=envelopes.plain_single,
        refuse=refusals.details,
        approved=approvals.record,
        trace=traces.steps,
    ),
}

SHAPES: dict[str, str] = {name: shape.about for name, shape in ALL.items()}
"""Each shape's name and one line about it."""
