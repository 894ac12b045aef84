"""The places in which keys work. Nothing is imported here, because `--help` needs the screens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Place = Literal[
    "every",
    "table",
    "overview",
    "companies",
    "agents",
    "tasks",
    "budget",
    "activity",
    "dialog",
    "replay",
]
"""Where a key works: "table" is any screen with a list, "every" any screen at all, "replay" any
screen that shows a recording."""

SCREENS: tuple[Place, ...] = ("overview", "companies", "agents", "tasks", "budget", "activity")
PLACE_OF: Mapping[str, Place] = {
    "company": "companies",
    "agent": "agents",
    "task": "tasks",
    "budget": "budget",
    "alert": "budget",
    "activity": "activity",
}
"""The screen that lists a kind of record."""
