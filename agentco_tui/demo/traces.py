"""Traces of tasks as real platforms have them (SHAPES F)."""

from __future__ import annotations

import json

from agentco_tui.demo.fields import Fields
from agentco_tui.demo.model import DOLLAR
from agentco_tui.demo.shape import Json
from agentco_tui.demo.styles import Style, dress, moment, rekey


def steps(rows: list[Fields], task: Fields, style: Style) -> Json:
    """`steps` in order, durations in milliseconds."""
    word = task["status"].word
    return {
        rekey("task_id", style.keys): task["id"],
        rekey("status", style.keys): style.words.get(word, word),
        rekey("steps", style.keys): [
            dress("trace", {**_without(row, "duration"), "duration_ms": _ms(row)}, style)
            for row in rows
        ],
    }


def bare_steps(rows: list[Fields], task: Fields, style: Style) -> Json:
    """The steps as a bare array."""
    return steps(rows, task, style)[rekey("steps", style.keys)]


def spans(rows: list[Fields], task: Fields, style: Style) -> Json:
    """OpenTelemetry JSON: nanoseconds in text, attributes as lists of pairs."""
    del task, style
    told = []
    for row in rows:
        values: dict[str, Json] = {
            "gen_ai.operation.name": {"stringValue": row["type"]},
            "gen_ai.usage.input_tokens": {"intValue": str(row["input_tokens"])},
            "gen_ai.usage.output_tokens": {"intValue": row["output_tokens"]},
        }
        if row["content"]:
            values["gen_ai.completion"] = {"stringValue": row["content"]}
        if row["arguments"]:
            told_arguments = json.dumps(row["arguments"].data)
            values["gen_ai.tool.arguments"] = {"stringValue": told_arguments}
        span = {
            "spanId": row["id"],
            "name": row["tool"] or row["type"],
            "startTimeUnixNano": str(int(row["started_at"].at * 1e9)),
            "endTimeUnixNano": str(int((row["started_at"].at + row["duration"]) * 1e9)),
            "attributes": [{"key": key, "value": value} for key, value in values.items()],
            "status": {"code": 2 if row["status"].word == "failed" else 1},
        }
        if row["parent_id"]:
            span["parentSpanId"] = row["parent_id"]
        told.append(span)
    return {"resourceSpans": [{"scopeSpans": [{"spans": told}]}]}


def observations(rows: list[Fields], task: Fields, style: Style) -> Json:
    """Langfuse: flat with parent ids, seconds, costs in dollars."""
    return {
        "id": task["id"],
        "name": task["title"],
        "latency": round(sum(row["duration"] for row in rows), 3),
        "totalCost": sum(row["cost"].micros for row in rows) / DOLLAR,
        "observations": [
            {
                "id": row["id"],
                "parentObservationId": row["parent_id"],
                "type": "SPAN" if row["tool"] else "GENERATION",
                "name": row["tool"] or row["type"],
                "input": row["arguments"].data if row["arguments"] else None,
                "output": row["content"],
                "startTime": moment(row["started_at"].at, style.times),
                "endTime": moment(row["started_at"].at + row["duration"], style.times),
                "latency": row["duration"],
                "usage": {
                    "input": row["input_tokens"],
                    "output": row["output_tokens"],
                    "total": row["input_tokens"] + row["output_tokens"],
                },
                "calculatedTotalCost": row["cost"].micros / DOLLAR,
                "level": "ERROR" if row["status"].word == "failed" else "DEFAULT",
            }
            for row in rows
        ],
    }


def runs(rows: list[Fields], task: Fields, style: Style) -> Json:
    """LangSmith: a bare list below a root run; the root's sums include its children's."""
    root = f"{task['id']}-root"
    start = rows[0]["started_at"].at if rows else 0.0
    total = sum(row["input_tokens"] + row["output_tokens"] for row in rows)
    whole: Json = {
        "id": root,
        "parent_run_id": None,
        "run_type": "chain",
        "name": task["title"],
        "start_time": moment(start, style.times),
        "total_tokens": total,
        "latency_seconds": round(sum(row["duration"] for row in rows), 3),
    }
    return [
        whole,
        *(
            {
                "id": row["id"],
                "parent_run_id": row["parent_id"] or root,
                "run_type": "tool" if row["tool"] else "llm",
                "name": row["tool"] or row["type"],
                "inputs": row["arguments"].data if row["arguments"] else {},
                "outputs": {"text": row["content"]},
                "start_time": moment(row["started_at"].at, style.times),
                "end_time": moment(row["started_at"].at + row["duration"], style.times),
                "total_tokens": row["input_tokens"] + row["output_tokens"],
                "latency_seconds": row["duration"],
                "error": row["content"] if row["status"].word == "failed" else None,
            }
            for row in rows
        ),
    ]


def relative(rows: list[Fields], task: Fields, style: Style) -> Json:
    """A workflow server: milliseconds from the start of the trace."""
    del task, style
    start = rows[0]["started_at"].at if rows else 0.0
    return [
        {
            "id": row["id"],
            "name": row["tool"] or row["type"],
            "kind": "ACTIVITY",
            "state": row["status"].word,
            "startMs": round((row["started_at"].at - start) * 1000),
            "durationMs": _ms(row),
            "queuedMs": 4,
            "attempt": 1,
            "input": row["arguments"].data if row["arguments"] else None,
            "output": row["content"],
            "errorMessage": row["content"] if row["status"].word == "failed" else None,
        }
        for row in rows
    ]


def events(rows: list[Fields], task: Fields, style: Style) -> Json:
    """Run events in the order of `seq`, each usage number under two spellings at once."""
    del task
    return [
        {
            "seq": row["index"],
            "eventType": "tool.invoke" if row["tool"] else f"agent.{row['type']}",
            "stream": "stdout",
            "level": "error" if row["status"].word == "failed" else "info",
            "message": row["content"] or f"{row['tool']}",
            "payload": row["arguments"].data if row["arguments"] else {},
            "createdAt": moment(row["started_at"].at, style.times),
            "durationMs": _ms(row),
            "inputTokens": row["input_tokens"],
            "input_tokens": row["input_tokens"],
            "outputTokens": row["output_tokens"],
            "output_tokens": row["output_tokens"],
            "costUsd": row["cost"].micros / DOLLAR,
            "cost_usd": row["cost"].micros / DOLLAR,
        }
        for row in rows
    ]


def jaeger(rows: list[Fields], task: Fields, style: Style) -> Json:
    """Jaeger: references to parents, microseconds."""
    del style
    told = [
        {
            "traceID": task["id"],
            "spanID": row["id"],
            "operationName": row["tool"] or row["type"],
            "references": [{"refType": "CHILD_OF", "spanID": row["parent_id"]}]
            if row["parent_id"]
            else [],
            "startTime": int(row["started_at"].at * 1_000_000),
            "duration": int(row["duration"] * 1_000_000),
            "tags": [
                {"key": key, "type": "string", "value": value}
                for key, value in (
                    ("input", row["arguments"] and json.dumps(row["arguments"].data)),
                    ("output", row["content"]),
                )
                if value
            ],
            "processID": "p1",
        }
        for row in rows
    ]
    processes = {"p1": {"serviceName": task["agent"].name}}
    return [{"traceID": task["id"], "spans": told, "processes": processes}]


def tool_calls(rows: list[Fields], task: Fields, style: Style) -> Json:
    """OpenAI: `arguments` is JSON inside text."""
    del task
    told: list[Json] = []
    for row in rows:
        step: dict[str, Json] = {
            "id": row["id"],
            "type": row["type"],
            "created_at": moment(row["started_at"].at, style.times),
            "usage": {
                "prompt_tokens": row["input_tokens"],
                "completion_tokens": row["output_tokens"],
                "total_tokens": row["input_tokens"] + row["output_tokens"],
            },
        }
        if row["tool"]:
            written = json.dumps(row["arguments"].data)
            step["tool_calls"] = [{"function": {"name": row["tool"], "arguments": written}}]
        else:
            step["content"] = row["content"]
        told.append(step)
    return {"object": "trace", "steps": told}


def tree(rows: list[Fields], task: Fields, style: Style) -> Json:
    """A root with `children`, and children below tool calls; seconds."""
    by_id: dict[str, Json] = {}
    top: list[Json] = []
    for row in rows:
        told = dress("trace", _without(row, "parent_id"), style)
        told["children"] = []
        by_id[row["id"]] = told
        (by_id[row["parent_id"]]["children"] if row["parent_id"] else top).append(told)
    return {"name": task["title"], "children": top}


def crew(rows: list[Fields], task: Fields, style: Style) -> Json:
    """CrewAI: one level below `result.tasks`, seconds."""
    del style
    told = [
        {
            "task_id": str(row["index"]),
            "agent": task["agent"].name,
            "tool": row["tool"],
            "output": row["content"] or json.dumps(row["arguments"].data),
            "execution_time": row["duration"],
        }
        for row in rows
    ]
    return {"result": {"tasks": told}}


def _ms(row: Fields) -> int:
    return round(float(row["duration"]) * 1000)


def _without(row: Fields, *names: str) -> Fields:
    return {name: value for name, value in row.items() if name not in names}
