"""Entries of the activity log: the names of their fields, and how an `Activity` is built.

Platforms are the remote services, each with companies of AI agents, that this program can watch.
`ACTIVITY` is the description by which entries are read. In `FIELDS`, each `Field(slot, names,
reader)` lists the names under which platforms send one of our fields (its *slot*), best first, and
the function that reads a raw value; after `#` come the platforms that use the names. `_build` makes
an `Activity` of a `Row`, the values of one object by slot.

An entry may name an *agent*, an *actor* who did it (a person, or the agent again), and a *target*
that it was done to. These are sorted out by the types that the entry gives them.
"""

from __future__ import annotations

from typing import Any, Final

from agentco_tui.model import Activity, Ref, Severity
from agentco_tui.reading.field_names import word_set
from agentco_tui.reading.json_access import Json, get_field
from agentco_tui.reading.kinds.common_fields import (
    content_id,
    make_record,
    ref_of,
    reference_fields,
)
from agentco_tui.reading.name_index import Field

# Incomplete: a value that was read from a raw value that holds more.
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, UnreadableRecord
from agentco_tui.reading.values.reference import (
    COMPANY,
    join_refs,
    to_id,
    to_key,
    to_ref,
    to_ref_name,
)
from agentco_tui.reading.values.scalar import to_text_only, to_word
from agentco_tui.reading.values.status_word import severity, snake_case, verb_severity
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, clean_line, mark_safe


def _outcome(raw: Json) -> Any:
    """The word for how it ended, also of a flag such as `success`."""
    if raw is True:
        return mark_safe("ok")
    if raw is False:
        return mark_safe("failed")
    if type(raw) is str:
        return to_word(raw)
    return None


_AGENT: Final = "agent ai_agent bot assistant worker employee"
"""What platforms call an agent."""
# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
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
        """, to_text_only),
    Field("verb", """
        action verb event_type event     # paperclip, GitHub, LibreFang; OpenFang, Okta
        operation {activity,action}_type event_name
        type                             # OpenAI audit logs, Stripe events
        """, to_word),
    Field("verb", "events[0].name # Google Workspace", to_word, path=("events", 0, "name")),
    Field("verb", "kind event.{action,type,name} activity", to_word),
    # The fields of a reference: `agent`, `agent_id`, `agent_name`. `more`: other names of `agent`.
    *reference_fields("agent", _AGENT),
    *reference_fields(
        "actor", "actor user performed_by initiator author principal responsible_user",
        more="by who triggered_by decided_by created_by",
        id_names="user_guid  # GitHub, OpenAI, Okta; paperclip",
    ),
    Field("actor_name", "username", to_ref_name),
    Field("actor_type", """
        {actor,principal}_type actor_kind  # paperclip
        {actor,performed_by,by,initiator,author,principal}.{type,kind}
        """, to_word),
    *reference_fields("company", COMPANY),
    *reference_fields("task", "task issue job"),
    Field("task_name", "{task,issue}_title details.{task,issue}_title  # paperclip", to_ref_name),
    Field("task_key", "issue_identifier details.issue_identifier  # paperclip", to_key),
    Field("target_key", "details.identifier # paperclip", to_key),
    Field("target_title", "details.title # paperclip", to_text_only),
    *reference_fields(
        "target", "target object resource entity subject", more="# paperclip, Workday"
    ),
    Field("target_type", "{target,object,resource,entity,subject}{_type,.type,.kind}  # paperclip",
          to_word),
    Field("severity", """
        severity level log_level severity_text  # Google Cloud logging, paperclip, OpenTelemetry
        importance sev lvl log.{level,severity}
        """, to_word),
    Field("outcome", "outcome outcome.result status result success ok event.outcome  # LibreFang",
          _outcome),
)  # fmt: skip

# The types of an actor or a target that mean an agent, a task or a company.
_AGENTS: Final = word_set(_AGENT)
_TASKS: Final = word_set("task issue job todo")
_COMPANIES: Final = word_set(COMPANY)
_OF_TARGET: Final = ("target_key", "target_title")
"""Slots of details that are read only if they describe the task that an entry is about."""
_LONGEST_KEY: Final = 60
"""Cells of the terminal to which a task's key is cut."""


def _build(row: Row, context: DecodeContext) -> Activity:
    """The entry in a row; raises UnreadableRecord if no field of it is known."""
    values = row.values
    # context.key: the key of the record if the answer has a map of records, not a list
    entry_id = values.get("id") or context.key
    is_id_derived = entry_id is None
    if is_id_derived and not values:
        raise UnreadableRecord("an entry of which no field is known")
    verb: SafeText | None = values.get("verb")
    if verb is not None:
        _read_below_verb(row, verb)
    agent, actor, company, task, target = (
        ref_of(values, slot, context) for slot in ("agent", "actor", "company", "task", "target")
    )
    actor_type = snake_case(values.get("actor_type") or "")
    if actor is not None and _is_the_agent(actor, actor_type, agent):
        agent = join_refs(agent, actor)
        actor = None
    elif actor is None and actor_type and agent is None:
        actor = Ref(None, values["actor_type"])
    target_type = snake_case(values.get("target_type") or "")
    key: str | None = values.get("task_key")
    if target is not None:
        if target_type in _TASKS:
            task = join_refs(task, target, _title_in_details(row))
            target = None
            key = key or values.get("target_key")
        elif target_type in _COMPANIES and company is None:
            company = target
        elif target_type in _AGENTS and agent is None and actor is not None:
            agent = target
    if key is not None and (task is None or task.id is None):
        task = join_refs(task, Ref(key, None))
    is_task_described = target_type in _TASKS and "target_key" in values
    if not is_task_described:
        for slot in _OF_TARGET:
            if slot in values:
                row.mark_unread(slot)  # shown as it was sent
    level = severity(values.get("severity", ""))
    is_derived = level is Severity.UNKNOWN
    if is_derived:
        level = verb_severity(verb or "", values.get("outcome", ""))
    if is_id_derived:
        entry_id = content_id("entry", row.obj)
    return make_record(
        Activity, row, context,
        id=entry_id,
        id_derived=is_id_derived,
        severity=level,
        severity_derived=is_derived and level is not Severity.UNKNOWN,
        agent=agent,
        actor=actor,
        company=company,
        task=task,
        task_key=clean_line(key, _LONGEST_KEY) if key is not None else None,
        target=target,
    )  # fmt: skip


def _title_in_details(row: Row) -> Ref | None:
    """The title of the task that an entry is about, by its details; None without its key there.

    A title alone may be that of anything else that the entry tells.
    """
    title: SafeText | None = row.values.get("target_title")
    if title is None or "target_key" not in row.values:
        return None
    return Ref(None, title)


def _is_the_agent(actor: Ref, actor_type: str, agent: Ref | None) -> bool:
    """Whether the actor of an entry is its agent, by id or name, or by the actor's type.

    An actor that is called an agent is not the entry's agent if both have ids, which then differ.
    """
    if agent is None:
        return actor_type in _AGENTS
    has_same_id = agent.id is not None and actor.id == agent.id
    has_same_name = agent.name is not None and actor.name == agent.name
    if has_same_id or has_same_name:
        return True
    both_have_ids = agent.id is not None and actor.id is not None
    return actor_type in _AGENTS and not both_have_ids


def _read_below_verb(row: Row, verb: str) -> None:
    """Add the text and target under a key equal to the verb: `"project.archived": {"id": …}`.

    OpenAI's audit log sends them so.
    """
    # row.unread: the fields that no Field of the table has read, by key
    inner = row.unread.get(verb)
    if type(inner) is not dict:
        return
    words = get_field(inner, "message") or get_field(inner, "text")
    if type(words) is str and words.strip():
        row.values.setdefault("text", clean_line(words))
    if not row.values.keys().isdisjoint(("task", "task_id", "target", "target_id")):
        return
    ref = to_ref(inner)
    if type(ref) is Incomplete:
        ref = ref.value
    if not isinstance(ref, Ref):
        return
    subject = snake_case(verb).replace(".", "_").partition("_")[0]
    slot = "target"
    if subject in _TASKS:
        slot = "task"
    row.values[slot] = ref


ACTIVITY: Final[Kind[Activity]] = Kind(
    "activity",
    noun="activity entries",
    list_keys="activity activities activity_log activity_logs activity_entries entries logs events",
    fallback_list_keys="audit_logs audit_log audit_log_entries log_entries feed history timeline",
    fields=FIELDS,
    build=_build,
    unreadable_reason="an entry of which no field is known",
    max_rows=20_000,
)
