"""What many tasks cost, as ratios to what few cost in the same run.

The platforms stand still, and a proxy keeps their answers: each poll sends the same whole lists,
without an ETag, and takes no processor time of a platform. About a third of the tasks waits.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

from tests.benchmarks import stage
from tests.benchmarks.stage import Plan, Row
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

FEW_TASKS = 200
MANY_AGENTS = 10_000
MANY_COMPANIES = 200

ON_TASKS = ["--screen", "tasks", "--refresh", "5"]
OURS = [*stage.PROGRAM, *ON_TASKS]
SMALLEST = ["-m", "tests.benchmarks.peers.smallest"]
SMALLEST_TABLE = ["-m", "tests.benchmarks.peers.tables", "datatable", str(FEW_TASKS)]

SETTLED = 8.0
"""Seconds after which what came with the start is done; measured once, with 100,000 tasks."""
KEYS = 200
"""Keys that a percentile and a worst key are taken of."""
ROUNDS = 4
"""In each, every program is started anew and gets its part of the keys."""
KEY_REPEAT = 1 / 30
"""Seconds between two keys while one is held down."""

FIRST_TASK = re.compile(rb"medium")
"""A priority that every screen full of tasks has, and that nothing else shows before a task."""


@dataclass(frozen=True)
class Queue:
    """A platform with so many tasks, and the address of the proxy that keeps its answers."""

    platform: PlatformProcess
    address: str
    waiting: int

    @contextmanager
    def opened(self, argv: list[str], **extra: str | None) -> Iterator[PtySession]:
        """A program on this platform."""
        with stage.program(argv, self.platform, address=self.address, extra=extra) as session:
            yield session

    @contextmanager
    def settled(self, argv: list[str]) -> Iterator[PtySession]:
        """The dashboard after all waiting tasks were read and nothing is left to be done."""
        with self.opened(argv) as session:
            self.wait_whole(session)
            time.sleep(SETTLED)
            yield session

    def is_whole(self, session: PtySession) -> bool:
        """Whether the tab of the tasks shows how many wait."""
        return f"pending {self.waiting:,}" in session.text

    def wait_whole(self, session: PtySession) -> None:
        session.wait_for(f"pending {self.waiting:,}", timeout=120)


@contextmanager
def few_and_many(plan: Plan) -> Iterator[tuple[Queue, Queue]]:
    """A platform with few tasks, and one with many."""
    many = ["--agents", str(MANY_AGENTS), "--companies", str(MANY_COMPANIES)]
    with ExitStack() as stack:
        queues: list[Queue] = []
        for arguments in (
            ["--tasks", str(FEW_TASKS)],
            ["--tasks", str(plan.largest), *many],
        ):
            platform = stack.enter_context(PlatformProcess(*arguments))
            waiting = len(platform.api("/api/tasks?status=pending"))
            address = stack.enter_context(stage.proxy(platform.base_url, keep=True))
            queue = Queue(platform, address, waiting)
            with queue.opened(OURS) as session:  # the proxy's first answers, which take long
                queue.wait_whole(session)
            queues.append(queue)
        few, many_queue = queues
        yield few, many_queue


def percentile_95(values: Sequence[float]) -> float:
    return sorted(values)[ceil(len(values) * 0.95) - 1]


def times_of_keys(session: PtySession, count: int) -> list[float]:
    """Milliseconds from a key to the first byte, for keys in all phases of the polling."""
    times: list[float] = []
    for turn in range(count):
        is_down = turn % 20 < 10
        times.append(stage.first_bytes(session, "j" if is_down else "k"))
        time.sleep(0.1 + (turn % 7) * 0.011)
    return times


def keys(plan: Plan) -> Iterator[Row]:
    """Key to first byte with few and with many tasks, during 5-second polls."""
    times: dict[str, list[float]] = {"few": [], "many": [], "smallest": []}
    with few_and_many(plan) as (few, many):
        for turn in range(ROUNDS):
            plan.said(f"keys, round {turn + 1} of {ROUNDS}")
            with few.settled(OURS) as session:
                times["few"] += times_of_keys(session, KEYS // ROUNDS)
            with many.settled(OURS) as session:
                times["many"] += times_of_keys(session, KEYS // ROUNDS)
            with stage.program(SMALLEST_TABLE) as session:
                session.wait_for("WAITING")
                times["smallest"] += times_of_keys(session, KEYS // ROUNDS)
    slow = {name: percentile_95(each) for name, each in times.items()}
    middle = {name: median(each) for name, each in times.items()}
    ratio = slow["many"] / slow["few"]
    yield Row(
        f"key to first byte, 95 %, {plan.largest:,} tasks",
        f"{ratio:.2f}x ({slow['many']:.1f} ms, median {middle['many']:.1f})",
        "1.3x",
        ratio <= 1.3,
        f"{FEW_TASKS} tasks {slow['few']:.1f} ms, median {middle['few']:.1f}",
    )
    worst = {name: max(each) for name, each in times.items()}
    ratio = worst["many"] / worst["few"]
    yield Row(
        f"worst of {len(times['many'])} keys, {plan.largest:,} tasks",
        f"{ratio:.2f}x ({worst['many']:.1f} ms)",
        "3x",
        ratio <= 3,
        f"{FEW_TASKS} tasks {worst['few']:.1f} ms",
    )
    yield Row(
        f"key to first byte, 95 %, {FEW_TASKS} tasks",
        f"{slow['few']:.1f} ms, {slow['few'] / slow['smallest']:.2f}x the smallest table",
        "8 ms",
        slow["few"] <= 8,
        f"smallest table {slow['smallest']:.1f} ms, median {middle['smallest']:.1f}",
    )


def held(plan: Plan) -> Iterator[Row]:
    """Processor time and memory of the dashboard at rest, with few and with many tasks."""
    share: dict[str, float] = {}
    resident: dict[str, float] = {}
    peak: dict[str, float] = {}
    with few_and_many(plan) as queues:
        for name, queue in zip(("few", "many"), queues, strict=True):
            with queue.settled(OURS) as session:
                before = session.cpu_seconds()
                began = time.perf_counter()
                amounts: list[float] = []
                while time.perf_counter() - began < plan.window:
                    time.sleep(1.0)
                    amounts.append(stage.memory(session.pid))
                took = time.perf_counter() - began
                share[name] = (session.cpu_seconds() - before) / took * 100
                resident[name] = median(amounts)
                peak[name] = stage.memory(session.pid, "VmHWM")
    what = f"{plan.largest:,} tasks, {MANY_AGENTS:,} agents, 5 s polling"
    yield Row(
        f"CPU at rest, {what}",
        f"{share['many']:.1f} %",
        "2 %",
        share["many"] <= 2,
        f"{FEW_TASKS} tasks {share['few']:.1f} %",
    )
    yield Row(
        f"memory (peak), {what}",
        f"{resident['many']:.0f} ({peak['many']:.0f}) MB",
        "90 (110) MB",
        resident["many"] <= 90 and peak["many"] <= 110,
        f"{FEW_TASKS} tasks {resident['few']:.0f} ({peak['few']:.0f}) MB",
    )


def first(plan: Plan) -> Iterator[Row]:
    """From the start of the process to the first task, with few and with many tasks in turn."""
    seconds: dict[str, list[float]] = {}
    with few_and_many(plan) as (few, many):
        runs = {
            "few": (few, OURS),
            "many": (many, OURS),
            "smallest, few": (few, SMALLEST),
            "smallest, many": (many, SMALLEST),
        }
        for _ in range(plan.runs + 1):  # the first of each warms the machine's caches
            for name, (queue, argv) in runs.items():
                with queue.opened(argv) as session:
                    took = stage.until(session, lambda raw: FIRST_TASK.search(raw) is not None)
                    seconds.setdefault(name, []).append(took)
    took_by_name = {name: median(each[1:]) for name, each in seconds.items()}
    ratio = took_by_name["many"] / took_by_name["few"]
    yield Row(
        f"start to first data, {plan.largest:,} tasks",
        f"{ratio:.2f}x ({took_by_name['many'] * 1000:.0f} ms)",
        "2x",
        ratio <= 2,
        f"{FEW_TASKS} tasks {took_by_name['few'] * 1000:.0f} ms; smallest app"
        f" {took_by_name['smallest, few'] * 1000:.0f} and"
        f" {took_by_name['smallest, many'] * 1000:.0f} ms",
    )


def scroll(plan: Plan) -> Iterator[Row]:
    """The longest stall while `j` is held down from the first task until all tasks are there."""
    longest: dict[str, list[float]] = {"few": [], "many": []}
    whole_after: list[float] = []
    with few_and_many(plan) as (few, many):
        for _ in range(min(plan.runs, 5)):
            stall, _ = _stall_while_scrolled(few)
            longest["few"].append(stall)
            stall, seconds = _stall_while_scrolled(many)
            longest["many"].append(stall)
            whole_after.append(seconds)
    worst = max(longest["many"])
    yield Row(
        f"longest stall while {plan.largest:,} tasks are read and `j` is held down",
        f"{worst:.0f} ms, median of runs {median(longest['many']):.0f};"
        f" all there {median(whole_after):.1f} s after the first",
        "50 ms",
        worst <= 50,
        f"{FEW_TASKS} tasks {max(longest['few']):.0f} ms",
    )


def _stall_while_scrolled(queue: Queue) -> tuple[float, float]:
    """The longest stall in milliseconds, and the seconds until the list was whole."""
    with tempfile.TemporaryDirectory() as own:
        file = Path(own) / "stalls"
        with queue.opened([*stage.WATCHED, *ON_TASKS], STALLS=str(file)) as session:
            stage.until(session, lambda raw: FIRST_TASK.search(raw) is not None)
            began = time.perf_counter()
            while not queue.is_whole(session):
                for _ in range(6):  # the screen is looked at less often than the key repeats
                    session.press("j")
                    time.sleep(KEY_REPEAT)
                if time.perf_counter() - began > 120:
                    raise AssertionError("the list of tasks never became whole")
            ended = time.perf_counter()
            time.sleep(0.5)  # until the last stalls are written
        lines = file.read_text().splitlines() if file.exists() else []
    longest = 0.0
    for line in lines:
        end, milliseconds = map(float, line.split())
        start = end - milliseconds / 1000
        if began < start < ended:
            longest = max(longest, milliseconds)
    return longest, ended - began
