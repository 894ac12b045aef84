"""What users call a task, and what sort of thing it is: shown where a task is, and found by it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from agentco_tui.commands.journal_command import print_journal
from agentco_tui.demo.renderer import Json
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Task
from agentco_tui.text import mark_safe
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, WIDE, Stage, says, stage

SIZES = [(40, 20), (60, 20), (80, 24), (120, 40), (200, 50)]
TITLE = "Refund 214 customers"


class Keys:
    """Gives each task a key, "GLO-1" to the first that is sent, and a kind."""

    def __init__(self) -> None:
        self.by_id: dict[str, str] = {}
        self.kind = "review"
        self.in_titles = False

    def edit(self, kind: str, record: Json) -> Json:
        if kind != "tasks":
            return record
        key = self.by_id.setdefault(record["id"], f"GLO-{len(self.by_id) + 1}")
        record |= {"identifier": key, "type": self.kind}
        if self.in_titles:
            record["title"] = f"{key}: {record['title']}"
        return record


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def platform(keys: Keys) -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(speed=0, now=NOW, edit=keys.edit) as platform:
        yield platform


@pytest_asyncio.fixture
async def wide(platform: EmbeddedPlatform, tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        yield s


def task_of(s: Stage) -> Task:
    return next(task for task in s.workspace.store.pending if task.title.endswith(TITLE))


@pytest.mark.parametrize("size", SIZES)
async def test_the_key_stands_before_the_title_at_every_width(
    platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=size) as s:
        task = task_of(s)
        assert f"{task.key} Refund" in s.text
        assert " KIND " not in s.text
        await s.go("overview")
        await s.sees(f"{task.key} Refu")


async def test_a_title_that_has_the_key_does_not_get_it_twice(
    platform: EmbeddedPlatform, keys: Keys, tmp_path: Path
) -> None:
    keys.in_titles = True
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        task = task_of(s)
        assert f"  {task.key}: Refund" in s.text
        assert s.line_with(f"{task.key}: Refund").count(str(task.key)) == 1


async def test_it_is_in_the_detail_the_question_the_trace_the_notice_and_the_journal(
    wide: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    s = wide
    task = task_of(s)
    named = f"{task.key} {TITLE}"
    await s.press(":")
    await s.type(str(task.key))
    await s.press("enter")
    assert s.view.subject() == task
    await s.sees(named, "kind         review")
    await s.press("t")
    await s.sees(f"TRACE {named}")
    await s.press("escape", "a")
    await s.sees("APPROVE 1 task", f"│ {named}")
    assert re.search(r"│ kind +review ", s.text)
    await s.yes()
    await says(s, named, "approved")
    capsys.readouterr()
    assert print_journal(tmp_path / "journal.jsonl", as_json=False, since=None) == 0
    assert f"approve “{named}” {task.id}" in capsys.readouterr().out


async def test_a_key_that_begins_as_another_is_found_at_once(wide: Stage) -> None:
    s = wide
    by_key = {task.key: task for task in s.workspace.store.pending}
    assert "GLO-10" in by_key
    await s.press(":")
    await s.type("glo-1")
    await s.press("enter")
    assert s.view.subject() == by_key[mark_safe("GLO-1")]


@pytest.mark.parametrize("place", ["tasks", "overview"])
async def test_filters_find_keys_and_kinds(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place
) -> None:
    async with stage(platform, tmp_path, place=place, size=WIDE) as s:
        task = task_of(s)
        for typed in (f"key:{task.key}", str(task.key).lower()):
            await s.press("/")
            await s.type(typed)
            await s.press("enter")
            await s.wait_until(lambda: len(s.rows) == 1, typed)
            subject = s.view.subject(s.rows[0])
            assert isinstance(subject, Task)
            assert subject.id == task.id
            await s.press("escape")
        await s.press("/")
        await s.type("kind:revi")
        await s.press("enter")
        await s.wait_until(lambda: len(s.rows) > 1, "the tasks")
        assert all(isinstance(s.view.subject(row), Task) for row in s.rows)


async def test_the_kind_is_a_column_for_those_who_choose_it(wide: Stage) -> None:
    s = wide
    s.view.table.show_columns(["waiting", "task", "kind"])
    await s.settle()
    await s.sees(" KIND ")
    assert "review" in s.line_with(f"{task_of(s).key} {TITLE}")


async def test_a_kind_that_changes_while_the_question_is_open_stops_it(
    wide: Stage, keys: Keys
) -> None:
    s = wide
    task = task_of(s)
    assert s.view.table.move_cursor_to(task.id)
    await s.press("a")
    await s.sees("APPROVE 1 task")
    keys.kind = "question"
    s.platform.world.state.changed(s.platform.world.task(task.id))
    await s.poll(FeedName.PENDING)
    await s.sees("changed while you read", "kind: “review” → “question”")
    await s.by_hand("y")
    assert not s.writes


async def test_a_key_that_changes_before_the_yes_arrives_stops_it(wide: Stage, keys: Keys) -> None:
    """It is read again right before it would be sent, and nothing was polled meanwhile."""
    s = wide
    task = task_of(s)
    assert s.view.table.move_cursor_to(task.id)
    await s.press("a")
    await s.sees("APPROVE 1 task")
    keys.by_id[task.id] = "ACM-1"
    s.platform.world.state.changed(s.platform.world.task(task.id))
    await s.yes()
    await says(s, "nothing was sent", f"key was “{task.key}”, is “ACM-1”")
    assert not s.writes
