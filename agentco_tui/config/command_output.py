"""What a command prints, with a limit on time and on size, and without a shell."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from signal import SIGKILL

MAX_BYTES = 64 * 1024

TERMINAL_NAMES = ("GPG_TTY", "SSH_TTY")
"""Variables that name the terminal, by which a program that has none finds it all the same."""


class CommandError(Exception):
    """The command brought nothing; `str()` continues a sentence that names it."""

    def __init__(self, words: str, said: str = "") -> None:
        super().__init__(words)
        self.said = said
        """What it wrote to stderr before it failed, at most its last 300 characters."""


@dataclass
class _Output:
    out: bytes = b""
    err: bytes = b""


def run_for_output(
    command: Sequence[str],
    env: Mapping[str, str],
    limit: float,
    *,
    apart: bool = False,
    until: int | None = None,
) -> bytes:
    """What `command` writes to stdout, at most 64 KiB, within `limit` seconds.

    It has no stdin, so that it cannot wait for one. What it writes to stderr is told only if it
    fails. `apart`: it has no terminal either, in a session of its own, which is ended as a whole.
    `until`: a descriptor; the command is ended when that can be read. Raises CommandError, whose
    text holds nothing of stdout.
    """
    if apart:
        env = {name: value for name, value in env.items() if name not in TERMINAL_NAMES}
    try:
        process = subprocess.Popen(  # noqa: S603 - the person's own command, no shell
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=apart,
        )
    except FileNotFoundError:
        raise CommandError("was not found: check its name and PATH") from None
    except OSError as error:
        raise CommandError(f"could not be started: {error.strerror}") from None
    with process.stdout, process.stderr:  # type: ignore[union-attr]
        try:
            output = _read(process, time.monotonic() + limit, until)
            status = process.wait(timeout=0.5)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise CommandError(f"gave no answer within {limit:g} seconds") from None
        finally:
            _end(process, apart=apart)
    if status != 0:
        ending = (
            f"ended with exit code {status}" if status > 0 else f"was ended by signal {-status}"
        )
        said = output.err.decode("utf-8", "replace").strip()[-300:]
        raise CommandError(f"{ending}: {said}" if said else f"{ending}, and gave no reason", said)
    return output.out


def _end(process: subprocess.Popen[bytes], *, apart: bool) -> None:
    """End it if it has not ended well; apart from others, with all that it started."""
    if apart and process.returncode is None:
        # It has not been waited for, so the number of its session is nobody else's yet.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, SIGKILL)
    if process.poll() is None:
        process.kill()
        process.wait()


def _read(process: subprocess.Popen[bytes], deadline: float, until: int | None) -> _Output:
    """Read both pipes to their ends. Raises TimeoutError at the deadline."""
    output = _Output()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, "out")  # type: ignore[arg-type]
        selector.register(process.stderr, selectors.EVENT_READ, "err")  # type: ignore[arg-type]
        if until is not None:
            selector.register(until, selectors.EVENT_READ, "until")
        while any(entry.data != "until" for entry in selector.get_map().values()):
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for entry, _events in ready:
                if entry.data == "until":
                    raise CommandError("was ended before it answered")
                piece = os.read(entry.fd, 8192)
                if not piece:
                    selector.unregister(entry.fileobj)
                elif entry.data == "err":
                    output.err = (output.err + piece)[-MAX_BYTES:]
                elif len(output.out) + len(piece) > MAX_BYTES:
                    raise CommandError("printed more than a key")
                else:
                    output.out += piece
    return output
