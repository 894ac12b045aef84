"""The columns of the activity feed."""

from __future__ import annotations

from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.insight import Level
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
from agentco_tui.widgets.tones import Cell, Tone


def activity_columns(look: Look) -> list[Column[Activity]]:
    """The feed's columns."""

    def level(entry: Activity) -> Level:
        return severity_level(entry.severity)

    def at(entry: Activity) -> float | None:
        return entry.at.at if entry.at else None

    def who(entry: Activity) -> SafeText:
        return look.names.agent(entry.agent or entry.actor)

    def company(entry: Activity) -> SafeText:
        agent = look.names.agent_of(entry.agent)
        return look.names.company(entry.company or (agent.company if agent else None))

    def words(entry: Activity) -> Cell:
        return Cell(entry.text, Tone.WARNING if is_gap(entry) else TONES[level(entry)])

    return [
        level_column(level),
        age_column(look, "age", "AGE", at, sort_key=at, descending_first=True),
        text_column(
            "agent",
            "AGENT",
            (11, 6),
            lambda e: plain("") if is_gap(e) else who(e),
            tone=Tone.ACCENT,
            sort_key=lambda e: who(e).casefold(),
            aliases=("who",),
        ),
        Column(
            "what",
            plain("WHAT HAPPENED"),
            40,
            words,
            min_width=38,
            grow=4,
            sort_key=lambda e: e.text.casefold(),
            aliases=("text",),
        ),
        text_column(
            "company",
            "COMPANY",
            (15, 8),
            lambda e: plain("") if is_gap(e) else company(e),
            tone=Tone.DIM,
            priority=2,
            sort_key=lambda e: company(e).casefold(),
        ),
    ]
