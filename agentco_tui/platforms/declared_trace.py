"""Reads the steps of a task's course as a platform's file declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from agentco_tui.model import Trace
from agentco_tui.platforms.platform_records import TraceSource
from agentco_tui.reading.json_access import Json, value_at
from agentco_tui.reading.trace_layout import read_trace

_KNOWN_NAMES: Final[Mapping[str, str]] = {
    "kind": "kind", "name": "name", "text": "message", "status": "status", "at": "timestamp",
}  # fmt: skip
"""The fields of a step that a file can place, with names that are read anyway."""


def trace_of(source: TraceSource, answer: Json) -> Trace:
    """The steps in an answer, or in the text of a log; raises as `read_trace` does."""
    steps = answer if source.lines is None else _objects_in_lines(answer)
    if isinstance(steps, list):
        steps = [_renamed(source, step) if isinstance(step, dict) else step for step in steps]
    return read_trace(steps)


def _objects_in_lines(text: Json) -> list[Json]:
    """The JSON in each line of a text; a line that is no JSON, as it is torn, is left as text."""
    objects: list[Json] = []
    for line in text.splitlines() if isinstance(text, str) else ():
        try:
            objects.append(msgspec.json.decode(line))
        except msgspec.DecodeError:
            objects.append({"message": line})
    return objects


def _renamed(source: TraceSource, step: Mapping[str, Json]) -> dict[str, Json]:
    """A step with what the file places under names that are known."""
    placed = {_KNOWN_NAMES[slot]: value_at(step, path) for slot, path in source.fields.items()}
    renamed = {name: value for name, value in step.items() if name not in source.fields.values()}
    renamed |= {name: value for name, value in placed.items() if value is not None}
    if source.kind is not None:
        renamed.setdefault("kind", source.kind)
    return renamed
