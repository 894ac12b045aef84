"""Would the tests notice? Changes one comparison, boolean or condition at a time and runs them.

python -m tests.benchmarks.mutants agentco_tui/actions [--sample 40] [--seed 1] [--tests PATH ...]

The tests of the room (`tests/actions` for `agentco_tui/actions`, or `--tests`) run once, and for
each it is noted which functions it calls and how long it takes. Then a process is forked for each
mutant, which gets the changed text in place of the file, and runs the tests that call its function,
the short ones first, until one fails. The tree itself is not touched. Prints the mutants that no
test noticed, and the share that was noticed. What cannot change behaviour (an equivalent mutant) is
for a person to tell from the list.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from textwrap import shorten
from types import CodeType, FrameType

import hypothesis.stateful  # noqa: F401 (read once, for all children)
import pytest
import textual.app  # noqa: F401 (the same)

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
        before, after = (shorten(text, 60) for text in (self.before, self.after))
        return f"{self.path.relative_to(TREE)}:{self.line}  {before}  ->  {after}"

    def applied(self, text: str) -> str:
        """The file's text with the change in it."""
        return f"{text[: self.start]}({self.after}){text[self.end :]}"


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
        if isinstance(node, ast.ClassDef):  # whether it is frozen is no decision
            skipped.update((*node.keywords, *node.decorator_list))
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


@dataclass
class Noted:
    """What a run of all tests showed."""

    seconds: dict[str, float] = field(default_factory=dict)
    """How long each test took."""
    calls: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    """The functions that each test calls: file and first line."""


class Recorder:
    """A plugin of pytest that notes which functions of some files each test calls."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = {str(path) for path in files}
        self.noted = Noted()
        self._seen: set[CodeType] = set()

    def _profile(self, frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note what is called meanwhile."""
        self._seen, began = set(), time.monotonic()
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            self.noted.seconds[item.nodeid] = time.monotonic() - began
            self.noted.calls[item.nodeid] = {
                (code.co_filename, code.co_firstlineno)
                for code in self._seen
                if code.co_filename in self._files
            }


class Chosen:
    """A plugin of pytest that runs these tests only, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the others."""
        items[:] = [item for item in items if item.nodeid in self._order]
        items.sort(key=lambda item: self._order[item.nodeid])


PYTEST = ("-x", "-q", "-n0", "-p", "no:cacheprovider", "--assert=plain")
NOTHING_LEFT = 5
"""Exit code of pytest where no test was run."""


def in_child(work: Callable[[], int]) -> int:
    """Run it in a forked process without a voice; gives its process id."""
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        os.setpgid(0, 0)
        code = 9
        try:
            code = int(work())
        finally:
            os._exit(code)
    return child


def noted_by(tests: Sequence[str], files: Sequence[Path]) -> Noted:
    """Run all tests once. Raises SystemExit if one fails."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "noted"

        def work() -> int:
            recorder = Recorder(files)
            code = pytest.main([*PYTEST, *tests], plugins=[recorder])
            kept.write_bytes(pickle.dumps(recorder.noted))
            return code

        _, status = os.waitpid(in_child(work), 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit("the tests fail without any mutant")
        noted: Noted = pickle.loads(kept.read_bytes())
        return noted


def functions_about(path: Path) -> dict[int, set[tuple[str, int]]]:
    """For each line of a file the functions it stands in, as a call of them is noted; a line that
    runs when the module is imported stands in none.
    """
    found: dict[int, set[tuple[str, int]]] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            assert node.end_lineno is not None
            for line in range(node.body[0].lineno, node.end_lineno + 1):
                found.setdefault(line, set()).add((str(path), first))
    return found


def tests_of(mutant: Mutant, noted: Noted) -> list[str]:
    """The tests that call the function that is changed, the short ones first."""
    inside = functions_about(mutant.path).get(mutant.line)
    calling = [
        test
        for test, called in noted.calls.items()
        if inside is None or not called.isdisjoint(inside)
    ]
    return sorted(calling, key=noted.seconds.__getitem__)


def trial(mutant: Mutant, tests: Sequence[str]) -> int:
    """Run these tests on a mutant; exits with pytest's code."""
    path, get_code = str(mutant.path), importlib.machinery.SourceFileLoader.get_code
    changed = mutant.applied(mutant.path.read_text(encoding="utf-8"))

    def with_mutant(loader: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        if loader.path != path:
            return get_code(loader, name)
        code: CodeType = compile(changed, path, "exec")
        return code

    importlib.machinery.SourceFileLoader.get_code = with_mutant  # type: ignore[assignment, method-assign]
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    return pytest.main([*PYTEST, *files], plugins=[Chosen(tests)])


def survivors(mutants: Sequence[Mutant], noted: Noted, workers: int) -> Iterator[Mutant]:
    """Those that no test notices, so many at a time. One that hangs is noticed."""
    running: dict[int, tuple[Mutant, float]] = {}
    waiting = list(reversed(mutants))
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop()
            tests = tests_of(mutant, noted)
            if not tests:
                yield mutant
                continue
            limit = 30.0 + 4.0 * sum(map(noted.seconds.__getitem__, tests))
            work = in_child(lambda mutant=mutant, tests=tests: trial(mutant, tests))  # type: ignore[misc]
            running[work] = mutant, time.monotonic() + limit
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            mutant, _ = running.pop(child)
            if os.waitstatus_to_exitcode(status) in (0, NOTHING_LEFT):
                yield mutant
            continue
        for late in [child for child, (_, limit) in running.items() if time.monotonic() > limit]:
            os.killpg(late, signal.SIGKILL)
        time.sleep(0.02)


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
    room_name = folder.relative_to(TREE / "agentco_tui").parts[0]
    files = sorted(room.rglob("*.py")) if room.is_dir() else [room]
    found = [mutant for path in files for mutant in mutants(path)]
    some = 0 < wanted.sample < len(found)
    tried = Random(wanted.seed).sample(found, wanted.sample) if some else found
    sys.stdout.write(f"{len(found)} mutants in {len(files)} files, {len(tried)} tried\n")
    sys.stdout.flush()
    os.chdir(TREE)
    sys.dont_write_bytecode = True
    noted = noted_by(wanted.tests or [f"tests/{room_name}"], files)
    alive = 0
    for mutant in survivors(tried, noted, wanted.workers):
        alive += 1
        sys.stdout.write(f"survived  {mutant}\n")
        sys.stdout.flush()
    noticed = len(tried) - alive
    share = 100 * noticed / len(tried) if tried else 100.0
    sys.stdout.write(f"{noticed} of {len(tried)} noticed: {share:.0f} %\n")


if __name__ == "__main__":
    main()
