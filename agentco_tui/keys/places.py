"""The places where a key works, and the screen that lists each kind of record.

Records are the companies, AI agents, tasks and so on of the remote service that the program shows.
A recording is a file with the answers of that service, which can be shown again.

Nothing heavy is imported, because `--help` lists the screens.
"""

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
"""Where a key works: "table" is any screen while its list has the focus, "every" any screen,
"dialog" any dialog, "replay" any screen of the dashboard on a recording; the others are one screen
each."""

SCREENS: tuple[Place, ...] = ("overview", "companies", "agents", "tasks", "budget", "activity")
SCREEN_OF_KIND: Mapping[str, Place] = {
    "company": "companies",
    "agent": "agents",
    "task": "tasks",
    "budget": "budget",
    "alert": "budget",
    "activity": "activity",
}
"""The screen that lists each kind of record."""
