"""Runs a command with its settings, its log, its signals and its connection."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from agentco_tui.api.credentials import CredentialError, KeyInUse
from agentco_tui.commands.command_log import logged
from agentco_tui.config import Given, Problem, Settings, SettingsError
from agentco_tui.config.resolve import load

if TYPE_CHECKING:
    from agentco_tui.api.client import Client


@contextmanager
def running(given: Given, env: Mapping[str, str]) -> Iterator[Settings]:
    """The settings of a command, which logs while it runs.

    SIGTERM and SIGHUP raise SystemExit in it, so that files which are being written are cleaned
    up. Raises SettingsError if the settings are wrong.
    """
    settings = load(given, env)
    with logged(settings), _exit_on_signals():
        yield settings


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit, unless they are ignored or handled already."""

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
async def connected(settings: Settings, key: KeyInUse | None = None) -> AsyncIterator[Client]:
    """A client for the settings' platform.

    `key` replaces the settings' own if it can be changed while the client is open. Raises
    SettingsError if the settings allow no connection.
    """
    # The dashboard starts without the client.
    from agentco_tui.api.client import open_client  # noqa: PLC0415

    try:
        client = open_client(
            settings.base_url,
            key or settings.key,
            mapping=settings.mapping,
            **settings.transport_options,
        )
    except CredentialError as error:
        raise SettingsError([Problem(text=str(error))]) from None
    async with client:
        yield client
