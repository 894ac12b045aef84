"""What a 2xx answer to a write says (SHAPES F "What approve answers", B12).

`status` in it may be the outcome of the call or the record's state; only a later read settles
what happened (SHAPES K8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from agentco_tui.api.envelopes import json_inside
from agentco_tui.api.listings import Kind, Unshaped, decode_one
from agentco_tui.api.names import fold, some, word_set
from agentco_tui.api.refusals import failed_in_2xx, refusal_in, with_code
from agentco_tui.model.records import Agent, Budget, Company, Receipt, Record, Task, Verdict
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.number import to_count
from agentco_tui.reading.values.reference import to_id
from agentco_tui.reading.values.status import fold_word, is_failure_word
from agentco_tui.reading.values.text import text_only, word
from agentco_tui.text import SafeText, safe

R = TypeVar("R", bound=Record)

_INNER: Final = (
    "data", "result", "response", "payload", "item", "record", "results", "items", "responses",
    "task", "agent", "company", "budget", "approval", "body", "outcome",
)  # fmt: skip
_IDS: Final[dict[str, tuple[str, ...]]] = {
    "tasks": ("taskid", "id", "uuid", "approvalid"),
    "companies": ("companyid", "id", "uuid"),
    "agents": ("agentid", "id", "uuid"),
    "agent_budgets": ("agentid", "scopeid", "id"),
    "company_budgets": ("companyid", "scopeid", "id"),
}
_REFUSED_WORDS: Final = word_set(
    """deny denied rejected reject refused declined disallowed forbidden blocked invalid
    not_allowed not_approved"""
)
_WENT_WELL: Final = ("approved", "succeeded", "successful", "updated", "created", "task")
_MESSAGES: Final = ("message", "msg", "detail", "note", "info", "reason", "description")
_MAX_DEPTH: Final = 4


def decode_receipt(kind: Kind[R], body: Json, http_status: int) -> Receipt[R]:
    """The receipt in a 2xx answer to a write; never raises, whatever the body.

    The verdict is NO for `ok: false`, `success: false`, `approved: false`, `decision: "deny"`, a
    `status` of "error" or "fail" without a record, a lone `error`, and where every item of a 207
    failed; else YES.
    """
    layers = list(_layers(body))
    failed = [layer for layer in layers if failed_in_2xx(layer) or _refuses(layer)]
    if body is False:
        return Receipt(verdict=Verdict.NO, http_status=http_status)
    if not failed and http_status == 207:
        failed = _failed_items(body)
    record = None if failed else _record(kind, body)
    return Receipt(
        verdict=Verdict.NO if failed else Verdict.YES,
        http_status=http_status,
        record=record,
        record_id=record.id if record is not None else _id(kind, layers),
        status_word=_status(layers),
        message=_message(layers, failed),
    )


def _layers(body: Json) -> list[Mapping[str, Json]]:
    """The object of the answer and those inside it that may say how the call went."""
    found: list[Mapping[str, Json]] = []
    todo: list[tuple[Json, int]] = [(body, 0)]
    while todo and len(found) < 20:
        value, depth = todo.pop(0)
        if type(value) is list and len(value) == 1:
            value = value[0]
        if type(value) is not dict:
            continue
        found.append(value)
        if depth < _MAX_DEPTH:
            todo.extend(
                (json_inside(inner) if type(inner) is str else inner, depth + 1)
                for key, inner in some(value, 100)
                if fold(key) in _INNER and (type(inner) in (dict, list) or fold(key) == "body")
            )
            if len(value) == 1 and type(only := next(iter(value.values()))) is dict:
                todo.append((only, depth + 1))  # GraphQL: the name of what was called
    return found


def _refuses(layer: Mapping[str, Json]) -> bool:
    for key, value in some(layer, 100):
        name = fold(key)
        if name in ("approved", "accepted", "allowed", "updated", "created") and value is False:
            return True
        if name in ("decision", "outcome", "verdict") and type(value) is str:
            return fold_word(value) in _REFUSED_WORDS or is_failure_word(value)
        if name == "result" and type(value) is str and is_failure_word(value):
            return True
    return _lists_failures(layer)


def _lists_failures(layer: Mapping[str, Json]) -> bool:
    """True if the call is among what failed, and nothing is among what went well."""
    by_name = {fold(key): value for key, value in some(layer, 100)}
    if any(
        value and (name in _WENT_WELL or name.endswith("id") or type(value) is dict)
        for name, value in by_name.items()
    ):
        return False  # a record, and what else there is to say about it
    return any(
        type(value) is list and value and name.endswith(("failed", "failures", "errors"))
        for name, value in by_name.items()
    )


def _failed_items(body: Json) -> list[Mapping[str, Json]]:
    """The items of a multi-status answer, if every one of them failed."""
    lists = [body] if type(body) is list else []
    if type(body) is dict:
        lists = [value for value in body.values() if type(value) is list]
    for items in lists:
        objects = [item for item in items if type(item) is dict]
        bad: list[Mapping[str, Json]] = [item for item in objects if _item_failed(item)]
        if objects and len(bad) == len(objects):
            return bad
    return []


def _item_failed(item: Mapping[str, Json]) -> bool:
    by_name = {fold(key): value for key, value in some(item, 100)}
    for name in ("status", "statuscode", "code", "httpstatus"):
        code = to_count(by_name.get(name))
        if code is not None and 400 <= code < 600:
            return True
    status = by_name.get("status")
    if type(status) is str and fold_word(status) in ("error", "fail", "failed", *_REFUSED_WORDS):
        return True
    return (
        bool(by_name.get("error"))
        or by_name.get("ok") is False
        or (by_name.get("success") is False)
    )


def _record(kind: Kind[R], body: Json) -> R | None:
    """The record in the answer, if it is more than an id and a word about the call."""
    if type(body) not in (dict, list):
        return None
    try:
        record = decode_one(kind, body)
    except Unshaped:
        return None
    return record if _is_whole(record) else None


def _is_whole(record: Record) -> bool:
    """True if it says what it is about, so that it may stand for the record read before."""
    if isinstance(record, Task):
        return record.title_from not in ("id", "type", "action", "payload.type")
    if isinstance(record, (Agent, Company)):
        return record.name is not None
    if isinstance(record, Budget):
        return record.limit is not None or record.unlimited or record.spent is not None
    return True


def _id(kind: Kind[R], layers: list[Mapping[str, Json]]) -> str | None:
    for name in _IDS.get(kind.name, ("id",)):
        for layer in layers:
            for key, value in some(layer, 100):
                if fold(key) == name and type(found := to_id(value)) is str:
                    return found
    return None


def _status(layers: list[Mapping[str, Json]]) -> SafeText | None:
    for name in ("status", "state", "decision", "result", "outcome"):
        for layer in reversed(layers):
            for key, value in some(layer, 100):
                if fold(key) == name and type(value) in (str, dict):
                    found = word(value)
                    told = getattr(found, "value", found)
                    if type(told) is str:
                        return SafeText(told)
    return None


def _message(layers: list[Mapping[str, Json]], failed: list[Mapping[str, Json]]) -> SafeText | None:
    for layer in failed:
        told = with_code(refusal_in(layer))
        if told is not None:
            return told
    for layer in layers:
        for key, value in some(layer, 100):
            # a success may carry a partial failure: `agentError` (SHAPES B5)
            if fold(key).endswith("error") and value:
                inner = with_code(refusal_in({"error": value}))
                if inner is not None:
                    return safe(f"{key}: {inner}")
    for name in _MESSAGES:
        for layer in layers[:2]:
            for key, value in some(layer, 100):
                if fold(key) == name and type(found := text_only(value)) is str:
                    if name in ("description", "note", "detail") and "title" in layer:
                        continue
                    return SafeText(found)
    return None
