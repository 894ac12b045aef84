"""How the rows of one source of a platform's file are read.

A `Source` is one request for one list of the file. Its rows are read by the table of their kind,
with the file's names, words and titles. Of a row only those values are kept that a later request or
question about its record needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec.structs import replace

from agentco_tui.model import Alert, IdDoubt, Money, Record, Task
from agentco_tui.model.format import money
from agentco_tui.platforms.platform_file import kinds_with_verbs
from agentco_tui.platforms.platform_records import (
    GIVEN_NAMES,
    LISTS,
    DeclaredVerb,
    PlatformFile,
    Source,
)
from agentco_tui.platforms.templates import ValueOf, as_word, fill, names_in, split_sum
from agentco_tui.reading.json_access import Json, value_at
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.mapping import NO_MAPPING, UNITS, DeclaredMapping, ProfileMapping
from agentco_tui.reading.schema import DecodeContext, Kind, NotAskedError, OffsetPages, Row
from agentco_tui.reading.values.money import scaled
from agentco_tui.text import SafeText, clean_line


class DeclaredKind:
    """How the rows of one source are read, and what is kept of them for later requests."""

    def __init__(
        self, file: PlatformFile, own: DeclaredMapping, list_name: str, name: str, source: Source
    ) -> None:
        """`own` is the mapping of the profile, which comes before the file's."""
        self.list_name = list_name
        self.name = name
        self.source = source
        self.values: dict[str, dict[str, Json]] = {}
        """By id of a record, the values of its row that requests about it need."""
        self.verbs = {
            verb_name: verb
            for verb_name, verb in file.verbs.items()
            if name in verb.on and LISTS[list_name] in kinds_with_verbs(file).get(name, ())
        }
        """The file's verbs for the records of this source."""
        self._needed = {
            verb_name: frozenset(names_in(verb.request[1]) | proof_names(verb)) - GIVEN_NAMES
            for verb_name, verb in self.verbs.items()
        }
        """By verb, the values without which its path or its proof can't be filled in."""
        self.types: dict[str, str | None] = {}
        """By id of a record, the type of its row."""
        self._names = names_in([each.get for each in source.traces])
        for write in (source.approve, *self.verbs.values()):
            if write is not None:
                self._names |= names_in(write.request[1]) | names_in(write.body)
        for verb in self.verbs.values():
            self._names |= names_in(verb.asks) | proof_names(verb)
        self._never = clean_line(f"{file.name} does not offer to approve this")
        self.reasons = {self._never, *map(clean_line, source.never.values())}
        """Why records can't be approved; other requests may name them."""
        kind_name = LISTS[list_name]
        fields = source.fields
        if source.type is not None and kind_name == "task":
            fields = {"kind": source.type, **fields}
        declared = DeclaredMapping(
            fields={kind_name: fields},
            unit=file.money.unit,
            currency=file.money.currency,
            status=source.status if kind_name == "task" else {},
            agent_status=source.status if kind_name == "agent" else {},
            alert_status=source.status if kind_name == "alert" else {},
            severity=source.severity,
        )
        self.mapping = ProfileMapping(declared)
        """The names and words of the source, without those of the profile."""
        kind = self.mapping.kind(mappable_kinds()[kind_name])
        currency = own.currency or file.money.currency
        self._currency = clean_line(currency) if currency else None
        if own != NO_MAPPING:
            # What the user says of the platform comes before what the file says.
            unit = own.unit or file.money.unit
            kind = ProfileMapping(replace(own, unit=unit, currency=currency)).kind(kind)
        self.kind: Kind[Any] = copy(kind)
        self.kind.source = f"{list_name}.{name}"
        self.kind.where = source.where
        self.kind.zero_is_limit = file.money.zero_is_limit
        self.kind.instead = None
        self.kind.ignored = frozenset(source.ignored)
        if source.pages is not None:
            self.kind.offset = OffsetPages(source.pages.offset, source.pages.size)
        self._build = self.kind.build
        self.kind.build = self._build_listed
        self.single: Kind[Any] = copy(self.kind)
        """How a record is read that comes alone: from its own path, or in the answer to a write."""
        self.single.build = self._build_record

    @property
    def waits(self) -> bool:
        """Whether its rows are in the list of what waits for a person."""
        return self.source.lists != "all"

    def offers(self, verb_name: str, record: Record) -> bool:
        """Whether a record of this source is one of those that a verb of it is for.

        It is not without a value that the verb's path or proof names, such as the task of an alert.
        """
        row = self.values.get(record.id, {})
        return (
            all(as_word(row.get(name)) for name in self._needed[verb_name])
            and is_wanted(getattr(record, "status", None), self.verbs[verb_name].when)
            and self.has_type(verb_name, record.id)
        )

    def has_type(self, verb_name: str, record_id: str) -> bool:
        """Whether the row of a record is of a type that a verb is for."""
        return is_wanted(self.types.get(record_id), self.verbs[verb_name].types)

    def _build_listed(self, row: Row, context: DecodeContext) -> Any:
        """The record of a row of the list, of which what later requests need is kept.

        Raises NotAskedError for rows that are not wanted.
        """
        for path, words in self.source.rows.items():
            if not is_wanted(as_word(value_at(row.obj, path)), words):
                raise NotAskedError(path)
        record = self._build_record(row, context)
        if self._names:
            self.values[record.id] = {name: self._value_in(row, name) for name in self._names}
        if self.verbs:
            self.types[record.id] = self._type_of(row)
        return record

    def _value_in(self, row: Row, name: str) -> Json:
        return value_at(row.obj, self.source.names.get(name, name))

    def _type_of(self, row: Row) -> str | None:
        path = self.source.type
        return None if path is None else as_word(value_at(row.obj, path))

    def _build_record(self, row: Row, context: DecodeContext) -> Any:
        """The record of a row, with the file's title, and why it must not be approved."""
        source = self.source
        record = self._build(row, context)
        if source.cause:
            values = (as_word(value_at(row.obj, path)) for path in source.cause)
            record = replace(record, cause=next(filter(None, values), None))
        row_type = self._type_of(row)
        titles = source.by_type(row_type, "says") or ()
        title = self._title(titles, partial(self._value_in, row))
        if title is not None and type(record) is Alert:
            record = replace(record, text=title)
        if type(record) is not Task:
            return record
        if title is not None:
            record = replace(record, title=title, title_from="says")
        why = source.by_type(row_type, "never")
        if why is None and source.approve is None and source.lists != "all":
            why = self._never
        if why is not None and record.id_doubt is None:
            record = replace(record, id_doubt=IdDoubt(reason=clean_line(why)))
        return record

    def _title(self, templates: Sequence[str], value_of: ValueOf) -> SafeText | None:
        """The first title whose names all have a value; None if there is none."""
        value_in_title = partial(self._value_in_title, value_of)
        for template in templates:
            filled = fill(template, value_in_title)
            if filled is not None:
                return clean_line(filled, 400)
        return None

    def _value_in_title(self, value_of: ValueOf, name: str) -> Json:
        """The value of a name; of "PATH as UNIT" the sum in words, None if it is 0: no limit."""
        path, unit = split_sum(name)
        value = value_of(path)
        if unit is None:
            return value
        if type(value) not in (int, Decimal) or not value:
            return None
        amount = scaled(Decimal(value), UNITS[unit])
        return money(Money(amount, self._currency), brief=True)


def is_wanted(word: str | None, words: Sequence[str]) -> bool:
    """Whether a row with a word is one of those that `rows` describes."""
    if f"!{word}" in words:
        return False
    wanted = [each for each in words if not each.startswith("!")]
    return not wanted or word in wanted


def proof_names(verb: DeclaredVerb) -> set[str]:
    """The names in the braces of a verb's proof."""
    proof = verb.proof
    return set() if proof is None else names_in([proof.get, proof.query, proof.rows])
