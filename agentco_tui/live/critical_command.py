"""A person's own command, run for each need that becomes critical (`on_critical`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final

from agentco_tui.child_process import CommandError, run_for_output
from agentco_tui.format import stamp
from agentco_tui.live.notifier import Cause
from agentco_tui.live.period import HOUR
from agentco_tui.state_folder import FILE_MODE, made_state_folder
from agentco_tui.text import SafeText, plain, safe

SECONDS: Final = 30.0  # that it may take
AN_HOUR: Final = 10  # so often it runs at most
LOG_FILE: Final = "on_critical.log"
LOG_BYTES: Final = 200_000  # from which on the log is begun anew; the one before is kept


class CriticalCommand:
    """One at a time, each with a line in the log of the state folder."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], redact: Callable[[str], str]
    ) -> None:
        """`redact` takes the key out of a text; what holds it in `env` is left out."""
        self._command, self._redact, self._one_at_a_time = command, redact, Lock()
        self._env = {name: text for name, text in env.items() if redact(text) == text}
        self._begun = list[float]()  # the runs of the last hour

    def run(self, causes: Iterable[Cause]) -> SafeText:
        """In a thread: run it for those that are critical, each as AGENTCO_NEED_TEXT and the like;
        what went wrong, or "".
        """
        critical = [each for each in causes if self._command and each.level == "critical"]
        with self._one_at_a_time:
            self._begun = [at for at in self._begun if time.monotonic() - at < HOUR]
            now = critical[: AN_HOUR - len(self._begun)]
            self._begun += [time.monotonic()] * len(now)
            troubles = [*filter(None, map(self._run, now))]
        if left := len(critical) - len(now):
            troubles.append(f"was not run for {left} more: {AN_HOUR} an hour at most")
        return plain(f"on_critical {safe(troubles[-1])}" if troubles else "")

    def _run(self, cause: Cause) -> str:
        need = {f"AGENTCO_NEED_{name.upper()}": text for name, text in cause._asdict().items()}
        trouble = ""
        try:
            run_for_output(self._command, {**self._env, **need}, SECONDS, apart=True)
        except CommandError as error:
            trouble = self._redact(str(error))
        try:
            path = made_state_folder() / LOG_FILE
            if path.exists() and path.stat().st_size > LOG_BYTES:
                path.replace(path.with_suffix(".log.1"))
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            with os.fdopen(handle, "a", encoding="utf-8") as log:
                ended = safe(trouble or "ended with exit code 0")
                log.write(f"{stamp(time.time())} {ended}: {cause.text}\n")
        except OSError as error:
            trouble = trouble or f"can't be logged: {error.strerror}"
        return trouble
