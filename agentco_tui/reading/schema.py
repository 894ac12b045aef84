"""How the fields of a record are found: a table of exact names for each kind, and nothing else.

A kind is declared in one file of `kinds/`:

    FIELDS = (
        Field("name", '''
            name               # paperclip, OpenFang
            company_name       # names beside ids: most platforms
        ''', named),
        money_field("spent", "spent_monthly   # paperclip: spentMonthlyCents"),
    )
    COMPANIES = Kind("companies", noun="companies", own="companies company", fields=FIELDS, ...)

The names of a slot stand in order of rank, best first, over all its `Field`s. They are compared
folded (case, humps and separators do not count); a dot leads into a nested object, and
`{stats,counts}.done` stands for both. What follows `#` is the source: the platform or document
that uses the name, so that it can be doubted and deleted.

A reader takes a raw value and returns what it means, or

- None: not of that kind; the next name is tried, and the field stays among the unknown ones
- `NOTHING`: understood, and it says that there is nothing
- `Partial(value)`: understood, but the raw value holds more; it is used, and kept whole as well

What no name of the table leads to is kept in `Row.left`. Two spellings of one name that disagree
(`costUsd: 1, cost_usd: 2`) are both left there: the order of keys decides nothing.

A platform's own names come in by `Kind.with_mapping({"spent": "usage.cost_cents"})`: they are
tried before all others, and may lead into lists (see `field_path`).

The names of a field of sums (`in_units`) may have a unit at their end, declared or not: `cost`
stands for `cost_usd` and `costCents`, too. One that tells a unit of money goes before all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from agentco_tui.model import Record, Ref
from agentco_tui.reading.field_names import NO_UNIT, Unit, fold, split_unit, unit_in_name
from agentco_tui.reading.field_path import FieldPath, parse_field_path
from agentco_tui.text import SafeText, safe
from agentco_tui.text.memoized import memoized

R = TypeVar("R", bound=Record)

Json: TypeAlias = Any
"""None, bool, int, Decimal, str, or a list or dict of these; never a float."""
Reader: TypeAlias = Callable[..., Any]
"""Takes a raw value; of a field of sums also their unit."""
Values: TypeAlias = dict[str, Any]

_NESTED: Final = frozenset((dict,))
_NESTED_OR_LIST: Final = frozenset((dict, list))
_MOST_KEYS: Final = 400
"""An object with more keys is read by its first 400; the rest is kept as unknown."""

NOTHING: Final = type("NOTHING", (), {})()
"""Understood, and means that there is nothing: an empty text, a sentinel."""


class Partial(msgspec.Struct):
    """A value that was read from a raw value which holds more than that."""

    value: Any


_SPECIAL: Final = frozenset((type(None), type(NOTHING), Partial))


class Unread(ValueError):  # noqa: N818 - told, and no failure of the call
    """One record cannot be read; costs only itself. `str(error)` is the reason, fit to show."""


class Field(NamedTuple):
    """One slot of a record, the names it may come under, and how a value is read."""

    slot: str
    names: str
    """Best first, blank-separated; the rest of a line after `#` is their source."""
    reader: Reader
    in_units: bool = False
    """Sums: the reader is told the unit that the name ends in."""
    path: FieldPath | None = None
    """A path that may lead into lists, as a profile maps the slot to; then it is the only name."""

    def sourced(self) -> Iterator[tuple[str, str]]:
        if self.path is not None:
            name, _, source = self.names.partition(" # ")
            yield name.strip(), source.strip()
            return
        for line in self.names.splitlines():
            names, _, source = line.partition("#")
            for name in names.split():
                yield from ((each, source.strip()) for each in _expanded(name))


def _expanded(name: str) -> list[str]:
    """`{a,b}.c` as `a.c` and `b.c`."""
    found = re.search(r"\{([^{}]*)\}", name)
    if found is None:
        return [name]
    start, end = name[: found.start()], name[found.end() :]
    return [each for part in found[1].split(",") for each in _expanded(f"{start}{part}{end}")]


class Candidate(NamedTuple):
    """One name of the table, as declared, and the key that it is in an object."""

    field: Field
    name: str
    inner: FieldPath
    """The folded names, and places in lists, below the key; empty for the value of the key."""
    rank: int
    reader: Reader
    key: str = ""
    unit: Unit = NO_UNIT

    @property
    def is_mapped(self) -> bool:
        """Whether the name is a profile's."""
        return self.field.path is not None

    def at(self, key: str, spelt: str) -> Candidate:
        """The same under a key; sums are in the unit that the name, as it is spelt, ends in."""
        if not self.field.in_units:
            return self._replace(key=key)
        unit = unit_in_name(spelt)
        return self._replace(key=key, unit=unit, reader=partial(self.field.reader, unit=unit))

    def find(self, raw: Json) -> tuple[Json, Candidate]:
        """What the path below the key leads to, else None; and the candidate as it was spelt."""
        if not (self.inner and self.field.in_units):
            return dig(raw, self.inner), self
        *path, last = self.inner
        if isinstance(last, int):
            return dig(raw, self.inner), self
        holder = dig(raw, path)
        if type(holder) is not dict:
            return None, self
        key = _with_unit(tuple(islice(holder, _MOST_KEYS)), last)
        if key is None:
            return under(holder, last), self
        return holder[key], self.at(self.key, key)._replace(inner=(*path, fold(key)))


class Plan(NamedTuple):
    """What one tuple of keys means."""

    plain: tuple[tuple[str, str, Reader], ...] = ()
    """(slot, key, reader) where nothing else may fill the slot, nor the key another."""
    ranked: tuple[tuple[Candidate, ...], ...] = ()
    """For each of the other slots its candidates, best first."""
    shared: tuple[str, ...] = ()
    """The keys of ranked candidates."""
    unknown: tuple[str, ...] = ()
    twins: tuple[tuple[str, str], ...] = ()
    """Keys that are spellings of one name."""
    only: Mapping[str, Candidate] = {}
    """By plain slot."""
    has: frozenset[str] = frozenset()
    is_record: bool = False


class Row(NamedTuple):
    values: Values
    """By slot."""
    left: Values
    """The fields that nothing was read from, by their keys."""
    obj: Mapping[str, Json]
    plan: Plan
    chosen: Mapping[str, Candidate]
    """By slot, which of several candidates it was."""

    def source(self, slot: str) -> Candidate:
        return self.chosen.get(slot) or self.plan.only[slot]

    def keep(self, slot: str) -> None:
        """Put a field that was read but is not used back with the unknown ones."""
        key = self.source(slot).key
        self.left[key] = self.obj[key]


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What a record may need to know of the answer it stood in."""

    names: Mapping[str, SafeText] = {}
    """Names of other records in the same answer by id (`included`, sideloaded lists)."""
    unit: Unit = NO_UNIT
    """The unit of all sums, where the answer tells it once: `{"currency": "EUR", "data": []}`."""
    is_root: bool = False
    """True if the record is the whole body: then `timestamp` is the answer's time."""
    key: str | None = None
    """The record's id where only the key of a map told it."""
    survey: Any = None
    """What `Kind.survey` found in all rows of the answer."""
    path: str = ""
    """The name of the list that the record stood in: "agents", "data", or "" in a bare one."""

    def named(self, ref: Ref | None) -> Ref | None:
        """`ref` with its name filled in from beside the list, where it had none."""
        if ref is None or ref.name is not None or ref.id is None:
            return ref
        return Ref(ref.id, self.names.get(ref.id))


Build: TypeAlias = Callable[[Row, Around], R]


class Table:
    """The names of one kind of object, compiled; a plan is kept for each tuple of keys."""

    def __init__(self, fields: Iterable[Field], needs: frozenset[str] = frozenset()) -> None:
        """`needs`: slots of which a record fills one; without any it may be each."""
        self.fields, self.needs = tuple(fields), needs
        self._plan = memoized(512)(self._made)
        leads_into_lists = any(
            type(part) is int for field in self.fields for part in field.path or ()
        )
        self._holders = _NESTED_OR_LIST if leads_into_lists else _NESTED
        """The types of values that some name of the table leads into."""

    @cached_property
    def _by_first(self) -> dict[str, list[Candidate]]:
        """All names by the folded first part; made when the first object is read."""
        found: dict[str, list[Candidate]] = {}
        places = set[Any]()
        names = ((field, name) for field in self.fields for name, _ in field.sourced())
        for rank, (field, name) in enumerate(names):
            first, *inner = field.path or name.split(".")
            folded = tuple(part if isinstance(part, int) else fold(part) for part in inner)
            place = (field.slot, field.reader, fold(str(first)), *folded)
            if place not in places:  # `id` and `_id` are one
                places.add(place)
                each = Candidate(field, name, folded, rank, field.reader)
                last_name = [part for part in (first, *inner) if isinstance(part, str)][-1]
                found.setdefault(fold(str(first)), []).append(each.at("", last_name))
        return found

    def _named(self, key: str, folded: str) -> list[Candidate]:
        """What a key means: names that it is, else those of sums without the unit at its end."""
        if found := self._by_first.get(folded):
            return [each._replace(key=key) for each in found]
        stems = (self._by_first.get(stem, ()) for stem, _ in split_unit(folded))
        sums = ([each for each in some if each.field.in_units and not each.inner] for some in stems)
        return [each.at(key, key) for each in next(filter(None, sums), ())]

    def plan(self, obj: Mapping[str, Json]) -> Plan:
        """What its keys mean; without nested names where no object is nested."""
        return self._plan(tuple(obj), not self._holders.isdisjoint(map(type, obj.values())))

    def _made(self, keys: tuple[str, ...], is_nested: bool) -> Plan:
        slots: dict[str, list[Candidate]] = {}
        spelt: dict[str, str] = {}
        twins: list[tuple[str, str]] = []
        unknown: list[str] = []
        uses: dict[str, int] = {}
        for key in keys[:_MOST_KEYS]:
            folded = fold(key)
            named = self._named(key, folded)
            candidates = [each for each in named if is_nested or not each.inner]
            if not candidates:
                unknown.append(key)
                continue
            uses[key] = len({each.field.slot for each in candidates})
            if spelt.setdefault(folded, key) != key:
                twins.append((spelt[folded], key))
            for each in candidates:
                slots.setdefault(each.field.slot, []).append(each)
        only: dict[str, Candidate] = {}
        ranked: list[tuple[Candidate, ...]] = []
        for slot, found in slots.items():
            first = found[0]
            if len(found) == 1 and not first.inner and uses[first.key] == 1:
                only[slot] = first
                del uses[first.key]
            else:
                # In no case does the order of keys matter.
                found.sort(key=lambda each: (each.unit.rank, each.rank, each.key))
                ranked.append(tuple(found))
        has = frozenset(slots)
        return Plan(
            plain=tuple((slot, each.key, each.reader) for slot, each in only.items()),
            ranked=tuple(ranked),
            shared=tuple(uses),
            unknown=(*unknown, *keys[_MOST_KEYS:]),
            twins=tuple(twins),
            only=only,
            has=has,
            is_record=not has.isdisjoint(self.needs or has),
        )

    def fills(self, obj: Mapping[str, Json]) -> frozenset[str]:
        """The slots that this object has a value for."""
        return frozenset(self.read(obj).values)

    def read(self, obj: Mapping[str, Json]) -> Row:
        """The values of one object, and what is left of it."""
        plan = self.plan(obj)
        doubtful = [
            key
            for pair in plan.twins
            if None not in (said := [obj[key] for key in pair]) and said[0] != said[1]
            for key in pair
        ]
        if doubtful:
            row = self.read({key: value for key, value in obj.items() if key not in doubtful})
            row.left.update((key, obj[key]) for key in doubtful)
            return row
        values: Values = {}
        left: Values = {}
        for slot, key, reader in plan.plain:
            raw = obj[key]
            if raw is None:
                continue
            value = reader(raw)
            if type(value) not in _SPECIAL:
                values[slot] = value
            elif value is None:
                left[key] = raw
            elif value is not NOTHING:
                left[key] = raw
                values[slot] = value.value
        chosen = _ranked(plan, obj, values, left) if plan.ranked else {}
        for key in plan.unknown:
            left[key] = obj[key]
        return Row(values, left, obj, plan, chosen)


def _ranked(
    plan: Plan, obj: Mapping[str, Json], values: Values, left: Values
) -> dict[str, Candidate]:
    """Fill the slots that several names lead to, or whose names serve others as well."""
    chosen: dict[str, Candidate] = {}
    used: dict[str, list[FieldPath]] = {}
    """By key the paths that were read; () is the whole."""
    for candidates in plan.ranked:
        for found in candidates:
            key, raw = found.key, obj[found.key]
            if found.inner:
                raw, found = found.find(raw)  # noqa: PLW2901
            value = None if raw is None else found.reader(raw)
            if value is None:
                continue
            if type(value) is Partial:
                value = value.value
            else:
                used.setdefault(key, []).append(found.inner)
            if value is NOTHING:
                continue
            slot = found.field.slot
            values[slot], chosen[slot] = value, found
            if not found.inner:
                # The same value under another name of the slot says nothing more.
                for one in candidates:
                    if one.key != key and not one.inner and obj[one.key] == raw:
                        used.setdefault(one.key, []).append(())
            break
    for key in plan.shared:
        raw, paths = obj[key], used.get(key)
        if paths is not None:
            raw = None if () in paths else _without(raw, paths)
        if raw is not None and raw != "":
            left[key] = raw
    return chosen


def _without(value: Json, paths: Sequence[FieldPath]) -> Json:
    """What is left of a value when what stands at these paths was read; None if nothing."""
    if type(value) is list:
        kept_items = [
            rest
            for place, item in enumerate(value)
            if (rest := _without_below(item, [path for path in paths if path[0] == place]))
            is not None
        ]
        return kept_items or None
    kept: dict[str, Json] = {}
    for key, inner in value.items():
        rest = _without_below(inner, [path for path in paths if path[0] == fold(key)])
        if rest is not None:
            kept[key] = rest
    return kept or None


def _without_below(inner: Json, paths: Sequence[FieldPath]) -> Json:
    """What is left of one part of a value; `paths` begin with its own name or place."""
    below = [path[1:] for path in paths]
    if () in below:
        return None
    return _without(inner, below) if below else inner


@memoized(2048)
def _index(keys: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(fold(key), []).append(key)
    return found


@memoized(2048)
def _with_unit(keys: tuple[str, ...], folded: str) -> str | None:
    """The first key, by the alphabet, that is a name with a unit of money at its end."""
    for key in sorted(keys):
        if any(stem == folded and unit.rank == 0 for stem, unit in split_unit(fold(key))):
            return key
    return None


def keys_of(obj: Mapping[str, Json], folded: str) -> Sequence[str]:
    """The keys that are this folded name."""
    return _index(tuple(islice(obj, _MOST_KEYS))).get(folded, ())


def under(obj: Mapping[str, Json], folded: str) -> Json:
    """The value under a folded name; None without one, and if its spellings disagree."""
    found = [obj[key] for key in keys_of(obj, folded)]
    return found[0] if found and found.count(found[0]) == len(found) else None


def dig(value: Json, path: Iterable[str | int]) -> Json:
    """What is at the end of a path of folded names and places in lists, else None."""
    for part in path:
        if isinstance(part, int):
            if type(value) is not list or part >= len(value):
                return None
            value = value[part]
            continue
        if type(value) is not dict:
            return None
        value = under(value, part)
    return value


class Kind(Generic[R]):
    """One kind of record that the interface lists: its names, its table, how a record is built.

    `name` is as in `[profiles.X.fields.NAME]`, `noun` for sentences. `own` are its names in
    answers, best first; `also` what relatives call it, looked for
    after the usual wrappers. `build` makes the record and raises Unread if it is none. `needs` are
    slots of which one must be filled (without any: one of the table); `nameless` says why a record
    without was not read. A listing has `most` records. `survey` looks at all rows before the first
    record is built; `instead` reads a summary in place of a list, and raises Unread if it is none.
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
        self.name, self.noun = name, noun
        self.own, self.also = tuple(map(fold, own.split())), tuple(map(fold, also.split()))
        self.table, self.build = Table(fields, frozenset(needs.split())), build
        self.nameless, self.most = safe(nameless), most
        self.survey, self.instead = survey, instead
        self.unit: Unit = NO_UNIT
        """The unit of sums that a profile tells."""

    def with_mapping(self, names: Mapping[str, str]) -> Kind[R]:
        """The same with a platform's own names (paths) by slot, tried before all others.

        Raises KeyError for a slot that the kind does not have, FieldPathError for what is no path.
        """
        other = copy(self)
        fields = {field.slot: field for field in reversed(self.table.fields)}
        mapped = [
            fields[slot]._replace(names=f"{name} # profile", path=parse_field_path(name))
            for slot, name in names.items()
        ]
        # "spent month" gives way to a mapped "spent", too.
        others = [each for each in self.table.fields if each.slot.split(" ")[0] not in names]
        bare = [each for each in self.table.fields if each.slot in names]
        other.table = Table((*mapped, *bare, *others), self.table.needs)
        return other

    def read(self, obj: Mapping[str, Json], around: Around) -> R:
        """The record in one object that stands alone; raises Unread if there is none."""
        row = self.table.read(obj)
        if self.survey is not None:
            around = msgspec.structs.replace(around, survey=self.survey([row]))
        return self.build(row, around)
