"""The platform's own words in an answer that refuses (SHAPES C), cleaned and short.

Never shown: stacks and tracebacks, keys and tokens echoed in a text, links of problem types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from agentco_tui.api.bodies import BodyError, Json, looks_like_html, parse_json
from agentco_tui.api.extras import hide_keys
from agentco_tui.api.names import fold, is_secret, some, word_set
from agentco_tui.api.states import is_failure_word
from agentco_tui.patterns import lazy_pattern
from agentco_tui.text import SafeText, safe

_MAX_LINES: Final = 5
_LINE_CELLS: Final = 300
_MAX_FIELDS: Final = 20
_MAX_DEPTH: Final = 6
_STACKS: Final = lazy_pattern(
    r"Traceback \(most recent call last\)|\n\s+at [\w.$<>]+\s*\(|\n\s*File \"[^\"]+\", line \d+"
    r"|^\s*at [\w.$<>]+\s*\(",
)
_NOT_SHOWN: Final = word_set(
    """stack stacktrace traceback trace exception debug exc_info excinfo cause input ctx url
    documentationurl type instance path timestamp"""
)
_PHRASES: Final = word_set(
    """unauthorized forbidden notfound badrequest conflict internalservererror
    unprocessableentity toomanyrequests serviceunavailable badgateway gatewaytimeout
    methodnotallowed error unprocessablecontent"""
)
_MACHINE_WORD: Final = lazy_pattern(r"[a-z0-9]+(?:[_.-][a-z0-9]+)+")
"""`invalid_grant`: a code more than words, shown only where there are no words."""
_TRACE_IDS: Final = word_set(
    """requestid traceid correlationid xrequestid incidentid errorid referenceid reqid
    operationid"""
)
_DROPPED_PLACES: Final = frozenset(("body", "query", "path", "header", "data", "attributes"))
_FIELD_NAMES: Final = (
    "loc", "path", "field", "param", "property", "propertypath", "datapath", "instancepath",
    "pointer", "attribute", "argument", "name", "key", "source",
)  # fmt: skip
_WORDS: Final = (
    "msg", "message", "detail", "description", "error", "errormessage", "errordescription", "info",
    "reason", "title", "defaultmessage", "text",
)  # fmt: skip


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
        line = _line(body)
        return Refusal(line)
    if type(body) is list:
        body = {"errors": body}
    if type(body) is not dict or not body:
        return Refusal()
    code = _code(body, status)
    fields = tuple(_unique(_fields(body)))[:_MAX_FIELDS]
    message = _message(body, fields)
    if message is not None and code is not None and fold(message) == fold(code):
        code = None
    return Refusal(message, code, fields, _trace_id(body))


def with_code(refusal: Refusal) -> SafeText | None:
    """The message with its code in brackets: "Already decided [approval_expired]"."""
    if refusal.message is None or refusal.code is None or refusal.code in refusal.message:
        return refusal.message or refusal.code
    return safe(f"{refusal.message} [{refusal.code}]", _LINE_CELLS * _MAX_LINES)


def failed_in_2xx(body: Json) -> bool:
    """True if a 2xx body says that the call failed (SHAPES C, last paragraph).

    That is: `ok` or `success` is exactly false; `status` is "error" or "fail" without a record
    beside it; `error` is the only meaningful key; GraphQL's `errors` without data.
    """
    if type(body) is not dict or not body:
        return False
    by_name = {fold(key): value for key, value in some(body, 400)}
    if any(by_name.get(name) is False for name in ("ok", "success", "succeeded", "successful")):
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
            if value not in (None, "", [], {}, False) and name not in _BESIDE_ERROR
        }  # fmt: skip
        return not rest
    errors = by_name.get("errors")
    if errors and not has_id:
        rest = {
            name for name, value in by_name.items()
            if value not in (None, "", {}) and name not in _BESIDE_ERROR
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
_BESIDE_ERROR: Final = word_set(
    """error errors message detail details code status statuscode requestid traceid timestamp
    path servedby documentationurl type title instance errorcode errordescription fault
    exception extensions correlationid info"""
)


def _message(body: Mapping[str, Json], fields: tuple[tuple[SafeText, SafeText], ...]) -> Any:
    lines: list[str] = []
    best = _best_text(body, 0)
    if best is not None:
        lines.append(best)
    phrase_only = best is None or fold(best) in _PHRASES or len(fields) > 0
    if phrase_only:
        for name, told in fields:
            text = (
                told if name in ("", "non_field_errors", "base", "__all__") else f"{name}: {told}"
            )
            if best is not None and (best == told or text in best):
                continue
            lines.append(text)
    more = [line for line in dict.fromkeys(lines) if line][:_MAX_LINES]
    return safe("; ".join(more), _LINE_CELLS * _MAX_LINES) if more else None


_ORDER: Final = (
    "detail", "message", "error", "errordescription", "msg", "info", "title", "errors", "reason",
    "errormessage", "errormessages", "description", "fault", "exceptionmessage", "failure",
    "statusmessage", "errmsg", "errortext", "userfacingmessage", "nonfielderrors", "cause",
)  # fmt: skip


def _best_text(value: Json, depth: int) -> SafeText | None:
    """The text that SHAPES C's order picks; mere phrases ("Not Found") only if nothing better."""
    if depth > _MAX_DEPTH:
        return None
    if type(value) is str:
        return _line(value)
    if type(value) is list:
        for item in value[:_MAX_LINES]:
            if type(item) is str and (line := _line(item)):
                return line
            if type(item) is dict and not _field_of(item) and (line := _best_text(item, depth + 1)):
                return line
        return None
    if type(value) is not dict:
        return None
    if depth and _is_field_map(value):
        return None
    by_name = {fold(key): inner for key, inner in some(value, 200)}
    phrase: SafeText | None = None
    texts = [name for name in _ORDER if type(by_name.get(name)) is str]
    nested = [name for name in _ORDER if type(by_name.get(name)) in (dict, list)]
    for name in (*texts, *nested, "data", "result", "response"):
        inner = by_name.get(name)
        if name in ("data", "result", "response") and type(inner) is not dict:
            continue
        line = _best_text(inner, depth + 1)
        if line is None:
            continue
        if fold(line) in _PHRASES or _MACHINE_WORD.fullmatch(line):
            phrase = phrase or line
            continue
        return line
    return phrase


def _line(text: str) -> SafeText | None:
    """One clean line of a text; what follows a stack trace's start is dropped."""
    stack = _STACKS.search(text)
    if stack is not None:
        text = text[: stack.start()]
    stripped = hide_keys(" ".join(text[:4_000].split()))
    return safe(stripped, _LINE_CELLS) if stripped else None


def _plain_text(body: bytes) -> Refusal:
    text = body[:8_000].decode("utf-8", "replace").strip()
    if text.startswith(("<", "{", "[")):
        return Refusal()
    first = next((part for part in text.splitlines() if part.strip()), "")
    return Refusal(None if first.startswith("Traceback (most recent") else _line(first))


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
            return None if fold(name) in _PHRASES else safe(name, 60)
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
        if len(found) >= _MAX_FIELDS:
            break
    return list(found)


def _fields(body: Mapping[str, Json]) -> Iterator[tuple[SafeText, SafeText]]:
    """(field, message) pairs, from any of the ways in SHAPES C2, C8, C10, C11, C12, C17."""
    for key, value in some(body, 100):
        folded = fold(key)
        if folded in ("errors", "details", "detail", "error", "message", "violations", "issues",
                      "validationerrors", "fielderrors", "invalidparams", "fieldviolations",
                      "fields", "errormessages", "data"):  # fmt: skip
            yield from _pairs(value, 0)
    param = body.get("param") or body.get("field")
    if type(param) is str and (told := _best_text(body, 0)):
        yield safe(param, 80), safe(told)
    inner = body.get("error")
    if type(inner) is dict and type(inner.get("param")) is str and (told := _best_text(inner, 0)):
        yield safe(inner["param"], 80), safe(told)
    if _is_field_map(body):
        yield from _from_map(body)


def _pairs(value: Json, depth: int) -> Iterator[tuple[SafeText, SafeText]]:
    if depth > 3:
        return
    if type(value) is list:
        for item in value[:_MAX_FIELDS]:
            if type(item) is dict:
                field = _field_of(item)
                told = _word_of(item)
                if told and (field or depth == 0):
                    yield safe(field, 80), told
                yield from _nested_pairs(item, depth)
            elif type(item) is str and (line := _line(item)):
                yield safe("", 80), line
    elif type(value) is dict:
        if _is_field_map(value):
            yield from _from_map(value)
        yield from _nested_pairs(value, depth)


def _nested_pairs(value: Mapping[str, Json], depth: int) -> Iterator[tuple[SafeText, SafeText]]:
    for key, inner in some(value, 50):
        if fold(key) in ("errors", "details", "fielderrors", "fieldviolations", "issues", "fields"):
            yield from _pairs(inner, depth + 1)


def _is_field_map(value: Mapping[str, Json]) -> bool:
    """True for `{"title": ["is required"]}`: every value a list of texts, or a text."""
    lists = 0
    for key, inner in value.items():
        if type(inner) is list and inner and all(type(part) is str for part in inner):
            lists += 1
        elif type(inner) is not str or fold(key) in _WORDS or fold(key) in _BESIDE_ERROR:
            return False
    return lists > 0 or (0 < len(value) <= 50 and all(" " in str(part) for part in value.values()))


def _from_map(value: Mapping[str, Json]) -> Iterator[tuple[SafeText, SafeText]]:
    for key, inner in some(value, _MAX_FIELDS):
        if fold(key) in _NOT_SHOWN or (is_secret(key) and type(inner) is not list):
            continue
        for text in (inner if type(inner) is list else [inner])[:_MAX_LINES]:
            if type(text) is str and (line := _line(text)):
                yield safe(key, 80), line


def _field_of(item: Mapping[str, Json]) -> str:
    """The field that an error is about: `loc`, `path`, `field`, a JSON pointer."""
    by_name = {fold(key): value for key, value in some(item, 50)}
    for name in _FIELD_NAMES:
        value = by_name.get(name)
        if type(value) is dict:
            value = value.get("pointer") or value.get("parameter")
        if type(value) is list:
            parts = [str(part) for part in value[:12] if type(part) in (str, int)]
        elif type(value) is str and value:
            parts = [part for part in re.split(r"[/.]", value) if part] if "/" in value else [value]
        else:
            continue
        while len(parts) > 1 and parts[0] in _DROPPED_PLACES:
            parts = parts[1:]
        if parts and parts != ["body"]:
            return ".".join(parts)
    return ""


def _word_of(item: Mapping[str, Json]) -> SafeText | None:
    by_name = {fold(key): value for key, value in some(item, 50)}
    for name in _WORDS:
        value = by_name.get(name)
        if type(value) is str and (line := _line(value)):
            return line
        if type(value) is dict and (nested := _best_text(value, 2)):
            return safe(nested)
    return None
