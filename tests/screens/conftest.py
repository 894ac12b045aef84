"""Platforms for the tests of the screens, away from the developer's own settings."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType

# private: Textual has no public way to paint nothing.
from textual._compositor import Compositor

from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, Staging, stage


@pytest.fixture(autouse=True)
def at_home_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings, no state and no time zone of the developer's."""
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("BASE_URL", "API_KEY", "PROFILE", "CONFIG", "READ_ONLY"):
        monkeypatch.delenv(f"AGENTCO_{name}", raising=False)
    for name in ("NO_COLOR", "DISPLAY", "WAYLAND_DISPLAY", "TMUX", "STY", "SSH_TTY", "PAGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(autouse=True)
def draws_when_looked_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal, what Textual paints is thrown away: a test draws when it looks.

    That is a sixth of what these tests compute. A module that looks at what is painted says
    `pytestmark = pytest.mark.paints`; what a real terminal gets is tested in `tests/terminal`.
    """
    if request.node.get_closest_marker("paints") is not None:
        return
    # private: Textual has no public way to paint nothing.
    render_update = Compositor.render_update

    def render_nothing(
        compositor: Compositor, full: bool = False, **options: Any
    ) -> RenderableType | None:
        if full:
            return render_update(compositor, full, **options)
        # private: as above.
        compositor._dirty_regions.clear()
        return None

    monkeypatch.setattr(Compositor, "render_update", render_nothing)


@pytest.fixture
def clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which all that is copied stands, by a tool that really runs."""
    tool, copied = tmp_path / "bin" / "wl-copy", tmp_path / "copied"
    tool.parent.mkdir()
    copied.touch()
    tool.write_text(
        f'#!/bin/sh\ncat > "{copied}.new"; mv "{copied}.new" "{copied}"; env > "{copied}.env"\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    return copied


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
