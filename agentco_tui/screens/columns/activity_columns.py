"""The columns of the activity feed."""

from __future__ import annotations

from agentco_tui.live.activity_window import is_gap
from agentco_tui.model import Activity
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    age_column,
    level_column,
    severity_level,
    text_column,
)
from agentco_tui.text import SafeText, plain
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Tone


def activity_columns(look: Look) -> list[Column[Activity]]:
    """The feed's columns; a gap is nobody's."""

    def at(entry: Activity) -> float | None:
        return entry.at.at if entry.at else None

    def who(entry: Activity) -> SafeText:
        return plain("") if is_gap(entry) else look.names.agent(entry.agent or entry.actor)

    def company(entry: Activity) -> SafeText:
        if is_gap(entry):
            return plain("")
        agent = look.names.agent_of(entry.agent)
        return look.names.company(entry.company or (agent.company if agent else None))

    def tone(entry: Activity) -> Tone:
        return Tone.WARNING if is_gap(entry) else TONES[severity_level(entry.severity)]

    return [
        level_column(lambda entry: severity_level(entry.severity)),
        age_column(look, "age", "AGE", at, sort_key=at, descending_first=True),
        text_column("agent", "AGENT", (11, 6), who, Tone.ACCENT, aliases=("who",)),
        text_column(
            "what", "WHAT HAPPENED", (40, 38), lambda e: e.text, tone, grow=4, aliases=("text",)
        ),
        text_column("company", "COMPANY", (15, 8), company, Tone.DIM, priority=2),
    ]
