"""Context managers that most commands run in: settings, log and signals, and an API client.

The client sends requests to the platform, the service whose companies of AI agents are watched. The
settings have its address, its API key, and a mapping that says which of its fields means what.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from agentco_tui.api.credentials import BaseUrl, KeyInUse
from agentco_tui.commands.command_log import log_to_file
from agentco_tui.commands.command_output import print_to_stderr
from agentco_tui.config import Arguments, Problem, Settings, SettingsError, how_to_choose
from agentco_tui.config.resolve import Resolver, load

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Recognised
    from agentco_tui.api.platform import Platform


@contextmanager
def command_context(arguments: Arguments, env: Mapping[str, str]) -> Iterator[Settings]:
    """Load the settings of a command, and write its log while the `with` block runs.

    `arguments` are those of the command line by name, and `env` is the environment. SIGTERM and
    SIGHUP raise SystemExit in the block, so that unfinished files are removed. Raises SettingsError
    if the settings are wrong.
    """
    settings = load_settings(arguments, env)
    with log_to_file(settings), _exit_on_signals():
        yield settings


def load_settings(arguments: Arguments, env: Mapping[str, str]) -> Settings:
    """The effective settings of a command. Raises SettingsError, `with_platform_hint`."""
    try:
        return load(arguments, env)
    except SettingsError as error:
        raise with_platform_hint(error, arguments, env) from None


def with_platform_hint(
    error: SettingsError, arguments: Arguments, env: Mapping[str, str]
) -> SettingsError:
    """The error of `load`; if only the key is missing, with the known platform at the address.

    It also says then how to choose that platform, which may need no key.
    """
    resolved = Resolver(arguments, env)
    url = resolved.base_url
    if url is None or resolved.problems or resolved.key_location is not None:
        return error
    found = asyncio.run(recognised_platform(url, resolved.values))
    if found is None:
        return error
    return SettingsError([*error.problems, Problem(text=how_to_choose(found))])


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Raise SystemExit on SIGTERM and SIGHUP, unless they are ignored or handled already."""

    def exit_program(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    handlers_before = {
        number: signal.signal(number, exit_program)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


@asynccontextmanager
async def connected_client(
    settings: Settings, key: KeyInUse | None = None
) -> AsyncIterator[Platform]:
    """Open a client for the platform of the settings, and close it after the `with` block.

    `key` is used instead of the settings' key if it can change while the client is open
    (`KeyInUse.replace`). Raises SettingsError if the settings allow no connection, as without a key
    or to an address to which a key must not be sent.
    """
    # Imported late, because not every command connects.
    from agentco_tui.platforms.opener import open_platform_of  # noqa: PLC0415

    async with open_platform_of(settings, key) as client:
        yield client


async def recognised_platform(url: BaseUrl, values: Mapping[str, Any]) -> Recognised | None:
    """The known platform that answers at an address, which is asked without a key.

    `values` are settings by name. If they have a platform, only that one is asked for, and None
    means that the address did not say it is that one; else, that it is no known one. What is wrong
    with the file of another platform is printed on stderr. Raises SettingsError for the file of the
    platform in the settings.
    """
    # Imported late, because few commands need it.
    from agentco_tui.platforms.opener import recognise_platform  # noqa: PLC0415

    found, problems = await recognise_platform(
        url,
        values["config_path"],
        values["platform"],
        ca_file=values["ca_file"],
        trust_env=values["trust_env"],
    )
    print_to_stderr(*map(str, problems))
    return found


def words_of_platform(settings: Settings) -> tuple[set[str], set[str]]:
    """The platform's own words by which its answers are read: names of fields, and others.

    Raises SettingsError if the file that describes the platform is missing or wrong.
    """
    from agentco_tui.platforms.opener import declared_words  # noqa: PLC0415 (of few commands)

    return declared_words(settings)
