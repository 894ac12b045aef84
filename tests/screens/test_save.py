"""Lists and pictures in files: what shows, and nothing that a reader of the file would run."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentco_tui.live.feeds import FeedName
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, WIDE, Stage, stage

HOSTILE = "=cmd|' /C calc'!A0 <img src=x> `a` **b**\x1b[2J"


async def save(on: Stage, path: Path | str) -> None:
    await on.press("w")
    await on.sees("SAVE ", "file")
    on.app.screen.inputs["file"].value = str(path)  # type: ignore[attr-defined]
    await on.press("enter")


def content(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def saved(on: Stage, path: Path) -> str:
    await save(on, path)
    await on.wait_until(path.exists, path.name)
    await on.wait_until(lambda: on.app.screen is on.main, "the list")
    return content(path)


async def test_a_list_is_saved_as_it_shows(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as on:
        await on.press("/", *"agent:sofia|linus|mateo", "enter", "s")
        await on.wait_until(lambda: 0 < len(on.rows) < 20, "the filter")
        state = on.platform.world.state
        (task := state.tasks[on.rows[1]]).title = HOSTILE
        state.changed_task(task, on.platform.world.now)
        await on.poll(FeedName.PENDING)
        await on.press("r")
        await on.at_rest()
        table = on.view.table
        rows = list(csv.reader((await saved(on, tmp_path / "a.csv")).splitlines()))
        titles = [table.model.columns[i].title.strip() or "LEVEL" for i in table.columns_shown]
        assert rows[0] == titles
        assert len(rows) == len(on.rows) + 1 < 20
        at = titles.index("TASK")
        known = [on.workspace.store.pending.get(row_id) for row_id in on.rows]
        shown = [one.title if one else "" for one in known]
        assert [row[at].removeprefix("'") for row in rows[1:]] == shown
        assert {row[0] for row in rows[1:]} <= {"critical", "warning", "ok"}
        assert sum(row[at].startswith("'=cmd") for row in rows) == 1, "no cell is a formula"
        assert "\x1b" not in str(rows)

        told = json.loads(await saved(on, tmp_path / "a.json"))
        assert [one["id"] for one in told["records"]] == on.rows
        about = (told["profile"], told["at"], told["age_seconds"], told["filter"])
        stamp = datetime.fromtimestamp(NOW, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        assert about == ("demo", stamp, 0, "agent:sofia|linus|mateo")

        text = await saved(on, tmp_path / "a.md")
        lines = text.split("\n")
        assert lines[0] == "# Tasks"
        assert "- filter: `agent:sofia|linus|mateo`" in lines
        table_lines = [line for line in lines if line.startswith("|")]
        assert len(table_lines) == len(on.rows) + 2
        cell = next(line for line in table_lines if "=cmd" in line)
        assert "`=cmd\\|' /C calc'!A0 <img src=x> 'a' **b**" in cell
        assert cell.replace("\\|", "").count("|") == len(titles) + 1


async def test_it_says_why_a_file_can_not_be_written(
    platform: EmbeddedPlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine, shut = tmp_path / "mine.csv", tmp_path / "shut"
    mine.write_text("mine")
    async with stage(platform, tmp_path, place="agents") as on:
        for name, why in (
            ("agents.xls", "the name must end in one of .csv, .json, .md"),
            ("", "the name must end in one of"),
            ("mine.csv", "exists: choose another name"),
            ("none/x.csv", "there is no folder"),
            ("/proc/x.csv", "cannot be written"),
        ):
            await save(on, name)
            await on.sees(why.split(":")[0])
            await on.press("escape")
        assert mine.read_text() == "mine"
        # What was refused once is whole under the next name.
        await save(on, "mine.csv")
        await on.sees("exists")
        on.app.screen.inputs["file"].value = "~/new.json"  # type: ignore[attr-defined]
        monkeypatch.setenv("HOME", str(tmp_path))
        await on.press("enter")
        await on.sees("24 lines were written to")
        assert len(json.loads((tmp_path / "new.json").read_text())["records"]) == 24
        assert not shut.exists()


async def test_every_list_can_be_saved(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, size=WIDE) as on:
        for place in ("overview", "companies", "agents", "tasks", "budget", "activity"):
            if place != "overview":
                await on.go(place)
            await on.poll()
            for ending in ("csv", "json"):
                text = await saved(on, tmp_path / f"{place}.{ending}")
                assert platform.full_key not in text
            told = json.loads((tmp_path / f"{place}.json").read_text())
            assert len(told["records"]) >= len(on.rows) > 0, "some lines stand for several"
            rows = list(csv.reader((tmp_path / f"{place}.csv").read_text().splitlines()))
            assert {len(row) for row in rows} == {len(rows[0])}


async def test_a_stale_list_says_so(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="agents", size=WIDE) as on:
        on.platform.faults.add("agents:status=500")
        await on.poll(FeedName.AGENTS)
        await saved(on, tmp_path / "a.csv")
        await on.sees("24 lines were written to", "as of", "ago")


async def test_a_picture_has_the_screen_and_nothing_else(
    platform: EmbeddedPlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage(platform, tmp_path, place="companies", size=WIDE) as on:
        await on.press(*":screenshot", "enter")
        await on.sees("the screen was written to")
        text = content(tmp_path / "agentco-2026-09-21-1413.svg")
        assert "Globex" in text
        assert "screenshot" not in text.replace("agentco-tui", ""), "the palette has gone"
        assert "url(" not in text.replace("url(#", ""), "no server is asked for fonts"
        assert str(tmp_path) not in text
        assert platform.full_key not in text
        await on.press(*":screenshot", "enter")
        await on.sees("exists")
