"""`agentco-tui login` and `logout`: tries address and key, sees that the key is kept, or gone."""

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
from agentco_tui.commands.config import begin_config
from agentco_tui.commands.running import Exit, agreed, ask, at_terminal, complain, say
from agentco_tui.config import Given, Settings, SettingsError
from agentco_tui.config.api_key import API_KEY, KeyPlace, run_keyring
from agentco_tui.config.resolve import VARIABLES, Resolver
from agentco_tui.config.validators import WrongError
from agentco_tui.system.child_process import CommandError
from agentco_tui.system.state_folder import write_private

ANSWER_WITHIN: Final = 10.0  # seconds for each read of the platform
FIELDS_WITHIN: Final = 60.0  # seconds for the reads of one page of each kind
_WAYS = """\
# one of these, with what is to do first:
api_key_command = "pass show agentco/NAME"  # pass insert agentco/NAME
api_key_command = "op read op://Private/agentco-NAME/credential"  # an API Credential of that title
api_key_command = "vault kv get -mount=secret -field=key agentco/NAME"
  # vault kv put -mount=secret agentco/NAME key=-  (then the key, enter, ctrl+d)
api_key_file = "keys/NAME"  # beside the config: (umask 077; mkdir -p keys; cat >keys/NAME)"""


def run(given: Given, env: Mapping[str, str]) -> int:
    """Log in, or out; 3 if nothing answered, 1 if nobody could say where to keep the key. The
    dashboard takes this process's place.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as ctrl+c: the echo comes back
    own = {name: env[name] for name in env if name not in (API_KEY, VARIABLES["base_url"])}
    resolved = Resolver({**given, "base_url": None}, own)
    name, entry = resolved.profile, resolved.entry
    file = resolved.path.parent / "keys" / name
    if resolved.file.exists and resolved.file.problems:
        raise SettingsError(resolved.file.problems)
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", name):
        raise UsageError("a profile to log in to has a name of letters, digits, - and _")
    if given["command"] == "logout":
        return _logout(resolved, file, env)
    say(f"Log in, profile {name}. Nothing is kept before you say so; ctrl+c leaves.")
    text = given.get("base_url") or env.get(VARIABLES["base_url"]) or entry.get("base_url")
    while True:
        url = _address(text, allow_http=entry.get("allow_http", False))
        key = _key(env)
        if asyncio.run(_answers(resolved, url, key)):
            break
        if not agreed("\nType them again?"):
            return Exit.NO_ANSWER
        text = ask(f"Address (enter: {url}):") or str(url)
    setting = _keep(name, file, key, env)
    usable = _write_profile(resolved, url, setting)
    say(f"The dashboard on it: agentco-tui --profile {name}")
    if usable and agreed("\nOpen it now?"):
        words = ["-m", "agentco_tui", "--config", str(resolved.path), "--profile", name]
        words += ["--read-only"] if given.get("read_only") else []
        os.execve(sys.executable, [sys.executable, *words], own)  # noqa: S606 - this very program
    return Exit.OK if setting or at_terminal() else Exit.FAILED


def _address(text: str | None, *, allow_http: bool) -> BaseUrl:
    while True:
        text = text or ask("Address (https://...):")
        try:
            return BaseUrl.parse(text, allow_http=allow_http)
        except CredentialError as error:
            complain(str(error))
        with suppress(CredentialError):
            url = BaseUrl.parse(text, allow_http=True)
            if agreed("Send the key in the open all the same?"):
                return url
        text = None


def _key(env: Mapping[str, str]) -> ApiKey:
    typed = "" if at_terminal() else env.get(API_KEY, "")
    if typed:
        say(f"The key is that of {API_KEY}, as there is no terminal to ask at.")
    while True:
        try:
            return ApiKey.parse(typed or ask("API key (it is not shown):", getpass))
        except CredentialError as error:
            complain(str(error))
            typed = ""


async def _answers(resolved: Resolver, url: BaseUrl, key: ApiKey) -> bool:
    """Ask the platform all that can be read, and tell; False if nothing was answered."""
    values = {**resolved.values, "profile": resolved.profile, "company": None}
    settings = Settings(base_url=url, key=key, key_source="what was given", **values)
    say("", f"reads of {url}, until one is not answered within {ANSWER_WITHIN:g} s:")
    reads, measured, _ = await doctor.examine(
        settings, None, as_lines=True, answer_within=ANSWER_WITHIN
    )
    if not any(read.answered for read in reads):
        return False
    if isinstance(reads[-1].error, TimedOut | Broken):
        say("it stopped there: what comes after it was not asked")
    say("", *doctor.conclusions(reads, measured, doctor.written_before(settings)))
    question = f"Show which of its fields are read, in {FIELDS_WITHIN:g} s at most?"
    if agreed(f"\n{question} (agentco-tui doctor --fields)"):
        try:
            async with asyncio.timeout(FIELDS_WITHIN):
                await doctor.examine_fields(settings, as_json=False)
        except TimeoutError:
            complain(f"not all was answered within {FIELDS_WITHIN:g} s")
    return True


def _keep(name: str, file: Path, key: ApiKey, env: Mapping[str, str]) -> str:
    """Keep the key where the person says; what a profile says then, or "" if it is not kept."""
    is_there = find_spec("keyring") is not None
    if is_there and (not at_terminal() or agreed("\nKeep the key in the system's keyring?")):
        with suppress(CommandError, WrongError):
            run_keyring("set", name, env, typed=key.reveal().encode())
            if KeyPlace("keyring", name, True, env).read() == key:
                return "keyring = true"
        complain("the keyring keeps nothing: is it unlocked?")
    elif not is_there:
        say("", "The extra agentco-tui[keyring] would bring the system's keyring; it is not there.")
    there = file.exists()
    if agreed(f"{'Write over' if there else 'Keep the key in'} {file}, which only you can read?"):
        write_private(file, key.reveal().encode(), replace=there)
        return f'api_key_file = "keys/{name}"'
    return ""


def _write_profile(resolved: Resolver, url: BaseUrl, setting: str) -> bool:
    """Whether the config has the profile, or is begun with it; else what to add is told."""
    path, lines = resolved.path, [f"[profiles.{resolved.profile}]", f'base_url = "{url}"']
    for key, value in tomllib.loads(setting).items():
        if resolved.base_url == url and str(resolved.entry.get(key)) == str(value):
            return True
    if url.scheme == "http" and not url.is_loopback:
        lines.append("allow_http = true")
    lines += [setting] if setting else _WAYS.replace("NAME", resolved.profile).splitlines()
    say("", *lines, "")
    if setting and not path.exists() and agreed(f"Write this to {path}?"):
        begin_config(path, lines)
        return True
    say(f"It belongs into {path}, into which the program does not write.")
    return False


def _logout(resolved: Resolver, file: Path, env: Mapping[str, str]) -> int:
    """Remove the key from where login keeps it; say where else one is."""
    name, place = resolved.profile, resolved.key_place
    removals: dict[str, Callable[[], object]] = {str(file): file.unlink} if file.exists() else {}
    with suppress(WrongError):  # there is none, or none that can be read
        KeyPlace("keyring", name, True, env).read()
        removals["the system's keyring"] = partial(run_keyring, "del", name, env)
    for where, remove in removals.items():
        if not at_terminal() or agreed(f"Remove the key of profile {name} from {where}?"):
            try:
                remove()
            except (CommandError, OSError):
                raise UsageError(f"the key can't be removed from {where}") from None
            say(f"The key is removed from {where}.")
    if not removals:
        say(f"No key of profile {name} is kept in the system's keyring, or in {file}.")
    if place is not None and place.value not in (True, file):
        say(f"What {place.words} brings can't be removed from here.")
    if env.get(API_KEY):
        say(f"{API_KEY} in the environment can't be removed from here.")
    return Exit.OK
