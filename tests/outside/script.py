"""What a test wants to happen at which request of the scripted platform (see `platform.py`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any

PATIENCE = 20.0
"""Seconds that a test waits for a request before it fails."""

Json = dict[str, Any]


@dataclass(slots=True)
class Request:
    """One request as it came, and what became of it."""

    number: int
    """From 1, over all connections."""
    connection: int
    time: float
    method: str
    target: str
    """As sent: path and query."""
    headers: dict[str, str]
    body: bytes
    path: tuple[str, ...] = ()
    """The segments after /api, decoded."""
    query: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    """Of the answer; None as long as none was written."""
    served: Any = None
    """The JSON that was answered."""
    ended: float | None = None
    """When it was answered, dropped or broken."""


Match = Callable[[Request], bool]
Change = Callable[[Request], object]


def approves(task_id: object = None) -> Match:
    """Approve requests for a task; for any without an id."""

    def match(request: Request) -> bool:
        path = request.path
        of_any = request.method == "POST" and path[:1] == ("tasks",) and path[-1] == "approve"
        return of_any and (task_id is None or "/".join(path[1:-1]) == str(task_id))

    return match


def traces(task_id: object = None) -> Match:
    """Reads of a task's trace."""
    return lambda r: r.path[-1:] == ("trace",) and task_id in (None, "/".join(r.path[1:-1]))


def tasks_read(request: Request) -> bool:
    """Reads of a list of tasks, whichever."""
    return request.method == "GET" and request.path == ("tasks",)


def pending(request: Request) -> bool:
    """Reads of the list of pending tasks."""
    return tasks_read(request) and request.query.get("status") == "pending"


def every(request: Request) -> bool:
    """Reads of the list of tasks in every status."""
    return tasks_read(request) and "status" not in request.query


def reads(request: Request) -> bool:
    """All that changes nothing."""
    return request.method == "GET"


def writes(request: Request) -> bool:
    """All that may change something."""
    return request.method != "GET"


@dataclass(frozen=True, slots=True)
class Fate:
    """How a request ends: the answer made of the world (`status` None) or this one, and how."""

    how: str = "answer"
    """answer, drop, reset."""
    status: int | None = None
    body: Any = None
    second: Any = None
    """A second answer: JSON, or raw bytes; `SAME`: the first once more."""
    later: float | None = None


SAME = object()


@dataclass(slots=True)
class Rule:
    """What is to happen at the next requests that match."""

    match: Match
    times: int | None
    after: int
    applied: bool
    """Whether it works after the request was dealt with."""
    change: Change | None = None
    hold: Hold | None = None
    fate: Fate | None = None

    def takes(self, request: Request) -> bool:
        """Whether this request is one of those it is for; counts it then."""
        if self.times == 0 or not self.match(request):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        self.times = None if self.times is None else self.times - 1
        return True


class Hold:
    """A request that waits for the test to say how it goes on."""

    def __init__(self) -> None:
        self.request: Request | None = None
        self._come = threading.Event()
        self._told = threading.Event()
        self._fate = Fate()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._go = asyncio.Event()

    def arrived(self, timeout: float = PATIENCE) -> Request:
        """Wait until the request has come, and is waiting."""
        if not self._come.wait(timeout) or self.request is None:
            raise AssertionError(f"the request to be held did not come in {timeout:g} s")
        return self.request

    @property
    def here(self) -> bool:
        """Whether it has come."""
        return self._come.is_set()

    def answer(self, status: int, body: Any) -> None:
        """Answer so."""
        self._end(Fate(status=status, body=body))

    def _end(self, fate: Fate) -> None:
        self._fate = fate
        self._told.set()
        if self._loop is not None:
            with suppress(RuntimeError):  # the platform is at its end
                self._loop.call_soon_threadsafe(self._go.set)

    release = partialmethod(_end, Fate())
    drop = partialmethod(_end, Fate("drop"))

    async def wait(self, request: Request) -> Fate:
        """For the server: the request waits here."""
        self._loop = asyncio.get_running_loop()
        self.request = request
        self._come.set()
        if not self._told.is_set():
            await self._go.wait()
        return self._fate


class Script:
    """The rules that a test has laid down, each for requests to come."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._rules: list[Rule] = []

    def hold(
        self, match: Match, *, after: int = 0, applied: bool = False, times: int | None = 1
    ) -> Hold:
        """Let the next such request wait. With more `times` all wait for the one `Hold`."""
        held = Hold()
        self._rules.append(Rule(match, times, after, applied, hold=held))
        return held

    def at(self, match: Match, change: Change, *, after: int = 0, times: int | None = 1) -> None:
        """Do something at the very request."""
        self._rules.append(Rule(match, times, after, False, change=change))

    def answer(
        self, match: Match, status: int, body: Any, *, after: int = 0, times: int | None = 1
    ) -> None:
        """Answer so, whatever the world is."""
        self._rules.append(Rule(match, times, after, False, fate=Fate(status=status, body=body)))

    def drop(
        self, match: Match, *, after: int = 0, applied: bool = False, times: int | None = 1
    ) -> None:
        """Close the connection instead of an answer."""
        self._rules.append(Rule(match, times, after, applied, fate=Fate("drop")))

    def double(
        self,
        match: Match,
        body: Any = SAME,
        *,
        later: float | None = None,
        after: int = 0,
        times: int | None = 1,
    ) -> None:
        """Answer twice."""
        fate = Fate(second=body, later=later)
        self._rules.append(Rule(match, times, after, True, fate=fate))

    def clear(self) -> None:
        """Nothing special happens any more; what is held goes on."""
        with self.lock:
            rules, self._rules = self._rules, []
        for rule in rules:
            if rule.hold is not None:
                rule.hold.release()

    async def before(self, request: Request) -> tuple[Fate, list[Rule]]:
        """For the server: all that happens before the request is dealt with, and what is left."""
        with self.lock:
            rules, ended = [], False
            for rule in self._rules:
                ends = rule.hold is not None or rule.fate is not None
                if not (ends and ended) and rule.takes(request):
                    rules.append(rule)
                    ended = ended or ends
        left = [rule for rule in rules if rule.applied]
        return await self.play([rule for rule in rules if not rule.applied], request), left

    async def play(self, rules: list[Rule], request: Request) -> Fate:
        """For the server: what these rules say."""
        fate = Fate()
        for rule in rules:
            if rule.change is not None:
                with self.lock:
                    rule.change(request)
            if rule.hold is not None:
                fate = await rule.hold.wait(request)
            if rule.fate is not None:
                fate = rule.fate
        return fate
