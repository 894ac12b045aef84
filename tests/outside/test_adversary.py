"""The adversary, a minute a seed; `python -m tests.benchmarks.adversary` for more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.adversary import play, report

SECONDS = 60.0


@pytest.mark.timeout(400)  # a claim may take two minutes more, and settling one
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_approved_but_what_was_read(tmp_path: Path, seed: int) -> None:
    judge, did = play(seed, 10_000, SECONDS, tmp_path)
    assert not judge.wrong, report(judge, did)
    assert judge.questions
    assert judge.claims
