"""What is copied from a line, and which way it goes."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from agentco_tui.model import Task
from agentco_tui.screens.copying import as_line
from agentco_tui.screens.detail_pane import link_to
from agentco_tui.screens.key_app import KeyPresses
from agentco_tui.text import mark_safe
from tests.screens.harness import WIDE, Stage, Staging

CHOICE = "fields as /api/"


def read(clipboard: Path) -> str:
    return clipboard.read_text() if clipboard.exists() else ""


async def copy(s: Stage, letter: str, clipboard: Path) -> str:
    """Choose what of the line under the cursor is copied; what the clipboard has then."""
    os.truncate(clipboard, 0)
    s.app.presses = KeyPresses()  # no key is held down
    await s.press("Y")
    await s.sees("COPY", CHOICE)
    await s.press(letter)
    await s.wait_until(lambda: read(clipboard), "the copy")
    await s.sees("copied with wl-copy")
    return read(clipboard)


async def test_each_kind_of_record_is_copied_in_every_way(
    on: Staging, clipboard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web_url = "https://web.example/{kind}?of={id}"
    places = {
        "tasks": ("task", "/api/tasks"),
        "companies": ("company", "/api/companies"),
        "agents": ("agent", "/api/agents"),
        "budget": ("budget", "/api/budget"),
        "activity": ("activity", "/api/activity"),
        "overview": ("task", "/api/tasks"),
    }
    async with on(size=WIDE, place="tasks", web_url=web_url) as s:
        monkeypatch.setenv("PLANTED_KEY", s.platform.full_key)
        for place, (kind, path) in places.items():
            await s.go(place)  # type: ignore[arg-type]
            await s.press("g")
            if place == "overview":
                tasks = [row for row in s.rows if isinstance(s.view.subject(row), Task)]
                s.view.go_to(tasks[0])
            record = s.view.subject()
            name = await copy(s, "n", clipboard)
            assert name.startswith(
                record.title if kind == "task" else getattr(record, "name", "") or ""
            )
            sent: dict[str, Any] = json.loads(await copy(s, "s", clipboard))
            assert record.id in sent.values() or record.id == "all", sent
            assert json.loads(await copy(s, "j", clipboard))["id"] == record.id
            line = shlex.split(await copy(s, "c", clipboard))
            assert line[:4] == ["curl", "-sS", "-H", "Authorization: Bearer $AGENTCO_API_KEY"]
            asked = urlsplit(line[4])
            assert f"{asked.scheme}://{asked.netloc}" == s.platform.base_url
            assert asked.path.startswith(path)
            if kind == "task":
                assert parse_qs(asked.query)["status"] == ["pending"]
            if kind in ("company", "agent"):
                assert asked.path == f"{path}/{record.id}"
            assert await copy(s, "l", clipboard) == f"https://web.example/{kind}?of={record.id}"
        assert s.platform.full_key not in clipboard.with_suffix(".env").read_text()


async def test_what_was_sent_comes_digit_for_digit_and_what_is_gone_is_told(
    on: Staging, clipboard: Path
) -> None:
    async with on(place="tasks") as s:
        task = s.view.subject()
        async with httpx.AsyncClient(base_url=s.platform.base_url) as client:
            key = {"Authorization": f"Bearer {s.platform.full_key}"}
            body = (await client.get("/api/tasks?status=pending", headers=key)).text
        sent = await copy(s, "s", clipboard)
        assert sent in body, "the very signs that came"
        s.app.presses = KeyPresses()
        await s.press("y")
        await s.wait_until(lambda: read(clipboard) == task.id, "its id")
        s.platform.faults.add("tasks:status=500")
        s.app.presses = KeyPresses()
        await s.press("Y", "s")
        await s.sees("500")
        assert read(clipboard) == task.id
        s.app.presses = KeyPresses()
        await s.press("Y", "l")  # without web_url there is none, and the choice stays
        assert "COPY" in s.text
        await s.press("escape")
        await s.sees_no("COPY")


async def test_where_no_tool_is_the_terminal_is_asked_but_not_for_much(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(place="tasks") as s:
        written: list[str] = []
        monkeypatch.setattr(s.app, "to_terminal", written.append)
        await s.press("y")
        await s.sees("sent to the terminal (OSC 52)")
        assert written[0].startswith("\x1b]52;c;")
        monkeypatch.setattr("agentco_tui.system.clipboard.MOST_BYTES", 3)
        s.app.presses = KeyPresses()
        await s.press("y")
        await s.sees("not copied")
        assert len(written) == 1


def test_a_link_holds_nothing_that_ends_it() -> None:
    def of(identifier: str, web_url: str | None = "https://h/{kind}/{id}") -> str:
        return link_to(web_url, Task(id=identifier, title=mark_safe("x")))

    assert of("a b/\x1b]8;;\x07é") == "https://h/task/a%20b%2F%1B%5D8%3B%3B%07%C3%A9"
    assert of("\ud800") == "https://h/task/%3F"
    assert of("a", None) == of("a" * 2_000) == of("a", "https://h/ {id}") == ""


def test_json_keeps_what_cannot_be_seen() -> None:
    text = json.dumps({"a": "é\x1b\u202e\U000e0041\n日"}, ensure_ascii=False)
    line = as_line(text)
    assert line.isprintable()
    assert json.loads(line) == json.loads(text)
    assert "é" in line
