"""Text: makes untrusted text safe to show, measures and cuts it in terminal cells, and has symbols.

All text from the platform (the remote service, whose texts AI agents write) passes `safe` (one
line) or `safe_block` (several lines) before it reaches a screen, and is `SafeText` from then on.
The filter language of tables is in `row_filter`.
"""

from agentco_tui.text.safe_text import (
    clipboard_text,
    count_hidden,
    escaped,
    is_blank,
    joined,
    nearest_ascii,
    plain,
    safe,
    safe_block,
)
from agentco_tui.text.signs import SafeText, in_ascii, signs
from agentco_tui.text.width import Align, cell_width, clip, fit, wrap

__all__ = [
    "Align",
    "SafeText",
    "cell_width",
    "clip",
    "clipboard_text",
    "count_hidden",
    "escaped",
    "fit",
    "in_ascii",
    "is_blank",
    "joined",
    "nearest_ascii",
    "plain",
    "safe",
    "safe_block",
    "signs",
    "wrap",
]
