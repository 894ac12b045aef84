"""The pictures of every screen, as they are in `screenshots/` and in the README.

They change only on purpose: look at what `python screenshots/make.py` draws, then commit that.
"""

from __future__ import annotations

import html
import re
from difflib import unified_diff
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.screens.drawing import picture
from tests.screens.harness import NOW, WIDE
from tests.screens.looks import FOLDER, NAMES
from tests.screens.scenes import DRAWN_WITH, SCENES, staged

PICTURES = Path(__file__).parents[2] / "screenshots"
drawn_with = {name: version(name) for name in DRAWN_WITH}
CAN_COMPARE = drawn_with == DRAWN_WITH
pytestmark = pytest.mark.skipif(
    not CAN_COMPARE, reason=f"drawn with {DRAWN_WITH}, here is {drawn_with}"
)


def words(svg: str) -> list[str]:
    """The picture's texts from the top, for a difference that can be read."""
    lines = (re.findall(r">([^<]+)</text>", line) for line in svg.splitlines())
    return [html.unescape("  ".join(texts)) for texts in lines if texts]


def assert_as_kept(name: str, size: tuple[int, int], now: str) -> None:
    """A picture is the one that is kept."""
    file = PICTURES / f"{name}-{size[0]}x{size[1]}.svg"
    assert file.exists(), f"python screenshots/make.py {name} draws it"
    before = file.read_text(encoding="utf-8")
    changed = "\n".join(unified_diff(words(before), words(now), "kept", "drawn", lineterm="", n=0))
    assert now == before, f"{file.name} looks different:\n{changed or 'colours or styles only'}"


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(name, size, id=f"{name}-{size[0]}x{size[1]}")
        for name, scene in SCENES.items()
        for size in scene.sizes
        if size != WIDE or name not in NAMES  # those are looked at in test_looks.py
    ],
)
async def test_picture(
    name: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = SCENES[name]
    if scene.no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    with scene.world(NOW) as platform:
        async with staged(name, platform, tmp_path, size) as s:
            assert_as_kept(name, size, picture(s))


def test_no_picture_without_a_scene() -> None:
    wanted = {f"{name}-{w}x{h}" for name, scene in SCENES.items() for w, h in scene.sizes}
    assert {path.stem for path in PICTURES.glob("*.svg")} == {*wanted, "recording"}
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(NAMES)


def test_pictures_fetch_nothing_and_tell_no_key() -> None:
    for path in PICTURES.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        found = set(re.findall(r"https?://[^\s\"'<)]+", text))
        assert found == {"http://www.w3.org/2000/svg"}, path
        assert "ag_full_" not in text
        assert "127.0.0.1" not in text
