"""Compares rows that a screen shows with those that the server has, one to one.

A `Check` is what a cell must show. A `Candidate` is a row of the server: by the titles of the
columns the checks of its cells, in one version or several, as the server was read before and after
the screen, and as some lines may be shown by one of several records. Each row is one candidate, or
as many as it says (`×3`), and each candidate is in one row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, Protocol

from tests.benchmarks.shown_lists import Column, ShownRow

MISSING = "–"
CUT = "…"
SIGNS = " →○●✖▲~"
"""What may precede a word as its sign."""
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365.25 * 86_400}
"""Seconds in the units of ages."""
CLOCK_SKEW = 2.0
"""Seconds between reading the clock and reading the screen, at most."""


class Check(Protocol):
    """What a cell must show. `at`: when it was shown, in seconds since 1970."""

    def agrees(self, shown: str, at: float) -> bool: ...


class Words(NamedTuple):
    """A text; one that is cut must be the beginning, or the beginning and the end."""

    text: str | None

    def __str__(self) -> str:
        return repr(self.text or MISSING)

    def agrees(self, shown: str, at: float) -> bool:
        text = " ".join((self.text or MISSING).split())
        begin, cut, end = shown.partition(CUT)
        if not cut:
            return shown == text
        return len(text) > len(begin + end) and text.startswith(begin) and text.endswith(end)


class Word(NamedTuple):
    """A text behind a sign, such as a status."""

    text: str | None

    def __str__(self) -> str:
        return repr(self.text or MISSING)

    def agrees(self, shown: str, at: float) -> bool:
        return Words(self.text).agrees(shown.lstrip(SIGNS) or shown, at)


class Title(NamedTuple):
    """A text, with a note behind it if its company does not work, or if it is that of several."""

    text: str

    def __str__(self) -> str:
        return repr(self.text)

    def agrees(self, shown: str, at: float) -> bool:
        title, _, _ = shown.partition(" ▲ ")
        return Words(self.text).agrees(re.sub(r" ×\d+$", "", title), at)


class Names(NamedTuple):
    """Several names, in any order."""

    names: frozenset[str]

    def agrees(self, shown: str, at: float) -> bool:
        *whole, last = shown.split(", ")
        if not last.endswith(CUT):
            return {*whole, last} == self.names
        begin = last.removesuffix(CUT).rstrip(",")
        return self.names >= set(whole) and any(name.startswith(begin) for name in self.names)

    def __str__(self) -> str:
        return ", ".join(sorted(self.names))


class Since(NamedTuple):
    """How long ago something was, within one unit of what is shown: "31 m", "1h08", "2 d"."""

    then: float | None

    def agrees(self, shown: str, at: float) -> bool:
        if self.then is None:
            return shown == MISSING
        hours = re.fullmatch(r"(\d+)h(\d\d)", shown)
        whole = re.fullmatch(r"(\d+) ([smhdwy])", shown)
        if hours:
            unit = 60.0
            age = int(hours[1]) * 3_600 + int(hours[2]) * 60.0
        elif whole:
            unit = UNITS[whole[2]]
            age = int(whole[1]) * unit
        else:
            return False
        passed = max(0.0, at - self.then)
        return abs(passed - age) <= unit + CLOCK_SKEW

    def __str__(self) -> str:
        return MISSING if self.then is None else f"since {datetime.fromtimestamp(self.then, UTC)}"


class Clock(NamedTuple):
    """A time of day, in UTC; with its weekday or its date if it is another day's."""

    then: float

    def agrees(self, shown: str, at: float) -> bool:
        then = datetime.fromtimestamp(self.then, UTC)
        today = datetime.fromtimestamp(at, UTC)
        if today - then < timedelta(days=1) and shown == f"{then:%H:%M:%S}":
            return today.date() == then.date()
        if timedelta(0) < today - then < timedelta(days=7) and shown == f"{then:%a %H:%M}":
            return today.date() != then.date()
        return shown in {f"{then.day} {then:%b}", f"{then:%b %Y}"}

    def __str__(self) -> str:
        return str(datetime.fromtimestamp(self.then, UTC))


class Cents(NamedTuple):
    """A sum; "~" before it is allowed, as it says that the sum was worked out."""

    least: int | None
    most: int | None
    none: str = MISSING
    """What is shown without a sum."""

    def agrees(self, shown: str, at: float) -> bool:
        if self.least is None or self.most is None:
            return shown == self.none
        sum_ = re.fullmatch(r"~?(-?)\$([\d,]+)\.(\d\d)", shown)
        if sum_ is None:
            return False
        cents = int(f"{sum_[1]}{sum_[2].replace(',', '')}{sum_[3]}")
        return self.least <= cents <= self.most

    def __str__(self) -> str:
        if self.least is None or self.most is None:
            return self.none
        return " to ".join(dict.fromkeys(map(dollars, (self.least, self.most))))


def cents(number: int | None, none: str = MISSING) -> Cents:
    return Cents(number, number, none)


class Number(NamedTuple):
    """How many there are; "~" before it is allowed, as it says that the program has counted."""

    least: int
    most: int

    def agrees(self, shown: str, at: float) -> bool:
        match = re.fullmatch(r"~?([\d,]+)", shown)
        return match is not None and self.least <= int(match[1].replace(",", "")) <= self.most

    def __str__(self) -> str:
        return " to ".join(dict.fromkeys(map(str, self)))


def number(count: int) -> Number:
    return Number(count, count)


def dollars(cents: int) -> str:
    minus = "-" if cents < 0 else ""
    return f"{minus}${Decimal(abs(cents)) / 100:,.2f}"


class Share(NamedTuple):
    """How much of a limit is spent, in per cent, behind a gauge or alone."""

    spent: int
    limit: int
    none: str = MISSING
    """What is shown without a limit."""

    def agrees(self, shown: str, at: float) -> bool:
        if not self.limit:
            return shown == self.none
        match = re.search(r"(?:^| )([<>]?)([\d,]+) %$", shown)
        if match is None:
            return False
        figure = int(match[2].replace(",", ""))
        percent = Decimal(self.spent) / self.limit * 100
        if match[1] == "<":
            return 0 < percent < figure
        if match[1] == ">":
            return figure < percent < figure + 1
        return abs(percent - figure) <= Decimal("0.5") or (figure == 99 and 99 < percent < 100)

    def __str__(self) -> str:
        return f"{self.spent / self.limit:.2%}" if self.limit else self.none


class OneOf(NamedTuple):
    """Any of several."""

    checks: tuple[Check, ...]

    def agrees(self, shown: str, at: float) -> bool:
        return any(check.agrees(shown, at) for check in self.checks)

    def __str__(self) -> str:
        return " or ".join(dict.fromkeys(map(str, self.checks)))


class Matching(NamedTuple):
    """A text with a given form."""

    pattern: str

    def agrees(self, shown: str, at: float) -> bool:
        return re.fullmatch(self.pattern, shown) is not None


Cells = Mapping[str, Check]
"""By the titles of the columns, what the cells of a row must show."""
Rows = Mapping[str, Sequence[Cells]]
"""By the id of a record, its row in one version or several."""


class Candidate(NamedTuple):
    """A row of the server."""

    id: str
    versions: list[Cells]
    is_due: bool
    """Whether it must be shown."""


class Repeats(NamedTuple):
    """How one row stands for several of the server's."""

    count: Callable[[ShownRow], int]
    is_same: Callable[[str, str], bool]
    """Whether two candidates, by their ids, may be in one row."""
    joined: Callable[[Sequence[str]], Cells]
    """The cells of the row that are of all of them."""
    of_all: tuple[str, ...] = ()
    """The titles of those cells."""


class Result(NamedTuple):
    """What a comparison found."""

    rows: int
    stands_for: int
    """For how many rows of the server the rows stand."""
    cells: int
    """How many were compared."""
    cut: int
    """How many of these show only a part of their text, which was compared."""
    differences: list[str]
    not_compared: Counter[str]
    """By the titles of the columns, how many cells were not compared."""


def candidates_of(before: Rows, after: Rows, optional: Iterable[str] = ()) -> list[Candidate]:
    """The rows of the server: those that it had before and after must be shown.

    Of a row that has one version each time, each cell may be as before or as after.
    """
    not_due = (before.keys() ^ after.keys()) | set(optional)
    candidates = []
    for row_id in dict.fromkeys((*before, *after)):
        versions = [*before.get(row_id, ()), *after.get(row_id, ())]
        if len(before.get(row_id, ())) == len(after.get(row_id, ())) == 1:
            older, newer = versions
            versions = [{title: either(older[title], newer[title]) for title in newer}]
        candidates.append(Candidate(row_id, versions, row_id not in not_due))
    return candidates


def either(older: Check, newer: Check) -> Check:
    """What a cell may show that changed meanwhile: of figures also any between the two."""
    if older == newer:
        return newer
    if isinstance(older, Number) and isinstance(newer, Number):
        return Number(min(older.least, newer.least), max(older.most, newer.most))
    if isinstance(older, Cents) and isinstance(newer, Cents):
        ends = older.least, newer.least
        if ends[0] is not None and ends[1] is not None:
            return Cents(min(ends[0], ends[1]), max(ends[0], ends[1]))
    return OneOf((older, newer))


def compare(
    shown: Sequence[ShownRow],
    candidates: Sequence[Candidate],
    columns: Sequence[Column],
    repeats: Repeats | None = None,
) -> Result:
    """Match each row with a candidate, and compare the cells."""
    compared = {column.title for column in columns if column.is_compared}
    own_cells = [cells_of_one(row, compared, repeats) for row in shown]
    found = matched(own_cells, candidates)
    left = [each for number, each in enumerate(candidates) if number not in found.values()]
    differences: list[str] = []
    for number, row in enumerate(own_cells):
        if number not in found:
            differences += nearest_differences(row, left)
    stands_for = 0
    for number, row in enumerate(shown):
        if repeats is None or number not in found:
            stands_for += 1
            continue
        ids = taken_for(row, candidates[found[number]], left, repeats)
        stands_for += len(ids)
        differences += differences_of_repeated(row, ids, repeats)
    differences += [
        f"{each.id} is not shown: {words_of_cells(each)}" for each in left if each.is_due
    ]
    texts = [row.cells[title] for row in shown for title in row.cells.keys() & compared]
    return Result(
        rows=len(shown),
        stands_for=stands_for,
        cells=len(texts),
        cut=sum(CUT in text for text in texts),
        differences=differences,
        not_compared=Counter(title for row in shown for title in row.cells.keys() - compared),
    )


def cells_of_one(row: ShownRow, compared: Set[str], repeats: Repeats | None) -> ShownRow:
    """The compared cells of a row that are of a single one of those that it stands for."""
    is_joined = repeats is not None and repeats.count(row) > 1
    left_out = repeats.of_all if repeats is not None and is_joined else ()
    titles = [title for title in row.cells if title in compared and title not in left_out]
    return ShownRow({title: row.cells[title] for title in titles}, row.at)


def taken_for(
    row: ShownRow, first: Candidate, left: list[Candidate], repeats: Repeats
) -> list[str]:
    """The ids of those that a row stands for, which are then no other row's."""
    others = [each for each in left if repeats.is_same(first.id, each.id)]
    others = others[: repeats.count(row) - 1]
    for each in others:
        left.remove(each)
    return [first.id, *(each.id for each in others)]


def differences_of_repeated(row: ShownRow, ids: Sequence[str], repeats: Repeats) -> Iterator[str]:
    if len(ids) != repeats.count(row):
        yield f"{words_of(row)} stands for {len(ids)} of the server's"
    if len(ids) == 1:
        return
    for title, check in repeats.joined(ids).items():
        text = row.cells.get(title)
        if text is not None and not check.agrees(text, row.at):
            yield f"{words_of(row)}: {title} is {text!r}, not {check}"


def words_of_cells(candidate: Candidate) -> str:
    return ", ".join(f"{title} {check}" for title, check in candidate.versions[0].items())


def words_of(row: ShownRow) -> str:
    return " | ".join(row.cells.values())


def wrong_cells(row: ShownRow, cells: Cells) -> list[str]:
    """The titles of the cells that differ from one version of a candidate."""
    wrong = []
    for title, text in row.cells.items():
        check = cells.get(title)
        if check is None or not check.agrees(text, row.at):
            wrong.append(title)
    return wrong


def matched(shown: Sequence[ShownRow], candidates: Sequence[Candidate]) -> dict[int, int]:
    """For as many rows as possible a candidate of their own with which all cells agree."""
    fitting = [
        [
            number
            for number, each in enumerate(candidates)
            if any(not wrong_cells(row, version) for version in each.versions)
        ]
        for row in shown
    ]
    row_of: dict[int, int] = {}

    def is_placed(row: int, tried: set[int]) -> bool:
        """Give a row a candidate, for which another row may have to take another one."""
        for number in fitting[row]:
            if number in tried:
                continue
            tried.add(number)
            if number not in row_of or is_placed(row_of[number], tried):
                row_of[number] = row
                return True
        return False

    for row in range(len(shown)):
        is_placed(row, set())
    return {row: number for number, row in row_of.items()}


def nearest_differences(row: ShownRow, left: list[Candidate]) -> Iterator[str]:
    """Where a row differs from the nearest candidate, which is then no other row's."""
    nearest = min(
        ((wrong_cells(row, version), version, each) for each in left for version in each.versions),
        key=lambda found: len(found[0]),
        default=None,
    )
    if nearest is None:
        yield f"{words_of(row)}: the server has no such row, and no other one is left"
        return
    wrong, version, each = nearest
    if 2 * len(wrong) > len(row.cells):
        near = f"{each.id}: {words_of_cells(each)}"
        yield f"{words_of(row)}: the server has no such row; the nearest is {near}"
        return
    left.remove(each)
    # Lists are polled at different times: one cell may be as it was before, another as after.
    wrong_in_all = set(wrong).intersection(*(wrong_cells(row, other) for other in each.versions))
    for title in wrong:
        shown = row.cells[title]
        if title not in wrong_in_all:
            continue
        yield f"{words_of(row)}: {title} is {shown!r}, not {version.get(title)}"
