"""Bodies made to break a reader: nothing but the stated exceptions, in bounded time."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.api import pagination
from agentco_tui.model import extra_fields
from agentco_tui.reading import json_body
from agentco_tui.reading.field_names import word_set
from tests.reading import decode

KINDS: tuple[decode.Kind[Any], ...] = (
    decode.COMPANIES, decode.AGENTS, decode.TASKS, decode.COMPANY_BUDGETS, decode.AGENT_BUDGETS,
    decode.ALERTS, decode.ACTIVITY,
)  # fmt: skip
NAMES = sorted(
    word_set(
        """$date $numberLong $oid _id action actor actorType agent agent_id agents alerts amount
        approval approval_status attributes budget children columns companies company company_id
        config cost created_at currency data description detail details duration edges entityId
        entries error errors function has_more id included items key limit links message meta
        model monthly_limit name nanos next nextCursor node nodes observations offset ok outcome
        page pageInfo password payload pct pendingInterrupt priority references relationships
        remaining requires_approval resets_at resolvedAt resourceSpans results rows scopeId
        scopeSpans scopeType seconds severity spans spend spentCents startMs state status steps
        success taskId tasks threshold thresholdType timeout_secs timestamp title token tokens
        tool_calls total trust_score type unit unlimited usage value windowEnd"""
    )
)
TEXTS = ["", " ", "x", "ag_1", "pending", "$1,234.50", "12.5", "-1", "unlimited",
 "2026-11-21T09:00:00Z", "0001-01-01",
         "\x1b[31m", "/Date(1700000000000)/", "PT1.5S", "80%", "\ud800", "[1]", '{"a":1}',
         "9" * 60, "1e999", "a" * 500,
         "\u202e", "2026-13-45T99:99:99Z", "0000-00-00", "NaN", "{", "http://h/api/tasks?page=2",
         "\x00"]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 5, 80, 0.8, 1.5, 1e18, 1e300, 1700000000, 1700000000000, 2**31 - 1, 2**63, 10**30,
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.sampled_from([*NUMBERS, *TEXTS]) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner,
     max_size=8),
    max_leaves=40,
)  # fmt: skip


def calls(body: Any) -> list[Callable[[], Any]]:
    request = pagination.PageRequest("/api/tasks", (), "http://h")
    each: list[Callable[[], Any]] = []
    for kind in KINDS:
        each.append(partial(decode.decode_page, kind, body))
        each.append(partial(decode.decode_one, kind, body, "ag_1"))
        each.append(partial(decode.decode_receipt, kind, body, 207))
    each.append(lambda: decode.decode_overview(body))
    each.append(lambda: decode.decode_trace(body))
    each.append(lambda: pagination.next_page(body, {}, request, 2))
    return each


def records_of(answer: Any) -> list[Any]:
    if isinstance(answer, decode.Page):
        return list(answer.records)
    return list(getattr(answer, "steps", ())) + list(getattr(answer, "parts", ()))


@settings(max_examples=150)
@given(VALUES)
def test_any_json_gives_records_or_a_stated_exception(body: Any) -> None:
    parsed = json_body.parse_json(json.dumps(body).encode())
    for call in calls(parsed):
        with contextlib.suppress(decode.Unshaped):
            for record in records_of(call()):
                assert record.id
                extra_fields(record.extra)
                shown = {name: getattr(record, name) for name in record.__struct_fields__}
                for raw in ("id", "extra", "agent", "company", "parent", "actor", "task"):
                    shown.pop(raw, None)
                assert "\x1b" not in "".join(text for text in shown.values() if type(text) is str)


def check(raw: bytes) -> None:
    with contextlib.suppress(json_body.BodyError):
        parsed = json_body.parse_json(raw)
        for call in calls(parsed):
            with contextlib.suppress(decode.Unshaped):
                call()


@given(st.binary(max_size=400))
def test_any_bytes_do_too(raw: bytes) -> None:
    check(raw)


@settings(max_examples=80)
@given(
    VALUES, st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_flipped_bytes_do_too(body: Any, flips: list[tuple[int, int]]) -> None:
    raw = bytearray(json.dumps({"tasks": [body, {"id": "t1", "title": "x"}]}).encode())
    for place, value in flips:
        raw[place % len(raw)] = value
    check(bytes(raw))


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
    for call in calls(parsed):
        with contextlib.suppress(decode.Unshaped):
            for record in records_of(call()):
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


@pytest.mark.parametrize("name", sorted(NOISE))
def test_much_noise_takes_bounded_time(name: str) -> None:
    parsed = json_body.parse_json(NOISE[name]())
    start = time.process_time()
    for kind in (KINDS[2], KINDS[4], KINDS[6]):
        with contextlib.suppress(decode.Unshaped):
            decode.decode_page(kind, parsed)
    with contextlib.suppress(decode.Unshaped):
        decode.decode_trace(parsed)
    with contextlib.suppress(decode.Unshaped):
        decode.decode_overview(parsed)
    # some seconds on the slowest machine; what this guards against takes minutes
    assert time.process_time() - start < 10
