"""`agentco-tui login` tests an address and an API key, and stores the key; `logout` removes it.

The address is that of a platform, the service whose companies of AI agents are watched. A profile
is a table of the config file with the settings for one platform, under a name that the user chose.
Which platform it is, the address says without a key, if it is a known one; then a key is asked for
only if it needs one. The key is stored in the system's keyring or in a file that only the user can
read. `Resolver` has the settings of the config file and what they come from; its `entry` is the
table of the profile.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from getpass import getpass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.errors import Broken, TimedOut
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands import doctor
from agentco_tui.commands.command_context import recognised_platform
from agentco_tui.commands.command_output import Exit, print_lines, print_to_stderr
from agentco_tui.commands.config import begin_config
from agentco_tui.commands.doctor_fields import examine_fields
from agentco_tui.commands.doctor_reads import examine_reads
from agentco_tui.commands.user_prompt import ask, is_at_terminal, user_agrees
from agentco_tui.config import Arguments, Settings, SettingsError, platform_line
from agentco_tui.config.api_key import API_KEY, KeyLocation, run_keyring
from agentco_tui.config.resolve import VARIABLES, Resolver
from agentco_tui.config.validators import WrongError
from agentco_tui.system.child_process import CommandError
from agentco_tui.system.state_folder import write_private

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Recognised

ANSWER_WITHIN: Final = 10.0
"""Seconds that the platform has to answer each request of the test."""
FIELDS_WITHIN: Final = 60.0
"""Seconds in which all requests must be answered that show which fields are read."""
_WAYS_TO_STORE = """\
# one of these, with the command to run first:
api_key_command = "pass show agentco/NAME"  # pass insert agentco/NAME
api_key_command = "op read op://Private/agentco-NAME/credential"  # an API Credential of that title
api_key_command = "vault kv get -mount=secret -field=key agentco/NAME"
  # vault kv put -mount=secret agentco/NAME key=-  (then the key, enter, ctrl+d)
api_key_file = "keys/NAME"  # beside the config: (umask 077; mkdir -p keys; cat >keys/NAME)"""
# Bare TOML keys that are also good names of files.
_PROFILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Log in or out; returns 3 if the platform did not answer, 1 if the key could not be stored.

    After a login the user may open the dashboard, which replaces this process. Raises UsageError,
    and SettingsError for a config file with mistakes.
    """
    # SIGTERM acts like ctrl+c, so that the hidden prompt for the key restores the terminal's echo.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Here the address and the key in the environment are only defaults for the questions.
    # Nor does the dashboard that is opened afterwards get them.
    own_env = {name: env[name] for name in env if name not in (API_KEY, VARIABLES["base_url"])}
    resolved = Resolver({**arguments, "base_url": None}, own_env)
    # Only mistakes in the file: an address and a key are missing before a login.
    if resolved.file.exists and resolved.file.problems:
        raise SettingsError(resolved.file.problems)
    if not _PROFILE_NAME.fullmatch(resolved.profile):
        raise UsageError("the name of a profile to log in to has only letters, digits, - and _")
    if arguments["command"] == "logout":
        return _log_out(resolved, env)
    return _log_in(resolved, arguments, env, own_env)


def _log_in(
    resolved: Resolver, arguments: Arguments, env: Mapping[str, str], own_env: Mapping[str, str]
) -> int:
    profile = resolved.profile
    print_lines(f"Log in, profile {profile}. Nothing is stored until you agree; ctrl+c cancels.")
    proposed = resolved.entry.get("base_url")
    address = arguments.get("base_url") or env.get(VARIABLES["base_url"]) or proposed
    while True:
        url = _ask_address(address, allow_http=resolved.entry.get("allow_http", False))
        # Before the key: it is sent only in the way of a platform that is known by then.
        found = _recognise(resolved, url)
        key = None
        if found is None or found.needs_key:
            key = _ask_key(env)
        platform: str | None = resolved.values["platform"] if found is None else found.name
        if asyncio.run(_try_key(resolved, url, key, platform)):
            break
        if not user_agrees("\nType them again?"):
            return Exit.NO_ANSWER
        address = ask(f"Address (enter: {url}):") or str(url)
    lines = [] if platform is None else [platform_line(platform)]
    is_stored = True
    if key is not None:
        setting = _store_key(resolved, key, env)
        is_stored = setting != ""
        lines += [setting] if is_stored else []
    is_usable = _write_profile(resolved, url, lines, is_stored=is_stored)
    print_lines(f"The dashboard on it: agentco-tui --profile {profile}")
    if is_usable and user_agrees("\nOpen it now?"):
        words = ["-m", "agentco_tui", "--config", str(resolved.path), "--profile", profile]
        if arguments.get("read_only"):
            words.append("--read-only")
        program = sys.executable
        os.execve(program, [program, *words], own_env)  # noqa: S606 - this very program
    return Exit.OK if is_stored or is_at_terminal() else Exit.FAILED


def _ask_address(address: str | None, *, allow_http: bool) -> BaseUrl:
    """Return `address`, or ask until the user types a valid one.

    Plain http to another machine needs the user's consent, unless `allow_http` is set.
    """
    while True:
        if not address:
            address = ask("Address (https://...):")
        try:
            return BaseUrl.parse(address, allow_http=allow_http)
        except CredentialError as error:
            print_to_stderr(str(error))
        with suppress(CredentialError):
            url = BaseUrl.parse(address, allow_http=True)
            if user_agrees("Send the key unencrypted anyway?"):
                return url
        address = None


def _recognise(resolved: Resolver, url: BaseUrl) -> Recognised | None:
    """The known platform that answers at the address, if any; says which one it is."""
    found = asyncio.run(recognised_platform(url, resolved.values))
    platform = resolved.values["platform"]
    if found is None and platform is not None:
        words = f"{url} does not say that it is what the profile says"
        print_to_stderr(f"{words}: {platform_line(platform)}")
    if found is not None:
        words = f"This is {found.title}."
        if not found.needs_key:
            words = f"{words} It needs no key."
        elif found.right_key is not None:
            words = f"{words} It needs {found.right_key}."
        print_lines(words)
    return found


def _ask_key(env: Mapping[str, str]) -> ApiKey:
    """Ask for the key until it is valid; without a terminal, use that of the environment."""
    text = ""
    if not is_at_terminal():
        text = env.get(API_KEY, "")
    if text:
        print_lines(f"The key is taken from {API_KEY}, because there is no terminal to ask at.")
    while True:
        if not text:
            text = ask("API key (it is not shown):", getpass)
        try:
            return ApiKey.parse(text)
        except CredentialError as error:
            print_to_stderr(str(error))
            text = ""


async def _try_key(
    resolved: Resolver, url: BaseUrl, key: ApiKey | None, platform: str | None
) -> bool:
    """Send each read request and print the results; False if none was answered.

    `platform` is the name of its file; None for the usual interface.
    """
    values = {**resolved.values, "profile": resolved.profile, "platform": platform}
    values["company"] = None  # without a company all of them are requested
    settings = Settings(base_url=url, key=key, key_source="what was given", **values)
    print_lines("", f"reads of {url}, up to the first that takes more than {ANSWER_WITHIN:g} s:")
    found = await examine_reads(settings, None, as_lines=True, answer_within=ANSWER_WITHIN)
    if not any(read.answered for read in found.reads):
        return False
    if isinstance(found.reads[-1].error, TimedOut | Broken):
        print_lines("the remaining reads were not sent")
    print_lines("", *doctor.conclusion_lines(found, doctor.last_write_permissions(settings)))
    question = f"Show which of its fields are read? It takes at most {FIELDS_WITHIN:g} s."
    if user_agrees(f"\n{question} (agentco-tui doctor --fields)"):
        try:
            async with asyncio.timeout(FIELDS_WITHIN):
                await examine_fields(settings, as_json=False)
        except TimeoutError:
            print_to_stderr(f"not every request was answered within {FIELDS_WITHIN:g} s")
    return True


def _key_file(resolved: Resolver) -> Path:
    """The file in which `login` can store the profile's key."""
    return resolved.path.parent / "keys" / resolved.profile


def _store_key(resolved: Resolver, key: ApiKey, env: Mapping[str, str]) -> str:
    """Store the key in the keyring or a file, as the user agrees.

    Returns the line of the config file that says where the key is: "keyring = true"; "" if it is
    not stored.
    """
    profile = resolved.profile
    has_keyring = find_spec("keyring") is not None
    if not has_keyring:
        print_lines(
            "", "The system's keyring needs the extra agentco-tui[keyring], which is not installed."
        )
    elif not is_at_terminal() or user_agrees("\nStore the key in the system's keyring?"):
        if _store_in_keyring(profile, key, env):
            return "keyring = true"
        print_to_stderr("the keyring did not store the key: is it unlocked?")
    file = _key_file(resolved)
    exists = file.exists()
    action = "Overwrite" if exists else "Store the key in"
    if user_agrees(f"{action} {file}, which only you can read?"):
        write_private(file, key.reveal().encode(), replace=exists)
        return f'api_key_file = "keys/{profile}"'
    return ""


def _store_in_keyring(profile: str, key: ApiKey, env: Mapping[str, str]) -> bool:
    """Store the key in the system's keyring; returns whether it can be read back."""
    with suppress(CommandError, WrongError):
        run_keyring("set", profile, env, typed=key.reveal().encode())
        # Reads the setting `keyring = true` of the profile.
        return KeyLocation("keyring", profile, True, env).read() == key
    return False


def _write_profile(
    resolved: Resolver, url: BaseUrl, settings: Sequence[str], *, is_stored: bool
) -> bool:
    """Write the profile to a new config file if the user agrees, else print the lines to add.

    `settings` are lines for the profile. `is_stored` is false if it needs a key, and none of them
    says where that is. Returns whether the config file has the profile now.
    """
    wanted = tomllib.loads("\n".join(settings))
    has_all = all(str(resolved.entry.get(name)) == str(value) for name, value in wanted.items())
    if is_stored and has_all and resolved.base_url == url:
        return True  # the profile says the same already
    lines = [f"[profiles.{resolved.profile}]", f'base_url = "{url}"']
    if url.scheme == "http" and not url.is_loopback:
        lines.append("allow_http = true")
    lines += settings
    if not is_stored:
        lines += _WAYS_TO_STORE.replace("NAME", resolved.profile).splitlines()
    print_lines("", *lines, "")
    path = resolved.path
    if is_stored and not path.exists() and user_agrees(f"Write this to {path}?"):
        begin_config(path, lines)
        return True
    print_lines(f"Add these lines to {path}: the program does not change that file.")
    return False


def _log_out(resolved: Resolver, env: Mapping[str, str]) -> int:
    """Remove the key from the keyring and the key file; name other places that still have one."""
    profile = resolved.profile
    file = _key_file(resolved)
    # For each place that has the key, what removes it.
    removals: dict[str, Callable[[], object]] = {}
    if file.exists():
        removals[str(file)] = file.unlink
    # WrongError: the keyring has no key, or can't be read.
    with suppress(WrongError):
        KeyLocation("keyring", profile, True, env).read()
        removals["the system's keyring"] = partial(run_keyring, "del", profile, env)
    for storage, remove in removals.items():
        if not is_at_terminal() or user_agrees(
            f"Remove the key of profile {profile} from {storage}?"
        ):
            try:
                remove()
            except (CommandError, OSError):
                raise UsageError(f"the key can't be removed from {storage}") from None
            print_lines(f"The key is removed from {storage}.")
    if not removals:
        print_lines(f"No key of profile {profile} is stored in the system's keyring or in {file}.")
    key_location = resolved.key_location
    # The value is True for the keyring, and the path for a key file.
    if key_location is not None and key_location.value not in (True, file):
        print_lines(f"The key of {key_location.description} can't be removed from here.")
    if env.get(API_KEY):
        print_lines(f"{API_KEY} in the environment can't be removed from here.")
    return Exit.OK
