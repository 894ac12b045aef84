"""`--log-json`: what a bug report has of the log, and what it never has."""

from __future__ import annotations

import ast
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import agentco_tui
from tests.commands.conftest import Command
from tests.platform import EmbeddedPlatform


def entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_line_is_an_object_and_a_request_has_one_id(
    command: Command, still: EmbeddedPlatform, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    still.faults.add("GET /api/budget/alerts:status=403")
    still.faults.add("GET /api/companies:status=503,times=1,retry_after=0")
    command.on(still).process("status", "--log-file", str(log), "--log-json")
    found = entries(log)
    for entry in found:
        assert datetime.fromisoformat(entry["time"]).utcoffset() == timedelta(0)
        assert (entry["level"], entry["logger"]) == ("INFO", "agentco_tui.api.transport")
        assert entry["request"] in entry["message"]
    by_target: dict[str, list[tuple[Any, ...]]] = {}
    ids: dict[str, set[str]] = {}
    for entry in found:
        outcome = entry.get("status"), entry.get("outcome"), "seconds" in entry
        by_target.setdefault(entry["target"], []).append(outcome)
        ids.setdefault(entry["target"], set()).add(entry["request"])
    asked, denied = (None, None, False), (403, "NotAllowed", True)
    assert by_target["GET /api/budget/alerts"] == [asked, denied]
    failed = (503, "PlatformFailed", True)
    assert by_target["GET /api/companies"] == [asked, failed, asked, (200, "ok", True)]
    assert all(len(each) == 1 for each in ids.values())
    assert len(set.union(*ids.values())) == len(ids)
    assert still.full_key not in log.read_text()


def test_without_it_lines_are_text_with_the_same_ids(
    command: Command, still: EmbeddedPlatform, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    command.on(still)("status", "--log-file", str(log))
    told = re.findall(
        r" INFO agentco_tui\.api\.transport: request ([0-9a-f]{8}): ", log.read_text()
    )
    assert len(told) == 2 * len(set(told)) > 0


def test_a_bundle_has_the_log_without_names_texts_and_key(
    command: Command, still: EmbeddedPlatform, tmp_path: Path
) -> None:
    with still.world.locked() as state:
        company = next(iter(state.companies.values()))
    log, bundle = tmp_path / "log", tmp_path / "bundle"
    logged = ("--log-file", str(log), "--log-json")
    command.on(still)("get", "company", company.id, *logged)
    with log.open("a") as file:
        entry = {"level": "ERROR", "words": "%s", "message": f"{company.name} {still.full_key}"}
        file.write(json.dumps(entry) + "\n")
    ran = command("doctor", "--bundle", str(bundle), *logged)
    assert f"{bundle}.log has the end of the log" in ran.out
    beside = bundle.with_name("bundle.log")
    told = beside.read_text()
    assert company.id in log.read_text()
    for word in (company.id, company.name, still.full_key, "message"):
        assert word not in told
    assert beside.stat().st_mode & 0o777 == 0o600
    assert any(
        re.match("GET /api/companies/id_", each.get("target", "")) for each in entries(beside)
    )
    ids = [each.get("request") for each in entries(log)]
    assert [each.get("request") for each in entries(beside)] == ids
    again = command("doctor", "--bundle", str(tmp_path / "other"), "--log-file", str(log))
    assert "The log is left out, because it is not one of --log-json" in again.out
    assert not (tmp_path / "other.log").exists()


def test_the_words_of_every_line_are_our_own() -> None:
    """They stand in a bundle; so nothing may be filled in before the log is called."""
    folder = Path(agentco_tui.__file__).parent
    calls = [
        (path.name, node.lineno, node.args[0])
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("debug", "info", "warning", "error", "exception", "critical")
        and ast.unparse(node.func.value).lower().endswith(("log", "logger", "getlogger(__name__)"))
    ]
    assert len(calls) > 10
    filled_in = [call for call in calls if not isinstance(call[2], ast.Constant)]
    assert not filled_in
