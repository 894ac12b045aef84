"""The words in an answer that refuses, and the fields that they are about (SHAPES C)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from agentco_tui.api.names import fold, is_secret, some, word_set
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.schema import Json
from agentco_tui.reading.unknown_fields import hide_keys
from agentco_tui.text import SafeText, safe

MAX_LINES: Final = 5
LINE_CELLS: Final = 300
MAX_FIELDS: Final = 20
_MAX_DEPTH: Final = 6
_STACKS: Final = lazy_pattern(
    r"Traceback \(most recent call last\)|\n\s+at [\w.$<>]+\s*\(|\n\s*File \"[^\"]+\", line \d+"
    r"|^\s*at [\w.$<>]+\s*\(",
)
_NOT_SHOWN: Final = word_set(
    """stack stacktrace traceback trace exception debug exc_info excinfo cause input ctx url
    documentationurl type instance path timestamp"""
)
PHRASES: Final = word_set(
    """unauthorized forbidden notfound badrequest conflict internalservererror
    unprocessableentity toomanyrequests serviceunavailable badgateway gatewaytimeout
    methodnotallowed error unprocessablecontent"""
)
_MACHINE_WORD: Final = lazy_pattern(r"[a-z0-9]+(?:[_.-][a-z0-9]+)+")
"""`invalid_grant`: a code more than words, shown only where there are no words."""
_DROPPED_PLACES: Final = frozenset(("body", "query", "path", "header", "data", "attributes"))
_FIELD_NAMES: Final = (
    "loc", "path", "field", "param", "property", "propertypath", "datapath", "instancepath",
    "pointer", "attribute", "argument", "name", "key", "source",
)  # fmt: skip
_WORDS: Final = (
    "msg", "message", "detail", "description", "error", "errormessage", "errordescription", "info",
    "reason", "title", "defaultmessage", "text",
)  # fmt: skip
BESIDE_ERROR: Final = word_set(
    """error errors message detail details code status statuscode requestid traceid timestamp
    path servedby documentationurl type title instance errorcode errordescription fault
    exception extensions correlationid info"""
)


_ORDER: Final = (
    "detail", "message", "error", "errordescription", "msg", "info", "title", "errors", "reason",
    "errormessage", "errormessages", "description", "fault", "exceptionmessage", "failure",
    "statusmessage", "errmsg", "errortext", "userfacingmessage", "nonfielderrors", "cause",
)  # fmt: skip


_TELLING: Final = (
    "message", "msg", "errortext", "faultstring", "errordetail", "failurereason", "errorsummary",
    "explanation",
)  # fmt: skip
_FOR_MACHINES: Final = ("internal", "developer", "debug", "dev", "inner", "success", "commit")
_HOLDERS: Final = ("data", "result", "response", "meta", "status")
_ABOUT_ERRORS: Final = (
    "error", "err", "fault", "problems", "failures", "violations", "notifications", "messages",
    "responsestatus", "errors", "issues", "invalidfields", "failed",
)  # fmt: skip
"""Ends of names of objects and lists that hold what went wrong."""


def best_text(value: Json, depth: int) -> SafeText | None:
    """The text that SHAPES C's order picks; mere phrases ("Not Found") only if nothing better."""
    if depth > _MAX_DEPTH:
        return None
    if type(value) is str:
        return one_line(value)
    if type(value) is list:
        for item in value[:MAX_LINES]:
            if type(item) is str and (line := one_line(item)):
                return line
            if type(item) is dict and not _field_of(item) and (line := best_text(item, depth + 1)):
                return line
        return None
    if type(value) is not dict:
        return None
    if depth and _is_field_map(value):
        return None
    by_name = {fold(key): inner for key, inner in some(value, 200)}
    phrase: SafeText | None = None
    if "lang" in by_name and type(by_name.get("value")) is str:
        return one_line(by_name["value"])  # OData's message in a language
    texts = [name for name in _ORDER if type(by_name.get(name)) is str]
    nested = [name for name in _ORDER if type(by_name.get(name)) in (dict, list)]
    nested += [
        name
        for name, inner in by_name.items()
        if name not in _ORDER and name.endswith(_ABOUT_ERRORS) and type(inner) in (dict, list)
    ]
    if depth and type(by_name.get("text")) is str:
        texts.append("text")
    for name in (*texts, *_telling(by_name), *nested, *_HOLDERS):
        inner = by_name.get(name)
        if name in _HOLDERS and type(inner) is not dict:
            continue
        line = best_text(inner, depth + 1)
        if line is None:
            continue
        if fold(line) in PHRASES or _MACHINE_WORD.fullmatch(line):
            phrase = phrase or line
            continue
        return line
    return phrase


def _telling(by_name: Mapping[str, Json]) -> list[str]:
    """Further names of texts that tell what went wrong: `userMessage`, `faultstring`."""
    return [
        name
        for name, value in by_name.items()
        if type(value) is str and name.endswith(_TELLING) and not name.startswith(_FOR_MACHINES)
    ]


def one_line(text: str) -> SafeText | None:
    """One clean line of a text; what follows a stack trace's start is dropped."""
    stack = _STACKS.search(text)
    if stack is not None:
        text = text[: stack.start()]
    stripped = hide_keys(" ".join(text[:4_000].split()))
    return safe(stripped, LINE_CELLS) if stripped else None


_MAPS: Final = frozenset(("errors", "fields", "fielderrors", "validationerrors"))
_SAYING: Final = word_set("message detail details error errors code msg reason description status")
_FIELD_HOLDERS: Final = word_set(
    """errors details detail error message violations issues validationerrors fielderrors
    invalidparams fieldviolations fields errormessages data"""
)


def refused_fields(body: Mapping[str, Json]) -> Iterator[tuple[SafeText, SafeText]]:
    """(field, message) pairs, from any of the ways in SHAPES C2, C8, C10, C11, C12, C17."""
    for key, value in some(body, 100):
        folded = fold(key)
        holds = type(value) is list and value and type(value[0]) is dict
        if folded in _FIELD_HOLDERS or (holds and folded.endswith(_ABOUT_ERRORS)):
            yield from _pairs(value, 0)
        if folded in _MAPS and type(value) is dict:
            yield from _from_map_of_objects(value)
            if not _SAYING.intersection(map(fold, value)):
                yield from _from_map(value)
    param = body.get("param") or body.get("field")
    if type(param) is str and (told := best_text(body, 0)):
        yield safe(param, 80), safe(told)
    inner = body.get("error")
    if type(inner) is dict and type(inner.get("param")) is str and (told := best_text(inner, 0)):
        yield safe(inner["param"], 80), safe(told)
    if _is_field_map(body):
        yield from _from_map(body)


def _pairs(value: Json, depth: int) -> Iterator[tuple[SafeText, SafeText]]:
    if depth > 3:
        return
    if type(value) is list:
        for item in value[:MAX_FIELDS]:
            if type(item) is dict:
                field = _field_of(item)
                told = _word_of(item)
                if told and (field or depth == 0):
                    yield safe(field, 80), told
                yield from _nested_pairs(item, depth)
            elif type(item) is str and (line := one_line(item)):
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
            if fold(key) in ("error", "errors", "message", "messages"):
                return False
            lists += 1
        elif type(inner) is not str or fold(key) in _WORDS or fold(key) in BESIDE_ERROR:
            return False
    return lists > 0 or (0 < len(value) <= 50 and all(" " in str(part) for part in value.values()))


def _from_map_of_objects(
    value: Mapping[str, Json],
) -> Iterator[tuple[SafeText, SafeText]]:
    """`{"title": {"message": "is required"}}`, and the same with a list of such."""
    if not all(type(inner) in (dict, list) for inner in value.values()):
        return
    for key, inner in some(value, MAX_FIELDS):
        for each in (inner if type(inner) is list else [inner])[:MAX_LINES]:
            if type(each) is dict and (told := _word_of(each)):
                yield safe("" if key == "base" else _as_place(key), 80), told


def _from_map(value: Mapping[str, Json]) -> Iterator[tuple[SafeText, SafeText]]:
    for key, inner in some(value, MAX_FIELDS):
        if fold(key) in _NOT_SHOWN or (is_secret(key) and type(inner) is not list):
            continue
        for text in (inner if type(inner) is list else [inner])[:MAX_LINES]:
            if type(text) is str and (line := one_line(text)):
                yield safe(_as_place(key), 80), line


def _as_place(key: str) -> str:
    """A field's name, also from a JSON pointer: "/data/title" → "title"."""
    return _field_of({"path": key}) if key.startswith(("/", "#/")) else key


def _field_of(item: Mapping[str, Json]) -> str:
    """The field that an error is about: `loc`, `path`, `field`, a JSON pointer."""
    by_name = {fold(key): value for key, value in some(item, 50)}
    of_graphql = "extensions" in by_name or "locations" in by_name
    for name in _FIELD_NAMES:
        # GraphQL's path is where in the answer it happened, not what was wrong with the request
        value = None if of_graphql and name == "path" else by_name.get(name)
        if type(value) is dict:
            value = value.get("pointer") or value.get("parameter")
        if type(value) is list:
            parts = [str(part) for part in value[:12] if type(part) in (str, int)]
        elif type(value) is str and value:
            value = value.removeprefix("#")
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
        if type(value) is str and (line := one_line(value)):
            return line
        if type(value) is dict and (nested := best_text(value, 2)):
            return safe(nested)
    return None
