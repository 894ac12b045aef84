"""Whom a key writes to: never a person, a parent or a relation, by the platform's count."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.outside.console import NO_HOLD, Console
from tests.outside.platform import Platform, Request, every, pending, writes
from tests.terminal.dashboard import command
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import REPOSITORY, clean_environment

OF_ONE_USER = {
    "agents": [
        {"id": "ag_1", "name": "Scout", "user_id": "u_7", "monthly_limit": 100, "spent": 25},
        {"id": "ag_2", "name": "Quill", "user_id": "u_7", "monthly_limit": 50, "spent": 5},
    ]
}
MADE_BY = {
    "data": [
        {"user_id": "u_7", "name": "Scout", "monthly_limit": 100, "spent": 25},
        {"user_id": "u_8", "name": "Quill", "monthly_limit": 50, "spent": 5},
    ]
}


def budgets(request: Request) -> bool:
    """Reads of the agents' budgets."""
    return request.method == "GET" and request.path == ("budget", "agents")


def tasks(platform: Platform, rows: list[dict[str, Any]]) -> None:
    """Have both lists of tasks answer with these rows."""
    for match in (pending, every):
        platform.answer(match, 200, {"data": rows}, times=None)


def posted(platform: Platform) -> list[str]:
    """The paths of all that was sent to change something."""
    return ["/".join(each.path) for each in platform.requests if writes(each)]


def to_budget(console: Console, name: str) -> None:
    """Move the cursor down to the budget of an agent."""
    console.until(lambda: any(name in row for row in console.lines()), f"the budget of {name}")
    for _ in range(12):
        if name in console.cursor_line():
            return
        before = console.cursor_line()
        console.press("j")
        console.until(lambda: console.cursor_line() != before, "another line")  # noqa: B023
    raise AssertionError(f"the cursor never came to {name}")


@pytest.fixture
def platform() -> Any:
    with Platform() as platform:
        platform.agents = [
            {"id": each, "name": name, "company_id": "cmp_acme", "status": "active"}
            for each, name in (("ag_1", "Scout"), ("ag_2", "Quill"))
        ]
        yield platform


def test_the_limit_of_an_agent_is_set_by_its_own_id(platform: Platform, tmp_path: Path) -> None:
    platform.answer(budgets, 200, OF_ONE_USER, times=None)
    with Console(platform, tmp_path, "--screen", "budget", config=NO_HOLD) as console:
        to_budget(console, "Quill")
        console.press("l")
        console.box_shows("SET LIMIT")
        console.press(*(["backspace"] * 6), *"80", "enter")
        console.box_shows(r"agent +Quill +ag_2")
        console.yes(lambda: posted(platform))
        platform.wait_for(writes, 1)
    assert posted(platform) == ["budget/agents/ag_2"]


def test_a_budget_that_only_names_a_user_offers_no_limit(
    platform: Platform, tmp_path: Path
) -> None:
    platform.answer(budgets, 200, MADE_BY, times=None)
    with Console(platform, tmp_path, "--screen", "budget", config=NO_HOLD) as console:
        to_budget(console, "Quill")
        assert "limit" not in console.footer()
        console.press("l")
        console.notice("its only id is in user_id")
        assert console.box() == ""
    assert posted(platform) == []


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"job_id": "job_b", "run_id": "run_2"}, "tasks/run_2/approve"),
        ({"job_id": "job_b", "run_id": "run_2", "step_id": "s_1"}, None),
        ({"issue_id": "is_1", "request_id": "rq_1"}, None),
        ({"id": "apr_1", "type": "approval", "created_at": "2026-11-20T10:00:00Z",
          "status": "pending", "document": {"id": "doc_7", "status": "published"}},
         "tasks/apr_1/approve"),
    ],
)  # fmt: skip
def test_a_yes_goes_to_the_tasks_own_id_or_nowhere(
    platform: Platform, tmp_path: Path, row: dict[str, Any], path: str | None
) -> None:
    tasks(platform, [{"title": "Pay Bolt", "status": "pending", **row}])
    with Console(platform, tmp_path, "--screen", "tasks", config=NO_HOLD) as console:
        if path is None:
            console.to("Pay Bolt")
            assert "approve" not in console.footer()
            console.press("a")
            console.notice("which of them is the task's is not known")
            assert console.box() == ""
        else:
            console.ask("Pay Bolt")
            console.yes()
            platform.wait_for(writes, 1)
    assert posted(platform) == ([] if path is None else [path])


def test_agents_that_share_an_id_are_both_shown_and_marked(
    platform: Platform, tmp_path: Path
) -> None:
    platform.agents[1]["id"] = "ag_1"
    with Console(platform, tmp_path, "--screen", "agents", config=NO_HOLD) as console:
        for name in ("Scout", "Quill"):
            console.until(lambda: any(f"▲ {name}" in row for row in console.lines()), name)  # noqa: B023
        console.wait_for("2 agents with this id: nothing can be")
        assert "limit" not in console.footer()
        console.press("l")
        console.notice("2 agents with this id")
    assert posted(platform) == []


def test_a_script_is_refused_what_the_screen_refuses(platform: Platform, tmp_path: Path) -> None:
    tasks(
        platform,
        [
            {"id": "run_1", "title": "Pay A", "status": "pending"},
            {"id": "run_1", "title": "Pay B", "status": "pending"},
            {"run_id": "run_2", "step_id": "s_1", "title": "Ship", "status": "pending"},
        ],
    )
    platform.answer(budgets, 200, MADE_BY, times=None)
    platform.agents.append({**platform.agents[0], "id": "u_7", "name": "Ada"})

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            command(*words),
            env=clean_environment(settings(platform, tmp_path)),
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    for task_id, words in (("run_1", "2 tasks with this id"), ("run_2", "run_id and step_id")):
        listed = json.loads(run("get", "task", task_id, "--json")[1])
        assert words in listed["unwritable"]
        code, told = run("approve", task_id, "--expect", listed["fingerprint"])
        assert (code, words in told) == (3, True), told
    code, told = run("set-limit", "u_7", "80")
    assert (code, "its only id is in user_id" in told) == (3, True), told
    platform.agents[1]["id"] = "ag_1"
    code, told = run("set-limit", "ag_1", "80")
    assert (code, "2 agents with this id" in told) == (3, True), told
    assert posted(platform) == []
