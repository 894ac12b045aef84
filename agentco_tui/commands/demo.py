"""`agentco-tui demo`: a platform of its own in a child process, and the dashboard on it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.arguments import UsageError
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load_for_demo

START_SECONDS = 30.0
END_SECONDS = 3.0
_NAMES = ("port", "seed", "companies", "agents", "tasks", "speed", "shape")


def serve(given: Given) -> int:
    """Serve until a signal or the end of stdin; what is None of the arguments is the platform's."""
    from agentco_tui.demo import server  # noqa: PLC0415 - slow to import

    return server.serve(
        **{name: given[name] for name in _NAMES if given.get(name) is not None},
        faults=tuple(given.get("fault", ())),
        until_stdin_closes=given.get("until_stdin_closes", False),
    )


def run(given: Given, env: Mapping[str, str], dashboard: Callable[[Settings], int]) -> int:
    """Start the platform, run `dashboard` on it, end the platform; returns the exit code."""
    with platform(given) as (address, key):
        return dashboard(load_for_demo(given, env, BaseUrl.parse(address), ApiKey.parse(key)))


@contextmanager
def platform(given: Given) -> Iterator[tuple[str, str]]:
    """A child process that serves the platform: (its address, the key that may do everything).

    The child ends when its stdin does, so it ends with this process, however that ends. Raises
    UsageError if it does not start.
    """
    command = [sys.executable, "-m", "agentco_tui", "demo", "--serve", "--until-stdin-closes"]
    pairs = [(name, given.get(name)) for name in _NAMES]
    pairs += [("fault", spec) for spec in given.get("fault", ())]
    command += [f"--{name}={value}" for name, value in pairs if value is not None]
    with tempfile.TemporaryFile() as errors:
        # A session of its own: a key such as ctrl-c must not end the platform under the dashboard.
        child = subprocess.Popen(  # noqa: S603 - this very program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            yield _announced(child, errors)
        finally:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
            for ask in (child.terminate, child.kill):
                try:
                    child.wait(END_SECONDS)
                except subprocess.TimeoutExpired:
                    ask()
            child.wait()


def _announced(child: subprocess.Popen[bytes], errors: IO[bytes]) -> tuple[str, str]:
    """What the child says of itself once it serves: all at once, a line each."""
    assert child.stdout is not None
    if not select.select([child.stdout], [], [], START_SECONDS)[0]:
        raise UsageError(f"the platform did not start within {START_SECONDS:g} seconds")
    said = os.read(child.stdout.fileno(), 4096).decode()
    if not said:
        child.wait(END_SECONDS)
        errors.seek(0)
        lines = errors.read(4096).decode("utf-8", "replace").strip().splitlines()
        why = lines[0] if lines else "it ended at once"
        raise UsageError(why.removeprefix("agentco-tui demo: "))
    address, key, *_ = (line.split()[-1] for line in said.splitlines() if line)
    return address, key
