"""The platform's own words in an answer that refuses (SHAPES C), cleaned and short.

Never shown: stacks and tracebacks, keys and tokens echoed in a text, links of problem types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from agentco_tui.api.names import fold, some, word_set
from agentco_tui.api.refusal_words import (
    BESIDE_ERROR,
    LINE_CELLS,
    MAX_FIELDS,
    MAX_LINES,
    PHRASES,
    best_text,
    one_line,
    refused_fields,
)
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.json_body import BodyError, looks_like_html, parse_json
from agentco_tui.reading.schema import Json
from agentco_tui.reading.unknown_fields import hide_keys
from agentco_tui.reading.values.status import is_failure_word
from agentco_tui.text import SafeText, safe

_TRACE_IDS: Final = word_set(
    """requestid traceid correlationid xrequestid incidentid errorid referenceid reqid
    operationid"""
)


class Refusal(msgspec.Struct, frozen=True):
    """What an answer says about why it refused."""

    message: SafeText | None = None
    """At most five lines joined to one; None if the answer has no words of its own."""
    code: SafeText | None = None
    """The platform's code where it is text, such as `approval_expired`."""
    fields: tuple[tuple[SafeText, SafeText], ...] = ()
    """(field, message) pairs: which fields were refused, and why."""
    trace_id: SafeText | None = None
    """A request or trace id to quote at whoever runs the platform."""


def platform_message(status: int, body: bytes, content_type: str = "") -> Refusal:
    """The words in the body of a non-2xx answer; never raises, whatever the body."""
    if not body or not body.strip():
        return Refusal()
    if "html" in content_type.lower() or looks_like_html(body):
        return Refusal(safe("the address answered with a web page, not with data"))
    try:
        found = parse_json(body)
    except BodyError:
        return _plain_text(body)
    return refusal_in(found, status)


def refusal_in(body: Json, status: int = 0) -> Refusal:
    """The same for a body that was already read."""
    if type(body) is str:
        line = one_line(body)
        return Refusal(line)
    if type(body) is list:
        body = {"errors": body}
    if type(body) is not dict or not body:
        return Refusal()
    code = _code(body, status)
    fields = tuple(_unique(refused_fields(body)))[:MAX_FIELDS]
    message = _message(body, fields)
    if message is not None and code is not None and fold(message) == fold(code):
        code = None
    return Refusal(message, code, fields, _trace_id(body))


def with_code(refusal: Refusal) -> SafeText | None:
    """The message with its code in brackets: "Already decided [approval_expired]"."""
    if refusal.message is None or refusal.code is None or refusal.code in refusal.message:
        return refusal.message or refusal.code
    return safe(f"{refusal.message} [{refusal.code}]", LINE_CELLS * MAX_LINES)


_WENT_WELL: Final = ("ok", "success", "succeeded", "successful", "issuccess", "issuccessful")


def failed_in_2xx(body: Json) -> bool:
    """True if a 2xx body says that the call failed (SHAPES C, last paragraph).

    That is: `ok` or `success` is exactly false; `status` is "error" or "fail" without a record
    beside it; `error` is the only meaningful key; GraphQL's `errors` without data.
    """
    if type(body) is not dict or not body:
        return False
    by_name = {fold(key): value for key, value in some(body, 400)}
    told = [by_name.get(name) for name in _WENT_WELL]
    if any(each is False or each == "false" for each in told):
        return True
    if any(by_name.get(name) is True for name in ("haserror", "haserrors", "iserror")):
        return True
    if "jsonrpc" in by_name and by_name.get("error"):
        return True
    has_id = any(name in by_name for name in ("id", "uuid", "taskid", "agentid", "companyid"))
    status = by_name.get("status")
    if type(status) is str and is_failure_word(status) and not has_id:
        carries = any(type(value) is list and value for value in by_name.values())
        return status.strip().lower() in ("error", "fail") or not carries
    if not has_id and _has_failure_code(by_name):
        return True
    error = by_name.get("error") or by_name.get("fault") or by_name.get("exception")
    if error and error is not True and not has_id:
        rest = {
            name for name, value in by_name.items()
            if value not in (None, "", [], {}, False) and name not in BESIDE_ERROR
        }  # fmt: skip
        return not rest
    errors = by_name.get("errors")
    if errors and not has_id:
        rest = {
            name for name, value in by_name.items()
            if value not in (None, "", {}) and name not in BESIDE_ERROR
        }  # fmt: skip
        data = by_name.get("data")
        empty = type(data) is dict and all(value is None for value in data.values())
        return not rest or (rest == {"data"} and empty)
    return False


def _has_failure_code(by_name: Mapping[str, Json]) -> bool:
    """True for `{"code": 1001, "msg": "…", "data": null}` and a status of 400 or more inside."""
    if any(type(value) in (list, dict) and value for value in by_name.values()):
        return False
    told = any(type(by_name.get(name)) is str for name in ("message", "msg", "error", "errmsg"))
    for name in ("status", "statuscode", "code", "errcode", "httpstatus"):
        code = by_name.get(name)
        if type(code) is not int:
            continue
        if 400 <= code < 600 or (name in ("code", "errcode") and told and code not in _FINE_CODES):
            return True
    return False


_FINE_CODES: Final = frozenset((0, 1, *range(200, 300)))


_CODE: Final = lazy_pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def _message(body: Mapping[str, Json], fields: tuple[tuple[SafeText, SafeText], ...]) -> Any:
    lines: list[str] = []
    best = best_text(body, 0)
    if best is not None:
        lines.append(best)
    phrase_only = best is None or fold(best) in PHRASES or len(fields) > 0
    if phrase_only:
        for name, told in fields:
            text = (
                told if name in ("", "non_field_errors", "base", "__all__") else f"{name}: {told}"
            )
            if best is not None and (best == told or text in best or _CODE.fullmatch(told)):
                continue  # said already, or a code such as TASK_NOT_PENDING
            lines.append(text)
    more = [line for line in dict.fromkeys(lines) if line][:MAX_LINES]
    return safe("; ".join(more), LINE_CELLS * MAX_LINES) if more else None


def _plain_text(body: bytes) -> Refusal:
    text = body[:8_000].decode("utf-8", "replace").strip()
    if text.startswith(("<", "{", "[")):
        return Refusal()
    first = next((part for part in text.splitlines() if part.strip()), "")
    return Refusal(None if first.startswith("Traceback (most recent") else one_line(first))


def _code(body: Mapping[str, Json], status: int) -> SafeText | None:
    """A code that is a word; numbers (gRPC's, HTTP's own) tell a person nothing."""
    holders: list[Any] = [body, body.get("error"), body.get("Error")]
    errors = body.get("errors")
    if type(errors) is list and errors and type(errors[0]) is dict:
        holders += [errors[0], errors[0].get("extensions")]
    for holder in holders:
        if type(holder) is not dict:
            continue
        for key, value in some(holder, 100):
            if fold(key) not in ("code", "errorcode", "errcode") or type(value) is not str:
                continue
            text = value.strip()
            if (
                text
                and not text.isdigit()
                and fold(text) not in ("error", "err")
                and (len(text) <= 60 and text != str(status))
            ):
                return safe(hide_keys(text), 60)
    for key in ("__type", "error"):
        value = body.get(key)
        words_beside = any(fold(name) in ("message", "errordescription", "detail") for name in body)
        if type(value) is str and words_beside and re.fullmatch(r"[\w.#-]{3,60}", value):
            name = value.rpartition("#")[2]
            return None if fold(name) in PHRASES else safe(name, 60)
    return None


def _trace_id(body: Mapping[str, Json], depth: int = 0) -> SafeText | None:
    for key, value in some(body, 100):
        if fold(key) in _TRACE_IDS and type(value) in (str, int) and value != "":
            return safe(value, 80)
        if depth < 2 and type(value) is dict and fold(key) in ("error", "meta", "extensions"):
            found = _trace_id(value, depth + 1)
            if found is not None:
                return found
    return None


def _unique(
    pairs: Iterator[tuple[SafeText, SafeText]],
) -> list[tuple[SafeText, SafeText]]:
    found: dict[tuple[SafeText, SafeText], None] = {}
    for pair in pairs:
        found[pair] = None
        if len(found) >= MAX_FIELDS:
            break
    return list(found)
