"""Finds the error message in an answer: of an error status, or of a 2xx that reports a failure.

- `read_error` takes the bytes of a non-2xx answer and returns an `ErrorBody`: a message, a code
  and the fields that were refused. `error_in` does the same for JSON that is parsed already.
- `says_failed` tells whether a 2xx answer reports a failure.

Platforms (the remote services that are asked) name the parts of an error in many ways. The tables
below list their keys, folded (`fold("Error_Message") == "errormessage"`); where their order
matters, the best key comes first. A *place* is the field of the request that a message is about,
such as "items.0.title"; it is "" if the message is about the whole request.

Stack traces, API keys echoed in a text and links to descriptions of problems are never shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from agentco_tui.reading.field_names import fold, is_secret, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, looks_like_html, parse_json
from agentco_tui.reading.unknown_fields import hide_keys
from agentco_tui.text import SafeText, clean_line
from agentco_tui.text.patterns import lazy_pattern

_MAX_LINES: Final = 5
"""How many messages are joined to one."""
_MAX_FIELDS: Final = 20
"""How many refused fields are read, and how many items of each list."""
_MAX_DEPTH: Final = 7
"""How many objects and lists within each other are searched for messages."""
_LINE_CELLS: Final = 300
"""The width of one message, in cells of the terminal."""

_TEXTS: Final = (
    "detail", "message", "errortext", "faultstring", "usermessage", "userfacingmessage",
    "resultmessage", "error", "errordescription", "errormessage", "msg", "errmsg", "info",
    "errordetail", "errorsummary", "failurereason", "explanation", "title", "reason",
    "description", "fault", "exceptionmessage", "failure", "statusmessage", "defaultmessage",
    "text",
)  # fmt: skip
"""Keys of the message, best first."""
_NESTED: Final = (
    "detail", "message", "error", "errors", "details", "errormessages", "fault", "messages",
    "violations", "issues", "fieldviolations", "fielderrors", "validationerrors", "fields",
    "invalidparams", "invalidfields", "usererrors", "problems", "failures", "failed",
    "notifications", "nonfielderrors", "odataerror", "responsestatus", "err", "cause",
    "extensions", "data", "result", "response", "meta", "status",
)  # fmt: skip
"""Keys of the objects and lists that hold messages, best first."""
_HOLDERS: Final = frozenset(("data", "result", "response", "meta", "status", "extensions"))
"""Nested keys that usually hold other data: only an object under them is searched, no list."""
_PLACES: Final = (
    "loc", "path", "field", "param", "property", "propertypath", "datapath", "instancepath",
    "pointer", "attribute", "argument", "name", "key", "source",
)  # fmt: skip
"""Keys of the field that one of several errors is about, best first."""
_WHOLE: Final = frozenset(("", "nonfielderrors", "base", "all"))
"""Places that mean the whole request; folded."""
_PLACE_PREFIXES: Final = frozenset(("body", "query", "path", "header", "data", "attributes"))
"""First parts of a place that say only in which part of the request the field is; left out."""
_KEYS_OF_ERRORS: Final = word_set("code msg reason description").union(_NESTED) - {"nonfielderrors"}
"""Keys of an error: an object that has one of them is no map of field to message."""
_STATUS_PHRASES: Final = word_set(
    """unauthorized forbidden notfound badrequest conflict internalservererror
    unprocessableentity toomanyrequests serviceunavailable badgateway gatewaytimeout
    methodnotallowed error unprocessablecontent"""
)
"""Messages that only repeat the HTTP status; a better one is preferred."""
_NOT_SHOWN: Final = word_set("stack stacktrace traceback trace exception debug excinfo input ctx")
"""Keys of stack traces and of echoed input."""
_BESIDE_ERROR: Final = word_set(
    """error errors message detail details code status statuscode requestid traceid timestamp
    path servedby documentationurl type title instance errorcode errordescription fault
    exception extensions correlationid info"""
)
"""Keys that may be beside an error in an answer without a record."""
_FAILURE_FLAGS: Final = {
    **dict.fromkeys(("ok", "success", "succeeded", "successful", "issuccess"), "false"),
    **dict.fromkeys(("haserror", "haserrors", "iserror"), "true"),
}
"""Flags of an answer, with the value that means failure, in lower case."""

_CODE: Final = lazy_pattern(r"[a-z0-9]+(?:[_.-][a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""A code such as `invalid_grant` or `TASK_NOT_PENDING`: the message only if there is no other."""
_STACK: Final = lazy_pattern(
    r"Traceback \(most recent call last\)|\n\s+at [\w.$<>]+\s*\(|\n\s*File \"[^\"]+\", line \d+"
    r"|^\s*at [\w.$<>]+\s*\("
)
"""The beginning of a stack trace of Python, Java or JavaScript."""

_PlacedMessage: TypeAlias = tuple[str, SafeText]
"""The place that a message is about ("" for the whole request), and the message."""


class ErrorBody(msgspec.Struct, frozen=True):
    """Why a request failed, in the platform's words."""

    message: SafeText | None = None
    """At most five messages joined to one line; None if the answer has none."""
    code: SafeText | None = None
    """The platform's code if it is a text, such as "approval_expired"."""
    fields: tuple[tuple[SafeText, SafeText], ...] = ()
    """(field, message) pairs: which fields were refused, and why."""

    @property
    def text(self) -> SafeText | None:
        """The message with its code in brackets: "Already decided [approval_expired]".

        None if the answer has neither.
        """
        if self.message is None or self.code is None or self.code in self.message:
            return self.message or self.code
        return clean_line(f"{self.message} [{self.code}]", _LINE_CELLS * _MAX_LINES)


def read_error(body: bytes, content_type: str = "") -> ErrorBody:
    """The error in the body of a non-2xx answer; empty if it has none. Never raises."""
    if not body or body.isspace():
        return ErrorBody()
    if "html" in content_type.lower() or looks_like_html(body):
        return ErrorBody(clean_line("the address answered with a web page, not with data"))
    try:
        return error_in(parse_json(body))
    except BodyError:
        text = body[:8_000].decode("utf-8", "replace").strip()
        if text.startswith(("<", "{", "[")):
            return ErrorBody()  # broken XML or JSON, not words
        first_line = text.partition("\n")[0]
        return ErrorBody(_line(first_line))


def error_in(body: Json) -> ErrorBody:
    """The error in a parsed body; empty if it has none."""
    if type(body) is list:
        body = {"errors": body}
    elif type(body) is str:
        body = {"message": body}
    if type(body) is not dict:
        return ErrorBody()
    placed = list(dict.fromkeys(_messages(body, "", 0)))[: 4 * _MAX_FIELDS]
    fields = [(clean_line(place, 80), line) for place, line in placed if place][:_MAX_FIELDS]
    general = [line for place, line in placed if not place]
    message = _joined_message(general, fields)
    code = _code(body)
    if code is not None and message is not None and fold(message) == fold(code):
        code = None
    return ErrorBody(message, code, tuple(fields))


def _joined_message(
    general: Sequence[SafeText], fields: Sequence[tuple[SafeText, SafeText]]
) -> SafeText | None:
    """The best of the `general` messages, then those about fields; None if there are none."""
    in_words = [
        line for line in general if fold(line) not in _STATUS_PHRASES and not _CODE.fullmatch(line)
    ]
    lines = in_words[:1] or list(general[:1])
    for place, line in fields:
        if in_words and (line in in_words[0] or _CODE.fullmatch(line)):
            continue  # it adds nothing to the general message
        if fold(place) in _WHOLE:
            lines.append(line)
        else:
            lines.append(SafeText(f"{place}: {line}"))
    if not lines:
        return None
    return clean_line("; ".join(lines[:_MAX_LINES]), _LINE_CELLS * _MAX_LINES)


def says_failed(body: Json) -> bool:
    """Whether a 2xx body says that the call failed.

    That is: `ok` or `success` is exactly false; `status` is "error" or "fail" without a record
    beside it; `error` is the only meaningful key; a code of failure; GraphQL's `errors` alone.
    """
    if type(body) is not dict or not body:
        return False
    named = {fold(key): value for key, value in islice(body.items(), 400)}
    if any(str(named.get(name)).lower() == failed for name, failed in _FAILURE_FLAGS.items()):
        return True
    if "jsonrpc" in named:
        return bool(named.get("error"))
    if any(name in named for name in ("id", "uuid", "taskid", "agentid", "companyid")):
        return False  # a record, and what happened to it
    if str(named.get("status")).strip().lower() in ("error", "fail"):
        return True
    return _has_failure_code(named) or _is_only_an_error(named)


def _has_failure_code(named: Mapping[str, Json]) -> bool:
    """Whether a body, by folded keys, has a code of failure and no data.

    `{"code": 1001, "msg": "…", "data": null}`, or an HTTP status of 400 to 599 in the body. A code
    that is no HTTP status counts only beside a message; 0, 1 and 200 to 299 mean success.
    """
    has_data = any(type(value) in (list, dict) and value for value in named.values())
    if has_data:
        return False
    has_message = any(
        type(named.get(name)) is str for name in ("message", "msg", "error", "errmsg")
    )
    for name in ("status", "statuscode", "httpstatus", "code", "errcode"):
        code = named.get(name)
        if type(code) is not int:
            continue
        is_success = code in (0, 1) or 200 <= code < 300
        is_own_code = name in ("code", "errcode") and has_message
        if 400 <= code < 600 or (is_own_code and not is_success):
            return True
    return False


def _is_only_an_error(named: Mapping[str, Json]) -> bool:
    """Whether a body, by folded keys, has an error and no value that belongs to a record."""
    errors = (named.get(name) for name in ("error", "errors", "fault", "exception"))
    if all(error in (None, True, False, "", [], {}) for error in errors):
        return False
    for name, value in named.items():
        if name in _BESIDE_ERROR or value in (None, "", [], {}, False):
            continue
        is_empty_data = name == "data" and type(value) is dict and not any(value.values())
        if not is_empty_data:
            return False
    return True


def _messages(
    value: Json, place: str, depth: int, *, is_item: bool = False
) -> Iterator[_PlacedMessage]:
    """All messages in `value`, best first, with the field that each is about.

    `place` is the field that `value` is about. `is_item`: `value` is an item of a list.
    """
    if type(value) is str:
        line = _line(value)
        if line:
            yield place, line
    elif type(value) is list and depth <= _MAX_DEPTH:
        for item in value[:_MAX_FIELDS]:
            yield from _messages(item, place, depth + 1, is_item=True)
    elif type(value) is dict and depth <= _MAX_DEPTH:
        if _is_map(value, depth):
            yield from _messages_by_field(value, depth)
        else:
            yield from _messages_of_object(value, place, depth, is_item=is_item)


def _messages_by_field(value: Mapping[str, Json], depth: int) -> Iterator[_PlacedMessage]:
    """The messages in a map of field to message."""
    for key, inner in islice(value.items(), _MAX_FIELDS):
        if fold(key) in _NOT_SHOWN:
            continue
        if type(inner) is not list and is_secret(key):
            continue  # the value may be the secret itself
        place = "" if key == "base" else _place(key)  # Rails: "base" is the whole object
        yield from _messages(inner, place, depth + 1)


def _messages_of_object(
    value: Mapping[str, Json], place: str, depth: int, *, is_item: bool
) -> Iterator[_PlacedMessage]:
    """The messages of one error, then those in the objects and lists inside it."""
    named = {fold(key): inner for key, inner in islice(value.items(), 200)}
    if "lang" in named:  # OData: in a language
        yield from _messages(named.get("value"), place, depth + 1)
    place = _place_in(named, is_item=is_item) or place
    lines: list[SafeText] = []
    for name in _TEXTS:
        text = named.get(name)
        is_body_text = name == "text" and depth == 0
        if type(text) is str and not is_body_text:
            line = _line(text)
            if line:
                lines.append(line)
    if place:
        lines = lines[:1]  # one error about a field says one thing
    for line in lines:
        yield place, line
    for name in _NESTED:
        inner = named.get(name)
        if type(inner) is dict or (type(inner) is list and name not in _HOLDERS):
            yield from _messages(inner, place, depth + 1)


def _place_in(named: Mapping[str, Json], *, is_item: bool) -> str:
    """The field that an error, by folded keys, says it is about; "" if it names none.

    A single error names its field only as `param` or `field`, one of several (`is_item`) under
    any of `_PLACES`.
    """
    names: Sequence[str] = ("param", "field")
    if is_item:
        names = _PLACES
    for name in names:
        if name == "path" and ("extensions" in named or "locations" in named):
            continue  # GraphQL: the path in the answer, not in the request
        source = named.get(name)
        if type(source) is dict:
            source = source.get("pointer") or source.get("parameter")
        if type(source) in (str, list) and source:
            place = _place(source)
            if place:
                return place
    return ""


def _is_map(value: Mapping[str, Json], depth: int) -> bool:
    """Whether it maps fields to messages.

    `{"title": ["is required"]}` and `{"title": {"message": "is required"}}`.
    """
    if not value or len(value) > 50 or any(fold(key) in _KEYS_OF_ERRORS for key in value):
        return False
    lists = [inner for inner in value.values() if type(inner) is list]
    others = {fold(key): inner for key, inner in value.items() if type(inner) is not list}
    items = (item for inner in lists for item in inner)
    if any(type(item) is not str and not _has_message(item) for item in items):
        return False
    if all(map(_has_message, others.values())):
        return True
    if depth == 0 and not others.keys().isdisjoint(_BESIDE_ERROR.union(_TEXTS)):
        return False
    # A single word may be any field's value, unless lists of messages are beside it.
    return all(type(inner) is str and (lists or " " in inner) for inner in others.values())


def _has_message(value: Json) -> bool:
    """Whether it is an object with a key of a message."""
    return type(value) is dict and any(fold(key) in ("message", "msg", "detail") for key in value)


def _place(value: str | list[Json]) -> str:
    """A place with dots: `["body", "items", 0, "title"]` and `#/items/0/title` as "items.0.title".

    "" if it means the whole request.
    """
    if isinstance(value, str):
        text = value.removeprefix("#")
        parts = [text]
        if "/" in text:
            parts = [part for part in re.split(r"[/.]", text) if part]
    else:
        parts = [str(part) for part in value[:12] if type(part) in (str, int)]
    while len(parts) > 1 and parts[0] in _PLACE_PREFIXES:
        parts = parts[1:]
    if parts == ["body"]:
        return ""
    return ".".join(parts)


def _code(body: Mapping[str, Json]) -> SafeText | None:
    """The platform's code if it is a word, else None.

    Numbers (gRPC's codes, HTTP's own) mean nothing to the user.
    """
    errors = body.get("errors")
    first_error: Mapping[str, Json] = {}
    if type(errors) is list and errors and type(errors[0]) is dict:
        first_error = errors[0]
    extensions = first_error.get("extensions")
    for holder in (body, body.get("error"), body.get("Error"), first_error, extensions):
        if type(holder) is dict:
            code = _code_word(holder)
            if code is not None:
                return code
    if not any(fold(name) in ("message", "errordescription", "detail") for name in body):
        return None
    # Beside a message, `error` and AWS's `__type` hold the code.
    for value in (body.get("__type"), body.get("error")):
        if type(value) is str and re.fullmatch(r"[\w.#-]{3,60}", value):
            name = value.rpartition("#")[2]
            if fold(name) in _STATUS_PHRASES:
                return None
            return clean_line(name, 60)
    return None


def _code_word(holder: Mapping[str, Json]) -> SafeText | None:
    """The code under a key such as `code`, None if it is no word."""
    for key, value in islice(holder.items(), 100):
        if fold(key) not in ("code", "errorcode", "errcode") or type(value) is not str:
            continue
        text = value.strip()
        is_word = 0 < len(text) <= 60 and not text.isdigit()
        if is_word and fold(text) not in ("error", "err"):
            return clean_line(hide_keys(text), 60)
    return None


def _line(text: str) -> SafeText | None:
    """One safe line of a text without its stack trace and API keys; None if nothing is left."""
    stack = _STACK.search(text)
    if stack is not None:
        text = text[: stack.start()]
    words = " ".join(text[:4_000].split())
    if not words:
        return None
    return clean_line(hide_keys(words), _LINE_CELLS)
