"""Imports point one way: screens -> actions, attention -> history -> live -> api -> model."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "agentco_tui"

LEAVES = {"__version__", "text", "system", "keys"}
"""Rooms that any room but `model` may import."""

MAY_IMPORT = {
    "text": set[str](),
    "system": {"text"},
    "keys": {"text"},
    "model": {"text"},
    "reading": LEAVES | {"model", "api"},
    "api": LEAVES | {"model", "reading"},
    "live": LEAVES | {"model", "api", "reading", "config"},
    "history": LEAVES | {"model", "api", "reading", "live", "config"},
    "attention": LEAVES | {"model", "api", "reading", "live", "history", "config"},
    "actions": LEAVES | {"model", "api", "live", "history", "reading"},
    "workspace": LEAVES
    | {"model", "api", "live", "history", "attention", "reading", "actions", "config"}
    | {"platforms"},
    "textual_patches": LEAVES,
    "widgets": LEAVES | {"textual_patches"},
    "screens": LEAVES
    | {"model", "reading", "api", "live", "history", "attention", "actions", "widgets"}
    | {"textual_patches", "config", "workspace"},
    "commands": LEAVES
    | {
        "model",
        "reading",
        "api",
        "live",
        "history",
        "attention",
        "actions",
        "config",
        "demo",
        "terminal",
        "cli",
        "workspace",
        "platforms",
    },
    "config": LEAVES | {"model", "reading", "api"},
    "platforms": LEAVES | {"model", "reading", "api", "config"},
    "terminal": LEAVES | {"textual_patches"},
    "demo": LEAVES,
}
"""What each room may import of the others."""

NO_TEXTUAL = (
    *("text", "system", "keys", "model"),
    *("reading", "api", "live", "history", "attention", "actions", "config", "workspace"),
    *("commands", "demo", "platforms"),
)


@cache
def imports(module: Path) -> list[str]:
    """The dotted names a module imports, also inside functions."""
    found: list[str] = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "agentco_tui":
            found += (f"agentco_tui.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


def importing(folder: str, wrong: Callable[[str], bool]) -> set[str]:
    """The files of a folder that import what is wrong there, with what it is."""
    files = sorted((PACKAGE / folder).rglob("*.py"))
    assert files, folder
    return {
        f"{file.relative_to(PACKAGE)} imports {name}"
        for file in files
        for name in imports(file)
        if wrong(name)
    }


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}

    def wrong(name: str) -> bool:
        return name.startswith("agentco_tui.") and name.split(".")[1] not in allowed

    assert importing(room, wrong) == set()


@pytest.mark.parametrize("room", NO_TEXTUAL)
def test_below_the_screens_there_is_no_textual(room: str) -> None:
    assert importing(room, lambda name: name.split(".")[0] in ("textual", "rich")) == set()


def test_only_the_transport_speaks_http() -> None:
    speaking = importing("", lambda name: name.split(".")[0] == "httpx")
    files = {line.split()[0] for line in speaking}
    assert files <= {
        "api/connection_errors.py",
        "api/pools.py",
        "api/request_builder.py",
        "api/response_body.py",
        "api/tls.py",
        "api/transport.py",
    }


def test_only_one_file_speaks_by_web_socket() -> None:
    speaking = importing("", lambda name: name.split(".")[0] == "websockets")
    assert {line.split()[0] for line in speaking} == {"api/web_socket.py"}


KNOW_NO_INTERFACE = (
    *("keys", "live", "history", "attention", "actions", "workspace", "screens", "commands"),
)
"""Rooms that ask a `Platform`, whatever its interface looks like."""
OPENERS = {"workspace/opening.py", "commands/command_context.py"}
"""The files there that open the client of a platform."""
OPENER = "agentco_tui.platforms.opener"
"""The only module by which they do that."""
INTERFACE_WORDS = re.compile(r"/api/|\b(?:GET|POST|PUT|PATCH)\b|\bDELETE\b(?! FROM)")
PLATFORM_NAMES = re.compile(r"\b(?:paperclip|airflow|litellm)", re.IGNORECASE)


@pytest.mark.parametrize("room", KNOW_NO_INTERFACE)
def test_above_the_api_nothing_knows_a_path_a_method_or_a_platform(room: str) -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for file in sorted((PACKAGE / room).rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if INTERFACE_WORDS.search(line) or PLATFORM_NAMES.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("room", KNOW_NO_INTERFACE)
def test_above_the_api_only_the_openers_import_an_implementation(room: str) -> None:
    implementations = ("agentco_tui.api.client", "agentco_tui.api.generic", "agentco_tui.platforms")
    importers = importing(room, lambda name: name.startswith(implementations))
    assert importers == {f"{file} imports {OPENER}" for file in OPENERS if file.startswith(room)}


def test_the_openers_open_something() -> None:
    for opener in OPENERS:
        assert OPENER in imports(PACKAGE / opener), opener
    assert "agentco_tui.api.client" in imports(PACKAGE / "platforms" / "opener.py")


def test_widgets_know_no_records() -> None:
    assert importing("widgets", lambda name: "agentco_tui.api" in name) == set()


def test_the_app_imports_no_command() -> None:
    """What runs without a screen and the dashboard share rooms below both."""
    app = PACKAGE / "app.py"
    assert [name for name in imports(app) if name.startswith("agentco_tui.commands")] == []
