"""The manual keeps what it says: short pages with a table of contents, and examples that run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from agentco_tui.cli.manual import TOPICS, page
from tests.commands.conftest import Command
from tests.platform import EmbeddedPlatform

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES_OF_README = 220
MOST_LINES_OF_A_PAGE = 200


class Example(NamedTuple):
    """A command of a `console` block; behind `# exit` stand the exit codes it may have."""

    arguments: list[str]
    exit_codes: set[int]


def examples(text: str) -> Iterator[Example]:
    """The commands that the `console` blocks of a page show."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            command, _, codes = line.removeprefix("$ agentco-tui ").partition("# exit ")
            allowed = {int(code) for code in codes.split("|")} if codes else {0}
            yield Example(shlex.split(command), allowed)


def anchor(heading: str) -> str:
    """The anchor that a heading has where Markdown is shown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES_OF_README


def test_the_readme_leads_to_every_page_of_the_manual() -> None:
    assert [topic for topic in TOPICS if f"(docs/{topic}.md)" not in README] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_short_and_begins_with_its_contents(topic: str) -> None:
    text = page(topic)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    contents = re.findall(r"^- \[(.+)\]\(#(.+)\)$", text, re.MULTILINE)
    assert len(text.splitlines()) <= MOST_LINES_OF_A_PAGE
    assert contents == [(heading, anchor(heading)) for heading in headings]


@pytest.mark.parametrize("topic", TOPICS)
def test_the_examples_of_a_page_run(topic: str, command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        command.on(platform)
        for example in examples(page(topic)):
            ran = command(*example.arguments)
            assert ran.code in example.exit_codes, (example, ran)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_settings_that_a_page_shows_are_valid(topic: str, command: Command) -> None:
    for number, block in enumerate(re.findall(r"^```toml\n(.*?)^```$", page(topic), re.M | re.S)):
        path = command.home / f"{topic}-{number}.toml"
        path.write_text(block, encoding="utf-8")
        ran = command("--config", str(path), "config", "check")
        assert ran.code == 0, (block, ran)


@pytest.mark.parametrize("topic", TOPICS)
def test_help_shows_the_page_of_a_topic(topic: str, command: Command) -> None:
    ran = command("help", topic)
    assert ran.code == 0
    assert ran.out.endswith(page(topic))


def test_help_names_the_nearest_topic(command: Command) -> None:
    ran = command("help", "aproving")
    assert ran.code == 2
    assert "did you mean approving?" in ran.err


def test_help_lists_the_topics(command: Command) -> None:
    ran = command("help", "help")
    assert ran.code == 0
    assert all(topic in ran.out for topic in TOPICS)
