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
from functools import partial
from pathlib import Path
from typing import Any

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load_for_demo
from agentco_tui.system.state_folder import HISTORY_FILE

_NAMES = ("port", "seed", "companies", "agents", "tasks", "speed", "shape")


def serve(given: Given) -> int:
    """Serve until a signal or the end of stdin; what is None of the arguments is the platform's."""
    from agentco_tui.demo import server  # noqa: PLC0415 - slow to import

    options = {name: given[name] for name in _NAMES if given.get(name) is not None}
    ends, faults = given.get("until_stdin_closes", False), tuple(given.get("fault", ()))
    past = given.get("past")
    if past is not None:
        options["on_start"] = partial(_remember_past, Path(past))
    try:
        return server.serve(until_stdin_closes=ends, faults=faults, **options)
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        if past is not None:
            # Whoever started this may have been killed, and can't.
            shutil.rmtree(Path(past).parent, ignore_errors=True)


def _remember_past(*about: Any) -> None:
    from agentco_tui.commands.demo_past import remember_past  # noqa: PLC0415 - off the start

    remember_past(*about)


def run(given: Given, env: Mapping[str, str], dashboard: Callable[[Settings, Path], int]) -> int:
    """Start the platform, run `dashboard` on it with its history, end the platform; returns the
    exit code.
    """
    with tempfile.TemporaryDirectory("-agentco-tui", ignore_cleanup_errors=True) as folder:
        past = Path(folder) / HISTORY_FILE
        with platform({**given, "past": str(past)}) as (address, key):
            settings = load_for_demo(given, env, BaseUrl.parse(address), ApiKey.parse(key))
            return dashboard(settings, past)


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
