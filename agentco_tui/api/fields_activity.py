"""Entries of the activity log (SHAPES E)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentco_tui.api.context import BARE, Context, Unread
from agentco_tui.api.names import fold, word_set
from agentco_tui.api.plans import WRAPPERS, Meaning, Spec, Values
from agentco_tui.model.records import Activity, Ref, Severity
from agentco_tui.reading import fallback as sentences
from agentco_tui.reading.fallback import content_id
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.status import fold_word, outcome_is_bad, severity
from agentco_tui.reading.values.text import text_only, word
from agentco_tui.reading.values.time import NONE, to_moment
from agentco_tui.text import SafeText, safe


def _outcome(raw: Json) -> Any:
    if type(raw) is bool:
        return safe("ok" if raw else "failed")
    return word(raw) if type(raw) is str else None


def _said(raw: Json) -> Any:
    """A text, or the text inside `{"text": "…"}`."""
    if type(raw) is dict and len(raw) <= 3:
        inner = next((raw[name] for name in ("text", "message") if type(raw.get(name)) is str), "")
        return (text_only(inner) if len(raw) == 1 else Partial(text_only(inner))) if inner else None
    return text_only(raw)


def _type_inside(raw: Json) -> Any:
    """`{"type": "agent", "id": …}`: what kind of actor it is."""
    raw = raw[0] if type(raw) is list and len(raw) == 1 else raw
    told = raw.get("type", raw.get("Type", raw.get("kind"))) if type(raw) is dict else None
    return word(told) if type(told) is str else NONE


_SAID: Final = Spec((Meaning("text", "message msg text", text_only),))
_LOG: Final = Spec((Meaning("severity", "level severity", word),))
_EVENT: Final = Spec(
    (
        Meaning("id", "id", to_id),
        Meaning("verb", "action type name", word),
        Meaning("outcome", "outcome", _outcome),
    )
)

ACTIVITY: Final = Spec(
    (
        Meaning(
            "id",
            """id _id activity_id event_id log_id entry_id seq uuid document_id guid sequence
            _document_id audit_id insert_id""",
            to_id,
        ),
        Meaning(
            "at",
            """created_at timestamp time at occurred_at @timestamp effective_at recorded_at
            logged_at date datetime event_time sys_created_on created ts event_timestamp
            happened_at logged when epoch unix_time published receive_timestamp""",
            to_moment,
        ),
        Meaning(
            "text",
            """message text description event_description summary details detail comment_excerpt
            content body msg title headline activity note comment human_readable sentence
            text_payload display_message event_message log_message human_message short_description
            short_message
            """,
            _said,
        ),
        Meaning(
            "verb",
            "action verb event_type event operation activity_type action_type kind type "
            "event_name activity what",
            word,
        ),
        Meaning("agent", "agent agent_ref assistant worker bot ai_agent employee", to_ref),
        Meaning("agent_id", "agent_id agent_uuid assistant_id worker_id bot_id employee_id",
                to_ref_id),
        Meaning("agent_name", "agent_name assistant_name worker_name bot_name employee_name",
                to_ref_name),
        Meaning(
            "actor",
            "actor user performed_by by initiator author who principal decided_by created_by "
            "triggered_by responsible_user",
            to_ref,
        ),
        Meaning("actor_id", "actor_id user_id user_guid responsible_user_id principal_id",
                to_ref_id),
        Meaning("actor_name", "actor_name user_name username user_display_name", to_ref_name),
        Meaning(
            "actor_kind", "actor performed_by by initiator author who principal triggered_by",
            _type_inside,
        ),
        Meaning("actor_type", "actor_type actor_kind principal_type", word),
        Meaning("company", "company organization organisation org workspace tenant", to_ref),
        Meaning(
            "company_id", "company_id organization_id organisation_id org_id workspace_id "
            "tenant_id", to_ref_id,
        ),
        Meaning("company_name", "company_name organization_name org_name workspace_name "
                "tenant_name account_name", to_ref_name),
        Meaning("task", "task task_ref issue job", to_ref),
        Meaning("task_id", "task_id issue_id job_id task_uuid issue_identifier", to_ref_id),
        Meaning("task_name", "task_title task_name issue_title", to_ref_name),
        Meaning("target", "target object resource entity subject", to_ref),
        Meaning("target_kind", "target object resource entity subject", _type_inside),
        Meaning("target_type", "entity_type resource_type target_type object_type subject_type",
                word),
        Meaning("target_id", "entity_id resource_id target_id object_id subject_id", to_ref_id),
        Meaning("target_name", "entity_name resource_name target_name object_name subject_name",
                to_ref_name),
        Meaning("severity", "severity level log_level importance sev lvl", word),
        Meaning("outcome", "outcome status result success ok", _outcome),
    ),
    nested={
        "event": _EVENT, "log": _LOG, "json_payload": _SAID, "data": _SAID, "payload": _SAID,
    },
    wrappers=f"activity entry event log {WRAPPERS}",
    kind="activity event entry log audit",
)  # fmt: skip

_AGENTS: Final = frozenset(("agent", "assistant", "worker", "bot", "ai_agent", "employee"))
_TASKS: Final = frozenset(("task", "issue", "job", "todo"))
_COMPANIES: Final = frozenset(
    ("company", "organization", "organisation", "org", "workspace", "tenant", "account")
)


def read_activity(
    obj: Mapping[str, Json], context: Context = BARE, key: str | None = None
) -> Activity:
    """The entry in `obj`; raises Unread if none of its fields is known."""
    values: Values = {}
    left = ACTIVITY.read(obj, values)
    get = values.get
    told_id = get("id") or key
    if told_id is None and not values:
        raise Unread("an entry of which no field is known")
    verb: SafeText | None = get("verb")
    outcome: SafeText | None = get("outcome")
    if verb is not None:
        _read_under_the_verb(left, verb, values)
    agent, actor, company, task, target = _parties(values)
    if context.names:
        agent, company = context.named(agent), context.named(company)
        task, target, actor = context.named(task), context.named(target), context.named(actor)
    text: SafeText | None = get("text")
    if text is None:
        who = sentences.called(actor) if actor is not None else sentences.called(agent)
        text = sentences.activity(who, verb, _object(values, task, target, agent, who), outcome)
    return Activity(
        id=told_id if told_id is not None else content_id("entry", obj),
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
        extra=as_extra(left),
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
    actor_type = fold_word(get("actor_type") or get("actor_kind") or "")
    if actor is not None and (actor_type in _AGENTS or _same(actor, agent)):
        agent, actor = joined(agent, actor), None
    elif actor is None and "actor_type" in values and agent is None:
        actor = Ref(None, values["actor_type"])
    target_type = fold_word(get("target_type") or get("target_kind") or "")
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
        kind = sentences.phrase(values["target_type"]) if "target_type" in values else ""
        name = sentences.called(target) or ""
        return f"{kind} {name}".strip()
    if task is not None:
        return f"task {sentences.called(task)}"
    name_of_agent = sentences.called(agent)
    return name_of_agent if name_of_agent != who else None


_FROM_VERB: Final = word_set(
    """agent agent_id agent_name company company_id company_name task task_id task_name target
    target_type target_id target_name outcome"""
)


_WORDS_OF_VERB: Final = Spec(
    (Meaning("text", "message text description summary detail details note comment", text_only),)
)


def _read_under_the_verb(left: Mapping[str, Json], verb: str, values: Values) -> None:
    """What stands under a key equal to the verb: `"project.archived": {…}` (SHAPES E "Data")."""
    folded = fold(verb)
    for name, inner in left.items():
        if fold(name) != folded or type(inner) is not dict:
            continue
        found: Values = {}
        ACTIVITY.read(inner, found)
        told: Values = {}
        _WORDS_OF_VERB.read(inner, told)
        if "text" in told:
            values.setdefault("text", told["text"])
        for slot in _FROM_VERB:
            if slot in found:
                values.setdefault(slot, found[slot])
        itself = to_ref(inner)
        itself = getattr(itself, "value", itself)
        if isinstance(itself, Ref) and not values.keys() & {"task", "task_id", "target"}:
            kind = fold_word(verb).replace(".", "_").partition("_")[0]
            values.setdefault("task" if kind in _TASKS else "target", itself)


def _severity(values: Values, outcome: SafeText | None) -> Severity:
    told = values.get("severity")
    if told is not None and (found := severity(told)) is not Severity.UNKNOWN:
        return found
    if outcome is not None and outcome_is_bad(outcome):
        return Severity.WARNING
    return Severity.UNKNOWN
