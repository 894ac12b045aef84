"""`agentco-tui export activity`: whole or not at all."""

from __future__ import annotations

import csv
import io
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from agentco_tui.demo import rest_api
from agentco_tui.demo.http_messages import Answer
from agentco_tui.live.log_file import LONGEST_LINE, lines_of
from tests.commands.conftest import Command
from tests.platform import EmbeddedPlatform


def _files(command: Command) -> set[str]:
    return {path.name for path in command.home.iterdir()} - {".config"}


def test_the_file_appears_whole(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("export", "activity", "--format", "csv", "--out", "a.csv")
    assert (ran.code, ran.out) == (0, "")
    raw = (command.home / "a.csv").read_bytes()
    assert raw.startswith(b"id,timestamp,")
    assert raw.count(b"\r\n") == len(still.world.activity()) + 1
    assert _files(command) == {"a.csv"}
    (request,) = still.requests
    assert (request.path, request.query) == ("/api/activity/export", "format=csv")


def test_to_a_pipe_the_bytes_go_as_they_came(command: Command, still: EmbeddedPlatform) -> None:
    command.on(still)("export", "activity", "--out", "a.csv")
    for words in ((), ("--out", "-")):
        done = subprocess.run(
            command.arguments("export", "activity", *words),
            env=command.env,
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert (done.stdout, done.stderr) == ((command.home / "a.csv").read_bytes(), b"")


def test_a_file_that_is_there_stays(command: Command, still: EmbeddedPlatform) -> None:
    there = command.home / "a.csv"
    there.write_text("mine")
    ran = command.on(still)("export", "activity", "--out", "a.csv")
    assert ran.code == 2
    assert "--force" in ran.err
    assert there.read_text() == "mine"
    assert list(still.requests) == []
    assert command("export", "activity", "--out", "a.csv", "--force").code == 0
    assert there.read_text().startswith("id,")
    assert _files(command) == {"a.csv"}


@pytest.mark.parametrize("out", [".", "no/such/folder/a.csv", "/dev/null", "~no-such-user-here/x"])
def test_what_can_be_no_file_exits_2(command: Command, still: EmbeddedPlatform, out: str) -> None:
    ran = command.on(still)("export", "activity", "--force", "--out", out)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert _files(command) == set()


@pytest.mark.parametrize(
    "fault", ["status=403", "status=500", "cut", "drop_before", "redirect", "status=200,body=html"]
)
def test_a_failure_leaves_nothing_behind(
    command: Command, still: EmbeddedPlatform, fault: str
) -> None:
    still.faults.add(f"export:{fault}")
    ran = command.on(still)("export", "activity", "--out", "a.csv")
    assert ran.code == 3
    assert "was not written" in ran.err
    assert _files(command) == set()


def test_a_link_is_followed(command: Command, still: EmbeddedPlatform) -> None:
    (command.home / "there.csv").write_text("old")
    (command.home / "link.csv").symlink_to("there.csv")
    assert command.on(still)("export", "activity", "--out", "link.csv", "--force").code == 0
    assert (command.home / "link.csv").is_symlink()
    assert (command.home / "there.csv").read_text().startswith("id,")


def test_a_signal_leaves_nothing_behind(command: Command, still: EmbeddedPlatform) -> None:
    still.faults.add("export:hang_body")
    child = command.on(still).start("export", "activity", "--out", "a.csv")
    with child:
        deadline = time.monotonic() + 30
        while not any(name.endswith(".part") for name in _files(command)):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=30) == 128 + signal.SIGTERM
    assert _files(command) == set()


async def test_lines_from_pieces_one_without_an_end_is_cut() -> None:
    async def pieces(*given: bytes) -> AsyncIterator[bytes]:
        for piece in given:
            yield piece

    whole = "a,é\r\nb\n\nlast".encode() + b"\xff"
    found = lines_of(pieces(*(whole[at : at + 1] for at in range(len(whole)))))
    assert [line async for line in found] == ["a,é", "b", "", "last\ufffd"]
    lines = [line async for line in lines_of(pieces(*[b"x" * LONGEST_LINE] * 3))]
    assert max(map(len, lines)) <= 2 * LONGEST_LINE
    assert sum(map(len, lines)) == 3 * LONGEST_LINE


def _ids(entries: Iterable[Any], _: str) -> Answer:
    sheet = io.StringIO(newline="")
    rows = csv.writer(sheet)
    rows.writerow(["id", "company_id", "agent", "agentId", "message"])
    for entry in entries:
        company, agent = entry.company, entry.agent
        ids = company.id if company else "", "Ada", agent.id if agent else "ag_gone"
        rows.writerow([entry.id, *ids, f'said "{entry.message}",\nand more'])
    return Answer(200, {"content-type": "text/csv"}, sheet.getvalue().encode())


def test_names_stand_beside_ids(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    # private: the export of the embedded platform always has the same columns.
    monkeypatch.setattr(rest_api, "_export", _ids)
    ran = command.on(still)("export", "activity", "--names", "--out", "a.csv")
    assert (ran.code, ran.out) == (0, "")
    assert f"{len(still.world.activity())} rows" in ran.err.replace(",", "")
    with (command.home / "a.csv").open(newline="") as file:
        titles, *rows = csv.reader(file)
    # Where a column of names is there already, none is added.
    assert titles == ["id", "company_id", "company_name", "agent", "agentId", "message"]
    companies = {company.id: company.name for company in still.world.state.companies.values()}
    assert {row[1]: row[2] for row in rows if row[1]} == companies
    told = [entry.message for entry in still.world.activity()]
    assert [row[-1] for row in rows] == [f'said "{message}",\nand more' for message in told]
    # Without the flag it goes as it came; to a pipe with it as to the file.
    piped = command("export", "activity", "--names")
    assert piped.out.encode() == (command.home / "a.csv").read_bytes().replace(b"\r\n", b"\n")
    assert "company_name" not in command("export", "activity").out


def test_an_export_with_names_does_without_those_that_cannot_be_read(
    command: Command, still: EmbeddedPlatform
) -> None:
    still.faults.add("agents:status=500")
    ran = command.on(still)("export", "activity", "--names", "--out", "a.csv")
    assert ran.code == 0
    assert "the names of agents are left out" in ran.err
    assert (command.home / "a.csv").read_bytes().startswith(b"id,timestamp,")
