"""A long body parsed a piece at a time, with the same outcome as in one go (law 5).

The parser is one call that nothing else can interrupt: four megabytes take it forty milliseconds.
So the list that makes up a long body is cut between its objects, each piece parsed by itself, and
all of them put where the list stands.
"""

from __future__ import annotations

from typing import Final

from agentco_tui.api.cuts import Cutter, UnevenError
from agentco_tui.reading.json_body import BodyError, fits_memory, parse_json
from agentco_tui.reading.schema import Json

_FED: Final = 256 * 1024
_STAND_IN: Final = b'{"agentco_tui":"the list"}'
_STANDS_IN: Final = {"agentco_tui": "the list"}
_MOST_DEEP: Final = 8
"""Envelopes inside each other that are looked into."""


def parse_long(body: bytes) -> Json:
    """What `parse_json` makes of the body, and what it raises."""
    if not fits_memory(body) or _STAND_IN in body:
        return parse_json(body)
    try:
        return _parse(body)
    except (UnevenError, BodyError):
        return parse_json(body)


def _parse(body: bytes) -> Json:
    cutter = Cutter()
    found: list[Json] = []
    for start in range(0, len(body), _FED):
        for raws in cutter.feed(body[start : start + _FED]):
            found += parse_json(b"[%b]" % b",".join(raws))
    for raws in cutter.finish():
        found += parse_json(b"[%b]" % b",".join(raws))
    assert cutter.head is not None
    whole = parse_json(cutter.head + _STAND_IN + cutter.tail)
    place = _place(whole, 0)
    if place is None:
        raise UnevenError
    place[:] = found
    return whole


def _place(body: Json, depth: int) -> list[Json] | None:
    """The list with the stand-in."""
    if isinstance(body, list):
        if body == [_STANDS_IN]:
            return body
        inner = body
    elif isinstance(body, dict):
        inner = list(body.values())
    else:
        return None
    if depth >= _MOST_DEEP:
        return None
    for each in inner:
        if (found := _place(each, depth + 1)) is not None:
            return found
    return None
