"""Tasks (SHAPES F): titles, states, the flag that says a person must act, who and when."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, Final

from agentco_tui.api.context import BARE, Context, Unread
from agentco_tui.api.moneys import cost_rule, with_sibling
from agentco_tui.api.names import fold, snake, word_set, words
from agentco_tui.api.plans import WRAPPERS, Meaning, Reader, Spec, Values
from agentco_tui.api.task_states import decided_state, worded
from agentco_tui.api.units import unit_of_values, unit_rule
from agentco_tui.model.records import Moment, Task
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.unknown_fields import WHOLE, as_extra
from agentco_tui.reading.values.number import to_decimal
from agentco_tui.reading.values.reference import (
    joined,
    to_id,
    to_key,
    to_ref,
    to_ref_id,
    to_ref_name,
)
from agentco_tui.reading.values.status import task_state
from agentco_tui.reading.values.text import (
    first_line,
    flag,
    line,
    long_block,
    named,
    text_only,
    word,
)
from agentco_tui.reading.values.time import NONE, duration_reader, to_moment
from agentco_tui.text import SafeText, hidden_in, safe, safe_block

_TITLES: Final = (
    "title name task_title task_name display_name summary subject headline objective goal "
    "action_summary label task short_description prompt instruction instructions request "
    "question action"
)


def _titled(key: str) -> Any:
    origin = snake(key)

    def read(raw: Json) -> Any:
        if type(raw) is str:
            return (safe(raw), origin) if raw and not raw.isspace() else NONE
        if type(raw) is dict and origin not in ("action", "request"):
            found = named(raw)
            if type(found) is Partial and origin in ("title", "name", "task"):
                return Partial((found.value, origin))
            return (found, origin) if type(found) is str else None
        return None

    return read


def _typed(raw: Json) -> Any:
    """A type's word; of an object its name, where that is all it holds."""
    return named(raw) if type(raw) is dict and len(raw) == 1 else text_only(raw)


def _interrupt(raw: Json) -> Any:
    """`pendingInterrupt: {…}`: an object there means that a person must act."""
    if type(raw) is dict or type(raw) is list:
        return True if raw else NONE
    return flag(raw)


def _period(key: str) -> Any:
    return duration_reader(words(key))


_LINE: Final = 400
"""Cells of a title or a name in a record."""
_WORD: Final = 60
"""Of a status word."""
_DESCRIPTION: Final = 30_000
"""Cells; in as many lines at most."""


def _described(raw: Json) -> Any:
    return long_block(raw, _DESCRIPTION, _DESCRIPTION)


_TEXTS: Final[dict[Any, int]] = {
    _titled: _LINE, _described: _DESCRIPTION, text_only: _LINE, named: _LINE, _typed: _LINE,
    word: _WORD, to_ref: _LINE, to_ref_name: _LINE,
}  # fmt: skip
"""Readers of texts, and how many cells of a text are kept."""


def _whole(meaning: Meaning) -> Meaning:
    """A meaning whose texts are also kept as sent, where cleaning or cutting takes from them."""
    if meaning.reader not in _TEXTS:
        return meaning
    most = _TEXTS[meaning.reader]

    def kept(reader: Reader) -> Reader:
        def read(raw: Json) -> Any:
            value = reader(raw)
            if type(raw) is str and len(raw) <= most and raw.isascii() and raw.isprintable():
                return value
            is_lost = type(value) not in (Partial, NoneType) and value is not NONE
            return Partial(value) if is_lost and _loses(raw, most) else value

        return read

    if meaning.by_name:
        return meaning._replace(reader=lambda key: kept(meaning.reader(key)))
    return meaning._replace(reader=kept(meaning.reader))


def _loses(raw: Json, most: int) -> bool:
    """Whether a text says less when it is cleaned and cut to so many cells."""
    if type(raw) is str:
        if 2 * len(raw) > most:
            text, room = raw.strip(), 2 * len(raw) + 2
            if most <= _LINE and safe(text, most) != safe(text, room):
                return True
            if most > _LINE and safe_block(text, most, most) != safe_block(text, room, room):
                return True
        return hidden_in(raw) > 0
    if type(raw) is dict or type(raw) is list:
        inside = raw.values() if type(raw) is dict else raw
        return any(_loses(each, most) for each in inside)
    return False


_APPROVAL: Final = Spec(
    map(
        _whole,
        (
            Meaning("approval", "status state decision", word),
            Meaning("requires", "required is_required needed", flag),
            Meaning("waiting_since", "requested_at requested", to_moment),
            Meaning("decided", "decided_at approved_at resolved_at", to_moment),
            Meaning("decided_by", "decided_by approved_by approver reviewer", named),
            Meaning("expires", "expires_at deadline", to_moment),
        ),
    )
)
_STATUS: Final = Spec(
    map(
        _whole,
        (
            Meaning("status", "state status phase name value", word),
            Meaning("updated", "timestamp updated_at since changed_at at", to_moment),
        ),
    )
)
_PAYLOAD: Final = Spec(
    map(
        _whole,
        (
            Meaning("payload_title", "title name summary subject objective goal label", text_only),
            Meaning("payload_type", "type action kind tool tool_name command", text_only),
        ),
    )
)

_AROUND: Final = Spec(
    (
        Meaning("agent_id", "agent_id assigned_agent_id assignee_id", to_ref_id),
        Meaning("agent_name", "agent_name", to_ref_name),
        Meaning("agent", "agent assignee", to_ref),
        Meaning("company_id", "company_id organization_id org_id workspace_id", to_ref_id),
        Meaning("company_name", "company_name organization_name", to_ref_name),
        Meaning("company", "company organization org workspace", to_ref),
    )
)
_TIMES: Final = Spec(
    (
        Meaning("created", "created_at created", to_moment),
        Meaning("updated", "updated_at updated modified_at modified", to_moment),
        Meaning("waiting_since", "requested_at requested waiting_since", to_moment),
        Meaning("decided", "decided_at decided approved_at approved", to_moment),
        Meaning("expires", "expires_at expires deadline", to_moment),
    )
)
_COST: Final = Spec((), rule=cost_rule)

TASK: Final = Spec(
    map(_whole, (
        Meaning(
            "id",
            """id _id task_id sys_id uuid task_uuid task_key urn document_id dag_run_id run_id
            approval_id issue_id job_id execution_id guid uid identifier slug pk number""",
            to_id,
        ),
        Meaning("key", "key human_key", to_key),
        Meaning("title", _TITLES, _titled, by_name=True),
        Meaning(
            "description",
            "description body details detail text content notes instructions objective prompt",
            _described,
        ),
        Meaning("tool", "tool_name tool command", text_only),
        Meaning("type", "type kind task_type category", _typed),
        Meaning(
            "status",
            """status state task_status phase stage state_type current_state workflow_state
            task_state run_status state_name status_name status_label status_text""",
            word,
        ),
        Meaning("status_code", "status_code state_code", text_only),
        Meaning(
            "approval",
            """approval_status approval_state review_status decision approval_decision
            human_review_status approval""",
            word,
        ),
        Meaning(
            "waits",
            """needs_approval awaiting_approval pending_approval waiting_for_approval needs_review
            needs_human needs_input awaiting_human is_pending_approval waits_for_person
            awaiting_review pending_interrupt""",
            _interrupt,
        ),
        Meaning(
            "requires",
            """requires_approval approval_required requires_human_approval requires_review
            require_approval review_required human_approval_required""",
            flag,
        ),
        Meaning("is_pending", "is_pending pending", flag),
        Meaning("approved", "approved is_approved", flag),
        Meaning("done", "completed is_completed done is_done finished", flag),
        Meaning(
            "agent",
            """agent assigned_agent assignee assigned_to agent_ref owner_agent worker executor
            responsible assistant requested_by_agent assignee_agent assignees
            assigned_agents agent_ids bot ai_agent employee""",
            to_ref,
        ),
        Meaning(
            "agent_id",
            """agent_id assigned_agent_id assignee_agent_id assignee_id assigned_to_id
            assistant_id worker_id executor_id agent_uuid owner_agent_id bot_id employee_id""",
            to_ref_id,
        ),
        Meaning(
            "agent_name",
            "agent_name assignee_name assigned_agent_name agent_display_name worker_name "
            "assigned_to_name bot_name assistant_name employee_name",
            to_ref_name,
        ),
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
        Meaning("priority", "priority priority_level urgency importance prio", word),
        Meaning("trust", "trust_score agent_trust_score trust agent_trust", to_decimal),
        Meaning(
            "created",
            """created_at created creation_time create_time inserted_at date_created created_on
            created_date creation_date submitted_at added_at opened_at created_time
            created_timestamp creation_timestamp raised_at filed_at received_at sys_created_on
            first_seen queued_at enqueued_at""",
            to_moment,
        ),
        Meaning("stamp", "timestamp time date @timestamp ts epoch unix_time", to_moment),
        Meaning(
            "waiting_since",
            """requested_at waiting_since pending_since awaiting_since approval_requested_at
            submitted_for_approval_at requested_on waiting_from""",
            to_moment,
        ),
        Meaning(
            "updated",
            """updated_at modified_at updated last_modified last_updated last_updated_at
            update_time modified changed_at date_updated updated_on last_update""",
            to_moment,
        ),
        Meaning(
            "decided",
            """decided_at approved_at rejected_at reviewed_at decision_at approval_decided_at
            decided_on approved_on""",
            to_moment,
        ),
        Meaning(
            "decided_by",
            """decided_by approved_by decided_by_user_id rejected_by reviewed_by approver
            decided_by_name approved_by_name reviewer decided_by_user""",
            named,
        ),
        Meaning(
            "expires",
            "expires_at expires expiry expiration deadline due_at approval_deadline expires_on "
            "expiration_time timeout_at",
            to_moment,
        ),
        Meaning("timeout", "timeout_secs timeout_seconds timeout timeout_ms ttl", _period, True),
    )),
    nested={
        **dict.fromkeys(("context", "refs", "references", "relations", "owner", "agent"), _AROUND),
        **dict.fromkeys(("timestamps", "dates", "times", "audit", "meta", "metadata"), _TIMES),
        "usage": _COST, "estimate": _COST, "approval": _APPROVAL, "review": _APPROVAL,
        "status": _STATUS, "state": _STATUS,
        "payload": _PAYLOAD, "input": _PAYLOAD, "data": _PAYLOAD, "args": _PAYLOAD,
    },
    wrappers=f"task data spec metadata {WRAPPERS}",
    rule=lambda name: cost_rule(name) or unit_rule(name),
    kind="task",
    others="job ticket issue item work_item work_order order request proposal approval run",
)  # fmt: skip

_DULL: Final = word_set("""task tasks item issue approval job record default""")


def read_task(obj: Mapping[str, Json], context: Context = BARE, key: str | None = None) -> Task:
    """The task in `obj`; raises Unread without an id. `key` is its id where only a map told it."""
    values: Values = {}
    left = TASK.read(obj, values)
    get = values.get
    task_id = get("id") or get("key") or key
    if task_id is None:
        raise Unread("a task without an id")
    if "key" in values and values["key"] != task_id:
        _keep(obj, left, "key", "humankey")
    title = get("title")
    if title is None:
        title = _title(values, task_id, left)
    status: SafeText | None = get("status") or get("status_code")
    if status is not None and status.isdigit():
        status = worded(left) or status
    created: Moment | None = get("created")
    stamp: Moment | None = get("stamp")
    if stamp is not None and (created is not None or context.is_root):
        _keep(obj, left, "timestamp", "time", "date", "ts", "epoch", "unixtime")
    elif stamp is not None:
        created = stamp
    state = task_state(status) if status is not None else None
    needs: bool | None = None
    if not _FLAGS.isdisjoint(values):
        state, needs = decided_state(values, state)
        if status is None:
            status = get("approval")
    cost = get("cost")
    if (
        cost is not None
        and cost.currency is None
        and (unit := unit_of_values(values, context.unit)) is not None
    ):
        cost = with_sibling(cost, unit)
    expires: Moment | None = get("expires")
    waiting: Moment | None = get("waiting_since")
    if "timeout" in values:
        start = waiting or created
        if expires is None and start is not None:
            expires = Moment(start.at + values["timeout"], start.zone_assumed)
        _keep(obj, left, "timeoutsecs", "timeoutseconds", "timeout", "timeoutms", "ttl")
    agent = get("agent")
    if "agent_id" in values or "agent_name" in values:
        agent = joined(get("agent_id"), agent, get("agent_name"))
    company = get("company")
    if "company_id" in values or "company_name" in values:
        company = joined(get("company_id"), company, get("company_name"))
    if context.names:
        agent, company = context.named(agent), context.named(company)
    if not _FALLBACKS.isdisjoint(values):
        for slot in _FALLBACKS:
            if slot in values and title[1] not in (slot, f"payload.{slot[8:]}"):
                _keep(obj, left, *_KEPT[slot])
    return Task(
        id=task_id,
        title=title[0],
        title_from=title[1],
        description=get("description"),
        status=status,
        state=state,
        needs_approval=needs,
        agent=agent,
        company=company,
        priority=get("priority"),
        trust=get("trust"),
        created=created,
        waiting_since=waiting,
        updated=get("updated"),
        decided=get("decided"),
        decided_by=get("decided_by"),
        expires=expires,
        cost=cost,
        extra=as_extra(left, WHOLE),
    )


_FALLBACKS: Final = frozenset(("tool", "type", "payload_title", "payload_type"))
_FLAGS: Final = frozenset(("approval", "waits", "is_pending", "requires", "approved", "done"))
_KEPT: Final[dict[str, tuple[str, ...]]] = {
    "tool": ("toolname", "tool", "command"),
    "type": ("type", "kind", "tasktype", "category"),
    "payload_title": ("payload", "input", "data", "args"),
    "payload_type": ("payload", "input", "data", "args"),
}


def _keep(obj: Mapping[str, Json], left: dict[str, Json], *names: str) -> None:
    """Put fields that were read but not used back with what was not understood."""
    for key, raw in obj.items():
        if fold(key) in names and raw is not None and raw != "":
            left[key] = raw


def _title(values: Values, task_id: str, left: dict[str, Json]) -> tuple[SafeText, str]:
    """The nearest other words, and the name of the field they were taken from."""
    description = values.get("description")
    if description is not None:
        start = first_line(description)
        if start:
            return start, "description"
    for slot, origin in (
        ("payload_title", "payload.title"),
        ("tool", "tool"),
        ("payload_type", "payload.type"),
        ("type", "type"),
    ):
        found = values.get(slot)
        if found is not None and (slot != "type" or found.lower() not in _DULL):
            return found, origin
    for key, raw in left.items():
        if fold(key).endswith(("title", "summary", "subject")) and type(raw) is str:
            found = line(raw)
            if type(found) is str:
                del left[key]
                return SafeText(found), snake(key)
    return safe(task_id), "id"
