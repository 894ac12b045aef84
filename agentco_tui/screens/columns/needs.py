"""The columns of what needs a person."""

from __future__ import annotations

from agentco_tui import format as fmt
from agentco_tui.live.insight import Need, waiting_since
from agentco_tui.model.records import Agent, Alert, Budget, Record, Ref, Task
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    label,
    level_cell,
    share_text,
    spent_text,
    title_cell,
)
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column, ColumnKind
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

    def waited(need: Need) -> float | None:
        at = since(need)
        return None if at is None else look.clock.now() - at

    return [
        Column("level", label(" "), 1, lambda n: level_cell(n.level), min_width=1),
        Column(
            "need",
            label("WHY"),
            13,
            lambda n: Cell(need_words(n), TONES[n.level]),
            min_width=12,
            sort_key=need_words,
            aliases=("why", "kind"),
        ),
        Column(
            "age",
            label("SINCE"),
            5,
            lambda n: Cell(look.age(since(n)), TONES[n.level]),
            min_width=5,
            align="right",
            ticks=True,
            sort_key=lambda n: None if since(n) is None else -(since(n) or 0.0),
            kind=ColumnKind.SECONDS,
            filter_value=waited,
            descending_first=True,
            aliases=("since", "waits", "waiting"),
        ),
        Column(
            "what",
            label("WHAT"),
            24,
            lambda n: Cell(subject(n, look), Tone.STRONG),
            min_width=22,
            grow=3,
            sort_key=lambda n: subject(n, look).casefold(),
            aliases=("task", "title"),
        ),
        Column(
            "agent",
            label("AGENT"),
            10,
            lambda n: Cell(agent(n)),
            min_width=6,
            priority=2,
            sort_key=lambda n: agent(n).casefold(),
        ),
        Column(
            "company",
            label("COMPANY"),
            15,
            lambda n: Cell(company(n)),
            min_width=8,
            priority=3,
            sort_key=lambda n: company(n).casefold(),
        ),
        Column(
            "figure",
            label("FIGURE"),
            22,
            lambda n: Cell(figure(n, look)),
            min_width=12,
            priority=1,
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
