"""The columns of the activity feed."""

from __future__ import annotations

from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.insight import Level
from agentco_tui.model.records import Activity
from agentco_tui.screens.columns.cells import TONES, Look, label, level_cell, severity_level
from agentco_tui.text import SafeText, plain
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone


def activity_columns(look: Look) -> list[Column[Activity]]:
    """The feed's columns."""

    def level(entry: Activity) -> Level:
        return severity_level(entry.severity)

    def who(entry: Activity) -> SafeText:
        return look.names.agent(entry.agent or entry.actor)

    def company(entry: Activity) -> SafeText:
        agent = look.names.agent_of(entry.agent)
        return look.names.company(entry.company or (agent.company if agent else None))

    def words(entry: Activity) -> Cell:
        if is_gap(entry):
            return Cell(entry.text, Tone.WARNING)
        return Cell(entry.text, TONES[level(entry)])

    return [
        Column("level", label(" "), 1, lambda e: level_cell(level(e)), min_width=1),
        Column(
            "age",
            label("AGE"),
            5,
            lambda e: Cell(look.age(e.at.at if e.at else None), Tone.DIM),
            min_width=5,
            align="right",
            ticks=True,
            sort_key=lambda e: e.at.at if e.at else None,
            kind=ColumnKind.SECONDS,
            filter_value=lambda e: look.clock.now() - e.at.at if e.at else None,
            descending_first=True,
        ),
        Column(
            "agent",
            label("AGENT"),
            11,
            lambda e: Cell(plain("") if is_gap(e) else who(e), Tone.ACCENT),
            min_width=6,
            sort_key=lambda e: who(e).casefold(),
            aliases=("who",),
        ),
        Column(
            "what",
            label("WHAT HAPPENED"),
            40,
            words,
            min_width=38,
            grow=4,
            sort_key=lambda e: e.text.casefold(),
            aliases=("text",),
        ),
        Column(
            "company",
            label("COMPANY"),
            15,
            lambda e: Cell(plain("") if is_gap(e) else company(e), Tone.DIM),
            min_width=8,
            priority=2,
            sort_key=lambda e: company(e).casefold(),
        ),
    ]
