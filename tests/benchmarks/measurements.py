"""The figures of the table: start, bytes for a change, and how all grows with the queue."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

from tests.benchmarks import stage
from tests.benchmarks.stage import Plan, Row
from tests.terminal.pty_session import PtySession

TASKS = ["--screen", "tasks"]
AGENTS = 10_000
COMPANIES = 200


def start(plan: Plan) -> Iterator[Row]:
    """From the start of the process to the first task on the screen, against the smallest app."""
    programs = {
        "ours": [*stage.PROGRAM, *TASKS],
        "overview": stage.PROGRAM,
        "smallest": ["-m", "tests.benchmarks.peers.smallest"],
    }
    with stage.platform(20) as at:
        pending = at.api("/api/tasks?status=pending")
        titles = [str(task["title"])[:14].encode() for task in pending]

        def once(argv: list[str], address: str) -> float:
            with stage.program(argv, at, address=address) as session:
                return stage.until(session, lambda raw: any(title in raw for title in titles))

        for delay, target in ((0.0, 1.15), (0.1, 0.9)):
            runs: dict[str, list[float]] = {name: [] for name in programs}
            with stage.proxy(at.base_url, delay=delay) as address:
                for _ in range(plan.runs + 1):  # the first of each warms the machine's caches
                    for name, argv in programs.items():
                        runs[name].append(once(argv, address))
            took = {name: median(each[1:]) for name, each in runs.items()}
            ratio = took["ours"] / took["smallest"]
            line = f", {delay * 1000:.0f} ms latency" if delay else ""
            yield Row(
                f"start to first data{line}",
                f"{ratio:.2f}x ({took['ours'] * 1000:.0f} ms);"
                f" Overview {took['overview'] / took['smallest']:.2f}x",
                f"{target:.2f}x",
                ratio <= target,
                f"smallest app {took['smallest'] * 1000:.0f} ms",
            )


def cells(plan: Plan) -> Iterator[Row]:
    """Bytes for one changed cell and for one move of the cursor, in tables of 1,000 rows."""
    changed: dict[str, float] = {}
    moved: dict[str, float] = {}
    peers = ["-m", "tests.benchmarks.peers.tables"]
    tables = {
        "ours": ["-m", "tests.widgets.host", "1000"],
        "DataTable": [*peers, "datatable", "1000"],
        "fastdatatable": [*peers, "fast", "1000"],
    }
    try:
        import textual_fastdatatable  # noqa: F401
    except ImportError:
        del tables["fastdatatable"]
        plan.said("textual-fastdatatable is not installed: its figures are left out")
    for name, argv in tables.items():
        with stage.program(argv) as session:
            session.wait_for("WAITING")
            session.press("j", "j", "j", "j", "j")
            if name != "fastdatatable":  # which has no way to change a cell
                changed[name] = median(stage.quiet_keys(session, "x") for _ in range(plan.runs))
            keys = "jjjkjjk" * (plan.runs // 7 or 1)
            moved[name] = median(stage.quiet_keys(session, key) for key in keys)
    ratio = changed["DataTable"] / changed["ours"]
    yield Row(
        "bytes for a changed cell",
        f"{changed['ours']:.0f} B, {ratio:.0f} times fewer",
        "40 B",
        changed["ours"] <= 40,
        f"DataTable {changed['DataTable']:,.0f} B",
    )
    yield Row(
        "bytes for a cursor move",
        f"{moved['ours']:.0f} B, {moved['ours'] / moved['DataTable']:.2f} of DataTable's",
        "400 B, half",
        moved["ours"] <= 400 and moved["ours"] <= moved["DataTable"] / 2,
        ", ".join(f"{name} {moved[name]:,.0f} B" for name in moved if name != "ours"),
    )


def large(plan: Plan) -> Iterator[Row]:
    """All that is measured on the queue, for each size.

    The smaller ones, which only show how it grows, are measured less often, and at once.
    """
    *smaller, largest = plan.sizes
    with ThreadPoolExecutor() as pool:
        each = list(pool.map(partial(_measure, min(plan.runs, 3)), smaller))
    plan.said(f"{largest:,} tasks")
    each.append(_measure(plan.runs, largest))
    grown = {name: [found[name] for found in each] for name in each[-1]}
    last = {name: values[-1] for name, values in grown.items()}
    word = f"{plan.sizes[-1]:,} tasks"
    yield Row(
        f"key to first byte, {word}, 1 % changing every 5 s",
        f"median {last['key']:.1f}, 95 % {last['key 95 %']:.1f}, worst {last['key worst']:.1f} ms",
        "4, 10, 50 ms",
        last["key"] <= 4 and last["key 95 %"] <= 10 and last["key worst"] <= 50,
    )
    yield Row(
        f"longest stall while a poll is taken in, {word}",
        f"{last['stall']:.0f} ms (Overview {last['stall overview']:.0f} ms)",
        "50 ms",
        max(last["stall"], last["stall overview"]) <= 50,
    )
    for name in ("sort", "filter"):
        yield Row(
            f"{name}, key to painted, {word}", f"{last[name]:.0f} ms", "100 ms", last[name] <= 100
        )
    held = grown["memory"][0]
    yield Row("memory (RSS) with 1,000 tasks", f"{held:.0f} MB", "60 MB", held <= 60)
    yield Row(
        f"memory (RSS) with {word} and {AGENTS:,} agents",
        f"{last['memory']:.0f} MB (peak {last['peak']:.0f})",
        "150 MB",
        last["memory"] <= 150,
    )
    for name, values in grown.items():
        most = 1.5 if name in ("key", "bytes a move") else 12
        yield Row(
            f"growth over {', '.join(f'{size:,}' for size in plan.sizes)}: {name}",
            " / ".join(f"{value:,.1f}" if value < 100 else f"{value:,.0f}" for value in values),
            "flat" if most == 1.5 else "at most linear",
            all(after <= max(before, 1.0) * most for before, after in pairwise(values)),
        )


def _measure(runs: int, size: int) -> dict[str, float]:
    """All figures of a queue of so many tasks; a program each for keys, sorting and stalls."""
    agents, companies = (12, 3) if size < 10_000 else (AGENTS, COMPANIES)
    found: dict[str, float] = {}
    arguments = [*TASKS, "--refresh", "5"]
    settled = 5.0 if size > 10_000 else 3.0
    with ExitStack() as served:
        at = served.enter_context(stage.platform(size, agents, companies))
        lively = served.enter_context(stage.proxy(at.base_url, change=0.01))

        @contextmanager
        def loaded(argv: list[str], address: str, **extra: str | None) -> Iterator[PtySession]:
            """A program whose queue is there as a whole, and what came with the start settled."""
            with stage.program(argv, at, address=address, extra=extra) as session:
                session.wait_for(f"{size:,}", timeout=120)
                found["start s"] = time.monotonic() - session.started
                time.sleep(settled)
                yield session

        def stall(argv: list[str]) -> float:
            """The longest stall of the event loop, in milliseconds, while polls are taken in."""
            with tempfile.TemporaryDirectory() as own:
                file = Path(own) / "stalls"
                with loaded([*stage.WATCHED, *argv], lively, STALLS=str(file)):
                    begun = time.perf_counter()
                    time.sleep(5.5 * min(runs, 3))
                lines = file.read_text().splitlines() if file.exists() else []
            late = [tuple(map(float, line.split())) for line in lines]
            return max((each[1] for each in late if each[0] > begun), default=0.0)

        found["stall"], found["stall overview"] = stall(arguments), stall(["--refresh", "5"])
        with loaded([*stage.PROGRAM, *arguments], at.base_url) as session:
            found["sort"] = median(stage.painted(session, "s") for _ in range(runs))
            found["filter"] = median(_filters(session, runs))
            # From the top, so that nothing scrolls. Faster than a detail is drawn, as with a key
            # held down; then at rest, with the detail.
            session.press("g")
            session.wait_quiet(0.5)
            moves = [stage.quiet_keys(session, "j", 0.03) for _ in range(runs * 2 + 1)]
            found["bytes a move"] = median(moves)
            rests = [stage.quiet_keys(session, "j", 0.4) for _ in range(runs)]
            found["bytes a move and its detail"] = median(rests)
        with loaded([*stage.PROGRAM, *arguments], lively) as session:
            keys, held = [], []
            for turn in range(runs * 30):  # over all phases of the polling
                held.append(stage.memory(session.pid))
                keys.append(stage.first_bytes(session, "j" if turn % 20 < 10 else "k"))
                time.sleep(0.05 + (turn % 7) * 0.011)
            found["key"], found["key worst"] = median(keys), max(keys)
            found["key 95 %"] = sorted(keys)[int(len(keys) * 0.95)]
            found["memory"] = median(held)
            found["peak"] = stage.memory(session.pid, "VmHWM")
    return found


def _filters(session: PtySession, count: int) -> Iterator[float]:
    """A word typed into the filter, and its last letter timed."""
    for turn in range(count):
        session.press("/")
        session.wait_quiet(0.4)
        yield stage.painted(session, *("invoi", "pay", "send")[turn % 3])
        session.press("esc")
        session.wait_quiet(0.3)
