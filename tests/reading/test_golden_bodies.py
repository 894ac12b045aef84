"""What the client makes of bodies as platforms send them: nothing is read wrong."""

from __future__ import annotations

import pytest

from tests.reading import golden

OPEN = ("activity--two", "task_trace")
"""Kinds that are not yet read by their tables."""


@pytest.mark.parametrize("name", [each for each in golden.names() if not each.startswith(OPEN)])
async def test_nothing_is_read_wrong(name: str) -> None:
    wrong = [each for each in await golden.judge(name) if each.verdict == "wrong"]
    assert wrong == []
