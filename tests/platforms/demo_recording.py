"""Makes the recording that `agentco-tui demo --platform paperclip` plays, of a real Paperclip.

    paperclipai onboard --yes --run --no-install-service --data-dir $(mktemp -d)
    python -m tests.platforms.demo_recording http://127.0.0.1:3100

The server must be a new one that needs no key and has no company. It gets two of them, and settles
for some minutes, so that what waits has an age; then its answers are recorded while `EVENTS` happen
to it. An argument after the address is the number of seconds to settle.

A recording is large because it holds a list again whenever something in it has changed. So the
bodies are packed all together: nearly all of each is then a copy of the one before it.
"""

from __future__ import annotations

import asyncio
import lzma
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.credentials import BaseUrl
from agentco_tui.api.recording_format import About, Recorded, encode_block, read_blocks
from agentco_tui.commands.replay_command import start_recording
from agentco_tui.config import Settings
from agentco_tui.demo.recordings import FOLDER, SUFFIX
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from agentco_tui.workspace.opening import client_for, snoozes_for
from agentco_tui.workspace.workspace import Workspace

PLATFORM: Final = "paperclip"
SHOWN_ADDRESS: Final = BaseUrl.parse("http://127.0.0.1:3100")
"""The address that the recording is said to be of: the usual one of a server of one's own."""
REFRESH: Final = 5.0
"""Seconds between two polls."""
POLLS: Final = 48
PAGES_EVERY: Final = 6
"""Polls after which the traces of tasks and the logs of single agents are read again."""
SETTLING: Final = 1500.0
_GENERATED: Final = re.compile(rb'"generatedAt":"[^"]*"')
_FOLDERS: Final = re.compile(rb'/(?:home|root|tmp|usr|var)/[^"\\\s]*')
_TICK: Final = 1024
"""The durations are written in whole parts of a second, of which this many make one."""


class Board:
    """The user of a Paperclip who sets up companies and acts in them; all ids are by name."""

    def __init__(self, base: str) -> None:
        self._client = httpx.Client(base_url=f"{base}/api", timeout=30)
        self.ids: dict[str, str] = {}

    def get(self, path: str) -> Any:
        return self._checked(self._client.get(path))

    def send(self, method: str, path: str, /, **body: Any) -> Any:
        return self._checked(self._client.request(method, path, json=body))

    def create(self, name: str, path: str, /, **body: Any) -> str:
        """Create a record, and return its id, which is also known by `name` from then on."""
        new_id: str = self.send("POST", path, **body)["id"]
        self.ids[name] = new_id
        return new_id

    @staticmethod
    def _checked(answer: httpx.Response) -> Any:
        assert answer.is_success, f"{answer.request.method} {answer.request.url}: {answer.text}"
        return answer.json()

    # ---- what the board does

    def hire(self, company: str, name: str, role: str, limit: int, *command: str) -> None:
        """An agent whose work is a command; `limit` is in cents a month."""
        program, *arguments = command or ("true",)
        self.create(
            name,
            f"/companies/{self.ids[company]}/agents",
            name=name,
            role=role,
            adapterType="process",
            adapterConfig={"command": program, "args": arguments},
            budgetMonthlyCents=limit,
        )

    def spend(self, company: str, agent: str, cents: int, day: int | None = None) -> None:
        """Report a cost of an agent, on a day of this month; None: now."""
        at = datetime.now(UTC)
        if day is not None:
            at = at.replace(day=min(day, at.day), hour=0, minute=1)
        self.send(
            "POST",
            f"/companies/{self.ids[company]}/cost-events",
            agentId=self.ids[agent],
            provider="anthropic",
            model="claude-sonnet",
            inputTokens=cents * 40,
            outputTokens=cents * 9,
            costCents=cents,
            occurredAt=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        )

    def assign(self, company: str, agent: str, title: str, status: str, priority: str) -> None:
        """An issue for an agent, who starts at once if the status is "todo"."""
        self.create(
            title,
            f"/companies/{self.ids[company]}/issues",
            title=title,
            status=status,
            priority=priority,
            assigneeAgentId=self.ids[agent],
        )

    def ask(self, title: str, question: str, yes: str, no: str) -> None:
        """A question about an issue that must be answered with yes or no."""
        payload = {"version": 1, "prompt": question, "acceptLabel": yes, "rejectLabel": no}
        self.send(
            "POST",
            f"/issues/{self.ids[title]}/interactions",
            kind="request_confirmation",
            continuationPolicy="none",
            payload=payload,
        )

    def request(self, company: str, agent: str, kind: str, **payload: Any) -> None:
        """An approval that an agent asks for; it is known by its title."""
        self.create(
            payload["title"],
            f"/companies/{self.ids[company]}/approvals",
            type=kind,
            requestedByAgentId=self.ids[agent],
            payload=payload,
        )

    def comment(self, title: str, text: str) -> None:
        self.send("POST", f"/issues/{self.ids[title]}/comments", body=text)

    def finish(self, title: str) -> None:
        self.send("PATCH", f"/issues/{self.ids[title]}", status="done")

    def approve(self, title: str, note: str) -> None:
        self.send("POST", f"/approvals/{self.ids[title]}/approve", decisionNote=note)

    def limit(self, agent: str, cents: int) -> None:
        self.send("PATCH", f"/agents/{self.ids[agent]}/budgets", budgetMonthlyCents=cents)


ACME: Final = "Acme Robotics"
GLOBEX: Final = "Globex Logistics"
RELEASE: Final = "Build release 2.4"
REFUND: Final = "Refund 214 customers of the Zurich depot"
NOTES: Final = "Write the release notes"
LICENCE: Final = "Buy a licence of the map data"
CARRIERS: Final = "Answer the carriers"


def furnish(board: Board) -> None:
    """Two companies with agents, their costs of this month, and what waits for the board."""
    assert board.get("/companies") == [], "it must be a new server"
    for company, mission, cents in (
        (ACME, "Builds robots that sort parcels.", 200_000),
        (GLOBEX, "Delivers parcels overnight.", 150_000),
    ):
        company_id = board.create(company, "/companies", name=company, description=mission)
        board.send("PATCH", f"/companies/{company_id}/budgets", budgetMonthlyCents=cents)
    board.hire(ACME, "Ada", "engineer", 40_000, "sleep", "60")
    board.hire(ACME, "Linus", "devops", 15_000)
    board.hire(ACME, "Maya", "cmo", 12_000)
    board.hire(GLOBEX, "Grace", "general", 30_000, "sleep", "30")
    board.hire(GLOBEX, "Noor", "cfo", 20_000)
    board.hire(GLOBEX, "Ken", "qa", 8_000, "sh", "-c", "echo no printer; exit 3")
    costs = ((ACME, "Ada", 7_100), (ACME, "Linus", 2_050), (ACME, "Maya", 3_350))
    for company, agent, cents in (*costs, (GLOBEX, "Grace", 3_200), (GLOBEX, "Noor", 1_450)):
        for day in (4, 12, 20):
            board.spend(company, agent, cents + 10 * day, day)
    board.assign(ACME, "Linus", NOTES, "in_review", "medium")
    board.assign(ACME, "Ada", "Move the customer database", "blocked", "high")
    board.assign(ACME, "Maya", REFUND, "backlog", "critical")
    board.ask(REFUND, "Refund 18,240.00 to 214 customers?", "Refund", "Do not")
    board.assign(GLOBEX, "Noor", "Reconcile the invoices of October", "in_review", "high")
    board.assign(GLOBEX, "Ken", "Test the label printer", "todo", "low")
    board.request(
        ACME,
        "Maya",
        "approve_ceo_strategy",
        title="Spend less on search ads, more on referrals",
        plan="Move 60 % of the ads budget to the referral programme until March.",
    )
    board.request(
        GLOBEX,
        "Grace",
        "request_board_approval",
        title=LICENCE,
        summary="The free map lacks 40 streets of the new district. 480.00 a year.",
        recommendedAction="approve",
        risks=["The licence renews itself."],
    )


EVENTS: Final[tuple[tuple[float, Callable[[Board], object]], ...]] = (
    (10, lambda board: board.assign(ACME, "Ada", RELEASE, "todo", "high")),
    (
        25,
        lambda board: board.request(
            GLOBEX,
            "Noor",
            "hire_agent",
            name="Cleo",
            title="Finance lead",
            role="cfo",
            adapterType="process",
            adapterConfig={"command": "true"},
            budgetMonthlyCents=25_000,
        ),
    ),
    (40, lambda board: board.spend(ACME, "Maya", 700)),
    (60, lambda board: board.spend(ACME, "Maya", 1_650)),  # more than its limit: it is stopped
    (65, lambda board: board.finish(RELEASE)),
    (90, lambda board: board.spend(ACME, "Ada", 1_240)),
    (110, lambda board: board.approve(LICENCE, "Cancel it in a year.")),
    (130, lambda board: board.assign(GLOBEX, "Grace", CARRIERS, "todo", "medium")),
    (145, lambda board: board.comment(NOTES, "Please mention the new gripper.")),
    (155, lambda board: board.finish(CARRIERS)),
    (190, lambda board: board.limit("Maya", 20_000)),
    (210, lambda board: board.spend(GLOBEX, "Grace", 880)),
)
"""What happens, and how many seconds after the recording began."""


async def record(board: Board, base: str, path: Path) -> None:
    settings = Settings(profile="demo", base_url=SHOWN_ADDRESS, platform=PLATFORM, refresh=REFRESH)
    recorder = start_recording(str(path), settings, None, alter=without_noise)
    settings = replace(settings, base_url=BaseUrl.parse(base))
    client = client_for(settings, attempts=1, recorder=recorder)
    workspace = Workspace(settings, client, snoozes=snoozes_for(settings, None))
    waiting = list(EVENTS)
    traced = set[str]()
    async with client:
        began = time.monotonic()
        for number in range(POLLS):
            while waiting and waiting[0][0] <= number * REFRESH:
                _, happen = waiting.pop(0)
                await asyncio.to_thread(happen, board)
            await asyncio.gather(*map(workspace.poller.read_again, FeedName))
            if number % PAGES_EVERY == 0:
                traced.clear()
                for agent in workspace.store.agents:
                    await client.activity(agent_id=agent.id, limit=ACTIVITY_LIMIT)
            await read_traces(workspace, traced)
            await asyncio.sleep(max(0.0, began + (number + 1) * REFRESH - time.monotonic()))
        await workspace.aclose()
    recorder.close(30)
    assert recorder.trouble is None, recorder.trouble


async def read_traces(workspace: Workspace, known: set[str]) -> None:
    """Read the trace of each task that is not known yet, as a user may open it."""
    for task in (*workspace.store.pending, *workspace.store.tasks):
        if task.id not in known:
            known.add(task.id)
            with suppress(errors.NotOffered):
                await workspace.client.task_trace(task.id)


def without_noise(answer: Recorded, body: bytes) -> tuple[Recorded, bytes]:
    """An answer without what differs each time and says nothing, so that it can be unchanged."""
    took = round(answer.took * _TICK) / _TICK
    return replace(answer, took=took, ahead=None), _GENERATED.sub(b'"generatedAt":null', body)


def without_machine(target: str, body: bytes) -> bytes:
    """A body about a run without the environment and the folders of the machine that it ran on."""
    if "/heartbeat-runs/" not in target:
        return body
    if target.endswith("/events"):
        events = msgspec.json.decode(body)
        body = msgspec.json.encode([{**event, "payload": None} for event in events])
    return _FOLDERS.sub(b"/srv/work", body)


def packed(path: Path) -> bytes:
    """The recording with bodies that are not compressed each for itself, compressed as a whole."""
    data = path.read_bytes()
    about, *answers = read_blocks(path)
    blocks = [encode_block(msgspec.msgpack.decode(about.head, type=About))]
    for block in answers:
        answer = msgspec.msgpack.decode(block.head, type=Recorded)
        body = data[block.body_offset : block.body_offset + block.body_length]
        if body:
            body = zlib.compress(without_machine(answer.target, zlib.decompress(body)), 0)
        blocks.append(encode_block(answer, body))
    return lzma.compress(b"".join(blocks), preset=9 | lzma.PRESET_EXTREME)


def main(base: str, settling: str = str(SETTLING)) -> None:
    board = Board(base)
    furnish(board)
    sys.stdout.write(f"furnished; it settles for {settling} s\n")
    time.sleep(float(settling))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.rec"
        asyncio.run(record(board, base, path))
        data = packed(path)
    target = FOLDER / f"{PLATFORM}{SUFFIX}"
    target.write_bytes(data)
    sys.stdout.write(f"{target}: {len(data):,} bytes\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
