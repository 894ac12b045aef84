"""`agentco-tui demo`: a platform of its own in a child process, and the dashboard on it."""

from __future__ import annotations

import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.commands.output import Exit, complain
from agentco_tui.config import Flags, Settings, load_for_demo

START_SECONDS = 30.0
END_SECONDS = 3.0
_EXTRA = "uvicorn"
_ADDRESS = "address"
_KEY = "full key"


class DemoError(Exception):
    """The embedded platform did not start; `str()` says why."""


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What the world is to be like; None is the platform's own default."""

    port: int | None = None
    seed: int | None = None
    companies: int | None = None
    agents: int | None = None
    tasks: int | None = None
    speed: float | None = None
    shape: str | None = None
    fault: tuple[str, ...] = ()
    until_stdin_closes: bool = False

    def arguments(self) -> list[str]:
        """The same as arguments of `demo --serve`."""
        words: list[str] = []
        for name in ("port", "seed", "companies", "agents", "tasks", "speed", "shape"):
            value = getattr(self, name)
            if value is not None:
                words += [f"--{name}", str(value)]
        for spec in self.fault:
            words += ["--fault", spec]
        return words


def options_of(found: Mapping[str, Any]) -> DemoOptions:
    """The options among parsed arguments."""
    names = DemoOptions.__dataclass_fields__
    given = {name: value for name, value in found.items() if name in names}
    given["fault"] = tuple(given.get("fault", ()))
    return DemoOptions(**given)


def serve(options: DemoOptions) -> int:
    """Serve in this process until a signal, or the end of stdin; returns the exit code."""
    try:
        from agentco_tui.demo import server  # noqa: PLC0415 - an extra, and slow to import
    except ModuleNotFoundError as error:
        if error.name != _EXTRA:
            raise
        complain("the demo needs one extra: pip install 'agentco-tui[demo]'")
        return Exit.USAGE
    names = ("port", "seed", "companies", "agents", "tasks", "speed", "shape")
    given = {name: getattr(options, name) for name in names}
    return server.serve(
        **{name: value for name, value in given.items() if value is not None},
        faults=options.fault,
        until_stdin_closes=options.until_stdin_closes,
    )


def run(
    options: DemoOptions,
    flags: Flags,
    env: Mapping[str, str],
    dashboard: Callable[[Settings], int],
) -> int:
    """Start the platform, run `dashboard` on it, end the platform; returns the exit code."""
    try:
        with platform(options) as (address, key):
            settings = load_for_demo(flags, env, BaseUrl.parse(address), ApiKey.parse(key))
            return dashboard(settings)
    except DemoError as error:
        complain(str(error))
        return Exit.USAGE


@contextmanager
def platform(options: DemoOptions) -> Iterator[tuple[str, str]]:
    """A child process that serves the platform: (its address, the key that may do everything).

    The child ends when its stdin does, so it ends with this process, however that ends. Raises
    DemoError if it does not start.
    """
    command = (sys.executable, "-m", "agentco_tui", "demo", "--serve", "--until-stdin-closes")
    with tempfile.TemporaryFile() as errors:
        # A session of its own: a key such as ctrl-c must not end the platform under the dashboard.
        child = subprocess.Popen(  # noqa: S603 - this very program
            (*command, *options.arguments()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            yield _announced(child, errors)
        finally:
            _end(child)


def _announced(child: subprocess.Popen[bytes], errors: IO[bytes]) -> tuple[str, str]:
    """What the child says of itself once it serves."""
    assert child.stdout is not None
    said = b""
    deadline = time.monotonic() + START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise DemoError(f"the platform did not start within {START_SECONDS:g} seconds")
            piece = child.stdout.read1(4096)  # type: ignore[attr-defined]
            if not piece:
                child.wait(END_SECONDS)
                errors.seek(0)
                lines = errors.read(4096).decode("utf-8", "replace").strip().splitlines()
                raise DemoError(
                    lines[0].removeprefix("agentco-tui demo: ") if lines else "it ended at once"
                )
            said += piece
            found = _words(said)
            if _ADDRESS in found and _KEY in found:
                return found[_ADDRESS], found[_KEY]


def _words(said: bytes) -> dict[str, str]:
    """The whole lines so far, "name   value"."""
    lines = said.decode("utf-8", "replace").split("\n")[:-1]
    pairs = (line.rsplit(None, 1) for line in lines)
    return {pair[0].strip(): pair[1] for pair in pairs if len(pair) == 2}


def _end(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    for ask in (child.terminate, child.kill):
        try:
            child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            ask()
    child.wait()
