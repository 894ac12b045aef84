"""What `agentco-tui doctor --bundle FILE` writes for a bug report: a recording of one look, with
names, ids and texts replaced, and what doctor found without them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from agentco_tui.api.client import Client
from agentco_tui.api.credentials import BaseUrl, KeyInUse
from agentco_tui.api.errors import ApiError
from agentco_tui.api.pseudonyms import NOWHERE, REPORT, Pseudonyms
from agentco_tui.api.recording import Recorded, Recorder
from agentco_tui.commands.replay_command import begun
from agentco_tui.config import Settings
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.poller import fetch
from agentco_tui.live.store import Store
from agentco_tui.text import safe

_TOLD = (
    *("version", "tls", "read_only", "latency_seconds", "clock_skew_seconds", "permissions"),
    "terminal",
)
"""What of doctor's report names nobody."""


def opened(file: str, settings: Settings) -> Recorder:
    """Raises UsageError if the file can't be written."""
    masked = replace(settings, base_url=BaseUrl.parse(NOWHERE), profile="bundle", company=None)
    key = None if settings.key is None else KeyInUse(settings.key)
    return begun(file, masked, key, alter=Pseudonyms(str(settings.base_url)).alter)


async def read_all(client: Client) -> None:
    """Ask what the dashboard would, for its pictures."""
    for feed in FeedName:
        with suppress(ApiError):
            await fetch(feed, client, Store(), Query())


def finished(recorder: Recorder, report: Mapping[str, Any]) -> list[str]:
    """Add doctor's report, in its form for scripts; lines that say what the file holds."""
    told = {name: report[name] for name in _TOLD}
    left_out = ("text", "note")
    told["reads"] = [
        {name: value for name, value in read.items() if name not in left_out}
        for read in report["reads"]
    ]
    body = json.dumps(told, default=float).encode()
    recorder.take(Recorded(0.0, REPORT, 0.0, report["clock_skew_seconds"], status=200), [body])
    recorder.close(60.0)
    path = safe(str(recorder.path), 200)
    if recorder.trouble is not None:
        return [f"{path}: {recorder.trouble}"]
    return [
        f"{path} holds one answer to each read, and this report without names and addresses.",
        "Names, ids and texts are replaced; numbers, times, words of status and names of fields"
        " are not.",
        f"Look before you send it: agentco-tui replay {path}   (--report: only the report)",
    ]
