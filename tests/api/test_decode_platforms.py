"""The ways in which well-known kinds of interface send one and the same task (SHAPES A, K)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.api import decode
from agentco_tui.model.records import Agent, Task, TaskState
from agentco_tui.reading import json_body

DAY = "2026-01-01T00:00:00Z"
AT = 1_767_225_600
SHAPES: dict[str, Any] = {
    "HAL": {
        "_embedded": {
            "taskList": [
                {
                    "title": "Pay", "status": "pending", "created": DAY,
                    "_links": {
                        "self": {"href": "https://h/api/tasks/t1"},
                        "agent": {"href": "https://h/api/agents/ag_1"},
                    },
                }
            ]
        },
        "page": {"size": 20, "totalElements": 1, "number": 0},
    },
    "JSON:API": {
        "data": [
            {
                "type": "tasks", "id": "t1",
                "attributes": {"title": "Pay", "status": "pending", "createdAt": DAY},
                "relationships": {"agent": {"links": {"related": "/api/agents/ag_1"}}},
            }
        ]
    },
    "OData": {
        "@odata.context": "x", "@odata.count": 1,
        "value": [
            {"@odata.etag": "W", "TaskId": "t1", "Title": "Pay", "Status": "Pending",
             "CreatedAt": DAY, "AgentId": "ag_1"}
        ],
    },
    "OData 2": {
        "d": {
            "results": [
                {"__metadata": {"type": "Task"}, "Id": "t1", "Title": "Pay", "Status": "pending",
                 "Created": f"/Date({AT}000)/", "AgentId": "ag_1"}
            ]
        }
    },
    "Spring": {
        "content": [
            {"id": "t1", "title": "Pay", "status": "PENDING", "created": [2026, 1, 1, 0, 0],
             "agentId": "ag_1"}
        ],
        "pageable": {"pageNumber": 0}, "totalElements": 1, "last": True,
    },
    "Relay": {
        "data": {
            "tasks": {
                "edges": [
                    {"cursor": "c", "node": {"id": "t1", "title": "Pay", "status": "PENDING",
                     "createdAt": DAY, "agent": {"__typename": "Agent", "id": "ag_1"}}}
                ],
                "pageInfo": {"hasNextPage": False},
            }
        }
    },
    "Elasticsearch": {
        "took": 3,
        "hits": {
            "total": {"value": 1, "relation": "eq"},
            "hits": [
                {"_index": "tasks", "_id": "t1", "_score": 1,
                 "_source": {"title": "Pay", "status": "pending", "@timestamp": DAY,
                             "agent": {"id": "ag_1"}}}
            ],
        },
    },
    "columns and rows": {
        "columns": ["id", "title", "status", "created_at", "agent_id"],
        "rows": [["t1", "Pay", "pending", DAY, "ag_1"]],
    },
    "a header as the first row": [
        ["id", "title", "status", "created_at", "agent_id"],
        ["t1", "Pay", "pending", DAY, "ag_1"],
    ],
    "one list a column": {
        "id": ["t1"], "title": ["Pay"], "status": ["pending"], "created_at": [DAY],
        "agent_id": ["ag_1"],
    },
    "Stripe": {
        "object": "list", "has_more": False,
        "data": [
            {"id": "t1", "object": "task", "title": "Pay", "status": "pending", "created": AT,
             "agent": "ag_1"}
        ],
    },
    "MongoDB": [
        {"_id": {"$oid": "t1"}, "title": "Pay", "status": "pending",
         "createdAt": {"$date": {"$numberLong": f"{AT}000"}}, "agentId": {"$oid": "ag_1"}}
    ],
    "protocol buffers": {
        "tasks": [
            {"name": "companies/c1/tasks/t1", "displayName": "Pay", "state": "STATE_PENDING",
             "createTime": {"seconds": str(AT), "nanos": 5}, "agent": "companies/c1/agents/ag_1"}
        ],
        "nextPageToken": "",
    },
    "XML": {
        "tasks": {
            "@count": "1",
            "task": {"@id": "t1", "@status": "pending", "title": {"#text": "Pay"},
                     "created": DAY, "agent": {"@id": "ag_1"}},
        }
    },
    "a wrapper for each": [
        {"task": {"id": "t1", "title": "Pay", "status": "pending", "created_at": DAY},
         "agent": {"id": "ag_1"}}
    ],
    "prefixes": [
        {"task_id": "t1", "taskName": "Pay", "task_status": "pending", "taskCreatedAt": DAY,
         "task_agent_id": "ag_1"}
    ],
    "Airtable": {
        "records": [
            {"id": "t1", "createdTime": DAY,
             "fields": {"Title": "Pay", "Status": "pending", "Assigned Agent": ["ag_1"]}}
        ]
    },
    "Notion": {
        "object": "list",
        "results": [
            {"object": "page", "id": "t1", "created_time": DAY,
             "properties": {
                 "Name": {"id": "a", "type": "title", "title": [{"plain_text": "Pay"}]},
                 "Status": {"id": "b", "type": "status", "status": {"name": "pending"}},
                 "Agent": {"id": "c", "type": "relation", "relation": {"id": "ag_1"}},
             }}
        ],
    },
    "Jira": {
        "issues": [
            {"id": "t1", "key": "ACT-1",
             "fields": {"summary": "Pay", "status": {"name": "Pending"}, "created": DAY,
                        "assignee": {"accountId": "ag_1"}}}
        ],
        "total": 1,
    },
    "Firestore": {
        "documents": [
            {"name": "projects/p/databases/d/documents/tasks/t1", "createTime": DAY,
             "fields": {"title": {"stringValue": "Pay"}, "status": {"stringValue": "pending"},
                        "agentId": {"stringValue": "ag_1"}}}
        ]
    },
    "DynamoDB": {
        "Items": [
            {"id": {"S": "t1"}, "title": {"S": "Pay"}, "status": {"S": "pending"},
             "created": {"N": str(AT)}, "agentId": {"S": "ag_1"}}
        ],
        "Count": 1,
    },
    "JSON-LD": {
        "@context": "x",
        "hydra:member": [
            {"@id": "/api/tasks/t1", "@type": "Task", "title": "Pay", "status": "pending",
             "created": DAY, "agent": "/api/agents/ag_1"}
        ],
    },
    "Siren": {
        "class": ["tasks"],
        "entities": [
            {"class": ["task"],
             "properties": {"id": "t1", "title": "Pay", "status": "pending", "created": DAY,
                            "agentId": "ag_1"}}
        ],
    },
    "GraphQL, deep": {
        "data": {
            "viewer": {
                "company": {
                    "tasks": {
                        "nodes": [
                            {"id": "t1", "title": "Pay", "status": "pending", "created": DAY,
                             "agent": {"id": "ag_1"}}
                        ]
                    }
                }
            }
        }
    },
    "by status": {
        "pending": [{"id": "t1", "title": "Pay", "created": DAY, "agent": {"ref": "ag_1"}}],
        "done": [],
    },
}  # fmt: skip


def read(kind: decode.Kind[Any], body: Any) -> decode.Page[Any]:
    return decode.decode_page(kind, json_body.parse_json(json.dumps(body).encode()))


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_task_in_every_shape(name: str) -> None:
    page = read(decode.TASKS, SHAPES[name])
    assert page.unread == 0, page.unread_reasons
    (task,) = page.records
    assert isinstance(task, Task)
    assert (task.id, task.title, task.state) == ("t1", "Pay", TaskState.PENDING)
    assert task.created is not None
    assert task.created.at == AT
    assert task.agent is not None
    assert (task.agent.id, task.agent.name) == ("ag_1", None)


def test_an_agent_as_kubernetes_lists_it() -> None:
    row = {
        "metadata": {"name": "scout", "uid": "u1", "creationTimestamp": DAY},
        "spec": {"role": "developer"},
        "status": {"phase": "Running"},
    }
    (agent,) = read(decode.AGENTS, {"kind": "AgentList", "items": [row]}).records
    assert isinstance(agent, Agent)
    assert (agent.id, agent.name, agent.role, agent.status) == (
        "u1", "scout", "developer", "Running"
    )  # fmt: skip


def test_money_as_protocol_buffers_write_it() -> None:
    row = {
        "agentId": "a1",
        "limit": {"units": "100", "nanos": 500_000_000, "currencyCode": "USD"},
        "spent": {"units": "12", "currencyCode": "USD"},
    }
    (budget,) = read(decode.AGENT_BUDGETS, [row]).records
    assert (budget.limit.amount, budget.spent.amount) == (Decimal("100.5"), Decimal(12))
    assert budget.limit.currency == "USD"


@pytest.mark.parametrize(
    ("said", "amount", "currency"),
    [
        ({"amount": 1250, "currency": "USD", "scale": 2}, "12.50", "USD"),
        ({"amount": 1250, "currency": "JPY", "scale": 0}, "1250", "JPY"),
        ({"amount": "12.50", "currency": "USD", "precision": 2}, "12.50", "USD"),
        ({"minor": 1250, "currency": "USD"}, "12.50", "USD"),
        ({"minorUnits": 1250, "currency": "JPY"}, "1250", "JPY"),
        ({"cents": 1250, "currency_iso": "EUR"}, "12.50", "EUR"),
        ({"amount_micros": 12_500_000, "currency_code": "USD"}, "12.500000", "USD"),
        ({"amountCents": 1250}, "12.50", None),
        ({"amount": 12, "currency": {"code": "EUR", "exponent": 2}}, "12", "EUR"),
        ({"$numberDecimal": "12.50"}, "12.50", None),
    ],
)
def test_money_as_others_write_it(said: Any, amount: str, currency: str | None) -> None:
    (budget,) = read(decode.AGENT_BUDGETS, [{"agentId": "a1", "limit": said}]).records
    assert (str(budget.limit.amount), budget.limit.currency) == (amount, currency)


def test_money_inside_money_without_end_is_none() -> None:
    said: Any = 5
    for _ in range(300):
        said = {"amount": said}
    (budget,) = read(decode.AGENT_BUDGETS, [{"agentId": "a1", "limit": said}]).records
    assert budget.limit is None


def test_lists_that_only_look_like_a_table_are_none() -> None:
    for body in ({"id": ["t1"], "title": ["Pay", "Write"]}, {"tags": ["a"], "names": ["b"]}):
        with pytest.raises(decode.Unshaped):
            read(decode.TASKS, body)
    assert read(decode.TASKS, [["t1", "Pay"], ["t2", "Write"]]).unread == 2


TRACES: dict[str, Any] = {
    "a list": [{"id": "s1", "name": "plan"}, {"id": "s2", "name": "act"}],
    "HAL": {"_embedded": {"steps": [{"id": "s1", "name": "plan"}, {"id": "s2", "name": "act"}]}},
    "JSON:API": {
        "data": [
            {"type": "steps", "id": "s1", "attributes": {"name": "plan"}},
            {"type": "steps", "id": "s2", "attributes": {"name": "act"}},
        ]
    },
    "columns and rows": {"columns": ["id", "name"], "rows": [["s1", "plan"], ["s2", "act"]]},
    "by id": {"steps": {"s1": {"name": "plan"}, "s2": {"name": "act"}}},
    "inside the task": {
        "task": {"id": "t1", "trace": {"steps": [{"id": "s1", "name": "plan"},
                                                 {"id": "s2", "name": "act"}]}}
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_the_same_trace_in_every_shape(name: str) -> None:
    trace = decode.decode_trace(json_body.parse_json(json.dumps(TRACES[name]).encode()))
    assert [(step.id, step.name) for step in trace.steps] == [("s1", "plan"), ("s2", "act")]
    assert trace.unread == 0


def test_a_trace_of_single_words() -> None:
    trace = decode.decode_trace({"trace": ["thinking", "acting"]})
    assert [step.text for step in trace.steps] == ["thinking", "acting"]
