"""A setting that is added as docs/architecture.md says takes effect; half of it is an error.

The recipe is followed on a copy of the program, by editing the two files that it names.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import agentco_tui

PROGRAM = Path(agentco_tui.__file__).parent
CONFIG = """
{top}
[profiles.x]
base_url = "https://x.example"
api_key_env = "KEY_X"
{profile}
{section}
"""
TELL = """
import sys
from agentco_tui.config.resolve import load
settings = load({"config": sys.argv[1]}, {"KEY_X": "acp_live_0123456789abcdef"})
print(settings.greeting, "|", settings.sources.get("greeting"))
"""
SHOW = "from agentco_tui.cli.main import main; main(['config', 'show', *sys.argv[1:]])"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the program, without what was compiled of it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROGRAM, tmp_path / "agentco_tui", ignore=ignored)
    return tmp_path


def edit(file: Path, pattern: str, added: str) -> None:
    """Put a line after the one place that has these words."""
    text = file.read_text()
    assert len(re.findall(pattern, text)) == 1
    file.write_text(re.sub(pattern, lambda found: f"{found[0]}\n{added}", text))


def declare(copy: Path, after: str, line: str = '    "greeting": validators.text,') -> None:
    edit(copy / "agentco_tui/config/file.py", after, line)


def add_field(copy: Path) -> None:
    edit(copy / "agentco_tui/config/__init__.py", r"    refresh: float = .*", GREETING)


GREETING = '    greeting: str = "hello"'
TOP, PROFILE = r"SETTINGS: Table = \{", r"PROFILE: Table = \{"
NEW_SECTION = '    "parlour": {"greeting": validators.text},'


def told(copy: Path, program: str = TELL, **written: str) -> subprocess.CompletedProcess[str]:
    config = copy / "config.toml"
    config.write_text(CONFIG.format(**{"top": "", "profile": "", "section": "", **written}))
    return subprocess.run(
        [sys.executable, "-c", program, str(config)],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("after", "line", "written"),
    [
        (TOP, '    "greeting": validators.text,', {"top": 'greeting = "ahoy"'}),
        (PROFILE, '    "greeting": validators.text,', {"profile": 'greeting = "ahoy"'}),
        (TOP, NEW_SECTION, {"section": '[parlour]\ngreeting = "ahoy"'}),
    ],
    ids=["top", "profile", "section"],
)
def test_it_takes_effect(copy: Path, after: str, line: str, written: dict[str, str]) -> None:
    declare(copy, after, line)
    add_field(copy)
    assert told(copy).stdout.startswith("hello"), "its default"
    ran = told(copy, **written)
    assert ran.stdout.startswith("ahoy"), ran.stderr
    shown = told(copy, "import sys; " + SHOW.replace("*sys.argv[1:]", "'--config', sys.argv[1]"))
    assert re.search(r"greeting +hello", shown.stdout), shown.stdout + shown.stderr


@pytest.mark.parametrize(
    ("after", "line"),
    [
        (TOP, '    "greeting": validators.text,'),
        (PROFILE, '    "greeting": validators.text,'),
        (TOP, NEW_SECTION),
        (r"ALERTS: Table = \{", '    "greeting": validators.text,'),
        (r"NOTIFY: Table = \{", '    "greeting": validators.text,'),
    ],
    ids=["top", "profile", "section", "alerts", "notify"],
)
def test_declared_without_a_field_the_program_does_not_start(
    copy: Path, after: str, line: str
) -> None:
    declare(copy, after, line)
    ran = told(copy)
    assert ran.returncode != 0
    assert "declares and nothing reads" in ran.stderr
    assert "greeting" in ran.stderr
