"""Bodies as platforms send them, with what is true of them: asked over HTTP, judged field by field.

`bodies/CALL--NAME.json` holds the client's method (`call`, `args`), the `answer`, further `pages`,
where it comes from (`basis`, `like`) and the `truth`, record by record and field by field as in
`agentco_tui.model`: a plain value; `{"$money": [amount, currency]}` ("USD?": the currency
is not in the body); `{"$time": …}`; `{"$ref": {id, name}}`; `{"$any": […]}` (null: may stay
unread); `{"$none": …}`: nothing may be shown; `{"$ambiguous": truth}`: the body alone can't
settle it, so that it is unread, or marked as assumed; `{"$made": "alert-"}`: begins so.

Run as a command it prints every value that is not read right: python -m tests.reading.golden
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError
from agentco_tui.model import Moment, Money, Ref
from tests.api.canary import client_of
from tests.api.wire_server import Answer, Exchange, answering

BODIES = Path(__file__).parent / "bodies"

Verdict = Literal["right", "unread", "wrong"]


class Judged(NamedTuple):
    """What became of one value of a body."""

    body: str
    field: str
    verdict: Verdict
    truth: Any
    found: Any


def names() -> list[str]:
    """The bodies, by their files."""
    return sorted(path.stem for path in BODIES.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """One body with its truth."""
    loaded: dict[str, Any] = json.loads((BODIES / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


async def judge(name: str) -> list[Judged]:
    """What the client makes of a body, value by value."""
    golden = load(name)
    async with answering(server_answer(golden)) as server, client_of(server) as client:
        try:
            found = await call_client(client, golden)
        except ApiError as error:
            found = error
    return [Judged(name, *each) for each in _judged(golden["truth"], found)]


def server_answer(golden: Mapping[str, Any]) -> Answer:
    """The first answer, or the page whose mark is in the query."""

    async def send(exchange: Exchange) -> None:
        line = exchange.server.heads[-1]
        answer = golden["answer"]
        status, headers = answer["status"], dict(answer["headers"])
        body = answer["text"] if answer.get("text") is not None else json.dumps(answer["body"])
        for mark, page, page_headers in golden["pages"]:
            if mark in line:
                status, headers, body = 200, page_headers, json.dumps(page)
        raw = body.encode()
        headers = {"Content-Type": "application/json", **headers, "Content-Length": str(len(raw))}
        head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
        await exchange.send(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + raw)

    return send


async def call_client(client: Client, golden: Mapping[str, Any]) -> Any:
    args = golden["args"]
    if golden["call"] == "set_agent_limit":
        return await client.set_agent_limit(args[0], Decimal(args[1]))
    if golden["call"] == "export_activity":
        async with client.export_activity() as chunks:
            return b"".join([chunk async for chunk in chunks])
    method: Any = getattr(client, golden["call"])
    return await method(*(args or _DUE.get(golden["call"], ())))


_DUE = {"approve_task": ("t1",), "company": ("c1",), "agent": ("ag_1",), "task_trace": ("t1",)}

Found = tuple[str, Verdict, Any, Any]


def _judged(truth: Mapping[str, Any], found: Any) -> Iterator[Found]:
    if "export" in truth:
        yield "export", "right" if isinstance(found, ApiError) else "wrong", truth["export"], found
        return
    if isinstance(found, ApiError):
        for name, wanted in truth.items():
            yield name, "unread", wanted, found
        return
    if "records" in truth:
        yield from _rows(truth["records"], found.records, truth.get("count"))
    if "steps" in truth:
        yield from _rows(truth["steps"], found.steps, truth.get("count"))
    if "record" in truth:
        yield from _fields("", truth["record"], found)
    if "whole" in truth:
        yield from _fields("whole.", truth["whole"], found.whole)
    if "receipt" in truth:
        for name, wanted in truth["receipt"].items():
            if name == "record_state":
                state = None if found.record is None else found.record.state
                yield name, _value(wanted, state), wanted, state
            elif name == "record":
                yield from _fields("record.", wanted, found.record)
            elif name == "record_id_not":
                yield name, "wrong" if found.record_id in wanted else "right", wanted, found
            else:
                yield name, _value(wanted, getattr(found, name)), wanted, getattr(found, name)


def _rows(truth: Any, records: tuple[Any, ...], count: Any) -> Iterator[Found]:
    if count is not None:
        yield "count", _count(count, len(records)), count, len(records)
    by_id = {record.id: record for record in records}
    for place, wanted in enumerate(truth):
        record = by_id.get(wanted["id"]) if isinstance(wanted.get("id"), str) else None
        if record is None and len(records) == len(truth):
            record = records[place]
        yield from _fields(f"{place}.", wanted, record)


def _count(count: Any, found: int) -> Verdict:
    if isinstance(count, dict):
        return _value(count, found)
    return "right" if found == count else "unread" if found < count else "wrong"


def _fields(where: str, truth: Mapping[str, Any], record: Any) -> Iterator[Found]:
    for name, wanted in truth.items():
        found = None if record is None else getattr(record, name)
        yield f"{where}{name}", _value(wanted, found), wanted, found


def _value(truth: Any, found: Any) -> Verdict:
    if isinstance(truth, dict):
        (form, inner), *_ = truth.items()
        if form == "$ambiguous" and found in truth.get("others", ()) and isinstance(found, str):
            return "right"  # the platform's word is shown with it
        return _FORMS[form](inner, found)
    # "other": the platform's word is shown, and nothing made of it.
    if found in (None, "unknown", "other") or (isinstance(found, str) and not found):
        return "right" if truth in (None, found) else "unread"
    if isinstance(found, bool) or isinstance(truth, bool):
        return "right" if found is truth else "wrong"
    if isinstance(found, Decimal | float | int) and isinstance(truth, str | float | int):
        try:
            same = abs(Decimal(str(truth)) - Decimal(str(found))) < Decimal("0.0002")
        except InvalidOperation:
            same = False
        return "right" if same else "wrong"
    if truth is None:
        return "wrong"
    return "right" if str(found) == str(truth) else "wrong"


def _any(truths: list[Any], found: Any) -> Verdict:
    verdicts = {_value(truth, found) for truth in truths}
    return next(each for each in ("right", "unread", "wrong") if each in verdicts)


def _none(_: Any, found: Any) -> Verdict:
    return "right" if found in (None, False, "unknown", "other") else "wrong"


def _ambiguous(truth: Any, found: Any) -> Verdict:
    if isinstance(found, Money):
        return "right" if found.unit_assumed else "wrong"
    return "right" if found in (None, "other") else _value(truth, found)


def _money(truth: list[Any], found: Any) -> Verdict:
    if found is None:
        return "unread"
    if not isinstance(found, Money) or found.amount != Decimal(truth[0]):
        return "wrong"
    currency = truth[1]
    if currency is not None and currency.endswith("?"):
        return "right" if found.currency in (None, currency[:-1]) else "wrong"
    if found.currency is None:
        return "right" if currency is None else "unread"
    return "right" if found.currency == currency else "wrong"


def _time(truth: str, found: Any) -> Verdict:
    if found is None:
        return "unread"
    at = datetime.fromisoformat(truth).timestamp()
    return "right" if isinstance(found, Moment) and abs(found.at - at) < 0.001 else "wrong"


def _ref(truth: Mapping[str, Any], found: Any) -> Verdict:
    if found is None:
        return "unread"
    if not isinstance(found, Ref):
        return "wrong"
    verdicts = {_value(wanted, getattr(found, name)) for name, wanted in truth.items()}
    return next(each for each in ("wrong", "unread", "right") if each in verdicts)


_FORMS: dict[str, Callable[[Any, Any], Verdict]] = {
    "$any": _any,
    "$none": _none,
    "$ambiguous": _ambiguous,
    "$money": _money,
    "$time": _time,
    "$ref": _ref,
    "$made": lambda start, found: "right" if str(found).startswith(start) else "wrong",
}


async def _all(only: str) -> None:
    counts = {"right": 0, "unread": 0, "wrong": 0}
    for name in names():
        if name.startswith(only):
            for each in await judge(name):
                counts[each.verdict] += 1
                if each.verdict != "right":
                    sys.stdout.write(
                        f"{each.verdict:6} {each.body} {each.field}: {each.found!r:.200}, "
                        f"true is {json.dumps(each.truth)[:150]}\n"
                    )
    sys.stdout.write(f"{counts}\n")


if __name__ == "__main__":
    asyncio.run(_all(sys.argv[1] if len(sys.argv) > 1 else ""))
