"""What the steps of a trace took stands in columns, whole, whatever the width."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.model import Moment, Money, Trace, TraceStep
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen, step_items
from agentco_tui.text import plain
from agentco_tui.widgets.text_pane import broken
from tests.screens.harness import NOW, stage


def step(name: str, tokens: int | None = 12, status: str = "completed", ago: int = 60) -> TraceStep:
    return TraceStep(
        id=name,
        kind=plain("tool_call"),
        name=plain(name),
        duration=1.5,
        tokens=tokens,
        cost=Money(amount=Decimal("0.25"), currency=plain("USD")),
        status=plain(status),
        at=Moment(at=NOW - ago),
    )


@pytest.mark.parametrize("width", [60, 80, 100, 120])
async def test_steps_in_columns(platform: EmbeddedPlatform, tmp_path: Path, width: int) -> None:
    async with stage(platform, tmp_path, place="tasks", size=(width, 24)) as s:
        names = ("orders.search", "payments.refund_many_at_once", "mail", "x" * 90)
        steps = tuple(step(name, 10**at) for at, name in enumerate(names))
        trace = Trace(steps=steps)
        lines = [
            "".join(cell.text for cell in line)
            for line in broken(step_items(trace, s.view.look, width=width), width)
        ]
        assert len(lines) == len(steps)
        assert all(len(line) == width and line.endswith("  1 m") for line in lines)
        for name, line in zip(names[:3], lines, strict=False):
            assert name in line
        assert "…" in lines[3]
        ends = {line.index("tokens") for line in lines if "tokens" in line}
        assert len(ends) == (0 if width == 60 else 1)
        for line, at in zip(lines, range(4), strict=True):
            assert width == 60 or f" {10**at:,} tokens" in line


async def test_what_no_step_has_takes_no_column(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        trace = Trace(steps=(TraceStep(id="s", kind=plain("output"), at=Moment(at=NOW)),))
        (line,) = broken(step_items(trace, s.view.look, width=40), 40)
        assert "".join(cell.text for cell in line).split() == ["1", "output", "0", "s"]


async def test_another_width_lays_them_out_anew(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks", size=(100, 24)) as s:
        await s.press("j", "t")
        await s.sees("tokens", "completed")
        assert isinstance(s.app.screen, TraceScreen)
        await s.resize(60, 24)
        await s.sees_no("completed")
        await s.sees("tokens", "payments.refund")
        assert "payments.r…" not in s.text
        await s.resize(100, 24)
        await s.sees("completed")
