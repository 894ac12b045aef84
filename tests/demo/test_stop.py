"""The platform stopped at any moment leaves nothing open."""

from __future__ import annotations

import gc
import socket
import warnings

from agentco_tui.demo.server import EmbeddedPlatform


def test_connections_that_are_only_just_taken_in_are_closed_too() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(30):
            platform = EmbeddedPlatform(speed=0.0, companies=1, agents=1, tasks=1)
            platform.start()
            callers = [socket.create_connection(("127.0.0.1", platform.port)) for _ in range(20)]
            platform.stop()
            for caller in callers:
                caller.close()
        gc.collect()
    assert [str(one.message) for one in told if one.category is ResourceWarning] == []
