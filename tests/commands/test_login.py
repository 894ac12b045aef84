"""`agentco-tui login` and `logout` without a terminal, and the config that they begin."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.commands import config, login
from agentco_tui.config.file import ConfigFile
from agentco_tui.config.resolve import Resolver
from agentco_tui.config.settings import DECLARED
from tests.commands.conftest import Command, Ran
from tests.commands.keyring_program import put_backend, put_program
from tests.platform import EmbeddedPlatform

PROFILE = '[profiles.prod]\nbase_url = "{}"\n'


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """The command runs in this process here, and what it does to a signal lasts."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(params=[put_program, put_backend], ids=["program", "package"])
def kept(request: pytest.FixtureRequest, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a keyring that the command finds, of our own or the real package's."""
    put: Callable[[Path], dict[str, str]] = request.param
    if put is put_backend:
        pytest.importorskip("keyring")
    folder = command.home / "modules"
    command.env |= put(folder)
    monkeypatch.syspath_prepend(str(folder))
    return Path(command.env["KEPT"])


@pytest.fixture
def no_keyring(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    command.env |= put_program(command.home / "modules")
    command.env["KEPT"] = "/nowhere/kept"
    monkeypatch.syspath_prepend(str(command.home / "modules"))


def _login(command: Command, platform: EmbeddedPlatform, *words: str, key: str = "") -> Ran:
    env = {"AGENTCO_API_KEY": key or platform.full_key}
    ran = command("login", "--base-url", platform.base_url, *words, env=env)
    assert env["AGENTCO_API_KEY"] not in ran.out + ran.err
    return ran


def _files(folder: Path) -> set[str]:
    """Those that the command has written; not of the modules that it found."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.name for path in found if "modules" not in path.parts}


def test_the_keyring_keeps_the_key_until_logout(
    command: Command, still: EmbeddedPlatform, kept: Path
) -> None:
    ran = _login(command, still, "--profile", "prod")
    assert (ran.code, ran.err) == (0, "")
    assert "there is no terminal to ask at" in ran.out
    assert "the key may read everything that was requested" in ran.out
    assert "writes were not tried" in ran.out
    assert json.loads(kept.read_text()) == {"prod": still.full_key}
    profile = f"{PROFILE.format(still.base_url)}keyring = true\n"
    assert profile in ran.out, "what is to be written, as nobody was asked whether to"
    path = command.home / "config.toml"
    assert _files(command.home) == set()
    path.write_text(profile)
    command.env["AGENTCO_CONFIG"] = str(path)
    assert command("status", "--profile", "prod").code == 2
    ran = _login(command, still, "--profile", "prod")
    assert ran.code == 0
    assert "[profiles." not in ran.out, "the config says so already"
    ran = command("logout", env={"AGENTCO_API_KEY": "x"})
    assert ran.lines == [
        "The key is removed from the system's keyring.",
        "AGENTCO_API_KEY in the environment can't be removed from here.",
    ]
    ran = command("status")
    assert "holds no key for it: agentco-tui login --profile prod" in ran.out + ran.err
    assert "No key of profile prod is stored" in command("logout").out
    assert path.read_text() == profile


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_it_says_what_a_person_can_do(
    command: Command, still: EmbeddedPlatform
) -> None:
    ran = _login(command, still, "--profile", "prod", key=still.read_key)
    assert ran.code == 1
    assert "the keyring did not store the key" in ran.err
    for way in ("pass insert agentco/prod", "op read op://", "vault kv put", 'e = "keys/prod"'):
        assert way in ran.out
    assert f"Add these lines to {command.home}/.config/agentco-tui/config.toml" in ran.out
    assert _files(command.home) == set()
    (text,) = re.findall(r"\n(\[profiles[\s\S]*?)\n\n", ran.out)
    head, ways = text.split("# one of these")
    for line in re.findall(r"^api_key.*", ways, re.MULTILINE):
        path = command.home / "config.toml"
        path.write_text(f"{head}{line}\n")
        assert ConfigFile(path).problems == []


def test_nothing_is_kept_that_was_not_accepted(command: Command, still: EmbeddedPlatform) -> None:
    ran = _login(command, still, key="ag_of_nobody_1234")
    assert ran.code == 3
    assert "the key is missing or invalid" in ran.out
    ran = command("login", "--base-url", "http://127.0.0.1:9", env={"AGENTCO_API_KEY": "ag_key"})
    assert ran.code == 3
    assert "nothing answers at" in ran.out
    assert _files(command.home) == set()


@pytest.mark.parametrize(
    ("words", "key", "told"),
    [
        (["--base-url", "https://x.example"], "", "no flag or variable answers: API key"),
        (["--base-url", "https://x.example"], "two words", "one word of plain letters"),
        ([], "ag_1", "no flag or variable answers: Address"),
        (["--base-url", "http://x.example"], "ag_1", "plain http would send the key in the open"),
        (["--profile", "../x"], "ag_1", "letters, digits, - and _"),
    ],
)
def test_without_a_terminal_nobody_is_asked(
    command: Command, words: list[str], key: str, told: str
) -> None:
    ran = command("login", *words, env={"AGENTCO_API_KEY": key})
    assert ran.code == 2
    assert told in ran.err


def test_logout_says_what_it_can_not_remove(command: Command) -> None:
    path = command.home / "c.toml"
    command.env["AGENTCO_CONFIG"] = str(path)
    for setting in ('api_key_command = "cat key"', 'api_key_file = "key"'):
        path.write_text(f"{PROFILE.format('https://x.example')}{setting}\n")
        (command.home / "key").write_text("ag_1")
        ran = command("logout")
        assert ran.code == 0
        assert f"The key of {setting.split()[0]} of profile prod can't be removed" in ran.out
        assert (command.home / "key").exists()
    path.write_text("thme = 1\n")
    assert "nearest valid name: theme" in command("logout").err


def test_init_writes_a_file_that_only_the_owner_can_read_and_none_over_another(
    command: Command,
) -> None:
    ran = command("config", "init")
    path = command.home / ".config/agentco-tui/config.toml"
    assert (ran.code, ran.err) == (0, "")
    assert str(path) in ran.out
    assert path.stat().st_mode & 0o777 == 0o600
    assert command("config", "check").out == f"{path}: nothing is wrong\n"
    before = path.read_text()
    ran = command("config", "init")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "exists" in ran.err
    assert path.read_text() == before
    (command.home / "file").touch()
    ran = command("config", "init", "--config", "file/config.toml")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def _uncommented(command: Command) -> Path:
    path = command.home / "all.toml"
    config.begin_config(path)
    path.write_text(re.sub(r"^# ", "", path.read_text(), flags=re.MULTILINE))
    (command.home / "private-ca.pem").touch()
    return path


def test_every_line_of_it_is_right_once_it_is_uncommented(command: Command) -> None:
    path = _uncommented(command)
    for line in path.read_text().splitlines():
        assert not line or re.match(r"## |\[[a-z.]+\]|[\"a-z_.0-9]+ = ", line), line
    ran = command("config", "check", "--config", str(path))
    assert ran.out == f"{path}: nothing is wrong\n"


def test_it_has_every_setting_with_its_default(command: Command) -> None:
    resolved, plain = Resolver({"config": str(_uncommented(command))}, {}), Resolver({}, {})
    text = resolved.path.read_text()

    names = [declared.name for declared in DECLARED if declared.tables and declared.name != "keys"]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []
    shown_with_default = [each for each in DECLARED if each.tables and not each.setting.example]
    for declared in shown_with_default:
        for values in (resolved.values, plain.values) if declared.field in plain.values else ():
            record = values[declared.field]
            value = record if declared.group is None else getattr(record, declared.name, None)
            if not declared.is_repeated:
                assert value == declared.default, declared.full_name


def test_plain_http_that_was_agreed_to_stands_in_the_profile(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "user_agrees", lambda question: True)
    url = BaseUrl.parse("http://platform.example", allow_http=True)
    path = command.home / "new" / "config.toml"
    resolved = Resolver({"config": str(path), "profile": "lab"}, {})
    # private: the steps before it ask for a key on a terminal.
    assert login._write_profile(resolved, url, ['api_key_file = "keys/lab"'], is_stored=True)
    written = ConfigFile(path)
    assert written.problems == []
    assert written.profiles["lab"] == {
        "base_url": "http://platform.example",
        "allow_http": True,
        "api_key_file": Path("keys/lab"),
    }
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("fault", ["*:hang", "*:hang_body", "*:drip=1s", "*:drop_after"])
def test_a_silent_host_ends_it_at_the_first_read(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(login, "ANSWER_WITHIN", 1.0, raising=False)
    still.faults.add(fault)
    ran = _login(command, still)
    assert ran.code == 3
    assert "up to the first that takes more than 1 s" in ran.out
    assert [line.split()[2] for line in ran.lines if " GET " in line] == ["/api/companies"]
    assert {seen.path for seen in still.requests if seen.authorised} <= {"/api/companies"}
    assert {seen.operation for seen in still.requests} <= {"companies", None}
    assert _files(command.home) == set()


def test_what_falls_silent_later_ends_it_there(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "ANSWER_WITHIN", 1.0, raising=False)
    still.faults.add("agents:hang")
    ran = _login(command, still)
    assert "no complete answer within 1 s" in ran.out
    assert "the remaining reads were not sent" in ran.out
    assert "2 of 3 reads answered" in ran.out
    assert not still.requests.matching("tasks")
