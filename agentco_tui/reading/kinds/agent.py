"""Agents of a company: the names of their fields, and how an `Agent` is built.

Platforms are the remote services that this program can watch. `AGENTS` is the description by which
AI agents are read. In `FIELDS`, each `Field(slot, names, reader)` lists the names under which
platforms send one of our fields (its *slot*), best first, and the function that reads a raw value;
after `#` come the platforms that use the names. `_build` makes an `Agent` of a `Row`, the values of
one object by slot; `DecodeContext` is what the rest of the answer says about it, such as a unit of
sums.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Agent, AgentState, Money
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.common_fields import (
    CREATED,
    id_field,
    make_record,
    ref_of,
    reference_fields,
)
from agentco_tui.reading.name_index import Field

# Incomplete: a value that was read from a raw value that holds more.
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, Values
from agentco_tui.reading.values.money import (
    UNIT_FIELDS,
    declared_unit,
    minus,
    money_field,
    to_money,
)
from agentco_tui.reading.values.reference import COMPANY, to_ref_name
from agentco_tui.reading.values.scalar import (
    to_count,
    to_decimal,
    to_flag,
    to_name,
    to_text_only,
    to_word,
)
from agentco_tui.reading.values.status_word import agent_state
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, clean_line, mark_safe

_SMALLEST_COIN: Final = Decimal("0.01")
"""No sum is owed below this: -1 in a smaller unit says "no limit"."""


def _trust(raw: Json) -> Any:
    """A score: the number as sent, also of "85 %", or a word such as "green"."""
    digits = raw
    if type(raw) is str:
        digits = raw.strip().removesuffix("%")
    number = to_decimal(digits)
    if number is None:
        return to_text_only(raw)
    return number


def _model(raw: Json) -> Any:
    """A model's name; of a list of them the first, which is Incomplete if there are others."""
    if type(raw) is not list or not raw or type(raw[0]) is not str:
        return to_text_only(raw)
    first = clean_line(raw[0])
    if len(raw) > 1:
        return Incomplete(first)
    return first


_SEEN: Final = "last_{heartbeat,active,seen,activity}"
"""Names of the time when an agent was last active."""
# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
FIELDS: Final = (
    id_field("agent_id  # paperclip; OpenFang on create, ElevenLabs",
             "agent_uuid assistant_id bot_id s_id  # LangGraph, Copilot Studio, Dust"),
    Field("name", """
        display_name name agent_name     # Google, Azure, BambooHR; most platforms
        full_name label username title metadata.name  # Kubernetes
        descriptor                       # Workday
        """, to_name),
    Field("role", """
        role agent_role role_name        # paperclip
        job_title position function title  # BambooHR
        business_title                   # Workday
        """, to_name),
    *reference_fields("company", f"{COMPANY} employer"),
    Field("trust", """
        trust_score trust trust_{level,rating} reputation{,_score} score
        {trust,trust_score,reputation}.{score,value,current,level}
        {stats,metrics,performance}.{trust_score,trust,score,reputation}
        """, _trust),
    Field("status", """
        status state access_state        # paperclip; OpenFang; Box AI agents
        agent_status current_status lifecycle_state run_state phase availability
        {status,state}.{state,status,phase,name,value,code} runtime.{status,state}
        connection_state                 # Buildkite agents
        """, to_word),
    Field("status_text", "status_{name,label,text,display} state_name", to_word),
    Field("paused", "{is_,}paused suspended  # GitLab runners", to_flag),
    Field("enabled", "{is_,}{enabled,active,online}", to_flag),
    Field("pause_reason", """
        pause{,d}_reason {suspend,status}_reason {status,state}.{pause_reason,reason}  # paperclip
        """, to_text_only),
    Field("error_reason", """
        error_{reason,message} last_error{,_message}  # paperclip
        {status,state}.{error,error_message}
        """, to_text_only),
    # No bare `manager`: in a map of agents by their names, that is one of them.
    *reference_fields(
        "reports_to",
        "reports_to {line,reporting}_manager manager_agent parent_agent",  # paperclip, HR systems
        id_names="{manager,supervisor}_id",
    ),
    Field("reports_to_name", "{manager,supervisor}_name", to_ref_name),
    Field("model", """
        model{,_name,_id} llm{,_model} language_model  # OpenAI; OpenFang
        {model,llm}.{model,name,model_name,id,model_id,display_name}  # OpenFang detail
        {config,adapter_config,settings,runtime,llm_config}.{model,model_name,model_id,llm}
        """, _model),
    Field("provider", "{model_,llm_,}provider {model,llm}.{provider,vendor}  # OpenFang",
          to_text_only),
    Field("tasks_completed", """
        {,stats.,metrics.,performance.}{tasks_{completed,done,finished},completed_tasks}
        completed_{task_,tasks_,}count {num_,total_}tasks_completed tasks_completed_count
        {stats,metrics,performance,tasks,task_counts,task_stats}.completed
        """, to_count),
    CREATED,
    Field("last_seen", f"""
        last_{{heartbeat,active}}_at last_active  # paperclip, OpenFang
        {_SEEN}{{,_at}} heartbeat_at last_run_at last_online last_ping
        {{status,state,runtime,stats,metrics}}.{_SEEN}{{,_at}}
        last_heartbeat_time last_login_at last_activity_time  # Kubernetes, Okta, Azure
        """, to_moment),
    money_field("remaining", """
        budget_remaining remaining_{budget,amount} budget_left  # paperclip: remainingAmountCents
        budget.{remaining,remaining_amount,left} {stats,metrics}.budget_remaining
        """),
    money_field("limit", """
        budget_monthly monthly_{limit,budget} budget_limit max_budget  # paperclip
        budget.{monthly_limit,limit,amount,max_budget}
        """),
    money_field("spent", """
        spent_monthly spent_this_month month{ly,}_spend budget_{spent,used}  # paperclip
        budget.{monthly_spend,spent,used,spend}
        """),
    *UNIT_FIELDS,
)  # fmt: skip


def _build(row: Row, context: DecodeContext) -> Agent:
    """The agent in a row of an answer; raises UnreadableRecord if it has no id."""
    values = row.values
    status, state = _status_and_state(values)
    model: SafeText | None = values.get("model")
    vendor: SafeText | None = values.get("provider")
    if vendor is not None and model is None:
        row.mark_unread("provider")
    elif vendor is not None and model is not None and not model.startswith(f"{vendor}/"):
        model = clean_line(f"{vendor}/{model}")
    score: Decimal | None = None
    score_in_words: SafeText | None = None
    trust = values.get("trust")
    if isinstance(trust, str):
        score_in_words = SafeText(trust)
    else:
        score = trust
    return make_record(
        Agent, row, context,
        company=ref_of(values, "company", context),
        reports_to=ref_of(values, "reports_to", context),
        trust=score,
        trust_word=score_in_words,
        budget_remaining=_remaining(row, context),
        status=status,
        state=state,
        model=model,
    )  # fmt: skip


def _status_and_state(values: Values) -> tuple[SafeText | None, AgentState | None]:
    """The status word and the state that it means; from flags if there is no word.

    A flag that the agent is paused counts even beside a status word such as "active".
    """
    status: SafeText | None = values.get("status") or values.get("status_text")
    if status is not None and status.isdigit() and "status_text" in values:
        status = values["status_text"]
    state: AgentState | None = None
    if status is not None:
        state = agent_state(status)
    if values.get("paused") is True and state not in (AgentState.STOPPED, AgentState.ERROR):
        return status or mark_safe("paused"), AgentState.PAUSED
    if status is None and values.get("enabled") is True:
        return mark_safe("enabled"), AgentState.ACTIVE
    if status is None and values.get("enabled") is False:
        return mark_safe("not enabled"), AgentState.STOPPED
    return status, state


def _remaining(row: Row, context: DecodeContext) -> Money | None:
    """What remains of the agent's budget: as sent, else limit less spent, marked as derived."""
    unit = declared_unit(row.values, context.unit)
    limit, spent, remaining = (
        to_money(row.values.get(slot), unit) for slot in ("limit", "spent", "remaining")
    )
    for slot in ("limit", "spent"):
        if slot in row.values:
            row.mark_unread(slot)
    # A limit of 0 says that there is none; what remains of it says nothing.
    no_limit = limit is not None and limit.amount == 0
    if remaining is None:
        if limit is None or spent is None or no_limit:
            return None
        return minus(limit, spent)
    if -_SMALLEST_COIN < remaining.amount < 0 or (remaining.amount == 0 and no_limit):
        return None
    return remaining


AGENTS: Final[Kind[Agent]] = Kind(
    "agent",
    noun="agents",
    list_keys="agents agent agent_list ai_agents",
    fallback_list_keys="assistants workers bots members employees staff team workforce roster crew",
    fields=FIELDS,
    build=_build,
    needs_one_of="id",
    unreadable_reason="an agent without an id",
    max_rows=50_000,
)
