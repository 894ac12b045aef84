"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Every worker, and every program that a test starts, would compile the same files again: collecting
# the tests takes twice as long without bytecode.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No test depends on the machine's speed, nor does the time an example takes mean anything here.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")

for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    # Under nohup, or in the background of a script, signals are ignored, and every program that a
    # test starts would inherit that: the tests of how programs end need what a terminal gives.
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


SLOW_FOLDERS = frozenset(
    {"terminal", "outside", "safety", "screens", "commands", "demo", "actions", "workspace"}
)
"""Folders whose tests run programs in terminals, whole screens, or servers with faults."""

WAITING_FOLDERS = frozenset({"outside", "terminal", "safety"})
"""Folders whose tests mostly wait, for seconds: for programs in terminals, as people do."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick` runs what is useful while working: everything that needs no program of its own."""
    parser.addoption("--quick", action="store_true", help="leave out the slow folders and tests")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick`, leave out the slow folders, without importing them."""
    is_slow = (
        collection_path.parent == Path(__file__).parent and collection_path.name in SLOW_FOLDERS
    )
    return True if is_slow and config.getoption("--quick") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without the garbage collector, and exempt all that was collected from it for good.

    Thousands of tests are hundreds of thousands of objects, which every full collection would visit
    again: in the tests, and five times at the end.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        # A tenth of what the tests compute would be to look for cycles.
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Look for cycles when a module is done: what was left open in one fails a test, here.

    What is found only when a worker ends is no failure.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--quick`, deselect the tests that are marked `slow`; order the others."""
    if config.getoption("--quick"):
        slow = [item for item in items if item.get_closest_marker("slow") is not None]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
    workers: dict[str, int] = getattr(config, "workerinput", {})
    items[:] = begin_with_waiting(items, workers.get("workercount", 1))


def begin_with_waiting(items: list[pytest.Item], worker_count: int) -> list[pytest.Item]:
    """The same tests, so ordered that each worker begins with its share of those that wait.

    Every worker gets a part of the list, all as long, and takes from another's end when it is done:
    if long tests came last, most of the workers would be idle while the last of them wait.
    """
    waiting = [item for item in items if item.path.parent.name in WAITING_FOLDERS]
    others = [item for item in items if item.path.parent.name not in WAITING_FOLDERS]
    ordered: list[pytest.Item] = []
    for number in range(worker_count):
        for group in (waiting, others):
            begin = len(group) * number // worker_count
            end = len(group) * (number + 1) // worker_count
            ordered += group[begin:end]
    return ordered


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Four workers for each processor: more than half of what tests do is to wait
    for programs in terminals, and for servers.

    With `--quick` nothing waits, and each further worker collects all tests again.
    """
    processors = max(2, os.cpu_count() or 2)
    return processors if config.getoption("--quick") else processors * 4
