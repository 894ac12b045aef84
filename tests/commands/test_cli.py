"""The command line as a whole: help, usage errors, refusals, and what is never imported."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentco_tui import __version__
from agentco_tui.cli import main as cli
from agentco_tui.cli.arguments import UsageError, parse
from agentco_tui.cli.grammar import COMMANDS, DASHBOARD
from agentco_tui.cli.manual import TOPICS, page
from agentco_tui.config.validators import REFRESH_FROM, REFRESH_TO
from agentco_tui.demo.recordings import recorded_platforms
from tests.commands.conftest import Command

KEY = "ag_0123456789abcdef"
HELP = """demo status doctor tail export config journal --profile --base-url --company --screen
--refresh --read-only --config --log-file AGENTCO_BASE_URL AGENTCO_API_KEY AGENTCO_PROFILE
AGENTCO_CONFIG AGENTCO_READ_ONLY NO_COLOR"""


def test_version_and_help_name_commands_flags_and_environment(command: Command) -> None:
    assert command.process("--version").out == f"agentco-tui {__version__}\n"
    ran = command("--help")
    assert ran.code == 0
    assert all(words in ran.out for words in HELP.split())
    assert max(len(line) for line in ran.lines) <= 100
    for name in HELP.split()[:7]:
        ran = command(name, "--help")
        assert ran.code == 0
        assert f"usage: agentco-tui {name}" in ran.out


def test_the_help_of_the_demo_names_each_recorded_platform(command: Command) -> None:
    ran = command("demo", "--help")
    assert "--platform NAME" in ran.out
    assert all(f"demo --platform {name} " in ran.out for name in recorded_platforms())
    assert recorded_platforms()


def test_a_python_without_lzma_says_why_it_plays_no_recording(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lzma", None)
    ran = command("demo", "--platform", "paperclip")
    assert ran.code == 2
    assert "the recording can't be unpacked: import of lzma halted" in ran.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--refesh", "1"], "the nearest is --refresh"),
        (["status", "--jsno"], "the nearest is --json"),
        (["stauts"], "no command stauts; did you mean status?"),
        (["--screen", "task"], "invalid choice: 'task'"),
        (["--refresh", "0.1"], "from 0.5"),
        (["--refresh", "nan"], "from 0.5"),
        (["config"], "{path,check,show,keys,init}"),
        (["export"], "activity"),
        (["export", "activity", "--company", "cmp_1"], "cannot be limited to one"),
        (["tail", "--limit", "0"], "from 1"),
        (["demo", "--port", "70000"], "65,535"),
        (["undo", "x"], "no command undo"),
        (["replay"], "FILE"),
        (["replay", "/nowhere/it"], "/nowhere/it can't be read: No such file"),
        (["replay", __file__], "is no recording"),
        (["--profile"], "expected one argument"),
        (["--prof", "x"], "unknown flag --prof"),
        (["\x1b[31m"], "no command "),
        (["--", "--api-key"], "no command "),
        (["status", "--follow"], "unknown flag --follow; the nearest is --"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.count("\n") == 1
    assert said.err.startswith("agentco-tui: ")
    assert said.out == ""
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    "words", [[f"--api-key={KEY}"], ["status", "--key", KEY], ["--API-KEY", KEY]]
)
def test_no_flag_takes_the_key_and_it_says_why(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "process list" in said
    assert "AGENTCO_API_KEY" in said
    assert KEY not in said


@pytest.mark.parametrize("output", ["| true; :", ">&-"])
def test_a_reader_that_goes_or_was_never_there_is_no_error(command: Command, output: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$@" {output}', *command.arguments("config", "show")],
        env=command.env,
        stderr=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_in_a_line(command: Command) -> None:
    with Path("/dev/full").open("w") as full:
        ran = command.process("config", "show", stdout=full)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "cannot be written" in ran.err


def test_what_is_unforeseen_is_two_plain_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(*_: object, **__: object) -> int:
        raise RuntimeError(f"Bearer {KEY}")

    monkeypatch.setattr("agentco_tui.commands.config.Resolver", broken)
    assert cli.main(["config", "show", "--config", str(tmp_path / "c")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 2
    assert "RuntimeError" in said
    assert KEY not in said
    assert "Traceback" not in said


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentco_tui.commands.config.Resolver", interrupted)
    assert cli.main(["config", "show"]) == 130


def test_the_log_holds_the_details_and_not_the_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object, **__: object) -> int:
        raise RuntimeError(f"it was {KEY} \x1b]0;x\x07")

    monkeypatch.setattr("agentco_tui.commands.tail.NewEntries", broken)
    monkeypatch.setenv("AGENTCO_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AGENTCO_API_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    log = tmp_path / "log"
    assert cli.main(["tail", "--log-file", str(log)]) == 1
    text = log.read_text()
    assert "RuntimeError" in text
    assert KEY not in text
    assert "\x1b" not in text
    assert log.stat().st_mode & 0o777 == 0o600
    assert cli.main(["tail", "--log-file", str(tmp_path / "no" / "log")]) == 2


@pytest.mark.parametrize(
    "words",
    [
        "--profile p --base-url u --company c status",
        "status --profile p --base-url u --company c",
        "--profile o --base-url=u status --profile p --company=c",
    ],
)
def test_flags_count_before_and_after_the_command(words: str) -> None:
    found = parse(words.split())
    expected = {"command": "status", "profile": "p", "base_url": "u", "company": "c"}
    assert found == {**expected, "json": False}
    found = parse(["--screen", "tasks", "--refresh", "2.5", "--read-only", "--log-file", "l"])
    told = {"screen": "tasks", "refresh": 2.5, "read_only": True, "log_file": "l"}
    assert found == {**told, "command": None}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_help_has_examples_that_are_no_mistakes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = COMMANDS.get(name, DASHBOARD)
    assert own.examples
    assert cli.main(["help", name] if name else ["help"]) == 0
    told = capsys.readouterr().out
    assert cli.main([*filter(None, [name]), "--help"]) == 0
    if name in TOPICS:
        assert told == f"{capsys.readouterr().out}\n{page(name)}"
    else:
        assert told == capsys.readouterr().out
    for line in own.examples:
        assert f"\n  agentco-tui {line}".rstrip() in told
        words = shlex.split(line, comments=True)
        assert not name or name in words or line.startswith("--record")
        if name in ("help", "version"):
            with pytest.raises(SystemExit):
                parse(words)
        else:
            assert parse(words)["command"] == (
                words[0] if words[:1] and words[0] in COMMANDS else None
            )


def test_the_bounds_of_refresh_are_those_of_the_config_file() -> None:
    for pace in (REFRESH_FROM, REFRESH_TO):
        assert parse(["--refresh", str(pace)])["refresh"] == pace
    for pace in (REFRESH_FROM - 0.01, REFRESH_TO + 1):
        with pytest.raises(UsageError, match=r"from 0\.5 to 86,400"):
            parse(["--refresh", str(pace)])


def test_the_version_is_a_command_too(command: Command) -> None:
    assert command("version").out == f"agentco-tui {__version__}\n"


def test_a_theme_of_the_command_line_beats_the_file(command: Command) -> None:
    told = command("config", "show", "--theme", "nord").out
    assert re.search(r"^theme +nord +\(--theme\)$", told, re.MULTILINE)
    wrong = command("config", "show", "--theme", "norrd")
    assert 'is not a theme: "norrd" (nearest valid name: nord' in wrong.out + wrong.err
