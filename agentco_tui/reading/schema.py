"""How the fields of a record are found: Field -> Candidate -> Plan -> Row.

- A `Field` is declared in a file of `kinds/`. It has a slot (our name), the names that platforms
  use for it, best first, and a reader that turns a raw value into ours.
- A `Candidate` is one of these names as a place in an object: a key, and the path below that key.
- A `Plan` says for one tuple of keys which candidates may fill which slots. It is made once for
  each tuple of keys, since the objects of a list mostly have the same.
- A `Row` is what was read of one object by its plan: values by slot, and the fields that nothing
  was read from.

An example with two fields:

>>> from agentco_tui.reading.values.money import money_field
>>> from agentco_tui.reading.values.scalar import named
>>> fields = [
...     Field("name", '''
...         name                  # most platforms
...         company_name          # names beside ids
...     ''', named),
...     money_field("spent", "spent usage.cost  # an invented platform"),
... ]
>>> table = Table(fields)
>>> company = {"companyName": "Acme", "usage": {"cost_cents": 1250}, "plan": "pro"}

`companyName` fills the slot `name`, and no other key can. What is below `usage` may fill `spent`,
and may hold more than that, so its candidates are compared for each object:

>>> plan = table.plan(company)
>>> [(slot, key) for slot, key, reader in plan.direct]
[('name', 'companyName')]
>>> [(one.key, one.path_below) for candidates in plan.contested for one in candidates]
[('usage', ('cost',))]
>>> plan.unknown_keys
('plan',)

>>> row = table.read(company)
>>> spent = row.values["spent"]
>>> row.values["name"], spent.value, spent.unit
('Acme', Decimal('1250'), Unit(power=-2, currency=None))
>>> row.unread
{'plan': 'pro'}
>>> row.source("spent").path_below
('costcents',)

Names are compared folded: case, humps and separators do not count. A dot leads into a nested
object, and `{stats,counts}.done` stands for both. The text after `#` is the source of the names
before it, so that a name can be doubted and deleted.

A reader takes a raw value and returns

- the value that it means
- None: not a value of this sort; the next candidate is tried, and the field stays unread
- `EMPTY`: understood, and there is nothing in it
- `Incomplete(value)`: understood, but the raw value holds more; it is used, and kept as unread too

Two spellings of one name that disagree (`costUsd: 1, cost_usd: 2`) are both unread: the order of
keys decides nothing.

A profile adds names with `Kind.with_mapping({"spent": "usage.cost_cents"})`. They are tried before
all others, and may lead into lists (see `field_path`).

The names of sums (`in_units`) may end in a unit, declared or not: `cost` stands for `cost_usd` and
`costCents` too. A name with a unit of money is preferred to all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from agentco_tui.model import Moment, Record, Ref
from agentco_tui.reading.field_names import NO_UNIT, Unit, fold, split_unit, unit_in_name
from agentco_tui.reading.field_path import FieldPath, parse_field_path
from agentco_tui.reading.json_access import (
    MAX_KEYS,
    Json,
    get_field,
    get_path,
    key_with_money_unit,
    remove_paths,
)
from agentco_tui.text import SafeText, safe
from agentco_tui.text.memoized import memoized

R = TypeVar("R", bound=Record)

Reader: TypeAlias = Callable[..., Any]
"""Takes a raw value; the reader of a sum takes its `unit` as well."""
Values: TypeAlias = dict[str, Any]
"""By slot, or by key."""

_NESTED: Final = frozenset((dict,))
_NESTED_OR_LIST: Final = frozenset((dict, list))


# -- what a reader returns -------------------------------------------------------------------------

EMPTY: Final = type("EMPTY", (), {})()
"""The raw value was understood and means that there is nothing: an empty text, a sentinel."""


class Incomplete(msgspec.Struct):
    """A value that was read from a raw value which holds more than that."""

    value: Any


_SPECIAL_RESULTS: Final = frozenset((type(None), type(EMPTY), Incomplete))


class UnreadableRecord(ValueError):  # noqa: N818 - counted and shown; the request does not fail
    """One object makes no record; the others are read. `str(error)` is the reason, safe to show."""


# -- Field -----------------------------------------------------------------------------------------


class Field(NamedTuple):
    """One slot of a record, the names it may come under, and how a value is read."""

    slot: str
    names: str
    """Best first, separated by blanks; the rest of a line after `#` is their source."""
    reader: Reader
    in_units: bool = False
    """True for sums: the reader also takes the unit that the name ends in."""
    path: FieldPath | None = None
    """The path that a profile maps the slot to; then it is the only name."""

    def names_with_sources(self) -> Iterator[tuple[str, str]]:
        """Each name, with braces expanded, and its source ("" if none is given)."""
        if self.path is not None:
            name, _, source = self.names.partition(" # ")
            yield name.strip(), source.strip()
            return
        for line in self.names.splitlines():
            names, _, source = line.partition("#")
            for written in names.split():
                for name in _expand_braces(written):
                    yield name, source.strip()


def _expand_braces(name: str) -> list[str]:
    """`{a,b}.c` as `a.c` and `b.c`; braces may be nested."""
    braces = re.search(r"\{([^{}]*)\}", name)
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
    """Its place among all names of the table; lower is better."""
    reader: Reader
    key: str = ""
    """The key of the object, as the platform spells it; "" in the table itself."""
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
    """A sort key: units of money first, then the rank; the order of keys never decides."""
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
    """Keys that are no name of the table."""
    respelled: tuple[tuple[str, str], ...] = ()
    """Pairs of keys that are two spellings of one name."""
    slots: frozenset[str] = frozenset()
    """All slots that may be filled."""
    is_record: bool = False
    """Whether one of the slots is there that a record of the kind needs."""


class Row(NamedTuple):
    """What was read of one object."""

    values: Values
    """By slot."""
    unread: Values
    """The fields that nothing was read from, by their keys."""
    obj: Mapping[str, Json]
    """The object."""
    plan: Plan
    chosen: Mapping[str, Candidate]
    """By contested slot, the candidate that its value is from."""

    def source(self, slot: str) -> Candidate:
        """The candidate that the value of a slot is from."""
        return self.chosen.get(slot) or self.plan.direct_candidates[slot]

    def leave_unread(self, slot: str) -> None:
        """Put a field whose value is not used back with the unread ones."""
        key = self.source(slot).key
        self.unread[key] = self.obj[key]


class Table:
    """The fields of one kind of object, compiled; plans are cached by the keys of an object."""

    def __init__(self, fields: Iterable[Field], needs: frozenset[str] = frozenset()) -> None:
        """`needs` are slots of which a record fills at least one; if empty, any slot will do."""
        self.fields = tuple(fields)
        self.needs = needs
        self._cached_plan = memoized(512)(self._make_plan)
        leads_into_lists = any(
            type(part) is int for field in self.fields for part in field.path or ()
        )
        self._container_types = _NESTED_OR_LIST if leads_into_lists else _NESTED
        """The types of values that a name of the table leads into."""

    @cached_property
    def _candidates_by_first_name(self) -> dict[str, list[Candidate]]:
        """All candidates by the folded first part of their names; made with the first plan."""
        by_first_name: dict[str, list[Candidate]] = {}
        seen = set[Any]()
        rank = -1
        for field in self.fields:
            for name, _source in field.names_with_sources():
                rank += 1
                first, *below = field.path or name.split(".")
                first_name = fold(str(first))
                path_below = tuple(part if isinstance(part, int) else fold(part) for part in below)
                identity = (field.slot, field.reader, first_name, *path_below)
                if identity in seen:  # `id` and `_id` are one name
                    continue
                seen.add(identity)
                last_name = [part for part in (first, *below) if isinstance(part, str)][-1]
                candidate = Candidate(field, name, path_below, rank, field.reader)
                by_first_name.setdefault(first_name, []).append(candidate.with_key("", last_name))
        return by_first_name

    def _candidates_of(self, key: str) -> list[Candidate]:
        """The candidates at a key: those of its name, else sums of its name without the unit."""
        folded = fold(key)
        candidates = self._candidates_by_first_name.get(folded)
        if candidates:
            return [candidate._replace(key=key) for candidate in candidates]
        for stem, _unit in split_unit(folded):
            sums = [
                candidate.with_key(key, key)
                for candidate in self._candidates_by_first_name.get(stem, ())
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
            is_record=not slots.isdisjoint(self.needs or slots),
        )

    def filled_slots(self, obj: Mapping[str, Json]) -> frozenset[str]:
        """The slots that this object has a value for."""
        return frozenset(self.read(obj).values)

    def read(self, obj: Mapping[str, Json]) -> Row:
        """The values of one object by slot, and the fields that nothing was read from."""
        plan = self.plan(obj)
        if plan.respelled:
            contradictory = _contradictory_keys(plan, obj)
            if contradictory:
                clear = {key: value for key, value in obj.items() if key not in contradictory}
                row = self.read(clear)
                row.unread.update((key, obj[key]) for key in contradictory)
                return row
        values: Values = {}
        unread: Values = {}
        for slot, key, reader in plan.direct:
            raw = obj[key]
            if raw is None:
                continue
            value = reader(raw)
            if type(value) not in _SPECIAL_RESULTS:
                values[slot] = value
            elif value is None:
                unread[key] = raw
            elif value is not EMPTY:
                unread[key] = raw
                values[slot] = value.value
        chosen = _read_contested(plan, obj, values, unread) if plan.contested else {}
        for key in plan.unknown_keys:
            unread[key] = obj[key]
        return Row(values, unread, obj, plan, chosen)


def _contradictory_keys(plan: Plan, obj: Mapping[str, Json]) -> list[str]:
    """The keys that are spellings of one name with different values."""
    contradictory: list[str] = []
    for one, other in plan.respelled:
        if obj[one] is not None and obj[other] is not None and obj[one] != obj[other]:
            contradictory += (one, other)
    return contradictory


def _read_contested(
    plan: Plan, obj: Mapping[str, Json], values: Values, unread: Values
) -> dict[str, Candidate]:
    """Fill the slots that several candidates may fill, or whose keys may fill others too.

    The first candidate of a slot whose value can be read fills it. Returns the one used, by slot.
    """
    chosen: dict[str, Candidate] = {}
    read_paths: dict[str, list[FieldPath]] = {}
    """By key, the paths below it that were read; the empty path is the whole value."""
    for candidates in plan.contested:
        for candidate in candidates:
            key = candidate.key
            raw = obj[key]
            if candidate.path_below:
                raw, candidate = candidate.find_value(raw)  # noqa: PLW2901
            value = None if raw is None else candidate.reader(raw)
            if value is None:
                continue
            if type(value) is Incomplete:
                value = value.value
            else:
                read_paths.setdefault(key, []).append(candidate.path_below)
            if value is EMPTY:
                continue
            slot = candidate.field.slot
            values[slot] = value
            chosen[slot] = candidate
            if not candidate.path_below:
                # The same value under another name of the slot says nothing more.
                for other in candidates:
                    is_repeated = other.key != key and not other.path_below
                    if is_repeated and obj[other.key] == raw:
                        read_paths.setdefault(other.key, []).append(())
            break
    for key in plan.contested_keys:
        rest = obj[key]
        paths = read_paths.get(key)
        if paths is not None:
            rest = None if () in paths else remove_paths(rest, paths)
        if rest is not None and rest != "":
            unread[key] = rest
    return chosen


# -- Kind ------------------------------------------------------------------------------------------


class DecodeContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a record may need to know of the answer that it came in."""

    names: Mapping[str, SafeText] = {}
    """Names of other records in the same answer, by id (`included`, sideloaded lists)."""
    unit: Unit = NO_UNIT
    """The unit of all sums, if the answer declares it once: `{"currency": "EUR", "data": []}`."""
    is_root: bool = False
    """True if the record is the whole body: then `timestamp` is the answer's time."""
    key: str | None = None
    """The key of the record in a map of records; None in a list."""
    survey: Any = None
    """What `Kind.survey` found in all rows of the answer."""
    path: str = ""
    """The name of the list that the record is in: "agents", "data", or "" in a bare list."""
    trace_start: Moment | None = None
    """When the trace began that a step is in."""

    def named(self, ref: Ref | None) -> Ref | None:
        """`ref` with its name filled in from `names`, if it has an id and no name."""
        if ref is None or ref.name is not None or ref.id is None:
            return ref
        return Ref(ref.id, self.names.get(ref.id))


Build: TypeAlias = Callable[[Row, DecodeContext], R]
"""Makes a record of a row; raises UnreadableRecord if it is none."""


class Kind(Generic[R]):
    """One kind of record: its names in answers, its table, and how a record is built of a row.

    - `name`: as in `[profiles.X.fields.NAME]`; `noun`: the plural, for sentences
    - `own`: the kind's names in answers, best first; `also`: what related platforms call it, tried
      after the usual wrappers
    - `needs`: slots of which a record fills at least one (if empty, any slot of the table);
      `nameless`: the reason that is shown for an object that fills none
    - `most`: the largest number of records in a listing
    - `survey`: looks at all rows before the first record is built
    - `instead`: reads a summary in place of a list; raises UnreadableRecord if it is none
    """

    def __init__(
        self,
        name: str,
        *,
        noun: str,
        own: str,
        also: str = "",
        fields: Sequence[Field],
        build: Build[R],
        needs: str = "",
        nameless: str,
        most: int,
        survey: Callable[[Sequence[Row]], Any] | None = None,
        instead: Callable[[Json], R | None] | None = None,
    ) -> None:
        self.name = name
        self.noun = noun
        self.own = tuple(map(fold, own.split()))
        self.also = tuple(map(fold, also.split()))
        self.table = Table(fields, frozenset(needs.split()))
        self.build = build
        self.nameless = safe(nameless)
        self.most = most
        self.survey = survey
        self.instead = instead
        self.unit: Unit = NO_UNIT
        """The unit of sums that a profile declares."""

    def with_mapping(self, names: Mapping[str, str]) -> Kind[R]:
        """A copy that tries a platform's own names (paths, by slot) before all others.

        Raises KeyError for a slot that the kind does not have, FieldPathError for a malformed path.
        """
        first_field = {field.slot: field for field in reversed(self.table.fields)}
        mapped = [
            first_field[slot]._replace(names=f"{name} # profile", path=parse_field_path(name))
            for slot, name in names.items()
        ]
        same_slot: list[Field] = []
        others: list[Field] = []
        for field in self.table.fields:
            if field.slot in names:
                same_slot.append(field)
            elif field.slot.split(" ")[0] not in names:  # "spent month" gives way to "spent", too
                others.append(field)
        other = copy(self)
        other.table = Table((*mapped, *same_slot, *others), self.table.needs)
        return other

    def read(self, obj: Mapping[str, Json], context: DecodeContext) -> R:
        """The record in one object that is not in a list; raises UnreadableRecord if it is none."""
        row = self.table.read(obj)
        if self.survey is not None:
            context = msgspec.structs.replace(context, survey=self.survey([row]))
        return self.build(row, context)
