"""Companies of AI agents: the names of their fields, and how a `Company` is built.

Platforms are the remote services that this program can watch. `COMPANIES` is the description by
which companies are read. In `FIELDS`, each `Field(slot, names, reader)` lists the names under which
platforms send one of our fields (its *slot*), best first, and the function that reads a raw value;
after `#` come the platforms that use the names. `_build` makes a `Company` of a `Row`, the values
of one object by slot.
"""

from __future__ import annotations

from typing import Any, Final

from agentco_tui.model import Company
from agentco_tui.reading.identity import COMPANY_IDS, doubt_of_row
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.common_fields import CREATED, id_field, make_record
from agentco_tui.reading.name_index import Field, Reader

# EMPTY: the raw value says nothing. Incomplete: a value read from a raw value that holds more.
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.reading.values.scalar import to_block, to_count, to_name, to_word
from agentco_tui.text import clean_line


def _how_many(raw: Json) -> Any:
    """A number, or the length of a list, whose items are kept with the unread fields."""
    if type(raw) is not list:
        return to_count(raw)
    if not raw:
        return 0
    return Incomplete(len(raw))


def _word_if(yes: str, no: str = "") -> Reader:
    """A reader of a flag that means a status: the word for true, and the one for false, if any."""
    words: dict[bool, Any] = {True: clean_line(yes), False: EMPTY}
    if no:
        words[False] = clean_line(no)

    def read(raw: Json) -> Any:
        if type(raw) is not bool:
            return None
        return words[raw]

    return read


# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
FIELDS: Final = (
    id_field("company_id  # paperclip; OpenFang on create", """
        company_uuid {workspace,organization,org,tenant,account}_id  # the inner before the outer
        """),
    Field("name", """
        display_name name title label    # Azure, Google, Salesforce; most platforms
        {company,organization,org,workspace,tenant,account}_name
        organization_alias metadata.name # LiteLLM /organization/list, Kubernetes
        """, to_name),
    Field("template", "template{,_name,_slug,_id} company_template blueprint preset", to_name),
    Field("mission", "mission{,_statement} purpose goal objective description", to_block),
    Field("status", "status state company_status lifecycle_state phase status.{phase,state}",
          to_word),
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
    # Why the id may be another record's, in which case no write may name the company by it.
    doubt = doubt_of_row(row, COMPANY_IDS, context.path)
    return make_record(Company, row, context, id_doubt=doubt)


COMPANIES: Final[Kind[Company]] = Kind(
    "company",
    noun="companies",
    list_keys="companies company company_list",
    fallback_list_keys="organizations organisations orgs workspaces tenants accounts",
    fields=FIELDS,
    build=_build,
    needs_one_of="id",
    unreadable_reason="a company without an id",
    max_rows=20_000,
)
