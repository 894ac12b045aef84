"""Companies of agents."""

from __future__ import annotations

from typing import Any, Final

from agentco_tui.model import Company
from agentco_tui.reading.identity import COMPANY_IDS, doubt_of_row
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.common_fields import CREATED, ids, record
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.reading.values.scalar import block, named, to_count, word
from agentco_tui.text import safe


def _how_many(raw: Json) -> Any:
    """A number, the length of a list, or the number of all in `{"total": 3, "active": 1}`."""
    if type(raw) is list:
        return Incomplete(len(raw)) if raw else 0
    return to_count(raw)


def _word_if(yes: str, no: str = "") -> Any:
    """A reader of a flag that stands for a status: its word for true, and for false."""
    words = {True: safe(yes), False: safe(no) if no else EMPTY}
    return lambda raw: words[raw] if type(raw) is bool else None


FIELDS: Final = (
    ids("company_id  # paperclip; OpenFang on create", """
        company_uuid {workspace,organization,org,tenant,account}_id  # the inner before the outer
        """),
    Field("name", """
        display_name name title label    # Azure, Google, Salesforce; most platforms
        {company,organization,org,workspace,tenant,account}_name
        organization_alias metadata.name # LiteLLM /organization/list, Kubernetes
        """, named),
    Field("template", "template{,_name,_slug,_id} company_template blueprint preset", named),
    Field("mission", "mission{,_statement} purpose goal objective description", block),
    Field("status", "status state company_status lifecycle_state phase status.{phase,state}", word),
    Field("status", "{is_,}archived  # Linear, Asana", _word_if("archived")),
    Field("status", "{is_,}paused", _word_if("paused")),
    Field("status", "{is_,}active  # Salesforce", _word_if("active", "not active")),
    Field("status", "enabled", _word_if("enabled", "not enabled")),
    CREATED,
    Field("agent_count", """
        agent{,s}_count num_agents total_agents number_of_agents headcount
        agents{,.total,.count,.total_count}  # paperclip dashboard; GraphQL connections
        {stats,counts,metrics,_count}.{agents,agent_count,total_agents}  # paperclip, Prisma
        """, _how_many),
    Field("task_count", """
        task{,s}_count num_tasks total_tasks number_of_tasks issue_count  # paperclip
        tasks{,.total,.count,.total_count}
        {stats,counts,metrics,_count}.{tasks,task_count,total_tasks,issues}
        """, _how_many),
    Field("pending_count", """
        pending{,_count} pending_task{s,_count} tasks_pending
        pending_approval{s,_count} approvals_pending  # paperclip dashboard
        {stats,counts,metrics}.{pending,pending_tasks,pending_approvals,pending_count}
        """, _how_many),
)  # fmt: skip


def _build(row: Row, context: DecodeContext) -> Company:
    doubt = doubt_of_row(row, COMPANY_IDS, context.path)
    return record(Company, row, context, id_doubt=doubt)


COMPANIES: Final[Kind[Company]] = Kind(
    "company",
    noun="companies",
    own="companies company company_list",
    also="organizations organisations orgs workspaces tenants accounts",
    fields=FIELDS,
    build=_build,
    needs="id",
    nameless="a company without an id",
    most=20_000,
)
