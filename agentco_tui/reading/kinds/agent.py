"""Agents of a company."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Agent, AgentState, Money
from agentco_tui.reading.schema import Around, Field, Json, Kind, Partial, Row, Unread, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import (
    UNIT_FIELDS,
    minus,
    money_field,
    to_money,
    told_unit,
)
from agentco_tui.reading.values.number import to_count, to_decimal
from agentco_tui.reading.values.plain_text import flag, line, named, text_only, word
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.status_word import agent_state
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, safe

_MOST: Final = 50_000
_SMALLEST_COIN: Final = Decimal("0.01")
"""No sum is owed below this: -1 in a smaller unit says "no limit"."""


def _trust(raw: Json) -> Any:
    """A score: the number as sent, also of "85 %", or a word such as "green"."""
    number = to_decimal(raw)
    if number is not None:
        return number
    if type(raw) is str and raw.strip().endswith("%"):
        return to_decimal(raw.strip()[:-1])
    return text_only(raw)


def _model(raw: Json) -> Any:
    """A model's name; of a list of them the first."""
    if type(raw) is list and raw and type(raw[0]) is str:
        return Partial(safe(raw[0])) if len(raw) > 1 else safe(raw[0])
    return text_only(raw)


FIELDS: Final = (
    Field(
        "id",
        """
        id agent_id                      # paperclip; OpenFang on create, ElevenLabs
        _id uuid guid uid agent_uuid     # MongoDB, assorted
        assistant_id                     # LangGraph
        sys_id gid urn identifier document_id
        metadata.uid                     # Kubernetes
        url_key slug                     # paperclip
        {profile,identity,general,basics}.{id,agent_id}
        url                              # Django REST hyperlinks
        """,
        to_id,
    ),
    Field(
        "name",
        """
        display_name                     # Google, Azure, BambooHR
        name agent_name full_name label username  # most platforms
        title
        metadata.name                    # Kubernetes
        {profile,identity,general,basics,details}.{display_name,name}
        """,
        named,
    ),
    Field(
        "role",
        """
        role agent_role role_name        # paperclip
        job_title position               # BambooHR
        function title
        {profile,identity,general,basics,details}.{role,title}
        """,
        named,
    ),
    Field(
        "company",
        """
        company company_ref organization organisation org workspace tenant account employer
        {profile,identity,general,basics,details}.company
        """,
        to_ref,
    ),
    Field(
        "company_id",
        """
        company_id                       # paperclip
        organization_id organisation_id org_id workspace_id tenant_id company_uuid account_id
        {profile,identity,general,basics,details}.company_id
        """,
        to_ref_id,
    ),
    Field(
        "company_name",
        "company_name organization_name org_name workspace_name tenant_name account_name",
        to_ref_name,
    ),
    Field(
        "trust",
        """
        trust_score trust trust_level reputation reputation_score trust_rating score
        {trust,trust_score,reputation}.{score,value,current,level}
        {stats,metrics,performance}.{trust_score,trust,score,reputation}
        """,
        _trust,
    ),
    Field(
        "status",
        """
        status state                     # paperclip; OpenFang
        agent_status current_status lifecycle_state run_state phase availability
        access_state                     # Box AI agents
        {status,state}.{state,status,phase,name,value,code}
        {runtime,profile,details,general}.{status,state}
        """,
        word,
    ),
    Field("status_text", "status_name status_label status_text status_display state_name", word),
    Field("paused", "paused is_paused suspended  # GitLab runners", flag),
    Field("enabled", "enabled is_enabled is_active active online is_online", flag),
    Field(
        "pause_reason",
        """
        pause_reason                     # paperclip
        paused_reason suspend_reason status_reason {status,state}.{pause_reason,reason}
        """,
        line,
    ),
    Field(
        "model",
        """
        model model_name                 # OpenAI; OpenFang
        llm_model llm model_id language_model
        {model,llm}.{model,name,model_name,id,model_id,display_name}  # OpenFang detail
        {config,adapter_config,configuration,settings,runtime,llm_config}.{model,model_name}
        {config,adapter_config,configuration,settings,runtime,llm_config}.{model_id,llm}
        """,
        _model,
    ),
    Field(
        "provider",
        """
        model_provider                   # OpenFang
        provider llm_provider {model,llm}.{provider,vendor}
        """,
        text_only,
    ),
    Field(
        "tasks_completed",
        """
        tasks_completed completed_tasks completed_task_count tasks_done tasks_finished
        completed_tasks_count tasks_completed_count num_tasks_completed total_tasks_completed
        completed_count
        {stats,metrics,statistics,performance,counts,counters,totals}.{tasks_completed,tasks_done}
        {stats,metrics,statistics,performance,counts,counters,totals}.{completed,completed_tasks}
        {tasks,task_counts,task_stats}.{completed,done,finished}
        """,
        to_count,
    ),
    Field(
        "created",
        """
        created{,_at}{,_ts,_ms,_unix,_unix_secs,_epoch}  # most platforms; ElevenLabs
        {creation,create,created}_{time,date,timestamp} created_on date_created inserted_at
        joined_at hired_at provisioned_at
        metadata.creation_timestamp      # Kubernetes
        {profile,identity,general,basics,details,timestamps}.{created_at,created}
        """,
        to_moment,
    ),
    Field(
        "last_seen",
        """
        last_heartbeat_at                # paperclip
        last_active                      # OpenFang
        last_seen last_seen_at last_active_at last_heartbeat heartbeat_at last_activity
        last_activity_at last_run_at last_online last_ping
        {status,state,runtime,stats,metrics,timestamps}.{last_seen,last_seen_at,last_active}
        {status,state,runtime,stats,metrics,timestamps}.{last_heartbeat,last_heartbeat_at}
        """,
        to_moment,
    ),
    money_field(
        "remaining",
        """
        budget_remaining remaining_budget budget_left
        remaining_amount                 # paperclip: remainingAmountCents
        budget.{remaining,remaining_amount,left,available} {stats,metrics}.budget_remaining
        """,
    ),
    money_field(
        "limit",
        """
        budget_monthly                   # paperclip: budgetMonthlyCents
        monthly_limit monthly_budget budget_limit max_budget
        budget.{monthly_limit,limit,amount,max_budget}
        """,
    ),
    money_field(
        "spent",
        """
        spent_monthly                    # paperclip: spentMonthlyCents
        spent_this_month monthly_spend month_spend budget_spent budget_used
        budget.{monthly_spend,spent,used,spend}
        """,
    ),
    *UNIT_FIELDS,
)


def _build(row: Row, around: Around) -> Agent:
    values = row.values
    get = values.get
    agent_id = get("id") or around.key
    if agent_id is None:
        raise Unread("an agent without an id")
    status, state = _status(values)
    model, vendor = get("model"), get("provider")
    if vendor is not None and model is not None and not model.startswith(f"{vendor}/"):
        model = safe(f"{vendor}/{model}")
    elif vendor is not None and model is None:
        row.keep("provider")
    trust = get("trust")
    company = joined(get("company_id"), get("company"), get("company_name"))
    return Agent(
        id=agent_id,
        name=get("name"),
        role=get("role"),
        company=around.named(company),
        trust=trust if isinstance(trust, Decimal) else None,
        trust_word=SafeText(trust) if isinstance(trust, str) else None,
        budget_remaining=_remaining(row, around),
        status=status,
        state=state,
        pause_reason=get("pause_reason"),
        model=model,
        tasks_completed=get("tasks_completed"),
        created=get("created"),
        last_seen=get("last_seen"),
        extra=as_extra(row.left),
    )


def _status(values: Values) -> tuple[SafeText | None, AgentState | None]:
    """The word and the state; flags such as `paused` and `enabled` serve where no word does."""
    status: SafeText | None = values.get("status") or values.get("status_text")
    if status is not None and status.isdigit() and "status_text" in values:
        status = values["status_text"]
    state = agent_state(status) if status is not None else None
    paused, enabled = values.get("paused"), values.get("enabled")
    if paused is True and state not in (AgentState.STOPPED, AgentState.ERROR):
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
    most=_MOST,
)
