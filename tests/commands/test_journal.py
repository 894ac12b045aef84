"""`agentco-tui journal`."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.journal_lines import Attempt, Settled, to_line
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.journal_command import parse_since, print_journal, unsettled_report
from agentco_tui.model.format import stamp

NOON = 1_700_000_000.0


def attempt(name: str, at: float = NOON, **more: Any) -> bytes:
    told: dict[str, Any] = {"profile": "prod", "verb": "approve", "subject": name}
    told |= {"task": f"tsk_{name}", "title": f"Task {name}"}
    told |= {"company_name": "Acme", "agent_name": "Scout", **more}
    return to_line(Attempt(attempt=name, time=stamp(at), **told))


def outcome(name: str, kind: str = "approved here", words: str | None = None, **more: Any) -> bytes:
    told = Settled(
        attempt=name, time=stamp(NOON), outcome=kind, known_by="read", words=words, **more
    )
    return to_line(told)


def printed(path: Path, *, as_json: bool = False, since: float | None = None) -> list[str]:
    with redirect_stdout(io.StringIO()) as out:
        assert print_journal(path, as_json=as_json, since=since) == 0
    return out.getvalue().splitlines()


def test_one_line_an_attempt_with_its_outcome_in_order(tmp_path: Path) -> None:
    """Also where one is written twice; two alike can be told apart."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(
        attempt("1", company="c1", agent="g1") + attempt("2") + attempt("3", task=None)
        + outcome("2", "refused", "no budget") + outcome("1") + attempt("1") + attempt("4")
        + outcome("4", made="tsk_new") + b'{"kind":"attempt","torn'
    )  # fmt: skip
    first, second, third, fourth = printed(path)
    assert "approve “Task 1” tsk_1 (Acme c1, Scout g1)  approved here, known by read" in first
    assert "refused, known by read (no budget)" in second
    assert "“Task 3” (Acme, Scout)  ◌ unknown: no outcome is written" in third
    assert "(Acme, Scout) → tsk_new  approved here" in fourth
    first, _, third, _ = (json.loads(line) for line in printed(path, as_json=True))
    assert (first["outcome"]["is"], first["outcome"]["known_by"]) == ("approved here", "read")
    assert (first["task"], third["outcome"]) == ("tsk_1", None)


def test_the_key_of_a_task_stands_before_its_title(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(attempt("1", key="GLO-7") + attempt("2", key="GLO-8", title="GLO-8: Ship it"))
    first, second = printed(path)
    assert "approve “GLO-7 Task 1” tsk_1" in first
    assert "approve “GLO-8: Ship it” tsk_2" in second
    assert json.loads(printed(path, as_json=True)[0])["key"] == "GLO-7"


def test_a_verb_of_another_platform_is_shown_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(
        attempt("1", verb="reject") + outcome("1", "done") + attempt("2", verb="request revision")
    )
    first, second = printed(path)
    assert "reject “Task 1” tsk_1 (Acme, Scout)  done" in first
    assert "request revision “Task 2”" in second
    told = [json.loads(line)["verb"] for line in printed(path, as_json=True)]
    assert told == ["reject", "request revision"]


def test_a_correction_stands_beside_what_it_corrects(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(
        attempt("1") + outcome("1", "not done") + attempt("2") + outcome("2")
        + outcome("1", "approved", corrects="not done")
    )  # fmt: skip
    first, second = printed(path)
    when = datetime.fromtimestamp(NOON).isoformat(" ")
    assert f"not done, known by read; corrected at {when}: approved, known by read" in first
    assert "corrected" not in second
    first, second = (json.loads(line) for line in printed(path, as_json=True))
    assert (first["outcome"]["is"], second["outcome"]["is"]) == ("approved", "approved here")
    assert ([one["is"] for one in first["corrected"]], second["corrected"]) == (["not done"], [])


def began(
    journal: Journal, name: str, at: float, verb: str = "approve", title: str | None = None
) -> None:
    title = title or f"Task {name}"
    one = Attempt(attempt=name, time=stamp(at), verb=verb, subject=name, task=name, title=title)
    journal.begin(one, journal.mark())


def test_what_is_left_unsettled_is_told_with_the_command_that_shows_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert unsettled_report(journal, NOON) == []
    began(journal, "t1", NOON - 70)
    began(journal, "t2", NOON - 10, title="\x1b[2J evil\n")
    head, *rest = unsettled_report(journal, NOON)
    assert head.startswith("◌ 2 approvals were sent and not yet settled")
    assert "settled: agentco-tui journal --since 10m shows them" in head
    assert "approve “Task t1” t1, 1 m ago" in rest[0]
    assert len(rest) == 2
    assert all(line.isprintable() for line in rest)
    journal.finish(Settled(attempt="t2", time=stamp(NOON), outcome="approved"))
    [head, _] = unsettled_report(journal, NOON)
    assert head.startswith("◌ 1 approval was sent")
    began(journal, "n1", NOON - 3_600 * 30, verb="create task")
    for number in range(20):
        began(journal, f"x{number}", NOON)
    head, *rest = unsettled_report(journal, NOON)
    assert "21 approvals and 1 × create task were sent" in head
    assert "--since 31h" in head
    assert len(rest) == 11
    assert rest[-1] == "  and 12 more"
    journal.path.unlink()
    assert journal.follow("https://p.example").trouble
    assert "deleted" in unsettled_report(journal, NOON)[-1]
    journal.close()


def test_since_leaves_out_what_is_older(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(attempt("1", NOON - 100) + attempt("2", NOON))
    [line] = printed(path, since=NOON - 50)
    assert "Task 2" in line


def test_no_journal_is_no_error_and_one_that_cannot_be_read_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [line] = printed(tmp_path / "journal.jsonl")
    assert "nothing has been approved or changed from here yet" in line
    assert printed(tmp_path / "journal.jsonl", as_json=True) == []
    assert print_journal(tmp_path, as_json=False, since=None) == 1
    assert "can't be read" in capsys.readouterr().err


def test_spans_and_moments() -> None:
    spans = {"90s": 90, "30m": 1800, "2H": 7200, "3 d": 259_200, "1w": 604_800}
    for text, seconds in spans.items():
        assert parse_since(text, NOON) == NOON - seconds
    assert parse_since("2026-01-31", 0) == datetime(2026, 1, 31).timestamp()
    assert parse_since("2026-01-31T14:30", 0) == datetime(2026, 1, 31, 14, 30).timestamp()
    assert parse_since("2026-01-31T14:30Z", 0) == 1_769_869_800
    for bad in ("", "soon", "2x", "-3d", "\x1b[2J"):
        with pytest.raises(UsageError, match="use a duration such as 2h or 3d"):
            parse_since(bad, 0)


def test_a_journal_that_was_changed_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    for name in ("1", "2"):
        told = Attempt(attempt=name, verb="approve", subject=name, title=f"Task {name}")
        journal.begin(told, journal.mark())
        journal.finish(Settled(attempt=name, outcome="approved here", known_by="read"))
    journal.close()
    assert print_journal(path, as_json=False, since=None) == 0
    capsys.readouterr()
    path.write_bytes(path.read_bytes().replace(b"Task 1", b"Task 7"))
    assert print_journal(path, as_json=False, since=None) == 1
    told_of_it = capsys.readouterr()
    assert len(told_of_it.out.splitlines()) == 2
    assert "was changed by something else, in or before line 1" in told_of_it.err
    assert "nothing is sent without it" in told_of_it.err
    assert "move it out of the way" in told_of_it.err
