"""Guesses which of our fields an unread field of a platform may be, by its name and its value.

Platforms are the remote services; a profile, the user's configuration for one, may map our fields
to its fields. `agentco-tui doctor --fields` shows these guesses as proposals for that; nothing is
read by them. A `Kind` describes one kind of record by a table of `Field`s, each with the names
under which platforms send it and a reader of its values.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agentco_tui.model import Moment
from agentco_tui.reading.field_meanings import MEANINGS
from agentco_tui.reading.field_names import NO_UNIT, unit_in_name, words
from agentco_tui.reading.field_path import FieldPath
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.reader_result import EMPTY
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.values.time import to_moment


class SimilarField(NamedTuple):
    """Our field that is most similar to a field of the platform."""

    field: str
    likeness: float
    """From about 0 to 1.4: the higher, the more similar."""
    shares_a_word: bool
    """Whether the names have a word in common that says what the field is about."""


def likeness_of(similar: SimilarField) -> float:
    """The likeness, for use as a sort key."""
    return similar.likeness


def last_key(path: FieldPath) -> str:
    """The last key of a path; its first part is one."""
    return [part for part in path if isinstance(part, str)][-1]


def names_by_field(kind: Kind[Any]) -> dict[str, list[tuple[Field, str]]]:
    """The names that our tables have for each field worth mapping.

    A slot such as "limit month" is a field of ours ("limit") with a period.
    """
    names: dict[str, list[tuple[Field, str]]] = {field: [] for field in MEANINGS[kind.name]}
    for field in kind.table.fields:
        slot = field.slot.partition(" ")[0]
        if slot in names:
            names[slot] += [(field, name) for name, _ in field.names_with_sources()]
    return names


def most_similar(
    names: Mapping[str, list[tuple[Field, str]]], path: FieldPath, value: Json
) -> SimilarField | None:
    """Our field with the most similar name that such a value can be read for."""
    best: SimilarField | None = None
    for slot, fields_and_names in names.items():
        own = [(field, name) for field, name in fields_and_names if _can_read(field, value)]
        if not own:
            continue
        spellings = [slot, *(name for _, name in own)]
        likeness = max(_likeness(path, name) for name in spellings) + _type_bonus(own, path, value)
        if best is None or likeness > best.likeness:
            shares_a_word = any(_shares_a_word(path, name) for name in spellings)
            best = SimilarField(slot, likeness, shares_a_word)
    return best


def _can_read(field: Field, value: Json) -> bool:
    result = field.reader(value)
    return result is not None and result is not EMPTY


def _likeness(path: FieldPath, name: str) -> float:
    """How alike the end of a path and a name of ours are, from 0 to 1."""
    keys = [part for part in path if isinstance(part, str)]
    last_name = name.rpartition(".")[2]
    theirs = _joined_words(keys[-1])
    ours = _joined_words(last_name)
    spelling = difflib.SequenceMatcher(None, theirs, ours).ratio()
    our_words = set(words(name.replace(".", "_")))
    their_words = [set(words(keys[-1])), {word for key in keys[-2:] for word in words(key)}]
    shared = max(len(our_words & each) / len(our_words | each or {""}) for each in their_words)
    return max(spelling, shared)


def _joined_words(name: str) -> str:
    """The specific words of a name, in their order, as one text."""
    specific = _specific_words(name)
    return "".join(word for word in words(name) if word in specific)


def _shares_a_word(path: FieldPath, name: str) -> bool:
    """Whether a path and a name of ours end in names that have a specific word in common.

    For a name of ours below an object (`payload.type`) the object's name must be alike, too.
    """
    keys = [part for part in path if isinstance(part, str)]
    holder, _, last_name = name.rpartition(".")
    if not _specific_words(keys[-1]) & _specific_words(last_name):
        return False
    if not holder:
        return True
    return len(keys) > 1 and bool(_specific_words(keys[-2]) & _specific_words(holder))


_COMMON_WORDS: Final = frozenset(
    ("id", "name", "at", "on", "date", "time", "value", "text", "total", "current", "last", "is")
)
"""Words of many names, which say what sort of value it is, and not of what."""


def _specific_words(name: str) -> frozenset[str]:
    """The words of a name without the common ones: `endDate` and `createDate` are not alike."""
    every = words(name)
    specific = frozenset(every).difference(_COMMON_WORDS)
    return specific or frozenset(every)


_TIME_WORDS: Final = frozenset(("at", "on", "date", "time", "ts", "timestamp"))


def _type_bonus(own: Sequence[tuple[Field, str]], path: FieldPath, value: Json) -> float:
    """A bonus if a value and a field are both a time, a sum or a text; negative if they differ."""
    reads_times = any(field.reader is to_moment for field, _ in own)
    reads_sums = any(field.in_units for field, _ in own)
    is_number = type(value) is not str and type(value) is not bool
    is_named_time = not _TIME_WORDS.isdisjoint(words(last_key(path)))
    is_time = (type(value) is str or is_named_time) and isinstance(to_moment(value), Moment)
    if is_time and reads_times:
        return 0.15
    if is_time or reads_times:
        return -0.3
    if reads_sums and unit_in_name(last_key(path)) != NO_UNIT:
        return 0.4
    if is_number and reads_sums:
        return 0.1
    if is_number or reads_sums:
        return -0.1
    return 0.0
