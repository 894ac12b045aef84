"""Where the program keeps what it remembers by itself: only the owner can read it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from platformdirs import user_state_path

from agentco_tui.text import SafeText, plain, safe

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


def why_not_writable(folder: Path) -> SafeText | None:
    """Why nothing can be kept in a folder, or None if it can be. Makes nothing that stays."""
    try:
        if folder.exists():
            with tempfile.TemporaryFile(dir=folder) as file:
                # As much as a line of the journal takes: a full disk says so only then.
                file.write(b"\n" * 4096)
                file.flush()
                os.fsync(file.fileno())
            return None
        parent = next(above for above in folder.parents if above.exists())
        if not parent.is_dir():
            return plain(f"{safe(str(parent), 200)} is no folder")
        if not os.access(parent, os.W_OK | os.X_OK):
            return plain(f"{safe(str(parent), 200)} may not be written")
    except OSError as error:
        return safe(error.strerror or type(error).__name__, 120)
    return None
