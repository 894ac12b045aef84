"""`agentco-tui demo`: runs a simulated platform in a child process, and the dashboard on it.

The platform is the service with companies of AI agents that the dashboard watches; the demo has one
of its own, embedded in this program (`EmbeddedPlatform`), whose companies, agents and tasks are a
`World`. The child writes a history file (what a
dashboard would have observed before), so that the dashboard can show trends and forecasts at once.
The file is deleted at the end.

With `--platform NAME` the demo is a recording of a real platform with that name, which is played.
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
from agentco_tui.config import Arguments, Settings
from agentco_tui.config.resolve import load_for_demo
from agentco_tui.config.validators import nearest
from agentco_tui.demo.recordings import recorded_platforms, unpack_recording
from agentco_tui.system.state_folder import HISTORY_FILE
from agentco_tui.text import clean_line

if TYPE_CHECKING:
    from agentco_tui.api.recording import Recording
    from agentco_tui.demo.server import EmbeddedPlatform

_WORLD_OPTIONS = ("companies", "agents", "tasks", "speed")
"""Flags that say what the simulated world is like: how many companies, agents and tasks it has in
all, and how many times faster than real time it runs."""
_OPTIONS = ("port", "seed", *_WORLD_OPTIONS)
"""Flags that are passed on to the child process."""
_NOT_OF_A_RECORDING = ("serve", *_OPTIONS, "fault", "refresh", "record", "company")
"""Flags that mean nothing where a recording is played."""
_DEFAULT_SEED = 7


def serve(arguments: Arguments) -> int:
    """Serve the platform until a signal or the end of stdin; returns the exit code.

    The platform has its own defaults for missing arguments. Raises UsageError if it refuses one.
    """
    from agentco_tui.demo import server  # noqa: PLC0415 - slow to import

    past = arguments.get("past")
    on_start = None if past is None else partial(_write_past, Path(past))
    try:
        return server.serve(
            _build_platform(arguments),
            until_stdin_closes=arguments.get("until_stdin_closes", False),
            on_start=on_start,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        if past is not None:
            # The parent process deletes the folder, unless it was killed.
            shutil.rmtree(Path(past).parent, ignore_errors=True)


def _build_platform(arguments: Arguments) -> EmbeddedPlatform:
    """A platform that is not started yet. Raises ValueError for options that cannot be used."""
    from agentco_tui.demo.faults import Faults  # noqa: PLC0415
    from agentco_tui.demo.rest_api import Keys  # noqa: PLC0415
    from agentco_tui.demo.server import EmbeddedPlatform  # noqa: PLC0415
    from agentco_tui.demo.world import World  # noqa: PLC0415

    seed = _DEFAULT_SEED if arguments.get("seed") is None else arguments["seed"]
    options = {name: arguments[name] for name in _WORLD_OPTIONS if arguments.get(name) is not None}
    return EmbeddedPlatform(
        World(seed, **options),
        Keys(seed),  # the API keys that the platform accepts
        Faults(arguments.get("fault", ())),  # failures to inject, as specified by --fault
        port=arguments.get("port") or 0,
    )


def _write_past(path: Path, world: Any, address: str) -> None:
    """Write the history of the simulated world, which needs the platform's address."""
    # Imported late, so that the platform starts sooner.
    from agentco_tui.commands.demo_past import write_past  # noqa: PLC0415

    write_past(path, world, address)


def run(
    arguments: Arguments, env: Mapping[str, str], dashboard: Callable[[Settings, Path], int]
) -> int:
    """Start the platform, run `dashboard` on it, and end it; returns the dashboard's exit code.

    `dashboard` gets the settings and the path of the history file.
    """
    with tempfile.TemporaryDirectory("-agentco-tui", ignore_cleanup_errors=True) as folder:
        past = Path(folder) / HISTORY_FILE
        with run_platform({**arguments, "past": str(past)}) as (address, key):
            settings = load_for_demo(arguments, env, BaseUrl.parse(address), ApiKey.parse(key))
            return dashboard(settings, past)


def play(
    arguments: Arguments, env: Mapping[str, str], dashboard: Callable[[Settings, Recording], int]
) -> int:
    """Open `dashboard` on the recording of the platform in `arguments`; returns its exit code.

    Raises UsageError if there is none or it can't be unpacked, and for flags that only a simulated
    platform has.
    """
    from agentco_tui.commands import replay_command  # noqa: PLC0415 (not for a simulated platform)

    platform = arguments["platform"]
    for flag in _NOT_OF_A_RECORDING:
        value = arguments.get(flag)
        if value is not None and value is not False and value != []:
            raise UsageError(f"demo --platform plays a recording, so it takes no --{flag}")
    names = recorded_platforms()
    if platform not in names:
        hint = f"nearest valid name: {nearest(platform, names)}; all: {', '.join(names)}"
        raise UsageError(f'there is no demo of a platform "{clean_line(platform, 60)}" ({hint})')
    with tempfile.TemporaryDirectory("-agentco-tui", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "demo.rec"
        try:
            unpack_recording(platform, file)
        except (ImportError, OSError) as error:  # a Python without lzma, or a full disk
            reason = clean_line(str(error), 200)
            raise UsageError(f"the recording can't be unpacked: {reason}") from None
        return replay_command.run({**arguments, "file": str(file)}, env, dashboard)


@contextmanager
def run_platform(arguments: Arguments) -> Iterator[tuple[str, str]]:
    """Run a platform in a child process; yields its address and an API key with all permissions.

    The child ends when its stdin closes, so it never outlives this process. Raises UsageError if it
    does not start.
    """
    # In a new session, so that ctrl+c does not end the platform under the dashboard.
    with subprocess.Popen(  # noqa: S603 - this very program
        _serve_command(arguments),
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
        # What `server.serve` prints: the line before the key has the address; both are the last
        # word of their line.
        address = lines[-2].split()[-1]
        key = lines[-1].split()[-1]
        yield address, key


def _serve_command(arguments: Arguments) -> list[str]:
    """The command line of the child process."""
    command = [sys.executable, "-m", "agentco_tui", "demo", "--serve", "--until-stdin-closes"]
    options = [(name, arguments.get(name)) for name in _OPTIONS]
    options += [("fault", fault) for fault in arguments.get("fault", ())]
    options.append(("past", arguments.get("past")))
    command += [f"--{name}={value}" for name, value in options if value is not None]
    return command
