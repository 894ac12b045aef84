"""A person's own commands: keys, palette, help, questions, what is refused, what is printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from agentco_tui.config import OwnCommand
from agentco_tui.live.feeds import FeedName
from tests.platform import EmbeddedPlatform
from tests.screens.harness import stage

KEY = "ag_of_another_place_0123456789"
SAYS = """
import json, os, sys
told = {n: v for n, v in os.environ.items() if n.startswith("AGENTCO_") or n == "MINE"}
open(sys.argv[1], "w").write(json.dumps([sys.argv[2:], told]))
"""


def python(code: str, *arguments: object) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", code, *map(str, arguments))


def own(*commands: OwnCommand) -> dict[str, Any]:
    """Settings as they are read from a file that has these."""
    keys = {one.command.id: one.command.keys for one in commands}
    return {"commands": commands, "keys": keys}


async def test_a_record_is_in_the_environment_and_the_key_is_not(
    platform: EmbeddedPlatform, tmp_path: Path, monkeypatch: Any
) -> None:
    told = tmp_path / "told"
    note = OwnCommand(
        name="note", run=python(SAYS, told, "$AGENTCO_ID"), scope=("task",), key="N",
        background=True,
    )  # fmt: skip
    monkeypatch.setenv("AGENTCO_API_KEY", KEY)
    monkeypatch.setenv("MINE", "it")
    monkeypatch.setenv("AGENTCO_OTHER", f"Bearer {platform.full_key}")
    async with stage(platform, tmp_path, place="tasks", **own(note)) as on:
        state = platform.world.state
        (sent := state.tasks[on.rows[0]]).title = "$(reboot)\nMINE=no\x1b[2J '; rm \x00x"
        state.changed_task(sent, platform.world.now)
        await on.poll(FeedName.PENDING)
        await on.press("r")
        task = on.view.subject()
        assert "$(reboot)" in task.title
        await on.press("N")
        await on.sees("note: ended with exit code 0")
        arguments, env = json.loads(told.read_text())
        assert arguments == ["$AGENTCO_ID"], "nothing is filled in"
        assert env["AGENTCO_ID"] == env["AGENTCO_TASK_ID"] == task.id
        assert (env["AGENTCO_TASK_TITLE"], env["AGENTCO_KIND"]) == (task.title, "task")
        assert (env["AGENTCO_PROFILE"], env["AGENTCO_BASE_URL"]) == ("demo", platform.base_url)
        assert env["MINE"] == "it"
        assert KEY not in str(env)
        assert platform.full_key not in str(env)
        # On a screen without such records the key is nobody's.
        told.unlink()
        await on.go("companies")
        await on.anew()
        await on.press("N")
        assert not told.exists()


async def test_what_a_command_printed_is_there_until_it_is_wanted(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    says = python(f"print('one\\x1b[2J\\n{platform.full_key}\\nthree')")
    fails = python("import sys; sys.exit('it is \\x1b[31mfull')")
    commands = (
        OwnCommand(name="says", run=says, scope=("company", "task"), key="O", background=True),
        OwnCommand(name="fails", run=fails, scope=("company",), background=True),
        OwnCommand(name="lost", run=("/nowhere/x",), scope=("company",), background=True),
    )
    async with stage(platform, tmp_path, place="companies", **own(*commands)) as on:
        await on.press(*":output", "enter")
        await on.sees("nothing has run in the background yet")
        await on.press("escape")
        await on.press("O")
        await on.sees("says: three", ":output shows it")
        await on.press(*":output", "enter")
        await on.sees("OUTPUT", "says:", "one", "ag_****", "three")
        assert platform.full_key not in on.text
        await on.press("escape")
        await on.sees_no("OUTPUT")
        await on.press(*":fails", "enter")
        await on.sees("fails: ended with exit code 1")
        await on.press(*":output", "enter")
        await on.sees("OUTPUT", "fails:", "it is")
        await on.press("escape", *":lost", "enter")
        await on.sees("lost: was not found")


async def test_help_and_palette_have_them(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    note = OwnCommand(name="note", run=("note", "a b"), scope=("agent",), key="N", writes=True)
    async with stage(
        platform, tmp_path, place="agents", size=(120, 60), read_only=True, **own(note)
    ) as on:
        await on.press("?")
        await on.sees("Your commands", "note 'a b' Not now: writing is off")
        await on.press("escape", "N")
        await on.sees("note: writing is off")
        await on.press(*":note")
        await on.sees("command  note", "not now: writing is off")
        await on.press("escape")
        await on.go("tasks")
        await on.press("?")
        await on.sees("Keys on Tasks")
        assert not on.shows("Your commands")


async def test_a_question_says_what_will_run(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    told = tmp_path / "told"
    run = python(SAYS, told, "--now")
    note = OwnCommand(
        name="note", run=run, scope=("agent",), key="N", confirm=True, background=True
    )
    async with stage(platform, tmp_path, place="agents", size=(120, 40), **own(note)) as on:
        agent = on.view.subject()
        await on.press("N")
        await on.sees("RUN note", "demo", agent.name, agent.id, "--now", "run it")
        await on.armed()
        await on.press("n")
        await on.sees_no("RUN note")
        assert not told.exists()
        await on.anew()
        await on.press("N")
        await on.sees("RUN note")
        await on.yes()
        await on.sees("note: ended with exit code 0")
        assert told.exists()


async def test_only_the_line_under_the_cursor_counts(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """The Overview has records of many kinds, and no terminal here can be lent."""
    note = OwnCommand(name="note", run=("note",), scope=("activity",), key="N")
    look = OwnCommand(name="look", run=("look",), scope=("task", "budget", "alert", "agent"))
    async with stage(platform, tmp_path, **own(note, look)) as on:
        await on.press("N")
        await on.sees("note: put the cursor on a line", "activity")
        await on.press(*":look", "enter")
        await on.sees("look needs a terminal")
