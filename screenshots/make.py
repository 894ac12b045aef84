"""Draws every screen from the embedded platform, in its sizes: python screenshots/make.py

The world stands still, so the same program draws the same bytes. Their colours in every theme are
kept beside the tests, in `tests/screens/looks/`. Needs the extra `dev`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.screens import looks  # noqa: E402
from tests.screens.drawing import picture  # noqa: E402
from tests.screens.harness import NOW, WIDE  # noqa: E402
from tests.screens.scenes import SCENES, staged  # noqa: E402


async def draw(name: str, folder: Path) -> list[Path]:
    """Draw one scene at every size; returns what was written."""
    written: list[Path] = []
    for size in SCENES[name].sizes:
        with SCENES[name].world(NOW) as platform:
            async with staged(name, platform, folder / f"{name}{size[0]}", size) as s:
                target = HERE / f"{name}-{size[0]}x{size[1]}.svg"
                target.write_text(picture(s), encoding="utf-8")
                written.append(target)
                if size == WIDE and name in looks.NAMES:
                    kept = looks.kept(await looks.every_variant(s))
                    (looks.FOLDER / f"{name}.txt").write_text(kept, encoding="utf-8")
    return written


def main(wanted: list[str]) -> int:
    """Draw these scenes, or all; pictures of scenes that are no more are taken away."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    drawn: set[Path] = set()
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted or SCENES:
            os.environ.pop("NO_COLOR", None)
            if SCENES[name].no_color:
                os.environ["NO_COLOR"] = "1"
            drawn.update(asyncio.run(draw(name, Path(folder))))
    if not wanted:
        for looks_file in looks.FOLDER.glob("*.txt"):
            if looks_file.stem not in looks.NAMES:
                looks_file.unlink()
        for picture_file in set(HERE.glob("*-*x*.svg")) - drawn:
            picture_file.unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
