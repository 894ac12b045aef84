"""A platform whose every text is a payload, tagged so that a test finds each on the screen.

`T017` begins the title of the 18th task, `A017` the name of its agent, `C017` that of its company,
and so on; what follows the tag is a payload. One answer a path, all made at the start.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from tests.text.payloads import PAYLOADS

TEXTS: Sequence[str] = tuple(PAYLOADS.values())
NAMES: Sequence[str] = tuple(PAYLOADS)
COUNT = len(TEXTS)
AT = "2026-01-02T03:04:05Z"


def tagged(letter: str, number: int, turn: int = 0) -> str:
    """A payload behind its tag; `turn` chooses another one for the same record."""
    return f"{letter}{number:03d}{TEXTS[(number + turn) % COUNT]}"


def company(n: int) -> dict[str, Any]:
    return {
        "id": f"cmp{n}{TEXTS[n]}",
        "name": tagged("C", n),
        "template": tagged("P", n, 7),
        "mission": tagged("M", n, 11),
        "status": tagged("S", n, 3),
        "agent_count": 1,
        "created_at": AT,
    }


def agent(n: int) -> dict[str, Any]:
    return {
        "id": f"ag{n}{TEXTS[n]}",
        "name": tagged("A", n),
        "role": tagged("R", n, 5),
        "status": tagged("S", n, 3),
        "model": tagged("O", n, 9),
        "company_id": f"cmp{n}{TEXTS[n]}",
        "trust_score": 50,
        "pause_reason": tagged("W", n, 2),
        "created_at": AT,
    }


def task(n: int, status: str) -> dict[str, Any]:
    return {
        "id": f"tsk{n}{TEXTS[n]}",
        "title": tagged("T", n),
        "description": tagged("D", n, 1),
        "status": status,
        "priority": tagged("U", n, 4),
        "agent_id": f"ag{n}{TEXTS[n]}",
        "company_id": f"cmp{n}{TEXTS[n]}",
        "created_at": AT,
        # Fields that nobody knows, for the detail pane: as labels and as values.
        **(
            {f"x{at:03d}{text}": f"y{at:03d}{text}" for at, text in enumerate(TEXTS)}
            if not n
            else {}
        ),
    }


def entry(n: int) -> dict[str, Any]:
    return {
        "id": f"evt{n}{TEXTS[n]}",
        "timestamp": AT,
        "level": tagged("V", n, 6),
        "action": tagged("B", n, 2),
        "message": tagged("E", n),
        "agent_id": f"ag{n}{TEXTS[n]}",
        "company_id": f"cmp{n}{TEXTS[n]}",
        "outcome": tagged("Q", n, 8),
    }


def alert(n: int) -> dict[str, Any]:
    return {
        "id": f"alt{n}{TEXTS[n]}",
        "severity": "critical",
        "type": tagged("B", n, 2),
        "message": tagged("L", n),
        "status": "open",
        "agent_id": f"ag{n}{TEXTS[n]}",
        "company_id": f"cmp{n}{TEXTS[n]}",
        "created_at": AT,
    }


def budget(scope: str, n: int) -> dict[str, Any]:
    prefix, letter = ("cmp", "C") if scope == "company" else ("ag", "A")
    return {
        f"{scope}_id": f"{prefix}{n}{TEXTS[n]}",
        f"{scope}_name": tagged(letter, n),
        "monthly_limit": 100,
        "spent": 120,
        "currency": tagged("$", n, 13),
        "period": tagged("H", n, 3),
        "status": tagged("S", n, 4),
    }


def step(n: int) -> dict[str, Any]:
    return {
        "index": n,
        "type": tagged("K", n, 1),
        "name": tagged("N", n),
        "tool": tagged("N", n),
        "content": tagged("X", n, 2),
        "status": "failed" if n % 2 else tagged("S", n, 5),
        "duration_ms": 10,
    }


def _all(make: Any, *more: Any) -> list[dict[str, Any]]:
    return [make(*more, n) if more else make(n) for n in range(COUNT)]


def answers() -> Mapping[str, bytes]:
    """The whole world, as bodies by path."""
    told = {
        "/api/companies": _all(company),
        "/api/agents": _all(agent),
        "/api/tasks?status=pending": [task(n, "pending") for n in range(COUNT)],
        "/api/tasks": [task(n, tagged("S", n, 3)) for n in range(COUNT)],
        "/api/activity": _all(entry),
        "/api/budget": {"monthly_limit": 100, "spent": 120, "period": TEXTS[0], "name": TEXTS[1]},
        "/api/budget/companies": _all(budget, "company"),
        "/api/budget/agents": _all(budget, "agent"),
        "/api/budget/alerts": _all(alert),
        "trace": {"task_id": "x", "status": TEXTS[3], "steps": _all(step), "note": TEXTS[4]},
        "refusal": {
            "error": {"code": TEXTS[0], "message": "Z000" + " ".join(TEXTS[:20])},
            "message": "Z001" + TEXTS[10],
        },
    }
    return {path: json.dumps(body).encode() for path, body in told.items()}


def export() -> bytes:
    """The export: a line of CSV for each payload."""
    lines = [f'E{n:03d},"{text}"' for n, text in enumerate(TEXTS)]
    return "\r\n".join(["id,message", *lines, ""]).encode("utf-8", "surrogatepass")


class HostilePlatform:
    """Serves the hostile world on loopback; a context manager.

    `failing` makes every read a 503 whose reason phrase, headers and body hold payloads.
    """

    full_key = "ag_hostile_world_key_0001"

    def __init__(self) -> None:
        bodies, csv = answers(), export()
        self.failing = False
        self.writes: list[str] = []
        self.keys: set[str] = set()
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                platform.keys.add(self.headers.get("Authorization", ""))
                parts = urlsplit(self.path)
                if platform.failing:
                    self.answer(503, bodies["refusal"])
                elif parts.path.endswith("/trace"):
                    self.answer(200, bodies["trace"])
                elif parts.path.endswith("/export"):
                    self.answer(200, csv, "text/csv")
                elif parts.path == "/api/tasks" and "pending" in parts.query:
                    self.answer(200, bodies["/api/tasks?status=pending"])
                elif parts.path in bodies:
                    self.answer(200, bodies[parts.path])
                else:
                    self.answer(404, bodies["refusal"])

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                platform.writes.append(self.path)
                self.answer(422, bodies["refusal"])

            def answer(self, status: int, body: bytes, media: str = "application/json") -> None:
                self.send_response_only(status, "N\x9b31mo\x85 \xa0[/] [@click=app.quit]x")
                self.send_header("Content-Type", media + "; \x9b31m=[/]")
                self.send_header("Retry-After", "\x9b2J soon [/]")
                self.send_header("Server", "\x9d52;c;AA==\x9c")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
