"""Text: cleaning what comes from outside, its width in cells, formats of figures and times, signs.

All text of the platform passes `safe` or `safe_block` before it reaches a screen.
"""

from agentco_tui.text.safe_text import (
    clipboard_text,
    escaped,
    hidden_in,
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
    "escaped",
    "fit",
    "hidden_in",
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
