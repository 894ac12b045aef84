"""The pages in docs/ keep what they say: files that exist, operations, a client that runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentco_tui.api import client
from tests.config import settings_page
from tests.platform import EmbeddedPlatform
from tests.reading import reading_page
from tests.test_readme import OPERATIONS

NOT_FOR_SCRIPTS = ("aclose", "as_sent", "read_body", "act", "proof_of", "why_read_only")
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


def clients_program(platform: EmbeddedPlatform, key: str) -> subprocess.CompletedProcess[str]:
    """The first program of the page on the client, run to its end."""
    code = re.findall(r"^```python\n(.*?)^```$", page("client.md"), re.MULTILINE | re.DOTALL)[0]
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"AGENTCO_BASE_URL": platform.base_url, "AGENTCO_API_KEY": key},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_clients_example_lists_approves_and_reads() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        pending = platform.world.tasks(status="pending")
        ran = clients_program(platform, platform.full_key)
    assert (ran.returncode, ran.stderr) == (0, "")
    listed = [line.split("\t")[0] for line in ran.stdout.splitlines()]
    assert set(listed[:-1]) == {task.id for task in pending}
    assert ran.stdout.splitlines()[-1] == "now approved"
    assert platform.world.task(listed[0]).status == "approved"


def test_the_clients_example_runs_where_nothing_waits() -> None:
    with EmbeddedPlatform(speed=0, tasks=0) as platform:
        ran = clients_program(platform, platform.full_key)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "nothing waits\n", "")
        assert platform.requests.matching("approve") == []


def test_the_clients_example_says_what_is_wrong_in_a_line() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        ran = clients_program(platform, platform.read_key)
    assert ran.returncode == 1
    assert ran.stderr.startswith("the key lacks the permission")
    assert len(ran.stderr.splitlines()) == 1


def test_the_page_on_the_client_names_what_is_public() -> None:
    text = page("client.md")
    for name in ("Listing", "whole", "shared_id", "verdict", "open_profile", "__all__"):
        assert f"`{name}" in text or f".{name}" in text
    for method in client.Client.__dict__:
        if not method.startswith("_") and inspect.iscoroutinefunction(
            getattr(client.Client, method)
        ):
            assert f"`{method}`" in text or f".{method}`" in text or method in NOT_FOR_SCRIPTS


def test_what_is_read_is_generated_from_the_tables() -> None:
    assert page("reading.md") == reading_page.page(), "python -m tests.reading.reading_page"


def test_the_table_of_settings_is_generated_from_the_declarations() -> None:
    assert page("settings.md") == settings_page.page(), "python -m tests.config.settings_page"
    assert len(page("settings.md").splitlines()) <= 200
