"""A platform's file with one value that is wrong, for each value in it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from agentco_tui.platforms.platform_records import PlatformFile

Place: TypeAlias = tuple[Any, ...]
"""The keys and indexes that lead to a value."""
ELSEWHERE = {"name", "auth", "found_by", "keyless"}
"""What is no part of an operation: words in sentences, and how the platform is recognised."""


def places_in(data: Any) -> list[Place]:
    """The place of each single value that an operation depends on."""
    return [place for place in _leaves(data) if place[0] not in ELSEWHERE]


def words_of(place: Place) -> str:
    """A place as the name of a test."""
    return ".".join(map(str, place))


def changed(data: Any, place: Place) -> Any:
    """The file with one value that is wrong."""
    data = copy.deepcopy(data)
    inner = data
    for part in place[:-1]:
        inner = inner[part]
    value = inner[place[-1]]
    if isinstance(value, bool):
        inner[place[-1]] = not value
    elif isinstance(value, int):
        inner[place[-1]] = value // 7
    elif place[-1] == "unit":
        inner[place[-1]] = "cents" if value == "units" else "units"
    elif place[-1] == "lists":
        inner[place[-1]] = "both"
    else:
        inner[place[-1]] = f"{value[:-1]}x" if value.endswith("}") else f"{value}x"
    return data


def declared(data: Any) -> PlatformFile:
    """The file with this content; a single word stands for a list of one, as in the file itself."""
    data = copy.deepcopy(data)
    for sources in data.values():
        for source in sources.values() if isinstance(sources, dict) else ():
            if isinstance(source, dict) and isinstance(source.get("cause"), str):
                source["cause"] = [source["cause"]]
    return msgspec.convert(data, PlatformFile)


def _leaves(value: Any, path: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    else:
        yield path
