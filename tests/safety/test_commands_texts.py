"""The commands at a real terminal, on a platform whose every text is a payload."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.model.format import stamp
from tests.safety.hostile_world import COUNT, TEXTS, HostilePlatform, unclean
from tests.terminal.dashboard import dashboard

pytestmark = pytest.mark.timeout(400)


def run(folder: Path, platform: HostilePlatform, *words: str) -> bytes:
    """What a command writes to a terminal, standard error included."""
    with dashboard(platform, folder, *words, size=(200, 50)) as session:
        session.wait_gone()
        return session.raw


@pytest.mark.parametrize(
    ("words", "tag"),
    [
        (("status",), b"L"),
        (("status", "--json"), b'"findings"'),
        (("doctor",), b""),
        (("tail", "--json"), b"E050"),
        (("export", "activity", "--format", "csv"), b"E050"),
    ],
    ids=lambda words: "-".join(words) if isinstance(words, tuple) else "",
)
def test_a_command_writes_no_payload_raw(
    words: tuple[str, ...], tag: bytes, tmp_path: Path
) -> None:
    with HostilePlatform() as platform:
        written = run(tmp_path, platform, *words)
    assert tag in written
    assert unclean(written, lines=True) == []
    if words[0] in ("tail", "export"):
        shown = sum(f"E{n:03d}".encode() in written for n in range(COUNT))
        assert shown >= 90
    if "--json" in words:
        for line in written.decode().splitlines()[:1] if words[0] == "tail" else [written]:
            assert json.loads(line)


@pytest.mark.parametrize("command", ["doctor", "tail"])
def test_a_refusal_with_payloads_is_told_clean(command: str, tmp_path: Path) -> None:
    with HostilePlatform() as platform:
        platform.failing = True
        written = run(tmp_path, platform, *command.split())
    assert b"503" in written
    assert unclean(written, lines=True) == []


def test_the_journal_is_told_clean(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "agentco-tui"
    journal = Journal(folder / "journal.jsonl")
    for n, text in enumerate(TEXTS):
        attempt = journal.begin(made(n, text), journal.mark())
        journal.finish(
            Settled(
                attempt=attempt.attempt,
                time=stamp(1_767_000_001.0 + n),
                outcome="refused",
                sentence=text,
                words=text,
            )
        )
    journal.close()
    # What somebody else put into the file must not get out of it raw either.
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind": "\x1b[31m", "x": 1}\n\x1b]52;c;AA==\x07 no json\xff\xfe\n')
    for words in (["journal"], ["journal", "--json"]):
        with HostilePlatform() as platform:
            written = run(tmp_path, platform, *words)
        assert written.count(b"\n") >= COUNT
        assert unclean(written, lines=True) == []


def made(n: int, text: str) -> Attempt:
    return Attempt(
        attempt=f"try{n}",
        time=stamp(1_767_000_000.0 + n),
        origin="http://127.0.0.1:9",
        profile="default",
        verb="approve",
        subject=f"tsk{n}{text}",
        title=text,
    )
