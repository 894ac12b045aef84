"""Runs commands that the user configured, such as `api_key_command` or a pager.

There is no shell, the time is limited, the output is bounded, and a command that is given up is
killed with all the processes that it has started.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from signal import SIGKILL
from typing import Any

MAX_BYTES = 64 * 1024
TERMINAL_NAMES = ("GPG_TTY", "SSH_TTY")
"""Variables that name the terminal; a program without a terminal could find it by them."""


class CommandError(Exception):
    """The command failed; `str()` continues a sentence that begins with its name."""

    def __init__(self, words: str, said: str | None = None) -> None:
        super().__init__(words)
        self.said = said
        """What it wrote to stderr, at most the last 300 characters; None if it had to be killed."""


def without_key(env: Mapping[str, str], redact: Callable[[str], str]) -> dict[str, str]:
    """The environment for a command of the user's, without API keys.

    `redact` replaces the key in a text; a variable whose text it changes is left out, because the
    setting `api_key_env` may name any variable. AGENTCO_API_KEY is always left out: it may hold the
    key of another profile (the configuration of another remote service).
    """
    kept = {name: text for name, text in env.items() if redact(text) == text}
    kept.pop("AGENTCO_API_KEY", None)
    return kept


def run_for_output(
    command: Sequence[str],
    env: Mapping[str, str],
    limit: float,
    *,
    apart: bool = False,
    until: int | None = None,
    typed: bytes = b"",
) -> bytes:
    """Run a command for at most `limit` seconds, and return what it writes to stdout (64 KiB).

    `typed` is its standard input. With `apart` it runs without a terminal, in its own session, all
    processes of which are killed at the end. It is also ended when the file descriptor `until`
    becomes readable. Raises CommandError, whose text contains nothing of stdout.
    """
    if apart:
        env = {name: value for name, value in env.items() if name not in TERMINAL_NAMES}
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    stdin = subprocess.PIPE if typed else subprocess.DEVNULL
    process = started(command, env, stdin=stdin, start_new_session=apart, **pipes)
    with process.stdout, process.stderr:  # type: ignore[union-attr]
        if process.stdin is not None:
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(typed)
        try:
            out, err = _read(process, time.monotonic() + limit, until)
            status = process.wait(timeout=0.5)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise CommandError(f"gave no answer within {limit:g} seconds") from None
        finally:
            if apart and process.returncode is None:
                # It has not been waited for, so no other process has its id yet: this ends it
                # and all that it has started.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, SIGKILL)
            if process.poll() is None:
                process.kill()
                process.wait()
    if status == 0:
        return out
    said = err.decode("utf-8", "replace").strip()[-300:]
    raise CommandError(f"{how_it_ended(status)}: {said or 'it gave no reason'}", said)


def started(
    command: Sequence[str], env: Mapping[str, str], **options: Any
) -> subprocess.Popen[bytes]:
    """Start the user's command without a shell; `options` are Popen's. Raises CommandError."""
    try:
        return subprocess.Popen(command, env=dict(env), **options)  # noqa: S603 - what they wrote
    except FileNotFoundError:
        raise CommandError("was not found: check its name and PATH") from None
    except OSError as error:
        raise CommandError(f"could not be started: {error.strerror}") from None


def how_it_ended(status: int) -> str:
    """How a process ended, in words; `status` is Popen's, below zero for a signal."""
    if status < 0:
        return f"was ended by signal {-status}"
    return f"ended with exit code {status}"


def _read(
    process: subprocess.Popen[bytes], deadline: float, until: int | None
) -> tuple[bytes, bytes]:
    said = {"out": b"", "err": b""}
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
                said[entry.data] += piece
            if len(said["out"]) > MAX_BYTES:
                raise CommandError(f"printed more than {MAX_BYTES // 1024} KiB")
            said["err"] = said["err"][-MAX_BYTES:]
    return said["out"], said["err"]
