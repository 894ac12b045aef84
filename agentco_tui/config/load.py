"""The settings for the commands that use them; wrong ones are a `SettingsError`."""

from __future__ import annotations

from collections.abc import Mapping

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.config.gathering import Gathering
from agentco_tui.config.problems import SettingsError
from agentco_tui.config.settings import Flags, Settings


def load(flags: Flags, env: Mapping[str, str]) -> Settings:
    """The effective settings, the key fetched from its source.

    Raises SettingsError with every problem there is; NothingSetError if nothing was set anywhere.
    """
    gathering = Gathering(flags, env)
    base_url = gathering.base_url
    if base_url is None or gathering.problems or gathering.missing:
        raise gathering.error()
    key = gathering.fetch_key()
    if key is None:
        raise gathering.error()
    return Settings(
        profile=gathering.profile,
        base_url=base_url,
        key=key,
        key_source=gathering.key_source,
        key_place=gathering.key_place,
        **gathering.values,
    )


def load_for_demo(flags: Flags, env: Mapping[str, str], base_url: BaseUrl, key: ApiKey) -> Settings:
    """The settings for a platform that the program started itself.

    Flags and the file's theme, keys and alert limits count, no profile does. Raises SettingsError.
    """
    gathering = Gathering(flags, env, with_profile=False)
    if gathering.problems:
        raise SettingsError(gathering.problems)
    return Settings(
        profile="demo", base_url=base_url, key=key, key_source="the demo", **gathering.values
    )
