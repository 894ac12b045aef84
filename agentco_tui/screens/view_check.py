"""Checks the views of the config file, for `agentco-tui config check`.

A view is a named list with its own filter, sorting and columns. Only the list screen itself knows
which columns and filters it has, so the check creates each view's screen, without a terminal and
without a request to the platform, the remote service whose records the lists show. A `Workspace`
and a `DashboardContext` are what a screen is created with. The workspace is what is known of the
platform in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from agentco_tui.api.credentials import ApiKey, BaseUrl, KeyInUse
from agentco_tui.config import Settings, ViewSettings
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.views import view_class, wrong_in
from agentco_tui.system.state_folder import JOURNAL_FILE
from agentco_tui.workspace.opening import client_for, snoozes_for
from agentco_tui.workspace.workspace import Workspace

NOWHERE = BaseUrl.parse("http://127.0.0.1:9")
"""The address of a platform to which no request is sent."""
UNUSED = ApiKey.parse("unused_0000000000")
"""An API key that is never sent."""


def wrong_in_views(views: Sequence[ViewSettings]) -> list[tuple[str, str]]:
    """Return the settings of views that are wrong, such as "views.mine.columns", and why."""
    return asyncio.run(_wrong_in_views(views))


async def _wrong_in_views(views: Sequence[ViewSettings]) -> list[tuple[str, str]]:
    # The profile of the demo, because that one stores nothing.
    settings = Settings(profile="demo", base_url=NOWHERE)
    client = client_for(settings, KeyInUse(UNUSED))
    found: list[tuple[str, str]] = []
    with TemporaryDirectory() as folder:
        workspace = Workspace(settings, client, snoozes=snoozes_for(settings, None))
        dashboard = DashboardContext(workspace, Path(folder) / JOURNAL_FILE)
        try:
            for view in views:
                shown = view_class(view.screen)(dashboard, view)
                wrong = wrong_in(view, shown)
                found += [(f"views.{view.name}.{setting}", why) for setting, why in wrong]
        finally:
            await workspace.aclose()
            workspace.close()
            await client.aclose()
    return found
