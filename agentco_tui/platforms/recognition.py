"""Recognises which platform answers at an address, by what it says about itself without a key.

A file says in `found_by` what is asked for that. No answer is followed to another address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from agentco_tui.api.capabilities import Conventions, Recognised
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.api.transport import Transport
from agentco_tui.config import Problem
from agentco_tui.platforms.platform_file import known_platforms, load_platform
from agentco_tui.platforms.platform_records import PlatformFile
from agentco_tui.platforms.templates import as_word
from agentco_tui.reading.json_access import Json, value_at
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.text import clean_line

LIMITS: Final = Limits(connect=2.0, read=2.0, write=2.0, pool=2.0, total=3.0, body=1024 * 1024)
"""The user waits for the answer, or for none, before anything else."""


async def recognise(
    base: BaseUrl, config: Path | None, name: str | None = None, **options: Any
) -> tuple[Recognised | None, list[Problem]]:
    """The first known platform that recognises an answer of its own; None if there is none.

    Files beside the config file come first. With `name`, only that platform is asked for.
    `options` are those of `Transport` that say how to reach the address. Also returns the mistakes
    in files that can't be used. Raises SettingsError if that of `name` is one of them.
    """
    problems: list[Problem] = []
    if name is None:
        files, problems = known_platforms(config)
    else:
        files = {name: load_platform(name, config)}
    answers = await _answers(base, files.values(), options)
    for file_name, file in files.items():
        answer = answers.get(_question_of(file))
        if file.recognises(answer):
            return _recognised(file_name, file, answer), problems
    return None, problems


def _question_of(file: PlatformFile) -> tuple[str, str]:
    """The prefix and the path by which a platform is recognised; empty if it can't be."""
    return (file.prefix, file.found_by.get) if file.found_by is not None else ("", "")


async def _answers(
    base: BaseUrl, files: Iterable[PlatformFile], options: dict[str, Any]
) -> dict[tuple[str, str], Json]:
    """The answers by which platforms are recognised, without those that did not come."""
    questions = {_question_of(file) for file in files if file.found_by is not None}
    answers = await asyncio.gather(*(_answer(base, *each, options) for each in questions))
    return dict(zip(questions, answers, strict=True))


async def _answer(base: BaseUrl, prefix: str, path: str, options: dict[str, Any]) -> Json:
    """The answer to a request without a key; None if there is none that can be read."""
    never_sent = ApiKey(token_hex(20))
    conventions = Conventions(key_header=None, prefix=prefix)
    try:
        transport = Transport(
            base, never_sent, attempts=1, limits=LIMITS, conventions=conventions, **options
        )
        async with aclosing(transport):
            return parse_json((await transport.request("GET", path)).body)
    except (ApiError, CredentialError, BodyError):
        # Whatever is wrong with the address is reported by the first request with a key.
        return None


def _recognised(name: str, file: PlatformFile, answer: Json) -> Recognised:
    version = None
    if file.found_by is not None and file.found_by.version is not None:
        version = as_word(value_at(answer, file.found_by.version))
    right_key = file.auth.right_key
    return Recognised(
        name,
        clean_line(f"{file.name} {version}" if version else file.name, 80),
        needs_key=not file.needs_no_key(answer),
        right_key=None if right_key is None else clean_line(right_key),
    )
