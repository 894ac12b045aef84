"""The pages in docs/ keep what they say: files that exist, operations, a client that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.embedded import EmbeddedPlatform
from tests.reading import reading_page
from tests.test_readme import OPERATIONS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_interface_names_every_operation() -> None:
    text = page("interface.md")
    for operation in OPERATIONS:
        method, path = operation.split()
        assert f"| {method} | `{path}` |" in text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_file_that_a_page_names_exists(path: Path) -> None:
    """Files are written as `room/name.py`, from the package's folder or from the tree's."""
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/]+\.(?:py|md|toml|txt))(?::\w+)?`", text)
    missing = [
        name
        for name in named
        if not (ROOT / name).exists() and not (ROOT / "agentco_tui" / name).exists()
    ]
    assert missing == []


def test_the_clients_example_lists_approves_and_reads() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", page("client.md"), re.MULTILINE | re.DOTALL)
    with EmbeddedPlatform(speed=0) as platform:
        pending = platform.world.tasks(status="pending")
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={"AGENTCO_BASE_URL": platform.base_url, "AGENTCO_API_KEY": platform.full_key},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert ran.stderr == ""
    listed = [line.split("\t")[0] for line in ran.stdout.splitlines()]
    assert set(listed[:-1]) == {task.id for task in pending}
    assert ran.stdout.splitlines()[-1] == "now approved"
    assert platform.world.task(listed[0]).status == "approved"


def test_what_is_read_is_generated_from_the_tables() -> None:
    assert page("reading.md") == reading_page.page(), "python -m tests.reading.reading_page"
