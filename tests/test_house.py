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
