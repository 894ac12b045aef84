"""Two dashboards of one platform: one writes, and nothing that either saw is lost."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from pathlib import Path

from agentco_tui.history.history import History
from agentco_tui.history.observations import BudgetSample, Observed
from agentco_tui.history.reader import Reader
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope

NOON = 1_700_049_600.0
ORIGIN = "https://platform.example"


def figure(at: float, amount: int) -> Observed:
    feed = FeedName.COMPANY_BUDGETS
    sample = BudgetSample(NOON + at, Decimal(amount), None)
    return Observed(
        samples=[(feed, "c1", "USD", sample)], seen=[(feed, "", (NOON + at, NOON + at))]
    )


def modes(folder: Path) -> set[int]:
    return {file.stat().st_mode & 0o777 for file in folder.iterdir()}


async def figures(history: History) -> list[int]:
    read = partial(Reader.budget, scope=BudgetScope.COMPANY, subject="c1", since=0.0)
    track = await history.ask(read, up_to_now=True)
    return [int(sample.spent or 0) for sample in track.samples]


async def test_what_the_second_dashboard_saw_is_written_by_the_first(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    first = History(path, "prod", ORIGIN)
    second = History(path, "night", f"{ORIGIN}:443/")
    first.hand(figure(0, 1))
    assert await figures(first) == [1]
    second.hand(figure(65, 2))
    assert await figures(second) == [1], "not yet: it is not the writer"
    first.hand(figure(130, 3))
    assert await figures(first) == [1, 2, 3]
    assert await figures(second) == [1, 2, 3]
    first.close()
    second.hand(figure(200, 4))
    assert await figures(second) == [1, 2, 3, 4], "it has taken over"
    second.close()
    assert modes(tmp_path) == {0o600}
