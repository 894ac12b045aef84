"""How the fields of a record are found: Field -> Candidate -> Plan -> Row.

A record (a task, an AI agent, …) is made of one object in an answer of a platform, the remote
service.

- A `Field` is declared in a file of `kinds/`. It has a slot (our name), the names that platforms
  use for it, best first, and a reader that turns a raw value into ours.
- A `Candidate` is one of these names as a place in an object: a key, and the path below that key.
- A `Plan` says for one tuple of keys which candidates may fill which slots. It is made once for
  each tuple of keys, since the objects of a list mostly have the same.
- A `Row` is what was read of one object by its plan: values by slot, and the fields that nothing
  was read from.

An example with two fields:

>>> from agentco_tui.reading.values.money import money_field
>>> from agentco_tui.reading.values.scalar import to_name
>>> fields = [
...     Field("name", '''
...         name                  # most platforms
...         company_name          # names beside ids
...     ''', to_name),
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

A profile (the user's configuration for one platform) adds names with
`Kind.with_mapping({"spent": "usage.cost_cents"})`. They are tried before all others, and may lead
into lists (see `field_path`).

The names of sums (`in_units`) may end in a unit, declared or not: `cost` stands for `cost_usd` and
`costCents` too. A name with a unit of money is preferred to all others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from agentco_tui.model import Moment, Record, Ref
from agentco_tui.reading.field_names import NO_UNIT, Unit, fold
from agentco_tui.reading.field_path import FieldPath, parse_field_path
from agentco_tui.reading.json_access import Json, remove_paths
from agentco_tui.reading.name_index import Candidate, Field, NameIndex, Plan, contradictory_keys
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.text import SafeText, clean_line

R = TypeVar("R", bound=Record)

Values: TypeAlias = dict[str, Any]
"""By slot, or by key."""


_CONTAINERS: Final = frozenset((dict, list))
"""Types of values that hold others."""
_SPECIAL_RESULTS: Final = frozenset((type(None), type(EMPTY), Incomplete))
"""Types of a reader's results that are no plain values."""


class UnreadableRecord(ValueError):  # noqa: N818 - counted and shown; the request does not fail
    """One object makes no record; the others are read. `str(error)` is the reason, safe to show."""


class NotAskedError(UnreadableRecord):
    """One object is none of those that were asked for: it is left out, and nothing is missing."""


# -- Row ------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """The values that were read of one object, and the fields that were not read."""

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

    def mark_unread(self, slot: str) -> None:
        """Put a field whose value is not used with the unread ones, which are shown as sent."""
        key = self.source(slot).key
        self.unread[key] = self.obj[key]


class Table:
    """The fields of one kind of object: `names` finds them, `read` reads their values."""

    def __init__(self, fields: Iterable[Field], needs_one_of: frozenset[str] = frozenset()) -> None:
        """A record fills at least one of the slots `needs_one_of`; if empty, any slot will do."""
        self.names = NameIndex(fields, needs_one_of)
        self.fields = self.names.fields
        self.needs_one_of = needs_one_of
        self.plan = self.names.plan

    def read(self, obj: Mapping[str, Json]) -> Row:
        """The values of one object by slot, and the fields that nothing was read from."""
        plan = self.plan(obj)
        if plan.respelled:
            contradictory = contradictory_keys(plan, obj)
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
        chosen: Mapping[str, Candidate] = {}
        if plan.contested:
            chosen = _read_contested(plan, obj, values, unread)
        for key in plan.unknown_keys:
            unread[key] = obj[key]
        return Row(values, unread, obj, plan, chosen)


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
                if type(raw) not in _CONTAINERS:
                    continue
                raw, candidate = candidate.find_value(raw)  # noqa: PLW2901
            if raw is None:
                continue
            value = candidate.reader(raw)
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
        paths = read_paths.get(key, ())
        if () in paths:
            continue  # all of the value was read
        rest = obj[key]
        if paths:
            rest = remove_paths(rest, paths)
        if rest is not None and rest != "":
            unread[key] = rest
    return chosen


# -- Kind ------------------------------------------------------------------------------------------


class DecodeContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the rest of an answer says about each of its records."""

    names: Mapping[str, SafeText] = {}
    """Names of other records in the same answer, by id (`included`, sideloaded lists)."""
    unit: Unit = NO_UNIT
    """The unit of all sums, if the answer declares it once: `{"currency": "EUR", "data": []}`."""
    zero_is_limit: bool = False
    """Whether a limit of 0 says that nothing may be spent; else it says that there is no limit."""
    is_root: bool = False
    """True if the record is the whole body: then its `timestamp` is the time of the answer."""
    key: str | None = None
    """The key of the record in a map of records; None in a list."""
    share_scales: Any = None
    """What `Kind.find_share_scales` found in all rows of the answer."""
    path: str = ""
    """The name of the list that the record is in: "agents", "data", or "" in a bare list."""
    trace_start: Moment | None = None
    """When the trace began, if the record is one of its steps."""

    def with_name(self, ref: Ref | None) -> Ref | None:
        """`ref` with its name filled in from `names`, if it has an id and no name."""
        if ref is None or ref.name is not None or ref.id is None:
            return ref
        return Ref(ref.id, self.names.get(ref.id))


class OffsetPages(msgspec.Struct, frozen=True):
    """Pages that are requested by the number of rows before them, until one is not full."""

    parameter: str
    """The name of the parameter with that number."""
    size: int
    """The rows of a full page."""


Build: TypeAlias = Callable[[Row, DecodeContext], R]
"""Makes a record of a row; raises UnreadableRecord if it is none."""


class Kind(Generic[R]):
    """One kind of record: its names in answers, its table, and how a record is built of a row.

    - `name`: as in `[profiles.X.fields.NAME]`; `noun`: the plural, for sentences
    - `list_keys`: the keys under which platforms send a list of this kind, best first;
      `fallback_list_keys`: less certain ones, tried after the usual wrappers ("data", "items")
    - `needs_one_of`: slots of which a record fills at least one (if empty, any slot of the table);
      `unreadable_reason`: the reason that is shown for an object that fills none
    - `max_rows`: the largest number of records in a listing
    - `find_share_scales`: finds out, before the first record is built, whether the rows send shares
      as 0.8 or as 80; `share_hints` is what it needs to know of each row
    - `instead`: reads a summary in place of a list; raises UnreadableRecord if it is none
    """

    def __init__(
        self,
        name: str,
        *,
        noun: str,
        list_keys: str,
        fallback_list_keys: str = "",
        fields: Sequence[Field],
        build: Build[R],
        needs_one_of: str = "",
        unreadable_reason: str,
        max_rows: int,
        share_hints: Callable[[Row], Hashable] | None = None,
        find_share_scales: Callable[[Mapping[Any, int]], Any] | None = None,
        instead: Callable[[Json], R | None] | None = None,
    ) -> None:
        self.name = name
        self.noun = noun
        self.list_keys = tuple(map(fold, list_keys.split()))
        self.fallback_list_keys = tuple(map(fold, fallback_list_keys.split()))
        self.table = Table(fields, frozenset(needs_one_of.split()))
        self.build = build
        self.unreadable_reason = clean_line(unreadable_reason)
        self.max_rows = max_rows
        self.share_hints = share_hints
        self.find_share_scales = find_share_scales
        self.instead = instead
        self.unit: Unit = NO_UNIT
        """The unit of sums that a profile declares."""
        self.zero_is_limit = False
        """Whether a limit of 0 says that nothing may be spent."""
        self.where: str | None = None
        """The exact path of the list in an answer, "" if that is the list; None: it is searched."""
        self.source = ""
        """Which of several lists of this kind it is, if a platform has them apart."""
        self.ignored: frozenset[str] = frozenset()
        """Fields that are not read, as they say nothing about the record itself."""
        self.offset: OffsetPages | None = None
        """How further pages are requested, if no answer says so itself."""

    @property
    def names(self) -> NameIndex:
        """The names of the table, by which a list or a record of the kind is recognized."""
        return self.table.names

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
        other.table = Table((*mapped, *same_slot, *others), self.table.needs_one_of)
        return other

    def read(self, obj: Mapping[str, Json], context: DecodeContext) -> R:
        """The record in one object that is not in a list; raises UnreadableRecord if it is none."""
        row = self.table.read(obj)
        if self.find_share_scales is not None and self.share_hints is not None:
            share_scales = self.find_share_scales({self.share_hints(row): 1})
            context = msgspec.structs.replace(context, share_scales=share_scales)
        return self.build(row, context)
