"""Agents and companies (SHAPES G, INTERFACE 2)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agentco_tui.api.budget_figures import read_figures
from agentco_tui.api.context import BARE, Context, Unread
from agentco_tui.api.moneys import minus
from agentco_tui.api.names import fold
from agentco_tui.api.plans import WRAPPERS, Meaning, Spec, Values
from agentco_tui.api.task_states import worded
from agentco_tui.api.units import unit_of_values, unit_rule
from agentco_tui.model.records import Agent, AgentState, Money
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.number import to_count, to_decimal
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.status import agent_state
from agentco_tui.reading.values.text import flag, line, named, text_only, word
from agentco_tui.reading.values.time import NONE, to_moment
from agentco_tui.text import SafeText, safe


def _trust(raw: Json) -> Any:
    """A score: the number as sent, or a word such as "green"; from objects the score inside."""
    if type(raw) is dict:
        for name in ("score", "value", "trust_score", "trustScore", "current", "level"):
            inner = raw.get(name)
            if inner is not None and type(inner) is not dict:
                found = _trust(inner)
                if found is not None and found is not NONE:
                    return found if len(raw) == 1 else Partial(found)
        return None
    number = to_decimal(raw)
    if number is not None:
        return number
    if type(raw) is str and raw.strip().endswith("%"):
        return to_decimal(raw.strip()[:-1])
    return text_only(raw)


def _model(raw: Json) -> Any:
    """A model's name: text, or `{"provider": …, "model": …}` as "provider/model"."""
    if type(raw) is dict:
        by_name = {fold(key): value for key, value in raw.items()}
        inner = None
        for name in ("model", "name", "modelname", "id", "modelid", "displayname"):
            if type(by_name.get(name)) is str and by_name[name].strip():
                inner = by_name[name]
                break
        if inner is None:
            return None
        vendor = by_name.get("provider") or by_name.get("vendor")
        found = safe(f"{vendor}/{inner}" if type(vendor) is str and vendor else inner)
        used = 1 + (type(vendor) is str)
        return found if sum(value is not None for value in raw.values()) <= used else Partial(found)
    if type(raw) is list and raw and type(raw[0]) is str:
        return Partial(safe(raw[0])) if len(raw) > 1 else safe(raw[0])
    return text_only(raw)


def _sum(raw: Json) -> Any:
    """A list's length or a number: how many agents a company has."""
    if type(raw) is list:
        return Partial(len(raw)) if raw else 0
    if type(raw) is dict:
        for name in ("total", "count", "all", "totalCount", "total_count"):
            found = to_count(raw.get(name))
            if found is not None:
                return found if len(raw) == 1 else Partial(found)
        return None
    return to_count(raw)


_IDS: Final = "id _id sys_id uuid urn document_id guid uid identifier url_key slug"
_CREATED: Final = """created_at created creation_time create_time inserted_at date_created
    created_on created_date creation_date joined_at hired_at created_time provisioned_at
    creation_timestamp"""
_WRAPPERS: Final = f"{WRAPPERS} data spec metadata profile"

_STATS: Final = Spec(
    (
        Meaning(
            "tasks_completed",
            """tasks_completed completed_tasks completed_task_count tasks_done done_tasks
            completed tasks_completed_count""",
            to_count,
        ),
        Meaning("trust", "trust_score trust score reputation", _trust),
        Meaning("last_seen", "last_seen last_active last_active_at last_heartbeat_at", to_moment),
    )
)
_TASK_STATS: Final = Spec(
    (Meaning("tasks_completed", "completed done finished completed_count", to_count),)
)
_CONFIG: Final = Spec((Meaning("model", "model model_name model_id llm", _model),))
_STATUS: Final = Spec(
    (
        Meaning("status", "state status phase name value", word),
        Meaning("pause_reason", "reason pause_reason message", line),
        Meaning("last_seen", "last_seen last_heartbeat heartbeat_at", to_moment),
    )
)

_RUNTIME: Final = Spec(
    (
        Meaning("model", "model model_name model_id llm", _model),
        Meaning("status", "status state phase", word),
        Meaning("last_seen", "last_seen last_seen_at last_heartbeat heartbeat_at", to_moment),
    )
)

AGENT: Final = Spec(
    (
        Meaning("id", f"id _id agent_id agent_uuid assistant_id uuid {_IDS}", to_id),
        Meaning("name", "name agent_name display_name full_name title label username", named),
        Meaning("role", "role agent_role job_title position role_name function title", named),
        Meaning(
            "company",
            "company company_ref organization organisation org workspace tenant account employer",
            to_ref,
        ),
        Meaning(
            "company_id",
            "company_id organization_id organisation_id org_id workspace_id tenant_id "
            "company_uuid account_id",
            to_ref_id,
        ),
        Meaning("company_name", "company_name organization_name org_name workspace_name "
                "tenant_name account_name", to_ref_name),
        Meaning(
            "trust", "trust_score trust trust_level reputation reputation_score trust_rating "
            "score", _trust,
        ),
        Meaning(
            "status",
            "status state agent_status current_status access_state lifecycle_state run_state "
            "phase availability", word,
        ),
        Meaning("paused", "paused is_paused suspended", flag),
        Meaning("enabled", "enabled is_enabled is_active active online is_online", flag),
        Meaning("pause_reason", "pause_reason paused_reason suspend_reason status_reason", line),
        Meaning("model", "model model_name llm_model llm model_id language_model", _model),
        Meaning("provider", "model_provider provider llm_provider", text_only),
        Meaning(
            "tasks_completed",
            """tasks_completed completed_tasks completed_task_count tasks_done tasks_finished
            completed_tasks_count tasks_completed_count num_tasks_completed total_tasks_completed
            task_completed_count completed_count""",
            to_count,
        ),
        Meaning("created", _CREATED, to_moment),
        Meaning(
            "last_seen",
            """last_seen last_seen_at last_heartbeat_at last_heartbeat heartbeat_at last_active_at
            last_active last_activity last_activity_at last_run_at last_online last_ping""",
            to_moment,
        ),
    ),
    nested={
        "stats": _STATS, "metrics": _STATS, "statistics": _STATS, "performance": _STATS,
        "counts": _STATS, "counters": _STATS, "totals": _STATS, "tasks": _TASK_STATS,
        "task_counts": _TASK_STATS, "task_stats": _TASK_STATS, "config": _CONFIG,
        "adapter_config": _CONFIG, "configuration": _CONFIG, "settings": _CONFIG,
        "runtime": _RUNTIME, "llm_config": _CONFIG, "status": _STATUS, "state": _STATUS,
    },
    wrappers=f"agent assistant {_WRAPPERS}",
    rule=unit_rule,
    kind="agent",
    others="assistant worker bot ai_agent member employee",
)  # fmt: skip


AGENT.nest("profile identity details general basics about", AGENT)


def read_agent(obj: Mapping[str, Json], context: Context = BARE, key: str | None = None) -> Agent:
    """The agent in `obj`; raises Unread without an id."""
    values: Values = {}
    left = AGENT.read(obj, values)
    agent_id = values.get("id") or key
    if agent_id is None:
        raise Unread("an agent without an id")
    if values.get("status", "").isdigit() and (told := worded(left)) is not None:
        values["status"] = told
    status, state = _agent_status(values)
    model = values.get("model")
    vendor = values.get("provider")
    if vendor is not None and model is not None and not model.startswith(f"{vendor}/"):
        model = safe(f"{vendor}/{model}")
    elif vendor is not None and model is None:
        left["provider"] = str(vendor)
    trust = values.get("trust")
    company = joined(values.get("company_id"), values.get("company"), values.get("company_name"))
    return Agent(
        id=agent_id,
        name=values.get("name"),
        role=values.get("role"),
        company=context.named(company),
        trust=trust if isinstance(trust, Decimal) else None,
        trust_word=SafeText(trust) if isinstance(trust, str) else None,
        budget_remaining=_remaining(left, values, context),
        status=status,
        state=state,
        pause_reason=values.get("pause_reason"),
        model=model,
        tasks_completed=values.get("tasks_completed"),
        created=values.get("created"),
        last_seen=values.get("last_seen"),
        extra=as_extra(left),
    )


def _agent_status(values: Values) -> tuple[SafeText | None, AgentState | None]:
    """The word and the state; flags such as `paused` and `enabled` serve where no word does."""
    status: SafeText | None = values.get("status")
    state = agent_state(status) if status is not None else None
    paused, enabled = values.get("paused"), values.get("enabled")
    if paused is True and state not in (AgentState.STOPPED, AgentState.ERROR):
        return status or safe("paused"), AgentState.PAUSED
    if status is None and enabled is not None:
        if enabled:
            return safe("enabled"), AgentState.ACTIVE
        return safe("not enabled"), AgentState.STOPPED
    return status, state


_SMALLEST_COIN: Final = Decimal("0.01")
"""No sum is owed below this: -1 in a smaller unit says "no limit" (SHAPES D "No limit")."""
_MINE: Final = frozenset(("agent",))
_BUDGET_HINTS: Final = ("budget", "remain", "limit", "spen", "cap", "balance", "used")


def _remaining(left: dict[str, Json], values: Values, context: Context) -> Money | None:
    """What remains of the agent's budget: as sent, else from limit and spent, marked."""
    if not any(hint in fold(name) for name in left for hint in _BUDGET_HINTS):
        return None
    figures = read_figures(left, unit_of_values(values, context.unit), _MINE)
    if figures.remaining is not None:
        no_limit = figures.unlimited or figures.limit_is_zero
        if figures.remaining.amount == 0 and no_limit:
            return None
        if -_SMALLEST_COIN < figures.remaining.amount < 0:
            return None
        path = dict(figures.paths)["remaining"]
        if len(path) == 1:
            del left[path[0]]
        return figures.remaining
    if figures.limit is None or figures.spent is None or figures.limit_is_zero:
        return None
    return minus(figures.limit, figures.spent)
