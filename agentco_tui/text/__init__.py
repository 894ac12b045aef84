"""Text: makes untrusted text safe to show, measures and cuts it in terminal cells, and has symbols.

All text from the platform (the remote service, whose texts AI agents write) passes `clean_line`
(one line) or `clean_block` (several lines) before it reaches a screen, and is `SafeText` from then
on. The filter language of tables is in `row_filter`.
"""

from agentco_tui.text.safe_text import (
    clean_block,
    clean_line,
    clipboard_text,
    count_hidden,
    escaped,
    is_blank,
    joined,
    mark_safe,
    nearest_ascii,
)
from agentco_tui.text.signs import SafeText, in_ascii, signs
from agentco_tui.text.width import Align, cell_width, clip, fit, wrap

__all__ = [
    "Align",
    "SafeText",
    "cell_width",
    "clean_block",
    "clean_line",
    "clip",
    "clipboard_text",
    "count_hidden",
    "escaped",
    "fit",
    "in_ascii",
    "is_blank",
    "joined",
    "mark_safe",
    "nearest_ascii",
    "signs",
    "wrap",
]
