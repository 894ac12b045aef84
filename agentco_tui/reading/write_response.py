"""Reads the 2xx answer to a write: whether it reports success, of which record, in which words.

A write is a request that changes the platform, the remote service that runs AI agents: an approval,
a new task or company, a new limit. `read_write_response` returns a `Receipt` with the verdict YES
or NO. The receipt is a hint: a `status` in the answer may be the outcome of the call or the state
of the record, and only a later read settles what happened. *Substance* (`is_substance`) is what a
task is about, such as its payload; it says nothing of the call.

Platforms report failures with a 2xx status in many ways. The tables below list the keys and words
for it, *folded*: `fold("Is_Valid") == "isvalid"`. A parameter called `named` is an object by folded
keys. A *layer* is the object of the answer, or one inside it that may be about the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from agentco_tui.model import Agent, Budget, Company, Receipt, Record, Task, Verdict
from agentco_tui.reading.content import is_substance
from agentco_tui.reading.decode import UnexpectedShape, read_one
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.json_access import Json, get_field
from agentco_tui.reading.schema import Kind
from agentco_tui.text import SafeText, clean_line

R = TypeVar("R", bound=Record)
_Layer = Mapping[str, Json]

_INNER: Final = word_set(
    """data result response payload item record results items responses task agent company budget
    approval body outcome"""
)
"""Keys of the inner objects that may say how the call went."""
_STATUS_NAMES: Final = ("status", "state", "decision", "result", "outcome")
_MESSAGE_NAMES: Final = ("message", "msg", "detail", "note", "info", "reason", "description")
"""Keys of the platform's message, best first."""
_SUCCESS_FLAGS: Final = ("approved", "accepted", "allowed", "updated", "created")
"""Flags that are true where the write was done, and false where it was refused."""
_FAILURE_LISTS: Final = word_set("failed failures errors usererrors validationerrors")
"""Keys of lists of failed items, or of their errors."""
_FLAGS_OF_AN_OBJECT: Final = word_set("hasvalidationerrors hasvalidationerror validationfailed")
"""Flags that are true in a refused record, at any depth: Xero."""
_FLAGS_OF_THE_ANSWER: Final = word_set(
    "errors error haserrors haserror iserror hasfailures hasfailed"
)
"""Flags that are true if an item failed, in the outer two layers: Elasticsearch's bulk answers."""
_FLAGS_WITHOUT_RECORD: Final = word_set("failed failure invalid isinvalid partialfailure")
"""Flags of failure that count only outside of records, where they may be a task's own fields."""
_VALIDITY_FLAGS: Final = word_set("isvalid valid validated")
"""Flags that are false if something failed, in the outer two layers."""
_INVALID_LISTS: Final = word_set("validationerrors validationmessages invalidfields")
"""Lists and maps of what is wrong with a request: empty unless it was refused."""
_VALIDITY_WORDS: Final = word_set("validationstatus validationresult statusattributestring")
"""Keys of a word that says whether the request was valid."""
_CODES: Final = word_set("errorcode errcode errorno errno")
"""Keys of an error code; 0 means success."""
_COUNTS_OF_FAILURES: Final = word_set(
    "failed failures errors failedcount failurecount errorcount numfailed"
)
_COUNTS_OF_SUCCESSES: Final = word_set(
    "succeeded successes successcount succeededcount successful numsucceeded updated"
)
_MESSAGE_TYPES: Final = frozenset(("E", "A", "X"))
"""Types of SAP's messages (BAPIRET2) that say error, abort, exit; S, W and I don't stop a call."""
_TYPE_NAMES: Final = ("type", "messagetype", "msgty", "severity")
"""Keys of the type of such a message."""
_TEXT_NAMES: Final = ("message", "text", "msgtx", "messagetext", "number", "code")
"""Keys of its text or number."""
_BESIDE_THE_ANSWER: Final = word_set(
    "metadata labels tags context customfields annotations history comments logs events steps"
)
"""Keys of objects in a record that say nothing about the call."""
_FAILED: Final = word_set("error fail failed failure")
"""Words of a failure."""
_REFUSED: Final = _FAILED | word_set(
    """deny denied rejected reject refused declined disallowed forbidden blocked invalid
    notallowed notapproved"""
)
"""Words of a failure or a refusal."""
_NO_TITLES: Final = ("id", "type", "action", "payload.type")
"""Fields that stand in for a task's title when it has none."""
_MOST_LAYERS: Final = 20
"""How many layers are examined, and how many items of each list."""
_MOST_LOOKED_INTO: Final = 200
"""How many values are searched for flags."""
_MAX_DEPTH: Final = 4


def read_write_response(kind: Kind[R], body: Json, http_status: int) -> Receipt[R]:
    """The receipt in a 2xx answer to a write.

    Raises UnexpectedShape for a list of several records: that answers another request, whose answer
    may have come late.
    The verdict is NO for `ok: false`, `approved: false`, `decision: "deny"`, a `status` of "error"
    without a record, an `error` with no data beside it, a flag that says error or invalid, and
    where each item failed.
    """
    if http_status != 207 and _holds_several_records(kind, body):
        raise UnexpectedShape(
            clean_line(f"a list of {kind.noun}, as if something else had been asked")
        )
    layers = list(_layers(body))
    failed = _failed_layers(body, layers, is_multi_status=http_status == 207)
    is_no = bool(failed) or body is False
    record = None if is_no else _record_in(kind, body)
    return Receipt(
        verdict=Verdict.NO if is_no else Verdict.YES,
        http_status=http_status,
        record=record,
        record_id=record.id if record else _record_id(kind, layers),
        status_word=_status_word(layers),
        message=_message(layers, failed),
    )


def _holds_several_records(kind: Kind[Any], body: Json) -> bool:
    """Whether a body is a list of several objects, or has one under a key of the kind's own."""
    lists = [body]
    if type(body) is dict:
        lists = [value for key, value in body.items() if fold(key) in kind.list_keys]
    return any(
        type(items) is list and len(items) > 1 and {*map(type, items)} == {dict} for items in lists
    )


def _failed_layers(
    body: Json, layers: Sequence[_Layer], *, is_multi_status: bool
) -> Sequence[_Layer]:
    """The objects of an answer that report a failure; empty if none does."""
    return (
        [layer for layer in layers if says_failed(layer) or _refuses(layer)]
        or _failed_items(body, by_code_only=not is_multi_status)
        or _flagged(body)
    )


def _record_in(kind: Kind[R], body: Json) -> R | None:
    """The record in an answer; None if there is none, or one that only has an id.

    It replaces the record that was read before, so it must say what it is about.
    """
    if type(body) not in (dict, list):
        return None
    try:
        record = read_one(kind, body)
    except UnexpectedShape:
        return None
    if isinstance(record, Task) and record.title_from in _NO_TITLES:
        return None
    if isinstance(record, Agent | Company) and record.name is None:
        return None
    if isinstance(record, Budget) and not (record.limit or record.unlimited or record.spent):
        return None
    return record


def _record_id(kind: Kind[Any], layers: Sequence[_Layer]) -> str | None:
    """The id that an answer without a record names; None if it names none.

    A budget goes by the id of its owner, as `agent_id` or `scope_id`.
    """
    owner, _, budget = kind.name.partition("_")  # "agent" and "budget" of "agent_budget"
    for name in (f"{owner}id", "scopeid" if budget else "id", "id", "uuid", "approvalid"):
        for layer in layers:
            value = get_field(layer, name)
            if type(value) in (str, int) and value != "":
                return str(value)
    return None


def _status_word(layers: Sequence[_Layer]) -> SafeText | None:
    """The status in an answer, of the innermost layer first; None if it has none."""
    for name in _STATUS_NAMES:
        for layer in reversed(layers):
            value = get_field(layer, name)
            if type(value) is dict:
                value = value.get("state")
            if type(value) is str and value.strip():
                return clean_line(value.strip(), 60)
    return None


def _layers(body: Json) -> Iterator[_Layer]:
    """The object of the answer and those inside it that may say how the call went."""
    todo: list[tuple[Json, int]] = [(body, 0)]
    for value, depth in todo:
        layer = value[0] if type(value) is list and len(value) == 1 else value
        if type(layer) is not dict:
            continue
        yield layer
        if depth < _MAX_DEPTH and len(todo) < _MOST_LAYERS:
            inner = [each for key, each in islice(layer.items(), 100) if fold(key) in _INNER]
            if len(layer) == 1 and not inner:
                inner = list(layer.values())  # GraphQL: the name of what was called
            todo += [(each, depth + 1) for each in inner]


def _refuses(layer: _Layer) -> bool:
    """Whether a layer of the answer says no in words, flags or a list of failures."""
    named = {fold(key): value for key, value in islice(layer.items(), 100)}
    if any(named.get(name) is False for name in (*_SUCCESS_FLAGS, "result")):
        return True
    has_title = "title" in named or "name" in named
    if not has_title and _has_invalid_fields(named):
        return True
    if any(_word_in(named.get(name), _REFUSED) for name in _VALIDITY_WORDS):
        return True
    if _NAMES_OF_A_RECORD.isdisjoint(named) and _fails_without_record(named):
        return True
    if any(_word_in(named.get(name), _REFUSED) for name in ("decision", "outcome", "verdict")):
        return True
    if _word_in(named.get("result"), _FAILED):
        return True
    return _has_failure_list(named) and not _has_success(named)


def _has_failure_list(named: _Layer) -> bool:
    """Whether an object has a list of failures that is not empty."""
    return any(type(named.get(name)) is list and named[name] for name in _FAILURE_LISTS)


def _has_success(named: _Layer) -> bool:
    """Whether an object has anything of a write that was done: a flag, an id or a record."""
    return any(
        value
        and (name in (*_SUCCESS_FLAGS, "succeeded") or name.endswith("id") or type(value) is dict)
        for name, value in named.items()
    )


def _has_invalid_fields(named: _Layer) -> bool:
    """Whether an object has a list of what is wrong with the request."""
    return any(named.get(name) not in (None, "", [], {}, False, 0) for name in _INVALID_LISTS)


_NAMES_OF_A_RECORD: Final = word_set("id uuid key title name taskid agentid companyid")
"""Keys of which a record has at least one."""


def _fails_without_record(named: _Layer) -> bool:
    """Whether an object that is no record says that the call failed."""
    if any(named.get(name) is True for name in _FLAGS_WITHOUT_RECORD):
        return True
    if any(type(named.get(name)) is int and named[name] == 0 for name in ("ok", "success")):
        return True
    if any(_word_in(named.get(name), _NO_WORDS) for name in ("ok", "success")):
        return True
    if any(named.get(name) not in (None, "", 0, "0", False) for name in _CODES):
        return True
    if _has_count(named, _COUNTS_OF_FAILURES) and not _has_count(named, _COUNTS_OF_SUCCESSES):
        return True
    holds_more = any(type(value) in (list, dict) and value for value in named.values())
    return not holds_more and _word_in(named.get("status"), _REFUSED)


def _has_count(named: _Layer, names: frozenset[str]) -> bool:
    """Whether an object has a count above 0 under one of these keys."""
    return any(type(named.get(name)) is int and named[name] > 0 for name in names)


_NO_WORDS: Final = word_set("no n 0 false")
"""Words that say no in the place of a flag."""


def _is_failure_message(named: _Layer) -> bool:
    """Whether an object is a message of SAP's that says error or abort."""
    kinds = [named.get(name) for name in _TYPE_NAMES]
    is_failure = any(
        type(kind) is str and (kind in _MESSAGE_TYPES or fold(kind) == "error") for kind in kinds
    )
    is_message = any(type(named.get(name)) in (str, int) for name in _TEXT_NAMES)
    return is_failure and (is_message or _NAMES_OF_A_RECORD.isdisjoint(named))


def _flagged(body: Json) -> Sequence[_Layer]:
    """The objects of an answer that a flag or a message calls failed, outside a task's payload.

    Xero puts `HasValidationErrors` into each record, SAP its messages into a list named RETURN.
    """
    found: list[_Layer] = []
    todo: list[tuple[Json, int]] = [(body, 0)]
    for value, depth in todo:
        inner: Sequence[Json] = ()
        if type(value) is list:
            inner = value[:_MOST_LAYERS]
        elif type(value) is dict:
            named = {fold(key): each for key, each in islice(value.items(), 100)}
            is_failed = any(named.get(name) is True for name in _FLAGS_OF_AN_OBJECT)
            if depth < 2:
                is_failed |= any(named.get(name) is True for name in _FLAGS_OF_THE_ANSWER)
                is_failed |= any(named.get(name) is False for name in _VALIDITY_FLAGS)
            if is_failed or _is_failure_message(named):
                found.append(value)
            inner = [
                each
                for key, each in named.items()
                if not is_substance(key) and key not in _BESIDE_THE_ANSWER
            ]
        if depth < _MAX_DEPTH and len(todo) < _MOST_LOOKED_INTO:
            todo += [(each, depth + 1) for each in inner if type(each) in (dict, list)]
    return found


def _failed_items(body: Json, *, by_code_only: bool) -> Sequence[_Layer]:
    """The items of an answer to several requests, if every one of them failed.

    Only a multi-status answer (207) is sure to have items: in others only codes of 400 or more
    count, since a list of records may have the word "failed" in it.
    """
    for items in body.values() if type(body) is dict else [body]:
        objects = [each for each in items if type(each) is dict] if type(items) is list else []
        if objects and all(_item_failed(each, by_code_only=by_code_only) for each in objects):
            return objects
    return []


def _item_failed(item: _Layer, *, by_code_only: bool) -> bool:
    """Whether an item says that it failed; by words only unless `by_code_only`."""
    if len(item) == 1:
        (only_value,) = item.values()
        if type(only_value) is dict:
            item = only_value  # Elasticsearch: `{"update": {…}}`
    named = {fold(key): value for key, value in islice(item.items(), 100)}
    if any(_is_error_status(named.get(name)) for name in _ITEM_STATUS_KEYS):
        return True
    if by_code_only:
        return False
    if _word_in(named.get("status"), _REFUSED):
        return True
    return bool(named.get("error")) or says_failed(item)


_ITEM_STATUS_KEYS: Final = ("status", "statuscode", "code", "httpstatus")
"""Keys of the HTTP status of one item."""


def _is_error_status(value: Json) -> bool:
    """Whether a number or text is an HTTP status of 400 to 599."""
    code = str(value)
    return len(code) == 3 and code.isdigit() and code[0] in "45"


def _word_in(value: Json, words: frozenset[str]) -> bool:
    """Whether a value is one of these words, folded."""
    return type(value) is str and fold(value) in words


def _message(layers: Sequence[_Layer], failed: Sequence[_Layer]) -> SafeText | None:
    """The platform's words: of the failure, of a partial failure, else any message; or None."""
    for layer in failed:
        error = error_in(layer).text
        if error:
            return error
    for layer in layers:
        for key, value in islice(layer.items(), 100):
            # A success may carry a partial failure, such as `agentError`.
            if not value or not fold(key).endswith("error"):
                continue
            error = error_in({"error": value}).text
            if error:
                return clean_line(f"{key}: {error}")
    for name in _MESSAGE_NAMES:
        for layer in layers[:2]:
            if "title" in layer and name in ("description", "note", "detail"):
                continue  # it is the task's own
            value = get_field(layer, name)
            if type(value) is str and value.strip():
                return clean_line(value)
    return None
