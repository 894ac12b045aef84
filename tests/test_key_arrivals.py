"""Which keys came alone: by the times at which the terminal was read, never by a handler's."""

from __future__ import annotations

import pytest

from agentco_tui.keys.key_arrivals import QUIET, Arrival, KeyArrivals

ALONE, BURST, UNDECIDED = Arrival.ALONE, Arrival.BURST, Arrival.UNDECIDED


class Terminal:
    """A terminal that is read at given times, by a reader that looks `QUIET` after each key."""

    def __init__(self) -> None:
        self.now = 100.0
        self.arrivals = KeyArrivals(clock=lambda: self.now)
        self.arrivals.watched = True
        self.idle(1.0)

    def idle(self, seconds: float) -> None:
        """Pass time in which the reader sees that nothing comes."""
        self.now += seconds
        self.arrivals.record_empty(self.now)

    def starve(self, seconds: float) -> None:
        """Pass time in which the reader does not run."""
        self.now += seconds

    def read(self, keys: int = 1) -> float:
        self.arrivals.record_keys(keys, self.now)
        return self.now


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def test_a_key_is_alone_only_after_a_quiet_moment(terminal: Terminal) -> None:
    at = terminal.read()
    assert terminal.arrivals.arrival_of(at) is UNDECIDED
    terminal.idle(QUIET / 2)
    assert terminal.arrivals.arrival_of(at) is UNDECIDED
    terminal.idle(QUIET)
    assert terminal.arrivals.arrival_of(at) is ALONE


@pytest.mark.parametrize("keys", [2, 3, 6])
def test_keys_of_one_read_are_a_burst(terminal: Terminal, keys: int) -> None:
    at = terminal.read(keys)
    terminal.idle(1.0)
    assert terminal.arrivals.arrival_of(at) is BURST


@pytest.mark.parametrize(
    ("gap", "arrival"), [(0.001, BURST), (0.05, BURST), (0.079, BURST), (0.1, ALONE), (5.0, ALONE)]
)
def test_two_reads_are_apart_or_a_burst(terminal: Terminal, gap: float, arrival: Arrival) -> None:
    first = terminal.read()
    terminal.idle(gap)
    second = terminal.read()
    terminal.idle(1.0)
    assert terminal.arrivals.arrival_of(first) is arrival
    assert terminal.arrivals.arrival_of(second) is arrival


def test_a_reader_that_was_kept_waiting_accepts_nothing(terminal: Terminal) -> None:
    """The second key may have come right after the first one: nobody looked."""
    first = terminal.read()
    terminal.starve(2.0)
    assert terminal.arrivals.arrival_of(first) is UNDECIDED
    second = terminal.read()
    terminal.idle(1.0)
    assert terminal.arrivals.arrival_of(first) is BURST
    assert terminal.arrivals.arrival_of(second) is BURST


def test_fingers_are_no_burst(terminal: Terminal) -> None:
    reads = []
    for _ in range(3):
        reads.append(terminal.read())
        terminal.idle(0.1)
    assert [terminal.arrivals.arrival_of(at) for at in reads] == [ALONE, ALONE, ALONE]


def test_a_held_key_is_a_burst(terminal: Terminal) -> None:
    reads = []
    for _ in range(40):
        reads.append(terminal.read())
        terminal.idle(0.033)
    terminal.idle(1.0)
    assert {terminal.arrivals.arrival_of(at) for at in reads} == {BURST}


def test_a_key_that_is_no_longer_remembered_is_not_alone(terminal: Terminal) -> None:
    first = terminal.read()
    for _ in range(1_000):
        terminal.idle(1.0)
        terminal.read()
    assert terminal.arrivals.arrival_of(first) is BURST
    assert terminal.arrivals.arrival_of(12.5) is BURST, "never read"


def test_the_reader_is_told_how_long_to_look(terminal: Terminal) -> None:
    assert terminal.arrivals.wait == 0.0
    at = terminal.read()
    terminal.now += 0.03
    looks_for = terminal.arrivals.wait
    assert QUIET - 0.03 <= looks_for < QUIET
    terminal.arrivals.record_empty(terminal.now + looks_for)
    assert terminal.arrivals.arrival_of(at) is ALONE
    assert terminal.arrivals.wait == 0.0


def test_without_a_reader_the_times_of_events_count() -> None:
    now = 100.0
    arrivals = KeyArrivals(clock=lambda: now)
    arrivals.record_event(now)
    assert arrivals.arrival_of(100.0) is UNDECIDED
    arrivals.record_event(now := 100.05)
    now = 101.0
    assert [arrivals.arrival_of(at) for at in (100.0, 100.05)] == [BURST, BURST]
    arrivals.record_event(now)
    now = 102.0
    assert arrivals.arrival_of(101.0) is ALONE


def test_which_keys_came_together() -> None:
    arrivals = KeyArrivals(lambda: 0.0)
    arrivals.record_keys(1, 1.0)
    arrivals.record_keys(1, 1.0 + QUIET / 2)
    arrivals.record_keys(1, 3.0)
    assert arrivals.came_together(1.0, 1.0)
    assert arrivals.came_together(1.0, 1.0 + QUIET / 2)
    assert not arrivals.came_together(1.0 + QUIET / 2, 3.0)
    assert not arrivals.came_together(2.99, 3.0), "there was no such read"
