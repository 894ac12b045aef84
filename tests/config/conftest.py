"""Config files in a folder of their own; the developer's own settings stay out of every test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str], Path]


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the environment nor the home folder of whoever runs the tests counts."""
    for name in ("BASE_URL", "API_KEY", "PROFILE", "CONFIG", "READ_ONLY"):
        monkeypatch.delenv(f"AGENTCO_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a config file and returns its path."""

    def write_config(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_config
