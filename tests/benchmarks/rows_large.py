"""The figures on large platforms: keys, stalls, memory, sorting and how all of it grows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.benchmarks import stage
from tests.benchmarks.stage import Plan, Row
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

AGENTS = 10_000
COMPANIES = 200


def _large(waiting: int) -> PlatformProcess:
    small = waiting < 10_000
    return stage.platform(waiting, 12 if small else AGENTS, 3 if small else COMPANIES)


def _loaded(session: PtySession, waiting: int) -> None:
    """Wait until the queue is there as a whole, and what came with the start has settled."""
    session.wait_for(f"{waiting:,}", timeout=120)
    time.sleep(8)


def large(plan: Plan) -> Iterator[Row]:
    """All that is measured on the queue, for each size: one start of the program each."""
    grown: dict[str, list[float]] = {}
    for size in plan.sizes:
        plan.said(f"{size:,} tasks")
        with _large(size) as at, stage.proxy(at.base_url, change=0.01) as lively:
            found = _measure(plan, at, lively, size)
        for name, value in found.items():
            grown.setdefault(name, []).append(value)
    last = {name: values[-1] for name, values in grown.items()}
    size = plan.sizes[-1]
    word = f"{size:,} tasks"
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
    yield Row(
        f"sort, key to painted, {word}", f"{last['sort']:.0f} ms", "100 ms", last["sort"] <= 100
    )
    yield Row(
        f"filter, key to painted, {word}",
        f"{last['filter']:.0f} ms",
        "100 ms",
        last["filter"] <= 100,
    )
    yield Row(
        "memory (RSS) with 1,000 tasks", f"{grown['memory'][0]:.0f} MB", "60 MB",
        grown["memory"][0] <= 60,
    )  # fmt: skip
    yield Row(
        f"memory (RSS) with {word} and {AGENTS:,} agents",
        f"{last['memory']:.0f} MB (peak {last['peak']:.0f})",
        "150 MB",
        last["memory"] <= 150,
    )
    for name, values in grown.items():
        told = " / ".join(f"{value:,.1f}" if value < 100 else f"{value:,.0f}" for value in values)
        flat = name in ("key", "bytes a move")
        linear = all(
            after <= max(before, 1.0) * (1.5 if flat else 12) for before, after in pairwise(values)
        )
        yield Row(
            f"growth over {', '.join(f'{size:,}' for size in plan.sizes)}: {name}",
            told,
            "flat" if flat else "at most linear",
            linear,
        )


def _measure(plan: Plan, at: PlatformProcess, lively: str, size: int) -> dict[str, float]:
    found: dict[str, float] = {}
    arguments = ["--screen", "tasks", "--refresh", "5"]
    with stage.program([*stage.PROGRAM, *arguments], at, address=lively) as session:
        _loaded(session, size)
        found["start s"] = time.monotonic() - session.started - 8
        keys = _keys(session, plan.runs * 60)
        found["key"] = stage.middle(keys)
        found["key 95 %"] = stage.part(keys, 0.95)
        found["key worst"] = max(keys)
        held = []
        for _ in range(plan.runs):
            held.append(stage.memory(session.pid))
            time.sleep(1.1)
        found["memory"] = stage.middle(held)
        found["peak"] = stage.memory(session.pid, "VmHWM")
    with stage.program([*stage.PROGRAM, *arguments], at) as session:
        _loaded(session, size)
        found["sort"] = stage.middle([stage.painted(session, "s") for _ in range(plan.runs)])
        found["filter"] = stage.middle(list(_filters(session, plan.runs)))
        # From the top, so that nothing scrolls. Faster than a detail is drawn, as with a key held
        # down; then at rest, with the detail.
        session.press("g")
        session.wait_quiet(0.5)
        count = plan.runs * 2 + 1
        moves = [float(stage.quiet_keys(session, "j", 0.03)) for _ in range(count)]
        found["bytes a move"] = stage.middle(moves)
        rests = [float(stage.quiet_keys(session, "j", 0.4)) for _ in range(plan.runs)]
        found["bytes a move and its detail"] = stage.middle(rests)
    found["stall"] = _stall(plan, at, lively, arguments, size)
    found["stall overview"] = _stall(plan, at, lively, ["--refresh", "5"], size)
    return found


def _keys(session: PtySession, count: int) -> list[float]:
    """Milliseconds from key to first byte, over all phases of the polling."""
    taken = []
    for turn in range(count):
        taken.append(stage.first_bytes(session, "j" if turn % 20 < 10 else "k"))
        time.sleep(0.05 + (turn % 7) * 0.011)
    return taken


def _filters(session: PtySession, count: int) -> Iterator[float]:
    """A word typed into the filter, and its last letter timed."""
    for turn in range(count):
        session.press("/")
        session.wait_quiet(0.5)
        yield stage.painted(session, *("invoi", "pay", "send")[turn % 3])
        session.press("esc")
        session.wait_quiet(0.3)


def _stall(plan: Plan, at: PlatformProcess, lively: str, arguments: list[str], size: int) -> float:
    """The longest stall of each poll taken in, and of these the worst."""
    with stage.folder() as own:
        file = Path(own) / "stalls"
        argv = [*stage.WATCHED, *arguments]
        with stage.program(argv, at, address=lively, extra={"STALLS": str(file)}) as session:
            session.wait_for(re_size(size), timeout=120)
            time.sleep(10)
            begun = time.perf_counter()
            time.sleep(5.5 * plan.runs)
        if not file.exists():
            return 0.0
        late = [tuple(map(float, line.split())) for line in file.read_text().splitlines()]
    return max((each[1] for each in late if each[0] > begun), default=0.0)


def re_size(size: int) -> str:
    """The size as every screen shows it somewhere."""
    return f"{size:,}"
