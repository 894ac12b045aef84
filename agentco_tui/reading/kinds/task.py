"""Tasks of AI agents: the names of their fields, and how a `Task` is built.

Platforms are the remote services that this program can watch. `TASKS` is the description by which
tasks are read. In `FIELDS`, each `Field(slot, names, reader)` lists the names under which platforms
send one of our fields (its *slot*), best first, and the function that reads a raw value; after `#`
come the platforms that use the names. `_build` makes a `Task` of a `Row`, the values of one object
by slot. A reader returns None for a value it cannot read, `EMPTY` for one that says nothing, and
`Incomplete` for one that holds more than it read.

Tasks are what users approve, so nothing of them may be lost: a text that is shortened or cleaned
here is kept as it was sent, too (`_keep_whole_text`), and `task_verdict` decides from several
fields whether a task waits for an approval. A `status` is the platform's word, the `state` what it
means to this program.
"""

from __future__ import annotations

import re
from typing import Any, Final

from agentco_tui.model import Moment, Money, Task, TaskState
from agentco_tui.reading.field_names import phrase
from agentco_tui.reading.identity import TASK_IDS, doubt_of_row
from agentco_tui.reading.json_access import Json, get_field
from agentco_tui.reading.kinds.common_fields import (
    COST,
    CREATED,
    id_field,
    make_record,
    ref_of,
    reference_fields,
)
from agentco_tui.reading.kinds.task_verdict import (
    DECIDING_SLOTS,
    Evidence,
    TaskVerdict,
    decide,
    state_of_work,
)
from agentco_tui.reading.name_index import Field

# EMPTY: the raw value says nothing. Incomplete: a value read from a raw value that holds more.
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, Values
from agentco_tui.reading.unknown_fields import WHOLE, as_extra, hide_keys
from agentco_tui.reading.values.money import Sum, declared_unit, money_field, to_money
from agentco_tui.reading.values.reference import COMPANY, to_key, to_ref, to_ref_name, typed_ref
from agentco_tui.reading.values.scalar import (
    to_block,
    to_count,
    to_decimal,
    to_flag,
    to_name,
    to_text_only,
    to_word,
)
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from agentco_tui.text import SafeText, clean_block, clean_line, count_hidden
from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern

_LINE: Final = 400
"""Cells of the terminal to which a title or a name is cut."""
_LONGEST_NAME: Final = 60
"""Cells to which the name of what is asked for is cut in a title."""
_DESCRIPTION: Final = 30_000
"""Cells to which a description is cut, and the largest number of its lines."""
_LONGEST_KEY: Final = 24
"""Characters of the longest key that is known by its form."""
_ISSUE_KEY: Final = lazy_pattern(r"[A-Z][A-Z0-9_]*-\d+", re.ASCII)
"""A project's letters and a number, as Jira, Linear and Paperclip write them."""
_UNSAYABLE: Final = lazy_pattern(
    r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{16,}"
)
"""A UUID or a hash."""


def _title_in(raw: Json) -> Any:
    """A text, or the text inside an object: `{"text": "Plan"}`."""
    return to_name(raw) if type(raw) is str or type(raw) is dict else None


def _description(raw: Json) -> Any:
    """The text of a description, of at most `_DESCRIPTION` cells and lines."""
    return to_block(raw, _DESCRIPTION, _DESCRIPTION)


def _interrupt(raw: Json) -> Any:
    """True for an object, such as `pendingInterrupt: {…}`: an operator must act; else a flag."""
    if type(raw) is not dict and type(raw) is not list:
        return to_flag(raw)
    if not raw:
        return EMPTY
    return True


def _some_wait(raw: Json) -> Any:
    """Whether a count of missing approvals is above 0; the count is kept with the unread fields."""
    count = to_count(raw)
    if count is None:
        return None
    return Incomplete(count > 0)


def _owner(raw: Json) -> Any:
    """The reference to an owner whose `type` says that it is an agent; None for any other."""
    kind_and_ref = typed_ref(raw)
    if kind_and_ref is None:
        return None
    kind, ref = kind_and_ref
    if kind != "agent":
        return None
    return Incomplete(ref)


def _key(raw: Json) -> Any:
    """What users call a task, a text or a number; None for an id that nobody would say."""
    if type(raw) is int:
        return to_word(raw)
    if type(raw) is not str or hide_keys(raw) != raw or _UNSAYABLE.fullmatch(raw.strip()):
        return None
    word = to_word(raw)
    is_whole = word is EMPTY or word == raw.strip()
    return word if is_whole else None


def _key_by_its_form(raw: Json) -> Any:
    """A key such as GLO-7 under a name that is often that of something else; else None."""
    if type(raw) is str and len(raw) <= _LONGEST_KEY and _ISSUE_KEY.fullmatch(raw):
        return clean_line(raw)
    return None


_TEXTS: Final[dict[Any, int]] = {
    _description: _DESCRIPTION, to_text_only: _LINE, to_name: _LINE, _title_in: _LINE, to_word: 60,
    to_ref: _LINE, to_ref_name: _LINE,
}  # fmt: skip
"""Readers of texts, and to how many cells each cuts a text."""


def _keep_whole_text(field: Field) -> Field:
    """The field with a reader that also keeps a text as sent if cleaning or cutting changes it."""
    reader = field.reader
    most_cells = _TEXTS.get(reader)
    if most_cells is None:
        return field
    shortest_limit = min(most_cells, _LINE)
    reads_texts = reader not in (to_ref, to_ref_name)

    def read(raw: Json) -> Any:
        if type(raw) is str and len(raw) <= shortest_limit and raw.isascii() and raw.isprintable():
            # Nothing is lost of such a text, and most are like this.
            if reads_texts and raw and raw == raw.strip():
                return raw
            return reader(raw)
        value = reader(raw)
        if value == raw or value is None or value is EMPTY or type(value) is Incomplete:
            return value
        if _is_shortened(most_cells, raw):
            return Incomplete(value)
        return value

    return field._replace(reader=read)


def _is_shortened(most_cells: int, raw: Json) -> bool:
    """Whether a text, or one inside an object or list, says less when it is cleaned and cut.

    It is cut to `most_cells` cells of the terminal; a character takes at most two.
    """
    if type(raw) is str:
        if 2 * len(raw) > most_cells and _is_cut(most_cells, raw.strip()):
            return True
        return count_hidden(raw) > 0
    if type(raw) is dict:
        return any(_is_shortened(most_cells, inner) for inner in raw.values())
    if type(raw) is list:
        return any(_is_shortened(most_cells, inner) for inner in raw)
    return False


def _is_cut(most_cells: int, text: str) -> bool:
    """Whether a text has more than `most_cells` cells when it is cleaned as its reader does."""
    enough_cells = 2 * len(text) + 2
    if most_cells <= _LINE:
        return clean_line(text, most_cells) != clean_line(text, enough_cells)
    shown = clean_block(text, most_cells, most_cells)
    return shown != clean_block(text, enough_cells, enough_cells)


_EPOCH: Final = "{,_ts,_ms,_unix}"
"""Endings of a time's name that say that it is a number."""
_TIMES: Final = "{timestamps,dates,times,audit,meta,metadata}"
"""Names of objects that hold a task's times."""
_TABLE: Final = (
    id_field("task_id  # paperclip, LibreFang", """
        task_uuid {user_task,task}_key   # Camunda 8
        {approval,call,request}_id       # LibreFang, HumanLayer: what a person is asked
        {run,dag_run,execution}_id       # LangGraph, Airflow: one run of what is defined elsewhere
        {issue,job,session,thread}_id    # GitLab, Devin, LangGraph
        conversation_id                  # OpenHands, Dify
        execution_arn task_instance.id   # AWS Step Functions, Airflow human-in-the-loop
        execution.{workflow_id,run_id}   # Temporal
        metadata.{uid,name} pk number    # Kubernetes
        """),
    Field("id", "key human_key  # Jira: ACT-1778", to_key),
    Field("key", "{issue,ticket,human}_key {issue,ticket}_identifier", _key),
    Field("key", """
        identifier key                   # Paperclip, Linear; Jira
        id_readable custom_id display_id  # YouTrack, ClickUp, DevRev
        """, _key_by_its_form),
    Field("title", """
        title display_title properties.title  # paperclip, GitHub workflow runs, Power Automate
        display_name name {task_,}{title,name}  # Google, Azure; OpenFang
        summary subject headline         # Jira, Airflow, Salesforce
        objective goal action_summary    # CrewAI, LibreFang approvals
        label task short_description metadata.name  # ServiceNow, Kubernetes
        {payload,input,args}.{title,name,summary,subject,objective}  # paperclip approvals
        prompt instruction{,s} request question action  # LibreFang approvals
        task_identifier job_name flow_id  # Trigger.dev, Databricks, Kestra
        message msg                      # Buildkite, chat-like servers
        """, _title_in),
    Field("description", """
        description body detail{s,} text content note{s,} instructions objective prompt
        """, _description),
    Field("tool", "tool_name tool command  # LibreFang approvals", to_text_only),
    Field("tool", "{payload,input,args}.{type,action,tool,tool_name,command}", to_text_only),
    Field("kind", "type kind task_type category type.name  # paperclip", to_text_only),
    Field("status", """
        status_enum status state task_status  # Devin: finer than its status; most platforms
        status.{state,status,phase,name,value}  # A2A, ClickUp, Kubernetes, Jira
        state.{name,state,status,value}  # Linear
        phase stage state_type {current,workflow,task}_state run_status  # Prefect
        properties.status                # Power Automate
        processing_status                # Anthropic message batches
        """, to_word),
    Field("status_text", """
        status_humanized                 # dbt Cloud: "Success" beside 10
        status_{name,label,text,display} state_name  # Prefect
        """, to_word),
    Field("second", "state", to_word),
    Field("category", "{state,status}.type status.status_category.key  # Linear, ClickUp, Jira",
          to_word),
    Field("result", """
        conclusion result outcome        # GitHub workflow runs, Azure DevOps builds
        properties.{outcome,result}      # Power Automate
        """, to_text_only),
    Field("approval", """
        approval_{status,state}          # Asana, paperclip incidents
        {,human_}review_status decision approval_decision
        approval {approval,review}.{status,state,decision}
        final_decision                   # GitLab, ServiceNow-like approvals
        """, to_word),
    Field("progress", "percent_complete  # Microsoft Planner, Project", to_decimal),
    Field("waits", """
        {needs,awaiting}_{approval,review,human,input} {is_,}pending_approval waiting_for_approval
        pending_interrupt                # an interrupt-style task server
        """, _interrupt),
    Field("requires", """
        requires_{approval,human_approval,review} {approval,review}_required approval.required
        """, to_flag),
    Field("waits", "pending_approval_count  # GitLab deployments", _some_wait),
    Field("is_pending", "{is_,}pending", to_flag),
    Field("approved", "{is_,}approved", to_flag),
    Field("done", "{is_,}{completed,done} finished  # Asana", to_flag),
    *reference_fields("agent", """
        agent assigned_agent ai_agent bot assignee assigned_to assignee_agent owner_agent assistant
        worker executor requested_by_agent
        """, more="""
        assignees assigned_agents agent_ids {context,refs,relations}.{agent,assignee}  # GitHub
        """, id_names="{context,refs,relations}.agent_id"),
    Field("agent", "owner # tools that say what their owner is", _owner),
    *reference_fields(
        "company", COMPANY,
        more="{context,refs,relations}.company",
        id_names="{context,refs,relations}.company_id",
    ),
    Field("priority", """
        priority_label priority.{priority,name,label}  # Linear, ClickUp, Jira
        priority{,_level} urgency importance prio
        """, to_word),
    Field("trust", "{,agent_}trust{_score,}", to_decimal),
    CREATED,
    Field("created", f"""
        {{submitted,opened,raised,filed,received,queued,enqueued}}_at queue_time  # Azure DevOps
        {_TIMES}.{{created_at,created}} properties.creation_date  # Power Automate
        """, to_moment),
    Field("stamp", "timestamp time date ts", to_moment),
    Field("waiting_since", f"""
        requested_at{_EPOCH} requested_on  # LibreFang approvals
        {{waiting,pending,awaiting}}_since approval_requested_at submitted_for_approval_at
        {{approval,timestamps,dates,times}}.{{requested_at,waiting_since}}
        """, to_moment),
    Field("updated", f"""
        {{updated,modified}}{{,_at}}{{,_ts,_ms,_unix,_epoch,_epoch_ms,_utc}}  # most platforms
        last_modified last_update{{d,d_at,}} changed_at updated_on date_updated  # ClickUp
        {{update,updated,modified}}_time status.{{timestamp,updated_at}}  # A2A
        {_TIMES}.{{updated_at,updated,modified_at}}
        """, to_moment),
    Field("decided", f"""
        decided_at{_EPOCH} decided_on    # paperclip, LibreFang
        {{approved,rejected,reviewed,decision,approval_decided}}_at resolved_at
        {{approval,review,timestamps,dates,times}}.{{decided_at,approved_at,resolved_at}}
        """, to_moment),
    Field("decided_by", """
        decided_by decided_by_user{_id,} # LibreFang, paperclip
        {approved,rejected,reviewed}_by {decided,approved}_by_name
        {approval,review}.{decided_by,approved_by}
        """, to_name),
    Field("expires", f"""
        expires{{,_at}}{_EPOCH} expiry expiration{{,_time}} expires_on {{approval_,}}deadline
        timeout_at {{approval,timestamps,dates,times}}.{{expires_at,deadline}}
        """, to_moment),
    Field("timeout", "timeout_sec{s,onds}  # LibreFang, beside requested_at", to_seconds),
    *COST,
    money_field("estimate", "{estimated,expected}_cost cost_estimate"),
)  # fmt: skip
# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
FIELDS: Final = tuple(map(_keep_whole_text, _TABLE))

_to_shared_money: Final = memoized(4096)(to_money)
"""Estimates are round sums, so that many tasks share one object."""

_UNINFORMATIVE_TYPES: Final = frozenset(
    ("task", "tasks", "item", "issue", "approval", "job", "default")
)
"""Words in the slot `kind` that are no title."""
_NOT_SHOWN: Final = ("tool", "result")
"""Slots that are in no field of a record, and stay unread unless the title is from them."""


def _build(row: Row, context: DecodeContext) -> Task:
    """The task in a row of an answer; raises UnreadableRecord if it has no id."""
    values = row.values
    title, title_from = _title(row)
    status = _status(values)
    verdict = _verdict(row, status)
    if status is None and not DECIDING_SLOTS.isdisjoint(values):
        status = values.get("approval")
    created = _created(row, context)
    expires = _expires(row)
    if _is_key_the_id(row):
        del values["key"]
    for slot in _NOT_SHOWN:
        if slot in values and title_from != row.source(slot).name:
            row.mark_unread(slot)
    if created is not None and values.get("updated") == created:
        values["updated"] = created  # one object for both: a hundred thousand are kept
    cost: Sum | None = values.get("cost")
    estimate: Sum | None = values.get("estimate")
    unit = declared_unit(values, context.unit)
    if cost is not None and estimate is not None and cost != estimate:
        row.mark_unread("estimate")  # shown as it was sent
    estimated_cost: Money | None = None
    if estimate is not None:
        estimated_cost = _to_shared_money(estimate, unit)
    return make_record(
        Task, row, context,
        # Why the id may be that of something else: then the task can't be approved.
        id_doubt=doubt_of_row(row, TASK_IDS, context.path),
        # context.key: the key of the record if the answer has a map of records, not a list
        title=title or clean_line(values.get("id") or context.key or ""),
        title_from=title_from,
        status=status,
        state=verdict.state,
        needs_approval=verdict.needs_approval,
        agent=ref_of(values, "agent", context),
        company=ref_of(values, "company", context),
        created=created,
        expires=expires,
        cost=to_money(cost, unit),
        estimate=estimated_cost,
        # row.unread: the fields that no Field of the table has read, by key
        extra=as_extra(row.unread, WHOLE),
    )  # fmt: skip


def _is_key_the_id(row: Row) -> bool:
    """Whether the key is from the field that is the id, and nobody has mapped it to that."""
    if "key" not in row.values or "id" not in row.values:
        return False
    key = row.source("key")
    return not key.is_mapped and key.key == row.source("id").key


def _title(row: Row) -> tuple[SafeText | None, str]:
    """The best words for a title, and the platform's name of the field that they are from.

    A task without a title is called by its description's first line, its tool or its kind. One
    that asks for something with a name and a title is called by all of these (`_named_request`).
    """
    values = row.values
    if "title" in values:
        source = row.source("title")
        named = _named_request(row, source.key, source.name)
        return named or (values["title"], source.name)
    for line in values.get("description", "").splitlines():
        if line.strip():
            return clean_line(line.strip()), "description"
    if "tool" in values:
        return values["tool"], row.source("tool").name
    if "kind" in values and values["kind"].lower() not in _UNINFORMATIVE_TYPES:
        return values["kind"], row.source("kind").name
    return None, "id"


def _named_request(row: Row, key: str, path: str) -> tuple[SafeText, str] | None:
    """What a request asks, where its title is the name or the title of what it asks for.

    A request to hire has {"type": "hire_agent", "payload": {"name": "Cleo", "title": "Finance
    lead"}}: "hire agent: Cleo, Finance lead", from "type + payload.name + payload.title". `path`
    leads to what the title was read from, below the `key` of the payload. None for other titles.
    """
    payload = row.obj[key]
    outer_path, _, last_name = path.rpartition(".")
    if type(payload) is not dict or last_name not in ("name", "title"):
        return None
    words: str = row.values["title"]
    sources = [path]
    name = get_field(payload, "name")
    if last_name == "title":
        if type(name) is not str or not name.strip():
            return None
        if clean_line(name.strip()) != words:
            # It stays among the fields that are shown with the payload, too.
            words = f"{clean_line(name.strip(), _LONGEST_NAME)}, {words}"
            sources.insert(0, f"{outer_path}.name")
    request: SafeText | None = row.values.get("kind")
    if request is not None and request.lower() not in _UNINFORMATIVE_TYPES:
        words = f"{clean_line(phrase(request), _LONGEST_NAME)}: {words}"
        sources.insert(0, row.source("kind").name)
    # Longer than another title, so that no end of the title is lost behind the words before it.
    return clean_line(words, 2 * _LINE), " + ".join(sources)


def _status(values: Values) -> SafeText | None:
    """The status word; if the status is a number, the text that comes with it."""
    status: SafeText | None = values.get("status") or values.get("status_text")
    if status is not None and status.isdigit() and "status_text" in values:
        return SafeText(values["status_text"])
    return status


def _verdict(row: Row, status: SafeText | None) -> TaskVerdict:
    """The state of a task, and whether it needs an approval."""
    values = row.values
    state: TaskState | None = None
    if status is not None:
        state = task_state(status)
    if DECIDING_SLOTS.isdisjoint(values):
        return TaskVerdict(state, None)
    approval: TaskState | None = None
    if "approval" in values:
        approval = task_state(values["approval"])
    return decide(
        Evidence(
            work=state_of_work(row, state),
            approval=approval,
            waits=values.get("waits"),
            is_pending=values.get("is_pending"),
            requires=values.get("requires"),
            approved=values.get("approved"),
            done=values.get("done"),
        )
    )


def _created(row: Row, context: DecodeContext) -> Moment | None:
    """When the task was created; a bare `timestamp` counts if nothing else says it.

    Beside a task that is the whole body, `timestamp` is when the answer was made.
    """
    created: Moment | None = row.values.get("created")
    if "stamp" not in row.values:
        return created
    if created is not None or context.is_root:
        row.mark_unread("stamp")
        return created
    stamp: Moment = row.values["stamp"]
    return stamp


def _expires(row: Row) -> Moment | None:
    """When the approval expires: as sent, else the sent timeout after the waiting began."""
    values = row.values
    expires: Moment | None = values.get("expires")
    if "timeout" not in values:
        return expires
    row.mark_unread("timeout")
    waiting_since: Moment | None = values.get("waiting_since")
    if expires is not None or waiting_since is None:
        return expires
    return Moment(waiting_since.at + values["timeout"], waiting_since.zone_assumed)


TASKS: Final[Kind[Task]] = Kind(
    "task",
    noun="tasks",
    list_keys="tasks task task_list pending_tasks",
    fallback_list_keys="""
        approvals issues jobs todos work_items queue executions runs workflow_runs dag_runs
        threads pending tickets requests proposals work_orders sessions hitl_details build""",
    fields=FIELDS,
    build=_build,
    needs_one_of="id",
    unreadable_reason="a task without an id",
    max_rows=200_000,
)
