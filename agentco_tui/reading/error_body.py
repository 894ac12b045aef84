"""What a platform's error says in words: from an error status, or from a 2xx that failed inside.

Names are looked up, as everywhere in this room; the order of precedence is that of the tables.
Never shown: stacks and tracebacks, keys echoed in a text, links of problem types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from agentco_tui.reading.field_names import fold, is_secret, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, looks_like_html, parse_json
from agentco_tui.reading.unknown_fields import hide_keys
from agentco_tui.text import SafeText, safe
from agentco_tui.text.patterns import lazy_pattern

_MAX_LINES: Final = 5
_MAX_FIELDS: Final = 20
_MAX_DEPTH: Final = 7
_LINE_CELLS: Final = 300

_TEXTS: Final = (
    "detail", "message", "errortext", "faultstring", "usermessage", "userfacingmessage",
    "resultmessage", "error", "errordescription", "errormessage", "msg", "errmsg", "info",
    "errordetail", "errorsummary", "failurereason", "explanation", "title", "reason",
    "description", "fault", "exceptionmessage", "failure", "statusmessage", "defaultmessage",
    "text",
)  # fmt: skip
"""Names under which an error's words stand, best first."""
_NESTED: Final = (
    "detail", "message", "error", "errors", "details", "errormessages", "fault", "messages",
    "violations", "issues", "fieldviolations", "fielderrors", "validationerrors", "fields",
    "invalidparams", "invalidfields", "usererrors", "problems", "failures", "failed",
    "notifications", "nonfielderrors", "odataerror", "responsestatus", "err", "cause",
    "extensions", "data", "result", "response", "meta", "status",
)  # fmt: skip
"""Names of the objects and lists that words stand in, best first."""
_HOLDERS: Final = frozenset(("data", "result", "response", "meta", "status", "extensions"))
"""Those of them that hold anything else as well."""
_PLACES: Final = (
    "loc", "path", "field", "param", "property", "propertypath", "datapath", "instancepath",
    "pointer", "attribute", "argument", "name", "key", "source",
)  # fmt: skip
"""Names under which one of several errors tells the field it is about."""
_WHOLE: Final = frozenset(("", "nonfielderrors", "base", "all"))
"""Places that mean all of what was sent."""
_PLACE_PREFIXES: Final = frozenset(("body", "query", "path", "header", "data", "attributes"))
_SAYING: Final = word_set("code msg reason description").union(_NESTED) - {"nonfielderrors"}
"""Names that no map from a field to its error has."""
_PHRASES: Final = word_set(
    """unauthorized forbidden notfound badrequest conflict internalservererror
    unprocessableentity toomanyrequests serviceunavailable badgateway gatewaytimeout
    methodnotallowed error unprocessablecontent"""
)
"""What only repeats the status."""
_NOT_SHOWN: Final = word_set("stack stacktrace traceback trace exception debug excinfo input ctx")
_BESIDE_ERROR: Final = word_set(
    """error errors message detail details code status statuscode requestid traceid timestamp
    path servedby documentationurl type title instance errorcode errordescription fault
    exception extensions correlationid info"""
)
"""What may stand beside an error in an answer that holds nothing else."""
_FLAGS: Final = {
    **dict.fromkeys(("ok", "success", "succeeded", "successful", "issuccess"), "false"),
    **dict.fromkeys(("haserror", "haserrors", "iserror"), "true"),
}
"""What flags say of a call that failed."""

_CODE: Final = lazy_pattern(r"[a-z0-9]+(?:[_.-][a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""`invalid_grant`, `TASK_NOT_PENDING`: shown as words only where there are no others."""
_STACK: Final = lazy_pattern(
    r"Traceback \(most recent call last\)|\n\s+at [\w.$<>]+\s*\(|\n\s*File \"[^\"]+\", line \d+"
    r"|^\s*at [\w.$<>]+\s*\("
)

_Said: TypeAlias = tuple[str, SafeText]
"""The field that a line is about ("" for the whole), and the line."""


class ErrorBody(msgspec.Struct, frozen=True):
    """What an answer says about why it failed."""

    message: SafeText | None = None
    """At most five lines joined to one; None if the answer has no words of its own."""
    code: SafeText | None = None  # the platform's code where it is text, such as `approval_expired`
    fields: tuple[tuple[SafeText, SafeText], ...] = ()
    """(field, message) pairs: which fields were refused, and why."""

    @property
    def told(self) -> SafeText | None:
        """The message with its code in brackets: "Already decided [approval_expired]"."""
        if self.message is None or self.code is None or self.code in self.message:
            return self.message or self.code
        return safe(f"{self.message} [{self.code}]", _LINE_CELLS * _MAX_LINES)


def read_error(body: bytes, content_type: str = "") -> ErrorBody:
    """The words in the body of a non-2xx answer; never raises, whatever the body."""
    if not body or body.isspace():
        return ErrorBody()
    if "html" in content_type.lower() or looks_like_html(body):
        return ErrorBody(safe("the address answered with a web page, not with data"))
    try:
        return error_in(parse_json(body))
    except BodyError:
        text = body[:8_000].decode("utf-8", "replace").strip()
        first = "" if text.startswith(("<", "{", "[")) else text.partition("\n")[0]
        return ErrorBody(_line(first))


def error_in(body: Json) -> ErrorBody:
    """The same for a body that was parsed already."""
    body = (
        {"errors": body} if type(body) is list else {"message": body} if type(body) is str else body
    )
    if type(body) is not dict:
        return ErrorBody()
    said = list(dict.fromkeys(_said(body, "", 0)))[: 4 * _MAX_FIELDS]
    fields = [(safe(place, 80), line) for place, line in said if place][:_MAX_FIELDS]
    general = [line for place, line in said if not place]
    best = next((x for x in general if fold(x) not in _PHRASES and not _CODE.fullmatch(x)), None)
    lines = [best] if best is not None else general[:1]
    lines += [
        line if fold(place) in _WHOLE else SafeText(f"{place}: {line}")
        for place, line in fields
        if best is None or not (line in best or _CODE.fullmatch(line))
    ]
    message = safe("; ".join(lines[:_MAX_LINES]), _LINE_CELLS * _MAX_LINES) if lines else None
    code = _code(body)
    if code is not None and message is not None and fold(message) == fold(code):
        code = None
    return ErrorBody(message, code, tuple(fields))


def says_failed(body: Json) -> bool:
    """True if a 2xx body says that the call failed.

    That is: `ok` or `success` is exactly false; `status` is "error" or "fail" without a record
    beside it; `error` is the only meaningful key; a code of failure; GraphQL's `errors` alone.
    """
    if type(body) is not dict or not body:
        return False
    named = {fold(key): value for key, value in islice(body.items(), 400)}
    if any(str(named.get(name)).lower() == said for name, said in _FLAGS.items()):
        return True
    if "jsonrpc" in named:
        return bool(named.get("error"))
    if any(name in named for name in ("id", "uuid", "taskid", "agentid", "companyid")):
        return False  # a record, and what happened to it
    if str(named.get("status")).strip().lower() in ("error", "fail"):
        return True
    # `{"code": 1001, "msg": "…", "data": null}`, and a status of 400 or more inside
    holds_more = any(type(value) in (list, dict) and value for value in named.values())
    worded = any(type(named.get(name)) is str for name in ("message", "msg", "error", "errmsg"))
    for name in ("status", "statuscode", "httpstatus", "code", "errcode"):
        code = named.get(name)
        if type(code) is int and not holds_more and (
            400 <= code < 600
            or (name in ("code", "errcode") and worded and code not in (0, 1, *range(200, 300)))
        ):  # fmt: skip
            return True
    failure = any(named.get(name) not in (None, True, False, "", [], {})
                  for name in ("error", "errors", "fault", "exception"))  # fmt: skip
    return failure and not any(
        value not in (None, "", [], {}, False)
        and name not in _BESIDE_ERROR
        and not (name == "data" and type(value) is dict and not any(value.values()))
        for name, value in named.items()
    )


def _said(value: Json, place: str, depth: int, *, is_item: bool = False) -> Iterator[_Said]:
    """All lines in `value`, best first; `place` is the field that they are about."""
    if type(value) is str and (line := _line(value)):
        yield place, line
    elif type(value) is list and depth <= _MAX_DEPTH:
        for item in value[:_MAX_FIELDS]:
            yield from _said(item, place, depth + 1, is_item=True)
    elif type(value) is dict and depth <= _MAX_DEPTH:
        if _is_map(value, depth):
            for key, inner in islice(value.items(), _MAX_FIELDS):
                if fold(key) not in _NOT_SHOWN and (type(inner) is list or not is_secret(key)):
                    yield from _said(inner, "" if key == "base" else _place(key), depth + 1)
            return
        named = {fold(key): inner for key, inner in islice(value.items(), 200)}
        if "lang" in named:  # OData: in a language
            yield from _said(named.get("value"), place, depth + 1)
        # Only one of several errors tells its field under more than two names.
        for name in _PLACES if is_item else ("param", "field"):
            at = named.get(name)
            if name == "path" and ("extensions" in named or "locations" in named):
                continue  # GraphQL: where in the answer it happened
            if type(at) is dict:
                at = at.get("pointer") or at.get("parameter")
            if type(at) in (str, list) and at and (told := _place(at)):
                place = told
                break
        lines = [line for name in _TEXTS if type(text := named.get(name)) is str
                 and (depth or name != "text") and (line := _line(text))]  # fmt: skip
        # An error of several says one thing.
        yield from ((place, line) for line in (lines[:1] if place else lines))
        for name in _NESTED:
            inner = named.get(name)
            if type(inner) is dict or (type(inner) is list and name not in _HOLDERS):
                yield from _said(inner, place, depth + 1)


def _is_map(value: Mapping[str, Json], depth: int) -> bool:
    """True for `{"title": ["is required"]}` and `{"title": {"message": "is required"}}`."""
    if not value or len(value) > 50 or any(fold(key) in _SAYING for key in value):
        return False
    lists = [inner for inner in value.values() if type(inner) is list]
    others = {fold(key): inner for key, inner in value.items() if type(inner) is not list}
    if any(type(part) is not str and not _speaks(part) for inner in lists for part in inner):
        return False
    if all(map(_speaks, others.values())):
        return True
    taken = _BESIDE_ERROR.union(_TEXTS) if depth == 0 else frozenset[str]()
    return taken.isdisjoint(others) and all(
        type(inner) is str and (lists or " " in inner) for inner in others.values()
    )


def _speaks(value: Json) -> bool:
    return type(value) is dict and any(fold(key) in ("message", "msg", "detail") for key in value)


def _place(value: str | list[Json]) -> str:
    """`["body", "items", 0, "title"]` and `#/items/0/title` as "items.0.title"."""
    if isinstance(value, str):
        text = value.removeprefix("#")
        parts = [part for part in re.split(r"[/.]", text) if part] if "/" in text else [text]
    else:
        parts = [str(part) for part in value[:12] if type(part) in (str, int)]
    while len(parts) > 1 and parts[0] in _PLACE_PREFIXES:
        parts = parts[1:]
    return "" if parts == ["body"] else ".".join(parts)


def _code(body: Mapping[str, Json]) -> SafeText | None:
    """A code that is a word; numbers (gRPC's, HTTP's own) tell a person nothing."""
    errors = body.get("errors")
    first = errors[0] if type(errors) is list and errors and type(errors[0]) is dict else {}
    for holder in (body, body.get("error"), body.get("Error"), first, first.get("extensions")):
        for key, value in islice(holder.items(), 100) if type(holder) is dict else ():
            text = value.strip() if type(value) is str else ""
            is_code = fold(key) in ("code", "errorcode", "errcode") and 0 < len(text) <= 60
            if is_code and not text.isdigit() and fold(text) not in ("error", "err"):
                return safe(hide_keys(text), 60)
    worded = any(fold(name) in ("message", "errordescription", "detail") for name in body)
    for value in (body.get("__type"), body.get("error")):
        if worded and type(value) is str and re.fullmatch(r"[\w.#-]{3,60}", value):
            name = value.rpartition("#")[2]
            return None if fold(name) in _PHRASES else safe(name, 60)
    return None


def _line(text: str) -> SafeText | None:
    """One clean line of a text; what follows a stack trace's start is dropped."""
    stack = _STACK.search(text)
    kept = " ".join((text if stack is None else text[: stack.start()])[:4_000].split())
    return safe(hide_keys(kept), _LINE_CELLS) if kept else None
