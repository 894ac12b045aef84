"""Platforms for the tests of the screens, away from the developer's own settings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.embedded import EmbeddedPlatform
from tests.screens.harness import NOW, Staging, stage


@pytest.fixture(autouse=True)
def at_home_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings, no state and no time zone of the developer's."""
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("BASE_URL", "API_KEY", "PROFILE", "CONFIG", "READ_ONLY"):
        monkeypatch.delenv(f"AGENTCO_{name}", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    """Three companies with agents, tasks and a past, at a moment that stands still."""
    with EmbeddedPlatform(speed=0, now=NOW) as running:
        yield running


@pytest.fixture
def empty_platform() -> Iterator[EmbeddedPlatform]:
    """A platform that has nothing yet."""
    with EmbeddedPlatform(companies=0, agents=0, tasks=0, speed=0, now=NOW) as running:
        yield running


@pytest.fixture
def on(platform: EmbeddedPlatform, tmp_path: Path) -> Staging:
    """A dashboard on the platform; what else is to be so is said in the call."""
    return partial(stage, platform, tmp_path)
