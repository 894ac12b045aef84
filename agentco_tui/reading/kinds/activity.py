"""Entries of the activity log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentco_tui.model import Activity, Ref, Severity
from agentco_tui.reading import fallback
from agentco_tui.reading.schema import (
    Around,
    Field,
    Json,
    Kind,
    Partial,
    Row,
    Unread,
    Values,
    under,
)
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.plain_text import text_only, word
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.status_word import fold_word, outcome_is_bad, severity
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, safe

_MOST: Final = 20_000


def _outcome(raw: Json) -> Any:
    if type(raw) is bool:
        return safe("ok" if raw else "failed")
    return word(raw) if type(raw) is str else None


FIELDS: Final = (
    Field(
        "id",
        """
        id activity_id event_id          # paperclip, OpenFang
        log_id                           # Auth0
        seq sequence                     # LibreFang
        _id _document_id uuid guid       # MongoDB, GitHub audit, Okta
        insert_id                        # Google Cloud logging
        entry_id audit_id document_id event.id
        metadata.uid                     # Kubernetes events
        """,
        to_id,
    ),
    Field(
        "at",
        """
        occurred_at                      # paperclip costs
        event_time event_timestamp happened_at
        effective_at                     # OpenAI audit logs
        @timestamp                       # GitHub audit
        timestamp time at                # OpenFang, Langfuse, Posit
        published                        # Okta
        created_at created{,_ts,_ms,_unix}  # paperclip, Stripe
        recorded_at logged_at logged date datetime when ts
        sys_created_on                   # ServiceNow
        receive_timestamp                # Google Cloud logging
        last_timestamp first_timestamp   # Kubernetes events
        """,
        to_moment,
    ),
    Field(
        "text",
        """
        message text                     # Langfuse, most
        display_message                  # Okta
        description event_description summary  # Auth0, PagerDuty
        details detail                   # OpenFang, LibreFang
        comment_excerpt                  # paperclip
        content body msg title headline note comment human_readable sentence
        text_payload                     # Google Cloud logging
        event_message log_message human_message short_description short_message
        {message,content,body}.{text,string_value}
        {json_payload,data,payload}.{message,msg,text}
        activity
        """,
        text_only,
    ),
    Field(
        "verb",
        """
        action                           # paperclip, GitHub, LibreFang
        verb event_type                  # OpenFang, Okta
        event operation activity_type action_type event_name
        type                             # OpenAI audit logs, Stripe events
        kind event.{action,type,name} what activity
        """,
        word,
    ),
    Field("agent", "agent agent_ref ai_agent bot assistant worker employee", to_ref),
    Field("agent_id", "agent_id agent_uuid assistant_id worker_id bot_id employee_id", to_ref_id),
    Field("agent_name", "agent_name assistant_name worker_name bot_name employee_name",
          to_ref_name),
    Field(
        "actor",
        """
        actor                            # GitHub, OpenAI, Okta
        user performed_by by initiator author who principal triggered_by
        decided_by created_by responsible_user
        """,
        to_ref,
    ),
    Field("actor_id", "actor_id user_id user_guid responsible_user_id principal_id  # paperclip",
          to_ref_id),
    Field("actor_name", "actor_name user_name username user_display_name", to_ref_name),
    Field("actor_type", "actor_type actor_kind principal_type  # paperclip", word),
    Field("actor_type", "{actor,performed_by,by,initiator,author,principal}.{type,kind}", word),
    Field("company", "company organization organisation org workspace tenant", to_ref),
    Field(
        "company_id",
        "company_id organization_id organisation_id org_id workspace_id tenant_id  # paperclip",
        to_ref_id,
    ),
    Field(
        "company_name",
        "company_name organization_name org_name workspace_name tenant_name account_name",
        to_ref_name,
    ),
    Field("task", "task task_ref issue job", to_ref),
    Field("task_id", "task_id issue_id job_id task_uuid issue_identifier  # paperclip", to_ref_id),
    Field("task_name", "task_title task_name issue_title  # paperclip", to_ref_name),
    Field("target", "target object resource entity subject  # Workday", to_ref),
    Field(
        "target_type",
        """
        entity_type                      # paperclip
        resource_type target_type object_type subject_type
        {target,object,resource,entity,subject}.{type,kind}
        """,
        word,
    ),
    Field("target_id", "entity_id resource_id target_id object_id subject_id  # paperclip",
          to_ref_id),
    Field("target_name", "entity_name resource_name target_name object_name subject_name",
          to_ref_name),
    Field(
        "severity",
        """
        severity level log_level         # Google Cloud logging, paperclip, Langfuse
        severity_text                    # OpenTelemetry
        importance sev lvl log.{level,severity}
        """,
        word,
    ),
    Field("outcome", "outcome outcome.result status result success ok event.outcome  # LibreFang",
          _outcome),
)  # fmt: skip

_AGENTS: Final = frozenset(("agent", "assistant", "worker", "bot", "ai_agent", "employee"))
_TASKS: Final = frozenset(("task", "issue", "job", "todo"))
_COMPANIES: Final = frozenset(
    ("company", "organization", "organisation", "org", "workspace", "tenant", "account")
)


def _build(row: Row, around: Around) -> Activity:
    values = row.values
    get = values.get
    told_id = get("id") or around.key
    if told_id is None and not values:
        raise Unread("an entry of which no field is known")
    verb: SafeText | None = get("verb")
    outcome: SafeText | None = get("outcome")
    if verb is not None:
        _read_under_the_verb(row, verb)
    agent, actor, company, task, target = _parties(values)
    if around.names:
        agent, company = around.named(agent), around.named(company)
        task, target, actor = around.named(task), around.named(target), around.named(actor)
    text: SafeText | None = get("text")
    if text is None:
        who = fallback.called(actor) if actor is not None else fallback.called(agent)
        text = fallback.activity(who, verb, _object(values, task, target, agent, who), outcome)
    return Activity(
        id=told_id if told_id is not None else fallback.content_id("entry", row.obj),
        id_derived=told_id is None,
        at=get("at"),
        text=text or safe("an entry without words"),
        verb=verb,
        agent=agent,
        actor=actor,
        company=company,
        task=task,
        severity=_severity(values, outcome),
        outcome=outcome,
        extra=as_extra(row.left),
    )


def _parties(
    values: Values,
) -> tuple[Ref | None, Ref | None, Ref | None, Ref | None, Ref | None]:
    """Agent, other actor, company, task and other target."""
    get = values.get
    agent = joined(get("agent_id"), get("agent"), get("agent_name"))
    actor = joined(get("actor_id"), get("actor"), get("actor_name"))
    company = joined(get("company_id"), get("company"), get("company_name"))
    task = joined(get("task_id"), get("task"), get("task_name"))
    target = joined(get("target_id"), get("target"), get("target_name"))
    actor_type = fold_word(get("actor_type") or "")
    if actor is not None and (actor_type in _AGENTS or _same(actor, agent)):
        agent, actor = joined(agent, actor), None
    elif actor is None and actor_type and agent is None:
        actor = Ref(None, values["actor_type"])
    target_type = fold_word(get("target_type") or "")
    if target is not None and target_type:
        if target_type in _TASKS:
            task, target = joined(task, target), None
        elif target_type in _COMPANIES and company is None:
            company = target
        elif target_type in _AGENTS and agent is None and actor is not None:
            agent = target
    return agent, actor, company, task, target


def _same(one: Ref, other: Ref | None) -> bool:
    if other is None:
        return False
    return (one.id is not None and one.id == other.id) or (
        one.name is not None and one.name == other.name
    )


def _object(
    values: Values, task: Ref | None, target: Ref | None, agent: Ref | None, who: str | None
) -> str | None:
    """What the sentence ends in: the target with its kind, if it isn't the actor again."""
    if target is not None:
        kind = fallback.phrase(values["target_type"]) if "target_type" in values else ""
        return f"{kind} {fallback.called(target) or ''}".strip()
    if task is not None:
        return f"task {fallback.called(task)}"
    name_of_agent = fallback.called(agent)
    return name_of_agent if name_of_agent != who else None


def _read_under_the_verb(row: Row, verb: str) -> None:
    """What stands under a key equal to the verb: OpenAI's `"project.archived": {"id": …}`."""
    inner = row.left.get(verb)
    if not isinstance(inner, Mapping):
        return
    words = under(inner, "message") or under(inner, "text")
    if type(words) is str and words.strip():
        row.values.setdefault("text", safe(words))
    if not row.values.keys().isdisjoint(("task", "task_id", "target", "target_id")):
        return
    found = to_ref(inner)
    found = found.value if type(found) is Partial else found
    if isinstance(found, Ref):
        kind = fold_word(verb).replace(".", "_").partition("_")[0]
        row.values["task" if kind in _TASKS else "target"] = found


def _severity(values: Values, outcome: SafeText | None) -> Severity:
    told = values.get("severity")
    if told is not None and (found := severity(told)) is not Severity.UNKNOWN:
        return found
    if outcome is not None and outcome_is_bad(outcome):
        return Severity.WARNING
    return Severity.UNKNOWN


ACTIVITY: Final[Kind[Activity]] = Kind(
    "activity",
    noun="activity entries",
    own="activity activities activity_log activity_logs activity_entries entries logs events",
    also="audit_logs audit_log log_entries feed history timeline",
    fields=FIELDS,
    build=_build,
    nameless="an entry of which no field is known",
    most=_MOST,
)
