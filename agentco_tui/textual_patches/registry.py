"""All changes to Textual, and all uses of parts of it that are not public.

Each `Patch` has a name and says what goes wrong without it; numbers are those of Textual's issues.
(A profile is the configuration of one remote service; the user can switch to that of another.)
`system/patches.py` says how a patch is checked before it takes effect. `tests/textual_patches` has
for each a test that fails once Textual no longer needs it.
"""

from __future__ import annotations

from typing import Final

from agentco_tui.system.patches import Patch

PARTIAL_PAINT: Final = Patch(
    "partial_paint",
    "A changed cell is written with everything to the left of it (203 bytes instead of 50), and"
    " every segment with a reset and both colours (#5625).",
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
    "A message that arrives while the widgets are closed turns a requested end into a crash.",
)
LATE_TIMERS: Final = Patch(
    "late_timers",
    "A timer with a single tick that is late before it begins to wait (on a busy machine) never"
    " ticks. Textual waits for a new terminal size with one, and then for all later sizes, too.",
)
FRAME_TIMER: Final = Patch(
    "frame_timer",
    "Each change wakes the program twice: when it is painted, and when the frame ends, although"
    " nothing is left to be painted.",
)
KEY_QUEUE: Final = Patch(
    "key_queue",
    "Of several keys in one packet, the later ones go to the widget that had the focus before the"
    " first key had any effect (#4704).",
)
SHOWN_EVENTS: Final = Patch(
    "shown_events",
    "A widget that is displayed just before code asks for a size gets no Show event and is not"
    " painted: notifications that do not appear or disappear, lists of another company (#5024).",
)

MEMO_CACHES: Final = Patch(
    "memo_caches",
    "Memoized functions hold the app and its widgets after its end, so that everything of each"
    " profile that was left stays in memory.",
)

PATCHES: Final = tuple(entry for entry in globals().values() if isinstance(entry, Patch))
