"""`agentco-tui history`: what dashboards have seen of a platform, read from the file alone."""

from __future__ import annotations

import csv
import io
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from msgspec.structs import asdict

from agentco_tui import format as fmt
from agentco_tui.arguments import UsageError
from agentco_tui.commands.journal_command import since_when
from agentco_tui.commands.running import Exit, complain, say, say_json, write
from agentco_tui.config import Given, SettingsError
from agentco_tui.config.resolve import Resolver
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.history import HistoryError, Reader, Track
from agentco_tui.live.history_reader import BUDGET_FEEDS
from agentco_tui.live.log_file import guarded
from agentco_tui.live.store import named
from agentco_tui.model import BudgetScope, Company, Moment, Money, Severity, TaskState
from agentco_tui.state_folder import HISTORY_FILE, state_folder
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.width import Align, cell_width, fit

DAY: Final = 86_400.0
LONGEST_FIGURE = 30  # digits
MOST_TASKS = 20  # that are told to people
_RIGHT: Final[tuple[Align, ...]] = ("right",) * 10
TIMES: Final = ("at", "oldest", "first_seen", "waiting_since", "decided", "ended", "gone", "until")
COLUMNS: Final = (
    *("what", "at", "until", "scope", "id", "name", "company", "agent", "spent", "limit"),
    *("currency", "waiting", "oldest", "status", "trust", "completed", "kind", "severity", "count"),
    *("title", "state", "first_seen", "waiting_since", "decided", "decided_by", "ended"),
    *("estimate", "cost", "gone"),
)

Row = dict[str, Any]


def run(given: Given, env: Mapping[str, str]) -> int:
    """0, also where nothing was seen yet; 1 if the file can't be read, 2 if nobody has that name.

    JSON: a line for each sample, span, count, task and alert, {"what": "budget"|"queue"|"agent"|
    "seen"|"activity"|"task"|"alert", …}, times in ISO 8601, sums as numbers; what is not known is
    left out. CSV: the same in columns.
    """
    if given["json"] and given["csv"]:
        raise UsageError("--json and --csv are two forms: choose one")
    resolved = Resolver(given, env)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    now = time.time()
    in_full = given["json"] or given["csv"]
    since = 0.0 if in_full else now - DAY
    if given["since"] is not None:
        since = since_when(given["since"], now)
    origin = None if resolved.base_url is None else str(resolved.base_url)
    path, profile = state_folder() / HISTORY_FILE, resolved.profile
    try:
        # SQLite is not imported for any other command.
        from agentco_tui.live.history_file import reading  # noqa: PLC0415

        with reading(path) as connection:
            found = connection.execute("SELECT id, profile, origin FROM platform").fetchall()
            chosen = [row for row in found if row[1] == profile and origin in (None, row[2])]
            for platform, _, of in chosen:
                told = _Told(Reader(connection, platform), since)
                told.choose(resolved.values["company"], given["agent"])
                if given["json"]:
                    for row in told.rows():
                        say_json(_with_times(row))
                elif given["csv"]:
                    _say_csv(told.rows())
                else:
                    say(f"{safe(profile, 40)}  {safe(of, 200)}  {fmt.size(path.stat().st_size)}")
                    say(*told.summary(now))
            if not chosen and not in_full:
                others = ", ".join(f"{name} at {of}" for _, name, of in found) or "no platform"
                say(f"nothing was seen of {safe(profile, 40)} {safe(origin or '', 200)} yet; of"
                    f" {others} ({path})")  # fmt: skip
    except FileNotFoundError:
        if not in_full:
            say(f"nothing was seen yet ({path})")
    except HistoryError as error:
        complain(str(error))
        return Exit.FAILED
    return Exit.OK


class _Told:
    """What is told of one platform."""

    def __init__(self, reader: Reader, since: float) -> None:
        self.reader, self.since = reader, since
        self.names = {kind: reader.names(kind) for kind in ("company", "agent")}
        self.company: str | None = None
        self.agent: str | None = None

    def choose(self, company: str | None, agent: str | None) -> None:
        """Only what is of these, by id or name. Raises UsageError."""
        self.company, self.agent = self._found("company", company), self._found("agent", agent)

    def _found(self, kind: str, words: str | None) -> str | None:
        if words is None:
            return None
        known = (Company(id=key, name=name) for key, (name, _) in self.names[kind].items())
        found = named(words, known)
        if len(found) != 1:
            how_many = f"{len(found)} have" if found else f"no {kind} that was seen has"
            raise UsageError(f"{how_many} the name or id {safe(words, 60)}")
        return found[0].id

    def name(self, kind: str, key: str | None) -> SafeText:
        if not key:
            return plain("all") if key == "" else signs.missing
        return self.names[kind].get(key, (None, None))[0] or safe(key, 60)

    def chosen(self, feed: FeedName, kind: str) -> Iterator[tuple[str, SafeText]]:
        """The subjects of a feed that are wanted, each with its currency."""
        found = self.reader.subjects(feed)
        for key, currency in sorted(found, key=lambda each: self.name(kind, each[0]).casefold()):
            of = self.names["agent"].get(key, (None, None))[1] if kind == "agent" else key
            if self.agent is not None and (kind, key) != ("agent", self.agent):
                continue
            if self.company is None or of == self.company:
                yield key, currency

    def rows(self) -> Iterator[Row]:
        """Everything, a row each."""
        reader, since, of = self.reader, self.since, {"agent": self.agent, "company": self.company}
        tracks: list[tuple[Row, Track[Any]]] = []
        for scope, feed in BUDGET_FEEDS.items():
            for key, currency in self.chosen(feed, scope.value):
                about = {"what": "budget", "scope": scope.value, **self._about(scope.value, key)}
                about["currency"] = currency
                tracks.append((about, reader.budget(scope, key, since)))
        for key, _ in self.chosen(FeedName.PENDING, "company"):
            about = {"what": "queue", **self._about("company", key)}
            tracks.append((about, reader.queue(key or None, since)))
        for key, _ in self.chosen(FeedName.AGENTS, "agent"):
            tracks.append(
                ({"what": "agent", **self._about("agent", key)}, reader.agent(key, since))
            )
        counts, seen = reader.activity(since, **of)
        tracks.append(({"what": "activity"}, Track((*counts,), seen)))
        for about, track in tracks:
            yield from ({**about, **asdict(sample)} for sample in track.samples)
            for start, end in track.seen:
                yield {**about, "what": "seen", "kind": about["what"], "at": start, "until": end}
        yield from ({"what": "task", **asdict(life)} for life in reader.lives(since, **of))
        for alert in () if self.agent or self.company else reader.alerts(since):
            told = {"what": "alert", **asdict(alert), "kind": alert.id}
            yield {**told, "id": told.pop("subject")}

    def _about(self, kind: str, key: str) -> Row:
        name, company = self.names.get(kind, {}).get(key, (None, None))
        return {"id": key, "name": name, "company": company}

    def summary(self, now: float) -> list[SafeText]:
        """A short look for people."""
        reader, since = self.reader, self.since
        first, lines = reader.first_seen(), [plain("")]
        if first is not None:
            start = max(first, since)
            lines = [plain(f"seen since {_when(first)}; what follows is since {_when(start)}")]
        rows = [["BUDGET", "spent", "limit", "since then"]]
        for scope, feed in BUDGET_FEEDS.items():
            for key, currency in self.chosen(feed, scope.value):
                samples = reader.budget(scope, key, since).samples
                if not samples or (scope is BudgetScope.AGENT and len(samples) < 2):
                    continue  # of agents those who spent something
                last, before = samples[-1], samples[0].spent
                grown = None if None in (last.spent, before) else (last.spent or 0) - (before or 0)
                sums = [_sum(each, currency) for each in (last.spent, last.limit)]
                rows.append([self.name(scope.value, key), *sums, _sum(grown, currency, sign=True)])
        lines += _table(rows)
        rows = [["QUEUE", "waiting", "at most", "oldest"]]
        for key, _ in self.chosen(FeedName.PENDING, "company"):
            if queue := reader.queue(key or None, since).samples:
                waits, oldest = queue[-1].waiting, queue[-1].oldest
                age = signs.missing if oldest is None else fmt.age(now - oldest)
                most = max(each.waiting for each in queue)
                rows.append([self.name("company", key), fmt.count(waits), fmt.count(most), age])
        lines += _table(rows)
        counted = defaultdict[str, Counter[Severity]](Counter)
        for count in reader.activity(since, agent=self.agent, company=self.company)[0]:
            counted[count.agent or ""][count.severity] += count.count
        rows = [["AGENT", "status", "trust", "completed", "entries", "warnings", "critical"]]
        for key, _ in self.chosen(FeedName.AGENTS, "agent"):
            if of := reader.agent(key, since).samples:
                done = fmt.count(of[-1].completed)
                if None not in (of[-1].completed, of[0].completed):
                    done = plain(f"{done} (+{(of[-1].completed or 0) - (of[0].completed or 0)})")
                entries = counted[key]
                bad = (entries[Severity.WARNING], entries[Severity.CRITICAL])
                told = of[-1].status or signs.missing, fmt.number(of[-1].trust), done
                figures = map(fmt.count, (entries.total(), *bad))
                rows.append([self.name("agent", key), *told, *figures])
        lines += _table(rows)
        rows = [["TASK", "agent", "state", "waited", "ran", "cost"]]
        lives = reader.lives(since, agent=self.agent, company=self.company)
        for life in lives[-MOST_TASKS:]:
            waited = _between(life.waiting_since, life.decided)
            cost = _sum(life.cost, life.currency or SafeText(""))
            ran = None if life.state is TaskState.REJECTED else life.ended
            times = waited, _between(life.decided, ran), cost
            rows.append(
                [safe(life.title, 40), self.name("agent", life.agent), life.state or "", *times]
            )
        lines += _table(rows)
        if len(lives) > MOST_TASKS:
            lines.append(plain(f"and {len(lives) - MOST_TASKS} more tasks: --json has all"))
        return lines


def _table(rows: Sequence[Sequence[str]]) -> list[SafeText]:
    """Aligned, with an empty line before it; nothing if there is only the head."""
    if len(rows) < 2:
        return []
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    aligned: Sequence[Align] = ("left", *_RIGHT[: len(widths) - 1])
    lines = ("  ".join(map(fit, map(plain, row), widths, aligned)).rstrip() for row in rows)
    return [plain(""), *map(plain, lines)]


def _sum(amount: Decimal | int | None, currency: SafeText, *, sign: bool = False) -> str:
    if amount is None:
        return signs.missing
    told = fmt.money(Money(Decimal(amount), currency or None))
    return f"+{told}" if sign and amount > 0 else told


def _between(start: float | None, end: float | None) -> str:
    return signs.missing if start is None or end is None else fmt.duration(end - start)


def _when(at: float) -> str:
    return fmt.moment(Moment(at=at))


def _with_times(row: Row) -> Row:
    """Without what isn't known, and times for people's eyes and other programs."""
    return {
        name: datetime.fromtimestamp(value, UTC).isoformat() if name in TIMES else value
        for name, value in row.items()
        if value is not None
    }


def _say_csv(rows: Iterable[Row]) -> None:
    sheet = io.StringIO(newline="")
    out = csv.writer(sheet)
    out.writerow(COLUMNS)
    for row in rows:
        told = _with_times(row)
        cells_ = (told.get(name, "") for name in COLUMNS)
        out.writerow(map(_cell, cells_))
        write(sheet.getvalue())
        sheet.seek(0)
        sheet.truncate()
    write(sheet.getvalue())


def _cell(value: object) -> object:
    """Figures as they are, in plain digits; texts so that no spreadsheet runs them."""
    if isinstance(value, Decimal):
        return f"{value:f}" if abs(value.adjusted()) < LONGEST_FIGURE else str(value)
    return guarded(safe(value)) if isinstance(value, str) else value
