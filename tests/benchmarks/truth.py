"""Compares the dashboard with the platform's own figures: python -m tests.benchmarks.truth.

python -m tests.benchmarks.truth [--minutes 10] [--speed 12] [--moments 10] [--past]

The embedded platform lives at speed in a process of its own, where colleagues decide tasks, alerts
come and go, and agents spend. The real dashboard looks at it in a pseudo-terminal, with a fresh
home or (`--past`) with the history that the demo brings. At each of ten moments the script reads
`L`, `H` and the Overview from the screen, and the output of `status --json`, and compares them with
what the platform itself answers to plain requests: who decided what, what was spent, which alerts
came and ended, what newly waits, how much there is of each.

The dashboard can be late by some polls, and its clock runs behind a platform that lives at speed.
So each figure must lie between two values that the platform's records give for the times around the
reading. A difference that the program itself reports as unknown is listed, but is no fault.

With 10 minutes at a speed of 12, the platform lives for two hours. Exits 1 if there is a difference
that the program does not report.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx

from tests.terminal.dashboard import command, dashboard, ready, show
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY, NotSeenError, PtySession, clean_environment

REFRESH = 1.0
"""Seconds between two polls of the dashboard."""
LATE = 15.0
"""Seconds by which the dashboard may be late: slow polls, and the batches of its history."""
SIZE = 160, 60
"""Columns and rows of the terminal: large enough that no page has to be scrolled."""
SETTLED = 0.4
"""Seconds without output after which a page is taken to be complete."""
MINUTE = 60.0
SPANS = ("", "-", "-", "-", "+", "-", "+", "+", "-", "-")
"""The key that is pressed in `L` at each moment, so that it looks back 8, 4, 2, 1, 2, … hours."""
CHAPTERS = ("Not known", "Decided", "Went wrong", "Spent", "Alerts", "Newly waiting")
OPEN_ENDED = 1e12

Row = dict[str, Any]
Span = tuple[float, float]


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def seconds_of(text: str | None) -> float | None:
    """A time of the platform in seconds since 1970."""
    if text is None:
        return None
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


# --- the platform's own figures ---


class Figure:
    """A figure of the platform over time, as readings of the script."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.values: list[float] = []

    def add(self, at: float, value: float) -> None:
        if not self.times or at > self.times[-1]:
            self.times.append(at)
            self.values.append(value)

    def between(self, first: float, last: float) -> tuple[float, float] | None:
        """The least and the greatest value it can have had in that time; None if the time is before
        the first reading.

        The readings before and after the time are included, since the figure moves between them.
        """
        begin = bisect_right(self.times, first) - 1
        end = bisect_left(self.times, last)
        if begin < 0 and end == 0:
            return None
        begin = max(0, begin)
        values = self.values[begin : end + 1]
        return min(values), max(values)


@dataclass
class Truth:
    """All that the platform answered at one moment."""

    before: float  # by the platform's clock: no page that is judged is older than this moment
    tasks: list[Row]
    alerts: list[Row]
    entries: list[Row]
    companies: int
    agents: int

    def waiting(self, at: float) -> int:
        """How many tasks waited at a time."""
        return sum(created <= at < left for created, left in map(wait_of, self.tasks))

    def waiting_between(self, first: float, last: float) -> tuple[int, int]:
        """The least and the greatest number of tasks that waited at one time in between."""
        turns = {at for wait in map(wait_of, self.tasks) for at in wait if first < at <= last}
        counts = [self.waiting(at) for at in (first, *turns)]
        return min(counts), max(counts)

    def open_alerts_between(self, first: float, last: float) -> tuple[int, int]:
        lives = [life_of(alert) for alert in self.alerts]
        turns = {at for life in lives for at in life if first < at <= last}
        counts = [sum(a <= at < b for a, b in lives) for at in (first, *turns)]
        return min(counts), max(counts)


def wait_of(task: Row) -> Span:
    """From when to when a task waited."""
    created = seconds_of(task["created_at"]) or 0.0
    decided = seconds_of(task["decided_at"])
    return created, OPEN_ENDED if decided is None else decided


def life_of(alert: Row) -> Span:
    created = seconds_of(alert["created_at"]) or 0.0
    resolved = seconds_of(alert["resolved_at"])
    return created, OPEN_ENDED if resolved is None else resolved


class Ledger:
    """Reads the platform by plain requests; the sums once a second, in a thread of its own."""

    def __init__(self, platform: PlatformProcess) -> None:
        self._client = httpx.Client(
            base_url=platform.base_url,
            headers={"Authorization": f"Bearer {platform.full_key}"},
            trust_env=False,
            timeout=30,
        )
        self.spent: dict[str, Figure] = {}  # by the name of the company, "all" for the whole
        self.past_failures: list[tuple[float, int]] = []  # that the platform's past has, by minutes
        self.now = 0.0  # by the platform's clock, at the last answer
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self.read_sums()

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._client.close()

    def read(self, path: str) -> Any:
        with self._lock:
            answer = self._client.get(path)
            answer.raise_for_status()
            self.now = parsedate_to_datetime(answer.headers["date"]).timestamp()
            return answer.json()

    def read_sums(self) -> float:
        """Note what was spent; returns the platform's time."""
        whole = self.read("/api/budget")
        at = self.now
        self._note("all", at, whole["spent"])
        for company in self.read("/api/budget/companies"):
            self._note(company["company_name"], self.now, company["spent"])
        return at

    def truth(self, before: float) -> Truth:
        return Truth(
            before=before,
            tasks=self.read("/api/tasks"),
            alerts=self.read("/api/budget/alerts"),
            entries=self.read("/api/activity?limit=100000"),
            companies=len(self.read("/api/companies")),
            agents=len(self.read("/api/agents")),
        )

    def take_past(self, path: Path) -> None:
        """Take what the platform wrote of the time before its start."""
        query = """SELECT feed, subject, at, a FROM sample JOIN series ON series.id = sample.series
            WHERE feed IN ('budget', 'company budgets') AND a NOT NULL ORDER BY at"""
        failures = """SELECT at, sum(n) FROM counted JOIN tally ON tally.id = counted.tally
            WHERE severity IN ('critical', 'warning') GROUP BY at"""
        names = {row["id"]: row["name"] for row in self.read("/api/companies")}
        past: dict[str, Figure] = {}
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as file:
            for _, subject, at, spent in file.execute(query):
                past.setdefault(names.get(subject, "all"), Figure()).add(at, float(spent))
            self.past_failures = file.execute(failures).fetchall()
        for name, figure in past.items():
            live = self.spent[name]
            for at, value in zip(live.times, live.values, strict=True):
                figure.add(at, value)
            self.spent[name] = figure

    def _note(self, name: str, at: float, spent: float) -> None:
        self.spent.setdefault(name, Figure()).add(at, float(spent))

    def _follow(self) -> None:
        while not self._stopped.wait(1.0):
            self.read_sums()


# --- what the program says ---


@dataclass
class Page:
    """`L` or a hand-over, as its lines by chapter."""

    name: str
    since: float
    chapters: dict[str, list[str]] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)  # lines of a chapter that are not shown

    def lines(self, chapter: str) -> list[str]:
        return self.chapters.get(chapter, [])

    def count(self, chapter: str) -> int:
        """How many lines the chapter has, with those that are not shown."""
        return len(self.lines(chapter)) + self.more.get(chapter, 0)

    @property
    def gaps(self) -> list[Span]:
        """The times of which the page says that not all of them is known."""
        found = list[Span]()
        for line in self.lines("Not known"):
            if match := re.search(r"from (.+?) to (.+?)(?: \(|$)", line):
                first, last = (self._time(words) for words in match.groups())
                found.append((first - MINUTE, last + MINUTE))
        return found

    def is_unknown(self, at: float) -> bool:
        return any(first <= at <= last for first, last in self.gaps)

    def _time(self, words: str) -> float:
        """The first moment since the beginning that a clock shows so."""
        hours, minutes = map(int, words.strip()[-5:].split(":"))
        day = self.since - self.since % 86_400
        at = day + hours * 3_600 + minutes * 60
        while at < self.since - 2 * MINUTE:
            at += 86_400
        return at


MORE = re.compile(r"^\W*and ([\d,]+) more")
SIGN = re.compile(r"^[▌>\s]*([✖▲?x!]?)\s*")


def page_of_screen(screen: str, now: float) -> Page:
    rows = [row.rstrip() for row in screen.split("\n")]
    begin = next((at for at, row in enumerate(rows) if row.startswith(" SINCE ")), None)
    if begin is None:
        raise NotSeenError(f"this is not the page of what happened:\n{screen}")
    match = re.search(r"SINCE (\w{3} )?(\d\d):(\d\d)", rows[begin])
    assert match, rows[begin]
    day, hours, minutes = match.groups()
    page = Page("L", latest_time(int(hours), int(minutes), now, (day or "").strip()))
    chapter = ""
    for row in rows[begin + 1 :]:
        heading = re.match(r"^ (?P<name>[A-Z][a-z ]+?)(?: (?P<count>[\d,]+))?$", row)
        if heading and heading["name"].strip() in CHAPTERS:
            chapter = heading["name"].strip()
            page.chapters[chapter] = []
        elif row.startswith(" esc back"):
            break
        elif chapter and row.strip():
            take_line(page, chapter, SIGN.sub("", row))
    return page


def page_of_handover(text: str) -> Page:
    match = re.search(r"shift since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", text)
    assert match, text[:500]
    since = datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp()
    page = Page("H", since)
    chapter = ""
    for row in text.split("\n"):
        if row.startswith("## "):
            chapter = row[3:].strip()
            page.chapters[chapter] = []
        elif chapter and row.startswith("- "):
            take_line(page, chapter, SIGN.sub("", row[2:]).strip("`"))
    return page


def take_line(page: Page, chapter: str, line: str) -> None:
    if match := MORE.match(line):
        page.more[chapter] = int(match[1].replace(",", ""))
    elif not re.match(r"(nothing|no |it isn't known|it is not known)", line):
        page.chapters[chapter].append(line)


def latest_time(hours: int, minutes: int, now: float, weekday: str = "") -> float:
    """The last moment before now that a clock shows so; with a weekday such as "Wed", on that."""
    at = now - now % 86_400 + hours * 3_600 + minutes * 60
    if at > now:
        at -= 86_400
    while weekday and f"{datetime.fromtimestamp(at, UTC):%a}" != weekday:
        at -= 86_400
    return at


def sum_of(text: str) -> float:
    return float(text.replace(",", ""))


MONEY = r"\$(-?[\d,]+(?:\.\d+)?)"


# --- the comparison ---


class Comparison:
    """Collects the differences of one moment."""

    def __init__(self, moment: int, ledger: Ledger, late: float) -> None:
        self.moment, self.ledger = moment, ledger
        self.late = late
        """Seconds of the platform's time by which a page can be behind."""
        self.faults: list[str] = []
        self.reported: list[str] = []

    def fault(self, words: str) -> None:
        self.faults.append(words)

    def unknown(self, words: str) -> None:
        self.reported.append(words)

    def within(self, name: str, value: float | None, limits: tuple[float, float] | None) -> None:
        if value is None:
            self.fault(f"{name}: no figure is shown")
        elif limits is None:
            self.fault(f"{name}: {value:,} is of a time before anything was seen")
        elif not limits[0] <= value <= limits[1]:
            self.fault(f"{name}: shows {value:,}, the platform says {limits[0]:,} to {limits[1]:,}")

    def status(self, told: Row, truth: Truth, now: float) -> None:
        first = truth.before
        self.within("status: pending", told["pending"]["count"], truth.waiting_between(first, now))
        alerts = told["alerts"]
        total = None if alerts is None else sum(alerts.values())
        self.within("status: alerts", total, truth.open_alerts_between(first, now))
        self.within("status: companies", told["companies"], (truth.companies, truth.companies))
        self.within("status: agents", told["agents"], (truth.agents, truth.agents))
        spent = None if told["budget"] is None else float(told["budget"]["spent"])
        self.within("status: spent", spent, self.ledger.spent["all"].between(first, now))

    def overview(self, screen: str, truth: Truth, now: float) -> None:
        first = truth.before - self.late
        waits = re.search(r"([\d,]+) tasks wait", screen)
        shown = sum_of(waits[1]) if waits else None
        self.within("Overview: tasks wait", shown, truth.waiting_between(first, now))
        for name, figure in self.ledger.spent.items():
            row = re.search(rf" {re.escape(name)} .*?{MONEY} of ", screen)
            if row is None:
                self.fault(f"Overview: no sum of {name}")
                continue
            limits = figure.between(first, now)
            rounding = 0.5 if "." not in row[1] else 0.005
            if limits is not None:
                limits = limits[0] - rounding, limits[1] + rounding
            self.within(f"Overview: spent by {name}", sum_of(row[1]), limits)

    def page(self, page: Page, truth: Truth, now: float) -> None:
        self.decided(page, truth, now)
        self.spent(page, truth, now)
        self.alerts(page, truth, now)
        self.waiting(page, truth, now)
        self.wrong(page, truth, now)

    def decided(self, page: Page, truth: Truth, now: float) -> None:
        lines = list(page.lines("Decided"))
        unknown = sum(
            int(match[1].replace(",", ""))
            for line in lines
            if (match := re.search(r"([\d,]+) tasks? left the queue, outcome unknown", line))
        )
        must, may = list[Row](), list[Row]()
        for task in truth.tasks:
            at = seconds_of(task["decided_at"])
            if at is None or not page.since - MINUTE - self.late <= at <= now:
                continue
            is_due = page.since + MINUTE <= at <= truth.before - self.late
            (must if is_due else may).append(task)
        hidden = page.more.get("Decided", 0)
        shown = page.count("Decided") - sum("outcome unknown" in line for line in lines)
        missing = [task for task in must if not take_decision(lines, task)]
        for task in may:
            take_decision(lines, task)
        if shown > len(must) + len(may):
            self.fault(f"{page.name}: {shown} decisions, the platform knows {len(must) + len(may)}")
        # Which of them are on lines that are not shown is not known; how many there are is.
        for task in missing[min(hidden, len(missing)) :]:
            at = seconds_of(task["decided_at"]) or 0.0
            words = f"{page.name}: {task['title']!r}, decided by {task['decided_by']}"
            words += f" at {clock(at)}, is missing"
            if unknown > 0:
                unknown -= 1
                self.unknown(words)
            elif page.is_unknown(at):
                self.unknown(words)
            else:
                self.fault(words)
        for line in lines:
            if "outcome unknown" not in line:
                self.fault(f"{page.name}: the platform knows no such decision: {line}")

    def spent(self, page: Page, truth: Truth, now: float) -> None:
        lines = page.lines("Spent")
        if not lines:
            self.unknown(f"{page.name}: nothing is told of what was spent")
            return
        seen = seen_time(page, lines, now)
        shown: dict[str, float] = {}
        for name, figure in self.ledger.spent.items():
            row = next((line for line in lines if re.match(rf"{re.escape(name)}\b", line)), None)
            amount = None if row is None else re.search(rf"{MONEY}, now", row)
            if row is None:
                self.fault(f"{page.name}: no line of what {name} spent")
            elif amount is None:
                self.unknown(f"{page.name}: no sum of what {name} spent: {row}")
            else:
                shown[name] = sum_of(amount[1])
                limits = spent_between(figure, seen, self.late, truth.before, now)
                self.within(f"{page.name}: spent by {name}", shown[name], limits)
        if "all" in shown and len(shown) == len(self.ledger.spent):
            parts = sum(shown.values()) - shown["all"]
            is_told = any("together" in line for line in lines)
            if abs(parts - shown["all"]) > 0.011 * len(shown) and not is_told:
                self.fault(
                    f"{page.name}: all spent {shown['all']:,}, the companies {parts:,.2f} together"
                )

    def alerts(self, page: Page, truth: Truth, now: float) -> None:
        lines = list(page.lines("Alerts"))
        due = truth.before - self.late
        hidden = page.more.get("Alerts", 0)
        for alert in truth.alerts:
            came, ended = life_of(alert)
            is_open = ended > now
            is_new = page.since + MINUTE <= came <= due
            has_ended = page.since + MINUTE <= ended <= due
            if not (has_ended or (is_new and is_open)):
                continue
            found = [line for line in lines if without_figures(alert) in digits_out(line)]
            if found:
                lines.remove(found[0])
                continue
            at = ended if has_ended else came
            words = f"{page.name}: the alert {alert['message']!r}"
            words += f" {'ended' if has_ended else 'came'} at {clock(at)}, and is missing"
            if hidden > 0:
                hidden -= 1
            elif page.is_unknown(at):
                self.unknown(words)
            else:
                self.fault(words)
        known = [without_figures(alert) for alert in truth.alerts]
        for line in lines:
            if not any(words in digits_out(line) for words in known):
                self.fault(f"{page.name}: the platform knows no such alert: {line}")

    def waiting(self, page: Page, truth: Truth, now: float) -> None:
        """Tasks of one agent and title are one line, or several where they are not equally bad."""
        begin, times = page.since, list[float]()
        for task in truth.tasks:
            times += [at for at in wait_of(task) if truth.before - self.late < at <= now]
        groups = list[int]()
        tasks = list[int]()
        for at in (truth.before - self.late, *times):
            for since in (begin - MINUTE, begin + MINUTE):
                new = [each for each in truth.tasks if is_new(each, since, at)]
                tasks.append(len(new))
                groups.append(len({(each["title"], each["agent_id"]) for each in new}))
        shown = counted(page, "Newly waiting")
        if shown is None:
            lines = page.count("Newly waiting")
            self.within(f"{page.name}: lines of newly waiting", lines, (min(groups), max(tasks)))
        else:
            self.within(f"{page.name}: newly waiting", shown, (min(tasks), max(tasks)))

    def wrong(self, page: Page, truth: Truth, now: float) -> None:
        """Failures and warnings: the number of entries of the log."""
        at = [
            seconds_of(entry["timestamp"]) or 0.0
            for entry in truth.entries
            if entry["level"] in ("warning", "error")
        ]
        past = self.ledger.past_failures
        # Of the time before its start the platform's log has less than the past that it brings.
        known_from = max(page.since, max((each for each, _ in past), default=0.0)) + MINUTE
        least = sum(known_from <= each <= truth.before - self.late for each in at)
        most = sum(page.since - 2 * MINUTE <= each <= now for each in at)
        most += sum(count for each, count in past if each >= page.since - 2 * MINUTE)
        shown = counted(page, "Went wrong")
        if shown is None:
            return
        if shown < least and page.gaps:
            self.unknown(f"{page.name}: {least - shown} entries of the log are missing")
            least = shown
        self.within(f"{page.name}: what went wrong", shown, (least, most))


def counted(page: Page, chapter: str) -> int | None:
    """How many things the lines of a chapter stand for; None if some lines are not shown."""
    if page.more.get(chapter):
        return None
    times = (re.search(r"×([\d,]+)$", line) for line in page.lines(chapter))
    return sum(int(each[1].replace(",", "")) if each else 1 for each in times)


def is_new(task: Row, since: float, at: float) -> bool:
    """Whether a task waited at a time, and not yet at another."""
    created, left = wait_of(task)
    return since <= created <= at < left


def take_decision(lines: list[str], task: Row) -> bool:
    """Whether a line tells of this decision; that line then stands for no other."""
    verb = "rejected" if task["status"] == "rejected" else "approved"
    for line in lines:
        # A narrow column cuts the name short.
        if f"{verb} {task['title']}" in line and task["decided_by"].split()[0] in line:
            lines.remove(line)
            return True
    return False


def digits_out(text: str) -> str:
    return re.sub(r"[\d.,]+", "#", text)


def without_figures(alert: Row) -> str:
    """The words of an alert: its figures follow the money."""
    return digits_out(alert["message"])


def seen_time(page: Page, lines: Iterable[str], now: float) -> Span:
    """From when to when the sums of a page go, as it says itself; else since its beginning."""
    for line in lines:
        if match := re.search(r"\(from (?:\w+ )?(\d\d:\d\d) to (?:\w+ )?(\d\d:\d\d)\)", line):
            first, last = (
                latest_time(int(words[:2]), int(words[3:]), now) for words in match.groups()
            )
            return first, last
    return page.since, now


def spent_between(
    figure: Figure, seen: Span, late: float, before: float, now: float
) -> tuple[float, float] | None:
    """The least and the most that can have been spent in a time that is told to the minute."""
    first, last = seen
    ends_now = last >= before - late - MINUTE
    at_begin = figure.between(first - MINUTE, first + MINUTE)
    at_end = figure.between(
        max(first, min(last, before) - late), now if ends_now else last + MINUTE
    )
    if at_begin is None or at_end is None:
        return None
    return at_end[0] - at_begin[1] - 0.01, at_end[1] - at_begin[0] + 0.01


# --- the run ---


def read_status(platform: PlatformProcess, home: Path) -> Row:
    environment = {
        **clean_environment(),
        **{name: value or "" for name, value in settings(platform, home).items()},
    }
    done = subprocess.run(
        command("status", "--json"),
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(json.loads(done.stdout))


def read_since(session: PtySession, ledger: Ledger, keys: str) -> Page:
    """`L`, after these keys: the first lines of each chapter, and how many more there are."""
    session.press("L")
    session.wait_for("Newly waiting")
    for key in keys:
        press_and_wait_for_title(session, key)
        session.wait_for("Newly waiting")
    session.wait_quiet(SETTLED)
    return page_of_screen(session.text, ledger.now)


def press_and_wait_for_title(session: PtySession, key: str) -> None:
    """Press a key that makes `L` look back further or less far, and wait for its new title."""
    before = title_of(session.text)
    session.press(key)
    session.wait_for(lambda screen: title_of(screen) != before)


def title_of(screen: str) -> str:
    return next((row for row in screen.split("\n") if row.startswith(" SINCE ")), "")


def read_handover(session: PtySession, file: Path) -> Page:
    session.press("H")
    session.wait_for("HAND OVER")
    session.write(f"\x15{file}\r")
    session.wait_for(lambda screen: file.exists() and "HAND OVER" not in screen)
    return page_of_handover(file.read_text())


def go_back(session: PtySession) -> None:
    """Press escape until the Overview is there."""
    for _ in range(5):
        session.wait_quiet(SETTLED)
        if "NEEDS YOU" in session.text:
            return
        session.press("esc")
    session.wait_for("NEEDS YOU")


def compare(
    moment: int, session: PtySession, platform: PlatformProcess, ledger: Ledger, home: Path,
    late: float,
) -> Comparison:  # fmt: skip
    found = Comparison(moment, ledger, late)
    overview_at = ledger.read_sums()
    screen = show(session, 1)
    since_at = ledger.read_sums()
    since = read_since(session, ledger, SPANS[(moment - 1) % len(SPANS)])
    handover_at = ledger.read_sums()
    handover = read_handover(session, home / f"handover-{moment}.md")
    go_back(session)
    status_at = ledger.read_sums()
    status = read_status(platform, home)
    now = ledger.read_sums()
    truth = ledger.truth(overview_at)
    # What the platform answers last is of later than all pages; only then the records are complete.
    found.overview(screen, truth, since_at)
    truth.before = since_at
    found.page(since, truth, handover_at)
    truth.before = handover_at
    found.page(handover, truth, status_at)
    truth.before = status_at
    found.status(status, truth, now)
    return found


def differences_at(
    moment: int, session: PtySession, platform: PlatformProcess, ledger: Ledger, home: Path,
    late: float,
) -> int:  # fmt: skip
    """Compare, once more where a page could not be read; returns the number of differences."""
    for attempt in (1, 2):
        try:
            found = compare(moment, session, platform, ledger, home, late)
        except NotSeenError as error:
            say(f"moment {moment}, attempt {attempt}: a page could not be read\n{error}")
            go_back(session)
            continue
        report(found, ledger.now)
        return len(found.faults)
    return 1


def report(found: Comparison, now: float) -> None:
    say(
        f"moment {found.moment} at {clock(now)}: {len(found.faults)} differences,"
        f" {len(found.reported)} reported as unknown by the program"
    )
    for words in found.faults:
        say(f"  DIFFERS  {words}")
    for words in found.reported[:10]:
        say(f"  unknown  {words}")


def wait_for_past(file: Path) -> None:
    """Wait until the platform has written its past, and closed the file."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if file.exists() and not file.with_name(f"{file.name}-wal").exists():
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as known:
                (tables,) = known.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if tables and known.execute("SELECT count(*) FROM seen").fetchone()[0]:
                    return
        time.sleep(0.1)
    raise NotSeenError("the platform wrote no past")


def take_past(source: Path, home: Path, ledger: Ledger) -> None:
    """Put the past of the platform where the dashboard remembers it, as its own."""
    wait_for_past(source)
    ledger.take_past(source)
    target = home / "state/agentco-tui/history.sqlite3"
    target.parent.mkdir(mode=0o700, parents=True)
    shutil.copyfile(source, target)
    target.chmod(0o600)
    with closing(sqlite3.connect(target)) as file, file:
        file.execute("UPDATE viewer SET profile = 'default'")


def run(wanted: argparse.Namespace, folder: Path) -> int:
    """Start everything, compare at each moment, and return how many differences there were."""
    home, past = folder / "home", folder / "past/history.sqlite3"
    home.mkdir()
    with PlatformProcess("--past", str(past), speed=wanted.speed) as platform:
        ledger = Ledger(platform)
        if wanted.past:
            take_past(past, home, ledger)
        ledger.start()
        differences = 0
        late = wanted.late * wanted.speed
        began = time.monotonic()
        arguments = ("--refresh", f"{REFRESH:g}")
        with dashboard(platform, home, *arguments, size=SIZE) as session:
            ready(session)
            for moment in range(1, wanted.moments + 1):
                pause = began + wanted.minutes * 60 * moment / wanted.moments - time.monotonic()
                time.sleep(max(0.0, pause))
                differences += differences_at(moment, session, platform, ledger, home, late)
        ledger.close()
    say(f"{differences} differences that the program does not report as unknown")
    return differences


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.truth")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long it runs")
    parser.add_argument("--speed", type=float, default=12.0, help="how fast the platform lives")
    parser.add_argument("--moments", type=int, default=10, help="how often it compares")
    parser.add_argument(
        "--late", type=float, default=LATE, help="seconds the dashboard may be late"
    )
    parser.add_argument("--past", action="store_true", help="begin with the demo's past")
    return parser.parse_args(words)


def main() -> int:
    """Run; 1 if there were differences."""
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        return int(run(arguments(), Path(folder)) > 0)


if __name__ == "__main__":
    sys.exit(main())
