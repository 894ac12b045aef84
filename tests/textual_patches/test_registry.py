"""Each patch looks before it leaps, and Textual still needs it; an end of the app is no crash."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Callable, Coroutine
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual import timer

# private: the patches under test replace methods of these classes.
from textual._compositor import ChopsUpdate
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.screen import UPDATE_PERIOD, ModalScreen, Screen
from textual.strip import Strip
from textual.widgets import Input

from agentco_tui.system.patches import Patch
from agentco_tui.textual_patches import frame_timer, registry
from agentco_tui.textual_patches.driver import JobControlDriver, guarded_driver
from agentco_tui.textual_patches.patched_app import PatchedApp
from agentco_tui.textual_patches.registry import FRAME_TIMER, PATCHES, SHOWN_EVENTS
from tests.textual_patches.test_compositor import told_what_is_shown

FOLDER = Path(registry.__file__).parent


def test_each_file_has_an_entry_and_each_entry_a_file() -> None:
    files = {path.stem: path.read_text() for path in FOLDER.glob("*.py")}
    entries = {patch.name.upper() for patch in PATCHES}
    assert all(getattr(registry, entry) in PATCHES for entry in entries)
    # The last three are used by others, which test whether Textual is as expected.
    for name in ("__init__", "registry", "input_parser", "rendition", "shown_cells"):
        del files[name]
    assert all("textual_patches.registry import" in source for source in files.values())
    tested = set(re.findall(r"([A-Z_]+)\.(?:fits|install)\(", "".join(files.values())))
    assert tested == entries


def test_the_version_is_one_that_was_looked_at() -> None:
    """Another major of Textual is a reason to look at all of them anew."""
    assert version("textual").split(".")[0] in {patch.version.split(".")[0] for patch in PATCHES}


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_what_does_not_fit_is_left_alone_and_logged(
    patch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> bool:
        raise AttributeError

    with caplog.at_level(logging.WARNING, "agentco_tui"):
        assert patch.fits(lambda: True)
        assert caplog.text == ""
        assert not patch.fits(lambda: False)
        assert not patch.fits(fails)
    assert caplog.text.count(patch.name) >= 2


# ---- an end is no crash


class BrokenError(Exception):
    """Stands for whatever a widget says when something is not as it takes it to be."""


class EndsThenFails(PatchedApp):
    def on_ready(self) -> None:
        self.exit(return_code=0)
        raise BrokenError


class FailsThenEnds(PatchedApp):
    def on_ready(self) -> None:
        self.call_later(self.exit)
        raise BrokenError


class FailsAtOnce(PatchedApp):
    def on_mount(self) -> None:
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
        # private: Textual calls this only for an error in the app, which ends a test run.
        app._handle_exception(BrokenError())
    assert not app.return_code
    assert "BrokenError" in caplog.text


# ---- looks before it leaps


def test_a_driver_made_otherwise_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal: Any = None
    assert issubclass(guarded_driver(LinuxDriver, terminal), JobControlDriver)
    assert guarded_driver(HeadlessDriver, terminal) is HeadlessDriver
    # private: as in a Textual that has no such method.
    monkeypatch.delattr(LinuxDriver, "_sigcont_application")
    assert guarded_driver(LinuxDriver, terminal) is LinuxDriver


async def test_keys_work_where_the_chain_of_bindings_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        # private: as in a Textual that has no such property.
        patched.setattr(Screen, "_modal_binding_chain", None)
        app = Opening(PatchedApp)
    assert app.bound_actions(app, "o") == []
    async with app.run_test() as pilot:
        await pilot.press("o", "x")
        assert isinstance(app.screen, Ask)


async def test_an_end_is_as_textual_makes_it_where_its_states_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # private: a version whose names differ cannot be installed here.
    monkeypatch.setattr(PatchedApp, "_as_expected", lambda _: False)
    app = EndsThenFails()
    with pytest.raises(Exception, match=r".*"):
        async with app.run_test():
            pass
    assert app.return_code == 1


# ---- still needed: what Textual does by itself


class Ask(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Input()


def Opening(base: type[Any]) -> Any:
    """An app of this kind in which `o` opens a question."""

    class Opens(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.lost: list[str] = []

        def on_key(self, event: Key) -> None:
            if event.key == "o":
                self.push_screen(Ask())
            else:
                self.lost.append(event.key)

    return Opens()


async def _partial_paint() -> bool:
    """The letters before the ones that changed are written too."""
    strip = Strip([Segment("abcd", Style(bold=True)), Segment("efgh")], 8)
    console = Console(color_system="truecolor", force_terminal=True, width=8, height=1)
    return "ab" in ChopsUpdate([{0: strip}], [(0, 2, 6)], [[8]]).render_segments(console)


async def _driver() -> bool:
    """Continued though it was never stopped, it starts a second time."""
    started = []

    class Started(LinuxDriver):
        def start_application_mode(self) -> None:
            started.append(self)

    bare = object.__new__(Started)
    # private: only a real terminal can stop and continue a driver.
    bare._auto_restart = True
    bare._sigcont_application()
    return bool(started)


async def _input_parser() -> bool:
    """The release of a key raises."""
    try:
        list(XTermParser().feed("\x1b[121;1:3u"))
    except ValueError:
        return True
    return False


async def _ending() -> bool:
    """An error that comes while an app ends makes it a crash."""

    class Ends(App[None]):
        def on_ready(self) -> None:
            self.exit(return_code=0)
            raise RuntimeError

    app = Ends()
    try:
        async with app.run_test():
            pass
    except RuntimeError:
        return True
    return app.return_code != 0


async def _key_queue() -> bool:
    """The second of two keys in a packet goes past what the first one opens."""
    typed = {}
    for base in (App, PatchedApp):
        app = Opening(base)
        async with app.run_test() as pilot:
            for key in "ox":
                app.post_message(Key(key, key))
            await pilot.pause()
            await pilot.pause()
            typed[base] = app.screen.query_one(Input).value
    assert typed[PatchedApp] == "x", "with the patch it arrives"
    return not typed[App]


async def _late_timers() -> bool:
    """A timer is late before it begins to wait: the clock jumps between two looks at it."""
    ticked = {}
    for base in (App, PatchedApp):
        app: App[None] = base()
        async with app.run_test() as pilot:
            done = asyncio.Event()
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(
                    # private: the clock of a timer is no parameter.
                    timer,
                    "_time",
                    SimpleNamespace(get_time=partial(next, itertools.count())),
                )
                one = app.set_timer(0.008, done.set)
                # private: a timer has no public way to wait for its end.
                assert one._task is not None
                await one._task
            await pilot.pause()
            ticked[base] = done.is_set()
    assert ticked[PatchedApp], "with the patch it ticks"
    return not ticked[App]


async def _sleeps_of_frames(frames: int) -> int:
    """How often a timer of frames sleeps, if each change comes long after the frame before it."""
    app: App[None] = App()
    sleeps = 0
    is_painted = asyncio.Event()

    async def sleep(seconds: float) -> None:
        nonlocal sleeps
        sleeps += 1
        await asyncio.sleep(seconds)

    def paint() -> None:
        paints.pause()
        is_painted.set()

    async with app.run_test():
        with pytest.MonkeyPatch.context() as patched:
            for module in (timer, frame_timer):
                patched.setattr(module, "sleep", sleep)
            patched.setattr(frame_timer, "monotonic", partial(next, itertools.count()))
            paints = timer.Timer(
                app, UPDATE_PERIOD, name=frame_timer.FRAMES, callback=paint, pause=True
            )
            paints._start()  # private: an app would paint with it
            for _ in range(frames):
                paints.resume()
                await is_painted.wait()
                is_painted.clear()
            paints.stop()
    return sleeps


async def _frame_timer() -> bool:
    """After each change Textual sleeps once more until the frame is over."""
    FRAME_TIMER.uninstall()
    unpatched = await _sleeps_of_frames(3)
    frame_timer.install_frame_timer()
    try:
        assert await _sleeps_of_frames(3) == 0
    finally:
        FRAME_TIMER.uninstall()
    return unpatched >= 2  # the last sleep may not have begun


async def _shown_events() -> bool:
    """What is displayed before its size is asked is not told that it is shown."""
    SHOWN_EVENTS.uninstall()
    return not await told_what_is_shown(asked=True)


NEEDED: dict[str, Callable[[], Coroutine[Any, Any, bool]]] = {
    "partial_paint": _partial_paint,
    "driver": _driver,
    "input_parser": _input_parser,
    "ending": _ending,
    "key_queue": _key_queue,
    "late_timers": _late_timers,
    "frame_timer": _frame_timer,
    "shown_events": _shown_events,
}


TESTED_IN_A_TERMINAL = {"memo_caches"}
"""By `tests/terminal/test_dashboard_profiles.py`: only a whole dashboard is held."""


@pytest.mark.parametrize(
    "patch",
    [patch for patch in PATCHES if patch.name not in TESTED_IN_A_TERMINAL],
    ids=lambda patch: patch.name,
)
async def test_textual_still_needs_it(patch: Patch) -> None:
    assert await NEEDED[patch.name](), f"{patch.name} may go: {patch.reason}"
