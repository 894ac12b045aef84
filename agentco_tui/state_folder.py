"""Where the program keeps what it remembers by itself: only the owner can read it."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_state_path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def state_folder() -> Path:
    """The platform's state folder for this program (platformdirs); it need not exist."""
    return user_state_path("agentco-tui", appauthor=False)


def made_state_folder() -> Path:
    """The state folder, made if it isn't there. Raises OSError if it can't be."""
    folder = state_folder()
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(FOLDER_MODE)
    return folder
