"""Reads the lists of a dashboard off its picture, row by row and cell by cell.

A list is found by its line of titles. Its rows are cut into cells by the positions of the titles:
a column that is aligned to the left begins where its title begins, one that is aligned to the
right ends where its title ends. Nothing of the program's own layout is used but the three cells
before the first column, which have the cursor.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.terminal.pty_session import NotSeenError, PtySession

CURSOR = "▌"
MARK = "■"
GAP = "  "
"""The blanks between two columns at least; behind the last one are the scroll bar and a blank."""
PAINTED = 0.4
"""Seconds without output after which a page is taken to be painted."""
TURNED = 5.0
"""Seconds within which a page is turned, or it was the last."""


class Column(NamedTuple):
    """A column by its title."""

    title: str
    is_right: bool = False
    """Whether its title and its cells are aligned to the right."""
    indent: int = 0
    """Blanks that begin the title where its cells have a sign."""
    is_compared: bool = True
    """False if nothing in the column comes from the server."""


class ShownRow(NamedTuple):
    """The cells of a row, by the titles of their columns."""

    cells: dict[str, str]
    at: float
    """When they were read, in seconds since 1970."""


class Area(NamedTuple):
    """Where a list is in a picture: the line of its titles, its edges, and the titles."""

    line: int
    left: int
    right: int
    titles: list[tuple[Column, int, int]]
    """Each column that is shown, and where its title begins and ends."""


class Page(NamedTuple):
    """The rows of a list that are on the screen, and which of them has the cursor."""

    rows: list[ShownRow]
    cursor: int


def find_area(screen: Sequence[str], columns: Sequence[Column], width: int, left: int = 0) -> Area:
    """The list whose first column is the first of these; NotSeenError if it is not there.

    `left`: where the list begins, if not at the edge of the terminal.
    """
    for number, line in enumerate(screen):
        titles = list(titles_in(line, columns, left))
        if len(titles) < 2 or titles[0][0] is not columns[0]:
            continue
        last_end = titles[-1][2]
        beside = re.compile(r"[ ↑↓]*").match(line, last_end)
        assert beside is not None
        is_alone = beside.end() >= len(line)
        right = width - 1 if is_alone else beside.end() - len(GAP)
        words = re.split(r" {2,}|[↑↓]", line[left:right])
        unknown = {word.strip() for word in words} - {"", *(line[a:b] for _, a, b in titles)}
        if unknown:
            raise NotSeenError(f"columns that nobody compares: {unknown}\n{line}")
        return Area(number, left, right, titles)
    raise NotSeenError(f"no list with {columns[0].title}:\n" + "\n".join(screen))


def titles_in(line: str, columns: Sequence[Column], left: int) -> Iterator[tuple[Column, int, int]]:
    """The columns whose titles are in a line in this order, and where each begins and ends.

    A title may be cut.
    """
    begin = left
    for column in columns:
        cut = "|".join(f"{column.title[:length]}…" for length in range(3, len(column.title)))
        title = re.compile(rf"(?<!\S)({re.escape(column.title)}|{cut or '…'})(?=\s|[↑↓]|$)")
        match = title.search(line, begin)
        if match is not None:
            yield column, match.start(), match.end()
            begin = match.end()


def cells_of(line: str, area: Area) -> dict[str, str]:
    """The cells of a row, by the titles of their columns."""
    cells: dict[str, str] = {}
    titles = [*area.titles]
    begin = area.left + 1
    while titles:
        column, title_start, title_end = titles.pop(0)
        if column.is_right:
            text = line[begin:title_end]
            begin = title_end
            # What is before the first column has no title: the cursor and the sign of the level.
            cells[column.title] = text.strip() if cells else text.split(GAP)[-1].strip()
            continue
        start = title_start - column.indent
        if not titles:
            cells[column.title] = line[start : area.right].strip()
            break
        following, next_start, next_end = titles[0]
        if not following.is_right:
            begin = next_start - following.indent
            cells[column.title] = line[start:begin].strip()
            continue
        # Neither the end of this one nor the beginning of the next is known.
        titles.pop(0)
        begin = next_end
        both = line[start:begin]
        right_cell = both.rsplit(GAP, 1)[-1].strip()
        cells[column.title] = both.removesuffix(right_cell).strip()
        cells[following.title] = right_cell
    return cells


def page_of(screen: Sequence[str], area: Area, at: float) -> Page:
    """The rows below the titles, until a line that is no row."""
    rows: list[ShownRow] = []
    cursor = -1
    for line in screen[area.line + 1 :]:
        part = line.ljust(area.right)[area.left : area.right]
        if part[0] not in f" {CURSOR}" or part[1:3].strip(f" {MARK}") or not part[3:].strip():
            break
        if part[0] == CURSOR:
            cursor = len(rows)
        rows.append(ShownRow(cells_of(line.ljust(area.right), area), at))
    return Page(rows, cursor)


def read_page(session: PtySession, columns: Sequence[Column], width: int, left: int = 0) -> Page:
    session.wait_quiet(PAINTED)
    screen = session.screen
    area = find_area(screen, columns, width, left)
    return page_of(screen, area, time.time())


def read_list(
    session: PtySession, columns: Sequence[Column], width: int, left: int = 0
) -> list[ShownRow]:
    """All rows of the list that has the keys, from its first page to its last.

    A key turns the list by all lines but one, and moves the cursor by as many rows, so that it
    stays on its line. On the last page it does not: the list is turned by less.
    """
    page = read_page(session, columns, width, left)
    top = 0
    rows = dict(enumerate(page.rows))
    while page.cursor >= 0:
        under_cursor = top + page.cursor + max(1, len(page.rows) - 1)
        session.press("pagedown")
        next_page = _next_page(session, columns, width, left, page)
        if next_page is None:
            break
        top = under_cursor - next_page.cursor
        rows.update((top + number, row) for number, row in enumerate(next_page.rows))
        if next_page.cursor != page.cursor:
            break
        page = next_page
    if [*rows] != [*range(len(rows))]:
        raise NotSeenError(f"rows were passed over: {sorted(rows)}\n{session.text}")
    return [*rows.values()]


def _next_page(
    session: PtySession, columns: Sequence[Column], width: int, left: int, before: Page
) -> Page | None:
    """The page after a key that turns it; None if there is no other."""

    def is_turned(_: str) -> bool:
        screen = session.screen
        page = page_of(screen, find_area(screen, columns, width, left), 0.0)
        pairs = zip(page.rows, before.rows, strict=False)
        kept = sum(row.cells == old.cells for row, old in pairs)
        return page.cursor != before.cursor or 2 * kept < len(page.rows)

    try:
        session.wait_for(is_turned, TURNED)
    except NotSeenError:
        return None
    return read_page(session, columns, width, left)
