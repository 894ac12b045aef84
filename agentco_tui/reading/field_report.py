"""Reports which fields of an answer are read, and which are not, for `doctor --fields`.

An answer is one of the platform, the remote service that runs AI agents; a profile is the user's
configuration for it. A row is one object of a list in the answer, of which a record is made.
`report_fields` reads an answer as the client does (`read_page`, `read_overview`) and records the
rows that become records. `report_unreadable` reports an answer in which the client finds nothing.
Both return a `FieldReport`, from which a user writes the mapping of a profile.

A *field* is our name ("agent_id"), a *path* leads to a value of the platform's ("owner.uuid"), and
a *leaf* is a value with its path. A *slot* is a field, or a field with a period ("limit month").
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from agentco_tui.reading.decode import read_page
from agentco_tui.reading.envelope import find_list, unwrap_record
from agentco_tui.reading.field_meanings import MEANINGS
from agentco_tui.reading.field_names import MINOR, Unit, fold, is_secret, words
from agentco_tui.reading.field_path import FieldPath, fold_path, write_field_path
from agentco_tui.reading.field_similarity import (
    SimilarField,
    last_key,
    likeness_of,
    most_similar,
    names_by_field,
)
from agentco_tui.reading.json_access import Json, get_path, keys_of
from agentco_tui.reading.kinds.budget import WHOLE
from agentco_tui.reading.kinds.budget_overview import read_overview
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping, field_names, mapped_paths
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.reading.unknown_fields import HIDDEN, compact
from agentco_tui.reading.values.money import Sum, declared_unit, envelope_unit
from agentco_tui.text import SafeText, clean_line

_MAX_ROWS: Final = 200
"""How many records are examined."""
_MAX_UNREAD_PATHS: Final = 60
"""How many unread fields are reported."""
_MAX_KEYS: Final = 100
"""Keys of one object that are examined."""
_MAX_DEPTH: Final = 6
"""How many objects and lists within each other are examined."""
_MAX_ENTRIES: Final = 5
"""Entries of a list inside a record that are examined."""
_SAMPLE_BYTES: Final = 60
"""Length at which a sample value is cut."""
_PATH_CELLS: Final = 160
"""Cells of the terminal at which a path is cut."""
_POWERS: Final = {
    None: "unit assumed", 0: "whole units", -2: "cents", -6: "micros", -9: "nanos",
    MINOR: "minor units",
}  # fmt: skip
"""What a sum's power of ten is called."""
_REFERENCES: Final = ("agent", "company", "actor", "task", "target", "reports_to")
"""Fields of references: reading one of "agent", "agent_id" and "agent_name" is enough."""


class ReadField(Struct, frozen=True):
    """One of our fields that was read, with where its value came from."""

    field: str
    name: SafeText
    """The path of the platform's field."""
    unit: SafeText | None
    """The unit of a sum, as far as it is known; None for other fields."""
    sample: SafeText
    """The value in the first record that has one, as JSON; secrets are hidden."""
    records: int
    """How many records have a value."""


class UnreadField(Struct, frozen=True):
    """A field of the platform's that nothing was read from."""

    path: SafeText
    """Its path, as it is written in a profile."""
    sample: SafeText
    """The value in the first record that has one, as JSON; secrets are hidden."""
    records: int
    """How many records have a value."""
    similar: str | None
    """Our most similar field that can be read from such a value."""
    proposed: bool
    """Whether to map it to `similar`: they share a word, and no other path fits better."""


class UnmatchedPath(Struct, frozen=True):
    """A path of the profile that nothing was read from."""

    field: str
    path: SafeText
    reason: SafeText


class FieldReport(Struct, frozen=True):
    """What was read of one answer."""

    records: int
    unread_records: int
    unread_reasons: tuple[SafeText, ...]
    read: tuple[ReadField, ...]
    missing: tuple[str, ...]
    """Our fields worth mapping for which nothing was read."""
    left_over: tuple[SafeText, ...]
    """The top-level keys of records from which nothing was read."""
    unread: tuple[UnreadField, ...]
    always_null: tuple[SafeText, ...]
    """Paths that are null in every record, so that it is unknown what they hold."""
    unmatched: tuple[UnmatchedPath, ...]
    risks: tuple[SafeText, ...]
    """Sentences about what to check before anything is approved or changed."""


class _ReadRow(NamedTuple):
    """A row as it was read, and the record that was made of it."""

    row: Row
    unread: Mapping[str, Json]
    """The fields that nothing was read from, before the record was built."""
    record_id: str | None
    """The id of the record; None if the row is none."""
    doubt: SafeText | None = None
    """Why no write may name the record."""


class _Recorder(ProfileMapping):
    """A profile's mapping that keeps the rows of one kind as they are read."""

    def __init__(self, mapping: ProfileMapping, name: str) -> None:
        super().__init__(mapping.declared)
        self._mapping = mapping
        self._name = name
        self.rows: list[_ReadRow] = []

    def kind(self, kind: Kind[Any]) -> Kind[Any]:
        """The mapped kind; that of this recorder's name also keeps its rows."""
        mapped = self._mapping.kind(kind)
        if mapped.name != self._name:
            return mapped
        recording = copy(mapped)
        build = mapped.build

        def build_and_keep(row: Row, context: DecodeContext) -> Any:
            left = dict(row.unread)
            try:
                record = build(row, context)
            except Exception:
                self._keep(_ReadRow(row, left, None))
                raise
            self._keep(_ReadRow(row, left, record.id, record.unwritable))
            return record

        recording.build = build_and_keep
        return recording

    def _keep(self, row: _ReadRow) -> None:
        if len(self.rows) < _MAX_ROWS:
            self.rows.append(row)


def report_fields(kind: Kind[Any], body: Json, mapping: ProfileMapping = AS_SENT) -> FieldReport:
    """The report on a body that holds a list of `kind`, or the overview of budgets.

    Raises UnexpectedShape and RefusedBody where the client does.
    """
    recorder = _Recorder(mapping, kind.name)
    unread_records = 0
    unread_reasons: tuple[SafeText, ...] = ()
    if kind.name == WHOLE.name:
        read_overview(body, recorder)
        records = len(recorder.rows)
    else:
        page = read_page(recorder.kind(kind), body)
        records = len(page.records)
        unread_records = page.unread
        unread_reasons = page.unread_reasons
    rows = recorder.rows or _rows_without_records(mapping.kind(kind), body)
    report = _report(kind, body, mapping, rows)
    return replace(
        report, records=records, unread_records=unread_records, unread_reasons=unread_reasons
    )


def report_unreadable(
    kind: Kind[Any], body: Json, mapping: ProfileMapping = AS_SENT
) -> FieldReport:
    """The report on a body in which no list of `kind` is found: of its longest list of objects."""
    mapped = mapping.kind(kind)
    objects: list[Json] = []
    if kind.name != WHOLE.name:
        objects = _longest_list(body)
    objects = objects or [body]
    while len(objects) == 1 and type(objects[0]) is dict and len(objects[0]) == 1:
        (only,) = objects[0].values()
        if type(only) is not dict:
            break
        objects = [only]
    rows = [
        mapped.table.read(unwrap_record(each, mapped)) for each in objects if type(each) is dict
    ]
    return _report(kind, body, mapping, [_ReadRow(row, dict(row.unread), None) for row in rows])


def _longest_list(body: Json, depth: int = 0) -> list[Json]:
    """The longest list of objects in a body, up to three layers down."""
    if type(body) is list:
        return [each for each in body[:_MAX_ROWS] if type(each) is dict]
    if type(body) is not dict or depth > 2:
        return []
    inner = [_longest_list(value, depth + 1) for value in islice(body.values(), _MAX_KEYS)]
    return max(inner, key=len, default=[])


def _report(
    kind: Kind[Any], body: Json, mapping: ProfileMapping, rows: Sequence[_ReadRow]
) -> FieldReport:
    """The report on these rows; the caller fills in the numbers of records."""
    read = _read_fields(rows, envelope_unit(body).with_more(mapping.unit))
    all_leaves = [list(_leaves(each.row.obj)) for each in rows]
    unread, always_null = _unread_fields(kind, rows, all_leaves, set(read))
    return FieldReport(
        records=0,
        unread_records=0,
        unread_reasons=(),
        read=tuple(read[field] for field in field_names(kind) if field in read),
        missing=_missing(kind.name, set(read)),
        left_over=_left_over_keys(rows),
        unread=unread,
        always_null=always_null,
        unmatched=tuple(_unmatched(kind, mapping, rows, all_leaves)),
        risks=tuple(_risky_ids(kind.name, rows)),
    )


def _left_over_keys(rows: Sequence[_ReadRow]) -> tuple[SafeText, ...]:
    """The first 40 different keys of fields that nothing was read from."""
    keys = dict.fromkeys(key for row in rows for key in row.unread)
    return tuple(clean_line(key, 60) for key in islice(keys, 40))


def _rows_without_records(kind: Kind[Any], body: Json) -> list[_ReadRow]:
    """The rows of a list whose rows make no records, such as agents without an id."""
    found = find_list(body, kind)
    if found is None:
        return []
    objects = [item for item in found.items if type(item) is dict]
    rows = [kind.table.read(unwrap_record(item, kind)) for item in objects[:_MAX_ROWS]]
    return [_ReadRow(row, dict(row.unread), None) for row in rows]


def _read_fields(rows: Sequence[_ReadRow], answer_unit: Unit) -> dict[str, ReadField]:
    """The fields that were read, by our name."""
    read: dict[str, ReadField] = {}
    for row, *_ in rows:
        for slot, value in row.values.items():
            if slot not in row.chosen and slot not in row.plan.direct_candidates:
                continue  # computed when the record was built
            field = slot.partition(" ")[0]
            if field in read:
                read[field] = replace(read[field], records=read[field].records + 1)
                continue
            source = row.source(slot)
            path = (source.key, *_as_sent(row.obj[source.key], source.path_below))
            unit = None
            if type(value) is Sum:
                unit = _unit_in_words(value.unit.with_more(declared_unit(row.values, answer_unit)))
            name = clean_line(write_field_path(path), _PATH_CELLS)
            sample = _sample(path, get_path(row.obj[source.key], source.path_below))
            read[field] = ReadField(field, name, unit, sample, 1)
    return read


def _unit_in_words(unit: Unit) -> SafeText:
    """A unit in words: "cents of USD"."""
    size = _POWERS.get(unit.power, f"1e{unit.power}")
    if unit.currency:
        return clean_line(f"{size} of {unit.currency}", 60)
    return clean_line(size, 60)


def _as_sent(value: Json, path: FieldPath) -> FieldPath:
    """A folded path below a value as the platform spells its keys."""
    spelled: list[str | int] = []
    for part in path:
        key_as_sent = part
        if isinstance(part, str) and type(value) is dict:
            key_as_sent = next(iter(keys_of(value, part)), part)
        spelled.append(key_as_sent)
        value = get_path(value, (part,))
    return tuple(spelled)


def _sample(path: FieldPath, value: Json) -> SafeText:
    """A value as short JSON; hidden if it may be a secret."""
    has_secret_name = any(isinstance(part, str) and is_secret(part) for part in path)
    may_be_api_key = path == ("key",) and type(value) is str and len(value) > 16
    if has_secret_name or may_be_api_key:
        return clean_line(HIDDEN, 80)
    return clean_line(compact(value, _SAMPLE_BYTES), 80)


def _missing(kind: str, read: set[str]) -> tuple[str, ...]:
    """Our fields worth mapping for which nothing was read; of a reference only the id."""
    missing = []
    for field in MEANINGS[kind]:
        base = field.partition("_")[0]
        if base in _REFERENCES and field.removeprefix(base) in ("", "_id", "_name"):
            one_is_read = bool({base, f"{base}_id", f"{base}_name"} & read)
            if one_is_read or field != f"{base}_id":
                continue
        if field not in read:
            missing.append(field)
    return tuple(missing)


# -- fields that nothing is read from ------------------------------------------------------------


def _leaves(value: Json, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Json]]:
    """The values inside an object with their paths; of a list those of its first entry, and of
    the next ones those that the first entry does not have.
    """
    if len(path) > _MAX_DEPTH:
        return
    if type(value) is dict:
        for key, inner in islice(value.items(), _MAX_KEYS):
            yield from _leaves(inner, (*path, key))
    elif type(value) is list:
        seen: set[FieldPath] = set()
        for place, inner in enumerate(value[:_MAX_ENTRIES]):
            path_of_entry = (*path, place)
            for leaf_path, leaf in _leaves(inner, path_of_entry):
                path_below = leaf_path[len(path_of_entry) :]
                if path_below not in seen:
                    seen.add(path_below)
                    yield leaf_path, leaf
    elif path:
        yield path, value


_KEYS_OF_OBJECTS_READ: Final = frozenset(
    ("id", "uuid", "name", "displayname", "title", "type", "kind", "value", "amount", "currency")
)
"""Folded keys that are read if the object around them is, as a reference or a sum."""


def _is_read(path: FieldPath, read: FieldPath) -> bool:
    """Whether the value at `path` was read when the one at `read` was; both are folded."""
    if path[: len(read)] != read:
        return False
    # Below an object that was read as a whole, only the usual keys were used.
    return path == read or path[-1] in _KEYS_OF_OBJECTS_READ


def _unread_fields(
    kind: Kind[Any],
    rows: Sequence[_ReadRow],
    all_leaves: Sequence[Sequence[tuple[FieldPath, Json]]],
    taken: set[str],
) -> tuple[tuple[UnreadField, ...], tuple[SafeText, ...]]:
    """The unread fields, and the paths that are null in every row. `taken` are the fields read."""
    samples: dict[FieldPath, Json] = {}
    counts: dict[FieldPath, int] = {}
    for (row, unread_fields, *_), leaves in zip(rows, all_leaves, strict=True):
        sources = [row.source(slot) for slot in row.values if slot in row.chosen]
        sources += list(row.plan.direct_candidates.values())
        read = [fold_path((source.key, *source.path_below)) for source in sources]
        for path, value in leaves:
            if path[0] not in unread_fields or any(
                _is_read(fold_path(path), each) for each in read
            ):
                continue
            if len(samples) >= _MAX_UNREAD_PATHS and path not in samples:
                continue
            if samples.get(path) is None:
                samples[path] = value
            counts[path] = counts.get(path, 0) + (value is not None)
    always_null = [path for path, value in samples.items() if value is None]
    names = names_by_field(kind)
    similar = {
        path: most_similar(names, path, value)
        for path, value in samples.items()
        if value is not None and value != ""
    }
    best: dict[str, SimilarField] = {}
    for near in similar.values():
        if near is not None and near.shares_a_word:
            best[near.field] = max(best.get(near.field, near), near, key=likeness_of)
    ids = [path for path in similar if words(last_key(path))[-1:] == ("id",)]
    unread = []
    for path, near in similar.items():
        is_best = near is not None and best.get(near.field) is near
        is_free = near is not None and not _is_known(near.field, taken)
        # Among several ids it is not guessed which one is the record's.
        is_clear = near is not None and (near.field != "id" or len(ids) == 1)
        unread.append(
            UnreadField(
                clean_line(write_field_path(path), _PATH_CELLS),
                _sample(path, samples[path]),
                counts[path],
                None if near is None else near.field,
                proposed=is_best and is_free and is_clear and _is_writable(path),
            )
        )
    nulls = tuple(clean_line(write_field_path(path), _PATH_CELLS) for path in always_null)
    return tuple(unread), nulls


def _is_known(field: str, taken: set[str]) -> bool:
    """Whether a field, or another field of the same reference, was read."""
    base = field.partition("_")[0]
    if base not in _REFERENCES:
        return field in taken
    return bool({base, f"{base}_id", f"{base}_name"} & taken)


def _is_writable(path: FieldPath) -> bool:
    """Whether a path is shown unchanged; a cleaned or cut path would lead elsewhere."""
    written = write_field_path(path)
    return str(clean_line(written, _PATH_CELLS)) == written


# -- paths of the profile that lead nowhere ------------------------------------------------------


def _unmatched(
    kind: Kind[Any],
    mapping: ProfileMapping,
    rows: Sequence[_ReadRow],
    all_leaves: Sequence[Sequence[tuple[FieldPath, Json]]],
) -> Iterator[UnmatchedPath]:
    """The paths of the profile that no record has, or whose values cannot be read."""
    if not rows:
        return
    paths_sent = dict.fromkeys(
        write_field_path(path) for leaves in all_leaves for path, _ in leaves
    )
    for slot, path in mapped_paths(mapping, kind).items():
        written = write_field_path(path)
        folded = fold_path(path)
        values = [get_path(row.obj, folded) for row, *_ in rows]
        sent = [value for value in values if value is not None]
        if not sent:
            nearest = difflib.get_close_matches(written, list(paths_sent), n=1, cutoff=0.5)
            hint = ""
            if written in paths_sent:
                hint = "; it is null in every record"
            elif nearest:
                hint = f"; the nearest path is {nearest[0]}"
            yield UnmatchedPath(
                slot,
                clean_line(written, _PATH_CELLS),
                clean_line(f"no record has a value there{hint}", 200),
            )
            continue
        is_used = any(
            slot in row.values and fold_path(_path_of(row, slot)) == folded for row, *_ in rows
        )
        if not is_used:
            sample = _sample(path, sent[0])
            reason = f"what is there cannot be read for this field: {sample}"
            yield UnmatchedPath(slot, clean_line(written, _PATH_CELLS), clean_line(reason, 200))


def _path_of(row: Row, slot: str) -> FieldPath:
    """The path from which a slot of a row was read."""
    source = row.source(slot)
    return source.key, *source.path_below


# -- whose id it is ------------------------------------------------------------------------------

_OWN_IDS: Final = {
    "company": ("companyid", "id"),
    "agent": ("agentid", "id"),
    "task": ("taskid", "id"),
    "company_budget": ("companyid", "id"),
    "agent_budget": ("agentid", "id"),
}
"""Folded keys that are safe as the id of a kind; only of kinds to which writes are sent."""
_STORE_IDS: Final = frozenset(("uuid", "guid", "uid", "urn", "sysid", "gid"))
"""Folded keys of ids that a platform gives every row of its own."""


def _risky_ids(kind: str, rows: Sequence[_ReadRow]) -> Iterator[SafeText]:
    """A sentence if the id of records comes from a field that may be another record's."""
    own_names = _OWN_IDS.get(kind, ())
    slot = f"{kind.partition('_')[0]}_id" if kind.endswith("_budget") else "id"
    noun = kind.partition("_")[0]
    if not own_names:
        return
    for row, _, record_id, _ in rows:
        obj = row.obj
        if record_id is None:
            continue
        sources = [
            key for key, value in obj.items() if _is_scalar(value) and str(value) == record_id
        ]
        folded = {fold(key) for key in sources}
        if folded & {*own_names, *_STORE_IDS} or not sources:
            continue
        candidates = [key for key in obj if words(key)[-1:] == ("id",) and _is_scalar(obj[key])]
        if len(candidates) > 1:
            listed = ", ".join(candidates[:6])
            yield clean_line(
                f"the id is read from {sources[0]}, and a record has {listed}: check which of them"
                f' names the {noun}, and say so: {slot} = "…"',
                300,
            )
            return
    doubts = [each.doubt for each in rows if each.doubt is not None]
    if doubts:
        ask = f'check which field names the {noun}, and say so: {slot} = "…"'
        yield clean_line(f"{doubts[0]}; {ask}", 300)


def _is_scalar(value: Json) -> bool:
    """Whether a value can be an id."""
    return type(value) in (str, int) and value != ""
