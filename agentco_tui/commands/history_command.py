"""`agentco-tui history`: prints what was observed of a platform, from the history file alone.

The history is an SQLite file that dashboards and `watch` write while they poll: samples of budgets,
queues (of tasks that wait for approval) and AI agents, counts of log entries, and the first and
last sight of tasks and alerts. Nothing is requested from the platform, the service that is watched.

In its tables a platform is an address, and a `viewer` a profile (the user's name for a platform and
its settings) that it was observed with. A `subject` is a company or an agent, whose `key` is its
id; a `series` has the samples of one subject, and a `tally` the counts of one kind of log entry. A
`life` is what is known of one task, and `seen` says when a feed (a list) was observed at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentco_tui.api.origin import platform_of
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import (
    Exit,
    print_json,
    print_lines,
    print_to_stderr,
    write_stdout,
)
from agentco_tui.commands.journal_command import parse_since
from agentco_tui.config import Arguments, SettingsError
from agentco_tui.config.resolve import Resolver
from agentco_tui.history.observations import HistoryError
from agentco_tui.history.reader import IS_FINEST
from agentco_tui.live.names import records_named
from agentco_tui.live.record_export import csv_row
from agentco_tui.model import Company
from agentco_tui.model.period import DAY
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.text.width import fit

if TYPE_CHECKING:
    import sqlite3

TIMES: Final = (
    *("at", "until", "oldest", "waiting_since", "decided", "ended"),
    *("departed", "departed_after"),
)
"""Columns that hold seconds since 1970; they are printed in ISO 8601."""
SUMS: Final = ("spent", "limit", "trust", "estimate", "cost")
"""Columns whose numbers are stored as decimal text, so that they are exact."""
HEAD: Final = ("at", "what", "company", "agent", "company_name", "agent_name")
"""Columns at the beginning of a line for the user; the others follow with their names. "what" is
the kind of row, a key of `ROWS`."""
# The columns a, b and c of a sample mean what the queries in `ROWS` call them. Rows are buckets of
# one minute, ten or sixty, and old ones are kept only in the longer buckets: `IS_FINEST` is the
# condition for the shortest that are kept of their time.
_SAMPLES: Final = f"""FROM sample JOIN series ON series.id = sample.series
    WHERE platform = :platform AND {IS_FINEST} AND at >= COALESCE((SELECT max(at)
        FROM sample AS held WHERE held.series = series.id AND {IS_FINEST} AND at <= :since),
        :since) AND feed"""  # noqa: S608 (our own words)
ROWS: Final = {
    "budget": f"""SELECT at, iif(feed = 'company budgets', NULLIF(subject, ''), NULL) AS company,
        iif(feed = 'agent budgets', subject, NULL) AS agent, a AS spent, b AS "limit",
        c AS currency {_SAMPLES} IN ('budget', 'company budgets', 'agent budgets')""",
    "queue": f"""SELECT at, NULLIF(subject, '') AS company, NULL AS agent, a AS waiting,
        b AS oldest {_SAMPLES} = 'pending tasks'""",
    "agent": f"""SELECT at, NULL AS company, subject AS agent, a AS status, b AS trust,
        c AS completed {_SAMPLES} = 'agents'""",
    "activity": f"""SELECT bucket AS at, NULLIF(company, '') AS company, NULLIF(agent, '') AS agent,
        kind, severity, n AS count FROM counted JOIN tally ON tally.id = counted.tally
        WHERE platform = :platform AND {IS_FINEST} AND bucket >= :since""",  # noqa: S608 (our own words)
    "task": """SELECT first_seen AS at, company, agent, id, title, state, waiting_since, decided,
        decided_by, departed, departed_after, ended, estimate, cost, currency
        FROM life WHERE platform = :platform AND changed >= :since""",
    "alert": """SELECT first_seen AS at, iif(scope = 'company', subject, NULL) AS company,
        iif(scope = 'agent', subject, NULL) AS agent, id, severity, text, gone AS until
        FROM alert WHERE platform = :platform AND max(first_seen, COALESCE(gone, 0)) >= :since""",
    "seen": """SELECT since AS at, NULLIF(scope, '') AS company, NULL AS agent, feed, until
        FROM seen WHERE platform = :platform AND until >= :since""",
}
"""The query for each kind of row. Samples begin with the last one at or before `:since`."""
_CHOSEN: Final = """SELECT '{0}' AS what, it.*, company.name AS company_name,
    agent.name AS agent_name FROM ({1}) AS it
    LEFT JOIN subject AS agent ON (agent.platform, agent.kind, agent.key)
        = (:platform, 'agent', it.agent)
    LEFT JOIN subject AS company ON (company.platform, company.kind, company.key)
        = (:platform, 'company', COALESCE(it.company, agent.company))
    WHERE '{0}' = 'seen' OR ((:agent IS NULL OR it.agent = :agent)
        AND (:company IS NULL OR COALESCE(it.company, agent.company) = :company)) ORDER BY at"""
"""Selects the rows of one kind for a company and an agent, and adds their names.

Takes the kind (a name in `ROWS`) and its query.
"""

Row = dict[str, Any]
"""A row by column, without the columns whose value is unknown."""


class _Selection(NamedTuple):
    """What to print, and in which format."""

    profile: str
    origin: str | None  # address of the platform; None for all that the profile was used with
    since: float  # in seconds since 1970
    company: str | None  # id or name; None for all
    agent: str | None  # id or name; None for all
    as_json: bool
    as_csv: bool

    @property
    def is_for_user(self) -> bool:
        return not (self.as_json or self.as_csv)


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print what was observed; returns 0, or 1 if the file can't be read.

    JSON: an object on each line, {"what": "budget"|"queue"|"agent"|"activity"|"task"|"alert"|
    "seen", …}, with times in ISO 8601 and sums as numbers, and without unknown values. CSV: the
    same in columns. Otherwise the last day, in lines for the user. Raises UsageError for an unknown
    company or agent.
    """
    if arguments["json"] and arguments["csv"]:
        raise UsageError("--json and --csv exclude each other: choose one")
    resolved = Resolver(arguments, env)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    selection = _Selection(
        profile=resolved.profile,
        origin=None if resolved.base_url is None else str(resolved.base_url),
        since=_begin(arguments),
        company=resolved.values["company"],
        agent=arguments["agent"],
        as_json=arguments["json"],
        as_csv=arguments["csv"],
    )
    path = state_folder() / HISTORY_FILE
    try:
        # Imported late, so that nothing else pays for the import of SQLite.
        from agentco_tui.history.database import reading  # noqa: PLC0415

        with reading(path) as connection:
            _print_history(connection, selection, path)
    except FileNotFoundError:
        if selection.is_for_user:
            print_lines(f"nothing has been observed yet ({path})")
    except HistoryError as error:
        print_to_stderr(str(error))
        return Exit.FAILED
    return Exit.OK


def _begin(arguments: Arguments) -> float:
    """The time from which to print, in seconds since 1970; 0 for everything. Raises UsageError."""
    now = time.time()
    if arguments["since"] is not None:
        return parse_since(arguments["since"], now)
    is_for_scripts = arguments["json"] or arguments["csv"]
    return 0.0 if is_for_scripts else now - DAY


def _print_history(connection: sqlite3.Connection, selection: _Selection, path: Path) -> None:
    platforms = _platforms(connection, selection)
    for platform, origin in platforms:
        cursors = _query(connection, platform, selection)
        if selection.as_csv:
            _say_csv(cursors)
        elif selection.as_json:
            for row in _rows(cursors):
                print_json(row)
        else:
            profile = clean_line(selection.profile, 40)
            print_lines(f"{profile}  {clean_line(origin, 200)}  since {_iso(selection.since)}")
            for row in _rows(cursors):
                print_lines(_line(row))
    if not platforms and selection.is_for_user:
        name = clean_line(f"{selection.profile} {selection.origin or ''}", 200)
        print_lines(f"nothing has been observed of {name} yet ({path})")


def _platforms(connection: sqlite3.Connection, selection: _Selection) -> list[tuple[int, str]]:
    """The row id and the address of each platform to print."""
    if selection.origin is None:
        sql = "SELECT id, origin FROM platform JOIN viewer ON platform = id WHERE profile = ?"
        parameter = selection.profile
    else:
        sql = "SELECT id, origin FROM platform WHERE key = ?"
        parameter = platform_of(selection.origin)  # the address, always spelt the same way
    return connection.execute(sql, (parameter,)).fetchall()


def _query(
    connection: sqlite3.Connection, platform: int, selection: _Selection
) -> list[sqlite3.Cursor]:
    """A cursor for each kind of row. Raises UsageError for an unknown company or agent."""
    parameters = {
        "platform": platform,
        "since": selection.since,
        "company": _find_id(connection, platform, "company", selection.company),
        "agent": _find_id(connection, platform, "agent", selection.agent),
    }
    return [
        connection.execute(_CHOSEN.format(what, rows), parameters) for what, rows in ROWS.items()
    ]


def _find_id(
    connection: sqlite3.Connection, platform: int, kind: str, words: str | None
) -> str | None:
    """The id of the company or agent with this id or name; None for None. Raises UsageError."""
    if words is None:
        return None
    query = "SELECT key, name FROM subject WHERE platform = ? AND kind = ?"
    subjects = connection.execute(query, (platform, kind))
    # `records_named` compares ids and names only, so any kind of record does.
    matches = records_named(words, (Company(id=key, name=name) for key, name in subjects))
    if not matches:
        raise UsageError(f"no {kind} in the history has the name or id {clean_line(words, 60)}")
    if len(matches) > 1:
        raise UsageError(f"{len(matches)} {kind} records have the name {clean_line(words, 60)}")
    return matches[0].id


def _rows(cursors: Iterable[sqlite3.Cursor]) -> Iterator[Row]:
    """The rows of each query in turn, without unknown values."""
    for cursor in cursors:
        names = [name for name, *_ in cursor.description]
        for values in cursor:
            yield {
                name: _value(name, value)
                for name, value in zip(names, values, strict=True)
                if value is not None
            }


def _value(name: str, value: Any) -> Any:
    """Convert a value for printing: a time to ISO 8601, a sum to a number."""
    if name in TIMES:
        return _iso(value)
    if name in SUMS:
        return float(value)
    return value


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _cell(value: object) -> SafeText:
    return mark_safe(f"{value:.15g}") if isinstance(value, float) else clean_line(value)


def _line(row: Row) -> str:
    """A row as a line for the user: time, kind, company, agent, then each value with its name."""
    company = row.get("company_name") or row.get("company", "")
    agent = row.get("agent_name") or row.get("agent", "")
    columns = [fit(clean_line(cell), 16) for cell in (row["what"], company, agent)]
    values = [f"{name} {_cell(value)}" for name, value in row.items() if name not in HEAD]
    return "  ".join((row["at"], *columns, *values))


def _say_csv(cursors: Sequence[sqlite3.Cursor]) -> None:
    columns = dict.fromkeys(name for cursor in cursors for name, *_ in cursor.description)
    write_stdout(csv_row(columns))
    for row in _rows(cursors):
        write_stdout(csv_row(_cell(row.get(name, "")) for name in columns))
