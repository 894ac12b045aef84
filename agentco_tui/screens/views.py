"""Views: lists of their own as the settings want them, hidden until they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any, cast

from agentco_tui.config import ViewSettings
from agentco_tui.live.feeds import Pace, Phase
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.list_view import ListView
from agentco_tui.system.background import beside
from agentco_tui.system.state_folder import LONGEST_FILTER, ListMemory
from agentco_tui.text.row_filter import parse
from agentco_tui.widgets.tones import Cell, Tone

MOST = 5_000  # records of a list up to which it is counted before it was shown


def list_class(place: str) -> type[ListView[Any]]:
    """That of a screen; its module is read when it is first wanted."""
    own_file = f"{place}_view" if place in ("overview", "tasks", "budget") else "plain_views"
    module: Any = import_module(f"agentco_tui.screens.{own_file}")
    return cast("type[ListView[Any]]", getattr(module, f"{place.title()}View"))


async def open_views(frame: BaseFrame) -> None:
    """Have a list for each view of the settings but for long ones, which would be worked on at each
    poll, and none for a view that is no more; those that are hidden are brought up to date.
    """
    wanted = {each.tab: each for each in frame.session.settings.views}
    for tab, view in [*frame.views.items()]:
        if (now := wanted.get(tab)) is not None and now != view.shown_as:
            view.shown_as, view.is_checked = now, False
            view.set_filter(now.filter)
            recall(view, ListMemory())
        if not view.shown_as.name or view is frame.view:
            continue
        if now is None:
            await frame.views.pop(tab).remove()
        else:
            view.take_needs()
            view.bring_up_to_date()
            view.table.tick()
    for tab, each in wanted.items():
        feeds, store = (await beside(partial(list_class, each.screen))).lists, frame.session.store
        known = all(store.freshness[feed].answered_at is not None for feed in feeds)
        is_short = all(len(store.collections.get(feed, ())) <= MOST for feed in feeds)
        if tab not in frame.views and known and is_short:
            made(frame, tab).display = False
            await frame.body.mount(frame.views[tab])
        if (opened := frame.views.get(tab)) is not None and not opened.is_checked:
            opened.is_checked = True
            for setting, why in wrong_in(each, opened):
                frame.say(f"views.{each.name}.{setting}: {why}", bad=True)
    frame.show_frame()


def wrong_in(settings: ViewSettings, view: ListView[Any]) -> list[tuple[str, str]]:
    """What a view asks of its list that the list does not have: each setting, and what is wrong."""
    columns = {column.key: column for column in view.table.rows.columns}
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
    wanted = parse(settings.filter, view.table.rows.columns)
    if isinstance(wanted, str):
        wrong.append(("filter", wanted))
    return wrong


def made(frame: BaseFrame, tab: str) -> ListView[Any]:
    """A screen that is visited for the first time, as it was left, or a view."""
    place = tab.partition(":")[0]
    shown_as = next((each for each in frame.session.settings.views if each.tab == tab), None)
    view = frame.views[tab] = list_class(place)(frame.session, shown_as)
    recall(view, frame.kept.lists.get(place, ListMemory()))
    return view


def recall(view: ListView[Any], memory: ListMemory) -> None:
    """As it was left, or as the settings want it."""
    table, settings = view.table, view.shown_as
    columns = {column.key: column for column in table.rows.columns if column.sort_key is not None}
    sort, descending, words = memory.sort, memory.descending, memory.filter
    if settings.name:
        sort, words = (settings.sort or "").removeprefix("-"), settings.filter
        descending = sort in columns and columns[sort].descending_first
        descending ^= (settings.sort or "").startswith("-")
    if sort in columns:
        table.sort_by(sort, descending)
    table.show_columns(settings.columns if settings.name else memory.columns)
    if words and (settings.name or view.keeps_filter) and table.set_filter(words) is None:
        view.filter_text, view.recalled = words, not settings.name
        view.filtered_at = memory.filtered_at or 0.0


def memory_of(view: ListView[Any]) -> ListMemory:
    table, kept = view.table, (view.filter_text[:LONGEST_FILTER], view.filtered_at)
    columns = tuple(table.rows.columns[at].key for at in table.view.columns)
    words, since = kept if view.keeps_filter else ("", None)
    return ListMemory(*table.sort, words, since, columns)


def count_cells(views: Mapping[str, ListView[Any]]) -> dict[str, Cell]:
    """Return the count of each view of the settings whose count is known, by tab."""
    counts: dict[str, Cell] = {}
    for tab, view in views.items():
        count = count_cell(view)
        if view.shown_as.name and count is not None:
            counts[tab] = count
    return counts


def count_cell(view: ListView[Any] | None) -> Cell | None:
    """How many records a view shows, dim where that may be old; None while it isn't known."""
    if view is None or view.incomplete:
        return None
    store, number = view.session.store, len(view.table.rows.shown)
    live = all(
        view.session.poller.pace(feed) is Pace.REFRESH and store.freshness[feed].phase is Phase.LIVE
        for feed in view.lists
    )
    return Cell(fmt.count(number), Tone.ACCENT if number and live else Tone.DIM)
