"""The program itself, with a clockwork that looks how long its event loop was held up.

    STALLS=FILE [FROZEN_AGES=1] python -m tests.benchmarks.watched ARGUMENTS

Ten times a second the stalls are written to FILE, each with the time of its end and its
milliseconds.
With FROZEN_AGES the clock stands, so that what is written besides ages can be counted.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from time import perf_counter, time
from typing import Any

from agentco_tui.cli.main import main
from agentco_tui.live.feeds import Clock

BEAT = 0.002


async def watch(file: Path) -> None:
    """Note every beat that comes late."""
    stalls: list[tuple[float, float]] = []
    written = last = perf_counter()
    while True:
        await asyncio.sleep(BEAT)
        now = perf_counter()
        late = (now - last - BEAT) * 1000
        last = now
        if late > 5:
            stalls.append((now, late))
        if now - written > 0.1:
            if stalls:
                with file.open("a") as out:
                    out.write("".join(f"{at:.3f} {each:.1f}\n" for at, each in stalls))
                stalls.clear()
            written = last = perf_counter()


def patched() -> None:
    """Have the watch begin with the app's event loop."""
    from textual.app import App

    run = App.run_async

    async def run_watched(self: App[Any], **options: Any) -> Any:
        watching = asyncio.create_task(watch(Path(os.environ["STALLS"])))
        try:
            return await run(self, **options)
        finally:
            watching.cancel()

    App.run_async = run_watched  # type: ignore[method-assign]


if __name__ == "__main__":
    if "FROZEN_AGES" in os.environ:
        began = time()
        Clock.now = lambda _: began  # type: ignore[assignment,method-assign]
    if "STALLS" in os.environ:
        patched()
    sys.exit(main(sys.argv[1:]))
