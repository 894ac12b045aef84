from __future__ import annotations

import csv
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from agentco_tui.demo.renderer import Json
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import NO_LOG_FILTER, ActivityFilter, FeedName
from agentco_tui.live.log_file import Written
from agentco_tui.live.store import Change
from agentco_tui.model import Activity, Listing, Moment, Severity
from agentco_tui.model.format import size
from agentco_tui.screens.navigation import Destination
from agentco_tui.screens.plain_views import ActivityView
from agentco_tui.text import mark_safe
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, WIDE, Stage, Staging, stage


def happen(platform: EmbeddedPlatform, words: str) -> str:
    """One more entry of the log; its id."""
    platform.world.advance(1)
    with platform.world.locked() as state:
        agent = next(iter(state.agents.values()))
        entry = state.log(platform.world.now, "info", "agent.note", words, agent=agent)
    return entry.id


async def test_the_newest_is_on_top_until_a_pause_which_counts_what_comes(on: Staging) -> None:
    async with on(place="activity") as s:
        for n in range(3):
            entry = happen(s.platform, f"Fed fish {n}")
            await s.press("r")
            await s.sees(f"Fed fish {n}", "following")
            assert s.rows[0] == s.cursor == entry
        await s.press("p")
        await s.sees("paused")
        before, known = s.rows, len(s.platform.world.state.entries)
        for n in range(3):
            happen(s.platform, f"Watered plant {n}")
        await s.press("r")
        await s.sees(f"paused, {len(s.platform.world.state.entries) - known} new")
        assert s.rows == before
        assert "Watered" not in s.text
        happen(s.platform, "Watered plant 3")
        await s.press("r")
        await s.sees(f"paused, {len(s.platform.world.state.entries) - known} new")
        await s.press("p")
        await s.sees("following", "×4 Watered plant 3", "lines of")
        # What is folded is in the detail, and is found by a filter.
        await s.press("enter")
        await s.sees("Watered plant 0", "Watered plant 3")
        await s.press("escape")
        assert "new" not in s.lines[2]
        # Reading further down pauses too.
        await s.press("j", "j")
        kept = s.cursor
        await s.sees("paused")
        happen(s.platform, "Watered the plants")
        await s.press("r")
        await s.sees("1 new")
        assert s.cursor == kept


async def fill(s: Stage, fields: dict[str, str]) -> None:
    for name, text in fields.items():
        s.app.screen.inputs[name].focus()  # type: ignore[attr-defined]
        await s.settle()
        await s.type(text)


async def test_the_filters_are_sent_as_they_are_named(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    state = platform.world.state
    async with on(place="activity", size=WIDE) as s:
        await s.poll()
        await s.press("f")
        await s.sees("FILTER", "company", "agent", "from", "to", "limit")
        days = {"from": "2026-09-20", "to": "2026-09-21"}
        await fill(s, {"company_id": "globex", "agent_id": "linus", **days, "limit": "25"})
        platform.requests.clear()
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is s.main, "the feed")
        await s.wait_until(lambda: s.queries("activity"), "the question")
        company = next(c for c in state.companies.values() if c.name == "Globex")
        agent = next(a for a in state.agents.values() if a.name == "Linus")
        assert parse_qs(s.queries("activity")[0]) == {
            "company_id": [company.id],
            "agent_id": [agent.id],
            **{name: [day] for name, day in days.items()},
            "limit": ["25"],
        }
        await s.sees("agent Linus", "company Globex", "limit 25")
        await s.wait_until(lambda: s.rows, "the entries")
        shown = [s.view.subject(row) for row in s.rows]
        assert all(e is not None and e.agent is not None and e.agent.id == agent.id for e in shown)


async def test_another_company_s_log_is_not_paused(on: Staging) -> None:
    async with on(place="activity", size=WIDE) as s:
        await s.press("j")
        await s.sees("paused")
        company = next(iter(s.platform.world.state.companies))
        s.main.set_scope(company)
        await s.wait_until(lambda: s.rows, "the company's entries")
        await s.sees_no("paused", "nothing happened yet")


async def test_wrong_filters_are_told_and_nothing_is_asked(on: Staging) -> None:
    async with on(place="activity") as s:
        await s.press("f")
        form = s.app.screen
        days = {"from": "yesterday", "to": "2026-13-01"}
        await fill(s, {"company_id": "nowhere", **days, "limit": "-1"})
        await s.press("enter")
        await s.sees("no company here", "a day is needed", "a whole number from 1")
        assert s.app.screen is form
        assert s.view.log_filter == NO_LOG_FILTER


async def export(s: Stage, path: Path) -> None:
    await s.press("e")
    await s.sees("EXPORT", "format", "file")
    entry = s.app.screen.inputs["file"]  # type: ignore[attr-defined]
    entry.value = str(path)
    entry.focus()
    await s.settle()
    await s.press("enter")


async def test_the_export_is_written_and_overwrites_nothing(on: Staging, tmp_path: Path) -> None:
    async with on(place="activity") as s:
        target = tmp_path / "log.csv"
        await export(s, target)
        await s.sees("written to")
        entries = target.read_bytes().count(b"\n") - 1
        assert entries == len(s.platform.world.activity())
        # private: a toast on the screen may break its lines anywhere.
        (told,) = [note.message for note in s.app._notifications]
        assert told == f"{entries} rows, {size(target.stat().st_size)}, written to {target}"
        (request,) = s.platform.requests.matching("export")
        assert request.query == "format=csv"
        target.write_text("mine")
        await export(s, target)
        await s.sees("EXPORT", "exist", "✖")
        assert target.read_text() == "mine"


async def test_an_export_of_a_list_that_is_filtered_has_what_it_shows(
    on: Staging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")  # a path that fits its line wherever the tests run
    async with on(place="activity", size=WIDE) as s:
        acme = next(c for c in s.platform.world.state.companies.values() if "Acme" in c.name)
        s.main.set_scope(acme.id)
        await s.poll(FeedName.ACTIVITY)
        happen(s.platform, "nothing more was said")
        happen(s.platform, "=1+1, she said")
        await s.poll(FeedName.ACTIVITY)
        await s.press(*"/said", "enter")
        entries = s.main.views["activity"].entries()  # type: ignore[attr-defined]
        shown = len(entries)
        assert len(s.rows) <= shown < len(s.workspace.store.activity)
        assert {entry.id for entry in entries} >= set(s.rows)
        await s.press("e")
        await s.sees(f"EXPORT {shown} entries shown: Acme Robotics, /said")
        entry = s.app.screen.inputs["file"]  # type: ignore[attr-defined]
        assert entry.value == "activity-2026-09-21-1413.csv"
        await s.sees("in the folder that the program was started in; must not exist yet")
        entry.value = str(tmp_path / "part.csv")
        await s.press("enter")
        await s.sees(f"{shown} rows, ")
        with (tmp_path / "part.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["id"] for row in rows] == [entry.id for entry in entries]
        assert {row["company_id"] for row in rows} == {acme.id}
        assert {row["company_name"] for row in rows} == {acme.name}
        assert rows[0]["text"] == "'=1+1, she said", "no cell is a formula"
        assert not s.platform.requests.matching("export")


async def test_an_export_tells_how_far_it_is_and_escape_stops_it(
    on: Staging, tmp_path: Path
) -> None:
    async with on(place="activity", faults=["export:hang_body"]) as s:
        folder = tmp_path / "here"
        folder.mkdir()
        await export(s, folder / "log.csv")
        form = s.app.screen
        await s.sees(" rows, ", " kB, ", "B/s", "esc stops it")
        assert [path.suffix for path in folder.iterdir()] == [".part"]
        await s.press("escape")
        await s.sees("stopped: nothing was written")
        assert not list(folder.iterdir())
        s.platform.faults.clear()
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is not form, "the list")
        assert [path.name for path in folder.iterdir()] == ["log.csv"]


@pytest.mark.parametrize("step", [1, 3, 100])
def test_rows_are_counted_by_what_a_row_is(step: int) -> None:
    """Ends of lines in quotes are none of rows, and the row of names isn't counted."""
    sheet = b'\xef\xbb\xbf"id",text\r\n1,"two\nlines ""quoted\n"""\r\n2,plain\r\n3,"no end"'
    written = Written()
    for start in range(0, len(sheet), step):
        assert written.take(sheet[start : start + step])
    assert written.sentence.startswith("3 rows, ")
    nameless = Written()
    nameless.take(b"2026-01-01,one\n")
    assert nameless.sentence == "1 row, 15 B"


async def test_a_gap_is_told(on: Staging) -> None:
    async with on(place="activity") as s:
        for n in range(1_200):
            with s.platform.world.locked() as state:
                agent = next(iter(state.agents.values()))
                at = s.platform.world.now + 1 + n / 1_000
                state.log(at, "info", "agent.note", f"Watered plant {n}", agent=agent)
        s.platform.world.advance(5)
        await s.poll(FeedName.ACTIVITY)
        gaps = [e for e in s.workspace.store.activity if is_gap(e)]
        assert len(gaps) == 1
        assert s.view.go_to(gaps[0].id)
        await s.sees("entries may be missing here")
        assert "▲" in s.line_with("entries may be missing")


def _ids_alone(kind: str, record: Json) -> Json:
    """An entry of the log without names and sentences."""
    if kind != "activity":
        return record
    names = ("message", "agent_name", "company_name", "task_name")
    return {name: value for name, value in record.items() if name not in names}


async def test_ids_become_names_once_they_are_known(tmp_path: Path) -> None:
    """On a platform that tells ids alone and no sentences."""
    with EmbeddedPlatform(speed=0, now=NOW, edit=_ids_alone) as platform:
        newest = next(e for e in platform.world.activity() if e.actor is None and e.task)
        assert newest.agent is not None
        assert newest.task is not None
        faults = ("agents:status=503", "tasks:status=503")
        async with stage(
            platform, tmp_path, place="activity", size=WIDE, faults=faults, wait=False
        ) as s:
            await s.sees(f"task {newest.task.id}", "agent")
            assert f" {newest.agent.name} " not in s.text
            platform.faults.clear()
            await s.poll(FeedName.AGENTS, FeedName.TASKS)
            await s.sees(f" {newest.agent.name} ", f"task “{newest.task.title[:10]}")
            assert newest.task.id not in s.text


async def test_a_title_in_an_entrys_details_needs_no_list_of_tasks(tmp_path: Path) -> None:
    with EmbeddedPlatform(speed=0, now=NOW, shape="cents") as platform:
        newest = next(e for e in platform.world.activity() if e.actor is None and e.task)
        assert newest.task is not None
        faults = ("agents:status=503", "tasks:status=503")
        async with stage(
            platform, tmp_path, place="activity", size=WIDE, faults=faults, wait=False
        ) as s:
            await s.sees(f"task “{newest.task.title[:10]}")
            assert newest.task.id not in s.text


async def test_a_severity_that_was_worked_out_is_marked_and_times_are_of_the_clock(
    on: Staging,
) -> None:
    async with on(place="activity", size=WIDE) as s:
        await s.sees("TIME UTC", "14:13:18")
        store = s.workspace.store
        newest = next(reversed(store.activity))
        told = Activity(
            id="told",
            at=Moment(NOW),
            agent=newest.agent,
            verb=mark_safe("run.failed"),
            severity=Severity.CRITICAL,
            severity_derived=True,
        )
        merged = store.activity.merge(Listing(records=(told, newest)))
        store.publish(Change(FeedName.ACTIVITY, *merged))
        await s.sees("~critical")
        name = s.workspace.names.agent(newest.agent)
        assert s.line_with("14:13:20").split()[1:5] == ["~✖", "14:13:20", name, "failed"]
        await s.go("overview")
        assert "14:13:20~✖" in s.line_with("failed run")
        await s.sees("LATEST  UTC")


async def test_the_title_tells_what_of_the_log_cannot_be_had(on: Staging) -> None:
    async with on(place="activity", size=WIDE) as s:
        log = s.workspace.poller.backfill.reader
        log.cap, log.ignores_days = 300, True
        happen(s.platform, "Fed the fish")
        await s.press("r")
        await s.sees("Fed the fish", "▲ 300 entries at most", "▲ from and to ignored")


async def test_a_filter_of_the_log_is_this_screens_and_is_left_in_turn(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    state = platform.world.state
    linus, other = (
        next(a for a in state.agents.values() if a.name == name) for name in ("Linus", "Omar")
    )
    async with on(place="activity", size=WIDE) as s:
        view = s.view
        assert isinstance(view, ActivityView)
        whole = s.rows
        view.filter_log(ActivityFilter(agent=linus.id))
        await s.sees("agent Linus", "esc whole log")
        await s.wait_until(lambda: s.rows and s.rows != whole, "the entries of Linus")
        assert [e.id for e in s.workspace.store.activity if e.id in whole], "the store has all"
        # What comes is taken by both, each in its way.
        platform.world.advance(1)
        with platform.world.locked() as living:
            now = platform.world.now
            ours = living.log(now, "info", "note", "Fed the fish", agent=linus)
            theirs = living.log(now, "info", "note", "Fed the cat", agent=other)
        await s.press("r")
        await s.wait_until(lambda: ours.id in s.rows, "the new entry")
        await s.wait_until(lambda: theirs.id in s.workspace.store.activity, "the other's")
        assert theirs.id not in s.rows
        # A line of the whole log that is gone to is shown, and so is all of it.
        s.main.go(Destination("activity", theirs.id))
        await s.wait_until(lambda: s.cursor == theirs.id, "the line of the other")
        assert view.log_filter == NO_LOG_FILTER
        # Escape leaves the words of the list first, then the filter of the log.
        view.filter_log(ActivityFilter(agent=linus.id))
        await s.wait_until(lambda: ours.id in s.rows, "the entries of Linus")
        await s.press(*"/fish", "enter")
        await s.sees("/fish")
        await s.press("escape")
        await s.sees_no("/fish")
        assert view.log_filter.agent == linus.id
        await s.press("escape")
        assert view.log_filter == NO_LOG_FILTER
        await s.wait_until(lambda: theirs.id in s.rows, "all of the log")


async def test_the_scope_and_the_way_back_are_those_of_the_filter(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    state = platform.world.state
    linus, omar = (
        next(a for a in state.agents.values() if a.name == name) for name in ("Linus", "Omar")
    )
    async with on(place="agents", size=WIDE) as s:
        for agent in (linus, omar):
            s.main.go(Destination("activity", log=ActivityFilter(agent=agent.id)))
            await s.sees(f"agent {agent.name}")
            await s.wait_until(lambda: s.rows, "its entries")
        # The way back leads to the filter that was there.
        await s.press("minus")
        await s.sees("agent Linus")
        # In another company's scope it is asked for there; what is asked now is answered before.
        await s.wait_until(lambda: s.rows, "its entries")
        await s.settle()
        platform.requests.clear()
        s.main.set_scope(linus.company.id)
        await s.wait_until(
            lambda: any("agent_id" in query for query in s.queries("activity")), "the question"
        )
        asked = next(parse_qs(q) for q in s.queries("activity") if "agent_id" in q)
        assert asked["company_id"] == [linus.company.id]
        assert asked["agent_id"] == [linus.id]
        await s.wait_until(lambda: s.rows, "its entries")


async def test_a_filtered_log_that_fails_says_so_and_an_empty_one_what_it_is_for(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    async with on(place="activity", size=WIDE) as s:
        view = s.view
        assert isinstance(view, ActivityView)
        platform.faults.add("activity:status=422,times=1")
        agent = next(iter(platform.world.state.agents.values()))
        view.filter_log(ActivityFilter(agent=agent.id, to_date=date(2001, 1, 1)))
        await s.sees(f"agent {agent.name}", "until 2001-01-01", "422")
        await s.press("r")
        await s.sees(f"no entries for agent {agent.name}, until 2001-01-01")
