"""A real platform on loopback, and the command with all that a process of its own would have."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.cli import main as cli
from tests.platform import EmbeddedPlatform


class Child(subprocess.Popen[str]):
    """A process that a failing test doesn't wait for."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(None, None, None)


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Command:
    """Runs `agentco-tui` with an environment that holds nothing of this machine's."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONWARNINGS": "error",
        }

    def on(self, platform: EmbeddedPlatform, key: str | None = None) -> Command:
        self.env["AGENTCO_BASE_URL"] = platform.base_url
        self.env["AGENTCO_API_KEY"] = key or platform.full_key
        return self

    def arguments(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "agentco_tui", *words]

    def __call__(self, *words: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run it to its end in this process, which is quicker; its streams are files."""
        with (
            pytest.MonkeyPatch.context() as patch,
            tempfile.TemporaryFile("w+", encoding="utf-8") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        ):
            patch.setattr(os, "environ", {**self.env, **(env or {})})
            patch.chdir(self.home)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = cli.main(words)
            out.seek(0)
            err.seek(0)
            ran = Ran(code, out.read(), err.read())
        assert "Traceback" not in ran.err, ran.err
        return ran

    def process(self, *words: str, **streams: Any) -> Ran:
        """Run it to its end in a process of its own, with pipes or these for streams."""
        done = subprocess.run(
            self.arguments(*words),
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=60,
            check=False,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> Child:
        return Child(
            self.arguments(*words),
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """The command, without any setting."""
    return Command(tmp_path)


@pytest.fixture
def still() -> Iterator[EmbeddedPlatform]:
    """A platform in which nothing happens by itself."""
    with EmbeddedPlatform(speed=0) as platform:
        yield platform
