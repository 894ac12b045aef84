"""One name for one thing, no circles, and nothing that only an outsider's paper could explain."""

from __future__ import annotations

import ast
import functools
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "agentco_tui"
FILES = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file. Not read on import, because every worker imports this module."""
    return ast.parse(path.read_text(encoding="utf-8"))


# What is not yet so; these only ever shrink.
REFERENCES = {"agentco_tui": 61, "tests": 30}
MOST_PRIVATE_USES = 100
PUBLIC_IN_SPITE_OF_THEIR_NAMES = {"_exit", "_replace"}
"""Documented members of `os` and of named tuples."""
BY_NAME = {"setattr", "delattr", "getattr", "hasattr", "object"}
"""Functions that are given an attribute as a string; `object` is that of `mock.patch`."""
MAY_USE_PRIVATE = re.compile(
    r"""(?<!self)(?<!cls)\._[A-Za-z]|["']_[A-Za-z]|^from .*\b_[A-Za-z]|^ +_\w+,$""", re.MULTILINE
)
"""What a file holds if it uses anything private; no other file is parsed, which takes longer."""
OUTSIDE_WORDS = re.compile(
    r"(?<![.\w])(?:SHAPES|SAFETY|TERMINALS|INTERFACE|DESIGN|HOUSE|MODELS|PAPERCLIP|FORECAST)(?:\.md)?"
    r"(?: [A-Z0-9]+| \d+)?\b|\blaws? \d\b|\bissues? \d{1,2}\b"
)
"""Papers, laws and issues that are not in the repository."""


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in FILES
}


def imported(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, also those that only a type checker reads."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    """The modules that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The comments and texts of a file, each with its line."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield token.start[0], token.string


def test_no_file_imports_itself_by_way_of_others() -> None:
    """Imports under `TYPE_CHECKING`, and those inside functions, count, too."""
    graph = {name: set(imported(path)) - {name} for name, path in MODULES.items()}
    cyclic = {name for name in graph if name in reachable(name, graph)}
    assert sorted(cyclic) == []


def test_no_class_name_means_two_things() -> None:
    found = Counter(
        node.name
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
    )
    assert sorted({name for name, times in found.items() if times > 1}) == []


def test_no_file_name_stands_twice() -> None:
    names = Counter(path.name for path in FILES if not path.name.startswith("__"))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("folder", REFERENCES)
def test_nothing_refers_to_papers_outside_the_repository(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word[0]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__)
        for number, text in prose(path)
        if (word := OUTSIDE_WORDS.search(text))
    ]
    assert len(found) <= REFERENCES[folder], "\n".join(found)


def is_private(name: str) -> bool:
    """Whether a name, or a part of a dotted name, begins with one underscore."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def private_uses(path: Path) -> Iterator[int]:
    """The line of each use of what is private to another object or module."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute):
            owner = node.value
            is_own = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
            is_public = node.attr in PUBLIC_IN_SPITE_OF_THEIR_NAMES or not is_private(node.attr)
            if not is_own and not is_public:
                assert node.end_lineno is not None
                yield node.end_lineno
        elif isinstance(node, ast.ImportFrom):
            imports = [node.module or "", *(alias.name for alias in node.names)]
            if any(map(is_private, imports)):
                yield node.lineno
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            if isinstance(function, ast.Name):
                name = function.id
            if name not in BY_NAME:
                continue
            for argument in node.args[:2]:
                value = argument.value if isinstance(argument, ast.Constant) else None
                if isinstance(value, str) and is_private(value):
                    yield argument.lineno


def test_private_uses_are_few_and_each_has_a_reason() -> None:
    """The reason is a comment that begins with "private:", on the line or up to two above it."""
    uses = []
    without_reason = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not MAY_USE_PRIVATE.search(text):
            continue
        lines = text.splitlines()
        for number in private_uses(path):
            uses.append(f"{path.relative_to(ROOT)}:{number}")
            if not any("# private: " in line for line in lines[max(0, number - 3) : number]):
                without_reason.append(uses[-1])
    assert without_reason == []
    assert len(uses) <= MOST_PRIVATE_USES, "\n".join(uses)
