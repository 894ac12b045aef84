"""The filter language of tables: `parse` turns a typed text into a `Filter` that selects rows.

    refund linus            both words somewhere in the row, whatever the case
    "past due"              these words with the blank between them
    agent:linus             the column holds it
    !failed  !agent:linus   not that
    refund | agent:linus    either of the two; also refund|payment and agent:ada|linus
    age>2h  spent>=80%  trust<50  tasks=3  cost>1.5k  priority>=high

Units of time are s, m, h, d and w; `k` is a thousand; `%` is for shares. A record without a value
matches no comparison. An unfinished term (`agent:`, `!`, an open quote, `|`) is ignored, so that
the table does not flicker while the filter is being typed.

A filter is a list of *clauses*, all of which a row must pass; a clause is a list of *terms*, of
which one is enough; a term has one or several *operands*, the texts or figures after its operator.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from agentco_tui.text import SafeText, safe
from agentco_tui.text.patterns import lazy_pattern


class ColumnKind(Enum):
    """What a column's `filter_value` returns, and so what a filter may compare it with."""

    TEXT = "text"  # a string; compared without regard to case
    NUMBER = "number"
    SECONDS = "seconds"  # a duration or age in seconds; a filter gives it with a unit (`2h`)
    SHARE = "share"
    """A part of one, 0.8 for 80 %; a filter gives it in per cent, the sign is optional."""


class FilterColumn(msgspec.Struct, frozen=True, kw_only=True):
    """What a filter must know about a column."""

    key: str
    title: str
    kind: ColumnKind = ColumnKind.TEXT
    filter_value: Callable[[Any], Any] | None = None
    """Returns the value to compare, of the type that `kind` says; None if it is unknown. Without
    it, `column:value` examines the cell's text, and comparisons are refused."""
    rank: Callable[[str], float | None] | None = None
    """Returns the rank of a word of this column, the worst highest; None for an unknown word."""
    aliases: tuple[str, ...] = ()


_NAME: Final = r"[^\W\d_][\w-]*"
_OP: Final = r":|<=|>=|!=|<|>|="
_TERM: Final = lazy_pattern(
    rf"""(?P<or>[\s|]*)(?P<not>!)?
        (?:(?P<name>{_NAME})(?P<op>{_OP}))?
        (?P<operands>(?:"[^"]*"?|[^\s|]*)(?:\|(?!!|{_NAME}(?:{_OP}))(?:"[^"]*"?|[^\s|]+))*)""",
    re.VERBOSE,
)
_OPERAND: Final = lazy_pattern(r'"([^"]*)"?|([^\s|]+)')
_BEGUN: Final = lazy_pattern(rf"(?:^|[\s|!])({_NAME})$")
_NUMBER: Final = lazy_pattern(
    r"(?P<minus>-?)[$€£]?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)\s*(?P<unit>[a-z%]*)"
)
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_OPERANDS: Final = {
    ColumnKind.NUMBER: ({"": 1.0, "%": 1.0, "k": 1_000.0}, "a number, like {}>50"),
    ColumnKind.SECONDS: (_SECONDS, "a time with its unit, like {}>2h (s, m, h, d or w)"),
    ColumnKind.SHARE: ({"": 0.01, "%": 0.01}, "a share, like {}>80%"),
}
"""The units of each kind, in the column's own measure, and what an operand should look like."""
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
"""The comparison of each operator."""


ReadColumn: TypeAlias = Callable[[list[str], int | None, bool], list[Any]]
"""Returns the values of rows in a column: `read(ids, column, as_text)`.

One value for each id, None if it is unknown. The column None means the whole row. `as_text` asks
for texts with their case folded."""

Test: TypeAlias = tuple[bool, Callable[[Any], bool]]
"""(whether the test is of a text, the test of one value)."""


class Term(msgspec.Struct, frozen=True):
    """One condition of a filter, such as `!agent:ada|linus`."""

    column: int | None
    """The index of the column; None for the whole row."""
    negated: bool
    as_text: bool
    """Whether the tests are of texts, and not of values."""
    tests: tuple[Callable[[Any], bool], ...]
    """One for each operand; a value must pass one of them."""

    def select(self, read: ReadColumn, ids: list[str]) -> list[str]:
        """The ids of the rows that match, in their order."""
        wanted = not self.negated
        tests = self.tests
        rows = zip(ids, read(ids, self.column, self.as_text), strict=True)
        if len(tests) > 1:
            return [row_id for row_id, value in rows if any(t(value) for t in tests) is wanted]
        return [row_id for row_id, value in rows if tests[0](value) is wanted]


class Filter(msgspec.Struct, frozen=True):
    """A parsed filter; a row matches if it passes at least one term of every clause."""

    text: str
    clauses: tuple[tuple[Term, ...], ...]

    def __bool__(self) -> bool:
        return bool(self.clauses)

    @property
    def columns(self) -> set[int]:
        """The indexes of the columns that the filter names."""
        return {term.column for each in self.clauses for term in each if term.column is not None}

    def select(self, read: ReadColumn, ids: list[str]) -> list[str]:
        """Those of `ids` that match, in their order. The cheap tests run first."""
        for clause in sorted(self.clauses, key=lambda terms: terms[0].column is not None):
            found = [term.select(read, ids) for term in clause]
            some = set[str]().union(*found[1:])
            ids = [i for i in ids if i in some or i in found[0]] if some else found[0]
        return ids


NOTHING: Final = Filter("", ())
"""The filter that every row passes."""


def parse(text: str, columns: Sequence[FilterColumn]) -> Filter | SafeText:
    """The filter that a text means for `columns`, or a sentence about what is wrong with it."""
    clauses = list[tuple[Term, ...]]()
    position = 0
    while (found := _TERM.match(text, position)) and found.end() > position:
        position = found.end()
        term = _term(found, columns)
        if isinstance(term, str):
            return term
        if term is not None:
            joins = clauses.pop() if "|" in found["or"] and clauses else ()
            clauses.append((*joins, term))
    return Filter(text, tuple(clauses))


def completed(text: str, columns: Sequence[FilterColumn]) -> str | None:
    """The text with the column name at its end completed; None if no column begins like this."""
    found = _BEGUN.search(text)
    if found is None:
        return None
    begun = found[1].casefold()
    names = (name for column in columns for name in (column.key, *column.aliases))
    name = next((name for name in names if name.casefold().startswith(begun)), None)
    return None if name is None else f"{text}{name[len(begun) :]}:"


def _term(found: re.Match[str], columns: Sequence[FilterColumn]) -> Term | SafeText | None:
    """The term in a match; None if it is unfinished; a sentence if it is wrong."""
    negated = found["not"] is not None
    operands = [a or b for a, b in _OPERAND.findall(found["operands"].casefold())]
    op = found["op"]
    index = None
    if found["name"] is not None:
        wanted = found["name"].casefold()
        index = next((at for at, one in enumerate(columns) if wanted in _names(one)), None)
        if index is None:
            names = {name: column.key for column in columns for name in _names(column)}
            advice = f"there are {', '.join(column.key for column in columns)}."
            for near in get_close_matches(wanted, list(names), n=1, cutoff=0.5):
                advice = f"did you mean {names[near]}{op}?"
            quoted = "To look for the text itself, put it in quotes"
            return safe(f"no column {found['name']}: {advice} {quoted}")
    if op == "!=":
        op = "="
        negated = not negated
    tests: list[Callable[[Any], bool]] = []
    as_text = True
    for operand in filter(None, operands):
        test = _contains(operand) if index is None else _test(op, operand, columns[index])
        if isinstance(test, str):
            return test
        as_text, accepts = test
        tests.append(accepts)
    if not tests:
        return None
    return Term(index, negated, as_text, tuple(tests))


def _contains(operand: str) -> Test:
    """The test whether a text contains the operand."""
    return True, lambda text: operand in text


def _test(op: str, operand: str, column: FilterColumn) -> Test | SafeText:
    """The test of one operand after a column's name, or a sentence about what is wrong with it."""
    if op == ":":
        return _contains(operand)
    relation: Callable[[Any, Any], bool] = _COMPARE[op]
    if column.rank is not None and (rank := column.rank(operand)) is not None:
        ranks = column.rank
        return True, lambda text: (own := ranks(text)) is not None and relation(own, rank)
    if column.filter_value is None or column.kind is ColumnKind.TEXT:
        if op == "=":
            return True, lambda text: text == operand
        if column.rank is not None:
            return safe(f"{column.key} needs a rank, like {column.key}{op}critical")
        return safe(f"{column.key} is text: use {column.key}:{operand}")
    units, wanted = _OPERANDS[column.kind]
    number = _NUMBER.fullmatch(operand)
    step = units.get(number["unit"]) if number else None
    if number is None or step is None:
        return safe(f"{column.key} needs {wanted.format(column.key)}")
    value = float(number["minus"] + number["number"].replace(",", ""))
    share = column.kind is ColumnKind.SHARE
    bound = value / 100 if share else value * step
    if op == "=" and column.kind is not ColumnKind.NUMBER:
        # `age=2h` is true for two hours and up to the third, `spent=80%` for what rounds to 80.
        low = bound / step - (0.5 if share else 0.0)

        def relation(value: Any, _: float) -> bool:
            count = float(value) / step
            return low <= count < low + 1 or (share and count == low + 1)

    return False, lambda value: value is not None and relation(value, bound)


def _names(column: FilterColumn) -> tuple[str, ...]:
    """The names by which a filter may call a column, with their case folded."""
    title = column.title.casefold().replace(" ", "_")
    return (column.key.casefold(), title, *(alias.casefold() for alias in column.aliases))
