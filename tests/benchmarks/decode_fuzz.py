"""Mutated bodies through the whole decoder: python tests/benchmarks/decode_fuzz.py [N] [SEED].

Prints how many bodies were read, the slowest of them, and every exception that is not stated;
exits 1 if there was one, or if a body took longer than 100 ms of processor time.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from agentco_tui.api import pagination
from agentco_tui.reading import error_body, json_body
from agentco_tui.reading.field_names import word_set
from agentco_tui.reading.kinds import activity, agent, alert, budget, company, task
from agentco_tui.reading.kinds.trace import STEP
from agentco_tui.text import escaped
from tests.reading import decode

KINDS: tuple[decode.Kind[Any], ...] = (
    decode.COMPANIES,
    decode.AGENTS,
    decode.TASKS,
    decode.COMPANY_BUDGETS,
    decode.AGENT_BUDGETS,
    decode.ALERTS,
    decode.ACTIVITY,
)
TABLES = (
    *(each.FIELDS for each in (activity, agent, alert, company, task)),
    budget.AGENT_BUDGETS.table.fields,
    STEP.fields,
)
DECLARED = {name for fields in TABLES for field in fields for name, _ in field.sourced()}
AROUND = word_set(
    """data items results tasks agents companies alerts edges node nodes pageInfo hasNextPage
    endCursor next links meta total limit offset page has_more nextCursor monthly_limit spentCents
    budget spend error errors message detail ok success included relationships observations spans
    children steps resourceSpans scopeSpans columns rows threshold"""
)
NAMES = sorted(AROUND.union(*(name.split(".") for name in DECLARED)))
WORDS = (
    "", " ", "x", "ag_1", "pending", "done", "$1,234.50", "12.5", "unlimited", "0001-01-01",
    "2026-11-21T09:00:00Z", "\x1b[31m", "/Date(1700000000000)/", "PT1.5S", "80%", "\ud800", "[1]",
    '{"a":1}', "9" * 40, "1e999", "a" * 500, "\u202e", "2026-13-45T99:99:99Z", "null",
)  # fmt: skip
NUMBERS = (0, 1, -1, 5, 80, 0.8, 1.5, 1e18, 1700000000, 1700000000000, 2**63, 10**30)
SLOW = 0.1


def value(dice: random.Random, depth: int = 0) -> Any:
    """Any JSON, with the names that the decoder knows."""
    roll = dice.random()
    if depth > 5 or roll < 0.55:
        return dice.choice((None, True, False, *NUMBERS, *WORDS))
    if roll < 0.75:
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 4))]
    return {dice.choice(NAMES): value(dice, depth + 1) for _ in range(dice.randint(0, 9))}


def mutated(dice: random.Random, raw: bytes) -> bytes:
    """A few bytes flipped, cut out or doubled."""
    body = bytearray(raw)
    for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
        place = dice.randrange(len(body) + 1)
        what = dice.randrange(4)
        if what == 0 and place < len(body):
            body[place] = dice.randrange(256)
        elif what == 1:
            del body[place : place + dice.randrange(9)]
        elif what == 2:
            body[place:place] = body[place : place + dice.randrange(40)]
        else:
            body[place:place] = dice.choice(
                (b"[", b"{", b'"', b"NaN", b"\xff", b"\\ud800", b"1e999")
            )
    return bytes(body)


def readings(raw: bytes, dice: random.Random) -> list[Callable[[], object]]:
    """What is done with a body: one list, one record, and one of everything else."""
    parsed = json_body.parse_json(raw)
    kind = dice.choice(KINDS)
    request = pagination.PageRequest("/api/tasks", (), "https://h")
    link = {"link": "</api/tasks?page=2>; rel=next"}
    return [
        lambda: decode.decode_page(kind, parsed),
        lambda: decode.decode_one(kind, parsed, "ag_1"),
        lambda: decode.decode_receipt(kind, parsed, dice.choice((200, 202, 207))),
        lambda: decode.decode_overview(parsed),
        lambda: decode.decode_trace(parsed),
        lambda: pagination.next_page(parsed, link, request, 3),
        lambda: error_body.read_error(raw),
    ]


def main() -> int:
    """Run, and print what was seen."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    dice = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 7)
    slowest, read, bad = 0.0, 0, 0
    gc.collect()
    gc.freeze()  # as the program does once it runs
    for _ in range(count):
        raw = mutated(dice, json.dumps(value(dice)).encode())
        start = time.process_time()
        try:
            for reading in readings(raw, dice):
                try:
                    reading()
                except decode.Unshaped:
                    continue
            read += 1
        except json_body.BodyError:
            pass
        except Exception:
            bad += 1
            sys.stdout.write(f"{traceback.format_exc()}\n{escaped(raw.decode('latin-1'))}\n")
        slowest = max(slowest, time.process_time() - start)
    sys.stdout.write(
        f"{count} bodies, {read} of them JSON; {bad} exceptions that are not stated; "
        f"slowest {slowest * 1000:.1f} ms\n"
    )
    return int(bool(bad) or slowest > SLOW)


if __name__ == "__main__":
    sys.exit(main())
