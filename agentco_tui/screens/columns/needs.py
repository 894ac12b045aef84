"""The columns of what needs a person."""

from __future__ import annotations

from agentco_tui import format as fmt
from agentco_tui.live.insight import Need, waiting_since
from agentco_tui.model import Agent, Alert, Budget, BudgetScope, Record, Ref, Task
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    age_column,
    level_column,
    share_text,
    spent_text,
    text_column,
    title_cell,
)
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone


def need_columns(look: Look) -> list[Column[Need]]:
    """What it is, what it is about, whose it is, and the figure that matters."""

    def tone(need: Need) -> Tone:
        return TONES[need.level]

    def since(need: Need) -> float | None:
        return need_since(need.record)

    def company(need: Need) -> SafeText:
        return look.names.company(look.names.company_of(need.record))

    return [
        level_column(lambda n: n.level),
        text_column(
            "need", "WHY", (13, 12), need_words, tone, sort_key=need_words, aliases=("why", "kind")
        ),
        age_column(
            look,
            "age",
            "SINCE",
            since,
            cell=lambda n: Cell(look.age(since(n)), tone(n)),
            descending_first=True,
            aliases=("since", "waits", "waiting"),
        ),
        text_column(
            "what",
            "WHAT",
            (24, 22),
            lambda n: subject(n.record, look),
            Tone.STRONG,
            grow=3,
            aliases=("task", "title"),
        ),
        text_column("agent", "AGENT", (10, 6), lambda n: agent(n.record, look), priority=2),
        text_column("company", "COMPANY", (15, 8), company, priority=3),
        text_column(
            "figure",
            "FIGURE",
            (22, 12),
            lambda n: figure(n.record, look),
            priority=1,
            sort_key=None,
        ),
    ]


def need_since(record: Record) -> float | None:
    """Since when it needs a person, where the platform tells."""
    if isinstance(record, Task):
        return waiting_since(record)
    return record.at.at if isinstance(record, Alert) and record.at is not None else None


def need_words(need: Need) -> SafeText:
    """What it is, in two words."""
    match need.record:
        case Task():
            return plain("approve")
        case Budget(share=share):
            spent = share is not None and share >= 1
            return plain("budget spent" if spent else "budget low")
        case Alert():
            return plain("alert")
        case Agent():
            return plain("agent failed")


def subject(record: Record, look: Look) -> SafeText:
    """What it is about."""
    match record:
        case Task():
            return title_cell(record).text
        case Budget():
            return look.names.budget(record)
        case Alert():
            return record.text
        case Agent():
            return record.pause_reason or record.status or plain("error")
    return signs.missing


def agent(record: Record, look: Look) -> SafeText:
    """Whose it is, if an agent's."""
    match record:
        case Task(agent=ref) | Alert(agent=ref):
            return look.names.agent(ref)
        case Agent():
            return record.name or look.names.agent(Ref(id=record.id))
        case Budget(scope=BudgetScope.AGENT):
            return look.names.budget(record)
    return signs.missing


def figure(record: Record, look: Look) -> SafeText:
    """The figure that matters: priority and trust, or spent of limit."""
    match record:
        case Task():
            trust = look.trust_of(record)
            words = (record.priority, None if trust is None else f"trust {fmt.trust(trust)}")
            told = f" {signs.separator} ".join(word for word in words if word)
            return plain(told) if told else signs.missing
        case Budget():
            if record.unlimited:
                return spent_text(record)
            return plain(f"{share_text(record)} of {fmt.money(record.limit)}")
        case Alert(spent=spent, limit=limit):
            if spent is not None and limit is not None:
                return plain(f"{fmt.money(spent)} of {fmt.money(limit)}")
            return fmt.percent(record.share)
        case Agent():
            return record.model or signs.missing
    return signs.missing
