"""Opens the platform of the settings: the usual interface, or one that a file describes; and says
which one answers at an address.

The file of a platform comes with the program, or lies in the folder `platforms` beside the config
file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import BaseUrl, CredentialError, KeyInUse
from agentco_tui.config import Problem, Settings, SettingsError

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Recognised


def open_platform_of(settings: Settings, key: KeyInUse | None = None, **options: Any) -> Client:
    """A client for the platform of the settings, which must be closed.

    `key` is used instead of the settings' key if it can change while the client is open
    (`KeyInUse.replace`). `options` are those of `open_client`, and come before the settings' own.
    Raises SettingsError if the settings allow no connection, as without a key or to an address to
    which a key must not be sent, and with every mistake in the platform's file.
    """
    open_it: Callable[..., Client] = open_client
    if settings.platform is not None:
        # Imported late: few profiles have one.
        from agentco_tui.platforms.declared_platform import open_platform  # noqa: PLC0415
        from agentco_tui.platforms.platform_file import load_platform  # noqa: PLC0415

        open_it = partial(open_platform, load_platform(settings.platform, settings.config_path))
    options = {**settings.transport_options, **options}  # certificates, proxies, the key's source
    try:
        return open_it(settings.base_url, key or settings.key, mapping=settings.mapping, **options)
    except CredentialError as error:
        raise SettingsError([Problem(text=str(error))]) from None


async def recognise_platform(
    base_url: BaseUrl, config_path: Path | None, name: str | None = None, **options: Any
) -> tuple[Recognised | None, list[Problem]]:
    """The known platform that answers at an address, which is asked without a key.

    The arguments, the result and the errors are those of `recognition.recognise`.
    """
    # Imported late: most starts need it not.
    from agentco_tui.platforms.recognition import recognise  # noqa: PLC0415

    return await recognise(base_url, config_path, name, **options)


def declared_words(settings: Settings) -> tuple[set[str], set[str]]:
    """The words of the settings' platform in its file: the fields with a name of ours, and others.

    None of either for the usual interface. Raises SettingsError with every mistake in the file.
    """
    if settings.platform is None:
        return set(), set()
    from agentco_tui.platforms.declared_words import (  # noqa: PLC0415
        mapped_names,
        words_for_reading,
    )
    from agentco_tui.platforms.platform_file import load_platform  # noqa: PLC0415

    file = load_platform(settings.platform, settings.config_path)
    return mapped_names(file), words_for_reading(file)
