"""Agents of a company."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Agent, AgentState, Money
from agentco_tui.reading.kinds.common_fields import (
    COMPANY,
    CREATED,
    ids,
    record,
    reference,
    references,
)
from agentco_tui.reading.schema import Around, Field, Json, Kind, Partial, Row, Values
from agentco_tui.reading.values.money import UNIT_FIELDS, minus, money_field, to_money, told_unit
from agentco_tui.reading.values.number import to_count, to_decimal
from agentco_tui.reading.values.plain_text import flag, line, named, text_only, word
from agentco_tui.reading.values.status_word import agent_state
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, safe

_SMALLEST_COIN: Final = Decimal("0.01")
"""No sum is owed below this: -1 in a smaller unit says "no limit"."""


def _trust(raw: Json) -> Any:
    """A score: the number as sent, also of "85 %", or a word such as "green"."""
    text = raw.strip().removesuffix("%") if type(raw) is str else raw
    number = to_decimal(text)
    return text_only(raw) if number is None else number


def _model(raw: Json) -> Any:
    """A model's name; of a list of them the first."""
    if type(raw) is list and raw and type(raw[0]) is str:
        return Partial(safe(raw[0])) if len(raw) > 1 else safe(raw[0])
    return text_only(raw)


_DONE: Final = "{,stats.,metrics.,performance.}{tasks_{completed,done,finished},completed_tasks}"
_SEEN: Final = "last_{heartbeat,active,seen,activity}"
FIELDS: Final = (
    ids("agent_id  # paperclip; OpenFang on create, ElevenLabs",
        "agent_uuid assistant_id  # LangGraph"),
    Field("name", """
        display_name                     # Google, Azure, BambooHR
        name agent_name full_name label username  # most platforms
        title
        metadata.name                    # Kubernetes
        """, named),
    Field("role", """
        role agent_role role_name        # paperclip
        job_title position               # BambooHR
        function title
        """, named),
    *references("company", f"{COMPANY} employer"),
    Field("trust", """
        trust_score trust trust_{level,rating} reputation{,_score} score
        {trust,trust_score,reputation}.{score,value,current,level}
        {stats,metrics,performance}.{trust_score,trust,score,reputation}
        """, _trust),
    Field("status", """
        status state                     # paperclip; OpenFang
        agent_status current_status lifecycle_state run_state phase availability
        access_state                     # Box AI agents
        {status,state}.{state,status,phase,name,value,code} runtime.{status,state}
        """, word),
    Field("status_text", "status_{name,label,text,display} state_name", word),
    Field("paused", "{is_,}paused suspended  # GitLab runners", flag),
    Field("enabled", "{is_,}{enabled,active,online}", flag),
    Field("pause_reason", """
        pause_reason                     # paperclip
        paused_reason suspend_reason status_reason {status,state}.{pause_reason,reason}
        """, line),
    Field("model", """
        model{,_name,_id}                # OpenAI; OpenFang
        llm{,_model} language_model
        {model,llm}.{model,name,model_name,id,model_id,display_name}  # OpenFang detail
        {config,adapter_config,settings,runtime,llm_config}.{model,model_name,model_id,llm}
        """, _model),
    Field("provider", """
        model_provider                   # OpenFang
        provider llm_provider {model,llm}.{provider,vendor}
        """, text_only),
    Field("tasks_completed", f"""
        {_DONE} completed_{{task_,tasks_,}}count {{num_,total_}}tasks_completed
        tasks_completed_count {{stats,metrics,performance}}.completed
        {{tasks,task_counts,task_stats}}.{{completed,done,finished}}
        """, to_count),
    CREATED,
    Field("last_seen", f"""
        last_heartbeat_at                # paperclip
        last_active                      # OpenFang
        {_SEEN}{{,_at}} heartbeat_at last_run_at last_online last_ping
        {{status,state,runtime,stats,metrics}}.{_SEEN}{{,_at}}
        """, to_moment),
    money_field("remaining", """
        budget_remaining remaining_budget budget_left
        remaining_amount                 # paperclip: remainingAmountCents
        budget.{remaining,remaining_amount,left} {stats,metrics}.budget_remaining
        """),
    money_field("limit", """
        budget_monthly                   # paperclip: budgetMonthlyCents
        monthly_{limit,budget} budget_limit max_budget
        budget.{monthly_limit,limit,amount,max_budget}
        """),
    money_field("spent", """
        spent_monthly                    # paperclip: spentMonthlyCents
        spent_this_month month{ly,}_spend budget_{spent,used}
        budget.{monthly_spend,spent,used,spend}
        """),
    *UNIT_FIELDS,
)  # fmt: skip


def _build(row: Row, around: Around) -> Agent:
    values = row.values
    status, state = _status(values)
    model, vendor = values.get("model"), values.get("provider")
    if vendor is not None and model is not None and not model.startswith(f"{vendor}/"):
        model = safe(f"{vendor}/{model}")
    elif vendor is not None and model is None:
        row.keep("provider")
    trust = values.get("trust")
    return record(
        Agent, row, around,
        company=reference(values, "company", around),
        trust=trust if isinstance(trust, Decimal) else None,
        trust_word=SafeText(trust) if isinstance(trust, str) else None,
        budget_remaining=_remaining(row, around),
        status=status,
        state=state,
        model=model,
    )  # fmt: skip


def _status(values: Values) -> tuple[SafeText | None, AgentState | None]:
    """The word and the state; flags such as `paused` and `enabled` serve where no word does."""
    status: SafeText | None = values.get("status") or values.get("status_text")
    if status is not None and status.isdigit() and "status_text" in values:
        status = values["status_text"]
    state = agent_state(status) if status is not None else None
    enabled = values.get("enabled")
    if values.get("paused") is True and state not in (AgentState.STOPPED, AgentState.ERROR):
        return status or safe("paused"), AgentState.PAUSED
    if status is None and enabled is not None:
        if enabled:
            return safe("enabled"), AgentState.ACTIVE
        return safe("not enabled"), AgentState.STOPPED
    return status, state


def _remaining(row: Row, around: Around) -> Money | None:
    """What remains of the agent's budget: as sent, else from limit and spent, marked."""
    values = row.values
    if values.keys().isdisjoint(("remaining", "limit", "spent")):
        return None
    beside = told_unit(values, around.unit)
    limit, spent = to_money(values.get("limit"), beside), to_money(values.get("spent"), beside)
    remaining = to_money(values.get("remaining"), beside)
    for slot in ("limit", "spent"):
        if slot in values:
            row.keep(slot)
    no_limit = limit is not None and limit.amount == 0
    if remaining is not None:
        # A limit of 0 says that there is none; what remains of it says nothing.
        if -_SMALLEST_COIN < remaining.amount < 0:
            return None
        return None if remaining.amount == 0 and no_limit else remaining
    return None if limit is None or spent is None or no_limit else minus(limit, spent)


AGENTS: Final[Kind[Agent]] = Kind(
    "agents",
    noun="agents",
    own="agents agent agent_list ai_agents",
    also="assistants workers bots members employees staff team workforce roster crew",
    fields=FIELDS,
    build=_build,
    needs="id",
    nameless="an agent without an id",
    most=50_000,
)
