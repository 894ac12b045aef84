"""A platform whose every text is a payload, tagged so that a test finds each on the screen.

`T017` begins the title of the 18th task, `A017` the name of its agent, `C017` that of its company,
and so on; what follows the tag is a payload. One answer a path, all made at the start. Also what a
program may write to a terminal, and at which columns the tags in a picture stand.
"""

from __future__ import annotations

import codecs
import json
import re
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

import wcwidth

from tests.text.payloads import PAYLOADS

TEXTS: Sequence[str] = tuple(PAYLOADS.values())
NAMES: Sequence[str] = tuple(PAYLOADS)
COUNT = len(TEXTS)
AT = "2026-01-02T03:04:05Z"


def tagged(letter: str, number: int, turn: int = 0) -> str:
    """A payload behind its tag; `turn` chooses another one for the same record."""
    return f"{letter}{number:03d}{TEXTS[(number + turn) % COUNT]}"


IDS = {"agent_id": "@ag", "company_id": "@cmp"}
RECORDS: dict[str, dict[str, Any]] = {
    "companies": {
        **{"id": "@cmp", "name": "#C", "template": "#P7", "mission": "#M11", "status": "#S3"},
        **{"agent_count": 1, "created_at": AT},
    },
    "agents": {
        **{"id": "@ag", "name": "#A", "role": "#R5", "status": "#S3", "model": "#O9"},
        **{"company_id": "@cmp", "trust_score": 50, "pause_reason": "#W2", "created_at": AT},
    },
    "tasks": {
        **{"id": "@tsk", "title": "#T", "description": "#D1", "status": "#S3", "priority": "#U4"},
        **{**IDS, "created_at": AT},
    },
    "activity": {
        **{"id": "@evt", "timestamp": AT, "level": "#V6", "action": "#B2", "message": "#E"},
        **{**IDS, "outcome": "#Q8"},
    },
    "budget/alerts": {
        **{"id": "@alt", "severity": "critical", "type": "#B2", "message": "#L"},
        **{"status": "open", **IDS, "created_at": AT},
    },
    "steps": {
        **{"type": "#K1", "name": "#N", "tool": "#N", "content": "#X2", "status": "#S5"},
        "duration_ms": 10,
    },
    **{
        f"budget/{many}": {
            **{f"{one}_id": f"@{prefix}", f"{one}_name": f"#{letter}"},
            **{"monthly_limit": 100, "spent": 120, "currency": "#$13"},
            **{"period": "#H3", "status": "#S4"},
        }
        for many, one, prefix, letter in (
            ("companies", "company", "cmp", "C"),
            ("agents", "agent", "ag", "A"),
        )
    },
}
"""Fields by the path of the list: `@cmp` is an id, `#P7` the tag P and the seventh payload on."""


def records(path: str, **more: Any) -> list[dict[str, Any]]:
    """A record for each payload."""

    def value(field: Any, n: int) -> Any:
        match str(field)[:1]:
            case "@":
                return f"{field[1:]}{n}{TEXTS[n]}"
            case "#":
                return tagged(field[1], n, int(field[2:] or 0))
        return field

    fields = {**RECORDS[path], **more}
    return [{name: value(field, n) for name, field in fields.items()} for n in range(COUNT)]


def answers() -> Mapping[str, bytes]:
    """The whole world, as bodies by path."""
    told: dict[str, Any] = {f"/api/{path}": records(path) for path in RECORDS if path != "steps"}
    pending = told["/api/tasks?status=pending"] = records("tasks", status="pending")
    for tasks in (pending, told["/api/tasks"]):
        # Fields that nobody knows, for the detail pane: as labels and as values.
        tasks[0] |= {f"x{at:03d}{text}": f"y{at:03d}{text}" for at, text in enumerate(TEXTS)}
    steps = records("steps")
    for n in range(COUNT):
        steps[n] |= {"index": n, "status": "failed"} if n % 2 else {"index": n}
    told |= {
        "/api/budget": {"monthly_limit": 100, "spent": 120, "period": TEXTS[0], "name": TEXTS[1]},
        "trace": {"task_id": "x", "status": TEXTS[3], "steps": steps, "note": TEXTS[4]},
        "refusal": {
            "error": {"code": TEXTS[0], "message": "Z000" + " ".join(TEXTS[:20])},
            "message": "Z001" + TEXTS[10],
        },
    }
    return {path: json.dumps(body).encode() for path, body in told.items()}


def export() -> bytes:
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


# ---- what may be written


_PAINT = re.compile(
    rb"\x1b\[[0-9;]*m"  # colours
    rb"|\x1b\[[0-9;]*H"  # the cursor's place
    rb"|\x1b\[\?(?:2026|25)[hl]"  # a picture's begin and end, the cursor's look
    rb"|\x1b\]22;[a-z]+\x07"  # the shape of the mouse pointer
    rb"|\x1b\[22;2t"  # the title is kept, to be given back
)
_TITLE = re.compile(rb"\x1b\]2;([^\x07]*)\x07")
_CLIPBOARD = re.compile(rb"\x1b\]52;c;[A-Za-z0-9+/=]*\x07")
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u034f\u2800") | {
    chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x1810))
}
_TAG = re.compile(r"(?<![A-Za-z0-9])([A-Zxy])(\d{3})")
_FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def unclean(written: bytes, *, lines: bool = False, clipboard: bool = False) -> list[str]:
    """What is in the bytes beside text and painting: escape sequences, controls, unseen characters.

    `lines` allows line ends (a command's output), `clipboard` one OSC 52, which must have been
    asked for. A sequence that the cut at the end leaves unfinished is no finding.
    """
    found: list[str] = []
    rest = _TITLE.sub(rb"\1", _PAINT.sub(b"", written))
    if clipboard:
        rest = _CLIPBOARD.sub(b"", rest, count=1)
    if lines:
        rest = rest.replace(b"\r\n", b"").replace(b"\n", b"")
    whole = re.sub(rb"\x1b[\[?0-9;]*\Z", b"", rest)
    # Nor is a letter of several bytes, of which the last are still to come.
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(whole)
    for at, char in enumerate(text):
        if char.isascii() and char.isprintable():
            continue
        if unicodedata.category(char) in _FORBIDDEN or char in _INVISIBLE:
            found.append(f"{char!a} in {text[max(0, at - 30) : at + 30]!a}")
            if len(found) > 20:
                break
    return found


def tags(rows: list[str]) -> dict[str, dict[int, set[int]]]:
    """For each letter, at which column the rows show a tag: {letter: {column: {numbers}}}."""
    found: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line in rows:
        for match in _TAG.finditer(line):
            column = sum(wcwidth.wcwidth(char) for char in line[: match.start()])
            found[match[1]][column].add(int(match[2]))
    return found
