"""Names of fields, and which slots the keys of an object may fill: Field -> Candidate -> Plan.

A slot is our name of a field ("title"); its names are those under which platforms (the remote
services) send it, with the platforms after `#`. Each kind of record, such as tasks or budgets, has
a `NameIndex` of its own: `envelope` finds its lists and records in an answer with it. When they are
found, `schema.Table` reads their rows by a `Plan`. The terms are explained in `reading.schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias

# fold: lower case, only letters and digits. Unit: what a sum is in: `_cents`, `_usd`, `_tokens`.
from agentco_tui.reading.field_names import NO_UNIT, Unit, fold, split_unit, unit_in_name
from agentco_tui.reading.field_path import FieldPath
from agentco_tui.reading.json_access import MAX_KEYS, Json, get_field, get_path, key_with_money_unit

# EMPTY: the raw value says nothing. Incomplete: a value read from a raw value that holds more.
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern

Reader: TypeAlias = Callable[..., Any]
"""Takes a raw value; the reader of a sum takes its `unit` as well."""

_INNER_BRACES: Final = lazy_pattern(r"\{([^{}]*)\}")
_NESTED: Final = frozenset((dict,))
_NESTED_OR_LIST: Final = frozenset((dict, list))


# -- Field -----------------------------------------------------------------------------------------


class Field(NamedTuple):
    """One slot of a record, the names it may come under, and how a value is read."""

    slot: str
    names: str
    """Best first, separated by blanks; the rest of a line after `#` is their source."""
    reader: Reader
    in_units: bool = False
    """True for sums of money, tokens or credits: the reader also takes the name's unit at its end.
    """
    path: FieldPath | None = None
    """The path that a profile (the user's configuration) maps the slot to; then the only name."""

    def names_with_sources(self) -> Iterator[tuple[str, str]]:
        """Each name, with braces expanded, and its source ("" if none is given)."""
        if self.path is not None:
            name, _, source = self.names.partition(" # ")
            yield name.strip(), source.strip()
            return
        yield from _declared_names_in(self.names)


@memoized(1024)
def _declared_names_in(text: str) -> tuple[tuple[str, str], ...]:
    """The names that are declared in a text, and their sources (see `Field.names_with_sources`).

    It is memoized, since budgets and alerts have hundreds in common.
    """
    names_with_sources: list[tuple[str, str]] = []
    for line in text.splitlines():
        names, _, source = line.partition("#")
        source = source.strip()
        for written in names.split():
            names_with_sources += [(name, source) for name in _expand_braces(written)]
    return tuple(names_with_sources)


def _expand_braces(name: str) -> list[str]:
    """`{a,b}.c` as `a.c` and `b.c`; braces may be nested."""
    braces = _INNER_BRACES.search(name) if "{" in name else None
    if braces is None:
        return [name]
    before = name[: braces.start()]
    after = name[braces.end() :]
    expanded: list[str] = []
    for alternative in braces[1].split(","):
        expanded += _expand_braces(f"{before}{alternative}{after}")
    return expanded


# -- Candidate -------------------------------------------------------------------------------------


class Candidate(NamedTuple):
    """One name of a field as a place in an object: a key, and the path below it."""

    field: Field
    name: str
    """As declared."""
    path_below: FieldPath
    """Folded names and list indices below the key; empty if the value of the key is meant."""
    rank: int
    """Its place among all names of the index, in their order; lower is better."""
    reader: Reader
    key: str = ""
    """The key of the object, as the platform spells it; "" until an object is at hand."""
    unit: Unit = NO_UNIT
    """The unit that the name ends in."""

    @property
    def is_mapped(self) -> bool:
        """Whether the name is from a profile's mapping."""
        return self.field.path is not None

    def with_key(self, key: str, name_with_unit: str) -> Candidate:
        """The candidate at `key`; sums are read in the unit that `name_with_unit` ends in."""
        if not self.field.in_units:
            return self._replace(key=key)
        unit = unit_in_name(name_with_unit)
        return self._replace(key=key, unit=unit, reader=partial(self.field.reader, unit=unit))

    def find_value(self, raw: Json) -> tuple[Json, Candidate]:
        """The value below `raw`, the value of the key (None if there is none), and the candidate.

        For a sum the last name of the path may end in a unit in the object; the candidate that is
        returned has that name and unit.
        """
        if not self.path_below or not self.field.in_units:
            return get_path(raw, self.path_below), self
        *path_to_holder, last = self.path_below
        if isinstance(last, int):
            return get_path(raw, self.path_below), self
        holder = get_path(raw, path_to_holder)
        if type(holder) is not dict:
            return None, self
        key = key_with_money_unit(holder, last)
        if key is None:
            return get_field(holder, last), self
        candidate = self.with_key(self.key, key)
        return holder[key], candidate._replace(path_below=(*path_to_holder, fold(key)))


def _preference(candidate: Candidate) -> tuple[int, int, str]:
    """A sort key: money before tokens and credits, then the rank; never the order of keys."""
    return candidate.unit.rank, candidate.rank, candidate.key


# -- Plan ------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Which slots the keys of an object may fill, for one tuple of keys."""

    direct: tuple[tuple[str, str, Reader], ...] = ()
    """(slot, key, reader) where only this key may fill the slot, and the key fills no other."""
    direct_candidates: Mapping[str, Candidate] = {}
    """The candidates of `direct`, by slot."""
    contested: tuple[tuple[Candidate, ...], ...] = ()
    """For each of the other slots its candidates, best first."""
    contested_keys: tuple[str, ...] = ()
    """The keys of `contested`."""
    unknown_keys: tuple[str, ...] = ()
    """Keys that are no name of the index."""
    respelled: tuple[tuple[str, str], ...] = ()
    """Pairs of keys that are two spellings of one name."""
    slots: frozenset[str] = frozenset()
    """All slots that may be filled."""
    is_record: bool = False
    """Whether one of the slots is there that a record of the kind needs."""


@memoized(64)
def _index_names(fields: tuple[Field, ...]) -> Mapping[str, list[tuple[Field, str, int]]]:
    """All names of the fields with their ranks, by the folded first part of each.

    There are thousands, and few of them occur: candidates are made of those that do. It is
    memoized, since all kinds of budgets have the same fields.
    """
    by_first_name: dict[str, list[tuple[Field, str, int]]] = {}
    rank = -1
    for field in fields:
        for name, _source in field.names_with_sources():
            rank += 1
            first = field.path[0] if field.path else name.partition(".")[0]
            by_first_name.setdefault(fold(str(first)), []).append((field, name, rank))
    return by_first_name


class NameIndex:
    """Which slots an object may fill, by the names of its keys.

    Plans are cached by the keys of an object.
    """

    def __init__(self, fields: Iterable[Field], needs_one_of: frozenset[str] = frozenset()) -> None:
        """A record fills at least one of the slots `needs_one_of`; if empty, any slot will do."""
        self.fields = tuple(fields)
        self.needs_one_of = needs_one_of
        self._cached_plan = memoized(512)(self._make_plan)
        self._candidates_named = memoized(4_096)(self._make_candidates)
        leads_into_lists = any(
            type(part) is int for field in self.fields for part in field.path or ()
        )
        self._container_types = _NESTED_OR_LIST if leads_into_lists else _NESTED
        """The types of values that a name leads into."""

    @cached_property
    def _fields_by_name(self) -> Mapping[str, list[tuple[Field, str, int]]]:
        return _index_names(self.fields)

    def _make_candidates(self, first_name: str) -> list[Candidate]:
        """The candidates whose names begin with this folded part, in the order of their ranks."""
        candidates: list[Candidate] = []
        seen = set[Any]()
        for field, name, rank in self._fields_by_name.get(first_name, ()):
            first, *below = field.path or name.split(".")
            path_below = tuple(part if isinstance(part, int) else fold(part) for part in below)
            identity = (field.slot, field.reader, *path_below)
            if identity in seen:  # `id` and `_id` are one name
                continue
            seen.add(identity)
            last_name = [part for part in (first, *below) if isinstance(part, str)][-1]
            candidate = Candidate(field, name, path_below, rank, field.reader)
            candidates.append(candidate.with_key("", last_name))
        return candidates

    def _candidates_of(self, key: str) -> list[Candidate]:
        """The candidates at a key: those of its name, else sums of its name without the unit."""
        folded = fold(key)
        candidates = self._candidates_named(folded)
        if candidates:
            return [candidate._replace(key=key) for candidate in candidates]
        for stem, _unit in split_unit(folded):
            sums = [
                candidate.with_key(key, key)
                for candidate in self._candidates_named(stem)
                if candidate.field.in_units and not candidate.path_below
            ]
            if sums:
                return sums
        return []

    def plan(self, obj: Mapping[str, Json]) -> Plan:
        """The plan for the keys of an object; nested names count only if it has nested values."""
        is_nested = not self._container_types.isdisjoint(map(type, obj.values()))
        return self._cached_plan(tuple(obj), is_nested)

    def _make_plan(self, keys: tuple[str, ...], is_nested: bool) -> Plan:
        candidates_by_slot: dict[str, list[Candidate]] = {}
        slots_of_key: dict[str, set[str]] = {}
        first_spelling: dict[str, str] = {}
        respelled: list[tuple[str, str]] = []
        unknown_keys: list[str] = []
        for key in keys[:MAX_KEYS]:
            candidates = [
                candidate
                for candidate in self._candidates_of(key)
                if is_nested or not candidate.path_below
            ]
            if not candidates:
                unknown_keys.append(key)
                continue
            spelling = first_spelling.setdefault(fold(key), key)
            if spelling != key:
                respelled.append((spelling, key))
            slots_of_key[key] = {candidate.field.slot for candidate in candidates}
            for candidate in candidates:
                candidates_by_slot.setdefault(candidate.field.slot, []).append(candidate)
        direct_candidates: dict[str, Candidate] = {}
        contested: list[tuple[Candidate, ...]] = []
        for slot, candidates in candidates_by_slot.items():
            first = candidates[0]
            fills_only_this = len(slots_of_key[first.key]) == 1
            if len(candidates) == 1 and not first.path_below and fills_only_this:
                direct_candidates[slot] = first
            else:
                contested.append(tuple(sorted(candidates, key=_preference)))
        direct_keys = {candidate.key for candidate in direct_candidates.values()}
        slots = frozenset(candidates_by_slot)
        return Plan(
            direct=tuple((slot, one.key, one.reader) for slot, one in direct_candidates.items()),
            direct_candidates=direct_candidates,
            contested=tuple(contested),
            contested_keys=tuple(key for key in slots_of_key if key not in direct_keys),
            unknown_keys=(*unknown_keys, *keys[MAX_KEYS:]),
            respelled=tuple(respelled),
            slots=slots,
            is_record=not slots.isdisjoint(self.needs_one_of or slots),
        )

    def slots(self, obj: Mapping[str, Json]) -> frozenset[str]:
        """The slots that have a name in an object, whatever its values are."""
        return self.plan(obj).slots

    def filled_slots(self, obj: Mapping[str, Json]) -> frozenset[str]:
        """The slots that an object has a value for that can be read."""
        obj = self._without_contradictions(obj)
        plan = self.plan(obj)
        filled: set[str] = set()
        for slot, key, reader in plan.direct:
            if obj[key] is not None and _is_value(reader(obj[key])):
                filled.add(slot)
        for candidates in plan.contested:
            if _first_value(obj, candidates) is not None:
                filled.add(candidates[0].field.slot)
        return frozenset(filled)

    def value_of(self, obj: Mapping[str, Json], slot: str) -> Any:
        """The best value that an object has for one slot; None without one."""
        obj = self._without_contradictions(obj)
        plan = self.plan(obj)
        direct = plan.direct_candidates.get(slot)
        if direct is not None:
            return _first_value(obj, (direct,))
        for candidates in plan.contested:
            if candidates[0].field.slot == slot:
                return _first_value(obj, candidates)
        return None

    def _without_contradictions(self, obj: Mapping[str, Json]) -> Mapping[str, Json]:
        """The object without keys that are two spellings of one name with different values."""
        contradictory = contradictory_keys(self.plan(obj), obj)
        if not contradictory:
            return obj
        return {key: value for key, value in obj.items() if key not in contradictory}

    def is_record(self, obj: Mapping[str, Json]) -> bool:
        """Whether one of the slots has a name in the object that a record needs."""
        return self.plan(obj).is_record


def contradictory_keys(plan: Plan, obj: Mapping[str, Json]) -> list[str]:
    """The keys that are spellings of one name with different values."""
    contradictory: list[str] = []
    for one, other in plan.respelled:
        if obj[one] is not None and obj[other] is not None and obj[one] != obj[other]:
            contradictory += (one, other)
    return contradictory


def _first_value(obj: Mapping[str, Json], candidates: Iterable[Candidate]) -> Any:
    """The value of the first candidate that can be read; None if there is none."""
    for candidate in candidates:
        raw, candidate_as_sent = candidate.find_value(obj[candidate.key])
        value = None if raw is None else candidate_as_sent.reader(raw)
        if _is_value(value):
            return value.value if type(value) is Incomplete else value
    return None


def _is_value(result: Any) -> bool:
    """Whether a reader has found a value."""
    return result is not None and result is not EMPTY
