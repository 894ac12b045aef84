"""Would the tests notice? Changes one comparison, boolean or condition at a time and runs them.

python -m tests.benchmarks.mutants agentco_tui/actions [--sample 40] [--seed 1] [--tests PATH ...]

Each mutant is put into a copy of the tree, never into the tree itself. First the test files that
carry the name of the changed file run, then all of the room (`tests/actions` for
`agentco_tui/actions`, or `--tests`), both until the first failure. Prints the mutants that no test
noticed, and the share that was noticed. What cannot change behaviour (an equivalent mutant) is for
a person to tell from the list.
"""

from __future__ import annotations

import argparse
import ast
import copy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

TREE = Path(__file__).parents[2]
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
"""For orders the neighbour, which is harder to notice than the reverse."""


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    path: Path
    line: int
    start: int
    end: int
    """Where the changed text stands in the file, in characters."""
    before: str
    after: str

    def __str__(self) -> str:
        place = self.path.relative_to(TREE)
        return f"{place}:{self.line}  {_short(self.before)}  ->  {_short(self.after)}"

    def applied(self, text: str) -> str:
        """The file's text with the change in it."""
        return f"{text[: self.start]}({self.after}){text[self.end :]}"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:59]}…"


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        # Columns of the syntax tree are bytes of UTF-8.
        begin = starts[line - 1]
        whole = text[begin : starts[line]].encode()
        return begin + len(whole[:column].decode())

    for node in _nodes(ast.parse(text)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = at(node.lineno, node.col_offset)
        end = at(node.end_lineno, node.end_col_offset)
        for changed in _changes(node):
            yield Mutant(path, node.lineno, start, end, text[start:end], ast.unparse(changed))


def _nodes(tree: ast.Module) -> Iterator[ast.expr]:
    """Expressions that decide something; neither annotations nor what only types are checked by."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if node in skipped:
            skipped.update(ast.iter_child_nodes(node))
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            skipped.update(ast.iter_child_nodes(node))
            continue
        for name in ("annotation", "returns"):
            if isinstance(kept := getattr(node, name, None), ast.AST):
                skipped.add(kept)
        # Whether a class is frozen or has slots is no decision.
        skipped.update(getattr(node, "decorator_list", ()))
        if isinstance(node, ast.Assert):
            skipped.update(ast.iter_child_nodes(node))
        if isinstance(node, ast.expr):
            yield node


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare():
            for place, operator in enumerate(changed.ops):
                opposite = OPPOSITE[type(operator)]
                each = copy.deepcopy(changed)
                each.ops[place] = opposite()
                yield each
        case ast.BoolOp():
            changed.op = ast.And() if isinstance(changed.op, ast.Or) else ast.Or()
            yield changed
        case ast.UnaryOp(op=ast.Not()):
            yield changed.operand
        case ast.IfExp():
            changed.body, changed.orelse = changed.orelse, changed.body
            yield changed
        case ast.Constant(value=bool()):
            changed.value = not changed.value
            yield changed


class Trial:
    """Runs tests on a copy of the tree with a mutant in it."""

    def __init__(self, folder: Path, tests: Sequence[str], workers: int) -> None:
        self._tree = folder / "tree"
        self._tests = tests
        self._workers = workers
        unwanted = shutil.ignore_patterns(".git", "__pycache__", ".mypy_cache", ".ruff_cache")
        shutil.copytree(TREE, self._tree, ignore=unwanted)
        began = time.monotonic()
        if not self._passes(self._tests, None):
            raise SystemExit("the tests fail without any mutant")
        self._limit = 30.0 + 3.0 * (time.monotonic() - began)

    def survives(self, mutant: Mutant) -> bool:
        """Whether no test notices."""
        target = self._tree / mutant.path.relative_to(TREE)
        text = target.read_text(encoding="utf-8")
        target.write_text(mutant.applied(text), encoding="utf-8")
        try:
            near = [
                str(path.relative_to(self._tree))
                for test in self._tests
                for path in sorted((self._tree / test).rglob(f"test_*{mutant.path.stem}*.py"))
            ]
            return (not near or self._passes(near, self._limit)) and self._passes(
                self._tests, self._limit
            )
        finally:
            target.write_text(text, encoding="utf-8")

    def _passes(self, tests: Sequence[str], limit: float | None) -> bool:
        command = (sys.executable, "-m", "pytest", "-x", "-q", "-n", str(self._workers), *tests)
        with subprocess.Popen(
            command, cwd=self._tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as running:
            try:
                return running.wait(limit) == 0
            except subprocess.TimeoutExpired:
                running.terminate()
                return False


def main() -> None:
    """Try the sample, and print who survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mutants")
    parser.add_argument("room", type=Path, help="a folder or a file of agentco_tui")
    parser.add_argument("--sample", type=int, default=40, help="mutants to try, 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    parser.add_argument("--tests", nargs="*", help="what is run; by default the room's own tests")
    wanted = parser.parse_args()
    room = wanted.room.resolve()
    folder = room if room.is_dir() else room.parent
    tests = wanted.tests or [f"tests/{folder.relative_to(TREE / 'agentco_tui')}"]
    files = sorted(room.rglob("*.py")) if room.is_dir() else [room]
    found = [mutant for path in files for mutant in mutants(path)]
    tried = (
        found
        if not wanted.sample
        else Random(wanted.seed).sample(found, min(wanted.sample, len(found)))
    )
    sys.stdout.write(f"{len(found)} mutants in {len(files)} files, {len(tried)} tried\n")
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(Path(scratch), tests, wanted.workers)
        for mutant in tried:
            if trial.survives(mutant):
                survivors += 1
                sys.stdout.write(f"survived  {mutant}\n")
                sys.stdout.flush()
    noticed = len(tried) - survivors
    share = 100 * noticed / len(tried) if tried else 100.0
    sys.stdout.write(f"{noticed} of {len(tried)} noticed: {share:.0f} %\n")


if __name__ == "__main__":
    main()
