"""How the fields of a record are found: a table of exact names for each kind, and nothing else.

A kind is declared in one file of `kinds/`:

    FIELDS = (
        Field("name", '''
            name               # paperclip, OpenFang
            company_name       # names beside ids: most platforms
        ''', named),
        Field("spent", "spent_monthly_cents  # paperclip", cents),
        Field("spent", "usage.cost           # OpenRouter", units),
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
tried before all others.

Where the name itself tells how a value is read, `Field.reader_for` makes the reader: a sum's name
may end in its unit. A key that is no name of the table is then looked up without that end, which
`Field.stems` cuts off. A reader with a `bias` moves its names back in rank, below 0 forward.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from agentco_tui.model import Record, Ref
from agentco_tui.reading.field_names import fold
from agentco_tui.text import SafeText, safe

R = TypeVar("R", bound=Record)

Json: TypeAlias = Any
"""None, bool, int, Decimal, str, or a list or dict of these; never a float."""
Reader: TypeAlias = Callable[[Any], Any]
Values: TypeAlias = dict[str, Any]

_MOST_PLANS: Final = 512
_MOST_KEYS: Final = 400
"""An object with more keys is read by its first 400; the rest is kept as unknown."""


class _Nothing:
    """The type of NOTHING."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = _Nothing()
"""Understood, and means that there is nothing: an empty text, a sentinel."""


class Partial:
    """A value that was read from a raw value which holds more than that."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Unread(ValueError):  # noqa: N818 - told, and no failure of the call
    """One record cannot be read; costs only itself. `str(error)` is the reason, fit to show."""


class Field(NamedTuple):
    """One slot of a record, the names it may come under, and how a value is read."""

    slot: str
    names: str
    """Best first, blank-separated; the rest of a line after `#` is their source."""
    reader: Reader
    reader_for: Callable[[str], Reader] | None = None
    """Makes the reader for a name, as it was declared or sent."""
    stems: Callable[[str], Iterable[str]] | None = None
    """What a folded key may be a longer spelling of."""

    def sourced(self) -> Iterator[tuple[str, str]]:
        """Each name and its source."""
        for line in self.names.splitlines():
            names, _, source = line.partition("#")
            for name in names.split():
                yield from ((each, source.strip()) for each in _expanded(name))

    def read_as(self, name: str) -> Reader:
        """The reader of values under this name."""
        return self.reader if self.reader_for is None else self.reader_for(name)


_BRACES: Final = re.compile(r"\{([^{}]*)\}")


def _expanded(name: str) -> list[str]:
    """`{a,b}.c` as `a.c` and `b.c`."""
    found = _BRACES.search(name)
    if found is None:
        return [name]
    start, end = name[: found.start()], name[found.end() :]
    return [each for part in found[1].split(",") for each in _expanded(f"{start}{part}{end}")]


class Candidate(NamedTuple):
    """One name of the table, as it occurs in objects with certain keys."""

    key: str
    inner: tuple[str, ...]
    """The folded names below that key; empty if the value is under the key itself."""
    reader: Reader
    name: str
    """As declared."""


class _Place(NamedTuple):
    """One name of the table."""

    rank: int
    field: Field
    inner: tuple[str, ...]
    reader: Reader
    name: str


def _bias(reader: Reader) -> int:
    return getattr(reader, "bias", 0)


class Plan(NamedTuple):
    """What one tuple of keys means."""

    plain: tuple[tuple[str, str, Reader], ...]
    """(slot, key, reader) where nothing else may fill the slot, and the key no other slot."""
    ranked: tuple[tuple[str, tuple[Candidate, ...], tuple[str, ...]], ...]
    """The other slots: their candidates, best first, and the keys of those that are not nested."""
    shared: tuple[str, ...]
    """The keys of ranked candidates."""
    unknown: tuple[str, ...]
    twins: tuple[tuple[str, str], ...]
    """Keys that are spellings of one name."""
    names: Mapping[str, str]
    """By plain slot, the name as declared."""
    has: frozenset[str]
    """The slots that may be filled."""


class Row(NamedTuple):
    """What was read of one object."""

    values: Values
    """By slot."""
    left: Values
    """The fields that nothing was read from, by their keys."""
    obj: Mapping[str, Json]
    plan: Plan
    chosen: Mapping[str, Candidate]
    """By slot, which of several candidates it was."""

    def origin(self, slot: str) -> str:
        """The declared name that a slot's value was read from."""
        chosen = self.chosen.get(slot)
        return self.plan.names[slot] if chosen is None else chosen.name

    def key(self, slot: str) -> str:
        """The key of the object that a slot's value stood under, or in."""
        chosen = self.chosen.get(slot)
        if chosen is not None:
            return chosen.key
        return next(key for name, key, _ in self.plan.plain if name == slot)

    @property
    def keys(self) -> dict[str, str]:
        """By slot that has a value, its key."""
        keys = {slot: key for slot, key, _ in self.plan.plain if slot in self.values}
        return keys | {slot: each.key for slot, each in self.chosen.items()}

    def keep(self, slot: str) -> None:
        """Put a field that was read but is not used back with the unknown ones."""
        key = self.key(slot)
        self.left[key] = self.obj[key]


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What a record may need to know of the answer it stood in."""

    names: Mapping[str, SafeText] = {}
    """Names of other records in the same answer by id (`included`, sideloaded lists)."""
    unit: Any = None
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
        if ref is None or ref.name is not None or ref.id is None or not self.names:
            return ref
        name = self.names.get(ref.id)
        return ref if name is None else Ref(ref.id, name)


BARE: Final = Around()

Build: TypeAlias = Callable[[Row, Around], R]


class Table:
    """The names of one kind of object, compiled; a plan is kept for each tuple of keys."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = tuple(fields)
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._last: tuple[tuple[str, ...], Plan] = ((), Plan((), (), (), (), (), {}, frozenset()))

    @cached_property
    def _by_first(self) -> dict[str, list[_Place]]:
        """All names by the folded first part; made when the first object is read."""
        found: dict[str, list[_Place]] = {}
        rank = 0
        for field in self.fields:
            for name, _ in field.sourced():
                first, *inner = map(fold, name.split("."))
                reader = field.read_as(name)
                place = _Place(rank + _bias(reader), field, tuple(inner), reader, name)
                found.setdefault(first, []).append(place)
                rank += 1
        return found

    @cached_property
    def _stems(self) -> tuple[Callable[[str], Iterable[str]], ...]:
        return tuple({field.stems: None for field in self.fields if field.stems is not None})

    def _spelt_longer(self, key: str) -> list[_Place] | None:
        """What a key means that is no name of the table, but has one at its beginning."""
        folded = fold(key)
        for stems in self._stems:
            for stem in stems(folded):
                if stem not in self._by_first:
                    continue
                places = [
                    place._replace(
                        rank=place.rank - _bias(place.reader) + _bias(reader), reader=reader
                    )
                    for place in self._by_first.get(stem, ())
                    if place.field.stems is stems and not place.inner
                    for reader in (place.field.read_as(key),)
                ]
                if places:
                    return places
        return None

    def plan(self, obj: Mapping[str, Json]) -> Plan:
        """The plan for this object's keys."""
        keys = tuple(obj)
        last, plan = self._last
        if keys == last:
            return plan
        known = self._plans.get(keys)
        if known is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            known = self._plans[keys] = self._made(keys)
        self._last = (keys, known)
        return known

    def _made(self, keys: tuple[str, ...]) -> Plan:
        found: dict[str, list[tuple[int, Candidate]]] = {}
        spelt: dict[str, str] = {}
        twins: list[tuple[str, str]] = []
        unknown: list[str] = []
        uses: dict[str, int] = {}
        for key in keys[:_MOST_KEYS]:
            folded = fold(key)
            places = self._by_first.get(folded) or self._spelt_longer(key)
            if places is None:
                unknown.append(key)
                continue
            uses[key] = len({place.field.slot for place in places})
            if spelt.setdefault(folded, key) != key:
                twins.append((spelt[folded], key))
            for rank, field, inner, reader, name in places:
                candidate = Candidate(key, inner, reader, name)
                found.setdefault(field.slot, []).append((rank, candidate))
        plain: list[tuple[str, str, Reader]] = []
        names: dict[str, str] = {}
        ranked: list[tuple[str, tuple[Candidate, ...], tuple[str, ...]]] = []
        for slot, each in found.items():
            each.sort(key=lambda one: one[0])
            first = each[0][1]
            if len(each) == 1 and not first.inner and uses[first.key] == 1:
                plain.append((slot, first.key, first.reader))
                names[slot] = first.name
                del uses[first.key]
                continue
            candidates = tuple(candidate for _, candidate in each)
            direct = tuple(one.key for one in candidates if not one.inner)
            ranked.append((slot, candidates, direct))
        return Plan(
            plain=tuple(plain),
            ranked=tuple(ranked),
            shared=tuple(uses),
            unknown=(*unknown, *keys[_MOST_KEYS:]),
            twins=tuple(twins),
            names=names,
            has=frozenset(found),
        )

    def fills(self, obj: Mapping[str, Json]) -> frozenset[str]:
        """The slots that this object has a value for."""
        plan = self.plan(obj)
        filled = {slot for slot, key, _ in plan.plain if obj[key] is not None}
        for slot, candidates, _ in plan.ranked:
            if any(dig(obj[each.key], each.inner) is not None for each in candidates):
                filled.add(slot)
        return frozenset(filled)

    def read(self, obj: Mapping[str, Json]) -> Row:
        """The values of one object, and what is left of it."""
        plan = self.plan(obj)
        if plan.twins and (doubtful := _doubtful(obj, plan.twins)):
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
            if value is None:
                left[key] = raw
            elif type(value) is Partial:
                left[key] = raw
                values[slot] = value.value
            elif value is not NOTHING:
                values[slot] = value
        chosen = _ranked(plan, obj, values, left) if plan.ranked else {}
        for key in plan.unknown:
            left[key] = obj[key]
        return Row(values, left, obj, plan, chosen)


def _ranked(
    plan: Plan, obj: Mapping[str, Json], values: Values, left: Values
) -> dict[str, Candidate]:
    """Fill the slots that several names lead to, or whose names serve others as well."""
    chosen: dict[str, Candidate] = {}
    used: set[str] = set()
    dug: dict[str, list[tuple[str, ...]]] | None = None
    for slot, candidates, direct in plan.ranked:
        for candidate in candidates:
            key, inner, reader, _ = candidate
            raw = obj[key]
            if inner:
                if type(raw) is not dict:
                    continue
                raw = dig(raw, inner)
            if raw is None:
                continue
            value = reader(raw)
            if value is None:
                continue
            if type(value) is Partial:
                value = value.value
            elif inner:
                dug = {} if dug is None else dug
                dug.setdefault(key, []).append(inner)
            else:
                used.add(key)
            if value is NOTHING:
                continue
            values[slot] = value
            chosen[slot] = candidate
            if len(direct) > 1:
                # The same value under another name of the slot says nothing more.
                used.update(each for each in direct if each != key and obj[each] == raw)
            break
    for key in plan.shared:
        if key in used:
            continue
        raw = obj[key]
        if dug is not None and key in dug:
            raw = _without(raw, dug[key]) or None
        if raw is not None and raw != "":
            left[key] = raw
    return chosen


def _doubtful(obj: Mapping[str, Json], twins: Iterable[tuple[str, str]]) -> set[str]:
    """The keys that are spellings of one name and do not say the same."""
    found: set[str] = set()
    for pair in twins:
        one, other = (obj[key] for key in pair)
        if one is not None and other is not None and one != other:
            found.update(pair)
    return found


@lru_cache(maxsize=2048)
def _index(keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key in keys:
        folded = fold(key)
        found[folded] = (*found.get(folded, ()), key)
    return found


def under(obj: Mapping[str, Json], folded: str) -> Json:
    """The value under a folded name; None without one, and if its spellings disagree."""
    keys = tuple(obj) if len(obj) <= _MOST_KEYS else tuple(islice(obj, _MOST_KEYS))
    spelt = _index(keys).get(folded)
    if spelt is None:
        return None
    value = obj[spelt[0]]
    if len(spelt) > 1 and any(obj[key] != value for key in spelt):
        return None
    return value


def key_of(obj: Mapping[str, Json], folded: str) -> str | None:
    """The key that is this folded name."""
    keys = tuple(obj) if len(obj) <= _MOST_KEYS else tuple(islice(obj, _MOST_KEYS))
    return _index(keys).get(folded, (None,))[0]


def dig(value: Json, path: tuple[str, ...]) -> Json:
    """What is at the end of a path of folded names through nested objects, else None."""
    for folded in path:
        if type(value) is not dict:
            return None
        value = under(value, folded)
    return value


def _without(value: Json, paths: Sequence[tuple[str, ...]]) -> Json:
    """A nested object without what was read of it."""
    kept: dict[str, Json] = {}
    for key, inner in value.items():
        below = [path[1:] for path in paths if path and path[0] == fold(key)]
        if () in below or inner is None:
            continue
        rest = _without(inner, below) if below and type(inner) is dict else inner
        if rest != {}:
            kept[key] = rest
    return kept


class Kind(Generic[R]):
    """One kind of record that the interface lists: its names, its table, how a record is built."""

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
        holds: Callable[[Mapping[str, Json]], bool] | None = None,
        instead: Callable[[Json], R | None] | None = None,
    ) -> None:
        self.name = name
        """Of the kind, as in `[profiles.X.fields.NAME]`."""
        self.noun = noun
        """For sentences: "tasks"."""
        self.own = tuple(map(fold, own.split()))
        """Its own names in answers, best first: "tasks", "task"."""
        self.also = tuple(map(fold, also.split()))
        """What relatives call it: "issues", "jobs"; looked for after the usual wrappers."""
        self.table = Table(fields)
        self.build = build
        """Makes the record; raises Unread if it is none."""
        self.needs = frozenset(needs.split())
        """Slots of which one must be filled; without any, one slot of the table must be."""
        self.nameless = safe(nameless)
        """Why a record was not read that has none of them."""
        self.most = most
        """Records of a listing; that there are more is told."""
        self.survey = survey
        """Looks at all rows of an answer before the first record is built."""
        self.unit: Any = None
        """The unit of sums that a profile tells."""
        self._holds = holds
        """Tells whether an object is one of these, where the table alone does not."""
        self.instead = instead
        """Reads a summary that came in place of a list; raises Unread if it is none."""

    def __repr__(self) -> str:
        return f"Kind({self.name})"

    def with_mapping(self, names: Mapping[str, str]) -> Kind[R]:
        """The same with a platform's own (dotted) names by slot, tried before all others.

        Raises KeyError for a slot that the kind does not have.
        """
        other: Kind[R] = Kind.__new__(Kind)
        other.__dict__.update(self.__dict__)
        mapped = []
        for slot, name in names.items():
            field = next((each for each in self.table.fields if each.slot == slot), None)
            if field is None:
                raise KeyError(slot)
            mapped.append(field._replace(names=f"{name} # profile"))
        # "spent month" gives way to a mapped "spent", too.
        others = [each for each in self.table.fields if each.slot.split(" ")[0] not in names]
        bare = [each for each in self.table.fields if each.slot in names]
        other.table = Table((*mapped, *bare, *others))
        return other

    def is_one(self, obj: Mapping[str, Json]) -> bool:
        """Whether an object may be such a record."""
        if self._holds is not None and self._holds(obj):
            return True
        filled = self.table.plan(obj).has
        return not self.needs.isdisjoint(filled) if self.needs else bool(filled)

    def is_row(self, row: Row) -> bool:
        """Whether what was read of an object may be such a record."""
        filled = row.plan.has
        if self._holds is not None and self._holds(row.obj):
            return True
        return not self.needs.isdisjoint(filled) if self.needs else bool(filled)

    def read(self, obj: Mapping[str, Json], around: Around) -> R:
        """The record in one object that stands alone; raises Unread if there is none."""
        row = self.table.read(obj)
        if self.survey is not None:
            around = msgspec.structs.replace(around, survey=self.survey([row]))
        return self.build(row, around)
