"""Where the key comes from."""

from __future__ import annotations

import os
import shlex
import sys
import time
import types
from pathlib import Path

import pytest

from agentco_tui.config import api_key
from agentco_tui.config.command_output import CommandError, run_for_output
from agentco_tui.config.problems import WrongError

KEY = "ag_0123456789abcdef"


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_a_command_prints_the_key() -> None:
    key = api_key.from_command(("printf", "%s\\n", KEY), os.environ)
    assert key.reveal() == KEY


def test_a_command_runs_without_a_shell() -> None:
    key = api_key.from_command(("echo", "$HOME;x"), os.environ)
    assert key.reveal() == "$HOME;x"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("no-such-command-here",), "not found"),
        (_python("import sys; sys.exit('vault is sealed')"), "exit code 1: vault is sealed"),
        (_python("import sys; sys.exit(3)"), "exit code 3"),
        (_python(f"print('{KEY}'); print('{KEY}2')"), "cannot be used"),
        (_python("pass"), "empty"),
        (_python("print('\\u00e9')"), "is no key"),
        (_python("print('x' * 100_000)"), "more than a key"),
        (("/",), "could not be started"),
    ],
)
def test_a_command_that_brings_no_key(command: tuple[str, ...], words: str) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    with pytest.raises(WrongError) as refused:
        api_key.from_command(command, env)
    assert words in str(refused.value)
    assert KEY not in str(refused.value)


def test_what_a_successful_command_says_beside_the_key_is_not_an_error() -> None:
    code = f"import sys; print('unlocked', file=sys.stderr); print('{KEY}')"
    assert api_key.from_command(_python(code), os.environ).reveal() == KEY


@pytest.mark.parametrize(
    "script",
    ["sleep 60", "sleep 60 & wait", "exec 1>&-; exec 2>&-; sleep 60"],
    ids=["hangs", "leaves a child with the pipe", "closes its pipes and stays"],
)
def test_a_command_that_hangs_is_ended(script: str) -> None:
    began = time.monotonic()
    with pytest.raises(CommandError, match=r"no answer within 0\.2 seconds"):
        run_for_output(("sh", "-c", script), os.environ, 0.2)
    assert time.monotonic() - began < 30


def test_a_command_has_no_stdin_to_wait_for() -> None:
    with pytest.raises(WrongError, match="empty"):
        api_key.from_command(("cat",), os.environ)


def test_an_environment_variable() -> None:
    assert api_key.from_variable("K", {"K": f"{KEY}\n"}).reveal() == KEY
    for env in ({}, {"K": " "}):
        with pytest.raises(WrongError, match="is not set"):
            api_key.from_variable("K", env)
    with pytest.raises(WrongError) as refused:
        api_key.from_variable("K", {"K": f"{KEY} x"})
    assert KEY not in str(refused.value)


def test_a_key_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    path.chmod(0o600)
    assert api_key.from_file(path).reveal() == KEY
    api_key.check_file(path)
    path.chmod(0o400)
    assert api_key.from_file(path).reveal() == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o666])
def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    path.write_text(KEY)
    path.chmod(mode)
    for look in (api_key.from_file, api_key.check_file):
        with pytest.raises(WrongError) as refused:
            look(path)
        assert f"chmod 600 {shlex.quote(str(path))}" in str(refused.value)
        assert KEY not in str(refused.value)


def test_key_files_that_are_none(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    binary.chmod(0o600)
    large = tmp_path / "large"
    large.write_text("a" * 70_000)
    large.chmod(0o600)
    for path, words in (
        (tmp_path / "none", "does not exist"),
        (tmp_path, "no ordinary file"),
        (pipe, "no ordinary file"),
        (binary, "holds no key"),
        (large, "too large"),
    ):
        with pytest.raises(WrongError, match=words):
            api_key.from_file(path)


def test_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    class LockedError(Exception):
        pass

    def get_password(service: str, profile: str) -> str | None:
        if profile == "locked":
            raise LockedError(KEY)
        return {("agentco-tui", "prod"): KEY, ("agentco-tui", "odd"): "a b"}.get((service, profile))

    fake = types.ModuleType("keyring")
    fake.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", fake)
    assert api_key.from_keyring("prod").reveal() == KEY
    for profile, words in (
        ("none", "keyring set agentco-tui none"),
        ("odd", "cannot be used"),
        ("locked", "LockedError"),
    ):
        with pytest.raises(WrongError, match=words) as refused:
            api_key.from_keyring(profile)
        assert KEY not in str(refused.value)


def test_the_keyring_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(WrongError, match=r"pip install 'agentco-tui\[keyring\]'"):
        api_key.from_keyring("prod")
