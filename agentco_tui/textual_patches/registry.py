"""All that this program changes of Textual, or takes from it that isn't public.

Each entry names the version that was last seen to need it and what it answers. Before a patch is
put in force its self-test looks at the Textual that is there: if that isn't as expected, Textual
stays as it is, a line is logged, and the program works without, at the price that the entry names.
`tests/textual_patches` has for each a test that fails once Textual no longer needs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

_log = logging.getLogger(__name__)


class Patch(msgspec.Struct, frozen=True):
    """One entry. A number in `answers` is that of an issue of Textualize/textual about the same."""

    name: str
    answers: str
    textual: str = "8.2.8"
    replaced: list[tuple[Any, str, Any]] = msgspec.field(default_factory=list)
    """While it is in force: owner, name and Textual's own member."""

    def fits(self, self_test: Callable[[], bool]) -> bool:
        """True if the self-test finds Textual as expected; an exception in it counts as no."""
        try:
            if self_test():
                return True
            error = None
        except Exception as raised:  # whatever another version of Textual has there
            error = raised
        _log.warning("Textual is not as %s expects: left as it is", self.name, exc_info=error)
        return False

    def install(
        self, self_test: Callable[[], bool], ours: Callable[[], Iterable[tuple[Any, str, Any]]]
    ) -> bool:
        """Put members (owner, name, ours) in force for all apps of this process, unless they are;
        False if Textual isn't as expected and was left alone.
        """
        if not self.replaced and self.fits(self_test):
            for owner, name, member in ours():
                self.replaced.append((owner, name, vars(owner)[name]))
                setattr(owner, name, member)
        return bool(self.replaced)

    def uninstall(self) -> None:
        while self.replaced:
            setattr(*self.replaced.pop())


PARTIAL_PAINT: Final = Patch(
    "partial_paint",
    "A cell that changed is written with all that stands left of it (203 bytes in place of 50), and"
    " every segment with a reset and both its colours (#5625).",
)
DRIVER: Final = Patch(
    "driver",
    "Job control: after SIGSTOP the driver starts a second time over itself, after `fg` only"
    " changes are painted, `kill %1` stops it once more, ctrl+z while painting hangs for ever; of"
    " two sizes in quick succession the older may win.",
)
INPUT_PARSER: Final = Patch(
    "input_parser",
    "Key releases, replies of the terminal and bytes that are no UTF-8 end the thread that reads"
    " the keys, or are taken for keys (#6417).",
)
ENDING: Final = Patch(
    "ending",
    "What still comes in while the widgets are closed makes a crash of an end that was asked for.",
)
LATE_TIMERS: Final = Patch(
    "late_timers",
    "A timer of one tick that is late before it has begun to wait (the machine is busy) never"
    " ticks: a new size of the terminal is waited for with one, and with it all sizes to come.",
)
KEY_QUEUE: Final = Patch(
    "key_queue",
    "Of several keys in one packet the later ones go to where the focus was before the first has"
    " done anything (#4704).",
)
SHOWN_EVENTS: Final = Patch(
    "shown_events",
    "What is displayed just before somebody asks for a size is neither told so nor painted: notices"
    " that don't come or don't go, lists of another company (#5024).",
)

PATCHES: Final = tuple(entry for entry in globals().values() if isinstance(entry, Patch))
