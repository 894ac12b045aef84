"""What is painted on a thin line: the lists' cursors as their signs only, and all more rarely.

With --thin no detail stands beside a list either (`list_view`); it never comes and goes by itself.
"""

from __future__ import annotations

from agentco_tui.screens.main import MainScreen
from agentco_tui.screens.table_view import TableView
from agentco_tui.widgets import paint_rate

LESS = "the terminal takes long to show what is written: painting less until it keeps up"
ALL = "the terminal keeps up again: everything is painted"


def paint_as_told(main: MainScreen) -> None:
    """Bring the frame and its screens in line with what the session's thin line says."""
    paint_rate.limit(main, thin=main.session.thin.on)
    for view in main.views.values():
        if isinstance(view, TableView):
            view.paint_as_told()
    main.show_frame()
