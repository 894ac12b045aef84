"""Real processes: killed in the middle of a set, and racing for the same tasks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentco_tui.actions.journal_file import Attempt, Settled
from agentco_tui.demo.server import EmbeddedPlatform
from tests.actions.office import journal_entries, until

ROOT = Path(__file__).parents[2]
KILLS = 20


@contextlib.contextmanager
def driver(platform: EmbeddedPlatform, path: Path, count: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.actions.driver", platform.base_url, str(path), str(count)],
        cwd=ROOT,
        env={**os.environ, "DRIVER_KEY": platform.full_key},
        stdout=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def told(output: bytes) -> list[dict[str, str]]:
    return [json.loads(line) for line in output.splitlines() if line.endswith(b"}")]


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(seed=5, companies=1, agents=6, tasks=400, speed=0.0) as platform:
        yield platform


def judge(platform: EmbeddedPlatform, path: Path) -> None:
    """Nobody sent twice, nothing was sent that was not written down, nothing is left open."""
    attempts: dict[str, Attempt] = {}
    settled: set[str] = set()
    for entry in journal_entries(path):
        if isinstance(entry, Attempt):
            attempts[entry.attempt] = entry
        elif isinstance(entry, Settled):
            settled.add(entry.attempt)
    keys = Counter(
        dict(seen.headers)["idempotency-key"] for seen in platform.requests.matching("approve")
    )
    assert set(keys) <= set(attempts)
    assert not keys or max(keys.values()) == 1
    assert settled == set(attempts)
    assert all(count == 1 for count in platform.world.applied.values())
    for task_id in platform.world.applied:
        assert platform.world.attempts[task_id] == 1, "asked again after it was approved"


@pytest.mark.timeout(240)
async def test_killed_at_twenty_random_moments_nothing_is_lost_or_sent_twice(
    platform: EmbeddedPlatform, path: Path
) -> None:
    chance = random.Random()
    platform.faults.add("approve:latency=10ms")
    wanted = {task.id for task in platform.world.tasks(status="pending")}
    taken_up = 0
    for _ in range(KILLS):
        moment = sum(platform.world.attempts.values()) + chance.randrange(0, 6)
        with driver(platform, path, 1_000) as process:

            def seen(moment: int = moment, process: subprocess.Popen[bytes] = process) -> bool:
                asked = sum(platform.world.attempts.values())
                return asked >= moment or process.poll() is not None

            await until(seen)
            await asyncio.sleep(chance.uniform(0, 0.03))
            process.kill()
            output, _ = process.communicate()
        taken_up += sum(line["phase"] == "take up" for line in told(output))
    with driver(platform, path, 1_000) as process:
        output, _ = await asyncio.to_thread(process.communicate)
        assert process.returncode == 0
    taken_up += sum(line["phase"] == "take up" for line in told(output))
    assert taken_up > 0, "no kill struck in the middle of an approval"
    judge(platform, path)
    done = {task_id for task_id, applied in platform.world.applied.items() if applied}
    refused = {line["task"] for line in told(output) if line["kind"] == "not done"}
    assert done | refused == wanted


async def test_two_processes_race_for_the_same_tasks(
    platform: EmbeddedPlatform, path: Path
) -> None:
    wanted = [task.id for task in platform.world.tasks(status="pending")][:40]
    platform.faults.add("approve:latency=20ms")
    with driver(platform, path, 40) as one, driver(platform, path, 40) as two:
        outputs = await asyncio.gather(
            asyncio.to_thread(one.communicate), asyncio.to_thread(two.communicate)
        )
        assert (one.returncode, two.returncode) == (0, 0)
    judge(platform, path)
    lines = [line for output, _ in outputs for line in told(output)]
    here = [line["task"] for line in lines if line["kind"] == "approved here"]
    assert len(here) == len(set(here)), "both claim the same approval"
    assert set(wanted) <= {task_id for task_id, count in platform.world.applied.items() if count}
    for line in lines:
        if line["why_not"] is not None:
            assert line["why_not"] == "busy"
            assert "another dashboard on this machine" in line["sentence"]
