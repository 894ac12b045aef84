"""Finds the file of a platform by the name that a profile gives it, and opens the platform."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from agentco_tui.platforms.platform_file import load_platform


def opener(name: str, config: Path | None) -> Callable[..., DeclaredPlatform]:
    """What opens the platform `name` with the arguments of `open_client`.

    Its file comes with the program, or lies in the folder `platforms` beside the file `config`.
    Raises SettingsError with every mistake in it.
    """
    return partial(open_platform, load_platform(name, config))
