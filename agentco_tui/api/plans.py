"""How the fields of an object are found by name: once for each set of keys, then only by key.

A `Spec` says which names a record's fields may have, in order of preference, and how each is read.
For every new tuple of keys it makes a plan (which key serves which slot, which are unknown) and
keeps it, because the objects of a list nearly always have the same keys in the same order.

A reader takes a raw value and returns what it means, or

- None: not of that kind; the next name is tried, and the field stays with what was not understood
- `NONE`: understood, and it says that there is nothing
- `Partial(value)`: understood, but the raw value holds more; it is used, and kept whole as well

A name that is in no table may still be one of them in another form: with the record's kind before
it (`taskPriority`), or a time with its form behind it (`created_ts`, `updatedEpochMs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from agentco_tui.api.names import fold
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.values.time import NONE, to_moment

Reader: TypeAlias = Callable[[Any], Any]
Values: TypeAlias = dict[str, Any]
Rule: TypeAlias = Callable[[str], "tuple[int, str, Reader] | None"]
"""Says what a name means that is in no table: its rank, its slot, its reader; or None."""

_MAX_PLANS: Final = 512
_MAX_PLANNED_KEYS: Final = 400
"""An object with more keys is read by its first 400; the rest is kept as not understood."""


WRAPPERS: Final = """attributes node properties fields embedded source info resource item record
    document"""
"""Names under which a record of any kind may sit inside another object."""


class Meaning(NamedTuple):
    """One slot of a record: the names its value may come under, best first, and its reader."""

    slot: str
    names: str
    """Blank-separated; compared folded."""
    reader: Reader
    by_name: bool = False
    """True if `reader` is to be called with the field's own name and returns the reader."""


class _Field(NamedTuple):
    slot: str
    key: str
    reader: Reader
    others: tuple[tuple[str, Reader], ...]


class Plan(NamedTuple):
    """What one tuple of keys means."""

    fields: tuple[_Field, ...]
    alternates: tuple[tuple[str, str], ...]
    """(key, the key preferred to it)."""
    unknown: tuple[str, ...]
    nested: tuple[tuple[str, Spec], ...]
    shared: frozenset[str]
    """Keys that serve more than one slot."""
    slots: frozenset[str]
    wrappers: tuple[str, ...]
    """Keys under which the record itself may sit."""


_TIME_FORMS: Final = (
    "epochmillis", "epochseconds", "epochsecs", "epochms", "epochs", "epoch", "unixtimestamp",
    "unixtime", "unixms", "unix", "timestampms", "timestamp", "millis", "micros", "nanos",
    "datetime", "iso8601", "iso", "utc", "gmt", "time", "date", "ms", "us", "ns", "ts", "dt", "on",
)  # fmt: skip

_REFERENCES: Final = frozenset(
    f"{what}{part}" for what in ("agent", "company") for part in ("", "_id", "_name")
)
_LAST: Final = 1_000
_NOTHING: Final = Plan((), (), (), (), frozenset(), frozenset(), ())


class Spec:
    """The fields of one kind of object."""

    def __init__(
        self,
        meanings: Iterable[Meaning],
        nested: Mapping[str, Spec] | None = None,
        wrappers: str = "",
        *,
        rule: Rule | None = None,
        kind: str = "",
        others: str = "",
    ) -> None:
        """`kind`: what the record is called, which may stand before any of its fields' names.

        `others`: what it is called elsewhere (`bot_id` for an agent); these come last.
        """
        self._by_name: dict[str, list[tuple[int, str, Reader, bool]]] = {}
        for meaning in meanings:
            for rank, name in enumerate(meaning.names.split()):
                places = self._by_name.setdefault(fold(name), [])
                # Even, so that the same name in another form comes right after it.
                places.append((2 * rank, meaning.slot, meaning.reader, meaning.by_name))
        self._nested = {fold(name): spec for name, spec in (nested or {}).items()}
        self._wrappers = frozenset(fold(name) for name in wrappers.split())
        self._rule = rule
        self._kinds = tuple(fold(name) for name in kind.split())
        self._others = tuple(fold(name) for name in others.split())
        self._names = self._by_name.keys() | self._nested.keys() | self._wrappers
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._last: tuple[tuple[str, ...], Plan] = ((), self._made(()))

    def nest(self, names: str, spec: Spec) -> None:
        """Read objects under these names as parts of the record, which `spec` knows."""
        self._nested |= {fold(name): spec for name in names.split()}
        self._names = self._by_name.keys() | self._nested.keys() | self._wrappers
        self._plans.clear()

    @property
    def names(self) -> frozenset[str]:
        """All names that mean something here, folded; those that a rule reads not among them."""
        return frozenset(self._names)

    def plan(self, obj: Mapping[str, Json]) -> Plan:
        """The plan for this object's keys, in their order."""
        keys = tuple(obj)
        last, plan = self._last
        if keys == last:
            return plan
        known = self._plans.get(keys)
        if known is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            known = self._plans[keys] = self._made(keys)
        self._last = (keys, known)
        return known

    def _made(self, keys: tuple[str, ...]) -> Plan:
        candidates: dict[str, list[tuple[int, str, Reader]]] = {}
        uses: dict[str, int] = {}
        unknown: list[str] = []
        nested: list[tuple[str, Spec]] = []
        wrappers: list[str] = []
        for key in keys[:_MAX_PLANNED_KEYS]:
            folded = fold(key)
            places: list[tuple[int, str, Reader, bool]] | None
            if folded in self._names:
                places = self._by_name.get(folded)
            else:
                told = self._rule(key) if self._rule is not None else None
                if told is not None:
                    rank, slot, reader = told
                    candidates.setdefault(slot, []).append((rank, key, reader))
                    continue
                places = self._respelt(folded)
            if folded in self._nested:
                nested.append((key, self._nested[folded]))
            if folded in self._wrappers:
                wrappers.append(key)
            if places is None:
                unknown.append(key)
                continue
            uses[key] = len(places)
            for rank, slot, reader, by_name in places:
                bound = reader(key) if by_name else reader
                candidates.setdefault(slot, []).append((rank, key, bound))
        if not candidates and not nested and not wrappers:
            return _NOTHING._replace(unknown=keys)
        fields: list[_Field] = []
        alternates: dict[str, str] = {}
        for slot, found in candidates.items():
            found.sort(key=lambda each: each[0])
            _, first, reader = found[0]
            others = tuple((key, read) for _, key, read in found[1:])
            fields.append(_Field(slot, first, reader, others))
            alternates.update({key: first for key, _ in others})
        firsts = {field.key for field in fields}
        return Plan(
            fields=tuple(fields),
            alternates=tuple((key, to) for key, to in alternates.items() if key not in firsts),
            unknown=(*unknown, *keys[_MAX_PLANNED_KEYS:]),
            nested=tuple(nested),
            shared=frozenset(key for key, count in uses.items() if count > 1),
            slots=frozenset(candidates),
            wrappers=tuple(wrappers),
        )

    def _respelt(self, folded: str) -> list[tuple[int, str, Reader, bool]] | None:
        """What a name means that is in the tables only without what stands before or behind it."""
        for kind in self._kinds:
            bare = folded.removeprefix(kind)
            if bare != folded and bare:
                places = self._by_name.get(bare) or self._timed(bare)
                if places:
                    return [(rank | 1, slot, read, named) for rank, slot, read, named in places]
        return self._timed(folded) or self._of_another_name(folded)

    def _of_another_name(self, folded: str) -> list[tuple[int, str, Reader, bool]] | None:
        for prefix in (*self._others, "assigned", "owning"):
            bare = folded.removeprefix(prefix)
            places = self._by_name.get(bare, ()) if bare != folded else ()
            if prefix in ("assigned", "owning"):
                places = [place for place in places if place[1] in _REFERENCES]
            else:
                places = [place for place in places if place[2] is not to_moment]
            if places:
                return [(rank + _LAST, slot, read, named) for rank, slot, read, named in places]
        return None

    def _timed(self, folded: str) -> list[tuple[int, str, Reader, bool]] | None:
        for form in ("", *_TIME_FORMS):
            bare = folded.removesuffix(form)
            if (form and bare == folded) or not bare:
                continue
            for name in (bare, f"{bare}at"):
                places = self._by_name.get(name, ())
                times = [(place[0] | 1, *place[1:]) for place in places if place[2] is to_moment]
                if times:
                    return times
        return None

    def read(self, obj: Mapping[str, Json], values: Values, plan: Plan | None = None) -> Values:
        """Fill `values` by slot (those already there stay); returns the fields not understood."""
        plan = plan or self.plan(obj)
        used: set[str] | None = None
        missed: list[str] | None = None
        shared = plan.shared
        is_fresh = not values
        for slot, key, reader, others in plan.fields:
            raw = obj[key]
            if not is_fresh and slot in values:
                if raw is not None and reader(raw) != values[slot]:
                    missed = [*(missed or ()), key]
                continue
            if raw is not None:
                value = reader(raw)
                if value is None:
                    missed = [*(missed or ()), key]
                elif value is NONE:
                    if key in shared:
                        used = {*(used or ()), key}
                else:
                    if type(value) is Partial:
                        value = value.value
                        missed = [*(missed or ()), key]
                    elif key in shared:
                        used = {*(used or ()), key}
                    values[slot] = value
                    continue
            for key, reader in others:  # noqa: PLW2901  the next best name
                raw = obj[key]
                if raw is None:
                    continue
                value = reader(raw)
                if value is None:
                    continue
                if type(value) is Partial:
                    value = value.value
                else:
                    used = {*(used or ()), key}
                if value is not NONE:
                    values[slot] = value
                    break
        return _not_understood(plan, obj, values, used, missed)


def _not_understood(
    plan: Plan,
    obj: Mapping[str, Json],
    values: Values,
    used: set[str] | None,
    missed: list[str] | None,
) -> Values:
    """The fields that nothing was read from; `used` served a slot all the same."""
    left: Values = {}
    if plan.alternates:
        for key, preferred in plan.alternates:
            raw = obj[key]
            if raw is None or raw == "" or raw == obj[preferred]:
                continue
            if used is None or key not in used:
                left[key] = raw
    if missed:
        for key in missed:
            if used is None or key not in used:
                left[key] = obj[key]
    for key in plan.unknown:
        left[key] = obj[key]
    if plan.nested:
        _read_nested(plan.nested, values, left)
    return left


def _read_nested(nested: tuple[tuple[str, Spec], ...], values: Values, left: Values) -> None:
    for key, spec in nested:
        inner = left.get(key)
        if type(inner) is not dict:
            continue
        rest = spec.read(inner, values)
        if rest:
            left[key] = rest
        elif inner:
            del left[key]
