"""The recordings that `agentco-tui demo --platform NAME` plays: of each platform one, by its name.

`python -m tests.platforms.demo_recording` makes one. It is a recording as `--record` writes it (see
`api/recording_format.py`), compressed as a whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
SUFFIX: Final = ".rec.xz"


def recorded_platforms() -> tuple[str, ...]:
    """The names of the platforms that have a recording."""
    names = (path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}"))
    return tuple(sorted(names))


def unpack_recording(platform: str, target: Path) -> None:
    """Write the recording of a platform to a file. Raises OSError, and ImportError without lzma."""
    # Imported late: some Pythons are built without it, and only this needs it.
    import lzma  # noqa: PLC0415

    with lzma.open(FOLDER / f"{platform}{SUFFIX}") as packed:
        target.write_bytes(packed.read())
