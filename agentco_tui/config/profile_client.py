"""`open_profile`: the public Python client for a profile of the config file (`docs/client.md`).

A profile is a named table that describes one platform (the remote service with companies of AI
agents): its address, where its API key is, and a mapping of its field names to the usual ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentco_tui.api.arguments_check import check_optional_text, check_type
from agentco_tui.api.client import Client, open_client
from agentco_tui.config.problems import Problem, SettingsError
from agentco_tui.config.resolve import load

__all__ = ["open_profile"]


def open_profile(
    profile: str | None = None,
    *,
    config: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> Client:
    """Open a client with a profile's address, key, certificates and mapping; use `async with`.

    profile: None for the one that the environment or the config file names, or the only one.
    config: the config file; None for the one that the command would use.
    env: the environment; None for that of the process. Its variables, such as AGENTCO_API_KEY,
        override the profile, as for the command.
    options: further options of `open_client`.

    A profile with `read_only = true` gives a client that refuses every write.

    Raises SettingsError if there is no such profile or its settings can't be used, and
    CredentialError as `open_client` does.
    """
    check_optional_text(profile, "profile")
    arguments: dict[str, Any] = {}
    if profile is not None:
        arguments["profile"] = profile
    if config is not None:
        check_type(config, (str, Path), "config", "a path or None")
        arguments["config"] = str(config)
    settings = load(arguments, os.environ if env is None else env)
    if settings.platform is not None:
        text = "this profile's platform is described by a file, which only the program reads yet"
        raise SettingsError([Problem(text=text, setting=f"profiles.{settings.profile}.platform")])
    client = open_client(
        settings.base_url,
        settings.key,
        **{"mapping": settings.mapping, **settings.transport_options, **options},
    )
    client.read_only = settings.read_only
    return client
