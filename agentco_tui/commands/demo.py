"""`agentco-tui demo`: a simulated platform in a child process, and the dashboard on it.

The platform writes a history of its past, to a file that is deleted when it ends.
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
from typing import TYPE_CHECKING, Any

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load_for_demo
from agentco_tui.system.state_folder import HISTORY_FILE

if TYPE_CHECKING:
    from agentco_tui.demo.server import EmbeddedPlatform

_WORLD_OPTIONS = ("companies", "agents", "tasks", "speed")
_OPTIONS = ("port", "seed", *_WORLD_OPTIONS)
_DEFAULT_SEED = 7


def serve(given: Given) -> int:
    """Serve the platform until a signal or the end of stdin; the exit code.

    The platform has its own defaults for arguments that are None. Raises UsageError for values that
    it refuses.
    """
    from agentco_tui.demo import server  # noqa: PLC0415 - slow to import

    past = given.get("past")
    on_start = None if past is None else partial(_remember_past, Path(past))
    try:
        return server.serve(
            _build_platform(given),
            until_stdin_closes=given.get("until_stdin_closes", False),
            on_start=on_start,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        if past is not None:
            # The process that started this one deletes the folder, unless it was killed.
            shutil.rmtree(Path(past).parent, ignore_errors=True)


def _build_platform(given: Given) -> EmbeddedPlatform:
    """A platform that is not started yet. Raises ValueError for options that cannot be used."""
    from agentco_tui.demo.faults import Faults  # noqa: PLC0415
    from agentco_tui.demo.rest_api import Keys  # noqa: PLC0415
    from agentco_tui.demo.server import EmbeddedPlatform  # noqa: PLC0415
    from agentco_tui.demo.world import World  # noqa: PLC0415

    seed = _DEFAULT_SEED if given.get("seed") is None else given["seed"]
    options = {name: given[name] for name in _WORLD_OPTIONS if given.get(name) is not None}
    return EmbeddedPlatform(
        World(seed, **options),
        Keys(seed),
        Faults(given.get("fault", ())),
        port=given.get("port") or 0,
    )


def _remember_past(path: Path, world: Any, address: str) -> None:
    """Write the world's past, once the platform has an address."""
    # Imported only here, so that the platform starts sooner.
    from agentco_tui.commands.demo_past import remember_past  # noqa: PLC0415

    remember_past(path, world, address)


def run(given: Given, env: Mapping[str, str], dashboard: Callable[[Settings, Path], int]) -> int:
    """Start the platform, run `dashboard` on it with its history, and end it; the exit code."""
    with tempfile.TemporaryDirectory("-agentco-tui", ignore_cleanup_errors=True) as folder:
        past = Path(folder) / HISTORY_FILE
        with platform({**given, "past": str(past)}) as (address, key):
            settings = load_for_demo(given, env, BaseUrl.parse(address), ApiKey.parse(key))
            return dashboard(settings, past)


@contextmanager
def platform(given: Given) -> Iterator[tuple[str, str]]:
    """The address of a platform in a child process, and the API key that may do everything.

    The child ends when its stdin closes, so it never outlives this process. Raises UsageError if it
    does not start.
    """
    # A session of its own, so that ctrl-c does not end the platform under the dashboard.
    with subprocess.Popen(  # noqa: S603 - this very program
        _serve_command(given),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    ) as child:
        assert child.stdout is not None
        lines: list[str] = []
        for line in child.stdout:
            lines.append(line.strip())
            if line.startswith("full key "):
                break
        else:
            reason = lines[-1] if lines else "it ended at once"
            raise UsageError(reason.removeprefix("agentco-tui: "))
        # The address is on the line before the key, each behind its name.
        address = lines[-2].split()[-1]
        key = lines[-1].split()[-1]
        yield address, key


def _serve_command(given: Given) -> list[str]:
    """The command that serves the platform, with the options that were given."""
    command = [sys.executable, "-m", "agentco_tui", "demo", "--serve", "--until-stdin-closes"]
    options = [(name, given.get(name)) for name in _OPTIONS]
    options += [("fault", fault) for fault in given.get("fault", ())]
    options.append(("past", given.get("past")))
    command += [f"--{name}={value}" for name, value in options if value is not None]
    return command
