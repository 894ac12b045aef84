"""The worked example in `reading/schema.py` says what the code does."""

from __future__ import annotations

import doctest

from agentco_tui.reading import schema


def test_the_example_of_the_schema_runs() -> None:
    outcome = doctest.testmod(schema)
    assert outcome.attempted > 0
    assert outcome.failed == 0
