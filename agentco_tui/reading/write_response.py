"""What a 2xx answer to a write says: yes or no, of which record, in which words.

`status` in it may be the outcome of the call or the state of the record; only a later read settles
what happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, TypeVar

from agentco_tui.model import Agent, Budget, Company, Receipt, Record, Task, Verdict
from agentco_tui.reading.content import is_substance
from agentco_tui.reading.decode import UnexpectedShape, read_one
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.json_access import Json, get_field
from agentco_tui.reading.schema import Kind
from agentco_tui.text import SafeText, safe

R = TypeVar("R", bound=Record)
_Layer = Mapping[str, Json]

_INNER: Final = word_set(
    """data result response payload item record results items responses task agent company budget
    approval body outcome"""
)
"""Names of what may say within an answer how the call went."""
_STATUS_NAMES: Final = ("status", "state", "decision", "result", "outcome")
_MESSAGE_NAMES: Final = ("message", "msg", "detail", "note", "info", "reason", "description")
_DONE: Final = ("approved", "accepted", "allowed", "updated", "created")
_FAILURE_LISTS: Final = word_set("failed failures errors usererrors validationerrors")
_FLAGS_OF_AN_OBJECT: Final = word_set("hasvalidationerrors hasvalidationerror validationfailed")
"""Flags that are true of what was refused, wherever it is: Xero."""
_FLAGS_OF_THE_ANSWER: Final = word_set(
    "errors error haserrors haserror iserror hasfailures hasfailed"
)
"""Flags that are true where something failed: Elasticsearch's bulk answers."""
_FLAGS_WITHOUT_RECORD: Final = word_set("failed failure invalid isinvalid partialfailure")
"""Flags that are true where something failed, and in a record may be a field of the task."""
_VALIDITY_FLAGS: Final = word_set("isvalid valid validated")
"""Flags of the answer that are false where something failed."""
_INVALID_LISTS: Final = word_set("validationerrors validationmessages invalidfields")
"""Lists and maps of what is wrong with a request: not empty only where it was refused."""
_VALIDITY_WORDS: Final = word_set("validationstatus validationresult statusattributestring")
_CODES: Final = word_set("errorcode errcode errorno errno")
_COUNTS_OF_FAILURES: Final = word_set(
    "failed failures errors failedcount failurecount errorcount numfailed"
)
_COUNTS_OF_SUCCESSES: Final = word_set(
    "succeeded successes successcount succeededcount successful numsucceeded updated"
)
_MESSAGE_TYPES: Final = frozenset(("E", "A", "X"))
"""Types of SAP's messages (BAPIRET2) that say error, abort, exit; S, W and I don't stop a call."""
_TYPE_NAMES: Final = ("type", "messagetype", "msgty", "severity")
_TEXT_NAMES: Final = ("message", "text", "msgtx", "messagetext", "number", "code")
_BESIDE_THE_ANSWER: Final = word_set(
    "metadata labels tags context customfields annotations history comments logs events steps"
)
"""Names of objects in a record that say nothing of the call."""
_FAILED: Final = word_set("error fail failed failure")
_REFUSED: Final = _FAILED | word_set(
    """deny denied rejected reject refused declined disallowed forbidden blocked invalid
    notallowed notapproved"""
)
_NO_TITLES: Final = ("id", "type", "action", "payload.type")
_MOST_LAYERS: Final = 20
_MOST_LOOKED_INTO: Final = 200
_MAX_DEPTH: Final = 4


def read_write_response(kind: Kind[R], body: Json, http_status: int) -> Receipt[R]:
    """The receipt in a 2xx answer to a write.

    Raises UnexpectedShape for a list of several records: that answers another request, whose answer
    may have come late.
    The verdict is NO for `ok: false`, `approved: false`, `decision: "deny"`, a `status` of "error"
    without a record, a lone `error`, a flag that says error or invalid, and where each item failed.
    """
    envelope = body if type(body) is dict else {kind.own[0]: body}
    own = [each for key, each in envelope.items() if fold(key) in kind.own and type(each) is list]
    if http_status != 207 and any(len(each) > 1 and {*map(type, each)} == {dict} for each in own):
        raise UnexpectedShape(safe(f"a list of {kind.noun}, as if something else had been asked"))
    layers = list(_layers(body))
    failed: Sequence[_Layer] = [each for each in layers if says_failed(each) or _refuses(each)]
    if not failed:
        failed = _failed_items(body, by_code_only=http_status != 207) or _flagged(body)
    no = bool(failed) or body is False
    record: R | None = None
    if not no and type(body) in (dict, list):
        with suppress(UnexpectedShape):
            record = read_one(kind, body)
    # It must say what it is about, to stand for the record read before.
    is_empty = (
        (isinstance(record, Task) and record.title_from in _NO_TITLES)
        or (isinstance(record, Agent | Company) and record.name is None)
        or (isinstance(record, Budget)
            and not (record.limit or record.unlimited or record.spent))
    )  # fmt: skip
    record = None if is_empty else record
    owner, _, budget = kind.name.partition("_")
    id_names = (f"{owner}id", "scopeid" if budget else "id", "id", "uuid", "approvalid")
    ids = (get_field(layer, name) for name in id_names for layer in layers)
    told = next((str(each) for each in ids if type(each) in (str, int) and each != ""), None)
    states = (get_field(layer, name) for name in _STATUS_NAMES for layer in reversed(layers))
    words = (each.get("state") if type(each) is dict else each for each in states)
    word = next((each.strip() for each in words if type(each) is str and each.strip()), None)
    return Receipt(
        verdict=Verdict.NO if no else Verdict.YES,
        http_status=http_status,
        record=record,
        record_id=record.id if record else told,
        status_word=None if word is None else safe(word, 60),
        message=_message(layers, failed),
    )


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
    if (
        any(named.get(name) is False for name in (*_DONE, "result"))
        or ("title" not in named and "name" not in named and _tells_invalid(named))
        or any(_word_in(named.get(name), _REFUSED) for name in _VALIDITY_WORDS)
        or (_NAMES_OF_A_RECORD.isdisjoint(named) and _fails_without_record(named))
        or any(_word_in(named.get(name), _REFUSED) for name in ("decision", "outcome", "verdict"))
        or _word_in(named.get("result"), _FAILED)
    ):
        return True
    return any(
        type(named.get(name)) is list and named[name] for name in _FAILURE_LISTS
    ) and not any(
        value and (name in (*_DONE, "succeeded") or name.endswith("id") or type(value) is dict)
        for name, value in named.items()
    )


def _tells_invalid(named: _Layer) -> bool:
    """Whether these fields, by folded names, have a list of what is wrong with the request."""
    return any(named.get(name) not in (None, "", [], {}, False, 0) for name in _INVALID_LISTS)


_NAMES_OF_A_RECORD: Final = word_set("id uuid key title name taskid agentid companyid")


def _fails_without_record(named: _Layer) -> bool:
    """Whether these fields, by folded names, say that the call failed, where no record is told."""
    if any(named.get(name) is True for name in _FLAGS_WITHOUT_RECORD):
        return True
    if any(type(named.get(name)) is int and named[name] == 0 for name in ("ok", "success")):
        return True
    if any(_word_in(named.get(name), _NO_WORDS) for name in ("ok", "success")):
        return True
    if any(named.get(name) not in (None, "", 0, "0", False) for name in _CODES):
        return True
    failures, successes = (
        [named[name] for name in names if type(named.get(name)) is int and named[name] > 0]
        for names in (_COUNTS_OF_FAILURES, _COUNTS_OF_SUCCESSES)
    )
    if failures and not successes:
        return True
    holds_more = any(type(value) in (list, dict) and value for value in named.values())
    return not holds_more and _word_in(named.get("status"), _REFUSED)


_NO_WORDS: Final = word_set("no n 0 false")


def _is_failure_message(named: _Layer) -> bool:
    """Whether these fields, by folded names, are a message of SAP's that says error or abort."""
    kinds = [named.get(name) for name in _TYPE_NAMES]
    is_failure = any(
        type(kind) is str and (kind in _MESSAGE_TYPES or fold(kind) == "error") for kind in kinds
    )
    is_message = any(type(named.get(name)) in (str, int) for name in _TEXT_NAMES)
    return is_failure and (is_message or _NAMES_OF_A_RECORD.isdisjoint(named))


def _flagged(body: Json) -> Sequence[_Layer]:
    """The objects of an answer that a flag or a message calls failed; not what a task is about.

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
    if len(item) == 1 and type(only := next(iter(item.values()))) is dict:
        item = only  # Elasticsearch: `{"update": {…}}`
    named = {fold(key): value for key, value in islice(item.items(), 100)}
    codes = (str(named.get(name)) for name in ("status", "statuscode", "code", "httpstatus"))
    if any(len(code) == 3 and code.isdigit() and code[0] in "45" for code in codes):
        return True
    if by_code_only:
        return False
    is_word = _word_in(named.get("status"), _REFUSED)
    return is_word or bool(named.get("error")) or says_failed(item)


def _word_in(value: Json, words: frozenset[str]) -> bool:
    return type(value) is str and fold(value) in words


def _message(layers: Sequence[_Layer], failed: Sequence[_Layer]) -> SafeText | None:
    for layer in failed:
        if told := error_in(layer).told:
            return told
    for layer in layers:
        for key, value in islice(layer.items(), 100):
            # A success may carry a partial failure, such as `agentError`.
            if fold(key).endswith("error") and value and (told := error_in({"error": value}).told):
                return safe(f"{key}: {told}")
    for name in _MESSAGE_NAMES:
        for layer in layers[:2]:
            is_records = "title" in layer and name in ("description", "note", "detail")
            value = None if is_records else get_field(layer, name)
            if type(value) is str and value.strip():
                return safe(value)
    return None
