"""Startup work that the first screen does not need: the app runs it once that screen is shown."""

from __future__ import annotations


def preload_dialogs() -> None:
    """Import the dialogs, so that the first key that opens one does not wait for them."""
    import agentco_tui.history.history_keeper  # noqa: PLC0415
    import agentco_tui.screens.dialogs.router  # noqa: F401, PLC0415
