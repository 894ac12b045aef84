"""Traces of tasks as real platforms have them (SHAPES F)."""

from __future__ import annotations

from agentco_tui.demo.fields import Fields
from agentco_tui.demo.shape import Json
from agentco_tui.demo.styles import Style, dress


def steps(rows: list[Fields], task: Fields, style: Style) -> Json:
    """`steps` in order, durations in milliseconds."""
    return {
        "task_id": task["id"],
        "status": task["status"].word,
        "steps": [
            dress("trace", {**_without(row, "duration"), "duration_ms": _ms(row)}, style)
            for row in rows
        ],
    }


def _ms(row: Fields) -> int:
    return round(float(row["duration"]) * 1000)


def _without(row: Fields, *names: str) -> Fields:
    return {name: value for name, value in row.items() if name not in names}
