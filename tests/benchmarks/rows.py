"""The figures on small platforms: start, bytes, processor time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from tests.benchmarks import stage
from tests.benchmarks.stage import Plan, Row
from tests.terminal.platform_process import PlatformProcess


def _start(argv: list[str], at: PlatformProcess, address: str, titles: list[bytes]) -> float:
    with stage.program(argv, at, address=address) as session:
        return stage.until(session, lambda raw: any(title in raw for title in titles))


def start(plan: Plan) -> Iterator[Row]:
    """From the start of the process to the first task on the screen, against the smallest app."""
    ours = [*stage.PROGRAM, "--screen", "tasks"]
    with stage.platform(20) as at:
        titles = stage.pending_titles(at)
        for delay, target in ((0.0, 1.25), (0.1, 1.0)):
            with stage.proxy(at.base_url, delay=delay) as address:
                runs: dict[str, list[float]] = {"ours": [], "overview": [], "smallest": []}
                for _ in range(plan.runs + 1):
                    runs["ours"].append(_start(ours, at, address, titles))
                    runs["overview"].append(_start(stage.PROGRAM, at, address, titles))
                    runs["smallest"].append(_start(stage.SMALLEST, at, address, titles))
                took = {name: stage.middle(each[1:]) for name, each in runs.items()}
            ratio = took["ours"] / took["smallest"]
            second = took["overview"] / took["smallest"]
            line = f", {delay * 1000:.0f} ms latency" if delay else ""
            yield Row(
                f"start to first data{line}",
                f"{ratio:.2f}x ({took['ours'] * 1000:.0f} ms); Overview {second:.2f}x",
                f"{target:.2f}x",
                ratio <= target,
                f"smallest app {took['smallest'] * 1000:.0f} ms",
            )


def idle(plan: Plan) -> Iterator[Row]:
    """Bytes and processor time while polls bring nothing new."""
    arguments = ["--screen", "tasks", "--refresh", "2"]
    with stage.platform(1_000) as at:
        frozen = _idle_bytes(plan, at, [*stage.WATCHED, *arguments], {"FROZEN_AGES": "1"})
        overview = [*stage.WATCHED, "--refresh", "2"]
        frozen = max(frozen, _idle_bytes(plan, at, overview, {"FROZEN_AGES": "1"}))
        naive = _idle_bytes(plan, at, stage.POLLING, {})
        yield Row(
            "polls bring nothing new: bytes besides ages",
            f"{frozen:.1f} B/s",
            "0 B/s",
            frozen == 0,
            f"naive dashboard {naive:,.0f} B/s",
        )
        ticking = _idle_bytes(plan, at, [*stage.PROGRAM, *arguments], {})
        first = _idle_bytes(plan, at, [*stage.PROGRAM, "--refresh", "2"], {})
        yield Row(
            "polls bring nothing new: bytes with ages",
            f"{ticking:.1f} B/s; Overview {first:.1f}",
            "30 B/s",
            max(ticking, first) <= 30,
            _htop_bytes(plan),
        )


def _idle_bytes(plan: Plan, at: PlatformProcess, argv: list[str], extra: dict[str, str]) -> float:
    with stage.program(argv, at, extra={**extra}) as session:
        stage.bytes_per_second(session, 6)
        # The mean of all: ages tick now and then, and a median would leave them out.
        return stage.bytes_per_second(session, plan.window * plan.runs)


def _htop_bytes(plan: Plan) -> str:
    htop = shutil.which("htop")
    if htop is None:
        return "htop is not installed"
    with stage.program(["-c", f"import os; os.execv({htop!r}, ['htop', '-d', '10'])"]) as session:
        stage.bytes_per_second(session, 3)
        each = [stage.bytes_per_second(session, plan.window / 2) for _ in range(plan.runs)]
    return f"htop {stage.middle(each):,.0f} B/s"


def cpu(plan: Plan) -> Iterator[Row]:
    """Processor time with 1,000 tasks at 2 s polling, nothing changing."""
    with stage.platform(1_000) as at:
        shares = {}
        for name, argv in (
            ("ours", [*stage.PROGRAM, "--screen", "tasks", "--refresh", "2"]),
            ("overview", [*stage.PROGRAM, "--refresh", "2"]),
            ("naive", stage.POLLING),
        ):
            with stage.program(argv, at) as session:
                stage.cpu_share(session, 6)
                each = [stage.cpu_share(session, plan.window) for _ in range(plan.runs)]
                shares[name] = stage.middle(each)
    htop = shutil.which("htop")
    peers = f"naive dashboard {shares['naive']:.1f} %"
    if htop is not None:
        with stage.program(["-c", f"import os; os.execv({htop!r}, ['htop', '-d', '10'])"]) as one:
            stage.cpu_share(one, 3)
            each = [stage.cpu_share(one, plan.window / 2) for _ in range(plan.runs)]
        peers += f", htop {stage.middle(each):.1f} %"
    yield Row(
        "CPU, 1,000 tasks, 2 s polling",
        f"{shares['ours']:.1f} %; Overview {shares['overview']:.1f} %",
        "1 %",
        max(shares["ours"], shares["overview"]) <= 1.0,
        peers,
    )


def _told(size: float | None) -> str:
    return "cannot" if size is None else f"{size:,.0f} B"


def cells(plan: Plan) -> Iterator[Row]:
    """Bytes for one changed cell and for one move of the cursor, in tables of 1,000 rows."""
    changed: dict[str, float] = {}
    moved: dict[str, float] = {}
    tables = {"ours": [*stage.HOST, "1000"], "DataTable": [*stage.TABLES, "datatable", "1000"]}
    try:
        import textual_fastdatatable  # noqa: F401

        tables["fastdatatable"] = [*stage.TABLES, "fast", "1000"]
    except ImportError:
        plan.said("textual-fastdatatable is not installed: its figures are left out")
    for name, argv in tables.items():
        with stage.program(argv) as session:
            session.wait_for("WAITING")
            session.press("j", "j", "j", "j", "j")
            if name != "fastdatatable":  # which has no way to change a cell
                each = [float(stage.quiet_keys(session, "x")) for _ in range(plan.runs)]
                changed[name] = stage.middle(each)
            each = [
                float(stage.quiet_keys(session, key)) for key in "jjjkjjk" * (plan.runs // 7 or 1)
            ]
            moved[name] = stage.middle(each)
    rest = [name for name in tables if name != "ours"]
    ratio = changed["DataTable"] / changed["ours"]
    yield Row(
        "bytes for a changed cell",
        f"{changed['ours']:.0f} B, {ratio:.0f} times fewer",
        "80 B, 20 times fewer",
        changed["ours"] <= 80 and ratio >= 20,
        ", ".join(f"{name} {_told(changed.get(name))}" for name in rest),
    )
    yield Row(
        "bytes for a cursor move",
        f"{moved['ours']:.0f} B, {moved['ours'] / moved['DataTable']:.2f} of DataTable's",
        "400 B, half",
        moved["ours"] <= 400 and moved["ours"] <= moved["DataTable"] / 2,
        ", ".join(f"{name} {moved[name]:,.0f} B" for name in rest),
    )
