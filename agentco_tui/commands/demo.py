"""`agentco-tui demo`: a platform of its own in a child process, and the dashboard on it.

The platform brings a history of its past, in a file that goes with it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.arguments import UsageError
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load_for_demo
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import TaskState
from agentco_tui.state_folder import HISTORY_FILE
from agentco_tui.text import safe

if TYPE_CHECKING:
    from agentco_tui.demo.world import World
    from agentco_tui.live.history import Observed

UNIT = "USD?"  # as the sums of the plain shape are read, which doesn't say that they are whole
_AT_ONCE = 4_000  # rows of a past
_ENDED = {
    "completed": TaskState.DONE,
    "failed": TaskState.FAILED,
    "rejected": TaskState.REJECTED,
    "running": TaskState.RUNNING,
}
_NAMES = ("port", "seed", "companies", "agents", "tasks", "speed", "shape")


def serve(given: Given) -> int:
    """Serve until a signal or the end of stdin; what is None of the arguments is the platform's."""
    from agentco_tui.demo import server  # noqa: PLC0415 - slow to import

    options = {name: given[name] for name in _NAMES if given.get(name) is not None}
    ends, faults = given.get("until_stdin_closes", False), tuple(given.get("fault", ()))
    past = given.get("past")
    if past is not None:
        options["on_start"] = partial(remember_past, Path(past))
    try:
        return server.serve(until_stdin_closes=ends, faults=faults, **options)
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        if past is not None:
            # Whoever started this may have been killed, and can't.
            shutil.rmtree(Path(past).parent, ignore_errors=True)


def run(given: Given, env: Mapping[str, str], dashboard: Callable[[Settings, Path], int]) -> int:
    """Start the platform, run `dashboard` on it with its history, end the platform; returns the
    exit code.
    """
    with tempfile.TemporaryDirectory("-agentco-tui", ignore_cleanup_errors=True) as folder:
        past = Path(folder) / HISTORY_FILE
        with platform({**given, "past": str(past)}) as (address, key):
            settings = load_for_demo(given, env, BaseUrl.parse(address), ApiKey.parse(key))
            return dashboard(settings, past)


def remember_past(path: Path, world: World, address: str) -> None:
    """Write what a world was before its start into the history of the demo at an address. Raises
    HistoryError.
    """
    from agentco_tui.live.history import History  # noqa: PLC0415 - only a platform that serves

    history = History(path, "demo", str(BaseUrl.parse(address)))
    try:
        for observed in past_of(world):
            history.write([observed])
    finally:
        history.close()


def past_of(world: World) -> Iterator[Observed]:
    """The past of a world as a dashboard would have observed it, some thousand rows at a time."""
    from agentco_tui.demo.past import budgets_before, queues_before  # noqa: PLC0415
    from agentco_tui.demo.world_state import DOLLAR  # noqa: PLC0415
    from agentco_tui.live.history import BudgetSample, QueueSample, TaskLife  # noqa: PLC0415
    from agentco_tui.live.history_records import Observed  # noqa: PLC0415

    with world.living() as state:
        tasks = [task for task in state.tasks.values() if task.decided is not None]
        queues, budgets = list(queues_before(state)), budgets_before(state)
        begun, now = state.period_start, state.start
    feeds = {"all": FeedName.BUDGET, "company": FeedName.COMPANY_BUDGETS}
    lives = [
        TaskLife(
            id=task.id,
            title=safe(task.title),
            agent=task.agent.id,
            company=task.agent.company.id,
            first_seen=task.created,
            waiting_since=task.created,
            decided=task.decided,
            decided_by=safe(task.decided_by or ""),
            ended=task.finished,
            state=_ENDED.get(task.status),
            estimate=Decimal(task.estimate) / DOLLAR,
            cost=Decimal(task.cost) / DOLLAR if task.finished else None,
            currency=safe("USD"),
        )
        for task in tasks
    ]
    queued = [(FeedName.PENDING, q.of, "", QueueSample(q.at, q.waiting, q.oldest)) for q in queues]
    first = min((queue.at for queue in queues), default=now)
    yield Observed(lives=lives, samples=[*queued], seen=[(FeedName.PENDING, "", (first, now))])
    samples: list[tuple[FeedName, str, str, BudgetSample]] = []
    first = begun
    for was in budgets:
        first = min(first, was.at)
        limit = None if was.limit is None else Decimal(was.limit) / DOLLAR
        sample = BudgetSample(was.at, Decimal(was.spent) / DOLLAR, limit)
        samples.append((feeds.get(was.scope, FeedName.AGENT_BUDGETS), was.of, UNIT, sample))
        if len(samples) >= _AT_ONCE:
            yield Observed(samples=[*samples])
            samples.clear()
    asked = (*feeds.values(), FeedName.AGENT_BUDGETS)
    yield Observed(samples=[*samples], seen=[(feed, "", (first, now)) for feed in asked])


@contextmanager
def platform(given: Given) -> Iterator[tuple[str, str]]:
    """A child process that serves the platform: (its address, the key that may do everything).

    The child ends when its stdin does, so it ends with this process, however that ends. Raises
    UsageError if it does not start.
    """
    command = [sys.executable, "-m", "agentco_tui", "demo", "--serve", "--until-stdin-closes"]
    pairs = [(name, given.get(name)) for name in _NAMES]
    pairs += [("fault", spec) for spec in given.get("fault", ())]
    if (past := given.get("past")) is not None:
        command.append(f"--past={past}")
    command += [f"--{name}={value}" for name, value in pairs if value is not None]
    # A session of its own: a key such as ctrl-c must not end the platform under the dashboard.
    with subprocess.Popen(  # noqa: S603 - this very program
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    ) as child:
        assert child.stdout is not None
        said = list[str]()
        for line in child.stdout:
            said.append(line.strip())
            if line.startswith("full key "):
                break
        else:
            why = said[-1] if said else "it ended at once"
            raise UsageError(why.removeprefix("agentco-tui: "))
        yield said[-2].split()[-1], said[-1].split()[-1]
