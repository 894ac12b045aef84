"""Creates the lists of a frame: the six screens, and the views of the settings.

A view (`[views.NAME]`) is the list of one screen with a filter, an order and columns of its own. It
has a tab, which shows its count, so it is created and kept up to date before it is ever shown. The
filter and the order of a screen's own list are remembered from run to run (`run_memory.py`). The
frame is the dashboard's main screen; a place is the name of a screen, such as "tasks". A feed is
one list of records that is polled from the platform, the remote service that is watched; its `Pace`
says how often. The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final, cast

from agentco_tui.config import ViewSettings
from agentco_tui.live.feeds import Pace, Phase
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.run_memory import recall_list
from agentco_tui.system.background import beside
from agentco_tui.system.state_folder import ListMemory
from agentco_tui.text.row_filter import parse_filter
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

MOST_COUNTED: Final = 5_000
"""Records of a feed up to which its views are created, and counted, before they are shown."""


def view_class(place: str) -> type[ListView[Any]]:
    """Return the class of a screen's list; its module is imported when it is first wanted."""
    own_file = f"{place}_view" if place in ("overview", "tasks", "budget") else "plain_views"
    module: Any = import_module(f"agentco_tui.screens.{own_file}")
    return cast("type[ListView[Any]]", getattr(module, f"{place.title()}View"))


def open_views_soon(frame: BaseFrame) -> None:
    """Start `open_views` in a worker of the frame."""
    start_worker(frame, partial(open_views, frame), "bring views up to date", group="views")


async def open_views(frame: BaseFrame) -> None:
    """Create a list for each view of the settings, and bring the hidden ones up to date.

    Views of long lists are created when they are first shown, as each poll costs work for each
    list. A view that the settings do not have any more is removed.
    """
    wanted = {each.tab: each for each in frame.workspace.settings.views}
    for tab, view in [*frame.views.items()]:
        await _update_view(frame, view, wanted.get(tab))
    for tab, settings in wanted.items():
        if tab not in frame.views and await may_create(frame, settings):
            await _create_hidden(frame, tab)
        opened = frame.views.get(tab)
        if opened is not None and not opened.is_checked:
            opened.is_checked = True
            for setting, why in wrong_in(settings, opened):
                frame.say(f"views.{settings.name}.{setting}: {why}", bad=True)
    frame.lines.show()


async def _create_hidden(frame: BaseFrame, tab: str) -> None:
    """Create the list of a view, unless the user has opened it in the meantime."""
    if tab in frame.views:
        return  # it is on the screen, and stays there
    view = get_or_create_view(frame, tab)
    view.display = False
    await frame.body.mount(view)


async def _update_view(
    frame: BaseFrame, view: ListView[Any], settings: ViewSettings | None
) -> None:
    """Bring an open view up to date with its settings and, if it is hidden, with the store."""
    if settings is not None and settings != view.shown_as:
        view.shown_as = settings
        view.is_checked = False
        view.set_filter(settings.filter)
        recall_list(view, ListMemory())
    if not view.shown_as.name or view is frame.view:
        return
    if settings is None:
        if frame.views.pop(view.tab, None) is not None:  # it may have gone meanwhile
            frame.navigation.forget_tab(view.tab)
            await view.remove()
    else:
        view.show_needs()
        view.freezer.release()  # a hidden list need not keep its rows still
        view.table.update_clock_cells()


async def may_create(frame: BaseFrame, settings: ViewSettings) -> bool:
    """Whether all feeds of a view were answered, and are short enough to list in a hidden view."""
    store = frame.workspace.store
    feeds = (await beside(partial(view_class, settings.screen))).lists
    is_answered = all(store.freshness[feed].answered_at is not None for feed in feeds)
    is_short = all(len(store.collections.get(feed, ())) <= MOST_COUNTED for feed in feeds)
    return is_answered and is_short


def wrong_in(settings: ViewSettings, view: ListView[Any]) -> list[tuple[str, str]]:
    """Return each setting of a view that its list cannot fulfil, and what is wrong with it."""
    columns = {column.key: column for column in view.table.model.columns}
    names = ", ".join(columns)
    wrong = [
        ("columns", f"there is no column {each} ({names})")
        for each in settings.columns
        if each not in columns
    ]
    sort = (settings.sort or "").removeprefix("-")
    if sort and sort not in columns:
        wrong.append(("sort", f"there is no column {sort} ({names})"))
    elif sort and columns[sort].sort_key is None:
        sortable = [key for key, column in columns.items() if column.sort_key is not None]
        wrong.append(("sort", f"cannot be sorted by {sort}, but by {', '.join(sortable)}"))
    wanted = parse_filter(settings.filter, view.table.model.columns)
    if isinstance(wanted, str):
        wrong.append(("filter", wanted))
    return wrong


def get_or_create_view(frame: BaseFrame, tab: str) -> ListView[Any]:
    """Return the list of a tab; a new one is filtered and sorted as the run before left it."""
    existing = frame.views.get(tab)
    if existing is not None:
        return existing
    place = tab.partition(":")[0]
    settings = next((each for each in frame.workspace.settings.views if each.tab == tab), None)
    view = view_class(place)(frame.dashboard, settings)
    frame.views[tab] = view
    recall_list(view, frame.memory.list_memory(place))
    return view


def count_cells(views: Mapping[str, ListView[Any]]) -> dict[str, Cell]:
    """Return the count of each view of the settings whose count is known, by tab."""
    counts: dict[str, Cell] = {}
    for tab, view in views.items():
        count = count_cell(view) if view.shown_as.name else None
        if count is not None:
            counts[tab] = count
    return counts


def count_cell(view: ListView[Any]) -> Cell | None:
    """Return how many rows a view shows, dim if that may be old; None if it is not known yet."""
    if not view.is_read:
        return None
    store = view.workspace.store
    poller = view.workspace.poller
    number = len(view.table.model.shown)
    is_live = all(
        poller.pace(feed) is Pace.REFRESH and store.freshness[feed].phase is Phase.LIVE
        for feed in view.lists
    )
    return Cell(fmt.count(number), Tone.ACCENT if number and is_live else Tone.DIM)
