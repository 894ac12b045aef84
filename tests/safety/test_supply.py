"""The embedded platform stays on loopback, and out of the dashboard on another platform."""

from __future__ import annotations

import ast
import json
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from tests.terminal.platform_process import own_folders
from tests.terminal.pty_session import REPOSITORY, PtySession, clean_environment

LOADED = """
import atexit, json, sys
atexit.register(lambda: open(sys.argv[0] + ".loaded", "w").write(json.dumps(sorted(sys.modules))))
"""


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


def test_the_dashboard_never_loads_it(tmp_path: Path) -> None:
    started = tmp_path / "start.py"
    started.write_text(LOADED + "from agentco_tui.cli import main\nsys.exit(main(sys.argv[1:]))\n")
    with EmbeddedPlatform(companies=1, agents=2, tasks=3, speed=0) as platform:
        env = {
            **own_folders(tmp_path),
            "PYTHONPATH": str(REPOSITORY),
            "AGENTCO_BASE_URL": platform.base_url,
            "AGENTCO_API_KEY": platform.full_key,
        }
        with PtySession([sys.executable, str(started)], env=env) as session:
            session.wait_for("live")
            session.press("2")
            session.wait_for("COMPANIES all")
            session.press("q")
            assert session.wait_gone() == 0
    loaded = set(json.loads((tmp_path / "start.py.loaded").read_text()))
    assert "agentco_tui.app" in loaded
    assert not {name for name in loaded if name.startswith("agentco_tui.demo")}


def test_what_is_imported_is_declared_with_bounds_and_a_reason() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["demo"], *extras["keyring"]]
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
    assert imported - sys.stdlib_module_names - {"agentco_tui"} == bounds.keys()


def test_how_much_is_tried() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "tests.safety"],
        cwd=REPOSITORY,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "places × payloads" in told
    assert "writes × faults" in told
