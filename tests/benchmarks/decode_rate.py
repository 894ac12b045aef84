"""How long a task takes from bytes to a record: python tests/benchmarks/decode_rate.py [N].

As one body of N tasks, 20,000 unless told: many more are not parsed as a whole (`footprint`).
"""

from __future__ import annotations

import sys
import time

import msgspec

from agentco_tui.reading import json_body
from tests.reading import decode


def body(count: int) -> bytes:
    """A list of tasks with sixteen fields each, two of them unknown here."""
    rows = [
        {
            "id": f"task_{n:08d}",
            "company_id": f"cmp_{n % 40}",
            "agent_id": f"ag_{n % 900}",
            "agent_name": f"Agent {n % 900}",
            "title": f"Task number {n} about something that matters",
            "description": "Look at the figures and write them up for the board.",
            "status": ("pending", "running", "completed", "failed")[n % 4],
            "priority": ("low", "normal", "high")[n % 3],
            "trust_score": n % 100,
            "created_at": f"2026-11-{1 + n % 20:02d}T{n % 24:02d}:{n % 60:02d}:00Z",
            "updated_at": "2026-11-21T09:00:00.123456Z",
            "estimated_cost_usd": 1.25,
            "requires_approval": True,
            "run_id": f"run{n}",
            "attempt": n % 3,
            "decided_at": None,
        }
        for n in range(count)
    ]
    return msgspec.json.encode({"tasks": rows, "total": count})


def main() -> None:
    """Print the best of three runs, in processor time."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    raw = body(count)
    parsing = decoding = float("inf")
    for _ in range(3):
        start = time.process_time()
        parsed = json_body.parse_json(raw)
        middle = time.process_time()
        page = decode.decode_page(decode.TASKS, parsed)
        end = time.process_time()
        assert len(page.records) == count
        parsing, decoding = min(parsing, middle - start), min(decoding, end - middle)
    each = 1_000_000 / count
    sys.stdout.write(
        f"{count} tasks, {len(raw) / 1e6:.1f} MB: {parsing * each:.2f} µs to parse and "
        f"{decoding * each:.2f} µs to decode a record\n"
    )


if __name__ == "__main__":
    main()
