"""The filter language of a record table: what a person types, as a test for records. Pure.

    refund linus            both words somewhere in the row, whatever the case
    "past due"              these words with the blank between them
    agent:linus             the column holds it
    !failed  !agent:linus   not that
    age>2h  spent>=80%  trust<50  tasks=3  cost>1.5k

Units of time are s, m, h, d and w; `k` is a thousand; `%` is for shares. A record whose value is
not known matches no comparison. A term that isn't finished yet (`agent:`, `!`, an open quote) asks
for nothing so far, so the table stays readable while it is being typed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Protocol

from agentco_tui.patterns import lazy_pattern
from agentco_tui.text import SafeText, safe
from agentco_tui.widgets.table.layout import Column, ColumnKind

_TERM: Final = lazy_pattern(
    r"""\s*(?P<not>!)?
        (?:(?P<name>[^\W\d_][\w-]*)(?P<op>:|<=|>=|!=|<|>|=))?
        (?:"(?P<quoted>[^"]*)"?|(?P<bare>\S*))""",
    re.VERBOSE,
)
_NUMBER: Final = lazy_pattern(
    r"(?P<minus>-?)[$€£]?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)\s*(?P<unit>[a-z%]*)"
)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class RowText(Protocol):
    """How a filter reads a record: its text without case, whole and by column, and its values."""

    def haystack(self, row_id: str) -> str:
        """All cells of the row, case folded, a newline between them."""

    def haystacks(self, ids: list[str]) -> Sequence[str]:
        """The same of many rows, faster."""

    def folded(self, row_id: str, column: int) -> str:
        """What the column shows or its text value, case folded."""

    def value(self, row_id: str, column: int) -> Any:
        """The column's `filter_value`, or None."""

    def values(self, ids: list[str], column: int) -> Sequence[Any]:
        """The same of many rows, faster."""


@dataclass(frozen=True)
class FilterError:
    """A filter that can't be used: a sentence for the person and where the trouble is."""

    message: SafeText
    start: int
    """Position of the term in what was typed."""
    end: int
    nearest: str | None = None
    """The name that was probably meant."""


Test = Callable[[RowText, str], bool]


@dataclass(frozen=True)
class Term:
    """One term: the test it makes, and what it reads."""

    test: Test
    negated: bool = False
    word: str | None = None
    """The folded word, if it looks for one anywhere in the row."""
    column: int | None = None

    def matches(self, rows: RowText, row_id: str) -> bool:
        """True if the row passes."""
        return self.test(rows, row_id) is not self.negated

    def select(self, rows: RowText, ids: list[str]) -> list[str]:
        """Those of `ids` that pass. Short for `matches` on each, as most of a filter's time is
        spent here.
        """
        test, wanted = self.test, not self.negated
        if self.word is not None:
            word, texts = self.word, rows.haystacks(ids)
            return [
                row_id for row_id, text in zip(ids, texts, strict=True) if (word in text) is wanted
            ]
        if isinstance(test, _Compare):
            relation, operand = test.relation, test.operand
            values = rows.values(ids, test.column)
            return [
                row_id
                for row_id, value in zip(ids, values, strict=True)
                if (value is not None and relation(value, operand)) is wanted
            ]
        return [row_id for row_id in ids if test(rows, row_id) is wanted]


@dataclass(frozen=True)
class Filter:
    """All terms of what was typed; a row matches if it passes every one."""

    text: str
    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, rows: RowText, row_id: str) -> bool:
        """True if the row passes every term."""
        return all(term.matches(rows, row_id) for term in self.terms)

    def select(self, rows: RowText, ids: Iterable[str]) -> list[str]:
        """Those of `ids` that match, in their order. The cheap tests run first."""
        kept = ids if isinstance(ids, list) else list(ids)
        for term in sorted(self.terms, key=lambda term: term.column is not None):
            kept = term.select(rows, kept)
        return kept

    def narrows(self, earlier: Filter) -> bool:
        """True if whatever matches this also matched `earlier`, so only that need be looked at.

        Told only for the common case: a word being typed further, or terms being added.
        """
        if len(self.terms) < len(earlier.terms):
            return False
        return all(
            old == new
            or (
                old.word is not None
                and new.word is not None
                and old.word in new.word
                and not old.negated
                and not new.negated
            )
            for old, new in zip(earlier.terms, self.terms, strict=False)
        )

    @property
    def columns(self) -> frozenset[int]:
        """The columns that are read by name."""
        return frozenset(term.column for term in self.terms if term.column is not None)


NOTHING: Final = Filter("", ())
"""The filter that everything passes."""


def parse(text: str, columns: Sequence[Column[Any]]) -> Filter | FilterError:
    """Turns what was typed into a filter over `columns`, or says what is wrong with it."""
    terms = []
    position = 0
    while (found := _TERM.match(text, position)) and found.end() > position:
        position = found.end()
        term = _term(found, columns)
        if isinstance(term, FilterError):
            return term
        if term is not None:
            terms.append(term)
    return Filter(text, tuple(terms))


def _term(found: re.Match[str], columns: Sequence[Column[Any]]) -> Term | FilterError | None:
    negated = found["not"] is not None
    operand = found["quoted"] if found["quoted"] is not None else found["bare"] or ""
    folded = operand.casefold()
    if found["name"] is None:
        return _word(folded, negated) if folded else None
    column = _named(found["name"], columns)
    if column is None:
        return _unknown(found, columns)
    if not folded:
        return None
    op = found["op"]
    if op == ":":
        return _holds(folded, column, negated)
    if op in {"=", "!="}:
        negated = negated is not (op == "!=")
        return _equals(found, folded, column, columns[column], negated)
    return _compares(found, folded, column, columns[column], negated)


@dataclass(frozen=True)
class _Holds:
    """The text of a row, or of one column, holds the word."""

    word: str
    column: int | None = None

    def __call__(self, rows: RowText, row_id: str) -> bool:
        if self.column is None:
            return self.word in rows.haystack(row_id)
        return self.word in rows.folded(row_id, self.column)


@dataclass(frozen=True)
class _Is:
    """The text of a column is exactly this."""

    text: str
    column: int

    def __call__(self, rows: RowText, row_id: str) -> bool:
        return rows.folded(row_id, self.column) == self.text


@dataclass(frozen=True)
class _Rounds:
    """The value, counted in steps of `step`, is this many: `age=2h` is true for two hours and up
    to the third, `spent=80%` for what rounds to 80.
    """

    column: int
    wanted: float
    step: float
    nearest: bool

    def __call__(self, rows: RowText, row_id: str) -> bool:
        value = rows.value(row_id, self.column)
        if value is None:
            return False
        count = float(value) / self.step
        if self.nearest:
            return abs(count - self.wanted) <= 0.5 or count == self.wanted
        return self.wanted <= count < self.wanted + 1


@dataclass(frozen=True)
class _Compare:
    """The value stands in this relation to the operand."""

    column: int
    relation: Callable[[Any, Any], bool]
    operand: float

    def __call__(self, rows: RowText, row_id: str) -> bool:
        value = rows.value(row_id, self.column)
        return value is not None and bool(self.relation(value, self.operand))


def _word(folded: str, negated: bool) -> Term:
    return Term(_Holds(folded), negated, word=folded)


def _holds(folded: str, column: int, negated: bool) -> Term:
    return Term(_Holds(folded, column), negated, column=column)


def _equals(
    found: re.Match[str], folded: str, index: int, column: Column[Any], negated: bool
) -> Term | FilterError:
    if column.filter_value is None or column.kind is ColumnKind.TEXT:
        return Term(_Is(folded, index), negated, column=index)
    operand = _operand(found, folded, column)
    if isinstance(operand, FilterError):
        return operand
    value, step = operand
    if column.kind is ColumnKind.NUMBER:
        return Term(_Compare(index, operator.eq, value), negated, column=index)
    test = _Rounds(index, value / step, step, nearest=column.kind is ColumnKind.SHARE)
    return Term(test, negated, column=index)


def _compares(
    found: re.Match[str], folded: str, index: int, column: Column[Any], negated: bool
) -> Term | FilterError:
    if column.filter_value is None or column.kind is ColumnKind.TEXT:
        return _error(found, f"{column.key} is text: use {column.key}:{folded}")
    operand = _operand(found, folded, column)
    if isinstance(operand, FilterError):
        return operand
    return Term(_Compare(index, _COMPARE[found["op"]], operand[0]), negated, column=index)


def _operand(
    found: re.Match[str], folded: str, column: Column[Any]
) -> tuple[float, float] | FilterError:
    """The operand in the column's own measure, and the step its unit counts in."""
    wanted = {
        ColumnKind.NUMBER: f"a number, like {column.key}>50",
        ColumnKind.SECONDS: f"a time with its unit, like {column.key}>2h (s, m, h, d or w)",
        ColumnKind.SHARE: f"a share, like {column.key}>80%",
    }[column.kind]
    number = _NUMBER.fullmatch(folded)
    if number is None:
        return _error(found, f"{column.key} needs {wanted}")
    unit = number["unit"]
    value = float(number["number"].replace(",", ""))
    if number["minus"]:
        value = -value
    if column.kind is ColumnKind.SECONDS and unit in _SECONDS:
        return value * _SECONDS[unit], float(_SECONDS[unit])
    if column.kind is ColumnKind.SHARE and unit in {"", "%"}:
        return value / 100, 0.01
    if column.kind is ColumnKind.NUMBER and unit in {"", "%", "k"}:
        return (value * 1_000 if unit == "k" else value), 1.0
    return _error(found, f"{column.key} needs {wanted}")


def _named(name: str, columns: Sequence[Column[Any]]) -> int | None:
    """The index of the column that a filter calls `name`."""
    wanted = name.casefold()
    for index, column in enumerate(columns):
        if wanted in _names(column):
            return index
    return None


def _names(column: Column[Any]) -> tuple[str, ...]:
    title = column.title.casefold().replace(" ", "_")
    return (column.key.casefold(), title, *(alias.casefold() for alias in column.aliases))


def _unknown(found: re.Match[str], columns: Sequence[Column[Any]]) -> FilterError:
    names = {name: column.key for column in columns for name in _names(column)}
    near = get_close_matches(found["name"].casefold(), list(names), n=1, cutoff=0.5)
    nearest = names[near[0]] if near else None
    if nearest is not None:
        advice = f"did you mean {nearest}{found['op']}? "
    else:
        advice = f"there are {', '.join(column.key for column in columns)}. "
    error = _error(
        found, f"no column {found['name']}: {advice}To look for the text itself, put it in quotes"
    )
    return FilterError(error.message, error.start, error.end, nearest)


def _error(found: re.Match[str], message: str) -> FilterError:
    start = found.start() + len(found[0]) - len(found[0].lstrip())
    return FilterError(safe(message), start, found.end())
