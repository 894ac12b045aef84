"""`agentco-tui history`: prints what was observed of a platform, from the history file alone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentco_tui.api.origin import platform_of
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, complain, say, say_json, write
from agentco_tui.commands.journal_command import since_when
from agentco_tui.config import Given, SettingsError
from agentco_tui.config.resolve import Resolver
from agentco_tui.history.observations import HistoryError
from agentco_tui.history.reader import IS_FINEST
from agentco_tui.live.names import named
from agentco_tui.live.record_export import csv_row
from agentco_tui.model import Company
from agentco_tui.model.period import DAY
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.text.width import fit

if TYPE_CHECKING:
    import sqlite3

TIMES: Final = (
    *("at", "until", "oldest", "waiting_since", "decided", "ended"),
    *("departed", "departed_after"),
)
"""Columns that hold seconds since 1970."""
SUMS: Final = ("spent", "limit", "trust", "estimate", "cost")
"""Columns whose numbers are text in the file, because they are exact."""
HEAD: Final = ("at", "what", "company", "agent", "company_name", "agent_name")
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
"""The query for each kind of row. Samples begin with the last one before the time asked for."""
_CHOSEN: Final = """SELECT '{0}' AS what, it.*, company.name AS company_name,
    agent.name AS agent_name FROM ({1}) AS it
    LEFT JOIN subject AS agent ON (agent.platform, agent.kind, agent.key)
        = (:platform, 'agent', it.agent)
    LEFT JOIN subject AS company ON (company.platform, company.kind, company.key)
        = (:platform, 'company', COALESCE(it.company, agent.company))
    WHERE '{0}' = 'seen' OR ((:agent IS NULL OR it.agent = :agent)
        AND (:company IS NULL OR COALESCE(it.company, agent.company) = :company)) ORDER BY at"""

Row = dict[str, Any]


class _Selection(NamedTuple):
    """What to print, and of when and whom."""

    profile: str
    origin: str | None  # None for all platforms that the profile was used with
    since: float  # in seconds since 1970
    company: str | None  # id or name; None for all
    agent: str | None
    as_json: bool
    as_csv: bool

    @property
    def is_for_user(self) -> bool:
        return not (self.as_json or self.as_csv)


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print what was observed; 0, also if nothing was yet, 1 if the file can't be read.

    JSON: a line for each sample, span, count, task and alert, {"what": "budget"|"queue"|"agent"|
    "activity"|"task"|"alert"|"seen", …}, times in ISO 8601, sums as numbers; unknown values are
    left out. CSV: the same in columns. For the user: the last day, a line each. Raises UsageError
    for an unknown name.
    """
    if given["json"] and given["csv"]:
        raise UsageError("--json and --csv are two forms: choose one")
    resolved = Resolver(given, env)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    selection = _Selection(
        profile=resolved.profile,
        origin=None if resolved.base_url is None else str(resolved.base_url),
        since=_begin(given),
        company=resolved.values["company"],
        agent=given["agent"],
        as_json=given["json"],
        as_csv=given["csv"],
    )
    path = state_folder() / HISTORY_FILE
    try:
        # SQLite is not imported for any other command.
        from agentco_tui.history.database import reading  # noqa: PLC0415

        with reading(path) as connection:
            _print_history(connection, selection, path)
    except FileNotFoundError:
        if selection.is_for_user:
            say(f"nothing was seen yet ({path})")
    except HistoryError as error:
        complain(str(error))
        return Exit.FAILED
    return Exit.OK


def _begin(given: Given) -> float:
    """The time from which to print, in seconds since 1970. Raises UsageError."""
    now = time.time()
    if given["since"] is not None:
        return since_when(given["since"], now)
    prints_all = given["json"] or given["csv"]
    return 0.0 if prints_all else now - DAY


def _print_history(connection: sqlite3.Connection, selection: _Selection, path: Path) -> None:
    platforms = _platforms(connection, selection)
    for platform, origin in platforms:
        cursors = _query(connection, platform, selection)
        if selection.as_csv:
            _say_csv(cursors)
        elif selection.as_json:
            for row in _rows(cursors):
                say_json(row)
        else:
            profile = safe(selection.profile, 40)
            say(f"{profile}  {safe(origin, 200)}  since {_iso(selection.since)}")
            for row in _rows(cursors):
                say(_line(row))
    if not platforms and selection.is_for_user:
        name = safe(f"{selection.profile} {selection.origin or ''}", 200)
        say(f"nothing was seen of {name} yet ({path})")


def _platforms(connection: sqlite3.Connection, selection: _Selection) -> list[tuple[int, str]]:
    """The number and the address of each platform to print."""
    if selection.origin is None:
        sql = "SELECT id, origin FROM platform JOIN viewer ON platform = id WHERE profile = ?"
        parameter = selection.profile
    else:
        sql = "SELECT id, origin FROM platform WHERE key = ?"
        parameter = platform_of(selection.origin)
    return connection.execute(sql, (parameter,)).fetchall()


def _query(
    connection: sqlite3.Connection, platform: int, selection: _Selection
) -> list[sqlite3.Cursor]:
    """A cursor for each kind of row. Raises UsageError for a company or agent never seen."""
    parameters = {
        "platform": platform,
        "since": selection.since,
        "company": _found(connection, platform, "company", selection.company),
        "agent": _found(connection, platform, "agent", selection.agent),
    }
    return [
        connection.execute(_CHOSEN.format(what, rows), parameters) for what, rows in ROWS.items()
    ]


def _found(
    connection: sqlite3.Connection, platform: int, kind: str, words: str | None
) -> str | None:
    """The id of the company or agent with that id or name. Raises UsageError."""
    if words is None:
        return None
    query = "SELECT key, name FROM subject WHERE platform = ? AND kind = ?"
    subjects = connection.execute(query, (platform, kind))
    # `named` compares any record that has an id and a name.
    found = named(words, (Company(id=key, name=name) for key, name in subjects))
    if len(found) != 1:
        how_many = len(found) or "no"
        raise UsageError(f"{how_many} {kind} that was seen has the name or id {safe(words, 60)}")
    return found[0].id


def _rows(cursors: Iterable[sqlite3.Cursor]) -> Iterator[Row]:
    """The rows of each query in turn, by column, without the values that are unknown."""
    for cursor in cursors:
        names = [name for name, *_ in cursor.description]
        for values in cursor:
            yield {
                name: _value(name, value)
                for name, value in zip(names, values, strict=True)
                if value is not None
            }


def _value(name: str, value: Any) -> Any:
    """A column's value as it is printed: times in ISO 8601, sums as numbers."""
    if name in TIMES:
        return _iso(value)
    if name in SUMS:
        return float(value)
    return value


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _cell(value: object) -> SafeText:
    return plain(f"{value:.15g}") if isinstance(value, float) else safe(value)


def _line(row: Row) -> str:
    """A line for the user: time, kind and owner in columns, then each value with its name."""
    company = row.get("company_name") or row.get("company", "")
    agent = row.get("agent_name") or row.get("agent", "")
    columns = [fit(safe(cell), 16) for cell in (row["what"], company, agent)]
    values = [f"{name} {_cell(value)}" for name, value in row.items() if name not in HEAD]
    return "  ".join((row["at"], *columns, *values))


def _say_csv(cursors: Sequence[sqlite3.Cursor]) -> None:
    columns = dict.fromkeys(name for cursor in cursors for name, *_ in cursor.description)
    write(csv_row(columns))
    for row in _rows(cursors):
        write(csv_row(_cell(row.get(name, "")) for name in columns))
