"""The columns of the list of needs, on the Overview.

A need is one thing that requires the operator: a task to approve, a budget that runs out, an agent
that failed; its level says how urgent it is. It may stand for several tasks that are alike. Needs
come from what was polled from the platform, a remote service with companies of AI agents.
`NeedWords` is a need in words: why it is listed, what it is about, and what follows if it is
ignored. A snoozed need, which was put off for a while, is dim.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from agentco_tui.attention.need_words import NeedWords, consequence_changes_at
from agentco_tui.attention.needs import Need
from agentco_tui.live import insight
from agentco_tui.live.insight import Level
from agentco_tui.model import Task
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.screens.overview_panels import about_of
from agentco_tui.text import SafeText, cell_width, clean_line, joined, mark_safe
from agentco_tui.text.width import fit_ends
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone

FIGURE_PARTS: Final = re.compile(" of | in | its ")
"""What separates the parts of a need's figure, such as "119 % of $100.00", "×14 in 52 m" or
"12× its most calls"; where it is narrow the first part is shown."""


def need_columns(context: CellContext, words: Callable[[Need], NeedWords]) -> list[Column[Need]]:
    """Return the columns; `words` puts a need into words."""
    names = context.names

    def level(need: Need) -> Level:
        return need.level if need.snooze is None else Level.OK

    def dim(need: Need, other: Tone = Tone.PLAIN) -> Tone:
        return other if need.snooze is None else Tone.DIM

    def bad(need: Need) -> Tone:
        return dim(need, TONES[need.level])

    def tone(need: Need) -> Tone:
        return dim(need, Tone.STRONG if need.level >= Level.CRITICAL else Tone.PLAIN)

    def drawn(need: Need, width: int) -> Cell:
        """Cut a title that is too long in the middle, if the number of its tasks follows."""
        what = words(need).what
        return Cell(fit_ends(what, width) if need.alike else what, tone(need))

    def consequence(need: Need, width: int) -> Cell:
        """Leave out its last parts where it is narrow, except of a snooze's note.

        The note says until when the need is snoozed, in place of a consequence.
        """
        need_words = words(need)
        shown = need_words.consequence
        while need.snooze is None and cell_width(shown) > width and ", " in shown:
            shown = mark_safe(shown.rpartition(", ")[0])
        if cell_width(shown) > width and need_words.brief_consequence is not None:
            shown = need_words.brief_consequence
        return Cell(shown, dim(need))

    def figure(need: Need, width: int) -> Cell:
        """Show its first part where it is narrow."""
        figure = words(need).figure
        fits = cell_width(figure) <= width
        return Cell(figure if fits else mark_safe(FIGURE_PARTS.split(figure)[0]))

    def company(need: Need) -> SafeText:
        records = need.alike or (need.record,)
        companies = {names.company(names.company_of(record)) for record in records}
        if len(companies) > 1:
            return mark_safe(f"{len(companies)} companies")
        return companies.pop()

    def keys(need: Need) -> SafeText:
        """Return the keys of the tasks that it stands for."""
        tasks = need.alike or (need.record,)
        return joined([task.key for task in tasks if isinstance(task, Task) and task.key], ", ")

    def kind(need: Need) -> SafeText:
        """Return the platform's word for what sort of task it is, else why it is a need."""
        record = need.record
        return (record.kind if isinstance(record, Task) else None) or words(need).why

    # (20, 10): the wanted and the least width in cells.
    # priority: the highest is hidden first, 0 never. uses_clock: it changes as time passes.
    # sort_key=None: the list can't be sorted by it. aliases: its other names in filters.
    # fmt: off
    return [
        cells.level_column(level),
        cells.text_column("need", "WHY", (9, 9), lambda n: words(n).why,
            bad, sort_key=lambda n: words(n).why, aliases=("why",)),
        cells.age_column(context, "age", "SINCE", lambda n: n.since,
            descending_first=True, cell=lambda n: Cell(context.wait(n.since), bad(n)),
            changes_at=lambda n: context.age_changes_at(n.since, fine=True),
            aliases=("since", "waits", "waiting")),
        cells.text_column("what", "WHAT", (22, 20), lambda n: words(n).what, tone,
            grow=3, aliases=("task", "title"), cell_for_width=drawn),
        cells.text_column("consequence", "IF IGNORED", (20, 18),
            lambda n: words(n).consequence, dim, cell_for_width=consequence, grow=2, priority=2,
            uses_clock=True,
            changes_at=lambda n: consequence_changes_at(n, context.clock.now()),
            aliases=("if", "ignored", "left", "then")),
        cells.text_column("figure", "FIGURE", (10, 6), lambda n: words(n).figure, priority=1,
            sort_key=None, cell_for_width=figure),
        cells.text_column("agent", "AGENT", (10, 6), lambda n: words(n).agent, priority=3),
        cells.text_column("company", "COMPANY", (13, 8), company, priority=4),
        cells.text_column("description", "ABOUT", (40, 30),
            lambda n: about_of(n.record, context), Tone.DIM, priority=6, grow=4, sort_key=None),
        *cells.filter_only_columns(id=lambda n: clean_line(n.record.id), key=keys, kind=kind,
            status=lambda n: getattr(n.record, "status", None)),
        cells.money_column("cost", "COST", (8, 8), lambda n: getattr(n.record, "cost", None),
            shown_by_default=False),
        cells.column("priority", "PRIORITY", (8, 8),
            lambda n: cells.priority_cell(getattr(n.record, "priority", None)),
            shown_by_default=False, filter_value=lambda n: getattr(n.record, "priority", None),
            rank=insight.rank_of_priority),
    ]
    # fmt: on
