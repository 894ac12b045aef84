"""What holds for all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# No test depends on the machine's speed, nor does the time an example takes mean anything here.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")

for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    # Under nohup, or in the background of a script, signals are ignored, and every program that a
    # test starts would inherit that: the tests of how programs end need what a terminal gives.
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Five workers for two processors: more than half of what tests do is to wait
    for programs in terminals, and for servers.
    """
    return max(2, (os.cpu_count() or 2) * 5 // 2)
