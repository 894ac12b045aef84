"""The command `agentco-tui`: arguments to the dashboard or to one of the commands.

Nothing prints a traceback at a person. What each part needs is imported when it is needed, so that
`--help`, `status` and `tail` never wait for the screen toolkit.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentco_tui.api.credentials import CredentialError, KeyInUse
from agentco_tui.api.errors import ApiError
from agentco_tui.cli.arguments import UsageError, parse
from agentco_tui.commands.running import Exit, OutputError, ask, complain, logged, write
from agentco_tui.config import (
    Given,
    NothingSetError,
    Settings,
    SettingsError,
    Switch,
    ViewSettings,
)
from agentco_tui.config.resolve import load, load_any, of_profile, reread
from agentco_tui.system.atomic_write import AtomicWriteError
from agentco_tui.system.state_folder import REMEMBERED_FILE, Remembered, recall, state_folder
from agentco_tui.terminal.fitness import SIXTEEN_THEMES, check, prepare
from agentco_tui.terminal.ground import ground_asked
from agentco_tui.text import safe
from agentco_tui.text.memoized import forget_memoized
from agentco_tui.text.signs import ascii_wanted, use_ascii

if TYPE_CHECKING:
    from agentco_tui.api.recording import Recording

_WELCOME = """\
agentco-tui has no platform to show yet. To start:

  d   agentco-tui demo    see it at once, on a platform of its own
  l   agentco-tui login   a platform of yours: its address and key are asked for and tried
  e                       how to set both in the environment or a file
  q                       quit
"""
_BY_HAND = """\
  AGENTCO_BASE_URL=https://platform.example.com AGENTCO_API_KEY=… agentco-tui
  (the key: Settings, API Keys); or, for good, in a file of profiles: agentco-tui config init
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own); returns the exit code."""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv), os.environ)
        write("")
    except (UsageError, AtomicWriteError) as error:
        complain(str(error))
        return Exit.USAGE
    except SettingsError as error:
        complain(*map(str, error.problems))
        return Exit.USAGE
    except ApiError as error:
        complain(str(error))
        return Exit.NO_ANSWER
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has what it wanted.
        _drop_stdout()
        return Exit.OK
    except OutputError as error:
        _drop_stdout()
        complain(str(error))
        return Exit.FAILED
    except EOFError:  # the end of input at a question
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:  # the last door: nothing may print a traceback at a person
        from agentco_tui.terminal.crash import Crash

        # What and where, without the error's own text, which may quote anything.
        complain(
            f"stopped by an error in the program: {Crash((error,)).told()}",
            "to report it, run it again with --log-file FILE: the details are written there",
        )
        return Exit.FAILED
    return code


def _run(argv: list[str], env: Mapping[str, str]) -> int:
    # ASCII signs where others would arrive as rubbish; nothing printed may fail on its way.
    use_ascii(ascii_wanted(getattr(sys.stdout, "encoding", None), env))
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    if not logging.getLogger().handlers:
        # Else Python puts warnings that nobody handles on the terminal.
        logging.getLogger().addHandler(logging.NullHandler())
    given = parse(argv)
    command: str | None = given["command"]
    if command == "config":
        from agentco_tui.commands import config

        return config.run(given, env, _wrong_in_views)
    if command not in (None, "demo", "replay"):
        name = f"{command}_command" if command in ("history", "journal") else command
        name = "login" if command == "logout" else name
        name = "writing" if command in ("approve", "create-task", "set-limit") else name
        code: int = import_module(f"agentco_tui.commands.{name}").run(given, env)
        return code
    if command == "demo" and given["serve"]:
        from agentco_tui.commands import demo

        return demo.serve(given)
    if command == "replay":
        from agentco_tui.commands import replay_command

        return replay_command.run(given, env, _run_replay)
    if given.get("plain"):
        from agentco_tui.commands import plain

        return plain.run(given, env)
    if refusal := check(env).refusal:
        complain(refusal)
        return Exit.USAGE
    if command == "demo":
        from agentco_tui.commands import demo

        return demo.run(given, env, partial(_run_dashboards, given, env))
    try:
        settings = (load_any if given.get("all_profiles") else load)(given, env)
    except NothingSetError:
        return _welcome(argv, env)
    return _run_dashboards(given, env, settings)


def _run_dashboards(
    given: Given, env: Mapping[str, str], settings: Settings, history: Path | None = None
) -> int:
    """One dashboard after the other, each of another profile, until the person leaves."""
    first, before = settings.profile, settings
    by = Switch("") if given.get("all_profiles") else None
    while True:
        is_other = by is not None and by.profile != "" and by.failure is None
        try:
            if by is not None and is_other:
                settings = load(*of_profile(by.profile, first, given, env))
            key = None if settings.key is None else KeyInUse(settings.key)
            again = partial(_reread, of_profile(settings.profile, first, given, env))
            record = given.get("record")
            ended = _run_dashboard(settings, history, key, record, begun_by=by, reread=again)
        except (SettingsError, CredentialError) as error:
            if by is None or not is_other:
                raise
            # The one before comes back, with the key that it had by then.
            why = safe(f"{by.profile} can't be used: {error}", 400)
            settings, by = before, Switch(by.profile, failure=why)
            continue
        if isinstance(ended, int):
            return ended
        before, by = replace(settings, key=key and key.key), ended
        from agentco_tui.textual_patches.memo_caches import forget_what_textual_remembers

        forget_memoized()
        forget_what_textual_remembers()
        # What is frozen is never looked through, so nothing of the last dashboard would be freed.
        gc.unfreeze()
        gc.collect()


def _welcome(argv: list[str], env: Mapping[str, str]) -> int:
    write(f"{_WELCOME}\n")
    while (choice := ask("d, l, e or q, then enter:").lower()) not in ("d", "l", "e", "q"):
        pass
    if choice in ("d", "l"):
        return _run([*argv, "demo" if choice == "d" else "login"], env)
    write(_BY_HAND if choice == "e" else "")
    return Exit.USAGE


def _fitted(settings: Settings) -> Settings:
    """What is decided about the terminal before Textual is imported."""
    # What is imported now stays, so looking through it for garbage is time lost; the dashboard
    # turns the collector on again once it stands.
    gc.disable()
    prepare(check())
    if settings.thin:
        # Textual reads once, when it is imported, how many pictures a second it paints at most.
        os.environ.setdefault("TEXTUAL_FPS", "8")
    return _coloured(settings)


def _coloured(settings: Settings) -> Settings:
    """With a theme of the terminal's own colours where it has no more."""
    if check().colours != 16:
        return settings
    named = settings.theme or os.environ.get("TEXTUAL_THEME")
    return replace(settings, theme=SIXTEEN_THEMES.get(named, settings.theme))


def _reread(asked: tuple[Given, Mapping[str, str]], now: Settings) -> tuple[Settings, list[str]]:
    settings, kept = reread(now, *asked)
    return _coloured(settings), kept


def _wrong_in_views(views: Sequence[ViewSettings]) -> list[tuple[str, str]]:
    """As `wrong_in_views`; the screens are imported only where there is a view to check."""
    if not views:
        return []
    from agentco_tui.screens.view_check import wrong_in_views

    return wrong_in_views(views)


def _run_replay(settings: Settings, recording: Recording) -> int:
    if refusal := check().refusal:
        raise UsageError(refusal)
    settings = _fitted(settings)
    from agentco_tui.cli.replay_dashboard import run_replay

    with logged(settings):
        return run_replay(settings, recording)


def _run_dashboard(
    settings: Settings,
    history: Path | None,
    key: KeyInUse | None,
    record: str | None,
    **shown: Any,
) -> int | Switch:
    """Send the first request, and only then import what takes long; `shown` as `run_dashboard`."""
    settings = _fitted(settings)
    from agentco_tui.api.fetcher import Prefetch

    with ExitStack() as ending:
        ending.enter_context(logged(settings, key))
        recorder = None
        if record is not None:
            from agentco_tui.commands.replay_command import begun

            recorder = begun(record, settings, key)
            ending.callback(recorder.close)
        last = recall(state_folder() / REMEMBERED_FILE).get(settings.profile, Remembered())
        is_chosen = last.theme is not None and last.theme_over is None
        is_named = is_chosen or settings.theme or "TEXTUAL_THEME" in os.environ
        with ground_asked(not is_named and check().colours > 16) as typed:
            about = settings.company, settings.base_url, settings.key
            start = Prefetch.begin(*about, recorder=recorder, **settings.transport_options)
            from agentco_tui.cli.dashboard import run_dashboard

        return run_dashboard(settings, key, start, recorder, history, typed=bytes(typed), **shown)


def _drop_stdout() -> None:
    """Python flushes stdout once more at its end, and would complain about the same again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
