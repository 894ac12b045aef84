"""Context managers that most commands run in: settings, log and signals, and an API client.

The client sends requests to the platform, the service whose companies of AI agents are watched. The
settings have its address, its API key, and a mapping that says which of its fields means what.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.commands.command_log import log_to_file
from agentco_tui.config import Arguments, Settings
from agentco_tui.config.resolve import load

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform


@contextmanager
def command_context(arguments: Arguments, env: Mapping[str, str]) -> Iterator[Settings]:
    """Load the settings of a command, and write its log while the `with` block runs.

    `arguments` are those of the command line by name, and `env` is the environment. SIGTERM and
    SIGHUP raise SystemExit in the block, so that unfinished files are removed. Raises SettingsError
    if the settings are wrong.
    """
    settings = load(arguments, env)
    with log_to_file(settings), _exit_on_signals():
        yield settings


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


def words_of_platform(settings: Settings) -> tuple[set[str], set[str]]:
    """The platform's own words by which its answers are read: names of fields, and others.

    Raises SettingsError if the file that describes the platform is missing or wrong.
    """
    from agentco_tui.platforms.opener import declared_words  # noqa: PLC0415 (of few commands)

    return declared_words(settings)
