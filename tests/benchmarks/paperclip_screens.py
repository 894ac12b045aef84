"""Compares every cell of the lists of all screens with a live Paperclip's own answers.

python -m tests.benchmarks.paperclip_screens [http://127.0.0.1:3100] [WORDS]

The server must be one that needs no key (`deploymentMode` local_trusted). The real dashboard runs
in a pseudo-terminal, at 80x24 and at 120x40; each list is read off its pictures, page by page, and
each of its cells is compared with what the server's own answers mean. The server is read before and
after: a cell counts as different only if it is neither as before nor as after. With WORDS, only
screens with these words in their names are compared.

The rows of a list are those of the server one to one: none is left out, none is made up. What
nothing in an answer says (gauges, what follows if a need is ignored) is counted apart, by the
titles of its columns. The last lines have the counts, then the requests per minute by answer and
the processor time of a dashboard that shows the Overview and is left alone.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import paperclip_cells as cells
from tests.benchmarks.cell_checks import (
    Check,
    Repeats,
    Result,
    Rows,
    Since,
    candidates_of,
    compare,
    either,
    number,
)
from tests.benchmarks.paperclip_world import World, read_world, waiting_in
from tests.benchmarks.shown_lists import PAINTED, Column, ShownRow, read_list
from tests.terminal.pty_session import PtySession

CONFIG = """\
history = false
[alerts]
waiting_warning = "1s"
[approve]
hold = 0
[profiles.paperclip]
base_url = "{base}"
platform = "paperclip"
"""
SIZES = (80, 24), (120, 40)
SETTLED = 4.0
"""Seconds without news after which a screen is taken to show all that there is."""
AT_REST = 60.0
"""Seconds for which a dashboard is left alone."""
GAUGE = "[█▏▎▍▌▋▊▉─│▶]"


# --- lists that are read in another way ---


def read_alerts(session: PtySession, columns: Sequence[Column], width: int) -> list[ShownRow]:
    """The alerts, which are below the budgets or beside them."""
    session.press("tab")
    session.wait_quiet(PAINTED)
    line = next(line for line in session.screen if " ALERTS " in line)
    return read_list(session, columns, width, line.index(" ALERTS "))


def read_spend(session: PtySession, columns: Sequence[Column], width: int) -> list[ShownRow]:
    """The lines of SPEND, beside which or below which is LATEST."""
    screen = session.screen
    title_line = line_with(screen, " SPEND ")
    title = screen[title_line]
    end = title.index(" LATEST") if " LATEST" in title else width
    rows: list[ShownRow] = []
    for line in screen[title_line + 1 : -1]:
        text = line[:end].rstrip()
        if not text or text.startswith(" LATEST"):
            break
        match = re.match(rf"^ ?[✖▲ ] (.+?)(?:  +.+?)? *{GAUGE}+ *(\S+ %|\S* ?…)? *(.*)$", text)
        unlimited = re.match(r"^ ?[✖▲ ] (.+?)()(?:  +(~?\$.*|…))?$", text)
        found = match or unlimited
        assert found is not None, text
        of, percent, rest = (group or "" for group in found.groups())
        sums = re.split(" {2,}", rest.strip())[0]
        shown = {"OF": of.strip(), "PERCENT": percent, "SUMS": sums}
        rows.append(ShownRow(shown, time.time()))
    return rows


def read_latest(session: PtySession, columns: Sequence[Column], width: int) -> list[ShownRow]:
    """The lines of LATEST, which is the last thing above the footer."""
    screen = session.screen
    title_line = line_with(screen, " LATEST")
    begin = screen[title_line].index(" LATEST")
    when = r"\d\d:\d\d:\d\d|\w{3} \d\d:\d\d|\d+ \w{3}"
    rows: list[ShownRow] = []
    for line in screen[title_line + 1 : -1]:
        match = re.match(rf"^ ({when}) {{1,3}}[~ ]?[✖▲]? *(.*)$", line[begin:].rstrip())
        if match is None:
            break
        shown = {"TIME UTC": match[1], "WHO AND WHAT": match[2]}
        rows.append(ShownRow(shown, time.time()))
    return rows


def line_with(screen: Sequence[str], words: str) -> int:
    return next(number for number, line in enumerate(screen) if words in line)


# --- the figures in the tabs and the titles ---


class Figure(NamedTuple):
    """A figure on the screen: by a pattern, of which the group is the figure."""

    name: str
    pattern: str
    of: Callable[[World], Check]
    needs_room: bool = False
    """Whether it is left out, or cut, where there is no room for it."""


def number_waiting(world: World) -> Check:
    return number(len({each.need for each in waiting_in(world)}))


def longest_wait(world: World) -> Check:
    return Since(min((each.since for each in waiting_in(world) if each.since), default=None))


def number_of_companies(world: World) -> Check:
    return number(len(world.companies))


def number_of_agents(world: World, status: str | None = None) -> Check:
    rows = [row for each in world.companies for row in each.agents]
    return number(sum(status in {None, row["status"]} for row in rows))


def number_spent(world: World) -> Check:
    policies = [row for each in world.companies for row in each.policies]
    return number(sum(row["observedAmount"] >= row["amount"] > 0 for row in policies))


def number_of_rows(rows: Callable[[World], Rows], world: World) -> Check:
    return number(len(rows(world)))


TABS = (
    Figure("companies", r"2 \w+ ([\d,]+)", number_of_companies),
    Figure("agents", r"3 \w+ ([\d,]+)", number_of_agents),
    Figure("waiting tasks", r"4 \w+ ([\d,]+)", number_waiting),
    Figure("budgets that are spent", r"5 \w+ ✖([\d,]+)", number_spent),
)
OF_NEEDS = (
    Figure("tasks that wait", r"([\d,]+) tasks wait", number_waiting),
    Figure("the longest wait", r"the oldest (\d+h\d\d|\d+ [smhdwy])\b", longest_wait, True),
    Figure("agents", r"([\d,]+) agents", number_of_agents, True),
    Figure("paused agents", r"([\d,]+) paused", partial(number_of_agents, status="paused"), True),
    Figure("agents in error", r"([\d,]+) error", partial(number_of_agents, status="error"), True),
)
OF_COMPANIES = Figure("companies", r"COMPANIES .*· ([\d,]+)", number_of_companies)
OF_AGENTS = Figure("agents", r"AGENTS .*· ([\d,]+)", number_of_agents)
OF_PENDING = Figure("pending", r"pend\w* ([\d,]+)", partial(number_of_rows, cells.pending))
OF_TASKS = Figure("all", r"▌all ([\d,]+)", partial(number_of_rows, cells.all_tasks))
OF_BUDGETS = Figure("budgets", r"BUDGET .*· ([\d,]+)", partial(number_of_rows, cells.budget))
OF_ALERTS = Figure("alerts", r"ALERTS ([\d,]+)", partial(number_of_rows, cells.alerts))


class Seen(NamedTuple):
    """A whole screen, and when it was read, in seconds since 1970."""

    text: str
    at: float


def figures_compared(
    figures: Iterable[Figure], seen: Seen, worlds: tuple[World, World]
) -> Iterator[str | None]:
    """For each figure that is shown, how it differs; None if it does not."""
    before, after = worlds
    for figure in figures:
        match = re.search(figure.pattern, seen.text)
        check = either(figure.of(before), figure.of(after))
        if match is None and not figure.needs_room:
            yield f"the figure of {figure.name} is not shown, it is {check}"
        elif match is not None:
            is_right = check.agrees(match[1], seen.at)
            yield None if is_right else f"the figure of {figure.name} is {match[1]}, not {check}"


def statuses_compared(seen: Seen, worlds: tuple[World, World]) -> Iterator[str | None]:
    """The same for the tabs of the statuses of tasks, whose names are cut."""
    title = next((line for line in seen.text.split("\n") if "▌all " in line), "")
    before, after = (Counter(cells.statuses(world)) for world in worlds)
    for name, shown in re.findall(r"([a-z_]{3,}) ([\d,]+)", title.partition("▌all ")[2]):
        counts = [
            sum(count for status, count in each.items() if status.startswith(name))
            for each in (before, after)
        ]
        is_right = min(counts) <= int(shown.replace(",", "")) <= max(counts)
        yield None if is_right else f"the figure of tasks {name} is {shown}, not {counts}"


def count_of_rows(pattern: str, screens: Iterable[Seen], rows: int) -> str | None:
    """How the figure in the title differs from what the rows stand for; None if it does not.

    `screens`: before and after the list was read.
    """
    figures = [
        sum(int(group.replace(",", "")) for group in match.groups() if group)
        for seen in screens
        if (match := re.search(pattern, seen.text))
    ]
    return None if rows in figures else f"the title says {figures}, the rows stand for {rows}"


# --- the screens ---

Reader = Callable[[PtySession, Sequence[Column], int], list[ShownRow]]


def none_of_them(_: World) -> Iterable[str]:
    return ()


def is_none_of_them(_: ShownRow) -> bool:
    return False


class ShownList(NamedTuple):
    """A list of a screen: its columns, the rows that it must have, and how it is read."""

    name: str
    columns: Sequence[Column]
    rows: Callable[[World], Rows]
    figures: tuple[Figure, ...] = ()
    optional: Callable[[World], Iterable[str]] = none_of_them
    """The rows that need not be shown, by their ids."""
    repeats: Callable[[World], Repeats] | None = None
    is_own: Callable[[ShownRow], bool] = is_none_of_them
    """Whether a row is the program's own, and not compared."""
    keys: tuple[str, ...] = ()
    """What is pressed before it is there."""
    of_rows: str = ""
    """A pattern of the title, whose groups are how many of the server's its rows stand for."""
    read: Reader = read_list


SCREENS = {
    "overview": (
        ShownList("spend", cells.SPEND, cells.spend, optional=cells.spend, read=read_spend),
        ShownList("latest", cells.LATEST, cells.latest, optional=cells.latest, read=read_latest),
        ShownList(
            "needs", cells.NEEDS, cells.needs, OF_NEEDS,
            optional=cells.needs_beyond_attention,
            repeats=cells.repeated_needs,
            is_own=cells.is_judged_by_the_log,
            of_rows=r"NEEDS YOU(?: ✖ ([\d,]+))?(?: ▲ ([\d,]+))?",
        ),
    ),
    "companies": (ShownList("companies", cells.COMPANIES, cells.companies, (OF_COMPANIES,)),),
    "agents": (ShownList("agents", cells.AGENTS, cells.agents, (OF_AGENTS,)),),
    "tasks": (
        ShownList("pending", cells.PENDING, cells.pending, (OF_PENDING,)),
        ShownList("all", cells.ALL_TASKS, cells.all_tasks, (OF_TASKS,), keys=("v", "a")),
    ),
    "budget": (
        ShownList("budgets", cells.BUDGET, cells.budget, (OF_BUDGETS,)),
        ShownList("alerts", cells.ALERTS, cells.alerts, (OF_ALERTS,), read=read_alerts),
    ),
    "activity": (
        ShownList(
            "activity", cells.ACTIVITY, cells.activity,
            optional=cells.entries_before_the_log,
            repeats=cells.repeated_entries,
            is_own=cells.is_gap,
            of_rows=r"lines of ([\d,]+) entries",
        ),
    ),
}  # fmt: skip


# --- the run ---


def dashboard(base: str, folder: Path, size: tuple[int, int], *words: str) -> PtySession:
    config = folder / "config.toml"
    config.write_text(CONFIG.format(base=base), encoding="utf-8")
    command = [sys.executable, "-m", "agentco_tui", "--profile", "paperclip", *words]
    environment: dict[str, str | None] = {
        "HOME": str(folder),
        "AGENTCO_CONFIG": str(config),
        "TEXTUAL_ANIMATIONS": "none",
        "TZ": "UTC",
    }
    return PtySession(command, env=environment, size=size)


def wait_until_settled(session: PtySession) -> None:
    """Wait until a screen has all that it is read for: except ages and the latency, it is still."""
    session.wait_for("live")
    since = time.monotonic()
    before = ""
    while time.monotonic() - since < SETTLED:
        lines = session.screen
        now = "\n".join((*lines[1:3], re.sub(r"\d+", "", "\n".join(lines[3:]))))
        if now != before:
            since = time.monotonic()
            before = now
        time.sleep(0.2)


class Reading(NamedTuple):
    """What was read of a list, and the screens before and after that."""

    of: ShownList
    rows: list[ShownRow]
    screens: list[Seen]


class Tally(NamedTuple):
    """The comparison of one list at one size."""

    name: str
    result: Result


def compare_screen(
    base: str, folder: Path, name: str, size: tuple[int, int], before: World
) -> tuple[list[Tally], World]:
    """Compare the lists of a screen; returns also the server's answers after that."""
    readings: list[Reading] = []
    with dashboard(base, folder, size, "--screen", name) as session:
        for shown in SCREENS[name]:
            for key in shown.keys:
                session.press(key)
                session.wait_quiet(PAINTED)
            wait_until_settled(session)
            first = Seen(session.text, time.time())
            rows = shown.read(session, shown.columns, size[0])
            readings.append(Reading(shown, rows, [first, Seen(session.text, time.time())]))
    after = read_world(base)
    columns, lines = size
    tallies = [
        Tally(f"{name}, {each.of.name}, {columns}x{lines}", result_of(each, (before, after)))
        for each in readings
    ]
    return tallies, after


def result_of(reading: Reading, worlds: tuple[World, World]) -> Result:
    before, after = worlds
    shown = reading.of
    own = [row for row in reading.rows if shown.is_own(row)]
    rows = [row for row in reading.rows if not shown.is_own(row)]
    optional = {*shown.optional(before), *shown.optional(after)}
    candidates = candidates_of(shown.rows(before), shown.rows(after), optional)
    repeats = shown.repeats(after) if shown.repeats is not None else None
    result = compare(rows, candidates, shown.columns, repeats)
    figures = list(figures_compared((*TABS, *shown.figures), reading.screens[0], worlds))
    figures += statuses_compared(reading.screens[0], worlds)
    if shown.of_rows:
        total = result.stands_for + len(own)
        figures.append(count_of_rows(shown.of_rows, reading.screens, total))
    not_compared = Counter(result.not_compared)
    not_compared["the sign of the level"] += len(rows)
    not_compared["whole rows of the program's own"] += len(own)
    return result._replace(
        rows=len(reading.rows),
        cells=result.cells + len(figures),
        differences=[*result.differences, *filter(None, figures)],
        not_compared=+not_compared,
    )


def summary(tally: Tally) -> str:
    result = tally.result
    words = f"{tally.name}: {result.rows} rows"
    if result.stands_for != result.rows:
        words += f" that stand for {result.stands_for}"
    words += f", {result.cells} cells compared ({result.cut} of them cut)"
    words += f", {len(result.differences)} different"
    if result.not_compared:
        left_out = ", ".join(f"{title} {n}" for title, n in sorted(result.not_compared.items()))
        words += f"; not compared: {left_out}"
    return words


def costs_at_rest(base: str, folder: Path) -> str:
    """What a dashboard asks for and needs while it shows the Overview and nobody touches it."""
    log = folder / "requests.log"
    words = ("--screen", "overview", "--log-file", str(log))
    with dashboard(base, folder, SIZES[0], *words) as session:
        wait_until_settled(session)
        lines_before = len(log.read_text(encoding="utf-8").splitlines())
        used_before = session.cpu_seconds()
        time.sleep(AT_REST)
        used = session.cpu_seconds() - used_before
        lines = log.read_text(encoding="utf-8").splitlines()[lines_before:]
    answers = Counter(
        match[1] for line in lines if (match := re.search(r"request \w+: (\d{3}) ", line))
    )
    minutes = AT_REST / 60
    with_body = sum(count for status, count in answers.items() if status != "304")
    return (
        f"at rest on the Overview: {sum(answers.values()) / minutes:.0f} requests a minute,"
        f" {with_body / minutes:.0f} with a body, {answers['304'] / minutes:.0f} answered 304;"
        f" {used:.2f} s of processor time in {AT_REST:.0f} s"
    )


def main(base: str, words: str = "", say: Callable[[str], object] = print) -> int:
    tallies: list[Tally] = []
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        world = read_world(base)
        for size in SIZES:
            for name in SCREENS:
                if words not in name:
                    continue
                found, world = compare_screen(base, folder, name, size, world)
                for tally in found:
                    for difference in tally.result.differences:
                        say(f"{tally.name}: {difference}")
                tallies += found
        for tally in tallies:
            say(summary(tally))
        compared = sum(tally.result.cells for tally in tallies)
        different = sum(len(tally.result.differences) for tally in tallies)
        say(f"{compared} cells of {len(tallies)} lists compared, {different} different")
        if not words:
            say(costs_at_rest(base, folder))
    return 1 if different else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    address = arguments[0] if arguments else "http://127.0.0.1:3100"
    sys.exit(main(address, " ".join(arguments[1:])))
