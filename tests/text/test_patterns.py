"""Patterns that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from agentco_tui.patterns import lazy_pattern


def test_it_does_what_the_compiled_pattern_does() -> None:
    lazy, compiled = lazy_pattern(r"(\d+)x", re.IGNORECASE), re.compile(r"(\d+)x", re.IGNORECASE)
    text = "1x 22X 333"
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"<\1>", text) == compiled.sub(r"<\1>", text)
    for method in ("match", "search", "fullmatch"):
        for each in (text, "44x"):
            found, wanted = getattr(lazy, method)(each), getattr(compiled, method)(each)
            assert (found and found.span()) == (wanted and wanted.span())


def test_nothing_is_compiled_or_worked_out_before_the_first_use() -> None:
    asked: list[str] = []

    def text() -> str:
        asked.append("text")
        return "a+"

    lazy, broken = lazy_pattern(text), lazy_pattern("(")
    assert asked == []
    assert lazy.fullmatch("aaa")
    assert lazy.fullmatch("b") is None
    assert asked == ["text"]
    with pytest.raises(re.error):
        broken.match("x")
