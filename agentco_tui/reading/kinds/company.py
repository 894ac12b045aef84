"""Companies of agents."""

from __future__ import annotations

from typing import Any, Final

from agentco_tui.model import Company
from agentco_tui.reading.schema import NOTHING, Around, Field, Json, Kind, Partial, Row, Unread
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.number import to_count
from agentco_tui.reading.values.plain_text import block, named, word
from agentco_tui.reading.values.reference import to_id
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import safe

_MOST: Final = 20_000


def _how_many(raw: Json) -> Any:
    """A number, the length of a list, or the number of all in `{"total": 3, "active": 1}`."""
    if type(raw) is list:
        return Partial(len(raw)) if raw else 0
    return to_count(raw)


def _word_if(yes: str, no: str = "") -> Any:
    """A reader of a flag that stands for a status: its word for true, and for false."""

    def read(raw: Json) -> Any:
        told = yes if raw is True else no if raw is False else None
        return NOTHING if told == "" else told and safe(told)

    return read


FIELDS: Final = (
    Field(
        "id",
        """
        id company_id                    # paperclip; OpenFang on create
        _id uuid guid uid                # MongoDB, assorted
        company_uuid organization_id org_id workspace_id tenant_id account_id
        sys_id gid urn identifier        # ServiceNow, Asana, LinkedIn, JSON-LD
        metadata.uid                     # Kubernetes
        url_key slug                     # paperclip
        url                              # Django REST hyperlinks
        """,
        to_id,
    ),
    Field(
        "name",
        """
        display_name                     # Azure, Google, Salesforce
        name title label                 # most platforms
        company_name organization_name org_name workspace_name tenant_name account_name
        organization_alias               # LiteLLM /organization/list
        metadata.name                    # Kubernetes
        """,
        named,
    ),
    Field(
        "template",
        "template template_name company_template template_slug template_id blueprint preset",
        named,
    ),
    Field("mission", "mission mission_statement purpose goal objective description", block),
    Field(
        "status",
        "status state company_status lifecycle_state phase status.{phase,state}",
        word,
    ),
    Field("status", "{is_,}archived  # Linear, Asana", _word_if("archived")),
    Field("status", "{is_,}paused", _word_if("paused")),
    Field("status", "{is_,}active  # Salesforce", _word_if("active", "not active")),
    Field("status", "enabled", _word_if("enabled", "not enabled")),
    Field(
        "created",
        """
        created_at created               # most platforms
        {creation,create,created}_time {creation,created}_{date,timestamp} created_on
        date_created inserted_at provisioned_at
        metadata.creation_timestamp      # Kubernetes
        """,
        to_moment,
    ),
    Field(
        "agent_count",
        """
        agent_count agents_count num_agents total_agents number_of_agents headcount agents
        {stats,counts,metrics,_count,totals,summary}.{agents,agent_count,total_agents}
        agents.{total,count,total_count} # paperclip dashboard; GraphQL connections
        """,
        _how_many,
    ),
    Field(
        "task_count",
        """
        task_count tasks_count num_tasks total_tasks number_of_tasks
        issue_count                      # paperclip
        tasks
        {stats,counts,metrics,_count,totals,summary}.{tasks,task_count,total_tasks,issues}
        tasks.{total,count,total_count}
        """,
        _how_many,
    ),
    Field(
        "pending_count",
        """
        pending_count pending_tasks pending_task_count tasks_pending
        pending_approvals pending_approval_count approvals_pending  # paperclip dashboard
        pending
        {stats,counts,metrics,totals,summary}.{pending,pending_tasks,pending_approvals}
        {stats,counts,metrics,totals,summary}.pending_count
        """,
        _how_many,
    ),
)


def _build(row: Row, around: Around) -> Company:
    values = row.values
    company_id = values.get("id") or around.key
    if company_id is None:
        raise Unread("a company without an id")
    return Company(
        id=company_id,
        name=values.get("name"),
        template=values.get("template"),
        mission=values.get("mission"),
        status=values.get("status"),
        created=values.get("created"),
        agent_count=values.get("agent_count"),
        task_count=values.get("task_count"),
        pending_count=values.get("pending_count"),
        extra=as_extra(row.left),
    )


COMPANIES: Final[Kind[Company]] = Kind(
    "companies",
    noun="companies",
    own="companies company company_list",
    also="organizations organisations orgs workspaces tenants accounts",
    fields=FIELDS,
    build=_build,
    needs="id",
    nameless="a company without an id",
    most=_MOST,
)
