"""Entries of the activity log."""

from __future__ import annotations

from typing import Any, Final

from agentco_tui.model import Activity, Ref, Severity
from agentco_tui.reading.field_names import word_set
from agentco_tui.reading.json_access import Json, get_field
from agentco_tui.reading.kinds.common_fields import content_id, record, ref_of, references
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, UnreadableRecord
from agentco_tui.reading.values.reference import COMPANY, joined, to_id, to_ref, to_ref_name
from agentco_tui.reading.values.scalar import text_only, word
from agentco_tui.reading.values.status_word import fold_word, severity, verb_severity
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, safe


def _outcome(raw: Json) -> Any:
    if type(raw) is bool:
        return safe("ok" if raw else "failed")
    return word(raw) if type(raw) is str else None


_AGENT: Final = "agent ai_agent bot assistant worker employee"
FIELDS: Final = (
    Field("id", """
        id {activity,event,log,entry,audit}_id  # paperclip, OpenFang, Auth0
        seq sequence _id {_,}document_id # LibreFang, MongoDB, GitHub audit
        uuid guid gid insert_id          # Okta, Asana, Google Cloud logging
        event.id metadata.uid            # Kubernetes events
        id.unique_qualifier              # Google Workspace
        """, to_id),
    Field("at", """
        occurred_at event_{time,timestamp} happened_at  # paperclip costs
        effective_at timestamp time at   # OpenAI audit logs; GitHub audit, OpenFang, Posit
        published created_at created{,_ts,_ms,_unix}  # Okta; paperclip, Stripe
        activity_date_time id.time       # Microsoft Graph, Google Workspace
        recorded_at logged_at logged date datetime when ts
        sys_created_on {receive,last,first}_timestamp  # ServiceNow, Google Cloud, Kubernetes
        """, to_moment),
    Field("text", """
        message text display_message     # Langfuse, most; Okta
        {,event_}description summary detail{s,}  # Auth0, PagerDuty; OpenFang, LibreFang
        comment_excerpt content body msg title headline note comment  # paperclip
        text_payload {event,log,human}_message short_{description,message}  # Google Cloud logging
        {message,content,body}.{text,string_value}
        {json_payload,data,payload}.{message,msg,text}
        activity
        """, text_only),
    Field("verb", """
        action verb event_type event     # paperclip, GitHub, LibreFang; OpenFang, Okta
        operation {activity,action}_type event_name
        type                             # OpenAI audit logs, Stripe events
        """, word),
    Field("verb", "events[0].name # Google Workspace", word, path=("events", 0, "name")),
    Field("verb", "kind event.{action,type,name} activity", word),
    *references("agent", _AGENT),
    *references("actor", "actor user performed_by initiator author principal responsible_user",
                more="by who triggered_by decided_by created_by",
                id_names="user_guid  # GitHub, OpenAI, Okta; paperclip"),
    Field("actor_name", "username", to_ref_name),
    Field("actor_type", """
        {actor,principal}_type actor_kind  # paperclip
        {actor,performed_by,by,initiator,author,principal}.{type,kind}
        """, word),
    *references("company", COMPANY),
    *references("task", "task issue job", id_names="issue_identifier  # paperclip"),
    Field("task_name", "{task,issue}_title  # paperclip", to_ref_name),
    *references("target", "target object resource entity subject", more="# paperclip, Workday"),
    Field("target_type", "{target,object,resource,entity,subject}{_type,.type,.kind}  # paperclip",
          word),
    Field("severity", """
        severity level log_level severity_text  # Google Cloud logging, paperclip, OpenTelemetry
        importance sev lvl log.{level,severity}
        """, word),
    Field("outcome", "outcome outcome.result status result success ok event.outcome  # LibreFang",
          _outcome),
)  # fmt: skip

_AGENTS: Final = word_set(_AGENT)
_TASKS: Final = word_set("task issue job todo")
_COMPANIES: Final = word_set(COMPANY)


def _build(row: Row, context: DecodeContext) -> Activity:
    values = row.values
    told_id = values.get("id") or context.key
    if told_id is None and not values:
        raise UnreadableRecord("an entry of which no field is known")
    verb: SafeText | None = values.get("verb")
    if verb is not None:
        _read_under_the_verb(row, verb)
    agent, actor, company, task, target = (
        ref_of(values, slot, context) for slot in ("agent", "actor", "company", "task", "target")
    )
    actor_type = fold_word(values.get("actor_type") or "")
    is_same = actor is not None and agent is not None and (
        actor.id == agent.id is not None or actor.name == agent.name is not None
    )  # fmt: skip
    is_other = agent is not None and actor is not None and None not in (agent.id, actor.id)
    if actor is not None and (is_same or (actor_type in _AGENTS and not is_other)):
        agent, actor = joined(agent, actor), None
    elif actor is None and actor_type and agent is None:
        actor = Ref(None, values["actor_type"])
    target_type = fold_word(values.get("target_type") or "")
    if target is not None:
        if target_type in _TASKS:
            task, target = joined(task, target), None
        elif target_type in _COMPANIES and company is None:
            company = target
        elif target_type in _AGENTS and agent is None and actor is not None:
            agent = target
    level = severity(values.get("severity", ""))
    is_derived = level is Severity.UNKNOWN
    if is_derived:
        level = verb_severity(verb or "", values.get("outcome", ""))
    return record(
        Activity, row, context,
        id=told_id if told_id is not None else content_id("entry", row.obj),
        id_derived=told_id is None,
        severity=level,
        severity_derived=is_derived and level is not Severity.UNKNOWN,
        agent=agent,
        actor=actor,
        company=company,
        task=task,
        target=target,
    )  # fmt: skip


def _read_under_the_verb(row: Row, verb: str) -> None:
    """What stands under a key equal to the verb: OpenAI's `"project.archived": {"id": …}`."""
    inner = row.unread.get(verb)
    if type(inner) is not dict:
        return
    words = get_field(inner, "message") or get_field(inner, "text")
    if type(words) is str and words.strip():
        row.values.setdefault("text", safe(words))
    if not row.values.keys().isdisjoint(("task", "task_id", "target", "target_id")):
        return
    found = to_ref(inner)
    found = found.value if type(found) is Incomplete else found
    if isinstance(found, Ref):
        kind = fold_word(verb).replace(".", "_").partition("_")[0]
        row.values["task" if kind in _TASKS else "target"] = found


ACTIVITY: Final[Kind[Activity]] = Kind(
    "activity",
    noun="activity entries",
    own="activity activities activity_log activity_logs activity_entries entries logs events",
    also="audit_logs audit_log audit_log_entries log_entries feed history timeline",
    fields=FIELDS,
    build=_build,
    nameless="an entry of which no field is known",
    most=20_000,
)
