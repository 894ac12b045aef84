"""The part of `agentco-tui doctor` that says which platform it is, and how to choose that.

A profile can name the file of a platform with another interface. With a file, the server is asked
whether it is that platform; without one, which platform it is, but only if it answered a read with
an error. It is asked without a key.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from agentco_tui.api.errors import Answered, ApiError
from agentco_tui.commands.command_context import recognised_platform
from agentco_tui.config import Settings, how_to_choose, platform_line
from agentco_tui.text import signs


async def examine_platform(
    settings: Settings, failures: Iterable[ApiError | None]
) -> tuple[dict[str, object], list[str]]:
    """What the server says it is, for scripts, and lines about it for the user.

    `failures` are the errors of the reads.
    """
    named = settings.platform
    if named is None and not any(isinstance(failure, Answered) for failure in failures):
        return {"file": None, "recognised": None}, []
    found = await recognised_platform(settings.base_url, asdict(settings))
    facts: dict[str, object] = {"file": named, "recognised": None}
    if found is not None:
        facts["recognised"] = {
            "file": found.name,
            "title": found.title,
            "needs_key": found.needs_key,
        }
    if named is None:
        return facts, [] if found is None else [f"{signs.warning} {how_to_choose(found)}"]
    if found is None:
        words = f"nothing that the server says without a key shows that {platform_line(named)} fits"
        return facts, [f"{signs.warning} {words}"]
    words = f"the server says that it is {found.title}, as {platform_line(named)} has it"
    if found.needs_key and settings.key is None:
        words = f"{words}, and that it needs a key"
    if settings.key is not None and not found.needs_key:
        words = f"{words}, and that it needs no key"
    return facts, [words]
