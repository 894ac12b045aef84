"""Bodies made to break a reader: nothing but the stated exceptions, in bounded time."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.model import extra_fields
from agentco_tui.reading import json_body
from tests.benchmarks.fuzz_bodies import KINDS, play, read, readings
from tests.reading import decode


@pytest.mark.slow
def test_damaged_bodies_give_records_or_a_stated_exception() -> None:
    ended = play(1_000, seed=1)
    assert ended.wrong == []
    assert ended.how["read"] > 4_000
    assert ended.how["UnexpectedShape"] > 400


@given(st.binary(max_size=400))
def test_any_bytes_do_too(raw: bytes) -> None:
    read(raw, Counter())


def deep(levels: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = {"id": "t1", "title": "x"}
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("levels", [5, 60, 150])
@pytest.mark.parametrize(
    "wrap",
    [lambda v: {"data": v}, lambda v: [v], lambda v: {"task": v},
     lambda v: {"attributes": v, "id": "t1"},
     lambda v: {"children": [v], "name": "x"}, lambda v: {"error": v},
     lambda v: {"status": v, "id": "t1"},
     lambda v: {"id": "t1", "agent": v}, lambda v: {"id": "t1", "agent_id": "a", "budget": v},
     lambda v: {"id": "t1", "zzz": [{"q": v}]}, lambda v: {"$date": v},
     lambda v: {"next": v, "data": []}],
)  # fmt: skip
def test_depth_does_no_harm(levels: int, wrap: Callable[[Any], Any]) -> None:
    parsed = deep(levels, wrap)
    for call in readings(parsed):
        with contextlib.suppress(decode.UnexpectedShape):
            for record in getattr(call(), "records", ()):
                extra_fields(record.extra)


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


NOISE: dict[str, Callable[[], bytes]] = {
    "numbers": lambda: b"[" + b"1," * 150_000 + b"1]",
    "nulls": lambda: b"[" + b"null," * 60_000 + b"null]",
    "empty objects": lambda: b"[" + b"{}," * 100_000 + b"{}]",
    "objects of one key": lambda: b"[" + b'{"a":1},' * 40_000 + b"{}]",
    "other keys each time": lambda: body([{f"k{n}": n} for n in range(20_000)]),
    "one object, many keys": lambda: body([{"id": "t1", **{f"key{n}": n for n in range(20_000)}}]),
    "many keys at the top": lambda: body({f"key{n}": n for n in range(20_000)}),
    "many objects at the top": lambda: body({f"key{n}": {} for n in range(20_000)}),
    "one long text": lambda: body([{"id": "t1", "title": "x" * 1_000_000}]),
    "one long odd text": lambda: body([{"id": "t1", "title": "\u0301\x1b" * 100_000}]),
    "one long extra": lambda: body([{"id": "t1", "zzz": ["sk-x " * 20] * 9_000}]),
    "long names": lambda: body([{"id": "t1", **{"amount" * 20 + str(n): n for n in range(2_500)}}]),
    "figures": lambda: body(
        [{"agent_id": "a1", **{f"limit{'_daily' * n}": n for n in range(150)}}] * 12
    ),
    "wide error": lambda: body({"errors": [{"message": "x", "loc": ["a"] * 50}] * 5_000}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NOISE))
def test_much_noise_takes_bounded_time(name: str) -> None:
    parsed = json_body.parse_json(NOISE[name]())
    start = time.process_time()
    for kind in KINDS[2::2]:
        with contextlib.suppress(decode.UnexpectedShape):
            decode.decode_page(kind, parsed)
    with contextlib.suppress(decode.UnexpectedShape):
        decode.decode_trace(parsed)
    with contextlib.suppress(decode.UnexpectedShape):
        decode.decode_overview(parsed)
    # some seconds on the slowest machine; what this guards against takes minutes
    assert time.process_time() - start < 10
