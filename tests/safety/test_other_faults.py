"""Faults that need more than an answer: certificates, names, clocks, and what memory they cost."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate

import pytest

from agentco_tui.api import errors
from agentco_tui.api.client import Client
from agentco_tui.api.transport import Transport
from agentco_tui.live.feeds import Clock, FeedName, Pace, Phase
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from tests.actions.user import until
from tests.api.canary import transport
from tests.api.test_transport_tls import CA, showing
from tests.api.wire_server import WireServer, answering, http
from tests.platform import EmbeddedPlatform
from tests.terminal.pty_session import REPOSITORY, clean_environment

COMPANIES = json.dumps([{"id": "cmp_1", "name": "Acme"}]).encode()
ONLY = dict.fromkeys(FeedName, Pace.OFF) | {FeedName.COMPANIES: Pace.REFRESH}
FEED = FeedName.COMPANIES


@asynccontextmanager
async def polling(wire: Transport) -> AsyncIterator[Store]:
    """What is polled of the companies, twenty times a second."""
    store = Store()
    poller = Poller(Client(wire), store, Clock(), refresh=0.05)
    poller.set_paces(ONLY)
    running = asyncio.create_task(poller.run())
    yield store
    assert running.done() is False
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_certificate_that_expires_in_the_middle_and_is_renewed() -> None:
    """Old data stays with its age and the reason; a new certificate is believed by itself."""
    context = showing("right")
    async with (
        answering(*[http(COMPANIES)] * 50, tls=context) as server,
        transport(server.base, ca_file=CA) as wire,
        polling(wire) as store,
    ):
        await until(lambda: store.freshness[FEED].phase is Phase.LIVE)
        certificates = REPOSITORY / "tests/api/certificates"
        key = certificates / "server-key.pem"
        context.load_cert_chain(certificates / "expired.pem", key)
        await until(lambda: store.freshness[FEED].failure is not None)
        stale = store.freshness[FEED]
        assert stale.phase is Phase.STALE
        assert isinstance(stale.failure, errors.TlsFailure)
        assert "has expired" in str(stale.failure)
        assert [company.name for company in store.companies] == ["Acme"]
        context.load_cert_chain(certificates / "right.pem", key)
        await until(lambda: store.freshness[FEED].phase is Phase.LIVE)


@pytest.mark.parametrize("days", [-1, 1])
async def test_a_clock_wrong_by_a_day_does_not_make_ages_wrong_by_a_day(days: int) -> None:
    """The machine's clock is wrong: the Date header says what time it is on the platform."""
    off = days * 86_400.0
    dated = http(COMPANIES, headers={"Date": formatdate(time.time(), usegmt=True)})
    async with (
        WireServer(*[dated] * 3) as server,
        transport(server.base, clock=lambda: time.time() + off) as wire,
    ):
        clock = Clock(lambda: wire.measured.clock_skew)
        await wire.request("GET", "/api/companies")
        skew = wire.measured.clock_skew
        assert skew is not None
        assert abs(skew + off) < 3
        # What a clock on the wrong machine says: its own reading plus the skew.
        assert abs(clock.now() + off - time.time()) < 3


def bomb(mebibytes: int, layers: int) -> bytes:
    """Blanks, so many times compressed."""
    blanks = b" " * (1 << 20)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    body = b"".join(squeeze.compress(blanks) for _ in range(mebibytes)) + squeeze.flush()
    for _ in range(layers - 1):
        body = gzip.compress(body)
    return http(body, headers={"Content-Encoding": ", ".join(["gzip"] * layers)})


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": lambda: bomb(300, 1),
    "gzip twice": lambda: bomb(300, 2),
    "brackets": lambda: http(b"[" * 5_000_000 + b"]" * 5_000_000),
    "digits": lambda: http(b'[{"id":"a","spent":' + b"7" * 400_000 + b"}]"),
}


async def told_by(url: str, key: str) -> dict[str, float]:
    """What a live picture in a process of its own came to, with the limits of real life."""
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.safety.apps.picture", url, key),
        env=clean_environment(),
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await ran.communicate()
    assert ran.returncode == 0, err.decode()
    told: dict[str, float] = json.loads(out)
    assert told["peak_mb"] < 200, told
    assert told["failed"] + told["live"] == len(FeedName)
    return told


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_on_every_read_stays_below_200_megabytes(name: str) -> None:
    async with answering(*[BOMBS[name]()] * 50) as server:
        await told_by(server.base, "ag_key")
        assert server.requests


async def test_a_body_without_an_end_stays_below_200_megabytes() -> None:
    with EmbeddedPlatform(companies=1, agents=2, tasks=3, speed=0, faults=("*:endless",)) as there:
        told = await told_by(there.base_url, there.full_key)
    assert told["live"] == 0
