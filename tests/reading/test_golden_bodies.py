"""What the client makes of bodies as platforms send them: nothing is read wrong."""

from __future__ import annotations

import pytest

from tests.reading import golden


@pytest.mark.parametrize("name", golden.names())
async def test_nothing_is_read_wrong(name: str) -> None:
    wrong = [each for each in await golden.judge(name) if each.verdict == "wrong"]
    assert wrong == []
