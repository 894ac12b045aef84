"""The panels beneath the needs: the money, and what happened last."""

from __future__ import annotations

from itertools import islice

from agentco_tui import format as fmt
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import budget_level, in_scope
from agentco_tui.model import Budget, BudgetScope
from agentco_tui.screens.cells import TONES, level_sign, severity_level, share_text, spent_text
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, cell_width, fit, plain
from agentco_tui.widgets.text_pane import Cells, Item, Text
from agentco_tui.widgets.tones import Cell, Tone, bar

MINUTE = 60.0
GAUGE = 14
LEAST_GAUGE = 3
BESIDE_GAUGE = 12
"""Columns of a spend line for blanks, per cent and sign, which must stay whole."""
NARROW_SPEND = 50
"""Columns below which the spend panel leaves the sum out: the bar and per cent tell it."""


def spend_items(session: Session, width: int) -> tuple[list[Item], SafeText | None]:
    """The budgets of the scope for a panel of so many columns, and the period they are for."""
    store, scope = session.store, session.company
    companies = [b for b in store.company_budgets if scope is None or b.id == scope]
    companies.sort(key=lambda budget: -(budget.share or -1))
    whole = store.whole_budget if scope is None else None
    if scope is not None and not companies:
        company_of = session.names.company_of
        companies = [b for b in store.agent_budgets if in_scope(company_of(b), scope)]
    shown = companies if whole is None else [whole, *companies]
    sums = [
        spent_text(budget, short=True)
        if width >= NARROW_SPEND or budget.unlimited
        else plain(f"of {fmt.money(budget.limit, short=True)}")
        for budget in shown
    ]
    beside = BESIDE_GAUGE + max(map(cell_width, sums), default=0)
    items: list[Item] = [
        _spend_item(session, budget, of, (width, beside))
        for budget, of in zip(shown, sums, strict=True)
    ]
    if not items:
        items = [_instead(session, FeedName.BUDGET, "no budgets")]
    return items, next((b.period for b in (whole, *companies) if b is not None and b.period), None)


def _spend_item(session: Session, budget: Budget, of: SafeText, columns: tuple[int, int]) -> Cells:
    """`columns`: those of the panel, and of these what all lines keep beside name and gauge."""
    width, beside = columns
    level = budget_level(budget, session.settings.alerts)
    name = plain("all") if budget.scope is BudgetScope.ALL else session.names.budget(budget)
    room = width - beside
    name_width = max(1, min(18, max(15, width // 5), room - LEAST_GAUGE))
    cells: list[Cell] = []
    if budget.share is not None and not budget.unlimited:
        gauge = max(LEAST_GAUGE, min(GAUGE, room - name_width))
        cells.append(Cell(bar(budget.share, gauge, track=not session.thin.on), TONES[level]))
        cells.append(Cell(fit(share_text(budget), 6, "right"), TONES[level]))
    cells.append(Cell(plain(f" {level_sign(level)} "), TONES[level]))
    cells[:0] = [Cell(fit(name, name_width), Tone.PLAIN), Cell(plain(" "))]
    return Cells(tuple(cells), (Cell(of, Tone.DIM),))


def latest_items(session: Session, room: int) -> list[Item]:
    """The newest entries of the log, so many as there is room for."""
    items: list[Item] = []
    for entry in islice(reversed(session.store.activity), room):
        at = entry.at.at if entry.at else None
        tone = TONES[severity_level(entry.severity)]
        # The age of the newest only by its bound: a dozen of them counting seconds would cost more
        # on the line than all else on this screen.
        new = at is not None and session.now - at < MINUTE
        age = fit(plain("<1 m") if new else session.look.age(at), 5, "right")
        who = session.names.agent(entry.agent or entry.actor)
        sign = Cell(plain(f" {level_sign(severity_level(entry.severity))} "), tone)
        named = Cell(plain(f"{who} "), Tone.ACCENT)
        items.append(Cells((Cell(age, Tone.DIM), sign, named, Cell(entry.text, tone))))
    return items or [_instead(session, FeedName.ACTIVITY, "nothing happened yet")]


def _instead(session: Session, feed: FeedName, none: str) -> Item:
    """What stands in a panel without lines: nothing there is not the same as nothing read."""
    words = {Phase.LOADING: "loading…", Phase.FAILED: "nothing could be read yet"}
    return Text(plain(words.get(session.store.freshness[feed].phase, none)), Tone.DIM)
