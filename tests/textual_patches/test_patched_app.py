"""What goes wrong while an app is taken apart is no crash; what goes wrong before is one."""

from __future__ import annotations

import logging

import pytest

from agentco_tui.textual_patches.patched_app import PatchedApp


class BrokenError(Exception):
    """Stands for whatever a widget says when something is not as it takes it to be."""


class EndsThenFails(PatchedApp):
    def on_ready(self) -> None:
        """The end is asked for, and then the same handler can't go on."""
        self.exit(return_code=0)
        raise BrokenError


class FailsThenEnds(PatchedApp):
    def on_ready(self) -> None:
        """The program is broken, and ends of itself."""
        self.call_later(self.exit)
        raise BrokenError


class FailsAtOnce(PatchedApp):
    def on_mount(self) -> None:
        """The program is broken from the start."""
        raise BrokenError


async def test_an_error_after_the_end_was_asked_for_is_logged_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = EndsThenFails()
    with caplog.at_level(logging.WARNING, "agentco_tui"):
        await app.run_async(headless=True)
    assert app.return_code == 0
    assert "BrokenError" in caplog.text


@pytest.mark.parametrize("make", [FailsThenEnds, FailsAtOnce])
async def test_an_error_before_the_end_is_told(make: type[PatchedApp]) -> None:
    app = make()
    with pytest.raises(BrokenError):
        async with app.run_test():
            pass
    assert app.return_code == 1


async def test_an_error_that_comes_when_the_app_runs_no_more_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = PatchedApp()
    async with app.run_test():
        pass
    with caplog.at_level(logging.WARNING, "agentco_tui"):
        app._handle_exception(BrokenError())
    assert not app.return_code
    assert "BrokenError" in caplog.text
