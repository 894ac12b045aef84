"""Draws source files at random, to be given one at a time to readers who have seen no other.

python -m tests.benchmarks.draw [--seed 20261127] [--count 30]

A reader says what the file does, what each public name is for, what they would be afraid to change,
and which words they had to guess. Files without a function or class are not drawn.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    """Print the paths of the files that the seed draws, one a line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.draw")
    parser.add_argument("--seed", type=int, default=20261127)
    parser.add_argument("--count", type=int, default=30)
    arguments = parser.parse_args()
    paths = sorted((REPOSITORY / "agentco_tui").rglob("*.py"))
    drawable = [path for path in paths if _defines_something(path)]
    drawn = random.Random(arguments.seed).sample(drawable, arguments.count)
    for path in drawn:
        sys.stdout.write(f"{path.relative_to(REPOSITORY)}\n")


def _defines_something(path: Path) -> bool:
    module = ast.parse(path.read_text(encoding="utf-8"))
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return any(isinstance(node, definitions) for node in module.body)


if __name__ == "__main__":
    main()
