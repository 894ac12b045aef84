"""The command `agentco-tui`: arguments to the dashboard or to one of the commands.

Nothing prints a traceback at a person. What each part needs is imported when it is needed, so that
`--help`, `status` and `tail` never wait for the screen toolkit.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.arguments import UsageError, flags_of, parse
from agentco_tui.commands.output import Exit, OutputError, complain, settings_failed
from agentco_tui.config import Flags, NothingSetError, Settings, SettingsError, load
from agentco_tui.log_file import log_to, nowhere_else
from agentco_tui.text import ascii_wanted, use_ascii

_HOW_TO_START = """\
agentco-tui has no platform to show yet. To start:

  agentco-tui demo          see it at once, on a platform of its own

  AGENTCO_BASE_URL=https://platform.example.com AGENTCO_API_KEY=… agentco-tui
                            a platform of yours (the key: Settings, API Keys)

  agentco-tui config path   the file for profiles, so that nothing has to be typed again:
                              [profiles.prod]
                              base_url = "https://platform.example.com"
                              api_key_command = "pass show agentco/prod"
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own); returns the exit code."""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv), os.environ)
        _flush()
    except UsageError as error:
        complain(str(error))
        return Exit.USAGE
    except SettingsError as error:
        return settings_failed(error)
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has what it wanted.
        _drop_stdout()
        return Exit.OK
    except OutputError as error:
        _drop_stdout()
        complain(str(error))
        return Exit.FAILED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:  # the last door: nothing may print a traceback at a person
        _tell_unforeseen(error)
        return Exit.FAILED
    return code


def _run(argv: list[str], env: Mapping[str, str]) -> int:
    _speak_what_the_terminal_reads(env)
    nowhere_else()
    found = parse(argv)
    flags = flags_of(found)
    if found.command is None:
        return _dashboard(flags, env)
    return _COMMANDS[found.command](found, flags, env)


def _dashboard(flags: Flags, env: Mapping[str, str]) -> int:
    from agentco_tui.terminal.fitness import check

    if refusal := check(env).refusal:
        complain(refusal)
        return Exit.USAGE
    try:
        settings = load(flags, env)
    except NothingSetError:
        sys.stderr.write(_HOW_TO_START)
        return Exit.USAGE
    return _run_dashboard(settings)


def _run_dashboard(settings: Settings) -> int:
    """Send the first request, and only then import what takes long."""
    # What is imported now stays, so looking through it for garbage is time lost; the dashboard
    # turns the collector on again once it stands.
    gc.disable()
    from agentco_tui.api.prefetch import Prefetch

    key = None if settings.key is None else KeyInUse(settings.key)
    with _log(settings, key):
        start = Prefetch.begin(
            settings.company,
            settings.base_url,
            settings.key,
            ca_file=settings.ca_file,
            trust_env=settings.trust_env,
            key_source=settings.key_source,
        )
        if settings.thin:
            # Textual reads once, when it is imported, how many pictures a second it paints at most.
            os.environ.setdefault("TEXTUAL_FPS", "8")
        from agentco_tui.app import run_dashboard

        return run_dashboard(settings, key, start)


def _demo(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    from agentco_tui.commands import demo

    if found.serve:
        return demo.serve(vars(found))
    from agentco_tui.terminal.fitness import check

    if refusal := check(env).refusal:
        complain(refusal)
        return Exit.USAGE
    return demo.run(vars(found), flags, env, _run_dashboard)


def _config(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    from agentco_tui.commands import config

    return config.run(found.what, flags, env, as_json=found.json)


def _status(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    from agentco_tui.commands import status

    try:
        settings = load(flags, env)
    except SettingsError as error:
        return status.unusable(error, as_json=found.json)
    with _log(settings), _ends_as_asked():
        return status.run(settings, as_json=found.json)


def _doctor(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    from agentco_tui.commands import doctor

    with _with_settings(flags, env) as settings:
        if found.fields:
            from agentco_tui.commands import doctor_fields

            return doctor_fields.run(settings, as_json=found.json)
        return doctor.run(settings, env, as_json=found.json)


def _tail(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    from agentco_tui.commands import tail

    options = tail.TailOptions(
        follow=found.follow, as_json=found.json, agent=found.agent, limit=found.limit
    )
    with _with_settings(flags, env) as settings:
        return tail.run(settings, options)


def _export(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    if flags.company is not None:
        raise UsageError(
            "the platform's export holds all companies: it cannot be asked for one."
            " Leave out --company, or use: agentco-tui tail --json --company ID"
        )
    from agentco_tui.commands import export

    with _with_settings(flags, env) as settings:
        return export.run(settings, file_format=found.format, out=found.out, force=found.force)


def _journal(found: argparse.Namespace, flags: Flags, env: Mapping[str, str]) -> int:
    del flags, env  # the journal is one for all profiles of a person on a machine
    from agentco_tui.commands.journal_command import run, since_when
    from agentco_tui.state_folder import state_folder

    try:
        since = None if found.since is None else since_when(found.since, time.time())
    except ValueError as error:
        raise UsageError(str(error)) from None
    path = state_folder() / "journal.jsonl"
    return run(path, as_json=found.json, since=since, out=sys.stdout)


_COMMANDS: Mapping[str, Callable[[argparse.Namespace, Flags, Mapping[str, str]], int]] = {
    "demo": _demo,
    "status": _status,
    "doctor": _doctor,
    "tail": _tail,
    "export": _export,
    "config": _config,
    "journal": _journal,
}


@contextmanager
def _with_settings(flags: Flags, env: Mapping[str, str]) -> Iterator[Settings]:
    settings = load(flags, env)
    with _log(settings), _ends_as_asked():
        yield settings


@contextmanager
def _log(settings: Settings, key: KeyInUse | None = None) -> Iterator[None]:
    """Log to the file that was asked for; what is unforeseen goes there with its place.

    `key` where another may take the place of the settings' own.
    """
    if settings.log_file is None:
        yield
        return
    try:
        end = log_to(settings.log_file, [one for one in (key or settings.key,) if one is not None])
    except OSError as error:
        raise UsageError(f"--log-file cannot be written: {error.strerror}") from None
    try:
        yield
    except Exception as error:
        if not isinstance(error, (BrokenPipeError, OutputError)):
            logging.getLogger(__name__).exception("unforeseen")
        raise
    finally:
        end()


@contextmanager
def _ends_as_asked() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command the way out, so that it leaves no half-written file."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {
        number: signal.signal(number, leave)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _speak_what_the_terminal_reads(env: Mapping[str, str]) -> None:
    """Use ASCII signs where others would arrive as rubbish; nothing printed may fail on its way."""
    use_ascii(ascii_wanted(getattr(sys.stdout, "encoding", None), env))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _flush() -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror}") from None


def _drop_stdout() -> None:
    """Python flushes stdout once more at its end, and would complain about the same again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell_unforeseen(error: Exception) -> None:
    """Two plain lines: what and where, without the error's own text, which may quote anything."""
    from agentco_tui.terminal.crash import Crash

    complain(
        f"stopped by an error in the program: {Crash((error,)).told()}",
        "to report it, run it again with --log-file FILE: the details are written there",
    )
