"""The recording in `screenshots/`: it tells its story, gives nothing away, and moves by itself.

Made anew with: python screenshots/record.py
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.picture import Picture

FOLDER = Path(__file__).parents[2] / "screenshots"
CAST, SVG = FOLDER / "recording.cast", FOLDER / "recording.svg"


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script that makes it."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    return import_module("record")


def test_it_tells_its_story_in_about_twenty_seconds(record: Any) -> None:
    head, *lines = map(json.loads, CAST.read_text(encoding="utf-8").splitlines())
    assert head["version"] == 2
    times = [at for at, _, _ in lines]
    assert times == sorted(times)
    assert 15 <= times[-1] <= 25
    picture, seen = Picture(head["width"], head["height"]), list[str]()
    for _, kind, text in lines:
        if kind == "m":
            seen.append("")
        else:
            picture.feed(text.encode())
            seen[-1] += "\n".join(picture.rows())
    assert len(seen) == 1 + len(record.STORY)
    for shown, (_, _, words, key, _) in zip(seen[1:], record.STORY, strict=True):
        assert words in shown, f"{words!r} after {key!r}"


def test_it_gives_nothing_away() -> None:
    for path in (CAST, SVG):
        text = path.read_text(encoding="utf-8")
        assert not any(words in text for words in ("ag_full", "127.0.0.1", "/tmp/")), path


def test_it_moves_without_a_script_and_fetches_nothing(record: Any) -> None:
    text = SVG.read_text(encoding="utf-8")
    assert text == record.drawn(), "python screenshots/record.py --draw"
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
    assert tags == {"svg", "style", "rect", "defs", "g", "text", "use"}
    assert text.count("http") == text.count("http://www.w3.org/2000/svg") == 1
    assert "@keyframes" in text
    assert "prefers-reduced-motion" in text
    assert CAST.stat().st_size + SVG.stat().st_size < 1_000_000
