"""Tasks: titles, states, the flag that says a person must act, who and when."""

from __future__ import annotations

from types import NoneType
from typing import Any, Final

from agentco_tui.model import Moment, Ref, Task, TaskState
from agentco_tui.reading.kinds.cost import COST, cost_of
from agentco_tui.reading.schema import NOTHING, Around, Field, Json, Kind, Partial, Row, Unread
from agentco_tui.reading.unknown_fields import WHOLE, as_extra
from agentco_tui.reading.values.number import to_decimal
from agentco_tui.reading.values.plain_text import (
    first_line,
    flag,
    long_block,
    named,
    text_only,
    word,
)
from agentco_tui.reading.values.reference import (
    joined,
    to_id,
    to_key,
    to_ref,
    to_ref_id,
    to_ref_name,
    typed_ref,
)
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from agentco_tui.text import SafeText, hidden_in, safe, safe_block

_MOST: Final = 200_000
_LINE: Final = 400
"""Cells of a title or a name in a record."""
_WORD: Final = 60
"""Of a status word."""
_DESCRIPTION: Final = 30_000
"""Cells; in as many lines at most."""


def _title_in(raw: Json) -> Any:
    """A text, or the text inside an object: `{"text": "Plan"}`."""
    return named(raw) if type(raw) is str or type(raw) is dict else None


def _described(raw: Json) -> Any:
    return long_block(raw, _DESCRIPTION, _DESCRIPTION)


def _interrupt(raw: Json) -> Any:
    """`pendingInterrupt: {…}`: an object there means that a person must act."""
    if type(raw) is dict or type(raw) is list:
        return True if raw else NOTHING
    return flag(raw)


def _owner(raw: Json) -> Any:
    """An owner that says itself that it is an agent."""
    told = typed_ref(raw)
    return Partial(told[1]) if told is not None and told[0] == "agent" else None


_TEXTS: Final[dict[Any, int]] = {
    _described: _DESCRIPTION, text_only: _LINE, named: _LINE, _title_in: _LINE, word: _WORD,
    to_ref: _LINE, to_ref_name: _LINE,
}  # fmt: skip
"""Readers of texts, and how many cells of a text are kept."""


def _whole(field: Field) -> Field:
    """A field whose texts are also kept as sent, where cleaning or cutting takes from them."""
    most, reader = _TEXTS.get(field.reader), field.reader
    if most is None:
        return field

    def read(raw: Json) -> Any:
        if type(raw) is str and len(raw) <= most and raw.isascii() and raw.isprintable():
            return reader(raw)
        value = reader(raw)
        is_read = type(value) not in (Partial, NoneType) and value is not NOTHING
        return Partial(value) if is_read and _loses(raw, most) else value

    return field._replace(reader=read)


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


FIELDS: Final = tuple(
    map(
        _whole,
        (
            Field(
                "id",
                """
                id task_id                   # paperclip, LibreFang
                _id uuid task_uuid guid uid  # MongoDB, assorted
                sys_id gid urn               # ServiceNow, Asana
                user_task_key task_key       # Camunda 8
                session_id                   # Devin
                thread_id                    # LangGraph
                execution_arn                # AWS Step Functions
                task_instance.id             # Airflow human-in-the-loop
                approval_id issue_id job_id execution_id run_id dag_run_id  # Airflow, GitLab
                execution.{workflow_id,run_id}  # Temporal
                metadata.{uid,name}          # Kubernetes
                document_id identifier slug pk number
                url                          # Django REST hyperlinks
                """,
                to_id,
            ),
            Field("id", "key human_key  # Jira: ACT-1778", to_key),
            Field(
                "title",
                """
                title                        # paperclip issues
                display_title                # GitHub workflow runs
                properties.title             # Power Automate
                display_name name            # Google, Azure; OpenFang
                task_title task_name
                summary subject headline     # Jira, Airflow, Salesforce
                objective goal               # CrewAI
                action_summary               # LibreFang approvals
                label task short_description # ServiceNow
                metadata.name                # Kubernetes
                {payload,input,args}.{title,name,summary,subject,objective}  # paperclip approvals
                prompt instruction instructions request question
                action                       # LibreFang approvals
                """,
                _title_in,
            ),
            Field(
                "description",
                """
                description body details detail text content notes note
                instructions objective prompt
                """,
                _described,
            ),
            Field("tool", "tool_name tool command  # LibreFang approvals", text_only),
            Field("tool", "{payload,input,args}.{type,action,tool,tool_name,command}", text_only),
            Field("type", "type kind task_type category type.name  # paperclip", text_only),
            Field(
                "status",
                """
                status_enum                  # Devin: finer than its status
                status state task_status     # most platforms
                status.{state,status,phase,name,value}  # A2A, ClickUp, Kubernetes, Jira
                state.{name,state,status,value}  # Linear
                phase stage state_type       # Prefect
                current_state workflow_state task_state run_status
                properties.status            # Power Automate
                """,
                word,
            ),
            Field(
                "status_text",
                """
                status_humanized             # dbt Cloud: "Success" beside 10
                status_name status_label status_text status_display state_name  # Prefect
                """,
                word,
            ),
            Field("second", "state", word),
            Field(
                "category",
                """
                state.type                   # Linear: started, completed, canceled
                status.type                  # ClickUp: closed
                status.status_category.key   # Jira: new, indeterminate, done
                """,
                word,
            ),
            Field(
                "result",
                """
                conclusion                   # GitHub workflow runs
                result                       # Azure DevOps builds
                outcome                      # Power Automate
                properties.{outcome,result}
                """,
                text_only,
            ),
            Field(
                "approval",
                """
                approval_status              # Asana, paperclip incidents
                approval_state review_status decision approval_decision human_review_status
                approval approval.{status,state,decision} review.{status,state,decision}
                """,
                word,
            ),
            Field(
                "waits",
                """
                needs_approval awaiting_approval pending_approval waiting_for_approval
                needs_review awaiting_review needs_human awaiting_human is_pending_approval
                needs_input
                pending_interrupt            # an interrupt-style task server
                """,
                _interrupt,
            ),
            Field(
                "requires",
                """
                requires_approval approval_required requires_human_approval requires_review
                review_required approval.required
                """,
                flag,
            ),
            Field("is_pending", "is_pending pending", flag),
            Field("approved", "approved is_approved", flag),
            Field(
                "done",
                """
                completed                    # Asana
                is_completed done is_done finished
                """,
                flag,
            ),
            Field(
                "agent",
                """
                agent assigned_agent agent_ref ai_agent bot
                assignee assignees           # Jira, Linear, GitHub
                assigned_to                  # LibreFang
                assigned_agents agent_ids assignee_agent owner_agent assistant worker executor
                requested_by_agent           # paperclip approvals
                {context,refs,relations}.{agent,assignee}
                """,
                to_ref,
            ),
            Field("agent", "owner # tools that say what their owner is", _owner),
            Field(
                "agent_id",
                """
                agent_id assigned_agent_id agent_uuid owner_agent_id
                assignee_agent_id            # paperclip issues
                assignee_id assigned_to_id assistant_id worker_id executor_id bot_id
                requested_by_agent_id        # paperclip approvals
                {context,refs,relations}.agent_id
                """,
                to_ref_id,
            ),
            Field(
                "agent_name",
                """
                agent_name assigned_agent_name agent_display_name
                assignee_name assigned_to_name assistant_name worker_name bot_name
                {context,refs,relations}.agent_name
                """,
                to_ref_name,
            ),
            Field(
                "company",
                """
                company company_ref organization organisation org tenant account
                workspace                    # Asana
                {context,refs,relations}.company
                """,
                to_ref,
            ),
            Field(
                "company_id",
                """
                company_id                   # paperclip
                organization_id organisation_id org_id workspace_id tenant_id company_uuid
                account_id                   # dbt Cloud
                {context,refs,relations}.company_id
                """,
                to_ref_id,
            ),
            Field(
                "company_name",
                """
                company_name organization_name org_name workspace_name tenant_name account_name
                {context,refs,relations}.company_name
                """,
                to_ref_name,
            ),
            Field(
                "priority",
                """
                priority_label               # Linear
                priority.{priority,name,label}  # ClickUp, Jira
                priority priority_level urgency importance prio
                """,
                word,
            ),
            Field("trust", "trust_score agent_trust_score trust agent_trust", to_decimal),
            Field(
                "created",
                """
                created{,_at}{,_ts,_ms,_unix,_epoch,_epoch_ms,_utc}  # most platforms
                {creation,create,created}_{time,date,timestamp} created_on  # Google, Azure
                date_created                 # ClickUp
                inserted_at                  # Elixir
                sys_created_on               # ServiceNow
                submitted_at opened_at raised_at filed_at received_at
                queued_at enqueued_at queue_time  # Azure DevOps
                {timestamps,dates,times,audit,meta,metadata}.{created_at,created}
                metadata.creation_timestamp  # Kubernetes
                properties.creation_date     # Power Automate
                """,
                to_moment,
            ),
            Field("stamp", "timestamp time date @timestamp ts", to_moment),
            Field(
                "waiting_since",
                """
                requested_at{,_ts,_ms,_unix}  # LibreFang approvals
                waiting_since pending_since awaiting_since approval_requested_at requested_on
                submitted_for_approval_at approval.requested_at
                {timestamps,dates,times}.{requested_at,requested,waiting_since}
                """,
                to_moment,
            ),
            Field(
                "updated",
                """
                updated{,_at}{,_ts,_ms,_unix,_epoch,_epoch_ms,_utc}  # most platforms
                modified_at modified last_modified last_updated last_updated_at last_update
                {update,updated,modified}_time changed_at updated_on
                date_updated                 # ClickUp
                status.{timestamp,updated_at}  # A2A
                {timestamps,dates,times,audit,meta,metadata}.{updated_at,updated,modified_at}
                """,
                to_moment,
            ),
            Field(
                "decided",
                """
                decided_at{,_ts,_ms,_unix}   # paperclip, LibreFang
                approved_at rejected_at reviewed_at decision_at approval_decided_at decided_on
                {approval,review}.{decided_at,approved_at,resolved_at}
                {timestamps,dates,times}.{decided_at,decided,approved_at}
                """,
                to_moment,
            ),
            Field(
                "decided_by",
                """
                decided_by                   # LibreFang
                decided_by_user_id           # paperclip
                approved_by rejected_by reviewed_by decided_by_name approved_by_name
                decided_by_user {approval,review}.{decided_by,approved_by}
                """,
                named,
            ),
            Field(
                "expires",
                """
                expires{,_at}{,_ts,_ms,_unix} expiry expiration expires_on expiration_time
                approval_deadline deadline timeout_at
                approval.{expires_at,deadline}
                {timestamps,dates,times}.{expires_at,expires,deadline}
                """,
                to_moment,
            ),
            Field("timeout", "timeout_secs timeout_seconds  # LibreFang, beside requested_at",
                  to_seconds),
            *COST,
        ),
    )
)  # fmt: skip

_ENDED: Final = frozenset(
    (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED, TaskState.APPROVED)
)
_LIVE: Final = frozenset((TaskState.PENDING, TaskState.QUEUED, TaskState.RUNNING))
_OPEN: Final = (None, TaskState.PENDING, TaskState.QUEUED, TaskState.OTHER)
_SECONDARY: Final = frozenset(
    [
        "approval",
        "waits",
        "is_pending",
        "requires",
        "approved",
        "done",
        "result",
        "category",
        "second",
    ]
)
_UNSHOWN: Final = frozenset(("tool", "type", "result"))
_DULL: Final = frozenset(("task", "tasks", "item", "issue", "approval", "job", "default"))


def _build(row: Row, around: Around) -> Task:
    values, left = row.values, row.left
    get = values.get
    task_id = get("id") or around.key
    if task_id is None:
        raise Unread("a task without an id")
    title, title_from = _title(row, task_id)
    status: SafeText | None = get("status") or get("status_text")
    if status is not None and status.isdigit() and "status_text" in values:
        status = values["status_text"]
    created: Moment | None = get("created")
    if "stamp" in values and (created is not None or around.is_root):
        row.keep("stamp")
    elif "stamp" in values:
        created = values["stamp"]
    state = task_state(status) if status is not None else None
    needs: bool | None = None
    if not _SECONDARY.isdisjoint(values):
        state, needs = _decided(row, state)
        if status is None:
            status = get("approval")
    waiting: Moment | None = get("waiting_since")
    expires: Moment | None = get("expires")
    if "timeout" in values:
        if expires is None and waiting is not None:
            expires = Moment(waiting.at + values["timeout"], waiting.zone_assumed)
        row.keep("timeout")
    for slot in _UNSHOWN.intersection(values):
        if title_from != row.origin(slot):
            row.keep(slot)
    agent, company = _ref(values, "agent"), _ref(values, "company")
    if around.names:
        agent, company = around.named(agent), around.named(company)
    return Task(
        id=task_id,
        title=title,
        title_from=title_from,
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
        cost=cost_of(values, around) if "cost" in values else None,
        extra=as_extra(left, WHOLE),
    )


def _ref(values: dict[str, Any], slot: str) -> Ref | None:
    found: Ref | None = values.get(slot)
    by_id: Ref | None = values.get(f"{slot}_id")
    by_name: Ref | None = values.get(f"{slot}_name")
    if by_name is None and (found is None or by_id is None):
        return by_id if found is None else found
    return joined(by_id, found, by_name)


def _title(row: Row, task_id: str) -> tuple[SafeText, str]:
    """The nearest words, and the name of the field they were taken from."""
    values = row.values
    if "title" in values:
        return values["title"], row.origin("title")
    description = values.get("description")
    if description is not None and (start := first_line(description)):
        return start, "description"
    for slot in ("tool", "type"):
        found = values.get(slot)
        if found is not None and (slot != "type" or found.lower() not in _DULL):
            return found, row.origin(slot)
    return safe(task_id), "id"


def _decided(row: Row, state: TaskState | None) -> tuple[TaskState | None, bool | None]:
    """State and approval flag where the record carries more than one status."""
    values = row.values
    if state is TaskState.OTHER and "category" in values:
        state = task_state(values["category"])
    second = values.get("second")
    if second is not None and "status" in values and row.origin("status") != "state":
        # TeamCity: status SUCCESS (so far), state running
        also = task_state(second)
        state = also if state is TaskState.DONE and also in _LIVE else state
    if "result" in values and state is TaskState.DONE:
        # What has ended is what its result says: GitHub's completed with conclusion failure.
        of_result = task_state(values["result"])
        state = of_result if of_result in _ENDED else state
    needs: bool | None = values.get("waits")
    if needs is None and values.get("is_pending") is True and state is None:
        needs = True
    if "approval" in values:
        verdict = task_state(values["approval"])
        if verdict is TaskState.PENDING:
            state, needs = TaskState.PENDING, True
        elif verdict in (TaskState.APPROVED, TaskState.DONE):
            needs = False
            state = TaskState.APPROVED if state in (None, TaskState.PENDING) else state
        elif verdict in (TaskState.REJECTED, TaskState.CANCELLED):
            needs = False
            state = verdict if state in _OPEN else state
        elif state is None:
            state = verdict
    if values.get("approved") is True:
        needs = False
        state = TaskState.APPROVED if state in (None, TaskState.PENDING) else state
    if values.get("done") is True and state is None:
        state = TaskState.DONE
    requires: bool | None = values.get("requires")
    if needs is None and requires is not None:
        # That tasks of this kind need an approval does not say that this one waits for it.
        needs = True if requires and state is TaskState.PENDING else False if not requires else None
        if requires and state in _ENDED:
            needs = False
    if needs and state in (None, TaskState.QUEUED, TaskState.OTHER):
        state = TaskState.PENDING
    return state, needs


TASKS: Final[Kind[Task]] = Kind(
    "tasks",
    noun="tasks",
    own="tasks task task_list pending_tasks",
    also="""approvals issues jobs todos work_items queue executions runs workflow_runs dag_runs
        threads pending tickets requests proposals work_orders sessions hitl_details build""",
    fields=FIELDS,
    build=_build,
    needs="id",
    nameless="a task without an id",
    most=_MOST,
)
