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
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import astuple

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


ReadColumn: TypeAlias = Callable[[list[str], int | None, bool], list[Any]]
"""Gives what rows have in a column (None: anywhere), as text with its case folded or as value: one
for each id, None for a value that isn't known."""


class Term(msgspec.Struct, frozen=True):
    typed: str  # operator and operand, case folded
    column: int | None
    negated: bool
    as_text: bool
    test: Callable[[Any], bool]


class Filter(msgspec.Struct, frozen=True):
    """All terms of what was typed; a row matches if it passes every one."""

    text: str
    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    def select(self, read: ReadColumn, ids: list[str]) -> list[str]:
        """Those of `ids` that match, in their order. The cheap tests run first."""
        for term in sorted(self.terms, key=lambda term: term.column is not None):
            test, wanted, word = term.test, not term.negated, term.typed
            found = zip(ids, read(ids, term.column, term.as_text), strict=True)
            if term.column is None:
                # As its test does, without a call for each row of a hundred thousand.
                ids = [row_id for row_id, text in found if (word in text) is wanted]
            else:
                ids = [row_id for row_id, value in found if test(value) is wanted]
        return ids

    def narrows(self, earlier: Filter) -> bool:
        """True if whatever matches this also matched `earlier`, so only that need be looked at.

        Told only for the common case: a word being typed further, or terms being added.
        """

        def narrower(new: Term, old: Term) -> bool:
            words = new.column is old.column is None and not (new.negated or old.negated)
            return (words and old.typed in new.typed) or astuple(new)[:4] == astuple(old)[:4]

        enough = len(self.terms) >= len(earlier.terms)
        return enough and all(map(narrower, self.terms, earlier.terms))


NOTHING: Final = Filter("", ())  # the filter that everything passes


def parse(text: str, columns: Sequence[Column[Any]]) -> Filter | SafeText:
    """Turns what was typed into a filter over `columns`, or says what is wrong with it."""
    terms = []
    position = 0
    while (found := _TERM.match(text, position)) and found.end() > position:
        position = found.end()
        term = _term(found, columns)
        if isinstance(term, str):
            return term
        if term is not None:
            terms.append(term)
    return Filter(text, tuple(terms))


def _term(found: re.Match[str], columns: Sequence[Column[Any]]) -> Term | SafeText | None:
    negated = found["not"] is not None
    folded = (found["bare"] if found["quoted"] is None else found["quoted"]).casefold()
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
    if not folded:
        return None
    if op == "!=":
        op, negated = "=", not negated
    typed = f"{op}{folded}" if op else folded
    if index is None or op == ":":
        return Term(typed, index, negated, True, lambda text: folded in text)
    column = columns[index]
    if column.filter_value is None or column.kind is ColumnKind.TEXT:
        if op == "=":
            return Term(typed, index, negated, True, lambda text: text == folded)
        return safe(f"{column.key} is text: use {column.key}:{folded}")
    units, wanted = _OPERANDS[column.kind]
    number = _NUMBER.fullmatch(folded)
    step = units.get(number["unit"]) if number else None
    if number is None or step is None:
        return safe(f"{column.key} needs {wanted.format(column.key)}")
    value = float(number["minus"] + number["number"].replace(",", ""))
    share = column.kind is ColumnKind.SHARE
    bound = value / 100 if share else value * step
    relation: Callable[[Any, Any], bool] = _COMPARE[op]
    if op == "=" and column.kind is not ColumnKind.NUMBER:
        # `age=2h` is true for two hours and up to the third, `spent=80%` for what rounds to 80.
        low = bound / step - (0.5 if share else 0.0)

        def relation(value: Any, _: float) -> bool:
            count = float(value) / step
            return low <= count < low + 1 or (share and count == low + 1)

    return Term(
        typed, index, negated, False, lambda value: value is not None and relation(value, bound)
    )


def _names(column: Column[Any]) -> tuple[str, ...]:
    title = column.title.casefold().replace(" ", "_")
    return (column.key.casefold(), title, *(alias.casefold() for alias in column.aliases))
