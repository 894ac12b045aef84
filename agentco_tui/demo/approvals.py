"""What platforms answer to an approve that was applied (SHAPES F)."""

from __future__ import annotations

from agentco_tui.demo.fields import Fields
from agentco_tui.demo.shape import Json, Out
from agentco_tui.demo.styles import Style


def record(dressed: dict[str, Json], _fields: Fields, _style: Style) -> Out:
    """200 and the whole record."""
    return Out(dressed, 200)
