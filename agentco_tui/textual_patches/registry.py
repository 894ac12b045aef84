"""All that this program changes of Textual, or uses of it that is not public.

`system/patches.py` says how a patch is checked before it takes effect. `tests/textual_patches` has
for each a test that fails once Textual no longer needs it.
"""

from __future__ import annotations

from typing import Final

from agentco_tui.system.patches import Patch

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

MEMO_CACHES: Final = Patch(
    "memo_caches",
    "Results that are remembered of functions hold the app and its widgets after it has ended: of"
    " each profile that was left, everything stays in memory.",
)

PATCHES: Final = tuple(entry for entry in globals().values() if isinstance(entry, Patch))
