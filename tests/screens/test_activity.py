from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import FeedName
from tests.screens.harness import WIDE, Stage, Staging


def happen(platform: EmbeddedPlatform, words: str) -> str:
    """One more entry of the log; its id."""
    platform.world.advance(1)
    with platform.world.living() as state:
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
        await s.sees("following", "Watered plant 0", "Watered plant 3")
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
        await fill(s, {"company": "globex", "agent": "linus", **days, "limit": "25"})
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
        shown = [s.session.store.activity.get(row) for row in s.rows]
        assert all(e is not None and e.agent is not None and e.agent.id == agent.id for e in shown)


async def test_wrong_filters_are_told_and_nothing_is_asked(on: Staging) -> None:
    async with on(place="activity") as s:
        await s.press("f")
        form = s.app.screen
        days = {"from": "yesterday", "to": "2026-13-01"}
        await fill(s, {"company": "nowhere", **days, "limit": "-1"})
        await s.press("enter")
        await s.sees("no company here", "a day is needed", "a whole number from 1")
        assert s.app.screen is form
        assert s.session.poller.query.activity.limit is None


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
        assert target.read_bytes().count(b"\n") > 200
        (request,) = s.platform.requests.matching("export")
        assert request.query == "format=csv"
        target.write_text("mine")
        await export(s, target)
        await s.sees("EXPORT", "exist", "✖")
        assert target.read_text() == "mine"


async def test_a_gap_is_told(on: Staging) -> None:
    async with on(place="activity") as s:
        for n in range(1_200):
            with s.platform.world.living() as state:
                agent = next(iter(state.agents.values()))
                at = s.platform.world.now + 1 + n / 1_000
                state.log(at, "info", "agent.note", f"Watered plant {n}", agent=agent)
        s.platform.world.advance(5)
        await s.poll(FeedName.ACTIVITY)
        gaps = [e for e in s.session.store.activity if is_gap(e)]
        assert len(gaps) == 1
        assert s.view.go_to(gaps[0].id)
        await s.sees("entries may be missing here")
        assert "▲" in s.line_with("entries may be missing")
