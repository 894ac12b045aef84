"""Decides which words and figures of an answer a bug report shows unchanged.

`agentco-tui doctor` can make a *bundle*, a file with recorded answers that a user attaches to a bug
report. `api/pseudonyms.py` replaces everything private in it, with the functions here: words that
the program knows are shown, and so are figures in fields that it reads. Everything else is
replaced, also a person's name in an unexpected place, such as a verb, a type, a field name or a
path.

The known words are collected from the tables by which answers are read: each *kind* of record
(`mappable_kinds`, and `STEPS` for the steps of a task's trace) has a table of `Field`s, with the
names under which platforms (the remote services that run AI agents) send them. A *slot* is our own
name of a field; a second word is a period ("limit month"). Names are compared *folded*:
`fold("created_At") == "createdat"`.
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
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.kinds.budget_owner import BUDGET_OWNER_TYPES
from agentco_tui.reading.kinds.trace import STEPS
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.values import status_word
from agentco_tui.text.memoized import memoized

CODE_FIELDS: Final = (
    "status",
    "state",
    "priority",
    "severity",
    "level",
    "type",
    "kind",
    "currency",
    "period",
    "action",
    "event",
    "verb",
    "outcome",
    "unit",
    "code",
    "interval",
    "format",
    "metric",
)
"""Endings of folded field names whose values are codes, such as a status or a unit."""
NAME_FIELDS: Final = (
    "name",
    "actor",
    "owner",
    "user",
    "author",
    "assignee",
    "agent",
    "company",
    "email",
    "login",
    "by",
    "from",
    "to",
    "person",
    "operator",
    "team",
    "organization",
    "organisation",
    "tenant",
)
"""Endings of folded field names whose values are names."""
PATH_SEGMENTS: Final = word_set(
    "api companies company agents tasks activity budget alerts trace approve clone export"
)
"""The segments of the paths that requests go to: the API is the same on all platforms."""
MEDIA_TYPES: Final = word_set(
    """application text json html xml plain csv problem hal ld api vnd stream octet ndjson jsonl"""
)
_PRIVATE: Final = word_set(
    """phone phones mobile cell fax tel telephone lat latitude lng lon longitude geo location
    locations coordinates coords position positions point gps msisdn whatsapp sms ip ips ipv4 ipv6
    address addresses addr
    zip postal postcode ssn birth birthday dob passport iban"""
)
"""Words in field names that mark a phone number, an address or a position: their figures are
replaced."""
_DESCRIBING_FIELDS: Final = (
    "type",
    "kind",
    "label",
    "key",
    "system",
    "channel",
    "medium",
    "use",
    "attribute",
    "field",
)
"""Endings of folded field names whose value says what the object around them holds."""
_MOST_DESCRIBING_WORDS: Final = 2
"""Words of a value such as "work phone"; a longer text describes nothing."""
_TEXT_SLOTS: Final = word_set(
    """name role template mission actor owner agent company task target title text description
    subject provider model pause_reason decided_by verb kind tool category type id key task_key
    target_key target_title error_reason reports_to"""
)
"""Slots of records that hold words or ids, not figures."""
_STEP_FIGURE_SLOTS: Final = word_set("at duration cost status level")
"""Slots of a trace's steps that hold figures; some platforms number the statuses and levels."""
_SUM_FIELDS: Final = word_set("amount value total number amt price units nanos scale exponent")
"""Field names of the figures in an amount that is an object."""
_DEEPEST: Final = 3
"""Containers within each other that are searched for words."""
_LONGEST_LINE: Final = 2_000
"""Characters of a line of a table that are searched for words."""
_OTHER_WORDS: Final = """
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
    """The lower-case words of a name or a status, split at humps and separators."""
    return [part for part in words(text) if part]


@cache
def known_fields() -> frozenset[str]:
    """The folded field names under which anything is read; of dotted names each part."""
    names: set[str] = set()
    for field in _all_fields():
        for name in _names_of(field):
            names.update(fold(part) for part in name.split("."))
    for kind in mappable_kinds().values():
        names.update(fold(name) for name in kind.list_keys)
        names.update(fold(name) for name in kind.fallback_list_keys)  # less certain ones
    names.update(WRAPPERS)
    names.update(_paging_names())
    return frozenset(names)


@cache
def vocabulary() -> frozenset[str]:
    """Every word of the tables: in field names, statuses, envelopes and paging."""
    all_words = set(_OTHER_WORDS.split())
    for module in _modules_with_tables():
        for name, value in vars(module).items():
            if not name.startswith("__"):
                all_words.update(_words_in(value, depth=0))
    for field in _all_fields():
        for name in _names_of(field):
            all_words.update(word_parts(name))
    return frozenset(word for word in all_words if word.isalpha())


@cache
def status_words() -> frozenset[str]:
    """The statuses, units and owners' types of the tables, in `snake_case`: "in_progress"."""
    tables = (status_word._TASKS, status_word._AGENTS, status_word._SEVERITIES, status_word._ALERTS)
    return frozenset(word for table in (*tables, UNIT_WORDS, BUDGET_OWNER_TYPES) for word in table)


@memoized(4096)
def is_figure(field: str, parent: str) -> bool:
    """Whether figures and times in a field are read, and therefore shown.

    `parent` is the name of the object around the field.
    """
    folded = fold(field)
    folded_parent = fold(parent)
    if (folded_parent, folded) in _figure_pairs() or _is_figure_name(folded):
        return True
    # To some platforms `from` is an offset, to others it is a sender.
    if folded in _paging_names() and folded != "from":
        return True
    is_in_amount = _is_figure_name(folded_parent) or folded_parent in _inner_figure_names()
    return folded in _SUM_FIELDS and is_in_amount


@memoized(4096)
def is_private(field: str) -> bool:
    """Whether the name of a field says that it holds a phone number, an address or a position."""
    return not _PRIVATE.isdisjoint(word_parts(field))


def says_private(record: Mapping[str, Any]) -> bool:
    """Whether an object says that its value is private: {"type": "phone", "value": …}."""
    return any(
        isinstance(value, str)
        and fold(field).endswith(_DESCRIBING_FIELDS)
        and _is_private_word(value)
        for field, value in record.items()
    )


def _is_private_word(text: str) -> bool:
    """Whether a text is a private word, alone or with one other: "mobile", "work phone"."""
    parts = word_parts(text)
    return len(parts) <= _MOST_DESCRIBING_WORDS and not _PRIVATE.isdisjoint(parts)


@memoized(4096)
def is_id(field: str) -> bool:
    """Whether the name of a field says that it holds ids, or a token for the next page."""
    parts = word_parts(field)
    return bool(parts) and parts[-1] in ("id", "ids", "uuid", "guid", "cursor", "token", "after")


def _is_figure_name(folded: str) -> bool:
    """Whether a figure is read under this name, with or without a unit at its end."""
    figures = _figure_names()
    return folded in figures or any(stem in figures for stem, _ in split_unit(folded))


@cache
def _figure_names() -> frozenset[str]:
    """The folded names of the figures that are read from a record itself."""
    names: set[str] = set()
    for field in _figure_fields():
        names.update(fold(name) for name in _names_of(field) if "." not in name)
    return frozenset(names)


@cache
def _figure_pairs() -> frozenset[tuple[str, str]]:
    """The figures that are read from inside an object: folded names of the object and the field."""
    pairs: set[tuple[str, str]] = set()
    for field in _figure_fields():
        for name in _names_of(field):
            parts = name.split(".")
            if len(parts) > 1:
                pairs.add((fold(parts[-2]), fold(parts[-1])))
    return frozenset(pairs)


@cache
def _inner_figure_names() -> frozenset[str]:
    return frozenset(last for _, last in _figure_pairs())


def is_text_slot(slot: str) -> bool:
    """Whether one of our fields holds words or ids, not figures."""
    return slot in _TEXT_SLOTS or slot.endswith(("_id", "_name"))


def _figure_fields() -> Iterator[Field]:
    """The fields whose values are figures or times, not words or ids."""
    for kind in mappable_kinds().values():
        for field in kind.table.fields:
            slot = field.slot.partition(" ")[0]
            if not is_text_slot(slot):
                yield field
    for field in STEPS.table.fields:
        if field.slot in _STEP_FIGURE_SLOTS:
            yield field


def _all_fields() -> Iterator[Field]:
    """The fields of all kinds of records, steps of a trace included."""
    for kind in mappable_kinds().values():
        yield from kind.table.fields
    yield from STEPS.table.fields


def _names_of(field: Field) -> Iterator[str]:
    """The names under which platforms send a field, without the note which platforms those are."""
    return (name for name, _ in field.names_with_sources())


@cache
def _paging_names() -> frozenset[str]:
    """The names of page numbers, offsets, sizes and counts."""
    tables = (
        pagination._TOTALS,
        pagination._SIZES,
        pagination._PAGE_COUNTS,
        pagination._PAGE_NUMBERS,
        pagination._OFFSETS,
        pagination._MORE,
        pagination._IS_LAST,
    )
    return frozenset(name for table in tables for name in table) | {"nextoffset", "nextpage"}


def _modules_with_tables() -> Iterator[Any]:
    """The modules that have tables of words."""
    for module in pkgutil.walk_packages(reading.__path__, f"{reading.__name__}."):
        yield importlib.import_module(module.name)
    yield pagination


def _words_in(value: object, depth: int) -> Iterator[str]:
    """The words of a constant: of a text without its comments, or of what a container holds."""
    if isinstance(value, str):
        for line in value.splitlines():
            yield from word_parts(re.sub(r"#.*", "", line)[:_LONGEST_LINE])
            for word in line.partition("#")[0].split():
                yield from word_parts(word)
    elif isinstance(value, dict) and depth < _DEEPEST:
        yield from _words_in_all(value.keys(), depth)
        yield from _words_in_all(value.values(), depth)
    elif isinstance(value, list | tuple | set | frozenset) and depth < _DEEPEST:
        yield from _words_in_all(value, depth)


def _words_in_all(values: Iterable[object], depth: int) -> Iterator[str]:
    for value in values:
        yield from _words_in(value, depth + 1)
