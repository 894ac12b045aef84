"""A dashboard on the recorded Paperclip, at a moment that stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.config import Settings
from agentco_tui.keys.places import Place
from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.screens.harness import NARROW, Stage, stage

RECORDED_AT = 1_795_314_600.0
"""2026-11-22 02:30 UTC, soon after the answers were recorded."""


class StandingTime:
    """The time of a world in which none passes."""

    def time(self) -> float:
        return RECORDED_AT


class StagedPaperclip(RecordedPaperclip):
    """The server, with what a stage asks of a platform."""

    def __init__(self) -> None:
        super().__init__(most_issues=20)
        self.world = StandingTime()

    @property
    def base_url(self) -> str:
        return self.base


def settings_of_paperclip(server: StagedPaperclip, **chosen: Any) -> Settings:
    usual = {"profile": "paperclip", "refresh": 60.0, "hold": 0.0, "platform": "paperclip"}
    return Settings(
        base_url=BaseUrl.parse(server.base_url),
        key=ApiKey.parse(KEY),
        key_source="AGENTCO_API_KEY",
        **{**usual, **chosen},
    )


@asynccontextmanager
async def stage_paperclip(
    server: StagedPaperclip,
    folder: Path,
    *,
    place: Place = "tasks",
    size: tuple[int, int] = NARROW,
    **chosen: Any,
) -> AsyncIterator[Stage]:
    """Run a dashboard on the server; what is `chosen` are settings."""
    settings = settings_of_paperclip(server, **chosen)
    platform: Any = server
    async with stage(
        platform, folder, place=place, size=size, settings=settings, running=True
    ) as s:
        yield s
