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

from agentco_tui.demo.server import EmbeddedPlatform
from tests.screens.harness import NOW
from tests.screens.scenes import DRAWN_WITH, SCENES, SIZES, picture, staged

PICTURES = Path(__file__).parents[2] / "screenshots"
drawn_with = {name: version(name) for name in DRAWN_WITH}
pytestmark = pytest.mark.skipif(
    drawn_with != DRAWN_WITH, reason=f"drawn with {DRAWN_WITH}, here is {drawn_with}"
)


def words(svg: str) -> list[str]:
    """The picture's texts from the top, for a difference that can be read."""
    texts = re.findall(r'y="([\d.]+)"[^>]*>([^<]*)</text>', svg)
    lines: dict[float, str] = {}
    for y, text in texts:
        lines[float(y)] = lines.get(float(y), "") + html.unescape(text).replace("\xa0", " ")
    return [lines[y] for y in sorted(lines)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCENES)
async def test_picture(
    name: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = SCENES[name]
    if scene.no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    kept = PICTURES / f"{name}-{size[0]}x{size[1]}.svg"
    assert kept.exists(), f"python screenshots/make.py {name} draws it"
    before = kept.read_text(encoding="utf-8")
    with scene.world(NOW) as platform:
        assert isinstance(platform, EmbeddedPlatform)
        async with staged(name, platform, tmp_path, size) as s:
            now = picture(s)
    changed = "\n".join(unified_diff(words(before), words(now), "kept", "drawn", lineterm="", n=0))
    assert now == before, f"{kept.name} looks different:\n{changed or 'colours or styles only'}"


def test_no_picture_without_a_scene() -> None:
    wanted = {f"{name}-{size[0]}x{size[1]}" for name in SCENES for size in SIZES}
    assert {path.stem for path in PICTURES.glob("*.svg")} == wanted


def test_pictures_fetch_nothing_and_tell_no_key() -> None:
    for path in PICTURES.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        found = set(re.findall(r"https?://[^\s\"'<)]+", text))
        assert found <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}, path
        assert "ag_full_" not in text
        assert "127.0.0.1" not in text
