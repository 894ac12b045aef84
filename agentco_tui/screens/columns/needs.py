"""The columns of what needs a person."""

from __future__ import annotations

from agentco_tui import format as fmt
from agentco_tui.live.insight import Need, waiting_since
from agentco_tui.model import Agent, Alert, Budget, Record, Ref, Task
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

    def agent(need: Need) -> SafeText:
        match need.record:
            case Task(agent=ref) | Alert(agent=ref):
                return look.names.agent(ref)
            case Agent():
                return need.record.name or look.names.agent(Ref(id=need.record.id))
            case Budget() if need.record.scope == "agent":
                return look.names.budget(need.record)
            case _:
                return signs.missing

    def company(need: Need) -> SafeText:
        return look.names.company(look.names.company_of(need.record))

    def since(need: Need) -> float | None:
        return need_since(need.record)

    return [
        level_column(lambda n: n.level),
        Column(
            "need",
            plain("WHY"),
            13,
            lambda n: Cell(need_words(n), TONES[n.level]),
            min_width=12,
            sort_key=need_words,
            aliases=("why", "kind"),
        ),
        age_column(
            look,
            "age",
            "SINCE",
            since,
            cell=lambda n: Cell(look.age(since(n)), TONES[n.level]),
            descending_first=True,
            aliases=("since", "waits", "waiting"),
        ),
        text_column(
            "what",
            "WHAT",
            (24, 22),
            lambda n: subject(n, look),
            tone=Tone.STRONG,
            grow=3,
            aliases=("task", "title"),
        ),
        text_column("agent", "AGENT", (10, 6), agent, priority=2),
        text_column("company", "COMPANY", (15, 8), company, priority=3),
        text_column(
            "figure", "FIGURE", (22, 12), lambda n: figure(n, look), priority=1, sort_key=None
        ),
    ]


def need_since(record: Record) -> float | None:
    """Since when it needs a person, where the platform tells."""
    match record:
        case Task():
            return waiting_since(record)
        case Alert(at=at):
            return None if at is None else at.at
        case _:
            return None


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


def subject(need: Need, look: Look) -> SafeText:
    """What it is about."""
    match need.record:
        case Task():
            return title_cell(need.record).text
        case Budget():
            return look.names.budget(need.record)
        case Alert(text=text):
            return text
        case Agent():
            return need.record.pause_reason or need.record.status or plain("error")


def figure(need: Need, look: Look) -> SafeText:
    """The figure that matters: priority and trust, or spent of limit."""
    match need.record:
        case Task():
            agent = look.names.agent_of(need.record.agent)
            trust = need.record.trust
            if trust is None and agent is not None:
                trust = agent.trust
            words = [need.record.priority] if need.record.priority else []
            if trust is not None:
                words.append(plain(f"trust {fmt.trust(trust)}"))
            return plain(f" {signs.separator} ".join(words)) if words else signs.missing
        case Budget():
            if need.record.unlimited:
                return spent_text(need.record)
            return plain(f"{share_text(need.record)} of {fmt.money(need.record.limit)}")
        case Alert(spent=spent, limit=limit, share=share):
            if spent is not None and limit is not None:
                return plain(f"{fmt.money(spent)} of {fmt.money(limit)}")
            return fmt.percent(share)
        case Agent(model=model):
            return model or signs.missing
