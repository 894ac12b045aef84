"""`agentco-tui login` tries an address and a key, and stores the key; `logout` removes it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from getpass import getpass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.errors import Broken, TimedOut
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands import doctor
from agentco_tui.commands.command_output import Exit, complain, say
from agentco_tui.commands.config import begin_config
from agentco_tui.commands.doctor_fields import examine_fields
from agentco_tui.commands.doctor_reads import examine
from agentco_tui.commands.user_prompt import ask, at_terminal, user_agrees
from agentco_tui.config import Given, Settings, SettingsError
from agentco_tui.config.api_key import API_KEY, KeyLocation, run_keyring
from agentco_tui.config.resolve import VARIABLES, Resolver
from agentco_tui.config.validators import WrongError
from agentco_tui.system.child_process import CommandError
from agentco_tui.system.state_folder import write_private

ANSWER_WITHIN: Final = 10.0
"""Seconds that the platform has for each read that tries the key."""
FIELDS_WITHIN: Final = 60.0
"""Seconds for reading one page of each kind of record, to show which fields are read."""
_WAYS_TO_STORE = """\
# one of these, with what is to do first:
api_key_command = "pass show agentco/NAME"  # pass insert agentco/NAME
api_key_command = "op read op://Private/agentco-NAME/credential"  # an API Credential of that title
api_key_command = "vault kv get -mount=secret -field=key agentco/NAME"
  # vault kv put -mount=secret agentco/NAME key=-  (then the key, enter, ctrl+d)
api_key_file = "keys/NAME"  # beside the config: (umask 077; mkdir -p keys; cat >keys/NAME)"""
_PROFILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def run(given: Given, env: Mapping[str, str]) -> int:
    """Log in, or out; returns 3 if the platform gave no answer, 1 if the key could not be stored.

    At the end of a login the user may open the dashboard, which replaces this process. Raises
    UsageError, and SettingsError for a config file with mistakes.
    """
    # SIGTERM acts like ctrl+c, so that the prompt for the key turns the terminal's echo on again.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # The address and the key of the environment are only proposals here, not settings.
    own_env = {name: env[name] for name in env if name not in (API_KEY, VARIABLES["base_url"])}
    resolved = Resolver({**given, "base_url": None}, own_env)
    if resolved.file.exists and resolved.file.problems:
        raise SettingsError(resolved.file.problems)
    if not _PROFILE_NAME.fullmatch(resolved.profile):
        raise UsageError("a profile to log in to has a name of letters, digits, - and _")
    if given["command"] == "logout":
        return _log_out(resolved, env)
    return _log_in(resolved, given, env, own_env)


def _log_in(
    resolved: Resolver, given: Given, env: Mapping[str, str], own_env: Mapping[str, str]
) -> int:
    profile = resolved.profile
    say(f"Log in, profile {profile}. Nothing is stored until you agree; ctrl+c cancels.")
    proposed = resolved.entry.get("base_url")
    address = given.get("base_url") or env.get(VARIABLES["base_url"]) or proposed
    while True:
        url = _ask_address(address, allow_http=resolved.entry.get("allow_http", False))
        key = _ask_key(env)
        if asyncio.run(_try_key(resolved, url, key)):
            break
        if not user_agrees("\nType them again?"):
            return Exit.NO_ANSWER
        address = ask(f"Address (enter: {url}):") or str(url)
    setting = _store_key(resolved, key, env)
    is_usable = _write_profile(resolved, url, setting)
    say(f"The dashboard on it: agentco-tui --profile {profile}")
    if is_usable and user_agrees("\nOpen it now?"):
        arguments = ["-m", "agentco_tui", "--config", str(resolved.path), "--profile", profile]
        if given.get("read_only"):
            arguments.append("--read-only")
        program = sys.executable
        os.execve(program, [program, *arguments], own_env)  # noqa: S606 - this very program
    is_stored = bool(setting) or at_terminal()
    return Exit.OK if is_stored else Exit.FAILED


def _ask_address(address: str | None, *, allow_http: bool) -> BaseUrl:
    """Return the address, asked for until it can be used; plain http needs the user's consent."""
    while True:
        address = address or ask("Address (https://...):")
        try:
            return BaseUrl.parse(address, allow_http=allow_http)
        except CredentialError as error:
            complain(str(error))
        with suppress(CredentialError):
            url = BaseUrl.parse(address, allow_http=True)
            if user_agrees("Send the key unencrypted anyway?"):
                return url
        address = None


def _ask_key(env: Mapping[str, str]) -> ApiKey:
    """Return the key that the user types; without a terminal, that of the environment."""
    typed = "" if at_terminal() else env.get(API_KEY, "")
    if typed:
        say(f"The key is that of {API_KEY}, as there is no terminal to ask at.")
    while True:
        try:
            return ApiKey.parse(typed or ask("API key (it is not shown):", getpass))
        except CredentialError as error:
            complain(str(error))
            typed = ""


async def _try_key(resolved: Resolver, url: BaseUrl, key: ApiKey) -> bool:
    """Read what the platform has, and print how it answers; False if it answered nothing."""
    values = {**resolved.values, "profile": resolved.profile, "company": None}
    settings = Settings(base_url=url, key=key, key_source="what was given", **values)
    say("", f"reads of {url}, until one is not answered within {ANSWER_WITHIN:g} s:")
    reads, measured, _ = await examine(settings, None, as_lines=True, answer_within=ANSWER_WITHIN)
    if not any(read.answered for read in reads):
        return False
    if isinstance(reads[-1].error, TimedOut | Broken):
        say("it stopped there: the remaining reads were not sent")
    say("", *doctor.conclusions(reads, measured, doctor.written_before(settings)))
    question = f"Show which of its fields are read, in {FIELDS_WITHIN:g} s at most?"
    if user_agrees(f"\n{question} (agentco-tui doctor --fields)"):
        try:
            async with asyncio.timeout(FIELDS_WITHIN):
                await examine_fields(settings, as_json=False)
        except TimeoutError:
            complain(f"not all was answered within {FIELDS_WITHIN:g} s")
    return True


def _key_file(resolved: Resolver) -> Path:
    """The file in which a login can store the profile's key."""
    return resolved.path.parent / "keys" / resolved.profile


def _store_key(resolved: Resolver, key: ApiKey, env: Mapping[str, str]) -> str:
    """Store the key where the user agrees to; returns the profile's setting for it, or ""."""
    profile = resolved.profile
    has_keyring = find_spec("keyring") is not None
    if not has_keyring:
        say(
            "", "The system's keyring needs the extra agentco-tui[keyring], which is not installed."
        )
    elif not at_terminal() or user_agrees("\nStore the key in the system's keyring?"):
        if _store_in_keyring(profile, key, env):
            return "keyring = true"
        complain("the keyring did not store the key: is it unlocked?")
    file = _key_file(resolved)
    exists = file.exists()
    action = "Overwrite" if exists else "Store the key in"
    if user_agrees(f"{action} {file}, which only you can read?"):
        write_private(file, key.reveal().encode(), replace=exists)
        return f'api_key_file = "keys/{profile}"'
    return ""


def _store_in_keyring(profile: str, key: ApiKey, env: Mapping[str, str]) -> bool:
    """Store the key in the system's keyring; returns whether reading it again gives the same."""
    with suppress(CommandError, WrongError):
        run_keyring("set", profile, env, typed=key.reveal().encode())
        return KeyLocation("keyring", profile, True, env).read() == key
    return False


def _write_profile(resolved: Resolver, url: BaseUrl, setting: str) -> bool:
    """Write a first config file if the user agrees, else print the lines to add.

    `setting` says where the key is, "keyring = true"; "" if it is not stored. Returns whether the
    config file has the profile now.
    """
    for name, value in tomllib.loads(setting).items():
        if resolved.base_url == url and str(resolved.entry.get(name)) == str(value):
            return True
    lines = [f"[profiles.{resolved.profile}]", f'base_url = "{url}"']
    if url.scheme == "http" and not url.is_loopback:
        lines.append("allow_http = true")
    if setting:
        lines.append(setting)
    else:
        lines += _WAYS_TO_STORE.replace("NAME", resolved.profile).splitlines()
    say("", *lines, "")
    path = resolved.path
    if setting and not path.exists() and user_agrees(f"Write this to {path}?"):
        begin_config(path, lines)
        return True
    say(f"Add it to {path}; the program does not change that file.")
    return False


def _log_out(resolved: Resolver, env: Mapping[str, str]) -> int:
    """Remove the key from where a login stores it, and name the other places that have one."""
    profile = resolved.profile
    file = _key_file(resolved)
    removals: dict[str, Callable[[], object]] = {}
    if file.exists():
        removals[str(file)] = file.unlink
    # A WrongError means that the keyring has no key, or none that can be read.
    with suppress(WrongError):
        KeyLocation("keyring", profile, True, env).read()
        removals["the system's keyring"] = partial(run_keyring, "del", profile, env)
    for storage, remove in removals.items():
        if not at_terminal() or user_agrees(f"Remove the key of profile {profile} from {storage}?"):
            try:
                remove()
            except (CommandError, OSError):
                raise UsageError(f"the key can't be removed from {storage}") from None
            say(f"The key is removed from {storage}.")
    if not removals:
        say(f"No key of profile {profile} is stored in the system's keyring or in {file}.")
    key_location = resolved.key_location
    is_storage_of_login = key_location is not None and key_location.value in (True, file)
    if key_location is not None and not is_storage_of_login:
        say(f"The key of {key_location.description} can't be removed from here.")
    if env.get(API_KEY):
        say(f"{API_KEY} in the environment can't be removed from here.")
    return Exit.OK
