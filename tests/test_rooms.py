"""Imports point one way: screens -> widgets, actions, live -> api -> reading -> model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "agentco_tui"

LEAVES = {
    "__version__",
    "background",
    "text",
    "signs",
    "width",
    "format",
    "keys",
    "patterns",
    "key_names",
    "state_folder",
}
"""Modules that any room may import."""

MAY_IMPORT = {
    "model": {"text", "width", "signs", "patterns"},
    "reading": LEAVES | {"model", "api"},
    "api": LEAVES | {"model", "reading"},
    "live": LEAVES | {"model", "api", "reading"},
    "actions": LEAVES | {"model", "api", "live", "reading"},
    "textual_patches": LEAVES,
    "widgets": LEAVES | {"textual_patches"},
    "screens": LEAVES
    | {"model", "reading", "api", "live", "actions", "widgets", "textual_patches"}
    | {"config", "atomic_write"},
    "commands": LEAVES
    | {"model", "reading", "api", "live", "actions"}
    | {"config", "demo", "terminal", "atomic_write", "arguments"},
    "config": LEAVES | {"model", "reading", "api"},
    "terminal": LEAVES | {"textual_patches"},
    "demo": LEAVES,
}
"""What each room may import of the others."""

NO_TEXTUAL = ("reading", "api", "live", "actions", "config", "commands", "demo")


def imports(module: Path) -> Iterator[str]:
    """The dotted names a module imports, also inside functions."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "agentco_tui":
                yield from (f"agentco_tui.{alias.name}" for alias in node.names)
            else:
                yield node.module


def modules(room: str) -> list[Path]:
    """The modules of a room."""
    found = sorted((PACKAGE / room).rglob("*.py"))
    assert found, room
    return found


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    wrong = [
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in modules(room)
        for name in imports(module)
        if name.startswith("agentco_tui.") and name.split(".")[1] not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("room", NO_TEXTUAL)
def test_below_the_screens_there_is_no_textual(room: str) -> None:
    wrong = [
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in modules(room)
        for name in imports(module)
        if name.split(".")[0] in ("textual", "rich")
    ]
    assert wrong == []


def test_only_the_transport_speaks_http() -> None:
    allowed = {
        PACKAGE / "api" / name for name in ("transport.py", "network.py", "response_body.py")
    }
    wrong = [
        str(module.relative_to(PACKAGE))
        for module in PACKAGE.rglob("*.py")
        if module not in allowed and any(name.split(".")[0] == "httpx" for name in imports(module))
    ]
    assert wrong == []


def test_widgets_know_no_records() -> None:
    for module in modules("widgets"):
        assert "agentco_tui.api" not in " ".join(imports(module)), module
