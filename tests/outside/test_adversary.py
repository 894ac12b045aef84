"""The drill of the adversary, a minute a seed; `python -m tests.benchmarks.adversary` for more.

    AGENTCO_ADVERSARY=1 python -m pytest tests/outside/test_adversary.py -n 0

Not in every run yet: the judge's clock and the program's are not one, so that on a busy machine it
blames words that were true when they were said.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.benchmarks.adversary import play, report

SECONDS = 60.0


@pytest.mark.skipif("AGENTCO_ADVERSARY" not in os.environ, reason="AGENTCO_ADVERSARY is not set")
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_approved_but_what_was_read(tmp_path: Path, seed: int) -> None:
    judge, did = play(seed, 10_000, SECONDS, tmp_path)
    assert not judge.wrong, report(judge, did)
    assert judge.questions
    assert judge.claims
