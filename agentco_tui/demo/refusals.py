"""Error bodies as real platforms have them (SHAPES C)."""

from __future__ import annotations

from agentco_tui.demo.shape import Out, Refusal


def details(refusal: Refusal) -> Out:
    """C1 and C2: `error`, with a list of details where fields were refused."""
    body: dict[str, object] = {"error": refusal.message}
    if refusal.fields:
        body["details"] = [
            {"path": [name], "message": message, "code": "invalid"}
            for name, message in refusal.fields
        ]
    return Out(body, refusal.status)
