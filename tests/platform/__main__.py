"""Runs the tests' platform until a signal: `python -m tests.platform --port 8080 --shape cents`.

Prints what `agentco-tui demo --serve` prints, and takes its options, `--shape`, and `--page-size`
for a shape with pages.
"""

from __future__ import annotations

import argparse
import sys

from agentco_tui.demo.server import serve
from tests.platform.observed_platform import EmbeddedPlatform
from tests.platform.shapes import SHAPE_NAMES

_NUMBERS = ("seed", "port", "companies", "agents", "tasks")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.platform")
    for name in _NUMBERS:
        parser.add_argument(f"--{name}", type=int, default=argparse.SUPPRESS)
    parser.add_argument("--speed", type=float, default=argparse.SUPPRESS)
    parser.add_argument("--shape", choices=SHAPE_NAMES, default="plain")
    parser.add_argument("--page-size", type=int)
    parser.add_argument("--fault", action="append", default=[], dest="faults")
    return serve(EmbeddedPlatform(**vars(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(main())
