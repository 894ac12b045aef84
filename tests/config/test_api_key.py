"""Where the key comes from, at the start and again once the terminal is the dashboard's."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import invalidate_caches
from pathlib import Path

import pytest

from agentco_tui.api.credentials import ApiKey
from agentco_tui.config import Settings, api_key
from agentco_tui.config.api_key import KeyLocation
from agentco_tui.config.resolve import load
from agentco_tui.config.validators import WrongError
from tests.config.conftest import Write

OLD, NEW = "ag_canary_before_51d0", "ag_canary_after_98e2"
PROFILE = '[profiles.prod]\nbase_url = "https://prod.example"\n'


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "the-key"
    path.touch(0o600)
    path.write_text(f"{OLD}\n")
    return path


@pytest.fixture
def keyring(tmp_path: Path) -> Iterator[Path]:
    """A program of that name in the search path, which reads a file beside it."""
    folder = tmp_path / "modules"
    folder.mkdir()
    stored = folder / "stored"
    stored.write_text(OLD)
    (folder / "keyring.py").write_text(
        "import os, pathlib, sys\n"
        "assert sys.argv[1:] == ['get', 'agentco-tui', 'prod']\n"
        f"said = pathlib.Path({str(stored)!r}).read_text()\n"
        "if said.startswith('session'): said = f'{os.getsid(0) == os.getpid()}'\n"
        "if said.startswith('locked'): raise RuntimeError('locked, with ag_canary_inside')\n"
        "print(said) if said else sys.exit(1)\n"
    )
    sys.path.insert(0, str(folder))
    invalidate_caches()
    yield stored
    sys.path.remove(str(folder))


def loaded(write: Write, line: str, env: dict[str, str] | None = None) -> Settings:
    return load({"config": str(write(PROFILE + line))}, {"PATH": os.environ["PATH"], **(env or {})})


def location_of(settings: Settings) -> KeyLocation:
    assert settings.key_location is not None
    return settings.key_location


def command_location(*command: str) -> KeyLocation:
    return KeyLocation("api_key_command", "prod", command, os.environ)


def again(location: KeyLocation) -> ApiKey:
    """As the dashboard reads it while it runs."""
    return location.read(apart=True)


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def sentence(location: KeyLocation, until: int | None = None) -> str:
    """Why it could not be read; no key is in it."""
    with pytest.raises(WrongError) as refused:
        location.read(apart=True, until=until)
    assert "canary" not in repr(refused.value)
    return str(refused.value)


def test_a_file(write: Write, key_file: Path) -> None:
    settings = loaded(write, 'api_key_file = "the-key"')
    location = location_of(settings)
    assert settings.key == again(location) == ApiKey(OLD)
    assert (location.description, location.is_file, location.can_change) == (
        settings.key_source,
        True,
        True,
    )
    key_file.write_text(f"{NEW}\n")
    assert again(location) == ApiKey(NEW)
    key_file.write_text("")
    assert "empty" in sentence(location)
    key_file.write_text(f"{NEW} {OLD}")
    assert "cannot be used" in sentence(location)
    key_file.chmod(0o644)
    assert "chmod 600" in sentence(location)
    key_file.unlink()
    assert "does not exist: agentco-tui login --profile prod" in sentence(location)


def test_a_command(write: Write, key_file: Path) -> None:
    settings = loaded(write, 'api_key_command = ["cat", "' + str(key_file) + '"]')
    location = location_of(settings)
    assert settings.key == again(location) == ApiKey(OLD)
    assert (location.description, location.is_file, location.can_change) == (
        settings.key_source,
        False,
        True,
    )
    key_file.write_text(f"{NEW}\n")
    assert again(location) == ApiKey(NEW)
    key_file.unlink()
    assert "exit code 1" in sentence(location)


@pytest.mark.usefixtures("keyring")
def test_a_keyring(write: Write, keyring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = loaded(write, "keyring = true")
    location = location_of(settings)
    assert settings.key == again(location) == ApiKey(OLD)
    assert (location.is_file, location.can_change) == (False, True)
    keyring.write_text(NEW)
    assert again(location) == ApiKey(NEW)
    keyring.write_text("session")
    assert again(location) == ApiKey("True"), "without a terminal to ask at"
    for said, words in (
        ("locked", "is it unlocked?"),
        ("two words", "cannot be used"),
        ("", "holds no key for it: agentco-tui login --profile prod"),
    ):
        keyring.write_text(said)
        assert words in sentence(location)
    monkeypatch.setattr(api_key, "find_spec", lambda _: None)
    assert "pip install 'agentco-tui[keyring]'" in sentence(location)


def test_the_environment_stays_as_it_is(write: Write) -> None:
    env = {"AGENTCO_API_KEY": OLD}
    location = location_of(loaded(write, "keyring = true", env))
    assert again(location) == ApiKey(OLD)
    assert (location.description, location.can_change) == ("AGENTCO_API_KEY", False)
    location = location_of(loaded(write, 'api_key_env = "PROD_KEY"', {"PROD_KEY": OLD}))
    assert again(location) == ApiKey(OLD)
    assert (location.description, location.can_change) == ("api_key_env of profile prod", False)
    for env in ({}, {"PROD_KEY": " "}):
        assert "is not set" in sentence(replace(location, env=env))
    assert "cannot be used" in sentence(replace(location, env={"PROD_KEY": f"{OLD} x"}))


def test_a_command_has_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPG_TTY", "/dev/pts/7")
    monkeypatch.setenv("SSH_TTY", "/dev/pts/7")
    code = (
        "import os, sys\n"
        "held = [name for name in os.environ if name.endswith('_TTY')]\n"
        "seen = [n for n in range(3) if os.isatty(n)]\n"
        "leads = os.getsid(0) == os.getpid()\n"
        "try: os.open('/dev/tty', os.O_RDWR)\n"
        "except OSError: seen += []\n"
        "else: seen += ['/dev/tty']\n"
        "print(f'{held}{seen}{leads}{sys.stdin.read()!r}'.replace(' ', ''))"
    )
    assert command_location(sys.executable, "-c", code).read(apart=True) == ApiKey("[][]True''")


@pytest.mark.parametrize(
    "script",
    ["sleep 60", "sleep 60 & wait", "sleep 60 &", "exec 1>&-; exec 2>&-; sleep 60"],
    ids=["hangs", "waits", "leaves one", "closes its pipes"],
)
def test_a_command_that_hangs_is_given_up(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_key, "COMMAND_SECONDS", 0.2)
    assert "no answer within 0.2 seconds" in sentence(command_location("sh", "-c", script))


@pytest.mark.parametrize("script", ["sleep 60", "sleep 60 & wait", "sleep 60 &"])
def test_a_command_that_is_not_wanted_any_more_is_ended_with_all_it_started(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_key, "COMMAND_SECONDS", 60.0)
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    # Whatever it starts holds it open, so its end is the end of them all.
    location = command_location("sh", "-c", f"exec 3>'{fifo}'; echo here >&3; {script}")
    hear, tell = os.pipe()
    with ThreadPoolExecutor(max_workers=1) as threads:
        reading = threads.submit(sentence, location, hear)
        with fifo.open("rb") as alive:
            assert alive.readline() == b"here\n"
            os.close(tell)
            assert "was ended before it answered" in reading.result(30)
            assert alive.read() == b""
    os.close(hear)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("no-such-command-here",), "not found"),
        (python("import sys; sys.exit('vault is sealed')"), "exit code 1: vault is sealed"),
        (python("import sys; sys.exit(3)"), "exit code 3"),
        (python("pass"), "empty"),
        (("cat",), "empty"),
        (python("import sys; sys.stdout.buffer.write(b'\\xc3\\xa9')"), "is not a key"),
        (("/",), "could not be started"),
        (python("print('x' * 100_000)"), "more than 64 KiB"),
        (python("print('x' * 5_000)"), "longer than 4,096"),
        (("echo", f"{OLD} {NEW}"), "cannot be used"),
    ],
)
def test_a_command_that_brings_no_key(command: tuple[str, ...], words: str) -> None:
    assert words in sentence(command_location(*command))


def test_a_location_shows_neither_its_setting_nor_the_environment(write: Write) -> None:
    line = f'api_key_command = ["echo", "{OLD}"]'
    settings = loaded(write, line, {"OTHER": NEW})
    for shown in (repr(settings), repr(settings.key_location), str(settings.key_location)):
        assert "canary" not in shown


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_file_that_others_can_read_is_refused(key_file: Path, mode: int) -> None:
    key_file.chmod(0o400)
    assert api_key.from_file(key_file) == ApiKey(OLD)
    key_file.chmod(mode)
    with pytest.raises(WrongError) as refused:
        api_key.from_file(key_file)
    assert f"chmod 600 {shlex.quote(str(key_file))}" in str(refused.value)


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
        (tmp_path, "not a regular file"),
        (pipe, "not a regular file"),
        (binary, "holds no key"),
        (large, "too large"),
    ):
        with pytest.raises(WrongError, match=words):
            api_key.from_file(path)
