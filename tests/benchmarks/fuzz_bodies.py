"""True bodies of every response shape, damaged: python -m tests.benchmarks.fuzz_bodies.

python -m tests.benchmarks.fuzz_bodies [--bodies 1000000] [--seed 7]

What the embedded platform answers in each of its shapes, and what other interfaces would, is
damaged (bytes flipped, cut out, doubled, swapped for what breaks parsers, two bodies spliced; or
as JSON: values swapped, keys renamed, parts moved into each other), or a body is made up of the
names that the decoder knows; all is read by the parser and by every decoder. Prints how many were
tried, how they ended by exception, and the slowest in milliseconds of processor time; exits 1 if an
exception came that is not a stated one, or if a body took more than 100 ms.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

from agentco_tui.api import pagination
from agentco_tui.model import extra_fields
from agentco_tui.reading import error_body, json_body
from agentco_tui.reading.kinds import activity, agent, alert, budget, company, task
from agentco_tui.reading.kinds.trace import STEPS
from agentco_tui.text import escaped
from tests.demo.wire import ask
from tests.platform import EmbeddedPlatform
from tests.platform.shapes import SHAPE_NAMES
from tests.reading import decode, golden

PATHS = (
    "/api/companies",
    "/api/agents",
    "/api/tasks?status=pending",
    "/api/activity?limit=3",
    "/api/budget",
    "/api/budget/companies",
    "/api/budget/agents",
    "/api/budget/alerts",
    "trace",
)
KINDS: tuple[decode.Kind[Any], ...] = (
    decode.COMPANIES,
    decode.AGENTS,
    decode.TASKS,
    decode.COMPANY_BUDGETS,
    decode.AGENT_BUDGETS,
    decode.ALERTS,
    decode.ACTIVITY,
)
BREAKERS = (
    b"[", b"{", b"]", b"}", b'"', b",", b":", b"NaN", b"-Infinity", b"1e999", b"-0", b"\xff",
    b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"\x00", b"\n", b"\r\ndata: ", b"null", b"true",
    b"9" * 50, b"[" * 300, b'{"a":' * 60, b'"error":', b'"next":', b"<html>", b"1e-400", b"\x1e",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 0.5, 2**63, 10**30, 1e300, "",
    " ", "x", "\ud800", "\x1b[31m", "1e999",
    "$1,234.50", "9" * 400, "0001-01-01", "2026-13-45T99:99:99Z", "/Date(1)/", "PT1.5S", "NaN",
    "[1]", '{"a":1}', "unlimited", "http://h/api/tasks?page=2", [], {}, [[]], [None], {"": {}},
)  # fmt: skip
TABLES = (
    *(each.FIELDS for each in (activity, agent, alert, company, task)),
    budget.AGENT_BUDGETS.table.fields,
    STEPS.table.fields,
)
AROUND = """data items results edges node pageInfo hasNextPage endCursor next links meta total limit
    page has_more budget spend spent error errors message detail success included relationships
    children spans steps resourceSpans scopeSpans columns rows groups byStatus value amount currency
    pending done critical active 2026-11-21 ag_1 _links self href at @id $date fields properties
    spec metadata S stringValue type ref key label subject companies agents tasks"""
NAMES = sorted(
    {"", *AROUND.split()}.union(
        name.split(".")[-1]
        for fields in TABLES
        for field in fields
        for name, _ in field.names_with_sources()
    )
)
"""Those of our fields, wrappers, and what else bodies are built of."""
SLOW = 0.1


def seeds() -> list[bytes]:
    """The platform's answers in every shape, and a list of tasks in those of other interfaces."""
    answers = [golden.load(name)["answer"] for name in golden.names()]
    found = [json.dumps(answer["body"]).encode() for answer in answers]
    for shape in SHAPE_NAMES:
        with EmbeddedPlatform(companies=1, agents=2, tasks=3, speed=0, shape=shape) as platform:
            task = next(iter(platform.world.state.tasks))
            for path in PATHS:
                address = f"/api/tasks/{task}/trace" if path == "trace" else path
                found.append(ask(platform, address).body)
    return found


def made_up(dice: random.Random, raw: bytes, other: bytes) -> bytes:
    """Any JSON, of the names that the decoder knows; now and then damaged."""

    def value(depth: int) -> Any:
        roll = dice.random()
        if depth > 5 or roll < 0.55:
            return dice.choice(ODD)
        if roll < 0.75:
            return [value(depth + 1) for _ in range(dice.randint(0, 4))]
        return {dice.choice(NAMES): value(depth + 1) for _ in range(dice.randint(0, 9))}

    body = json.dumps(value(0)).encode()
    return damaged(dice, body, other) if dice.random() < 0.3 else body


def damaged(dice: random.Random, raw: bytes, other: bytes) -> bytes:
    """A body with one to six things done to it."""
    body = bytearray(raw)
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        place = dice.randrange(len(body) + 1)
        what = dice.randrange(8)
        if what == 0 and place < len(body):
            body[place] = dice.randrange(256)
        elif what == 1:
            del body[place : place + dice.randrange(30)]
        elif what == 2:
            body[place:place] = body[place : place + dice.randrange(200)]
        elif what == 3:
            del body[place:]
        elif what == 4:
            start = dice.randrange(len(other) + 1)
            body[place:place] = other[start : start + dice.randrange(300)]
        elif what == 5 and place < len(body):
            body[place] ^= 1 << dice.randrange(8)
        else:
            body[place:place] = dice.choice(BREAKERS)
    return bytes(body)


def reshaped(dice: random.Random, raw: bytes, other: bytes) -> bytes:
    """A body that is JSON still: values swapped, keys renamed, parts moved into each other."""
    try:
        found, guest = json.loads(raw), json.loads(other)
    except ValueError:
        return damaged(dice, raw, other)
    for _ in range(dice.choice((1, 2, 3, 8))):
        holder, place = _somewhere(dice, [found])
        if place is None:
            continue
        roll = dice.random()
        if roll < 0.4:
            holder[place] = copy.deepcopy(dice.choice(ODD))
        elif roll < 0.6:
            inside, at = _somewhere(dice, [guest])
            holder[place] = copy.deepcopy(guest if at is None else inside[at])
        elif roll < 0.75:
            holder[place] = dice.choice(([holder[place]], {"value": holder[place]}, {}, []))
        elif isinstance(holder, dict):
            holder[dice.choice(NAMES)] = holder.pop(place)
        else:
            del holder[place]
    return json.dumps(found).encode()


def _somewhere(dice: random.Random, top: list[Any]) -> tuple[Any, Any]:
    """A list or object anywhere in a value, and a place in it; None if it is empty."""
    holder: Any = top
    while True:
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not places:
            return holder, None
        place = dice.choice(places)
        if not isinstance(holder[place], (dict, list)) or (
            holder is not top and dice.random() < 0.3
        ):
            return (holder, None) if holder is top else (holder, place)
        holder = holder[place]


def read(raw: bytes, ended: Counter[str]) -> None:
    """The body through the parser and every decoder; what is not stated comes out."""
    request = pagination.PageRequest("/api/tasks", (), "https://h")
    error_body.read_error(raw)
    try:
        parsed = json_body.parse_json(raw)
    except json_body.BodyError as error:
        ended[type(error).__name__] += 1
        return
    for reading in readings(parsed):
        try:
            found = reading()
            ended["read"] += 1
        except decode.UnexpectedShape as error:
            ended[type(error).__name__] += 1
            continue
        for name in ("records", "steps", "parts"):
            for record in getattr(found, name, ()):
                looked_at(record)
    for headers in ({}, {"link": "</api/tasks?page=2>; rel=next"}):
        pagination.next_page(parsed, headers, request, 3)


def readings(parsed: Any) -> Iterator[Callable[[], Any]]:
    """All that may be read of what was parsed."""
    for kind, status in zip(KINDS, cycle((200, 202, 207)), strict=False):
        yield partial(decode.decode_page, kind, parsed)
        yield partial(decode.decode_one, kind, parsed, "ag_1")
        yield partial(decode.decode_receipt, kind, parsed, status)
    yield partial(decode.decode_overview, parsed)
    yield partial(decode.decode_trace, parsed)


def looked_at(record: Any) -> None:
    """A record has an id, what is kept of it is JSON, and no text of it but its id has escapes."""
    assert record.id
    extra_fields(record.extra)
    for name in record.__struct_fields__:
        shown = getattr(record, name)
        assert name == "id" or not isinstance(shown, str) or "\x1b" not in shown, name


class Ended(NamedTuple):
    """What came of a run."""

    how: Counter[str]
    wrong: list[str]
    """The first exceptions that are not stated, each with its body."""
    slowest: float
    slow_body: bytes


def play(bodies: int, seed: int) -> Ended:
    """Read so many damaged bodies."""
    dice, sound = random.Random(seed), seeds()
    # As the program does once it runs: else the slowest body is the one at which the collector
    # looked through all modules, whatever is in it.
    gc.collect()
    gc.freeze()
    how: Counter[str] = Counter()
    slowest, slow_body, wrong = 0.0, b"", list[str]()
    for turn in range(bodies):
        (spoil,) = dice.choices((reshaped, damaged, made_up), (55, 30, 15))
        raw = spoil(dice, dice.choice(sound), dice.choice(sound))
        started = time.process_time()
        try:
            read(raw, how)
        except Exception:
            how["not stated"] += 1
            if len(wrong) < 5:
                wrong.append(f"{traceback.format_exc()}\n{escaped(raw.decode('latin-1'))}\n")
        took = time.process_time() - started
        if took > slowest:
            slowest, slow_body = took, raw
        if turn % 100_000 == 99_999:
            sys.stderr.write(f"{turn + 1:,} bodies, slowest {slowest * 1000:.1f} ms\n")
    gc.unfreeze()
    return Ended(how, wrong, slowest, slow_body)


def main() -> int:
    """Run, and print what was seen."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bodies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    ended = play(wanted.bodies, wanted.seed)
    sys.stdout.write(
        "".join(ended.wrong)
        + f"{wanted.bodies:,} bodies, seed {wanted.seed}\n"
        + "".join(f"  {name}: {count:,}\n" for name, count in ended.how.most_common())
        + f"slowest body: {ended.slowest * 1000:.1f} ms\n"
    )
    if ended.slowest > SLOW:
        sys.stdout.write(f"{escaped(ended.slow_body.decode('latin-1'))}\n")
    return int(bool(ended.wrong) or ended.slowest > SLOW)


if __name__ == "__main__":
    sys.exit(main())
