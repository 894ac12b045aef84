"""What is released: the same bytes at each build, and nothing in them that does not belong."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from agentco_tui import __version__
from agentco_tui.cli.manual import TOPICS
from tests.commands import manual_page

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agentco_tui", "docs", "screenshots", "tests")
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "pyproject.toml")


def build(folder: Path, **env: str) -> dict[str, Path]:
    """Wheel and sdist of this tree, by the ends of their names."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        check=True,
        timeout=100,
    )
    return {"".join(path.suffixes[-1:]): path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("dist"), SOURCE_DATE_EPOCH="1790000000")


def files_of(folder: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not {"__pycache__", ".hypothesis"} & {*path.parts}
    }


def test_the_wheel_holds_the_program_its_page_and_its_licence(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built[".whl"]) as wheel:
        found = set(wheel.namelist())
        about = f"agentco_tui-{__version__}.dist-info"
        told = wheel.read(f"{about}/METADATA").decode()
    named = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    manual = {f"agentco_tui/manual/{topic}.md" for topic in TOPICS}
    page = f"agentco_tui-{__version__}.data/data/share/man/man1/agentco-tui.1"
    described = {f"{about}/{name}" for name in named}
    assert found == files_of("agentco_tui") | manual | described | {page}
    assert f"\nVersion: {__version__}\n" in told


def test_a_recorded_demo_is_small(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built[".whl"]) as wheel:
        sizes = {info.filename: info.compress_size for info in wheel.infolist()}
    recordings = {name: size for name, size in sizes.items() if name.endswith(".rec.xz")}
    assert set(recordings) == {"agentco_tui/demo/paperclip.rec.xz"}
    assert max(recordings.values()) < 60_000


def test_the_sdist_holds_what_a_checkout_has(built: dict[str, Path]) -> None:
    top = f"agentco_tui-{__version__}/"
    with tarfile.open(built[".gz"]) as sdist:
        found = {name.removeprefix(top) for name in sdist.getnames()}
    wanted = {*FILES, "PKG-INFO", ".gitignore"}
    assert found == wanted.union(*map(files_of, FOLDERS))


def test_another_build_has_the_same_bytes(built: dict[str, Path], tmp_path: Path) -> None:
    again = build(tmp_path, SOURCE_DATE_EPOCH="1790000000", TZ="Pacific/Auckland", LC_ALL="C")

    def digests(paths: dict[str, Path]) -> dict[str, str]:
        return {path.name: sha256(path.read_bytes()).hexdigest() for path in paths.values()}

    assert digests(again) == digests(built)


def test_the_manual_page_is_made_from_the_grammar() -> None:
    told = manual_page.PAGE.read_text(encoding="utf-8")
    assert told == manual_page.page(), "python -m tests.commands.manual_page"


def test_the_changelog_begins_with_this_version_and_says_when_older_ones_came() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    first, *older = (line.removeprefix("## ") for line in lines if line.startswith("## "))
    assert first.partition(",")[0] == __version__
    assert all(part[2:] for part in (line.partition(", 20") for line in older))


def test_the_pythons_that_are_named_are_the_ones_that_are_tried() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = {line.rpartition(" ")[2] for line in classifiers if "Python :: 3." in line}
    workflow = ROOT / ".github/workflows/check.yml"
    if not workflow.is_file():
        pytest.skip("a source distribution has no workflow")
    tried = next(line for line in workflow.read_text().splitlines() if "python: [" in line)
    assert named <= set(tried.partition("[")[2].rstrip("]").replace('"', "").split(", "))
