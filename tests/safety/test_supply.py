"""The embedded platform stays on loopback; what is imported is declared."""

from __future__ import annotations

import ast
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from tests.platform import EmbeddedPlatform
from tests.terminal.pty_session import REPOSITORY


def test_it_listens_on_loopback_only() -> None:
    with EmbeddedPlatform(companies=1, agents=1, tasks=1, speed=0) as platform:
        listening = Path("/proc/net/tcp").read_text().split("\n") if sys.platform == "linux" else []
        ours = [
            line.split()[1] for line in listening if f":{platform.port:04X} 00000000:0000" in line
        ]
        assert all(address.startswith("0100007F:") for address in ours)
        with (
            pytest.raises(OSError, match=r"refused|timed out"),
            socket.create_connection(("127.0.0.2", platform.port), 2),
        ):
            pass


def test_what_is_imported_is_declared_with_bounds_and_a_reason() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["demo"], *extras["keyring"], *extras["metrics"]]
    bounds = dict(requirement.partition(">=")[::2] for requirement in wanted)
    reasons = (REPOSITORY / "CONTRIBUTING.md").read_text()
    for name, bound in bounds.items():
        assert bound, name
        assert f"| {name} |" in reasons
    for name in ("textual", "rich", "httpx", "httpcore"):
        assert ",<" in bounds[name], f"{name} is taken further than by its public interface"
    imported = {
        name.partition(".")[0]
        for path in (REPOSITORY / "agentco_tui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    # keyring is run as a program, and sniffio is imported by httpcore.
    imported_by_others = {"keyring", "sniffio"}
    assert (
        imported - sys.stdlib_module_names - {"agentco_tui"} == bounds.keys() - imported_by_others
    )
