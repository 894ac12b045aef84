"""What a bundle shows unchanged: the words of our own tables, and figures under their names.

Everything else is replaced (`api/pseudonyms.py`). So a name that stands where none was expected, in
a verb, a type, a field's name or a path, is replaced as well.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from agentco_tui import reading
from agentco_tui.api import pagination
from agentco_tui.reading.envelope import WRAPPERS
from agentco_tui.reading.field_names import UNIT_WORDS, fold, split_unit, word_set, words
from agentco_tui.reading.kinds import mappable
from agentco_tui.reading.kinds.budget_owner import SCOPES
from agentco_tui.reading.kinds.trace import STEPS
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.values import status_word
from agentco_tui.text.memoized import memoized

PLAIN_FIELDS: Final = (
    *("status", "state", "priority", "severity", "level", "type", "kind", "currency", "period"),
    *("action", "event", "verb", "outcome", "unit", "code", "interval", "format"),
)
"""How the folded names of fields end whose values are words of status."""
NAME_FIELDS: Final = (
    *("name", "actor", "owner", "user", "author", "assignee", "agent", "company", "email", "login"),
    *("by", "from", "to", "person", "operator", "team", "organization", "organisation", "tenant"),
)
"""How the folded names of fields end whose values are names."""
SEGMENTS: Final = word_set(
    "api companies company agents tasks activity budget alerts trace approve clone export"
)
"""The segments of the interface's paths."""
MEDIA_TYPES: Final = word_set(
    """application text json html xml plain csv problem hal ld api vnd stream octet ndjson jsonl"""
)
_PRIVATE: Final = word_set(
    """phone phones mobile cell fax tel telephone lat latitude lng lon longitude geo location
    locations coordinates coords position positions point gps msisdn whatsapp sms ip ips ipv4 ipv6
    address addresses addr
    zip postal postcode ssn birth birthday dob passport iban"""
)
"""Words of the names of fields below which no figure is shown."""
SAYS_WHAT: Final = (
    *("type", "kind", "label", "key", "system", "channel", "medium", "use", "attribute", "field"),
)
"""How the folded names of fields end whose value says what the object holds."""
_MOST_WORDS_OF_A_KIND: Final = 2
_TEXT_SLOTS: Final = word_set(
    """name role template mission actor owner agent company task target title text description
    subject provider model pause_reason decided_by verb kind tool category type id"""
)
"""Slots that hold words or ids, not figures."""
_OF_A_STEP: Final = word_set("at duration tokens cost status depth level started ended failed")
"""Slots of a trace's steps that hold figures."""
_OF_A_SUM: Final = word_set("amount value total number amt price units nanos scale exponent")
"""What a sum that is an object has its figures under."""
_MORE_WORDS: Final = """
    api oid customer center project label
    next previous prev first last self href rel url uri cursor after before marker bookmark
    page pages per size limit offset skip start end count total has more is at on in to of and or
    created updated started finished ended by with for not no new old tool invoke invoked call
    called spawn spawned check checked test updated deleted removed added changed sent received
    requested required approval approved rejected request response run step message agent task
    company budget alert activity user human system service model policy threshold exceeded
    warning critical info error failed done set reset login logout
"""


def word_parts(text: str) -> list[str]:
    """The lower-case words of a name or a status, split at humps and at all but letters."""
    return [part for part in words(text) if part]


@cache
def known_fields() -> frozenset[str]:
    """The folded names, and the parts of dotted names, under which anything is read."""
    names = {
        fold(part) for field in _fields() for name in _names(field) for part in name.split(".")
    }
    for kind in mappable().values():
        names |= {fold(name) for name in (*kind.own, *kind.also)}
    return frozenset(names | set(WRAPPERS) | _paging_names())


@cache
def vocabulary() -> frozenset[str]:
    """Every word of our own tables: of names of fields, of statuses, of envelopes and paging."""
    found = set(_MORE_WORDS.split())
    for module in _tables():
        for name, value in vars(module).items():
            if not name.startswith("__"):
                found.update(_words_in(value, depth=0))
    for field in _fields():
        for name in _names(field):
            found.update(word_parts(name))
    return frozenset(word for word in found if word.isalpha())


@cache
def status_words() -> frozenset[str]:
    """The folded words that our tables have as a whole: statuses such as "in_progress", units."""
    tables = (status_word._TASKS, status_word._AGENTS, status_word._SEVERITIES, status_word._ALERTS)
    return frozenset(word for table in (*tables, UNIT_WORDS, SCOPES) for word in table)


@memoized(4096)
def is_figure(field: str, parent: str) -> bool:
    """Whether a figure or a time under that name is read, and so is shown."""
    folded, above = fold(field), fold(parent)
    # `from` is an offset for some, and for others who sent something.
    is_paging = folded in _paging_names() and folded != "from"
    if (above, folded) in _figure_pairs() or is_paging:
        return True
    is_sum = _is_figure_name(above) or above in _inner_figure_names()
    return _is_figure_name(folded) or (folded in _OF_A_SUM and is_sum)


@memoized(4096)
def is_private(field: str) -> bool:
    """Whether a field is named as one that holds a phone number, an address or a position."""
    return not _PRIVATE.isdisjoint(word_parts(field))


def says_private(record: Mapping[str, Any]) -> bool:
    """Whether an object names itself as one of those: {"type": "phone", "value": …}."""
    return any(
        isinstance(value, str) and fold(field).endswith(SAYS_WHAT) and _is_private_word(value)
        for field, value in record.items()
    )


def _is_private_word(text: str) -> bool:
    """Whether a text is such a word, alone or with one other: "mobile", "work phone"."""
    parts = word_parts(text)
    return len(parts) <= _MOST_WORDS_OF_A_KIND and not _PRIVATE.isdisjoint(parts)


@memoized(4096)
def is_id(field: str) -> bool:
    """Whether a field is named as one that holds ids, or a token for the next page."""
    parts = word_parts(field)
    return bool(parts) and parts[-1] in ("id", "ids", "uuid", "guid", "cursor", "token", "after")


def _is_figure_name(folded: str) -> bool:
    figures = _figure_names()
    return folded in figures or any(stem in figures for stem, _ in split_unit(folded))


@cache
def _figure_names() -> frozenset[str]:
    whole = (name for field in _figure_fields() for name in _names(field) if "." not in name)
    return frozenset(map(fold, whole))


@cache
def _figure_pairs() -> frozenset[tuple[str, str]]:
    """(name, name of what it stands in) of the figures that are read from inside of an object."""
    pairs = set[tuple[str, str]]()
    for field in _figure_fields():
        for name in _names(field):
            *_, parent, last = ("", *name.split("."))
            if parent:
                pairs.add((fold(parent), fold(last)))
    return frozenset(pairs)


@cache
def _inner_figure_names() -> frozenset[str]:
    return frozenset(last for _, last in _figure_pairs())


def _figure_fields() -> Iterator[Field]:
    for kind in mappable().values():
        for field in kind.table.fields:
            slot = field.slot.partition(" ")[0]
            if slot not in _TEXT_SLOTS and not slot.endswith(("_id", "_name")):
                yield field
    for field in STEPS.table.fields:
        if field.slot in _OF_A_STEP:
            yield field


def _fields() -> Iterator[Field]:
    for kind in mappable().values():
        yield from kind.table.fields
    yield from STEPS.table.fields


def _names(field: Field) -> Iterator[str]:
    return (name for name, _ in field.names_with_sources())


@cache
def _paging_names() -> frozenset[str]:
    """The names of page numbers, offsets, sizes and counts."""
    tables = (
        *(pagination._TOTALS, pagination._SIZES, pagination._PAGE_COUNTS),
        *(pagination._PAGE_NUMBERS, pagination._OFFSETS, pagination._MORE, pagination._IS_LAST),
    )
    return frozenset(name for table in tables for name in table) | {"nextoffset", "nextpage"}


def _tables() -> Iterator[Any]:
    """The modules that have tables of words."""
    for found in pkgutil.walk_packages(reading.__path__, f"{reading.__name__}."):
        yield importlib.import_module(found.name)
    yield pagination


def _words_in(value: object, depth: int) -> Iterator[str]:
    """The words of a constant: of a text without its comments, and of what a container holds."""
    if isinstance(value, str):
        for line in value.splitlines():
            yield from word_parts(re.sub(r"#.*", "", line)[:2_000])
            for word in line.partition("#")[0].split():
                yield from word_parts(word)
    elif isinstance(value, dict) and depth < 3:
        yield from _words_of_all(value.keys(), depth)
        yield from _words_of_all(value.values(), depth)
    elif isinstance(value, list | tuple | set | frozenset) and depth < 3:
        yield from _words_of_all(value, depth)


def _words_of_all(values: Iterable[object], depth: int) -> Iterator[str]:
    for value in values:
        yield from _words_in(value, depth + 1)
