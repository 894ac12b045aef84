"""What has grown old is thinned, and what makes the file too large goes.

Each platform is as old as when it was last seen, by its own clock. All of it comes in slices, so
that neither other programs nor reads wait for it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from agentco_tui.live.history_file import HistoryFile
from agentco_tui.live.history_reader import HOUR

DAY: Final = 86_400
TIERS: Final = ((2 * DAY, 600), (30 * DAY, HOUR))
"""From which age on, in seconds, how many seconds have one sample; counts go by the hour from the
last of these ages on."""
KEPT: Final = 365 * DAY
THIN_EVERY: Final = 3_600.0  # real seconds
SLICE: Final = 20  # series that are thinned in one transaction
HARDER: Final = 6  # times that the ages are halved where that isn't enough, before the oldest goes
HARDEST: Final = 18  # times in all

Step = tuple[int, float, float]
"""Seconds of which one sample is kept, from when, to when."""


def thin(file: HistoryFile, most_bytes: int) -> Iterator[None]:
    """Thin the file, and make it as small as it may be; a slice at each step. Nothing within an
    hour of the last time, whichever program did it. Raises HistoryError.
    """
    if not file.run(_is_time):
        return
    for halved in range(-1, HARDEST):
        if halved >= 0 and file.run(_size, bare=True) <= most_bytes:
            break
        # The first time as it should be; then harder, and at last less of it.
        less = max(0, halved + 1 - HARDER)
        yield from _thin_all(file, 0.5 ** (halved + 1), 0.5**less)
    while file.run(_shrink, bare=True):
        yield


def _is_time(connection: sqlite3.Connection) -> bool:
    now = time.time()  # this machine's, as it is compared with its own only
    (last,) = connection.execute("SELECT max(until) FROM thinned WHERE platform = 0").fetchone()
    if last is not None and 0 <= now - last < THIN_EVERY:
        return False
    connection.execute("INSERT OR REPLACE INTO thinned VALUES (0, 0, ?)", (now,))
    return True


def _size(connection: sqlite3.Connection) -> int:
    """How large the file is, but for what is free in it."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int((pages - free) * size)


def _shrink(connection: sqlite3.Connection) -> bool:
    """Give some of what is free back to the disk; False once there is nothing left."""
    if connection.execute("PRAGMA freelist_count").fetchone()[0]:
        connection.executescript("PRAGMA incremental_vacuum(500)")  # each step of it frees a page
        return True
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return False


def _thin_all(file: HistoryFile, harder: float, less: float) -> Iterator[None]:
    """Ages are multiplied by `harder`, and how long anything is kept by `less`."""
    found = "SELECT platform, max(until) FROM seen GROUP BY platform"
    platforms = file.run(lambda connection: connection.execute(found).fetchall(), bare=True)
    for platform, now in platforms:
        steps, ids = file.run(partial(_plan, platform, now, harder), bare=True)
        end = now - KEPT * less
        for place in range(0, len(ids), SLICE):
            file.run(partial(_thin_series, ids[place : place + SLICE], steps, end))
            yield
        file.run(partial(_count_by_hour, platform, steps[-1][2], end))
        yield
        file.run(partial(_drop_old, platform, steps, end))
        yield


def _plan(
    platform: int, now: float, harder: float, connection: sqlite3.Connection
) -> tuple[list[Step], list[int]]:
    """The steps, each from where it was done to already, and the series."""
    query = "SELECT step, until FROM thinned WHERE platform = ?"
    done = dict[int, float](connection.execute(query, (platform,)).fetchall())
    steps = [
        (step, done.get(step, 0.0), (now - age * harder) // step * step) for age, step in TIERS
    ]
    ids = connection.execute("SELECT id FROM series WHERE platform = ?", (platform,)).fetchall()
    return steps, [series for (series,) in ids]


def _thin_series(
    ids: Sequence[int], steps: Sequence[Step], end: float, connection: sqlite3.Connection
) -> None:
    """Leave the last sample of each step; of what is too old the last one, for it still holds."""
    connection.executemany(
        """DELETE FROM sample WHERE series = ?1 AND at >= ?3 AND at < ?4 AND EXISTS
        (SELECT 1 FROM sample AS later WHERE later.series = ?1 AND later.at > sample.at
        AND later.at < (CAST(sample.at / ?2 AS INTEGER) + 1) * ?2)""",
        [(series, *step) for series in ids for step in steps],
    )
    connection.executemany(
        """DELETE FROM sample WHERE series = ?1 AND at <
        (SELECT max(at) FROM sample WHERE series = ?1 AND at < ?2)""",
        [(series, end) for series in ids],
    )


def _count_by_hour(platform: int, until: float, end: float, connection: sqlite3.Connection) -> None:
    """Sum up to hours the minutes that are older, and forget what is too old."""
    values = {"platform": platform, "until": until, "end": end, "hour": HOUR}
    of = "tally IN (SELECT id FROM tally WHERE platform = :platform)"
    old = f"DELETE FROM counted WHERE {of} AND (at < :end OR (at < :until AND NOT is_hour))"  # noqa: S608 (our own words)
    connection.execute(
        f"""INSERT INTO counted SELECT tally, at / :hour * :hour AS began, 1, sum(n) FROM counted
        WHERE {of} AND at < :until AND NOT is_hour GROUP BY tally, began
        ON CONFLICT DO UPDATE SET n = n + excluded.n""",  # noqa: S608 (our own words)
        values,
    )
    connection.execute(old, values)
    connection.execute(
        "DELETE FROM tally WHERE platform = :platform AND id NOT IN (SELECT tally FROM counted)",
        values,
    )


def _drop_old(
    platform: int, steps: Sequence[Step], end: float, connection: sqlite3.Connection
) -> None:
    for rows in ("life WHERE changed", "alert WHERE gone", "seen WHERE until"):
        delete = f"DELETE FROM {rows} < ? AND platform = ?"  # noqa: S608 (our own words)
        connection.execute(delete, (end, platform))
    for step, _, until in steps:
        connection.execute(
            "INSERT OR REPLACE INTO thinned VALUES (?, ?, ?)", (platform, step, until)
        )
