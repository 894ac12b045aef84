"""`agentco-tui history`: prints what was seen of a platform, from the file alone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from agentco_tui.api.origin import platform_of
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, complain, say, say_json, write
from agentco_tui.commands.journal_command import since_when
from agentco_tui.config import Given, SettingsError
from agentco_tui.config.resolve import Resolver
from agentco_tui.history.observations import HistoryError
from agentco_tui.history.period import DAY
from agentco_tui.history.reader import IS_FINEST
from agentco_tui.live.names import named
from agentco_tui.live.record_export import csv_row
from agentco_tui.model import Company
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.text.width import fit

if TYPE_CHECKING:
    import sqlite3

TIMES: Final = (
    *("at", "until", "oldest", "waiting_since", "decided", "ended"),
    *("departed", "departed_after"),
)
SUMS: Final = ("spent", "limit", "trust", "estimate", "cost")  # that are texts in the file
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
"""The query for each kind of row. Figures begin with the one that held at the beginning."""
_CHOSEN: Final = """SELECT '{0}' AS what, it.*, company.name AS company_name,
    agent.name AS agent_name FROM ({1}) AS it
    LEFT JOIN subject AS agent ON (agent.platform, agent.kind, agent.key)
        = (:platform, 'agent', it.agent)
    LEFT JOIN subject AS company ON (company.platform, company.kind, company.key)
        = (:platform, 'company', COALESCE(it.company, agent.company))
    WHERE '{0}' = 'seen' OR ((:agent IS NULL OR it.agent = :agent)
        AND (:company IS NULL OR COALESCE(it.company, agent.company) = :company)) ORDER BY at"""

Row = dict[str, Any]


def run(given: Given, env: Mapping[str, str]) -> int:
    """Returns 0, also if nothing was seen yet; 1 if the file can't be read, 2 for an unknown name.

    JSON: a line for each sample, span, count, task and alert, {"what": "budget"|"queue"|"agent"|
    "activity"|"task"|"alert"|"seen", …}, times in ISO 8601, sums as numbers; what is not known is
    left out. CSV: the same in columns. For people: the last day, a line each.
    """
    if given["json"] and given["csv"]:
        raise UsageError("--json and --csv are two forms: choose one")
    resolved = Resolver(given, env)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    now, in_full = time.time(), given["json"] or given["csv"]
    since = 0.0 if in_full else now - DAY
    if given["since"] is not None:
        since = since_when(given["since"], now)
    origin = None if resolved.base_url is None else str(resolved.base_url)
    path, profile = state_folder() / HISTORY_FILE, resolved.profile
    try:
        # SQLite is not imported for any other command.
        from agentco_tui.history.database import reading  # noqa: PLC0415

        with reading(path) as connection:
            # Without an address, all platforms that the profile has led to.
            sql = "SELECT id, origin FROM platform JOIN viewer ON platform = id WHERE profile = ?"
            about_platform = profile
            if origin is not None:
                sql = "SELECT id, origin FROM platform WHERE key = ?"
                about_platform = platform_of(origin)
            chosen = connection.execute(sql, (about_platform,)).fetchall()
            for platform, of in chosen:
                words = {"company": resolved.values["company"], "agent": given["agent"]}
                who = {kind: _found(connection, platform, kind, words[kind]) for kind in words}
                about = {"platform": platform, "since": since, **who}
                cursors = [
                    connection.execute(_CHOSEN.format(what, rows), about)
                    for what, rows in ROWS.items()
                ]
                if not in_full:
                    say(f"{safe(profile, 40)}  {safe(of, 200)}  since {_iso(since)}")
                if given["csv"]:
                    _say_csv(cursors)
                    continue
                for row in _rows(cursors):
                    say_json(row) if given["json"] else say(_line(row))
            if not chosen and not in_full:
                of = safe(f"{profile} {origin or ''}", 200)
                say(f"nothing was seen of {of} yet ({path})")
    except FileNotFoundError:
        if not in_full:
            say(f"nothing was seen yet ({path})")
    except HistoryError as error:
        complain(str(error))
        return Exit.FAILED
    return Exit.OK


def _found(
    connection: sqlite3.Connection, platform: int, kind: str, words: str | None
) -> str | None:
    """The id of the company or agent with that id or name. Raises UsageError."""
    if words is None:
        return None
    query = "SELECT key, name FROM subject WHERE platform = ? AND kind = ?"
    known = connection.execute(query, (platform, kind))
    found = named(words, (Company(id=key, name=name) for key, name in known))
    if len(found) != 1:
        how_many = len(found) or "no"
        raise UsageError(f"{how_many} {kind} that was seen has the name or id {safe(words, 60)}")
    return found[0].id


def _rows(cursors: Iterable[sqlite3.Cursor]) -> Iterator[Row]:
    for cursor in cursors:
        names = [name for name, *_ in cursor.description]
        for values in cursor:
            yield {
                name: _iso(value) if name in TIMES else float(value) if name in SUMS else value
                for name, value in zip(names, values, strict=True)
                if value is not None
            }


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _cell(value: object) -> SafeText:
    return plain(f"{value:.15g}") if isinstance(value, float) else safe(value)


def _line(row: Row) -> str:
    """A line for people: time, kind and owner in columns, then each value with its name."""
    who = [row.get(f"{of}_name") or row.get(of, "") for of in ("company", "agent")]
    columns = [fit(safe(each), 16) for each in (row["what"], *who)]
    told = [f"{name} {_cell(value)}" for name, value in row.items() if name not in HEAD]
    return "  ".join((row["at"], *columns, *told))


def _say_csv(cursors: Sequence[sqlite3.Cursor]) -> None:
    columns = dict.fromkeys(name for cursor in cursors for name, *_ in cursor.description)
    write(csv_row(columns))
    for row in _rows(cursors):
        write(csv_row(_cell(row.get(name, "")) for name in columns))
