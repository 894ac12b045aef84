"""Streams of chance for the embedded world: each named stream is its own, for ever the same."""

from __future__ import annotations

import random


def stream(seed: int, *name: object) -> random.Random:
    """A source of chance that depends on the seed and the name only."""
    return random.Random("/".join(map(str, (seed, *name))))  # noqa: S311 - a story, no secret
