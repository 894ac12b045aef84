"""The filter language of tables: `parse_filter` turns what the user types into a `Filter`.

    refund linus            both words somewhere in the row, in upper or lower case
    "past due"              these words with the blank between them
    agent:linus             the column holds it
    !failed  !agent:linus   not that
    refund | agent:linus    either of the two; also refund|payment and agent:ada|linus
    age>2h  spent>=80%  trust<50  tasks=3  cost>1.5k  priority>=high

A row is the record of a task, an agent and so on. Units of time are s, m, h, d and w; `k` is a
thousand; `%` is for shares. A record without a value matches no comparison. An unfinished term
(`agent:`, `!`, an open quote, `|`) is ignored, so that the table does not flicker while the filter
is being typed.

A filter is a list of *clauses*, all of which a row must pass; a clause is a list of *terms*, of
which one is enough; a term has one or several *operands*, the texts or figures after its operator.

Tables (`widgets.table`) and `agentco-tui get` use it. They describe their columns as `FilterColumn`
and give the filter access to the values through a `ReadColumn` function.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from agentco_tui.text import SafeText, clean_line
from agentco_tui.text.patterns import lazy_pattern


class ColumnKind(Enum):
    """What a column's `filter_value` returns, and so what a filter may compare it with."""

    TEXT = "text"  # a string; compared without regard to case
    NUMBER = "number"
    SECONDS = "seconds"  # a duration or age in seconds; a filter gives it with a unit, like 2h
    SHARE = "share"
    """A part of one, 0.8 for 80 %; a filter gives it in per cent, with or without the sign."""


class FilterColumn(msgspec.Struct, frozen=True, kw_only=True):
    """What a filter must know about a column."""

    key: str
    """The name of the column in filters, unless the user types its title or an alias."""
    title: str
    kind: ColumnKind = ColumnKind.TEXT
    filter_value: Callable[[Any], Any] | None = None
    """Returns the value to compare, of the type that `kind` says; None if it is unknown. Without
    it, `column:value` examines the cell's text, and comparisons are refused."""
    rank: Callable[[str], float | None] | None = None
    """Returns the rank of a word of this column, the worst highest; None for an unknown word. With
    it, `priority>=high` compares ranks."""
    aliases: tuple[str, ...] = ()


_NAME: Final = r"[^\W\d_][\w-]*"
_OPERATOR: Final = r":|<=|>=|!=|<|>|="
_TERM: Final = lazy_pattern(
    rf"""(?P<or>[\s|]*)(?P<not>!)?
        (?:(?P<name>{_NAME})(?P<operator>{_OPERATOR}))?
        (?P<operands>
            (?:"[^"]*"?|[^\s|]*)
            (?:\|(?!!|{_NAME}(?:{_OPERATOR}))(?:"[^"]*"?|[^\s|]+))*
        )""",
    re.VERBOSE,
)
"""One term, with the separators before it. A `|` before a name with its operator, or before a `!`,
begins a new term; any other `|` separates operands."""
_OPERAND: Final = lazy_pattern(r'"([^"]*)"?|([^\s|]+)')
_NAME_AT_END: Final = lazy_pattern(rf"(?:^|[\s|!])({_NAME})$")
_NUMBER: Final = lazy_pattern(
    r"(?P<minus>-?)[$€£]?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)\s*(?P<unit>[a-z%]*)"
)


class _Units(msgspec.Struct, frozen=True):
    """How a filter may write the values of one kind of column."""

    factors: dict[str, float]
    """What one of each unit is in the measure of the column's values; "" is no unit."""
    example: str
    """What an operand should look like; `{}` is the name of the column."""


_UNITS: Final = {
    ColumnKind.NUMBER: _Units({"": 1.0, "%": 1.0, "k": 1_000.0}, "a number, like {}>50"),
    ColumnKind.SECONDS: _Units(
        {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0},
        "a time with its unit, like {}>2h (s, m, h, d or w)",
    ),
    ColumnKind.SHARE: _Units({"": 0.01, "%": 0.01}, "a share, like {}>80%"),
}

Relation: TypeAlias = Callable[[Any, Any], bool]
"""Compares the value of a row with an operand."""
_RELATIONS: Final[dict[str, Relation]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}

ReadColumn: TypeAlias = Callable[[list[str], int | None, bool], list[Any]]
"""Returns the values of rows in a column: `read(ids, column, as_text)`.

One value for each id, None if it is unknown. The column None means the whole row. `as_text` asks
for texts with their case folded."""


class OperandTest(msgspec.Struct, frozen=True):
    """The test of a row's value against one operand."""

    as_text: bool
    """Whether `accepts` takes the cell's text, and not the column's `filter_value`."""
    accepts: Callable[[Any], bool]


class Term(msgspec.Struct, frozen=True):
    """One condition of a filter, such as `!agent:ada|linus`."""

    column: int | None
    """The index of the column; None for the whole row."""
    negated: bool
    as_text: bool
    """Whether the tests take texts, and not values."""
    tests: tuple[Callable[[Any], bool], ...]
    """One for each operand; a value must pass one of them."""

    def select(self, read: ReadColumn, ids: list[str]) -> list[str]:
        """Return the ids of the rows that match, in their order."""
        expected = not self.negated
        tests = self.tests
        rows = zip(ids, read(ids, self.column, self.as_text), strict=True)
        if len(tests) > 1:
            return [
                row_id for row_id, value in rows if any(test(value) for test in tests) is expected
            ]
        return [row_id for row_id, value in rows if tests[0](value) is expected]


Clause: TypeAlias = tuple[Term, ...]
"""Terms of which a row must match one."""


class Filter(msgspec.Struct, frozen=True):
    """A parsed filter; a row matches if it passes every clause. An empty one matches all rows."""

    text: str
    """The filter as it was typed."""
    clauses: tuple[Clause, ...]

    def __bool__(self) -> bool:
        return bool(self.clauses)

    @property
    def columns(self) -> set[int]:
        """The indexes of the columns that the filter names."""
        terms = (term for clause in self.clauses for term in clause)
        return {term.column for term in terms if term.column is not None}

    def select(self, read: ReadColumn, ids: list[str]) -> list[str]:
        """Return those of `ids` that match, in their order.

        Clauses of the whole row run first: a table has the text of each row ready.
        """
        for clause in sorted(self.clauses, key=lambda terms: terms[0].column is not None):
            matches_by_term = [term.select(read, ids) for term in clause]
            if len(clause) == 1:
                ids = matches_by_term[0]
            else:
                matches = set[str]().union(*matches_by_term)
                ids = [row_id for row_id in ids if row_id in matches]
        return ids


MATCH_ALL: Final = Filter("", ())
"""The filter that every row matches."""


def parse_filter(text: str, columns: Sequence[FilterColumn]) -> Filter | SafeText:
    """Return the filter that a text means for `columns`, or a sentence about an error in it."""
    clauses: list[Clause] = []
    position = 0
    while True:
        match = _TERM.match(text, position)
        if match is None or match.end() == position:
            return Filter(text, tuple(clauses))
        position = match.end()
        term = _parse_term(match, columns)
        if isinstance(term, str):
            return term
        if term is None:
            continue
        if "|" in match["or"] and clauses:
            clauses[-1] = (*clauses[-1], term)
        else:
            clauses.append((term,))


def complete_column_name(text: str, columns: Sequence[FilterColumn]) -> str | None:
    """Return the text with the column name at its end completed, or None if no column fits."""
    match = _NAME_AT_END.search(text)
    if match is None:
        return None
    typed_name = match[1]
    for column in columns:
        for name in (column.key, *column.aliases):
            if name.casefold().startswith(typed_name.casefold()):
                missing_part = name[len(typed_name) :]
                return f"{text}{missing_part}:"
    return None


def _parse_term(match: re.Match[str], columns: Sequence[FilterColumn]) -> Term | SafeText | None:
    """Return the term in a match of `_TERM`; None if it is unfinished; a sentence for an error."""
    operands = [quoted or bare for quoted, bare in _OPERAND.findall(match["operands"].casefold())]
    operator_sign = match["operator"]
    negated = match["not"] is not None
    if operator_sign == "!=":
        operator_sign = "="
        negated = not negated
    index = None
    if match["name"] is not None:
        index = _column_index(match["name"], columns)
        if index is None:
            return _unknown_column(match["name"], match["operator"], columns)
    accepting: list[Callable[[Any], bool]] = []
    as_text = True
    for operand in filter(None, operands):
        if index is None:
            test: OperandTest | SafeText = _contains(operand)
        else:
            test = _column_test(operator_sign, operand, columns[index])
        if isinstance(test, str):
            return test
        as_text = test.as_text
        accepting.append(test.accepts)
    if not accepting:
        return None
    return Term(index, negated, as_text, tuple(accepting))


def _column_index(name: str, columns: Sequence[FilterColumn]) -> int | None:
    for index, column in enumerate(columns):
        if name.casefold() in _column_names(column):
            return index
    return None


def _unknown_column(name: str, operator_sign: str, columns: Sequence[FilterColumn]) -> SafeText:
    """Return the error about a column that does not exist, with a suggestion."""
    key_by_name = {name: column.key for column in columns for name in _column_names(column)}
    advice = f"there are {', '.join(column.key for column in columns)}."
    for similar_name in get_close_matches(name.casefold(), list(key_by_name), n=1, cutoff=0.5):
        advice = f"did you mean {key_by_name[similar_name]}{operator_sign}?"
    return clean_line(f"no column {name}: {advice} To look for the text itself, put it in quotes")


def _contains(operand: str) -> OperandTest:
    """Return the test whether a text contains the operand."""
    return OperandTest(True, lambda text: operand in text)


def _column_test(operator_sign: str, operand: str, column: FilterColumn) -> OperandTest | SafeText:
    """Return the test for one operand of a column, or a sentence about what is wrong with it."""
    if operator_sign == ":":
        return _contains(operand)
    relation = _RELATIONS[operator_sign]
    if column.rank is not None:
        rank = column.rank(operand)
        if rank is not None:
            return _rank_test(column.rank, relation, rank)
    if column.filter_value is None or column.kind is ColumnKind.TEXT:
        if operator_sign == "=":
            return OperandTest(True, lambda text: text == operand)
        if column.rank is not None:
            return clean_line(
                f"{column.key} needs a rank, like {column.key}{operator_sign}critical"
            )
        return clean_line(f"{column.key} is text: use {column.key}:{operand}")
    units = _UNITS[column.kind]
    number = _NUMBER.fullmatch(operand)
    if number is None or number["unit"] not in units.factors:
        return clean_line(f"{column.key} needs {units.example.format(column.key)}")
    factor = units.factors[number["unit"]]
    amount = float(number["minus"] + number["number"].replace(",", ""))
    bound = amount * factor
    if column.kind is ColumnKind.SHARE:
        bound = amount / 100  # more exact than a multiplication by 0.01
    if operator_sign == "=" and column.kind is not ColumnKind.NUMBER:
        return _rounded_test(bound, factor, column.kind)
    return OperandTest(False, lambda value: value is not None and relation(value, bound))


def _rank_test(
    rank_of: Callable[[str], float | None], relation: Relation, bound: float
) -> OperandTest:
    """Return the test that compares the rank of a cell's word with a rank."""

    def accepts(text: str) -> bool:
        rank = rank_of(text)
        return rank is not None and relation(rank, bound)

    return OperandTest(True, accepts)


def _rounded_test(bound: float, unit: float, kind: ColumnKind) -> OperandTest:
    """Return the test for `=` with a time or a share, which compares in whole units.

    `age=2h` is true from two hours until before the third, `spent=80%` for values that round to 80.
    """
    is_share = kind is ColumnKind.SHARE
    lowest = bound / unit
    if is_share:
        lowest -= 0.5

    def accepts(value: Any) -> bool:
        if value is None:
            return False
        count = float(value) / unit
        return lowest <= count < lowest + 1 or (is_share and count == lowest + 1)

    return OperandTest(False, accepts)


def _column_names(column: FilterColumn) -> tuple[str, ...]:
    """Return the names by which a filter may call a column, with their case folded."""
    title = column.title.casefold().replace(" ", "_")
    aliases = [alias.casefold() for alias in column.aliases]
    return (column.key.casefold(), title, *aliases)
